//! Writes the elements of threads that wait, and keeps which of them are open: so the time of a wait is known, each begin gets
//! an end, and the threads that are still blocked at the end of the trace are written.

use std::borrow::Cow;

use trace::ids::{ObjectId, ThreadId};
use trace::locklog::LockEventKind;
use trace::model::{
    Flag, MonContendedEnter, MonContendedEntered, MonStillOwned, MonWait, MonWaited, MonitorUsage, ObjAlloc, Record,
    ThreadIds, ThreadInfo, WaitEnd,
};
use trace::time::Time;

use super::state::{LockEvents, OpenBlock, OpenPark, OpenWait};
use super::writer::Writer;
use crate::locks::{LockName, Locks, MOST_NAMES, MonitorSnapshot, ThreadSnapshot};
use agent_base::clock::Ticks;
use agent_base::events::event::WaitKind;
use agent_base::ids::{ClassIndex, StackIndex, ThreadIndex};

fn flag(kind: WaitKind) -> Option<Flag> {
    (kind == WaitKind::Park).then_some(Flag::Yes)
}

impl Writer {
    pub(super) fn thread_id(&mut self, thread: ThreadIndex) -> ThreadId {
        self.define_thread(thread);
        self.core.jvm.threads.get(thread).map_or(ThreadId(0), |record| record.id)
    }

    /// Writes an object that was allocated unreported.
    pub(super) fn found(&mut self, ticks: Ticks, object: ObjectId, class: ClassIndex, words: u32) {
        self.define_class(class);
        let Some(class) = self.core.jvm.classes.get(class) else { return };
        let element = ObjAlloc {
            thread: None,
            is_array: Some(class.array),
            size: u64::from(words) * 8,
            obj_id: object,
            class: class.id,
            method: None,
            line: None,
            stack: None,
            time: self.time(ticks),
        };
        self.text.emit(|out| element.write(out));
    }

    pub(super) fn enter(
        &mut self,
        source: usize,
        ticks: Ticks,
        object: ObjectId,
        thread: ThreadIndex,
        stack: StackIndex,
        kind: WaitKind,
    ) {
        let mut owner = self.sources[source].pending.owner.take();
        // The owner ended before: this event came later than the writer waits.
        if owner.is_some_and(|(owner, _)| self.defined.ended.contains(owner.0)) {
            self.locks.terminated_owners += 1;
            owner = None;
        }
        let before = match kind {
            WaitKind::Monitor => self.close_blocked(ticks, thread),
            WaitKind::Park => self.close_parked(ticks, thread, WaitEnd::Notified),
        };
        self.locks.without_end += u64::from(before);
        let element = MonContendedEnter {
            thread: self.thread_id(thread),
            object,
            owner: owner.map(|(owner, _)| self.thread_id(owner)),
            owner_object: None,
            stack: self.stack(stack),
            owner_stack: owner.and_then(|(_, stack)| self.stack(stack)),
            parked: flag(kind),
            time: self.time(ticks),
        };
        self.text.emit(|out| element.write(out));
        let is_logged = self.log(ticks, LockEventKind::Try, thread, stack);
        let blocked = OpenBlock { object, since: ticks, stack, owner, is_logged };
        match kind {
            WaitKind::Monitor => drop(self.locks.blocked.insert(thread.0, blocked)),
            WaitKind::Park => drop(self.locks.parked.insert(thread.0, OpenPark::Block(blocked))),
        }
    }

    pub(super) fn entered(&mut self, ticks: Ticks, object: ObjectId, thread: ThreadIndex) {
        let is_open = self.locks.blocked.get(&thread.0).is_some_and(|blocked| blocked.object == object);
        if !is_open || !self.close_blocked(ticks, thread) {
            self.locks.without_begin += 1;
        }
    }

    fn end_block(&mut self, ticks: Ticks, thread: ThreadIndex, blocked: OpenBlock, kind: WaitKind) {
        self.locks.waited.add(blocked.object, blocked.since, ticks);
        let element = MonContendedEntered {
            thread: self.thread_id(thread),
            time: self.time(ticks),
            object: blocked.object,
            parked: flag(kind),
        };
        self.text.emit(|out| element.write(out));
        if blocked.is_logged {
            self.log(ticks, LockEventKind::Locked, thread, blocked.stack);
        }
    }

    /// Ends what a thread is blocked on; false if it is blocked on no monitor.
    fn close_blocked(&mut self, ticks: Ticks, thread: ThreadIndex) -> bool {
        let Some(blocked) = self.locks.blocked.remove(&thread.0) else { return false };
        self.end_block(ticks, thread, blocked, WaitKind::Monitor);
        true
    }

    pub(super) fn wait(
        &mut self,
        source: usize,
        ticks: Ticks,
        object: ObjectId,
        thread: ThreadIndex,
        stack: StackIndex,
        kind: WaitKind,
    ) {
        let limit = self.sources[source].pending.limit.take();
        let waiting = OpenWait { object, since: ticks, limit };
        let before = match kind {
            WaitKind::Monitor => self.close_waiting(ticks, thread, WaitEnd::Notified),
            WaitKind::Park => self.close_parked(ticks, thread, WaitEnd::Notified),
        };
        self.locks.without_end += u64::from(before);
        let element = MonWait {
            thread: self.thread_id(thread),
            object,
            timeout_millis: limit.map_or(0, |limit| limit.millis),
            stack: self.stack(stack),
            parked: flag(kind),
            time: self.time(ticks),
        };
        self.text.emit(|out| element.write(out));
        match kind {
            WaitKind::Monitor => drop(self.locks.waiting.insert(thread.0, waiting)),
            WaitKind::Park => drop(self.locks.parked.insert(thread.0, OpenPark::Wait(waiting))),
        }
    }

    pub(super) fn wait_over(&mut self, ticks: Ticks, object: ObjectId, thread: ThreadIndex, reason: WaitEnd) {
        let is_open = self.locks.waiting.get(&thread.0).is_some_and(|waiting| waiting.object == object);
        if !is_open || !self.close_waiting(ticks, thread, reason) {
            self.locks.without_begin += 1;
        }
    }

    fn end_wait(&mut self, ticks: Ticks, thread: ThreadIndex, waiting: OpenWait, reason: WaitEnd, kind: WaitKind) {
        self.locks.waited.add(waiting.object, waiting.since, ticks);
        let element = MonWaited {
            thread: self.thread_id(thread),
            time: self.time(ticks),
            object: waiting.object,
            timeout_millis: ticks.0.saturating_sub(waiting.since.0) / 1_000_000,
            reason: Some(reason),
            parked: flag(kind),
        };
        self.text.emit(|out| element.write(out));
    }

    fn close_waiting(&mut self, ticks: Ticks, thread: ThreadIndex, reason: WaitEnd) -> bool {
        let Some(waiting) = self.locks.waiting.remove(&thread.0) else { return false };
        self.end_wait(ticks, thread, waiting, reason, WaitKind::Monitor);
        true
    }

    /// A park ended. The end comes also for a park whose begin was not reported.
    pub(super) fn unparked(&mut self, ticks: Ticks, thread: ThreadIndex, interrupted: bool) {
        let since = match self.locks.parked.get(&thread.0) {
            Some(OpenPark::Wait(waiting)) => Some((waiting.since, waiting.limit)),
            _ => None,
        };
        let is_over =
            since.and_then(|(since, limit)| Some(ticks.0.saturating_sub(since.0) >= limit?.nanos)).unwrap_or_default();
        let reason = match () {
            () if interrupted => WaitEnd::Interrupted,
            () if is_over => WaitEnd::TimedOut,
            () => WaitEnd::Notified,
        };
        self.close_parked(ticks, thread, reason);
    }

    fn close_parked(&mut self, ticks: Ticks, thread: ThreadIndex, reason: WaitEnd) -> bool {
        match self.locks.parked.remove(&thread.0) {
            Some(OpenPark::Block(blocked)) => self.end_block(ticks, thread, blocked, WaitKind::Park),
            Some(OpenPark::Wait(waiting)) => self.end_wait(ticks, thread, waiting, reason, WaitKind::Park),
            None => return false,
        }
        true
    }

    /// A thread ends: closes all that is open for it. Ends of waits are not reported any more when reporting has ended, those of threads are.
    pub(super) fn close_all(&mut self, ticks: Ticks, thread: ThreadIndex) {
        let closed = [
            self.close_blocked(ticks, thread),
            self.close_waiting(ticks, thread, WaitEnd::Notified),
            self.close_parked(ticks, thread, WaitEnd::Notified),
            self.close_sleep(ticks, thread),
        ];
        if ticks < self.core.reported_until() {
            self.locks.without_end += closed.into_iter().map(u64::from).sum::<u64>();
        }
    }

    /// Whether the lock log takes the line.
    fn log(&mut self, ticks: Ticks, kind: LockEventKind, thread: ThreadIndex, stack: StackIndex) -> bool {
        let Some(log) = &mut self.log else { return false };
        let names = self.core.jvm.threads.get(thread).and_then(|record| record.names.get());
        let frames = self.core.jvm.stacks.get(stack).map_or(&[][..], |stack| &stack.frames);
        let frames = frames.iter().filter_map(|frame| {
            let method = self.core.jvm.methods.get(frame.method)?;
            Some((self.core.jvm.classes.get(method.class)?.name.as_str(), method.name.as_str()))
        });
        log.line(ticks, kind, names.map_or("", |names| &names.name), frames)
    }

    /// Writes the answer to a data request. A thread that has ended since it was asked is left out.
    pub(super) fn answer(&mut self, ticks: Ticks, number: u32) {
        let Some(mut snapshot) = self.features.locks.and_then(|locks| locks.take_snapshot(number)) else { return };
        let lives = |thread: &ThreadIndex| !self.defined.ended.contains(thread.0);
        snapshot.threads.retain(|thread| lives(&thread.thread));
        for monitor in &mut snapshot.monitors {
            monitor.owner = monitor.owner.filter(lives);
            if let Some(usage) = &mut monitor.usage {
                usage.waiters.retain(lives);
                usage.notify_waiters.retain(lives);
            }
        }
        let time = self.time(ticks);
        self.locks.owners.clear();
        self.locks.skipped_in_snapshots += snapshot.skipped;
        for monitor in snapshot.monitors {
            self.monitor_usage(monitor, time);
        }
        for thread in snapshot.threads {
            self.thread_info(thread, time);
        }
    }

    fn monitor_usage(&mut self, monitor: MonitorSnapshot, time: Time) {
        self.locks.owners.insert(monitor.object, monitor.owner);
        let Some(usage) = monitor.usage else { return };
        let mut ids = |threads: &[ThreadIndex]| {
            let ids: Vec<ThreadId> = threads.iter().map(|&thread| self.thread_id(thread)).collect();
            ThreadIds(Cow::Owned(ids))
        };
        let element = MonitorUsage {
            object: monitor.object,
            waiters: ids(&usage.waiters),
            notify_waiters: ids(&usage.notify_waiters),
            owner: monitor.owner.map(|owner| self.thread_id(owner)),
            entry_count: usage.entry_count,
            time,
        };
        self.text.emit(|out| element.write(out));
    }

    fn thread_info(&mut self, thread: ThreadSnapshot, time: Time) {
        let element = ThreadInfo {
            thread: self.thread_id(thread.thread),
            time,
            name: Cow::Borrowed(&thread.name),
            state: thread.state,
            priority: thread.priority,
            daemon: if thread.is_daemon { Flag::Yes } else { Flag::No },
            object: thread.object,
            stack: self.stack(thread.stack),
        };
        self.text.emit(|out| element.write(out));
    }

    /// The trace ends: writes where the program keeps the locks for which threads waited longest.
    pub(super) fn lock_names(&mut self) {
        if !self.features.locks.is_some_and(Locks::wants_names) || self.text.is_full() {
            return;
        }
        let now = self.core.reported_until();
        let LockEvents { blocked, waiting, parked, waited, .. } = &mut self.locks;
        blocked.values().for_each(|blocked| waited.add(blocked.object, blocked.since, now));
        waiting.values().for_each(|waiting| waited.add(waiting.object, waiting.since, now));
        for parked in parked.values() {
            match parked {
                OpenPark::Block(blocked) => waited.add(blocked.object, blocked.since, now),
                OpenPark::Wait(waiting) => waited.add(waiting.object, waiting.since, now),
            }
        }
        let wanted = waited.longest(MOST_NAMES);
        if wanted.is_empty() {
            return;
        }
        let Some(found) = self.name_asker.ask(wanted) else { return self.core.count_lost("names of locks", 1) };
        self.locks.names_cut = found.is_cut;
        let time = self.time(now);
        for LockName { object, class, field } in found.names {
            self.define_class(class);
            let Some(record) = self.core.jvm.classes.get(class) else { continue };
            let field = field.as_deref().map(Cow::Borrowed);
            let element = trace::model::LockName { object, class: record.id, field, time };
            self.text.emit(|out| element.write(out));
        }
    }

    /// The trace ends: writes the threads that are still blocked, and the owners of those locks.
    pub(super) fn still_blocked(&mut self) {
        let parked = self.locks.parked.iter().filter_map(|(&thread, parked)| match parked {
            OpenPark::Block(blocked) => Some((thread, *blocked, WaitKind::Park)),
            OpenPark::Wait(_) => None,
        });
        let blocked = self.locks.blocked.iter().map(|(&thread, &blocked)| (thread, blocked, WaitKind::Monitor));
        let mut all: Vec<_> = blocked.chain(parked).collect();
        all.sort_unstable_by_key(|&(thread, _, kind)| (thread, kind == WaitKind::Park));
        let time = self.time(self.core.reported_until());
        for (thread, blocked, kind) in all {
            let owner = match self.locks.owners.get(&blocked.object) {
                Some(&owner) => owner,
                None => blocked.owner.map(|(owner, _)| owner),
            };
            let owner = owner.filter(|owner| !self.defined.ended.contains(owner.0));
            // The stack is that of the owner at the begin; if there is another owner now, it has none.
            let owner_stack = blocked.owner.filter(|(then, _)| Some(*then) == owner).map(|(_, stack)| stack);
            let element = MonStillOwned {
                thread: Some(self.thread_id(ThreadIndex(thread))),
                time,
                object: blocked.object,
                owner: owner.map(|owner| self.thread_id(owner)),
                stack: self.stack(blocked.stack),
                owner_stack: owner_stack.and_then(|stack| self.stack(stack)),
                parked: flag(kind),
            };
            self.text.emit(|out| element.write(out));
        }
    }
}
