//! The checks that collections and waits begin and end in turn.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ids::{ObjectId, ThreadId};
use crate::model::{Element, Flag};

use super::{Findings, Rule};

/// A thread, and whether it parks: a thread that parks may be blocked on a monitor as well.
type Waiter = (ThreadId, bool);

fn waiter(thread: ThreadId, parked: Option<Flag>) -> Waiter {
    (thread, parked == Some(Flag::Yes))
}

/// What has begun and not ended at a point of a document.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    in_gc: bool,
    /// The monitor that a thread is blocked on.
    blocked: FxHashMap<Waiter, ObjectId>,
    /// The monitor that a thread waits for.
    waiting: FxHashMap<Waiter, ObjectId>,
    sleeping: FxHashSet<ThreadId>,
}

impl Pairs {
    /// Is a collection in progress?
    pub(super) fn in_gc(&self) -> bool {
        self.in_gc
    }

    /// Takes over what an element begins or ends.
    pub(super) fn element(&mut self, element: &Element<'_>, findings: &mut Findings) {
        match element {
            Element::ThreadEnd(e) => self.thread_end(e.thread, findings),
            Element::ObjFree(e) if !self.in_gc => {
                let object = e.object;
                findings.add(Rule::FreeInGc, || format!("object {object} is freed outside a collection"));
            }
            Element::GcStart(_) => {
                if self.in_gc {
                    findings.add(Rule::GcPairs, || "a collection starts inside another".to_owned());
                }
                self.in_gc = true;
            }
            Element::GcFinish(_) => {
                if !self.in_gc {
                    findings.add(Rule::GcPairs, || "a collection finishes that has not started".to_owned());
                }
                self.in_gc = false;
            }
            Element::MonContendedEnter(e) => {
                open(&mut self.blocked, waiter(e.thread, e.parked), e.object, "is blocked on", findings);
            }
            Element::MonContendedEntered(e) => {
                close(&mut self.blocked, waiter(e.thread, e.parked), e.object, "was not blocked on", findings);
            }
            Element::MonWait(e) => open(&mut self.waiting, waiter(e.thread, e.parked), e.object, "waits for", findings),
            Element::MonWaited(e) => {
                close(&mut self.waiting, waiter(e.thread, e.parked), e.object, "did not wait for", findings);
            }
            Element::ThreadSleep(e) if !self.sleeping.insert(e.thread) => {
                let thread = e.thread;
                findings.add(Rule::MonitorPairs, || format!("thread {thread} sleeps while it still sleeps"));
            }
            Element::ThreadSlept(e) if !self.sleeping.remove(&e.thread) => {
                let thread = e.thread;
                findings.add(Rule::MonitorPairs, || format!("thread {thread} wakes, but it did not sleep"));
            }
            _ => {}
        }
    }

    fn thread_end(&mut self, thread: ThreadId, findings: &mut Findings) {
        if self.sleeping.remove(&thread) {
            findings.add(Rule::MonitorPairs, || format!("thread {thread} ends while it sleeps"));
        }
        for waiter in [(thread, false), (thread, true)] {
            let (blocked, waiting) = (self.blocked.remove(&waiter), self.waiting.remove(&waiter));
            if let Some(object) = blocked.or(waiting) {
                let text = || format!("thread {thread} ends while it is blocked on or waits for {object}");
                findings.add(Rule::MonitorPairs, text);
            }
        }
    }
}

fn open(
    monitors: &mut FxHashMap<Waiter, ObjectId>,
    waiter: Waiter,
    object: ObjectId,
    state: &str,
    findings: &mut Findings,
) {
    if let Some(before) = monitors.insert(waiter, object) {
        let thread = waiter.0;
        let text = || format!("thread {thread} {state} monitor {object} while it still {state} {before}");
        findings.add(Rule::MonitorPairs, text);
    }
}

fn close(
    monitors: &mut FxHashMap<Waiter, ObjectId>,
    waiter: Waiter,
    object: ObjectId,
    state: &str,
    findings: &mut Findings,
) {
    if monitors.remove(&waiter) != Some(object) {
        let thread = waiter.0;
        let text = || format!("thread {thread} continues, but it {state} monitor {object}");
        findings.add(Rule::MonitorPairs, text);
    }
}
