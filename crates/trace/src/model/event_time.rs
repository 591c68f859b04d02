//! When an element happened.

use super::Element;
use crate::time::Time;

impl Element<'_> {
    /// The time of an element, if it is written when it happens. Classes and threads are defined late, with the time at which they
    /// came to be, and samples are written some time after they were taken.
    pub fn event_time(&self) -> Option<Time> {
        Some(match self {
            Self::Node(e) => e.time,
            Self::ProcessCreate(e) => e.time,
            Self::AgentCreate(e) => e.time,
            Self::AgentDestroy(e) => e.time,
            Self::TraceStart(e) => e.time,
            Self::TraceEnd(e) => e.time,
            Self::ThreadEnd(e) => e.time,
            Self::ClassUnload(e) => e.time,
            Self::MethodEntry(e) => e.time,
            Self::MethodExit(e) => e.time,
            Self::ObjAlloc(e) => e.time,
            Self::AllocCount(e) => e.time,
            Self::AllocSample(e) => e.time,
            Self::ThreadCount(e) => e.time,
            Self::LiveCount(e) => e.time,
            Self::LiveSample(e) => e.time,
            Self::SafepointCount(e) => e.time,
            Self::ObjFree(e) => e.time,
            Self::GcStart(e) => e.time,
            Self::GcFinish(e) => e.time,
            Self::MonContendedEnter(e) => e.time,
            Self::MonContendedEntered(e) => e.time,
            Self::MonWait(e) => e.time,
            Self::MonWaited(e) => e.time,
            Self::ThreadSleep(e) => e.time,
            Self::ThreadSlept(e) => e.time,
            Self::ThreadCpu(e) => e.time,
            Self::Mark(e) => e.time,
            Self::MonStillOwned(e) => e.time,
            Self::LockName(e) => e.time,
            Self::MonitorUsage(e) => e.time,
            Self::ThreadInfo(e) => e.time,
            Self::HeapDumpDef(e) => e.time,
            Self::RuntimeInitDone(e) => e.time,
            Self::RuntimeShutdown(e) => e.time,
            Self::ThreadStart(_)
            | Self::ClassDef(_)
            | Self::Filter(_)
            | Self::TraceOption(_)
            | Self::MethodDef(_)
            | Self::StackDef(_)
            | Self::FunctionDef(_)
            | Self::CpuSample(_)
            | Self::WallSample(_)
            | Self::Safepoint(_)
            | Self::LateThread(_)
            | Self::GcRoot(_)
            | Self::ObjectReference(_)
            | Self::MartiniCount(_)
            | Self::Other(_) => return None,
        })
    }
}
