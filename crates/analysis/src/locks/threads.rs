//! The threads of a trace, and what each did with its time.
//!
//! There may be millions, so not every one has a row of its own: nameless virtual threads share one, and so do the threads of a
//! pool once there are too many.

use rustc_hash::FxHashMap;
use trace::ids::ThreadId;
use trace::model::ThreadKind;
use trace::time::{Nanos, Time};

use super::processor_time::ProcessorSum;
use super::timeline_row::{ByState, Span, State, TimelineRow};

/// Maximum number of virtual threads with a row of their own: the first ones.
const MAX_VIRTUAL: usize = 20_000;
/// Maximum number of threads of any kind with a row of their own.
const MAX_ROWS: usize = 100_000;
/// Maximum number of shared rows; all further threads share one.
const MAX_SHARED: usize = 10_000;

/// The group that the JVM gives all virtual threads.
const VIRTUAL_GROUP: &str = "VirtualThreads";

/// Number of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct RowIndex(u32);

/// How often something happened, and how long it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeTotals {
    /// How often; a time that the trace's end cut off is one.
    pub count: u64,
    /// Time in all.
    pub total: Nanos,
    /// The longest.
    pub max: Nanos,
}

impl TimeTotals {
    pub(super) fn add(&mut self, length: Nanos) {
        self.count += 1;
        self.total = Nanos(self.total.0.saturating_add(length.0));
        self.max = self.max.max(length);
    }

    pub(super) fn merge(&mut self, other: TimeTotals) {
        self.count += other.count;
        self.total = Nanos(self.total.0.saturating_add(other.total.0));
        self.max = self.max.max(other.max);
    }
}

/// One thread, or several that share a row.
#[derive(Clone, Debug)]
pub(super) struct ThreadRow {
    pub(super) name: Box<str>,
    pub(super) group: Box<str>,
    /// What its name has in common with those of its pool.
    pool: Box<str>,
    /// The thread's id; `None` for a shared row, and in a lock log.
    pub(super) id: Option<ThreadId>,
    pub(super) is_shared: bool,
    /// What it is, if it does not run Java.
    pub(super) kind: Option<ThreadKind>,
    pub(super) members: u64,
    pub(super) started: Time,
    pub(super) ended: Time,
    pub(super) running: Nanos,
    /// Blocked, waiting, parked, sleeping.
    pub(super) stalls: [TimeTotals; State::STALLS],
    /// Of those that have ended, or whose document has.
    pub(super) processors: ProcessorSum,
    /// How many are in each state at the end of what counts; the others have ended, or not yet started.
    pub(super) at_end: ByState<u64>,
    /// That of a single thread is made at its first stall.
    pub(super) timeline: Option<TimelineRow>,
}

impl ThreadRow {
    /// What it is called, or its pool.
    pub(super) fn called(&self, pools: bool) -> ThreadName<'_> {
        let (name, id) = if pools { (&self.pool, None) } else { (&self.name, self.id) };
        ThreadName { name, group: &self.group, id }
    }

    /// Enters time spent in a state; gives back how much of it counts.
    pub(super) fn spend(&mut self, span: &Span, state: State, since: Time, until: Time) -> Nanos {
        let Some((from, to)) = span.clip(since, until) else { return Nanos(0) };
        let length = to.since(from);
        if state == State::Running {
            self.running = Nanos(self.running.0.saturating_add(length.0));
        }
        if self.timeline.is_none() && state != State::Running {
            let mut timeline = TimelineRow::new();
            // It ran until now. In a lock log that is not known.
            if self.id.is_some() {
                timeline.add(span, State::Running, self.started, since);
            }
            self.timeline = Some(timeline);
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.add(span, state, from, to);
        }
        length
    }
}

/// All rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Threads {
    rows: Vec<ThreadRow>,
    own: usize,
    own_virtual: usize,
    shared: FxHashMap<(Box<str>, Box<str>), RowIndex>,
}

impl Threads {
    /// The row of a thread that begins to be there.
    pub(super) fn start(&mut self, name: &str, group: &str, id: Option<ThreadId>, time: Time) -> RowIndex {
        let is_virtual = group == VIRTUAL_GROUP;
        let has_own = self.own < MAX_ROWS && (!is_virtual || self.own_virtual < MAX_VIRTUAL && !name.is_empty());
        let index = if has_own {
            self.own += 1;
            self.own_virtual += usize::from(is_virtual);
            self.push(name, group, id, false, time)
        } else {
            self.shared(name, group, time)
        };
        self.rows[index.0 as usize].members += 1;
        index
    }

    /// The row that a thread shares with those like it when there are too many.
    pub(super) fn shared_with(&mut self, row: RowIndex) -> RowIndex {
        let ThreadRow { name, group, started, is_shared, .. } = &self.rows[row.0 as usize];
        if *is_shared {
            return row;
        }
        let (name, group, started) = (name.clone(), group.clone(), *started);
        self.shared(&name, &group, started)
    }

    pub(super) fn row(&self, index: RowIndex) -> &ThreadRow {
        &self.rows[index.0 as usize]
    }

    pub(super) fn row_mut(&mut self, index: RowIndex) -> &mut ThreadRow {
        &mut self.rows[index.0 as usize]
    }

    /// What a row is called, or its pool.
    pub(super) fn name(&self, index: RowIndex, pools: bool) -> ThreadName<'_> {
        self.row(index).called(pools)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &ThreadRow> {
        // A row may be shared by pairs of threads only.
        self.rows.iter().filter(|row| row.members > 0)
    }

    fn shared(&mut self, name: &str, group: &str, time: Time) -> RowIndex {
        let is_full = self.shared.len() >= MAX_SHARED;
        let pool: Box<str> = if is_full { "*".into() } else { pool_name(name).into() };
        let group: Box<str> = if is_full { "".into() } else { group.into() };
        if let Some(&known) = self.shared.get(&(pool.clone(), group.clone())) {
            return known;
        }
        let index = self.push(&pool, &group, None, true, time);
        self.shared.insert((pool, group), index);
        index
    }

    fn push(&mut self, name: &str, group: &str, id: Option<ThreadId>, is_shared: bool, time: Time) -> RowIndex {
        self.rows.push(ThreadRow {
            name: name.into(),
            group: group.into(),
            pool: pool_name(name).into(),
            id,
            is_shared,
            kind: None,
            members: 0,
            started: time,
            ended: time,
            running: Nanos(0),
            stalls: Default::default(),
            processors: ProcessorSum::default(),
            at_end: Default::default(),
            // The threads of a shared row do not start together.
            timeline: is_shared.then(TimelineRow::new),
        });
        RowIndex((self.rows.len() - 1) as u32)
    }
}

/// What the names of a pool's threads have in common: `pool-1-thread-7` is one of `pool-1-thread-*`, and not of `pool-2-thread-*`.
pub fn pool_name(name: &str) -> String {
    let is_digit = |c: char| c.is_ascii_digit();
    let Some(last) = name.rfind(is_digit) else { return name.to_owned() };
    let (before, behind) = name.split_at(last + 1);
    format!("{}*{behind}", before.trim_end_matches(is_digit))
}

/// A thread as it was announced, or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadName<'a> {
    /// The name; where it stands for several threads, with a `*` for what differs.
    pub name: &'a str,
    /// The name of the thread group; empty if unknown.
    pub group: &'a str,
    /// The thread's id in its document; `None` for several threads, and where there are no ids.
    pub id: Option<ThreadId>,
}

impl ThreadName<'_> {
    /// Whether the JVM runs it on threads of others.
    pub fn is_virtual(&self) -> bool {
        self.group == VIRTUAL_GROUP
    }
}

impl std::fmt::Display for ThreadName<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.name, self.id) {
            // Java allows it.
            ("", Some(id)) if self.is_virtual() => write!(f, "(unnamed virtual thread {id})"),
            ("", None) if self.is_virtual() => f.write_str("(unnamed virtual threads)"),
            ("", _) => f.write_str("(unnamed thread)"),
            (name, _) => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_a_pool_differ_in_their_last_number() {
        assert_eq!(pool_name("pool-1-thread-27"), "pool-1-thread-*");
        assert_eq!(pool_name("main"), "main");
        assert_eq!(pool_name("http-nio-0.0.0.0-8080-exec-3"), "http-nio-0.0.0.0-8080-exec-*");
    }

    #[test]
    fn rows_are_shared_when_there_are_too_many() {
        let mut threads = Threads::default();
        for number in 0..MAX_VIRTUAL as u64 + 5 {
            threads.start(&format!("request {number}"), VIRTUAL_GROUP, Some(ThreadId(number)), Time(1));
            threads.start("", VIRTUAL_GROUP, Some(ThreadId(number)), Time(1));
        }
        threads.start("main", "main", Some(ThreadId(0)), Time(1));
        let shared: Vec<_> = threads.iter().filter(|row| row.is_shared).map(|row| (&*row.name, row.members)).collect();
        assert_eq!(shared, [("", MAX_VIRTUAL as u64 + 5), ("request *", 5)]);
        assert_eq!(threads.iter().map(|row| row.members).sum::<u64>(), 2 * (MAX_VIRTUAL as u64 + 5) + 1);
        for number in 0..MAX_ROWS + MAX_SHARED + 100 {
            let letters: String = number.to_string().chars().map(|c| char::from(c as u8 + 50)).collect();
            threads.start(&letters, "", None, Time(1));
        }
        assert!(threads.rows.len() <= MAX_ROWS + MAX_SHARED + 1);
    }
}
