//! Rows of a table: by class, package, allocation site or thread; and what a line of code allocates.

use std::fmt;

use rustc_hash::FxHashMap;
use trace::names;

use super::breakdown::{Group, Part};
use super::cells::{Cell, ThreadSubject};
use super::naming::{Naming, SiteNames};
use super::report::AllocationReport;
use super::totals::ObjectTotals;
use crate::call_tree::REMOVED;
use crate::explain::LEAST_SAMPLES;
use crate::location::Location;
use crate::own_code::is_jdk;

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
    /// A module; empty for unnamed ones, and if the trace does not say. `None` gathers what has no code.
    Module(Option<&'a str>),
    /// What the JIT removed where samples divide what sites execute, so that the caller is not known; of a class, in tables of sites.
    Removed(Option<&'a str>),
    /// What nobody counted where sites are counted, as samples say; of a class, in tables of classes.
    Uncounted(Option<&'a str>),
    /// A thread; `None` gathers the objects that were defined without one.
    Thread(Option<ThreadSubject<'a>>),
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
            Subject::Module(Some("")) => f.write_str("(unnamed)"),
            Subject::Module(Some(name)) => f.write_str(name),
            Subject::Line(None) | Subject::Method(None) | Subject::Module(None) => f.write_str("(no site)"),
            Subject::Removed(None) => f.write_str(REMOVED),
            Subject::Removed(Some(class)) => write!(f, "{class} {REMOVED}"),
            Subject::Uncounted(None) => f.write_str(UNCOUNTED),
            Subject::Uncounted(Some(class)) => write!(f, "{class} {UNCOUNTED}"),
            // Java allows it.
            Subject::Thread(Some(ThreadSubject { name: "", .. })) => f.write_str("(unnamed thread)"),
            Subject::Thread(Some(thread)) => f.write_str(thread.name),
            Subject::Thread(None) => f.write_str("(no thread)"),
        }
    }
}

/// What a row is called that would otherwise be exact.
const UNCOUNTED: &str = "(not counted, estimated)";

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
    /// How many samples say what was allocated; 0 if it is counted.
    pub samples: u64,
}

impl Row<'_> {
    /// Whether so few samples say what was allocated that it may be nearly anything.
    pub fn has_few_samples(&self) -> bool {
        // Of a part that is counted the error is small.
        let is_doubtful = self.error.is_some_and(|error| error.saturating_mul(2) >= self.totals.total_bytes());
        (1..LEAST_SAMPLES).contains(&self.samples) && is_doubtful
    }

    /// Whether it is to be shown: where no more than chance is removed, that is a part of what callers may be off.
    fn is_worth(&self) -> bool {
        !matches!(self.subject, Subject::Removed(_)) || self.totals.total_bytes() > 0
    }
}

/// A line of code, and what it allocates.
#[derive(Clone, Debug, PartialEq)]
pub struct Line<'a> {
    /// Its numbers.
    pub row: Row<'a>,
    /// What is allocated there, and by which innermost frame: the most bytes first.
    pub inside: Vec<Inside<'a>>,
}

impl Line<'_> {
    /// Whether it is code that is known, and not of the JDK.
    pub fn is_outside_jdk(&self) -> bool {
        match self.row.subject {
            Subject::Line(Some(at)) => !is_jdk(at.class),
            Subject::Method(Some((class, _))) => !is_jdk(class),
            Subject::Module(Some(module)) => !is_jdk(&format!("{module}.*")),
            _ => false,
        }
    }
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

impl AllocationReport {
    /// The numbers of all objects whose class name passes the filter.
    pub fn sum(&self, class_filter: impl Fn(&str) -> bool) -> ObjectTotals {
        self.sum_and_error(class_filter).0
    }

    /// The same, and how far the bytes may be off with a confidence of 95 %: what is left of the sites may be known by samples only.
    pub fn sum_and_error(&self, class_filter: impl Fn(&str) -> bool) -> (ObjectTotals, Option<u64>) {
        self.breakdown.sum(class_filter)
    }

    /// The rows of a table over all objects whose class name passes the filter, in no particular order; places are innermost frames.
    pub fn rows(&self, by: By, class_filter: impl Fn(&str) -> bool) -> Vec<Row<'_>> {
        self.rows_named(by, &self.site_names(&Naming::Innermost), class_filter)
    }

    /// The same with other frames of the stacks.
    pub fn rows_named(&self, by: By, names: &SiteNames, class_filter: impl Fn(&str) -> bool) -> Vec<Row<'_>> {
        let parts = self.breakdown.pieces(self.is_whole(by, names), class_filter);
        let allocated = parts.filter(|part| matches!(by, By::Package | By::Class) || part.is_allocated());
        let groups = self.breakdown.group(allocated, |part| self.subject(by, names, part));
        groups.into_iter().map(|(subject, group)| self.row(subject, group)).filter(Row::is_worth).collect()
    }

    /// Each line of code that allocates, and what it allocates, in no particular order.
    pub fn lines(&self, names: &SiteNames, class_filter: impl Fn(&str) -> bool) -> Vec<Line<'_>> {
        self.code(By::Line, names, class_filter)
    }

    /// The same of what rows of another kind stand for, such as methods.
    pub fn code(&self, by: By, names: &SiteNames, class_filter: impl Fn(&str) -> bool) -> Vec<Line<'_>> {
        let parts = || self.breakdown.pieces(self.is_whole(By::Line, names), &class_filter).filter(Part::is_allocated);
        let mut inside: FxHashMap<Subject<'_>, Vec<Inside<'_>>> = FxHashMap::default();
        let by_class = self.breakdown.group(parts(), |part| {
            let at = part.cell.site.map(|site| self.cells().location(site));
            (self.subject(by, names, part), self.cells().class(part.cell), at)
        });
        for ((line, class, at), group) in by_class {
            let bytes = self.breakdown.finish(group).0.total_bytes();
            if bytes == 0 && matches!(line, Subject::Removed(_)) {
                continue;
            }
            inside.entry(line).or_default().push(Inside { class, at, bytes });
        }
        let lines = self.breakdown.group(parts(), |part| self.subject(by, names, part)).into_iter();
        let lines = lines.map(|(subject, group)| {
            let mut inside = inside.remove(&subject).unwrap_or_default();
            inside.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| (a.class, a.at).cmp(&(b.class, b.at))));
            Line { row: self.row(subject, group), inside }
        });
        lines.filter(|line| line.row.is_worth()).collect()
    }

    /// What a line calls to have most of a class allocated, where call stacks say so and it does not allocate these itself.
    pub fn called_at(&self, names: &SiteNames, line: Location<'_>, class: &str) -> Option<Location<'_>> {
        let is_line = |site| self.cells().location(site) == line;
        let is_at = |part: &Part<'_>| names.site(part.cell.site, part.cell.stack).is_some_and(is_line);
        let callee = |part: &Part<'_>| {
            let frames = self.cells().stack_of(part.cell);
            let own = frames.iter().position(|&site| is_line(site))?;
            own.checked_sub(1).map(|inner| self.cells().location(frames[inner]))
        };
        let parts = self.breakdown.parts(|name| name == class).filter(is_at);
        let groups = self.breakdown.group(parts, callee).into_iter();
        let sizes = groups.map(|(callee, group)| (self.breakdown.finish(group).0.total_bytes(), callee));
        sizes.max().and_then(|(_, callee)| callee)
    }

    /// Whether a whole cell has all that a row of a table is made of.
    pub(super) fn is_whole(&self, by: By, names: &SiteNames) -> impl Fn(Cell) -> bool {
        move |cell| match by {
            By::Package | By::Class => true,
            By::Site | By::Line | By::Method | By::Module => names.always_name(cell.site, self.cells().symbols()),
            By::Thread => false,
        }
    }

    pub(super) fn subject(&self, by: By, names: &SiteNames, part: &Part<'_>) -> Subject<'_> {
        let class = self.cells().class(part.cell);
        let site = || names.site(part.cell.site, part.cell.stack);
        let at = || site().map(|site| self.cells().location(site));
        match by {
            By::Package if part.cell.is_uncounted => Subject::Uncounted(None),
            By::Class if part.cell.is_uncounted => Subject::Uncounted(Some(class)),
            By::Package => Subject::Package(names::package(class)),
            By::Class => Subject::Class(class),
            By::Site if part.is_removed() => Subject::Removed(Some(class)),
            _ if part.is_removed() => Subject::Removed(None),
            By::Site => Subject::Site { class, at: at() },
            By::Line => Subject::Line(at()),
            By::Method => Subject::Method(at().map(|at| (at.class, at.method))),
            By::Module => Subject::Module(site().map(|site| self.cells().symbols().module(site))),
            By::Thread => Subject::Thread(part.cell.thread.map(|thread| self.cells().thread(thread))),
        }
    }

    fn row<'a>(&self, subject: Subject<'a>, group: Group) -> Row<'a> {
        let samples = group.parts.samples();
        let (totals, error) = self.breakdown.finish(group);
        Row { subject, totals, error, samples }
    }
}
