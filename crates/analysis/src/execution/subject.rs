//! What the rows of the tables are about, and their numbers.

use trace::time::Nanos;

use crate::allocations::ThreadSubject;
use crate::location::Location;
use crate::symbols::{ClassIndex, SiteIndex, ThreadIndex};

/// What the rows of a table stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallBy {
    /// Methods.
    Method,
    /// Classes.
    Class,
    /// Packages.
    Package,
    /// Threads.
    Thread,
}

impl CallBy {
    /// All of them.
    pub const ALL: [CallBy; 4] = [CallBy::Method, CallBy::Class, CallBy::Package, CallBy::Thread];
}

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CallSubject<'a> {
    /// A method, without a line.
    Method(Location<'a>),
    /// A class.
    Class(&'a str),
    /// A package; empty for none.
    Package(&'a str),
    /// A thread.
    Thread(ThreadSubject<'a>),
}

/// One row of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallRow<'a> {
    /// What it is about.
    pub subject: CallSubject<'a>,
    /// How often its methods were called.
    pub calls: u64,
    /// The time in them, without what they called. Those of all rows add up to the whole.
    pub base: Nanos,
    /// The time from entry to exit, with what was called; what is called again inside counts once.
    pub cumulative: Nanos,
    /// The shortest call, from entry to exit; `None` if calls are only known added up.
    pub min: Option<Nanos>,
    /// The longest.
    pub max: Option<Nanos>,
    /// The average.
    pub average: Option<Nanos>,
}

/// Number of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PackageIndex(pub(super) u32);

/// What calls are added up for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Method(SiteIndex),
    Class(ClassIndex),
    Package(PackageIndex),
    Thread(ThreadIndex),
}

impl Key {
    pub(super) fn by(self) -> CallBy {
        match self {
            Key::Method(_) => CallBy::Method,
            Key::Class(_) => CallBy::Class,
            Key::Package(_) => CallBy::Package,
            Key::Thread(_) => CallBy::Thread,
        }
    }
}

/// The numbers of a row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) calls: u64,
    pub(super) base: Nanos,
    pub(super) cumulative: Nanos,
    /// Calls of which each is known, and how long they took, together and at least and at most.
    timed: u64,
    together: Nanos,
    min: Nanos,
    max: Nanos,
}

impl Totals {
    /// Adds calls; `single`: how long it took, if it is one call.
    pub(super) fn add(&mut self, calls: u64, base: Nanos, single: Option<Nanos>) {
        self.calls = self.calls.saturating_add(calls);
        add(&mut self.base, base);
        if let Some(time) = single {
            self.min = if self.timed == 0 { time } else { self.min.min(time) };
            self.max = self.max.max(time);
            self.timed += 1;
            add(&mut self.together, time);
        }
    }

    pub(super) fn row<'a>(&self, subject: CallSubject<'a>) -> CallRow<'a> {
        let known = |time: Nanos| (self.timed > 0).then_some(time);
        CallRow {
            subject,
            calls: self.calls,
            base: self.base,
            cumulative: self.cumulative,
            min: known(self.min),
            max: known(self.max),
            average: known(Nanos(self.together.0 / self.timed.max(1))),
        }
    }
}

/// Adds a length of time.
pub(super) fn add(sum: &mut Nanos, time: Nanos) {
    sum.0 = sum.0.saturating_add(time.0);
}
