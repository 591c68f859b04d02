//! The finished statistics: what the trace held, and rows by class, package, allocation site or thread.

use std::fmt;
use std::hash::Hash;

use rustc_hash::FxHashMap;
use trace::names;

use super::accounts::{self, Account, Accounts, ThreadSubject};
use super::live::CellIndex;
use super::naming::{Naming, SiteNames};
use super::over_time::Recorder;
use super::parts::{Cell, Part};
use super::scope::Clock;
use super::shares::Shares;
use super::snapshots::Snapshots;
use super::totals::{Amount, ObjectTotals};
use crate::call_tree::{Spread, error};
use crate::coverage::{Coverage, WhyUnknown};
use crate::facts::Facts;
use crate::location::Location;
use crate::stacks::Stacks;
use crate::symbols::{ClassIndex, SiteIndex, Symbols, ThreadIndex};

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

/// A line of code, and what it allocates.
#[derive(Clone, Debug, PartialEq)]
pub struct Line<'a> {
    /// Its numbers.
    pub row: Row<'a>,
    /// What is allocated there, and by which innermost frame: the most bytes first.
    pub inside: Vec<Inside<'a>>,
}

/// What a line of code allocates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inside<'a> {
    /// The class of the objects.
    pub class: &'a str,
    /// The innermost frame.
    pub at: Option<Location<'a>>,
    /// Bytes in all.
    pub bytes: u64,
}

/// What a row is about. Its `Display` is the text a table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject<'a> {
    /// A package; empty for the default package and for arrays of primitives.
    Package(&'a str),
    /// A class.
    Class(&'a str),
    /// A class and where it is allocated.
    Site {
        /// The allocated class.
        class: &'a str,
        /// The allocating line; `None` if the trace does not have it.
        at: Option<Location<'a>>,
    },
    /// A line of code; `None` gathers what has none.
    Line(Option<Location<'a>>),
    /// A method: its class, and its name as the trace spells it; `None` gathers what has none.
    Method(Option<(&'a str, &'a str)>),
    /// A thread; `None` gathers the objects that were defined without one.
    Thread(Option<ThreadSubject<'a>>),
}

/// Parts that are added up.
#[derive(Default)]
struct Group {
    /// Of whole cells.
    totals: ObjectTotals,
    objects: f64,
    bytes: f64,
    sampled: f64,
    /// What samples say of parts of cells.
    shares: FxHashMap<CellIndex, Spread>,
}

/// The statistics of one trace.
#[derive(Debug)]
pub struct AllocationReport {
    pub(super) symbols: Symbols,
    pub(super) stacks: Stacks,
    pub(super) cells: Vec<Cell>,
    pub(super) shares: Shares,
    /// Only some of the shares of a cell may be left.
    pub(super) is_restricted: bool,
    pub(super) accounts: Accounts,
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

    /// Does the trace count objects by site instead of reporting them one by one?
    pub fn is_counted(&self) -> bool {
        self.facts.allocations == 0 && self.facts.site_counts > 0
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
            return Coverage { is_counted: self.is_counted(), why_unknown, ..Coverage::default() };
        }
        let mut coverage = accounts::coverage(self.accounts());
        coverage.is_counted = self.is_counted();
        for count in &self.facts.counts {
            coverage.note_reason(&count.key, count.detail.as_deref().unwrap_or_default());
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

    /// Does any allocation have a call stack?
    pub fn has_stacks(&self) -> bool {
        self.stacks.iter().next().is_some()
    }

    /// Leaves out what is not allocated at a site that passes the filter: also what the JVM reported itself, and what only a walk of the
    /// heap found.
    pub fn retain_sites(&mut self, names: &SiteNames, site_filter: impl Fn(&Location<'_>) -> bool) {
        let symbols = &self.symbols;
        // A site has a cell for each class and thread.
        let mut passes: FxHashMap<Option<SiteIndex>, bool> = FxHashMap::default();
        let mut passes = |innermost, stack| {
            let site = names.site(innermost, stack);
            *passes.entry(site).or_insert_with(|| site.is_some_and(|site| site_filter(&symbols.location(site))))
        };
        let cells = &self.cells;
        self.shares.retain(|(key, _)| passes(cells[key.cell.0 as usize].site, key.stack));
        for (index, cell) in (0..).zip(&mut self.cells) {
            // Where samples spread a site, its shares say what is left of it.
            let is_spread = !names.are_innermost() && self.shares.of(CellIndex(index)).is_some();
            if !is_spread && !passes(cell.site, cell.stack) {
                cell.totals = ObjectTotals::default();
                self.recorder.iter_mut().for_each(|recorder| recorder.forget(CellIndex(index)));
            }
        }
        self.is_restricted = true;
        (self.facts.live_counts, self.facts.counted_by_vm) = (0, (0, 0));
    }

    /// The numbers of all objects whose class name passes the filter.
    pub fn sum(&self, class_filter: impl Fn(&str) -> bool) -> ObjectTotals {
        let group = self.group(self.pieces(true, class_filter), |_| ()).remove(&());
        self.finish_group(group.unwrap_or_default()).0
    }

    /// The rows of a table over all objects whose class name passes the filter, in no particular order; places are innermost frames.
    pub fn rows(&self, by: By, class_filter: impl Fn(&str) -> bool) -> Vec<Row<'_>> {
        self.rows_named(by, &self.site_names(&Naming::Innermost), class_filter)
    }

    /// The same with other frames of the stacks.
    pub fn rows_named(&self, by: By, names: &SiteNames, class_filter: impl Fn(&str) -> bool) -> Vec<Row<'_>> {
        let parts = self.pieces(Self::is_exact(by, names), class_filter);
        let allocated = parts.filter(|part| match by {
            By::Package | By::Class => true,
            By::Site | By::Line | By::Method | By::Thread => part.cell.totals.total() > 0,
        });
        let groups = self.group(allocated, |part| self.subject(by, names, part));
        groups.into_iter().map(|(subject, group)| self.row(subject, group)).collect()
    }

    /// Each line of code that allocates, and what it allocates, in no particular order.
    pub fn lines(&self, names: &SiteNames, class_filter: impl Fn(&str) -> bool) -> Vec<Line<'_>> {
        let parts = || self.pieces(names.are_innermost(), &class_filter).filter(|part| part.cell.totals.total() > 0);
        let mut inside: FxHashMap<Subject<'_>, Vec<Inside<'_>>> = FxHashMap::default();
        let by_class =
            self.group(parts(), |part| (self.subject(By::Line, names, part), part.cell.class, part.cell.site));
        for ((line, class, site), group) in by_class {
            let (class, at) = (self.class(class), site.map(|site| self.symbols.location(site)));
            let bytes = self.finish_group(group).0.total_bytes();
            inside.entry(line).or_default().push(Inside { class, at, bytes });
        }
        let lines = self.group(parts(), |part| self.subject(By::Line, names, part));
        lines
            .into_iter()
            .map(|(subject, group)| {
                let mut inside = inside.remove(&subject).unwrap_or_default();
                inside.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| (a.class, a.at).cmp(&(b.class, b.at))));
                Line { row: self.row(subject, group), inside }
            })
            .collect()
    }

    /// Whether whole cells have all that the rows of a table are made of.
    pub(super) fn is_exact(by: By, names: &SiteNames) -> bool {
        names.are_innermost() || matches!(by, By::Package | By::Class | By::Thread)
    }

    pub(super) fn subject(&self, by: By, names: &SiteNames, part: &Part<'_>) -> Subject<'_> {
        let at = || names.site(part.cell.site, part.stack).map(|site| self.symbols.location(site));
        match by {
            By::Package => Subject::Package(names::package(self.class(part.cell.class))),
            By::Class => Subject::Class(self.class(part.cell.class)),
            By::Site => Subject::Site { class: self.class(part.cell.class), at: at() },
            By::Line => Subject::Line(at()),
            By::Method => Subject::Method(at().map(|at| (at.class, at.method))),
            By::Thread => Subject::Thread(part.thread.map(|thread| self.thread(thread))),
        }
    }

    /// The parts of all cells whose class name passes the filter.
    pub(super) fn parts(&self, class_filter: impl Fn(&str) -> bool) -> impl Iterator<Item = Part<'_>> {
        self.pieces(false, class_filter)
    }

    /// The same, or whole cells where that is enough.
    fn pieces(&self, whole: bool, class_filter: impl Fn(&str) -> bool) -> impl Iterator<Item = Part<'_>> {
        // A class whose instances were found by an earlier walk of the heap only has nothing to show.
        self.pieces_of_all(whole, class_filter)
            .filter(|part| part.cell.totals.total() > 0 || part.cell.totals.live() > 0)
    }

    /// The same, also those of which nothing was allocated in the part of the trace that counts.
    pub(super) fn pieces_of_all(
        &self,
        whole: bool,
        class_filter: impl Fn(&str) -> bool,
    ) -> impl Iterator<Item = Part<'_>> {
        // A class has many cells; a filter may be slow.
        let mut passes: FxHashMap<ClassIndex, bool> = FxHashMap::default();
        let whole = whole && !self.is_restricted;
        (0..)
            .zip(&self.cells)
            .filter(move |(_, cell)| *passes.entry(cell.class).or_insert_with(|| class_filter(self.class(cell.class))))
            .flat_map(move |(index, cell)| {
                let index = CellIndex(index);
                let shares = if whole { None } else { self.shares.of(index) };
                let is_whole = shares.is_none();
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
                is_whole.then_some(all).into_iter().chain(parts)
            })
    }

    fn group<'r, K: Hash + Eq>(
        &self,
        parts: impl Iterator<Item = Part<'r>>,
        key: impl Fn(&Part<'r>) -> K,
    ) -> FxHashMap<K, Group> {
        let mut groups: FxHashMap<K, Group> = FxHashMap::default();
        for part in parts {
            let group = groups.entry(key(&part)).or_default();
            match part.share {
                None => group.totals.add(&part.cell.totals),
                Some((sampled, _)) => {
                    group.objects += part.objects();
                    group.bytes += part.bytes();
                    group.sampled += sampled.bytes.weight;
                    group.shares.entry(part.index).or_default().add(&sampled.bytes);
                }
            }
        }
        groups
    }

    /// The sum of a group, and its error.
    fn finish_group(&self, group: Group) -> (ObjectTotals, Option<u64>) {
        let Group { mut totals, objects, bytes, sampled, shares } = group;
        if shares.is_empty() {
            return (totals, None);
        }
        totals.allocated(Amount { objects: objects.round() as u64, bytes: bytes.round() as u64 });
        totals.estimated(sampled.round() as u64);
        let variance = shares.iter().filter_map(|(&index, part)| {
            let bytes = self.cells[index.0 as usize].totals.total_bytes() as f64;
            Some(bytes.powi(2) * self.shares.of(index)?.1.bytes.variance_of_share(part))
        });
        let error = error(variance.sum()).min(totals.total_bytes());
        (totals, Some(error))
    }

    fn row<'a>(&self, subject: Subject<'a>, group: Group) -> Row<'a> {
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

impl fmt::Display for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Package("") => f.write_str("(default package)"),
            Subject::Class("") => f.write_str("(unnamed class)"),
            Subject::Package(name) | Subject::Class(name) => f.write_str(name),
            Subject::Site { class, at: Some(at) } => write!(f, "{class} at {at}"),
            Subject::Site { class, at: None } => write!(f, "{class} (no site)"),
            Subject::Line(Some(at)) => at.fmt(f),
            Subject::Method(Some((class, name))) => write!(f, "{class}.{}", names::jvm_method_name(name)),
            Subject::Line(None) | Subject::Method(None) => f.write_str("(no site)"),
            // Java allows it.
            Subject::Thread(Some(ThreadSubject { name: "", .. })) => f.write_str("(unnamed thread)"),
            Subject::Thread(Some(thread)) => f.write_str(thread.name),
            Subject::Thread(None) => f.write_str("(no thread)"),
        }
    }
}
