//! The finished statistics: what the trace held, and rows by class, package, allocation site or thread.

use std::fmt;
use std::hash::Hash;

use rustc_hash::FxHashMap;
use trace::names;

use super::accounts::{self, Account, Accounts, ThreadSubject};
use super::totals::ObjectTotals;
use crate::coverage::{Coverage, WhyUnknown};
use crate::facts::Facts;
use crate::location::Location;
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
    /// A thread; `None` gathers the objects that were defined without one.
    Thread(Option<ThreadSubject<'a>>),
}

/// Objects that share class, thread and site.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) class: ClassIndex,
    pub(super) thread: Option<ThreadIndex>,
    pub(super) site: Option<SiteIndex>,
    pub(super) totals: ObjectTotals,
}

/// The statistics of one trace.
#[derive(Debug)]
pub struct AllocationReport {
    pub(super) symbols: Symbols,
    pub(super) cells: Vec<Cell>,
    pub(super) accounts: Accounts,
    pub(super) facts: Facts,
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

    /// Leaves out what is not allocated at a site that passes the filter: also what the JVM reported itself, and what only a walk of the
    /// heap found.
    pub fn retain_sites(&mut self, site_filter: impl Fn(&Location<'_>) -> bool) {
        let symbols = &self.symbols;
        // A site has a cell for each class and thread.
        let mut passes: FxHashMap<SiteIndex, bool> = FxHashMap::default();
        self.cells.retain(|cell| {
            let passes = |site| *passes.entry(site).or_insert_with(|| site_filter(&symbols.location(site)));
            cell.site.is_some_and(passes)
        });
        (self.facts.live_counts, self.facts.counted_by_vm) = (0, (0, 0));
    }

    /// The numbers of all objects whose class name passes the filter.
    pub fn sum(&self, class_filter: impl Fn(&str) -> bool) -> ObjectTotals {
        let mut sum = ObjectTotals::default();
        for cell in self.filtered(class_filter) {
            sum.add(&cell.totals);
        }
        sum
    }

    /// The rows of a table over all objects whose class name passes the filter, in no particular order.
    pub fn rows(&self, by: By, class_filter: impl Fn(&str) -> bool) -> Vec<Row<'_>> {
        let cells = self.filtered(class_filter);
        match by {
            By::Package => self.group(cells, |cell| Subject::Package(names::package(self.class(cell.class)))),
            By::Class => self.group(cells, |cell| Subject::Class(self.class(cell.class))),
            By::Site => self.group(cells.filter(|cell| cell.totals.total() > 0), |cell| Subject::Site {
                class: self.class(cell.class),
                at: cell.site.map(|site| self.symbols.location(site)),
            }),
            By::Thread => self.group(cells.filter(|cell| cell.totals.total() > 0), |cell| {
                Subject::Thread(cell.thread.map(|thread| self.thread(thread)))
            }),
        }
    }

    fn filtered(&self, class_filter: impl Fn(&str) -> bool) -> impl Iterator<Item = &Cell> {
        // A class has many cells; a filter may be slow.
        let mut passes: FxHashMap<ClassIndex, bool> = FxHashMap::default();
        self.cells
            .iter()
            // A class whose instances were found by an earlier walk of the heap only has nothing to show.
            .filter(|cell| cell.totals.total() > 0 || cell.totals.live() > 0)
            .filter(move |cell| *passes.entry(cell.class).or_insert_with(|| class_filter(self.class(cell.class))))
    }

    fn group<'a>(
        &'a self,
        cells: impl Iterator<Item = &'a Cell>,
        subject: impl Fn(&Cell) -> Subject<'a>,
    ) -> Vec<Row<'a>> {
        let mut totals: FxHashMap<Subject<'a>, ObjectTotals> = FxHashMap::default();
        for cell in cells {
            totals.entry(subject(cell)).or_default().add(&cell.totals);
        }
        totals.into_iter().map(|(subject, totals)| Row { subject, totals }).collect()
    }

    fn class(&self, index: ClassIndex) -> &str {
        &self.symbols.class_name(index).name
    }

    fn thread(&self, index: ThreadIndex) -> ThreadSubject<'_> {
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
            // Java allows it.
            Subject::Thread(Some(ThreadSubject { name: "", .. })) => f.write_str("(unnamed thread)"),
            Subject::Thread(Some(thread)) => f.write_str(thread.name),
            Subject::Thread(None) => f.write_str("(no thread)"),
        }
    }
}
