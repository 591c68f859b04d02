//! Writes the elements of threads that wait, and keeps which of them are open: so the time of a wait is known, each begin gets
//! an end, and the threads that are still blocked at the end of the trace are written.

mod log;
mod open;

use std::borrow::Cow;

use trace::ids::{ObjectId, ThreadId};
use trace::locklog::LockEventKind;
use trace::model::{
    Flag, MonContendedEnter, MonContendedEntered, MonStillOwned, MonWait, MonWaited, MonitorUsage, Record, ThreadIds,
    ThreadInfo, ThreadSleep, ThreadSlept, WaitEnd,
};
use trace::time::Time;

use rustc_hash::FxHashMap;

use super::answers::{MonitorSnapshot, ThreadSnapshot};
use super::looks::Looks;
use super::names::{LockName, MOST as MOST_NAMES, NameAsker};
use super::recorder::Locks;
use agent_base::clock::Ticks;
use agent_base::events::event::{Event, WaitKind};
use agent_base::ids::{StackIndex, ThreadIndex};
use agent_core::core::context::Reporter;
use agent_trace::{Count, Document, Output, Section, SourceNumber};
use log::LockLog;
use open::{Limit, OpenBlock, OpenPark, OpenWait, OpenWaits, PendingDetails};

fn flag(kind: WaitKind) -> Option<Flag> {
    (kind != WaitKind::Monitor).then_some(Flag::Yes)
}

/// Writes what threads wait for.
pub(crate) struct LockSection {
    locks: &'static Locks,
    open: OpenWaits,
    /// Of each buffer, what came in front of the event to which it belongs.
    pending: FxHashMap<SourceNumber, PendingDetails>,
    name_asker: NameAsker,
    log: Option<LockLog>,
}

impl Section for LockSection {
    fn event(&mut self, document: &mut Document, source: SourceNumber, ticks: Ticks, event: Event) -> bool {
        match event {
            Event::Owner { thread, stack } => self.pending.entry(source).or_default().owner = Some((thread, stack)),
            Event::Limit { millis, nanos } => {
                self.pending.entry(source).or_default().limit = Some(Limit { millis, nanos });
            }
            Event::Enter { object, thread, stack, kind } => {
                self.enter(document, source, ticks, object, thread, stack, kind);
            }
            Event::Entered { object, thread } => self.entered(document, ticks, object, thread),
            Event::Wait { object, thread, stack, kind } => {
                self.wait(document, source, ticks, object, thread, stack, kind);
            }
            Event::Waited { object, thread, reason } => self.wait_over(document, ticks, object, thread, reason),
            Event::Unparked { thread, interrupted } => self.unparked(document, ticks, thread, interrupted),
            Event::Sleep { thread, stack } => self.sleep(document, ticks, thread, stack),
            Event::Slept(thread) => drop(self.close_sleep(document, ticks, thread)),
            Event::Snapshot(number) => self.answer(document, ticks, number),
            _ => return false,
        }
        true
    }

    fn turn(&mut self, _document: &mut Document) {
        if let Some(log) = &mut self.log {
            log.drain();
        }
    }

    /// Closes all that is open for a thread. Ends of waits are not reported any more when reporting has ended, those of threads are.
    fn thread_ends(&mut self, document: &mut Document, ticks: Ticks, thread: ThreadIndex) {
        // Between two looks it may end while nobody has seen that it is parked no more.
        let parked = self.open.parked.get(&thread.0);
        let is_seen = matches!(parked, Some(OpenPark::Block(blocked)) if blocked.kind == WaitKind::SeenPark);
        let closed = [
            self.close_blocked(document, ticks, thread),
            self.close_waiting(document, ticks, thread, WaitEnd::Notified),
            self.close_parked(document, ticks, thread, WaitEnd::Notified),
            self.close_sleep(document, ticks, thread),
        ];
        if ticks < document.core.reported_until() {
            self.open.without_end += closed.into_iter().map(u64::from).sum::<u64>() - u64::from(is_seen);
        }
    }

    fn last_events(&mut self, document: &mut Document) {
        self.still_blocked(document);
        self.lock_names(document);
    }

    fn counts(&mut self, document: &Document) -> Vec<Count> {
        let unlogged = self.log.as_ref().map_or(0, |log| log.dropped);
        document.core.count_lost("locks that the lock log did not take", unlogged);
        self.locks.counts().chain(self.open.counts()).map(|(key, n)| (key, None, n)).collect()
    }

    fn finish(&mut self) {
        if let Some(log) = self.log.take() {
            log.finish();
        }
    }
}

impl LockSection {
    /// Writes the header of the lock log, if there is one.
    pub(crate) fn begin(locks: &'static Locks, name_asker: NameAsker, log: Option<Output>) -> LockSection {
        let core = locks.core();
        let log = log.and_then(|output| LockLog::begin(output, core, core.clock.time(core.start)));
        LockSection { locks, open: OpenWaits::default(), pending: FxHashMap::default(), name_asker, log }
    }

    #[expect(clippy::too_many_arguments, reason = "what the event says")]
    fn enter(
        &mut self,
        document: &mut Document,
        source: SourceNumber,
        ticks: Ticks,
        object: ObjectId,
        thread: ThreadIndex,
        stack: StackIndex,
        kind: WaitKind,
    ) {
        let mut owner = self.pending.remove(&source).and_then(|details| details.owner);
        // The owner ended before: this event came later than the writer waits.
        if owner.is_some_and(|(owner, _)| document.has_ended(owner)) {
            self.open.terminated_owners += 1;
            owner = None;
        }
        let before = match kind {
            WaitKind::Monitor => self.close_blocked(document, ticks, thread),
            WaitKind::Park | WaitKind::SeenPark => self.close_parked(document, ticks, thread, WaitEnd::Notified),
        };
        self.open.without_end += u64::from(before);
        let looks = self.locks.looks.as_ref().filter(|_| kind == WaitKind::SeenPark);
        let element = MonContendedEnter {
            thread: document.thread_id(thread),
            object,
            owner: owner.map(|(owner, _)| document.thread_id(owner)),
            owner_object: None,
            stack: document.stack(stack),
            owner_stack: owner.and_then(|(_, stack)| document.stack(stack)),
            parked: flag(kind),
            look_interval: looks.map(Looks::interval),
            time: document.time(ticks),
        };
        document.emit(|out| element.write(out));
        // The log has exact times.
        let is_logged = looks.is_none() && self.log(document, ticks, LockEventKind::Try, thread, stack);
        let blocked = OpenBlock { object, since: ticks, stack, owner, is_logged, kind };
        match kind {
            WaitKind::Monitor => drop(self.open.blocked.insert(thread.0, blocked)),
            WaitKind::Park | WaitKind::SeenPark => {
                self.open.parked.insert(thread.0, OpenPark::Block(blocked));
            }
        }
    }

    fn entered(&mut self, document: &mut Document, ticks: Ticks, object: ObjectId, thread: ThreadIndex) {
        let is_open = self.open.blocked.get(&thread.0).is_some_and(|blocked| blocked.object == object);
        if !is_open || !self.close_blocked(document, ticks, thread) {
            self.open.without_begin += 1;
        }
    }

    fn end_block(&mut self, document: &mut Document, ticks: Ticks, thread: ThreadIndex, blocked: OpenBlock) {
        self.open.waited.add(blocked.object, blocked.since, ticks);
        let element = MonContendedEntered {
            thread: document.thread_id(thread),
            time: document.time(ticks),
            object: blocked.object,
            parked: flag(blocked.kind),
        };
        document.emit(|out| element.write(out));
        if blocked.is_logged {
            self.log(document, ticks, LockEventKind::Locked, thread, blocked.stack);
        }
    }

    /// Ends what a thread is blocked on; false if it is blocked on no monitor.
    fn close_blocked(&mut self, document: &mut Document, ticks: Ticks, thread: ThreadIndex) -> bool {
        let Some(blocked) = self.open.blocked.remove(&thread.0) else { return false };
        self.end_block(document, ticks, thread, blocked);
        true
    }

    #[expect(clippy::too_many_arguments, reason = "what the event says")]
    fn wait(
        &mut self,
        document: &mut Document,
        source: SourceNumber,
        ticks: Ticks,
        object: ObjectId,
        thread: ThreadIndex,
        stack: StackIndex,
        kind: WaitKind,
    ) {
        let limit = self.pending.remove(&source).and_then(|details| details.limit);
        let waiting = OpenWait { object, since: ticks, limit };
        let before = match kind {
            WaitKind::Monitor => self.close_waiting(document, ticks, thread, WaitEnd::Notified),
            WaitKind::Park | WaitKind::SeenPark => self.close_parked(document, ticks, thread, WaitEnd::Notified),
        };
        self.open.without_end += u64::from(before);
        let element = MonWait {
            thread: document.thread_id(thread),
            object,
            timeout_millis: limit.map_or(0, |limit| limit.millis),
            stack: document.stack(stack),
            parked: flag(kind),
            time: document.time(ticks),
        };
        document.emit(|out| element.write(out));
        match kind {
            WaitKind::Monitor => drop(self.open.waiting.insert(thread.0, waiting)),
            WaitKind::Park | WaitKind::SeenPark => {
                self.open.parked.insert(thread.0, OpenPark::Wait(waiting));
            }
        }
    }

    fn wait_over(
        &mut self,
        document: &mut Document,
        ticks: Ticks,
        object: ObjectId,
        thread: ThreadIndex,
        reason: WaitEnd,
    ) {
        let is_open = self.open.waiting.get(&thread.0).is_some_and(|waiting| waiting.object == object);
        if !is_open || !self.close_waiting(document, ticks, thread, reason) {
            self.open.without_begin += 1;
        }
    }

    fn end_wait(
        &mut self,
        document: &mut Document,
        ticks: Ticks,
        thread: ThreadIndex,
        waiting: OpenWait,
        reason: WaitEnd,
        kind: WaitKind,
    ) {
        self.open.waited.add(waiting.object, waiting.since, ticks);
        let element = MonWaited {
            thread: document.thread_id(thread),
            time: document.time(ticks),
            object: waiting.object,
            timeout_millis: ticks.0.saturating_sub(waiting.since.0) / 1_000_000,
            reason: Some(reason),
            parked: flag(kind),
        };
        document.emit(|out| element.write(out));
    }

    fn close_waiting(&mut self, document: &mut Document, ticks: Ticks, thread: ThreadIndex, reason: WaitEnd) -> bool {
        let Some(waiting) = self.open.waiting.remove(&thread.0) else { return false };
        self.end_wait(document, ticks, thread, waiting, reason, WaitKind::Monitor);
        true
    }

    /// A park ended. The end comes also for a park whose begin was not reported.
    fn unparked(&mut self, document: &mut Document, ticks: Ticks, thread: ThreadIndex, interrupted: bool) {
        let since = match self.open.parked.get(&thread.0) {
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
        self.close_parked(document, ticks, thread, reason);
    }

    fn close_parked(&mut self, document: &mut Document, ticks: Ticks, thread: ThreadIndex, reason: WaitEnd) -> bool {
        match self.open.parked.remove(&thread.0) {
            Some(OpenPark::Block(blocked)) => self.end_block(document, ticks, thread, blocked),
            Some(OpenPark::Wait(waiting)) => self.end_wait(document, ticks, thread, waiting, reason, WaitKind::Park),
            None => return false,
        }
        true
    }

    fn sleep(&mut self, document: &mut Document, ticks: Ticks, thread: ThreadIndex, stack: StackIndex) {
        self.open.without_end += u64::from(self.close_sleep(document, ticks, thread));
        self.open.sleeping.insert(thread.0);
        let element = ThreadSleep {
            thread: document.thread_id(thread),
            time: document.time(ticks),
            stack: document.stack(stack),
        };
        document.emit(|out| element.write(out));
    }

    /// Ends the sleep of a thread; false if it does not sleep. The end comes also for a sleep whose begin was not reported.
    fn close_sleep(&mut self, document: &mut Document, ticks: Ticks, thread: ThreadIndex) -> bool {
        let is_open = self.open.sleeping.remove(&thread.0);
        if is_open {
            let element = ThreadSlept { thread: document.thread_id(thread), time: document.time(ticks) };
            document.emit(|out| element.write(out));
        }
        is_open
    }

    /// Whether the lock log takes the line.
    fn log(
        &mut self,
        document: &mut Document,
        ticks: Ticks,
        kind: LockEventKind,
        thread: ThreadIndex,
        stack: StackIndex,
    ) -> bool {
        let Some(log) = &mut self.log else { return false };
        let names = document.core.jvm.threads.get(thread).and_then(|record| record.names.get());
        let frames = document.core.jvm.stacks.get(stack).map_or(&[][..], |stack| &stack.frames);
        let frames = frames.iter().filter_map(|frame| {
            let method = document.core.jvm.methods.get(frame.method)?;
            Some((document.core.jvm.classes.get(method.class)?.name.as_str(), method.name.as_str()))
        });
        log.line(ticks, kind, names.map_or("", |names| &names.name), frames)
    }

    /// Writes the answer to a data request. A thread that has ended since it was asked is left out.
    fn answer(&mut self, document: &mut Document, ticks: Ticks, number: u32) {
        let Some(mut snapshot) = self.locks.take_snapshot(number) else { return };
        let lives = |thread: &ThreadIndex| !document.has_ended(*thread);
        snapshot.threads.retain(|thread| lives(&thread.thread));
        for monitor in &mut snapshot.monitors {
            monitor.owner = monitor.owner.filter(lives);
            if let Some(usage) = &mut monitor.usage {
                usage.waiters.retain(lives);
                usage.notify_waiters.retain(lives);
            }
        }
        let time = document.time(ticks);
        self.open.owners.clear();
        self.open.skipped_in_snapshots += snapshot.skipped;
        for monitor in snapshot.monitors {
            self.monitor_usage(document, monitor, time);
        }
        for thread in snapshot.threads {
            self.thread_info(document, thread, time);
        }
    }

    fn monitor_usage(&mut self, document: &mut Document, monitor: MonitorSnapshot, time: Time) {
        self.open.owners.insert(monitor.object, monitor.owner);
        let Some(usage) = monitor.usage else { return };
        let mut ids = |threads: &[ThreadIndex]| {
            let ids: Vec<ThreadId> = threads.iter().map(|&thread| document.thread_id(thread)).collect();
            ThreadIds(Cow::Owned(ids))
        };
        let element = MonitorUsage {
            object: monitor.object,
            waiters: ids(&usage.waiters),
            notify_waiters: ids(&usage.notify_waiters),
            owner: monitor.owner.map(|owner| document.thread_id(owner)),
            entry_count: usage.entry_count,
            time,
        };
        document.emit(|out| element.write(out));
    }

    fn thread_info(&mut self, document: &mut Document, thread: ThreadSnapshot, time: Time) {
        let element = ThreadInfo {
            thread: document.thread_id(thread.thread),
            time,
            name: Cow::Borrowed(&thread.name),
            state: thread.state,
            priority: thread.priority,
            daemon: if thread.is_daemon { Flag::Yes } else { Flag::No },
            object: thread.object,
            stack: document.stack(thread.stack),
        };
        document.emit(|out| element.write(out));
    }

    /// The trace ends: writes where the program keeps the locks for which threads waited longest.
    fn lock_names(&mut self, document: &mut Document) {
        if !self.locks.wants_names() || document.is_full() {
            return;
        }
        let now = document.core.reported_until();
        let OpenWaits { blocked, waiting, parked, waited, .. } = &mut self.open;
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
        let Some(found) = self.name_asker.ask(wanted) else { return document.core.count_lost("names of locks", 1) };
        self.open.names_cut = found.is_cut;
        let time = document.time(now);
        for LockName { object, class, field } in found.names {
            document.define_class(class);
            let Some(record) = document.core.jvm.classes.get(class) else { continue };
            let field = field.as_deref().map(Cow::Borrowed);
            let element = trace::model::LockName { object, class: record.id, field, time };
            document.emit(|out| element.write(out));
        }
    }

    /// The trace ends: writes the threads that are still blocked, and the owners of those locks.
    fn still_blocked(&mut self, document: &mut Document) {
        let parked = self.open.parked.iter().filter_map(|(&thread, parked)| match parked {
            OpenPark::Block(blocked) => Some((thread, *blocked)),
            OpenPark::Wait(_) => None,
        });
        let blocked = self.open.blocked.iter().map(|(&thread, &blocked)| (thread, blocked));
        let mut all: Vec<_> = blocked.chain(parked).collect();
        all.sort_unstable_by_key(|&(thread, blocked)| (thread, blocked.kind != WaitKind::Monitor));
        let time = document.time(document.core.reported_until());
        for (thread, blocked) in all {
            let owner = match self.open.owners.get(&blocked.object) {
                Some(&owner) => owner,
                None => blocked.owner.map(|(owner, _)| owner),
            };
            let owner = owner.filter(|owner| !document.has_ended(*owner));
            // The stack is that of the owner at the begin; if there is another owner now, it has none.
            let owner_stack = blocked.owner.filter(|(then, _)| Some(*then) == owner).map(|(_, stack)| stack);
            let element = MonStillOwned {
                thread: Some(document.thread_id(ThreadIndex(thread))),
                time,
                object: blocked.object,
                owner: owner.map(|owner| document.thread_id(owner)),
                stack: document.stack(blocked.stack),
                owner_stack: owner_stack.and_then(|stack| document.stack(stack)),
                parked: flag(blocked.kind),
            };
            document.emit(|out| element.write(out));
        }
    }
}
