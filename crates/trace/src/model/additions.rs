//! Which elements TPTP does not have.

use super::Element;

impl Element<'_> {
    /// Whether only Martini writes such elements, so that an importer of TPTP's does not know them.
    pub fn is_addition(&self) -> bool {
        matches!(
            self,
            Element::AllocCount(_)
                | Element::AllocSample(_)
                | Element::ThreadCount(_)
                | Element::LiveCount(_)
                | Element::LiveSample(_)
                | Element::StackDef(_)
                | Element::FunctionDef(_)
                | Element::CpuSample(_)
                | Element::WallSample(_)
                | Element::SafepointCount(_)
                | Element::Safepoint(_)
                | Element::LateThread(_)
                | Element::ClassInit(_)
                | Element::ClassArchive(_)
                | Element::ClassLoad(_)
                | Element::Compilation(_)
                | Element::CodeDiscarded(_)
                | Element::JvmCounter(_)
                | Element::FailedLookup(_)
                | Element::RequestEntry(_)
                | Element::Request(_)
                | Element::RequestCount(_)
                | Element::Mark(_)
                | Element::MonitorUsage(_)
                | Element::ThreadInfo(_)
                | Element::ThreadDump(_)
                | Element::MartiniCount(_)
        )
    }
}
