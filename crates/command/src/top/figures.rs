//! The tables of the live view, as sums since the beginning of the trace.

use std::collections::BTreeMap;

use ::thread_dump::ThreadDump;
use analysis::allocations::{AllocationReport, By, Naming, ObjectTotals};
use analysis::cpu::CpuBy;
use analysis::explain::TraceReport;
use analysis::locks::{LockBy, pool_name};
use analysis::own_code::OwnCode;
use analysis::thread_dumps::BlockedThreads;

use crate::render::human::printable;
use crate::render::{allocations, samples, thread_dump};

/// The most values of a row.
pub(crate) const VALUES: usize = 5;
/// With more threads than these, those of a pool are one row.
const MANY_THREADS: u64 = 200;

/// What is shown one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    /// Allocations by line of the user's own code.
    Lines,
    /// Allocations by class.
    Classes,
    /// CPU time by line of the user's own code.
    Cpu,
    /// Waits for locks.
    Locks,
    /// Threads.
    Threads,
}

impl Topic {
    /// All of them.
    pub(crate) const ALL: [Topic; 5] = [Topic::Lines, Topic::Classes, Topic::Cpu, Topic::Locks, Topic::Threads];

    /// What it is called.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Topic::Lines => "lines",
            Topic::Classes => "classes",
            Topic::Cpu => "cpu",
            Topic::Locks => "locks",
            Topic::Threads => "threads",
        }
    }

    /// Its columns in front of the names.
    pub(crate) fn columns(self) -> &'static [Column] {
        match self {
            Topic::Lines | Topic::Classes => ALLOCATIONS,
            Topic::Cpu => CPU,
            Topic::Locks => LOCKS,
            Topic::Threads => THREADS,
        }
    }

    /// Options that record it.
    pub(crate) fn options(self) -> &'static str {
        match self {
            Topic::Lines | Topic::Classes => "--sampled or --heap counts",
            Topic::Cpu => "--cpu",
            Topic::Locks => "--locks",
            Topic::Threads => "--cpu, --locks or --heap events",
        }
    }
}

/// A column of numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    /// Its heading.
    pub(crate) heading: &'static str,
    /// Which of the row's values.
    pub(crate) value: usize,
    /// How much it grows in a second, not how much it is.
    pub(crate) is_rate: bool,
    /// What the value is.
    pub(crate) unit: Unit,
}

impl Column {
    const fn rate(heading: &'static str, value: usize, unit: Unit) -> Self {
        Column { heading, value, is_rate: true, unit }
    }

    const fn sum(heading: &'static str, value: usize, unit: Unit) -> Self {
        Column { heading, value, is_rate: false, unit }
    }
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Bytes,
    Count,
    /// Nanoseconds; their rate is a part of one processor, or of one thread's time.
    Time,
}

const ALLOCATIONS: &[Column] = &[
    Column::rate("allocates", 0, Unit::Bytes),
    Column::rate("objects/s", 1, Unit::Count),
    Column::sum("bytes", 0, Unit::Bytes),
    Column::sum("live", 2, Unit::Bytes),
];
const CPU: &[Column] = &[
    Column::rate("cpu", 0, Unit::Time),
    Column::rate("with calls", 1, Unit::Time),
    Column::sum("in all", 0, Unit::Time),
];
const LOCKS: &[Column] = &[
    Column::rate("blocked", 0, Unit::Time),
    Column::rate("times/s", 1, Unit::Count),
    Column::sum("in all", 0, Unit::Time),
    Column::sum("times", 1, Unit::Count),
];
const THREADS: &[Column] = &[
    Column::rate("cpu", 0, Unit::Time),
    Column::rate("blocked", 1, Unit::Time),
    Column::rate("parked", 2, Unit::Time),
    Column::rate("waiting", 3, Unit::Time),
    Column::rate("allocates", 4, Unit::Bytes),
];

/// The rows of a topic by their names.
pub(crate) type Rows = BTreeMap<String, [u64; VALUES]>;

/// All tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    rows: [Rows; Topic::ALL.len()],
    /// Collections, and the nanoseconds that they stopped the program.
    pub(crate) collections: (u64, u64),
    /// Bytes in use after the last one.
    pub(crate) used: Option<u64>,
    /// Objects are a sample.
    pub(crate) is_sampled: bool,
    /// Threads that run Java now.
    pub(crate) threads: u64,
    /// A deadlock that the last dump of all threads shows.
    pub(crate) deadlock: Option<String>,
    /// Elements that are read, ...
    pub(crate) elements: u64,
    /// ... and those that no trace has.
    pub(crate) unknown: u64,
}

/// A deadlock of a dump, in words.
fn deadlock(dump: &ThreadDump) -> Option<String> {
    let blocked = BlockedThreads::of(dump, &OwnCode::default(), |_| false);
    blocked.deadlocks.first().map(|found| printable(&thread_dump::deadlock(found, None).head))
}

impl Figures {
    /// What a trace says.
    pub(crate) fn of(report: &TraceReport) -> Self {
        let TraceReport { allocations, locks, cpu, collections, .. } = report;
        let own = Naming::Own(Vec::new());
        let names = cpu.site_names(&own);
        let mut cpu_lines = Rows::new();
        for row in cpu.rows(CpuBy::Line, &names) {
            add(&mut cpu_lines, samples::marked(&row.subject), [row.time.0, row.total.0, 0, 0, 0]);
        }
        let mut waits = Rows::new();
        for row in locks.rows(LockBy::Monitor, false) {
            let blocked = [row.contended.total().0, row.contended.count(), 0, 0, 0];
            if blocked[1] > 0 && !row.says_too_little() {
                let estimated = if row.estimate.is_some() { " (estimated)" } else { "" };
                add(&mut waits, format!("{}{estimated}", row.subject), blocked);
            }
        }
        let pools = locks.thread_count() > MANY_THREADS;
        let named = |name: String| if pools { pool_name(&name) } else { name };
        let mut threads = Rows::new();
        let mut living: u64 = 0;
        // Those of the VM wait for nothing that is recorded.
        for row in locks.threads(pools, |_| true).into_iter().filter(|row| row.kind.is_none()) {
            living = living.saturating_add(row.at_end.iter().sum());
            let stalls = [&row.blocked, &row.parked, &row.waiting, &row.sleeping].map(|times| times.total.0);
            let [blocked, parked, waiting, sleeping] = stalls;
            add(&mut threads, row.thread.to_string(), [0, blocked, parked, waiting.saturating_add(sleeping), 0]);
        }
        for row in cpu.rows(CpuBy::Thread, &names) {
            add(&mut threads, named(row.subject.to_string()), [row.time.0, 0, 0, 0, 0]);
        }
        for row in allocations.rows(By::Thread, |_| true) {
            add(&mut threads, named(row.subject.to_string()), [0, 0, 0, 0, row.totals.total_bytes()]);
        }
        let rows = [lines(allocations, &own), classes(allocations), cpu_lines, waits, threads];
        Figures {
            rows,
            collections: (collections.count(), collections.pauses().0),
            used: collections.used_after_last(),
            is_sampled: allocations.is_sampled(),
            threads: living,
            deadlock: locks.dumps().last().and_then(|last| deadlock(&last.dump)),
            elements: allocations.facts().elements,
            unknown: allocations.facts().unknown,
        }
    }

    /// One row.
    #[cfg(test)]
    pub(crate) fn with(topic: Topic, name: &str, values: [u64; VALUES]) -> Self {
        let mut figures = Figures::default();
        figures.insert(topic, name, values);
        figures
    }

    /// Another row.
    #[cfg(test)]
    pub(crate) fn insert(&mut self, topic: Topic, name: &str, values: [u64; VALUES]) {
        self.rows[topic as usize].insert(name.to_owned(), values);
    }

    /// The rows of a topic.
    pub(crate) fn rows(&self, topic: Topic) -> &Rows {
        &self.rows[topic as usize]
    }

    /// The sum of a value over all rows.
    pub(crate) fn sum(&self, topic: Topic, value: usize) -> u64 {
        self.rows(topic).values().fold(0, |sum, row| sum.saturating_add(row[value]))
    }
}

fn lines(report: &AllocationReport, own: &Naming) -> Rows {
    let mut rows = Rows::new();
    for line in report.lines(&report.site_names(own), |_| true) {
        add(&mut rows, allocations::marked(&line.row.subject), allocated(&line.row.totals));
    }
    rows
}

fn classes(report: &AllocationReport) -> Rows {
    let mut rows = Rows::new();
    for row in report.rows(By::Class, |_| true) {
        add(&mut rows, row.subject.to_string(), allocated(&row.totals));
    }
    rows
}

fn allocated(totals: &ObjectTotals) -> [u64; VALUES] {
    [totals.total_bytes(), totals.total(), totals.live_bytes(), 0, 0]
}

fn add(rows: &mut Rows, name: String, values: [u64; VALUES]) {
    let row = rows.entry(printable(&name)).or_default();
    row.iter_mut().zip(values).for_each(|(sum, value)| *sum = sum.saturating_add(value));
}
