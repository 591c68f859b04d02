//! The finished statistics of threads and monitors.

use std::collections::hash_map::Entry;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use trace::locklog::WallClock;
use trace::time::{Nanos, Time};

use super::durations::Durations;
use super::lock_names::{LockHolders, LockNames};
use super::lock_places::LockPlaces;
use super::looks::{Estimate, Looks};
use super::paths::WaitPaths;
use super::rows::{LockBy, LockRow, LockSubject, Longest, ThreadSummary};
use super::stacks::{StackIndex, Stacks};
use super::stuck::{Deadlock, Stuck, StuckRecord, ThreadRef};
use super::tables::{LongestWait, WaitTables, WaitTotals};
use super::threads::{RowIndex, ThreadName, ThreadRow, Threads, TimeTotals};
use super::timeline_row::{Span, State, TimelineRow};
use crate::facts::Facts;
use crate::location::Location;
use crate::symbols::{ClassIndex, SiteIndex, Symbols};
use crate::thread_dumps::TakenDump;

/// What was missing in the events, or ambiguous.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitProblems {
    /// Ends of waits whose beginnings are not in the trace.
    pub without_begin: u64,
    /// Beginnings of waits whose ends are not in the trace, although their threads did something else later.
    pub without_end: u64,
    /// Lock logs: times that a thread blocked while another of the same name was blocked. Which of them continued is not
    /// known; sums are right nevertheless.
    pub shared_names: u64,
}

/// Sums over all waits that were selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitSums {
    /// Waits for a lock that another thread owned, or may have owned.
    pub contended: TimeTotals,
    /// Those of them of which it is known where the owner was.
    pub with_owner_stack: TimeTotals,
    /// Waits for a notification, or for anything else than a lock.
    pub waited: TimeTotals,
    /// Waits of idle threads for work, which are in no table unless [`Selection::idle`](super::Selection::idle) wants them.
    pub idle: TimeTotals,
}

/// The statistics of one trace or lock log.
pub struct LockReport {
    pub(super) symbols: Symbols,
    pub(super) stacks: Stacks,
    pub(super) span: Span,
    pub(super) threads: Threads,
    pub(super) tables: WaitTables,
    pub(super) lock_names: LockNames,
    pub(super) lock_places: LockPlaces,
    pub(super) idle: TimeTotals,
    pub(super) paths: WaitPaths,
    pub(super) stuck: Vec<StuckRecord>,
    pub(super) stuck_more: u64,
    pub(super) deadlocks: Vec<Vec<StuckRecord>>,
    pub(super) problems: WaitProblems,
    pub(super) dumps: Vec<Arc<TakenDump>>,
    pub(super) facts: Facts,
    pub(super) log_starts: Vec<WallClock>,
    pub(super) is_log: bool,
    pub(super) has_looks: bool,
}

impl LockReport {
    /// What the trace held besides threads and monitors, and what was wrong with it.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// What was missing in the events, or ambiguous.
    pub fn problems(&self) -> WaitProblems {
        self.problems
    }

    /// The dumps of all threads, in their order.
    pub fn dumps(&self) -> &[Arc<TakenDump>] {
        &self.dumps
    }

    /// Was this a lock log? It has neither monitors nor owners, and neither starts nor ends of threads.
    pub fn is_log(&self) -> bool {
        self.is_log
    }

    /// Were waits seen by looks at intervals, rather than recorded? Then there are those for locks alone.
    pub fn has_looks(&self) -> bool {
        self.has_looks
    }

    /// When the lock log began; the first time of several.
    pub fn log_start(&self) -> Option<WallClock> {
        self.log_starts.first().copied()
    }

    /// Does the trace say in which modules classes are?
    pub fn has_modules(&self) -> bool {
        self.symbols.has_modules()
    }

    /// The first time in the trace, and the last.
    pub fn span(&self) -> Option<(Time, Time)> {
        self.span.origin().map(|origin| (origin, self.span.end()))
    }

    /// The part of the span that counts.
    pub fn counted(&self) -> Option<(Time, Time)> {
        let (since, until) = self.span()?;
        self.span.clip(since, until)
    }

    /// How long each of [`ThreadSummary::slices`] is.
    pub fn slice(&self) -> Nanos {
        self.span.slices().0
    }

    /// Sums over all threads: blocked, waiting, parked, sleeping.
    pub fn stalls(&self) -> [TimeTotals; State::STALLS] {
        let mut sums = [TimeTotals::default(); State::STALLS];
        for row in self.threads.iter() {
            sums.iter_mut().zip(row.stalls).for_each(|(sum, stalls)| sum.merge(stalls));
        }
        sums
    }

    /// What is estimated of the waits for locks that the tables hold; `None` if all of it is exact.
    pub fn estimate(&self) -> Option<Estimate> {
        let mut looks = Looks::default();
        self.tables.sites.iter().for_each(|(_, waits)| looks.merge(waits.looks));
        looks.estimate()
    }

    /// Sums over what the tables hold.
    pub fn sums(&self) -> WaitSums {
        let mut sums = WaitSums { idle: self.idle, ..WaitSums::default() };
        let of =
            |lengths: &Durations| TimeTotals { count: lengths.count(), total: lengths.total(), max: lengths.max() };
        for (_, waits) in self.tables.sites.iter() {
            sums.contended.merge(of(&waits.contended));
            sums.waited.merge(of(&waits.waited));
        }
        for (_, waits) in self.tables.holders.iter() {
            sums.with_owner_stack.merge(of(&waits.contended));
        }
        sums
    }

    /// How many threads there were that run Java.
    pub fn thread_count(&self) -> u64 {
        self.threads.iter().filter(|row| row.kind.is_none()).map(|row| row.members).sum()
    }

    /// How many there were that do not.
    pub fn other_thread_count(&self) -> u64 {
        self.threads.iter().filter(|row| row.kind.is_some()).map(|row| row.members).sum()
    }

    /// What each thread did with its time, in no particular order; with `pools` those of a pool
    /// together. Only threads whose name passes the filter.
    pub fn threads(&self, pools: bool, filter: impl Fn(&str) -> bool) -> Vec<ThreadSummary<'_>> {
        let rows = self.threads.iter().filter(|row| filter(&row.name));
        if !pools {
            return rows.map(|row| self.summary(row, false)).collect();
        }
        let mut merged: FxHashMap<ThreadName<'_>, ThreadSummary<'_>> = FxHashMap::default();
        for row in rows {
            let summary = self.summary(row, true);
            match merged.entry(summary.thread) {
                Entry::Vacant(free) => {
                    free.insert(summary);
                }
                Entry::Occupied(known) => known.into_mut().merge(&summary),
            }
        }
        merged.into_values().collect()
    }

    /// The classes whose fields hold the locks that have names.
    pub fn lock_holders(&self) -> LockHolders {
        self.lock_names.holders(&self.symbols)
    }

    /// The rows of a table of waits, in no particular order; with `pools` the threads of a pool are one.
    pub fn rows(&self, by: LockBy, pools: bool) -> Vec<LockRow<'_>> {
        let tables = &self.tables;
        let class = |class: Option<ClassIndex>| class.map(|class| self.class(class));
        let name = |row: RowIndex| self.threads.name(row, pools);
        let site = |((class_index, site), waits)| {
            let at = Option::<SiteIndex>::map(site, |site| self.symbols.location(site));
            (LockSubject::Site { class: class(class_index), at }, waits)
        };
        match by {
            LockBy::Monitor => self.group(tables.monitors.iter().map(|(key, waits)| {
                let object = key.object.map(|(serial, id)| (id, serial));
                let name = object.and_then(|(_, serial)| self.lock_names.get(serial, &self.symbols));
                (LockSubject::Monitor { name, class: class(key.class), object }, waits)
            })),
            LockBy::Class => {
                // A lock log has no monitors, but sites.
                let classes = tables.sites.iter().map(|((key, _), waits)| (LockSubject::Class(class(key)), waits));
                self.group(classes)
            }
            LockBy::Site => self.group(tables.sites.iter().map(site)),
            LockBy::Holder => self.group(tables.holders.iter().map(site)),
            LockBy::Waiter => {
                self.group(tables.waiters.iter().map(|(waiter, waits)| (LockSubject::Thread(name(waiter)), waits)))
            }
            LockBy::Pair => self.group(tables.pairs.iter().map(|(key, waits)| {
                let (waiter, owner) = (name(key.waiter), key.owner.map(name));
                (LockSubject::Pair { waiter, owner, class: class(key.class) }, waits)
            })),
        }
    }

    /// Threads that were still blocked when the trace ended, in the order in which they blocked, and how many more there are. Those of
    /// deadlocks are not among them.
    pub fn stuck(&self) -> (Vec<Stuck<'_>>, u64) {
        (self.stuck.iter().map(|found| self.found(found)).collect(), self.stuck_more)
    }

    /// Threads that wait for each other.
    pub fn deadlocks(&self) -> Vec<Deadlock<'_>> {
        let deadlocks = self.deadlocks.iter().map(|members| Deadlock {
            members: members.iter().map(|found| self.found(found)).collect(),
            since: members.iter().map(|found| found.since).max().unwrap_or_default(),
            length: members.iter().map(|found| found.length).min().unwrap_or_default(),
        });
        deadlocks.collect()
    }

    fn group<'a>(&'a self, rows: impl Iterator<Item = (LockSubject<'a>, &'a WaitTotals)>) -> Vec<LockRow<'a>> {
        let mut merged: FxHashMap<LockSubject<'a>, WaitTotals> = FxHashMap::default();
        for (subject, waits) in rows {
            merged.entry(subject).or_default().merge(waits);
        }
        let row = |(subject, waits): (LockSubject<'a>, WaitTotals)| LockRow {
            subject,
            contended: waits.contended,
            estimate: waits.looks.estimate(),
            waited: waits.waited,
            open: waits.open,
            timed_out: waits.timed_out,
            longest: waits.longest.map(|longest| longest.map(|longest| self.longest(longest))),
        };
        merged.into_iter().map(row).collect()
    }

    fn longest(&self, longest: LongestWait) -> Longest<'_> {
        Longest {
            length: longest.length,
            since: longest.since,
            waiter: self.threads.name(longest.waiter, false),
            owner: longest.owner.map(|owner| self.threads.name(owner, false)),
            stack: self.frames(longest.stack),
            owner_stack: self.frames(longest.owner_stack),
        }
    }

    fn found<'a>(&'a self, found: &'a StuckRecord) -> Stuck<'a> {
        Stuck {
            thread: self.who(&found.thread),
            state: found.state,
            class: found.class.map(|class| self.class(class)),
            object: found.object,
            name: found.monitor.and_then(|monitor| self.lock_names.get(monitor, &self.symbols)),
            since: found.since,
            length: found.length,
            owner: found.owner.as_ref().map(|(owner, state)| (self.who(owner), *state)),
            stack: self.frames(found.stack),
            owner_stack: self.frames(found.owner_stack),
        }
    }

    /// Of threads that share a row, each has its own name and id.
    fn who<'a>(&'a self, who: &'a ThreadRef) -> ThreadName<'a> {
        let row = self.threads.name(who.row, false);
        ThreadName { name: who.name.as_deref().unwrap_or(row.name), id: who.id, ..row }
    }

    fn summary<'a>(&'a self, row: &'a ThreadRow, pools: bool) -> ThreadSummary<'a> {
        let [blocked, waiting, parked, sleeping] = row.stalls;
        let mut timeline = row.timeline.clone().unwrap_or_else(|| {
            let mut timeline = TimelineRow::new();
            if row.running > Nanos(0) {
                timeline.add(&self.span, State::Running, row.started, row.ended);
            }
            timeline
        });
        ThreadSummary {
            thread: row.called(pools),
            kind: row.kind,
            members: row.members,
            started: row.started,
            ended: row.ended,
            running: row.running,
            blocked,
            waiting,
            parked,
            sleeping,
            processor: row.processors.known(),
            at_end: row.at_end,
            slices: timeline.slices(&self.span).to_vec(),
        }
    }

    pub(super) fn frames(&self, stack: Option<StackIndex>) -> Vec<Location<'_>> {
        let sites = stack.map_or(&[][..], |stack| self.stacks.frames(stack));
        sites.iter().map(|&site| self.symbols.location(site)).collect()
    }

    pub(super) fn class(&self, index: ClassIndex) -> &str {
        &self.symbols.class_name(index).name
    }
}
