//! Waits as events.

use trace::ids::{ObjectId, StackId, ThreadId};
use trace::model::WaitEnd;
use trace::time::{Nanos, Time};

use super::Recorder;
use crate::jfr::encode::{flag, number};
use crate::jfr::waits::{Wait, WaitKind};

impl Recorder {
    pub(super) fn wait(
        &mut self,
        kind: WaitKind,
        since: Time,
        object: Option<ObjectId>,
        stack: Option<StackId>,
    ) -> Wait {
        self.reach(since);
        let class = object.and_then(|object| self.classes.get(self.objects.get(&object)?)).cloned();
        let class = class.map_or(0, |class| self.pools.class(&class));
        let stack = self.stack(stack);
        Wait { kind, is_contended: false, object, since, inside: Nanos(0), class, owner: 0, stack }
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
        self.event(wait.kind.event(), wait.since, |body| {
            [wait.length(now).0, thread, wait.stack].into_iter().for_each(|value| number(body, value));
            match wait.kind {
                WaitKind::Sleeping => {}
                WaitKind::Parked => number(body, wait.class),
                WaitKind::Blocked => [wait.class, wait.owner].into_iter().for_each(|value| number(body, value)),
                WaitKind::Waiting => {
                    number(body, wait.class);
                    flag(body, reason == Some(WaitEnd::TimedOut));
                }
            }
        });
    }
}
