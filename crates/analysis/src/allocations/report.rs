//! The finished statistics: what the trace held, and rows by class, package, allocation site or thread.

use std::hash::Hash;

use rustc_hash::{FxHashMap, FxHashSet};
use trace::names;

use super::accounts::{self, Account, Accounts, ThreadSubject};
use super::amount::Amount;
use super::estimates::Estimates;
use super::live::CellIndex;
use super::living::LiveSamples;
use super::naming::{Naming, SiteNames};
use super::over_time::Recorder;
use super::parts::{Cell, Part};
use super::shares::Shares;
use super::snapshots::Snapshots;
use super::subject::Subject;
use super::totals::ObjectTotals;
use crate::call_tree::{Source, SourceIndex, Spread, error};
use crate::coverage::{Coverage, WhyUnknown};
use crate::facts::Facts;
use crate::location::Location;
use crate::stacks::{StackIndex, Stacks};
use crate::symbols::{ClassIndex, SiteIndex, Symbols, ThreadIndex};
use crate::window::Clock;

/// What the rows of a table stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum By {
    /// One row per package: the class name up to its last dot.
    Package,
    /// One row per class name.
    Class,
    /// One row per class and place that allocates it.
    Site,
    /// One row per line of code that allocates, whatever it allocates.
    Line,
    /// One row per method that allocates, whatever it allocates.
    Method,
    /// One row per module of the code that allocates, whatever it allocates.
    Module,
    /// One row per allocating thread.
    Thread,
}

/// One row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row<'a> {
    /// What the row is about.
    pub subject: Subject<'a>,
    /// Its numbers.
    pub totals: ObjectTotals,
    /// How far the bytes in all may be off with a confidence of 95 %, where samples spread what a site allocates over its callers;
    /// `None` if they are exact.
    pub error: Option<u64>,
}

/// Parts that are added up.
#[derive(Default)]
pub(super) struct Group {
    /// Of whole cells.
    totals: ObjectTotals,
    objects: f64,
    bytes: f64,
    /// Bytes that the JIT let be allocated, where a sampler estimates it.
    sampled: Option<f64>,
    /// The standard error of these, squared.
    variance: f64,
    /// What samples say of parts of cells.
    shares: FxHashMap<CellIndex, Spread>,
    /// What samples say of cells that nothing counts, by what they are a part of.
    sources: FxHashMap<SourceIndex, Spread>,
}

/// The statistics of one trace.
#[derive(Debug)]
pub struct AllocationReport {
    pub(super) symbols: Symbols,
    pub(super) stacks: Stacks,
    pub(super) cells: Vec<Cell>,
    pub(super) shares: Shares,
    /// Cells of which only some shares may be left.
    pub(super) restricted: FxHashSet<CellIndex>,
    /// Only what some sites allocate is left.
    pub(super) is_selected: bool,
    pub(super) accounts: Accounts,
    pub(super) estimates: Estimates,
    pub(super) living: LiveSamples,
    pub(super) facts: Facts,
    pub(super) clock: Clock,
    pub(super) snapshots: Snapshots,
    pub(super) recorder: Option<Recorder>,
}

impl AllocationReport {
    /// What the trace held besides the rows, and what was wrong with it.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Does any allocation have its line?
    pub fn has_sites(&self) -> bool {
        self.cells.iter().any(|cell| cell.site.is_some())
    }

    /// Does the trace say anything of allocations?
    pub fn has_objects(&self) -> bool {
        self.facts.allocations > 0 || self.facts.site_counts > 0 || self.facts.alloc_samples > 0
    }

    /// Does the trace count objects by site instead of reporting them one by one?
    pub fn is_counted(&self) -> bool {
        self.facts.allocations == 0 && self.facts.site_counts > 0
    }

    /// Are objects sampled, and nothing counted?
    pub fn is_sampled(&self) -> bool {
        self.facts.allocations == 0 && self.facts.site_counts == 0 && !self.estimates.is_empty()
    }

    /// Is what was allocated known only from one time of writing to the next?
    pub(super) fn is_in_steps(&self) -> bool {
        self.is_counted() || self.is_sampled()
    }

    /// How many objects were sampled where nothing is counted.
    pub fn samples(&self) -> u64 {
        self.estimates.samples()
    }

    /// Is it known by samples where objects live?
    pub fn has_live_samples(&self) -> bool {
        !self.living.is_empty()
    }

    /// What was reported of each thread, and what the JVM accounts to it, in no particular order.
    pub fn accounts(&self) -> impl Iterator<Item = Account<'_>> {
        self.accounts.iter().map(|(thread, numbers)| Account {
            thread: self.thread(thread),
            instances: numbers.instances,
            bytes: numbers.bytes,
            vm_bytes: numbers.vm_bytes,
        })
    }

    /// How complete the trace is. `is_whole`: all of it was read.
    pub fn coverage(&self, is_whole: bool) -> Coverage {
        if self.clock.is_window() {
            let why_unknown = Some(WhyUnknown::Window);
            let calibration = self.is_sampled().then(|| self.estimates.calibration().clone());
            return Coverage { is_counted: self.is_counted(), why_unknown, calibration, ..Coverage::default() };
        }
        let mut coverage = accounts::coverage(self.accounts());
        coverage.is_counted = self.is_counted();
        for count in &self.facts.counts {
            coverage.note_reason(&count.key, count.detail.as_deref().unwrap_or_default());
        }
        if self.is_sampled() {
            coverage.mark_unknown(WhyUnknown::Sampled);
            coverage.calibration = Some(self.estimates.calibration().clone());
        }
        if self.facts.is_filtered {
            coverage.mark_unknown(WhyUnknown::Filtered);
        }
        if self.accounts().next().is_none() {
            coverage.mark_unknown(WhyUnknown::NoAccounts);
        } else if !is_whole || self.facts.ended < self.facts.documents {
            coverage.mark_unknown(WhyUnknown::CutOff);
        }
        coverage.finish();
        coverage
    }

    /// Names all stacks.
    pub fn site_names(&self, naming: &Naming) -> SiteNames {
        SiteNames::new(naming, &self.stacks, &self.symbols)
    }

    /// Does any allocation have a call stack, of its own or by samples?
    pub fn has_stacks(&self) -> bool {
        self.cells.iter().any(|cell| cell.stack.is_some()) || self.shares.has_stacks()
    }

    /// Does the trace say in which modules classes are?
    pub fn has_modules(&self) -> bool {
        self.symbols.has_modules()
    }

    /// Do samples say on which stacks and threads counted sites allocate?
    pub fn has_samples(&self) -> bool {
        !self.shares.is_empty()
    }

    /// Are some sites spread over their callers by samples outside of the part of the trace that counts, for want of others?
    pub fn is_spread_from_outside(&self) -> bool {
        let mut cells = (0..).map(CellIndex).zip(&self.cells);
        cells.any(|(index, cell)| cell.totals.total() > 0 && self.shares.are_outside(index))
    }

    /// Leaves out what is not allocated in code that passes the filter: neither at the innermost frame nor at the one that names the
    /// stack. So are left out what the JVM reported itself, and what only a walk of the heap found.
    pub fn retain_sites(&mut self, names: &SiteNames, site_filter: impl Fn(&Location<'_>) -> bool) {
        let symbols = &self.symbols;
        // A site has a cell for each class and thread.
        let mut passes: FxHashMap<SiteIndex, bool> = FxHashMap::default();
        let mut passes = |site: Option<SiteIndex>| {
            site.is_some_and(|site| *passes.entry(site).or_insert_with(|| site_filter(&symbols.location(site))))
        };
        let cells = &self.cells;
        self.shares.retain(|(key, _)| {
            let innermost = cells[key.cell.0 as usize].site;
            passes(innermost) || passes(names.site(innermost, key.stack))
        });
        for (index, cell) in (0..).map(CellIndex).zip(&mut self.cells) {
            if passes(cell.site) {
                continue;
            }
            // Where samples spread a site, its shares say what is left of it.
            if !names.are_innermost() && self.shares.of(index).is_some() {
                self.restricted.insert(index);
            } else if !passes(names.site(cell.site, cell.stack)) {
                cell.totals = ObjectTotals::default();
                self.recorder.iter_mut().for_each(|recorder| recorder.forget(index));
            }
        }
        self.is_selected = true;
        (self.facts.live_counts, self.facts.counted_by_vm) = (0, (0, 0));
    }

    /// The numbers of all objects whose class name passes the filter.
    pub fn sum(&self, class_filter: impl Fn(&str) -> bool) -> ObjectTotals {
        self.sum_and_error(class_filter).0
    }

    /// The same, and how far the bytes may be off with a confidence of 95 %: what is left of the sites may be known by samples only.
    pub fn sum_and_error(&self, class_filter: impl Fn(&str) -> bool) -> (ObjectTotals, Option<u64>) {
        let group = self.group(self.pieces(|_| true, class_filter), |_| ()).remove(&()).unwrap_or_default();
        let sampled = group.sources.values().fold(0_u64, |sum, spread| sum.saturating_add(spread.samples));
        if group.shares.is_empty() && sampled > 0 && sampled == self.estimates.samples() {
            // All of what is known: the accounts of threads are exact.
            let error = error(self.estimates.variance_of_all());
            return (group.totals, (error > 0).then_some(error));
        }
        self.finish_group(group)
    }

    /// The rows of a table over all objects whose class name passes the filter, in no particular order; places are innermost frames.
    pub fn rows(&self, by: By, class_filter: impl Fn(&str) -> bool) -> Vec<Row<'_>> {
        self.rows_named(by, &self.site_names(&Naming::Innermost), class_filter)
    }

    /// The same with other frames of the stacks.
    pub fn rows_named(&self, by: By, names: &SiteNames, class_filter: impl Fn(&str) -> bool) -> Vec<Row<'_>> {
        let parts = self.pieces(self.is_whole(by, names), class_filter);
        let allocated = parts.filter(|part| match by {
            By::Package | By::Class => true,
            By::Site | By::Line | By::Method | By::Module | By::Thread => {
                part.cell.totals.total() > 0 || part.cell.totals.live_samples() > 0
            }
        });
        let groups = self.group(allocated, |part| self.subject(by, names, part));
        groups.into_iter().map(|(subject, group)| self.row(subject, group)).collect()
    }

    /// Whether a whole cell has all that a row of a table is made of.
    pub(super) fn is_whole(&self, by: By, names: &SiteNames) -> impl Fn(&Cell) -> bool {
        move |cell| match by {
            By::Package | By::Class => true,
            By::Site | By::Line | By::Method | By::Module => names.always_name(cell.site, &self.symbols),
            By::Thread => false,
        }
    }

    pub(super) fn subject(&self, by: By, names: &SiteNames, part: &Part<'_>) -> Subject<'_> {
        let site = || names.site(part.cell.site, part.stack);
        let at = || site().map(|site| self.symbols.location(site));
        match by {
            By::Package => Subject::Package(names::package(self.class(part.cell.class))),
            By::Class => Subject::Class(self.class(part.cell.class)),
            By::Site => Subject::Site { class: self.class(part.cell.class), at: at() },
            By::Line => Subject::Line(at()),
            By::Method => Subject::Method(at().map(|at| (at.class, at.method))),
            By::Module => Subject::Module(site().map(|site| self.symbols.module(site))),
            By::Thread => Subject::Thread(part.thread.map(|thread| self.thread(thread))),
        }
    }

    /// The parts of all cells whose class name passes the filter.
    pub(super) fn parts(&self, class_filter: impl Fn(&str) -> bool) -> impl Iterator<Item = Part<'_>> {
        self.pieces(|_| false, class_filter)
    }

    /// The same, or whole cells where that is enough.
    pub(super) fn pieces(
        &self,
        is_enough: impl Fn(&Cell) -> bool,
        class_filter: impl Fn(&str) -> bool,
    ) -> impl Iterator<Item = Part<'_>> {
        // A class whose instances were found by an earlier walk of the heap only has nothing to show.
        self.pieces_of_all(is_enough, class_filter)
            .filter(|part| part.cell.totals.total() > 0 || part.cell.totals.live() > 0)
    }

    /// The same, also those of which nothing was allocated in the part of the trace that counts.
    pub(super) fn pieces_of_all(
        &self,
        is_enough: impl Fn(&Cell) -> bool,
        class_filter: impl Fn(&str) -> bool,
    ) -> impl Iterator<Item = Part<'_>> {
        // A class has many cells; a filter may be slow.
        let mut passes: FxHashMap<ClassIndex, bool> = FxHashMap::default();
        (0..)
            .zip(&self.cells)
            .filter(move |(_, cell)| *passes.entry(cell.class).or_insert_with(|| class_filter(self.class(cell.class))))
            .flat_map(move |(index, cell)| {
                let index = CellIndex(index);
                let is_whole = is_enough(cell) && !self.restricted.contains(&index);
                let shares = if is_whole { None } else { self.shares.of(index) };
                let is_alone = shares.is_none();
                let all = Part { index, cell, stack: cell.stack, thread: cell.thread, share: None };
                let parts = shares.into_iter().flat_map(move |(shares, whole)| {
                    shares.map(move |(key, sampled)| Part {
                        index,
                        cell,
                        stack: key.stack,
                        thread: key.thread,
                        share: Some((sampled, whole)),
                    })
                });
                is_alone.then_some(all).into_iter().chain(parts)
            })
    }

    /// The stack of a part of a cell, innermost frame first, or where there is none the innermost frame alone; and whether it is a stack.
    pub(super) fn sites<'a>(&'a self, cell: &'a Cell, stack: Option<StackIndex>) -> (&'a [SiteIndex], bool) {
        let stack = stack.map(|stack| self.stacks.frames(stack)).filter(|frames| !frames.is_empty());
        (stack.unwrap_or(cell.site.as_slice()), stack.is_some())
    }

    /// What samples say of a part, and of which whole it is one; `None` if they say nothing.
    pub(super) fn share(&self, part: &Part<'_>) -> Option<(SourceIndex, Spread)> {
        match part.share {
            Some((sampled, _)) => Some((SourceIndex(part.index.0), sampled.bytes)),
            None => self.estimates.of(part.index, part.cell),
        }
    }

    /// The whole of which samples say the parts: all samples of a thread, or a cell whose number is exact.
    pub(super) fn whole(&self, source: SourceIndex) -> Option<Source> {
        self.estimates.source(source).or_else(|| {
            let weight = self.cells.get(source.0 as usize)?.totals.total_bytes() as f64;
            let (_, whole) = self.shares.of(CellIndex(source.0))?;
            Some(Source { weight, whole: whole.bytes, is_exact: true })
        })
    }

    pub(super) fn group<'r, K: Hash + Eq>(
        &self,
        parts: impl Iterator<Item = Part<'r>>,
        key: impl Fn(&Part<'r>) -> K,
    ) -> FxHashMap<K, Group> {
        let mut groups: FxHashMap<K, Group> = FxHashMap::default();
        for part in parts {
            let group = groups.entry(key(&part)).or_default();
            match part.share {
                None => {
                    group.totals.add(&part.cell.totals);
                    if let Some((source, spread)) = self.estimates.of(part.index, part.cell) {
                        group.sources.entry(source).or_default().add(&spread);
                    }
                }
                Some((sampled, _)) => {
                    group.objects += part.objects();
                    group.bytes += part.bytes();
                    let (estimate, variance) = match self.shares.are_outside(part.index) {
                        // These say who the callers are, but not what the JIT did in this part of the trace.
                        true => (part.cell.totals.estimated_bytes().map(|bytes| bytes as f64 * part.ratio()), 0.0),
                        false => (Some(sampled.bytes.weight), sampled.bytes.variance),
                    };
                    if let Some(estimate) = estimate {
                        *group.sampled.get_or_insert_default() += estimate;
                    }
                    group.variance += variance;
                    group.shares.entry(part.index).or_default().add(&sampled.bytes);
                }
            }
        }
        groups
    }

    /// The sum of a group, and its error.
    pub(super) fn finish_group(&self, group: Group) -> (ObjectTotals, Option<u64>) {
        let Group { mut totals, objects, bytes, sampled, variance, shares, sources } = group;
        let of_sources = self.estimates.variance(&sources);
        if shares.is_empty() {
            let error = (!sources.is_empty()).then(|| error(of_sources).min(totals.total_bytes()));
            return (totals, error);
        }
        totals.allocated(Amount { objects: objects.round() as u64, bytes: bytes.round() as u64 });
        if let Some(sampled) = sampled {
            totals.estimated(sampled.round() as u64, Some(variance));
        }
        let variance = shares.iter().filter_map(|(&index, part)| {
            let bytes = self.cells[index.0 as usize].totals.total_bytes() as f64;
            Some(bytes.powi(2) * self.shares.of(index)?.1.bytes.variance_of_share(part))
        });
        let error = error(variance.sum::<f64>() + of_sources).min(totals.total_bytes());
        (totals, Some(error))
    }

    pub(super) fn row<'a>(&self, subject: Subject<'a>, group: Group) -> Row<'a> {
        let (totals, error) = self.finish_group(group);
        Row { subject, totals, error }
    }

    pub(super) fn class(&self, index: ClassIndex) -> &str {
        &self.symbols.class_name(index).name
    }

    pub(super) fn thread(&self, index: ThreadIndex) -> ThreadSubject<'_> {
        let thread = self.symbols.thread_name(index);
        ThreadSubject { name: &thread.name, group: &thread.group, id: thread.id, rank: index.rank() }
    }
}
