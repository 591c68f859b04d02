//! Waits, from their beginning to their end.

use trace::ids::{ObjectId, StackId, ThreadId};
use trace::model::{LockName, WaitEnd};
use trace::time::{Nanos, Time};

use super::waits::{Wait, WaitKind};
use super::{Event, Recorder, UNDEFINED_CLASS, WaitEvent};

impl Recorder {
    pub(super) fn wait(
        &mut self,
        kind: WaitKind,
        since: Time,
        object: Option<ObjectId>,
        stack: Option<StackId>,
    ) -> Wait {
        self.reach(since);
        let class = object.and_then(|object| self.classes.get(&self.objects.get(&object)?.class));
        let class = class.map_or(0, |class| self.recording.pools.class(&class.name));
        let lock = object.map_or(0, |object| self.lock(object));
        let stack = self.stack(stack);
        Wait { kind, is_contended: false, object, since, inside: Nanos(0), class, lock, owner: 0, stack }
    }

    pub(super) fn end_wait(
        &mut self,
        thread: ThreadId,
        time: Time,
        object: Option<ObjectId>,
        is_contended: bool,
        reason: Option<WaitEnd>,
    ) {
        self.reach(time);
        if let Some(wait) = self.waits.end(thread, time, object, is_contended) {
            self.write_wait(thread, &wait, time, reason);
        }
    }

    pub(super) fn end_waits(&mut self, thread: ThreadId, time: Time) {
        for wait in self.waits.end_all(thread, time) {
            self.write_wait(thread, &wait, time, None);
        }
    }

    pub(super) fn write_wait(&mut self, thread: ThreadId, wait: &Wait, now: Time, reason: Option<WaitEnd>) {
        let thread = self.thread(thread);
        self.recording.events.push(Event::Wait(WaitEvent {
            thread,
            kind: wait.kind,
            since: wait.since,
            until: now.max(wait.since),
            length: wait.length(now),
            class: wait.class,
            lock: wait.lock,
            owner: wait.owner,
            stack: wait.stack,
            timed_out: reason == Some(WaitEnd::TimedOut),
        }));
    }

    /// The number of a lock: its name comes when the waits for it are over.
    fn lock(&mut self, object: ObjectId) -> u64 {
        let names = &mut self.recording.lock_names;
        *self.locks.entry(object).or_insert_with(|| {
            names.push(Box::default());
            names.len() as u64
        })
    }

    pub(super) fn name_lock(&mut self, name: &LockName<'_>) {
        let Some(&lock) = self.locks.get(&name.object) else { return };
        let class = self.classes.get(&name.class).map_or(UNDEFINED_CLASS, |class| &class.name);
        let field = name.field.as_deref();
        self.recording.lock_names[lock as usize - 1] = analysis::locks::LockName { class, field }.to_string().into();
    }
}
