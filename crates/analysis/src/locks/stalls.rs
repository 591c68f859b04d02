//! Waits that begin and end, and how they are entered into the tables.

use trace::ids::{ObjectId, StackId, ThreadId};
use trace::model::{ThreadCpu, WaitEnd};
use trace::time::{Nanos, Time};

use super::live::{PendingStall, Serial};
use super::lock_places::{LockPart, PlaceKey};
use super::looks::{Looks, Seen};
use super::observer::Stall;
use super::paths::{PathKey, WaitKind};
use super::processor_time::ProcessorTime;
use super::stacks::StackIndex;
use super::tables::{KindKey, LongestWait, MonitorKey, PairKey, Wait};
use super::threads::RowIndex;
use super::timeline_row::State;
use super::{LockStats, ThreadName};
use crate::symbols::SiteIndex;

/// Stalls of one thread inside each other: a wait, and the contended enter after it. More are a sign of lost events.
const MAX_NESTED: usize = 8;

/// The beginning of a stall, as the trace's elements describe it.
pub(super) struct StallBegin {
    pub(super) state: State,
    pub(super) is_contended: bool,
    /// `None` if it waits for nothing but time.
    pub(super) object: Option<ObjectId>,
    pub(super) owner: Option<ThreadId>,
    pub(super) stack: Option<StackId>,
    pub(super) owner_stack: Option<StackId>,
    /// Between two looks, if it was seen by looks.
    pub(super) look_interval: Option<Nanos>,
}

impl StallBegin {
    pub(super) fn contended(
        state: State,
        object: ObjectId,
        owner: Option<ThreadId>,
        stack: Option<StackId>,
        owner_stack: Option<StackId>,
    ) -> Self {
        StallBegin { state, is_contended: true, object: Some(object), owner, stack, owner_stack, look_interval: None }
    }
}

impl LockStats<'_> {
    /// A thread begins to wait.
    pub(super) fn begin(&mut self, thread: ThreadId, time: Time, begin: StallBegin) {
        self.reach(time);
        let serial = self.thread(thread, time);
        let owner = begin.owner.filter(|owner| owner.0 != 0).map(|owner| self.thread(owner, time));
        let mut monitor = begin.object.map(|object| self.monitor(object));
        let monitor_serial = monitor.as_ref().map(|monitor| monitor.serial);
        let mut first_seen = || monitor.as_mut().map_or(0, |monitor| monitor.first_seen.add(time));
        let seen = begin.look_interval.map(|interval| Seen::new(interval, first_seen()));
        match (owner, monitor) {
            (Some(owner), Some(monitor)) => monitor.owner = Some((owner, time)),
            // `Object.wait` releases the monitor.
            (None, Some(monitor)) if !begin.is_contended && monitor.owner.is_some_and(|(owner, _)| owner == serial) => {
                monitor.owner = None
            }
            _ => {}
        }
        let stack = |id: Option<StackId>| id.and_then(|id| self.stacks.get(id));
        let pending = PendingStall {
            state: begin.state,
            is_contended: begin.is_contended,
            object: begin.object,
            class: begin.object.and_then(|object| self.classes.get(&object).copied()),
            monitor: monitor_serial,
            stack: stack(begin.stack),
            owner: owner.and_then(|owner| self.owner(owner)),
            owner_stack: stack(begin.owner_stack),
            since: time,
            spent: Nanos(0),
            seen,
        };
        self.change_state(serial, time);
        let Some(live) = self.live.get_mut(&serial) else { return };
        if live.pending.len() >= MAX_NESTED {
            live.pending.pop_front();
            self.problems.without_end += 1;
        }
        match seen {
            // What the thread itself has reported is known better.
            Some(_) => live.pending.push_front(pending),
            None => live.pending.push_back(pending),
        }
    }

    /// A thread's wait for an object, or for nothing but time, is over.
    pub(super) fn end(
        &mut self,
        thread: ThreadId,
        time: Time,
        object: Option<ObjectId>,
        is_contended: bool,
        reason: Option<WaitEnd>,
    ) -> Serial {
        self.reach(time);
        let serial = self.thread(thread, time);
        self.change_state(serial, time);
        let Some(live) = self.live.get_mut(&serial) else { return serial };
        let fits = |pending: &PendingStall| pending.object == object && pending.is_contended == is_contended;
        match live.pending.iter().rposition(fits) {
            Some(at) => {
                // What was nested in it and never ended has lost its end. But a wait that was seen by looks is over before they see that,
                // and what the thread did then goes on.
                let is_seen = live.pending[at].seen.is_some();
                if !is_seen {
                    self.problems.without_end += (live.pending.len() - at - 1) as u64;
                    live.pending.truncate(at + 1);
                }
                if let Some(pending) = live.pending.remove(at) {
                    self.finish_stall(serial, &pending, time, false, reason);
                }
            }
            None => self.problems.without_begin += 1,
        }
        serial
    }

    pub(super) fn end_thread(&mut self, serial: Serial, time: Time) {
        if let Some(live) = self.live.get(&serial) {
            // Between two looks it may end while nobody has seen that it waits no more.
            self.problems.without_end += live.pending.iter().filter(|pending| pending.seen.is_none()).count() as u64;
        }
        self.close_thread(serial, time, false);
    }

    /// A thread ends, or its document does.
    pub(super) fn close_thread(&mut self, serial: Serial, time: Time, is_open: bool) {
        self.change_state(serial, time);
        let Some(mut live) = self.live.remove(&serial) else { return };
        if is_open && self.span.limit().is_none_or(|limit| time <= limit) {
            let state = live.pending.back().map_or(State::Running, |pending| pending.state);
            self.threads.row_mut(live.row).at_end[state as usize] += 1;
        }
        // It is about all of its life, so a window must be, too.
        let is_whole = self.span.clip(live.started, time) == Some((live.started, time));
        let processor = live.processor.filter(|_| is_whole);
        let row = self.threads.row_mut(live.row);
        row.processors.add(processor);
        row.ended = row.ended.max(time);
        row.started = row.started.min(live.started);
        for pending in std::mem::take(&mut live.pending) {
            self.finish_stall_of(serial, live.row, &pending, time, is_open, None);
        }
        if let Some((since, until)) = self.span.clip(live.started, time)
            && let Some(observer) = &mut self.observer.0
        {
            observer.thread_ended(serial.0, since, until, is_open, processor);
        }
    }

    /// Enters the time that a thread spent in its present state, which is about to change.
    fn change_state(&mut self, serial: Serial, time: Time) {
        // Threads of a lock log share a name, and are never seen to run.
        if self.is_log {
            return;
        }
        let Some(live) = self.live.get_mut(&serial) else { return };
        let since = live.since;
        live.since = since.max(time);
        let state = live.pending.back().map_or(State::Running, |pending| pending.state);
        let row = self.threads.row_mut(live.row);
        if self.span.limit().is_some_and(|limit| since <= limit && limit < live.since) {
            row.at_end[state as usize] += 1;
        }
        let spent = row.spend(&self.span, state, since, live.since);
        let spent_so = match live.pending.back_mut() {
            Some(pending) => &mut pending.spent,
            None => &mut live.running,
        };
        *spent_so = Nanos(spent_so.0.saturating_add(spent.0));
    }

    /// The trace says what a thread has had of the processors.
    pub(super) fn processor_time(&mut self, found: &ThreadCpu) {
        let serial = self.thread(found.thread, found.time);
        self.change_state(serial, found.time);
        if let Some(live) = self.live.get_mut(&serial) {
            live.processor = Some(ProcessorTime::new(found, live.running));
        }
    }

    pub(super) fn finish_stall(
        &mut self,
        serial: Serial,
        pending: &PendingStall,
        until: Time,
        is_open: bool,
        reason: Option<WaitEnd>,
    ) {
        if let Some(live) = self.live.get(&serial) {
            self.finish_stall_of(serial, live.row, pending, until, is_open, reason);
        }
    }

    /// Enters a wait into all tables.
    fn finish_stall_of(
        &mut self,
        serial: Serial,
        row: RowIndex,
        pending: &PendingStall,
        until: Time,
        is_open: bool,
        reason: Option<WaitEnd>,
    ) {
        let Some((since, until)) = self.span.clip(pending.since, until.max(pending.since)) else { return };
        let thread = self.threads.row_mut(row);
        let length = match self.is_log {
            true => thread.spend(&self.span, pending.state, since, until),
            false => pending.spent,
        };
        thread.stalls[pending.state as usize].add(length);
        // A wait that was seen by looks is right on average as it is; what the thread is known to have done in it is not taken from it.
        let length = if pending.seen.is_some() { until.since(since) } else { length };
        let site = pending.stack.and_then(|stack| self.stacks.site(stack));
        if pending.state == State::Sleeping {
            // It waits for nobody: no table has it, and no class selects it.
            if self.selects_thread(&self.threads.row(row).name) {
                self.observe(serial, pending, since, until, is_open);
            }
            return;
        }
        if !self.selects(row, pending, site) {
            return;
        }
        let is_idle = !pending.is_contended && pending.stack.is_some_and(|stack| self.stacks.is_idle(stack));
        if is_idle && !self.selection.idle {
            self.idle.add(length);
            return self.observe(serial, pending, since, until, is_open);
        }
        let longest = LongestWait {
            length,
            since,
            waiter: row,
            owner: pending.owner.map(|owner| owner.row),
            stack: pending.stack,
            owner_stack: pending.owner_stack,
        };
        let is_timed_out = reason == Some(WaitEnd::TimedOut);
        let looks = pending.seen.map_or(Looks::default(), |seen| seen.looks(length));
        let wait = Wait { is_contended: pending.is_contended, is_open, is_timed_out, longest, looks };
        let class = pending.class;
        if let (Some(serial), Some(object)) = (pending.monitor, pending.object) {
            let key = MonitorKey { class, object: Some((serial, object)) };
            self.tables.monitors.add(key, wait, || MonitorKey { class, object: None });
        }
        if wait.is_contended {
            let [waiters, holders] = [pending.stack.map(LockPart::Waiters), pending.owner_stack.map(LockPart::Holders)];
            for part in [waiters, holders, longest.owner.map(LockPart::Owner)].into_iter().flatten() {
                self.lock_places.add(PlaceKey { class, monitor: pending.monitor, part }, length);
            }
        }
        self.tables.sites.add((class, site), wait, || (class, None));
        let threads = &mut self.threads;
        let kind = if wait.is_contended { WaitKind::Contended } else { WaitKind::Other };
        let path = PathKey { kind, class, waiter: row, stack: pending.stack };
        self.paths.add(path, length, || PathKey { waiter: threads.shared_with(row), stack: None, ..path });
        self.tables.waiters.add(row, wait, || threads.shared_with(row));
        if let Some(kinds) = &mut self.tables.kinds {
            let key = KindKey {
                is_contended: wait.is_contended,
                class,
                monitor: pending.monitor,
                waiter: row,
                owner: longest.owner,
                stack: pending.stack,
                owner_stack: pending.owner_stack,
            };
            kinds.add(key, wait, || KindKey {
                monitor: None,
                waiter: threads.shared_with(row),
                owner: longest.owner.map(|owner| threads.shared_with(owner)),
                stack: None,
                owner_stack: None,
                ..key
            });
        }
        if wait.is_contended {
            if let Some(stack) = pending.owner_stack {
                self.tables.holders.add((class, self.stacks.site(stack)), wait, || (class, None));
            }
            let key = PairKey { waiter: row, owner: longest.owner, class };
            self.tables.pairs.add(key, wait, || PairKey {
                waiter: threads.shared_with(row),
                owner: longest.owner.map(|owner| threads.shared_with(owner)),
                class: None,
            });
        }
        self.observe(serial, pending, since, until, is_open);
    }

    pub(super) fn selects_thread(&self, name: &str) -> bool {
        let threads = &self.selection.threads;
        threads.is_empty() || threads.iter().any(|pattern| pattern.matches(name))
    }

    fn selects(&mut self, row: RowIndex, pending: &PendingStall, site: Option<SiteIndex>) -> bool {
        let classes = &self.selection.classes;
        if !self.selects_thread(&self.threads.row(row).name) {
            return false;
        }
        if classes.is_empty() {
            return true;
        }
        let matches = |name: &str| classes.iter().any(|pattern| pattern.matches(name));
        let passes = &mut self.passes;
        let mut passes = |class| *passes.entry(class).or_insert_with(|| matches(&self.symbols.class_name(class).name));
        if pending.class.is_some_and(&mut passes) {
            return true;
        }
        if pending.object.is_some_and(|object| self.objects.contains(&object)) {
            return true;
        }
        match pending.monitor.and_then(|monitor| self.selection.names.name(monitor)) {
            Some(name) => matches(name.class) || matches(&name.to_string()),
            None => site.is_some_and(|site| matches(self.symbols.location(site).class)),
        }
    }

    fn observe(&mut self, serial: Serial, pending: &PendingStall, since: Time, until: Time, is_open: bool) {
        let Some(observer) = &mut self.observer.0 else { return };
        let location = |stack: Option<StackIndex>| {
            let site = stack.and_then(|stack| self.stacks.site(stack));
            site.map(|site| self.symbols.location(site))
        };
        observer.stall(&Stall {
            thread: serial.0,
            state: pending.state,
            is_contended: pending.is_contended,
            since,
            until,
            is_open,
            object: pending.object,
            class: pending.class.map(|class| &*self.symbols.class_name(class).name),
            at: location(pending.stack),
            owner: pending.owner.map(|owner| {
                let row = self.threads.row(owner.row);
                (owner.serial.0, ThreadName { name: &row.name, group: &row.group, id: row.id })
            }),
            owner_at: location(pending.owner_stack),
        });
    }
}
