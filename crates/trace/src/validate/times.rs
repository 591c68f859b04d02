//! The check that times do not decrease.

use crate::model::Element;
use crate::time::Time;

use super::{Findings, Rule};

/// The latest time before a point of a document.
#[derive(Debug, Default)]
pub(super) struct Latest(Time);

impl Latest {
    /// Checks the time of an element.
    pub(super) fn element(&mut self, element: &Element<'_>, findings: &mut Findings) {
        let Some(time) = time_of(element) else { return };
        if time < self.0 {
            let (name, before) = (element.name(), self.0);
            findings.add(Rule::Times, || format!("{name} is of {time}, but {before} was written before"));
        }
        self.0 = self.0.max(time);
    }
}

/// The time of an element, if it must not decrease. Classes and threads are defined late, with the
/// time at which they came to be.
fn time_of(element: &Element<'_>) -> Option<Time> {
    Some(match element {
        Element::Node(e) => e.time,
        Element::ProcessCreate(e) => e.time,
        Element::AgentCreate(e) => e.time,
        Element::AgentDestroy(e) => e.time,
        Element::TraceStart(e) => e.time,
        Element::TraceEnd(e) => e.time,
        Element::ThreadEnd(e) => e.time,
        Element::ClassUnload(e) => e.time,
        Element::MethodEntry(e) => e.time,
        Element::MethodExit(e) => e.time,
        Element::ObjAlloc(e) => e.time,
        Element::AllocCount(e) => e.time,
        Element::AllocSample(e) => e.time,
        Element::ThreadCount(e) => e.time,
        Element::LiveCount(e) => e.time,
        Element::ObjFree(e) => e.time,
        Element::GcStart(e) => e.time,
        Element::GcFinish(e) => e.time,
        Element::MonContendedEnter(e) => e.time,
        Element::MonContendedEntered(e) => e.time,
        Element::MonWait(e) => e.time,
        Element::MonWaited(e) => e.time,
        Element::MonStillOwned(e) => e.time,
        Element::MonitorUsage(e) => e.time,
        Element::ThreadInfo(e) => e.time,
        Element::HeapDumpDef(e) => e.time,
        Element::RuntimeInitDone(e) => e.time,
        Element::RuntimeShutdown(e) => e.time,
        Element::ThreadStart(_)
        | Element::ClassDef(_)
        | Element::Filter(_)
        | Element::TraceOption(_)
        | Element::MethodDef(_)
        | Element::StackDef(_)
        | Element::GcRoot(_)
        | Element::ObjectReference(_)
        | Element::MartiniCount(_)
        | Element::Other(_) => return None,
    })
}
