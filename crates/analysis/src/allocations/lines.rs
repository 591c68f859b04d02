//! Lines of code, and what each allocates.

use rustc_hash::FxHashMap;

use super::naming::SiteNames;
use super::parts::{Cell, Part};
use super::report::{AllocationReport, By, Row};
use super::subject::Subject;
use crate::location::Location;
use crate::own_code::is_jdk;

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
    /// Each line of code that allocates, and what it allocates, in no particular order.
    pub fn lines(&self, names: &SiteNames, class_filter: impl Fn(&str) -> bool) -> Vec<Line<'_>> {
        self.code(By::Line, names, class_filter)
    }

    /// What a line calls to have most of a class allocated, where call stacks say so and it does not allocate these itself.
    pub fn called_at(&self, names: &SiteNames, line: Location<'_>, class: &str) -> Option<Location<'_>> {
        let is_at = |part: &Part<'_>| {
            let site = names.site(part.cell.site, part.stack);
            site.is_some_and(|site| self.symbols.location(site) == line)
        };
        let callee = |part: &Part<'_>| {
            let frames = self.stacks.frames(part.stack?);
            let own = frames.iter().position(|&site| self.symbols.location(site) == line)?;
            own.checked_sub(1).map(|inner| frames[inner])
        };
        let groups = self.group(self.parts(|name| name == class).filter(is_at), callee).into_iter();
        let sizes = groups.map(|(callee, group)| (self.finish_group(group).0.total_bytes(), callee));
        let callees = sizes.map(|(bytes, callee)| (bytes, callee.map(|site| self.symbols.location(site))));
        callees.max().and_then(|(_, callee)| callee)
    }

    /// The same of what rows of another kind stand for, such as methods.
    pub fn code(&self, by: By, names: &SiteNames, class_filter: impl Fn(&str) -> bool) -> Vec<Line<'_>> {
        let is_whole = |cell: &Cell| names.always_name(cell.site, &self.symbols);
        let parts = || {
            self.pieces(is_whole, &class_filter)
                .filter(|part| part.cell.totals.total() > 0 || part.cell.totals.live_samples() > 0)
        };
        let mut inside: FxHashMap<Subject<'_>, Vec<Inside<'_>>> = FxHashMap::default();
        let by_class = self.group(parts(), |part| (self.subject(by, names, part), part.cell.class, part.cell.site));
        for ((line, class, site), group) in by_class {
            let (class, at) = (self.class(class), site.map(|site| self.symbols.location(site)));
            let bytes = self.finish_group(group).0.total_bytes();
            inside.entry(line).or_default().push(Inside { class, at, bytes });
        }
        let lines = self.group(parts(), |part| self.subject(by, names, part));
        lines
            .into_iter()
            .map(|(subject, group)| {
                let mut inside = inside.remove(&subject).unwrap_or_default();
                inside.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| (a.class, a.at).cmp(&(b.class, b.at))));
                Line { row: self.row(subject, group), inside }
            })
            .collect()
    }
}
