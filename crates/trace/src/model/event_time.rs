//! When an element happened.

use super::Element;
use crate::time::Time;

impl Element<'_> {
    /// The time of an element, if it is written when it happens. Classes and threads are defined late, with the time at which they
    /// came to be, and samples are written some time after they were taken.
    pub fn event_time(&self) -> Option<Time> {
        match self {
            Self::ThreadStart(_)
            | Self::ClassDef(_)
            | Self::CpuSample(_)
            | Self::WallSample(_)
            | Self::Safepoint(_)
            | Self::LateThread(_)
            | Self::ClassInit(_)
            | Self::ClassArchive(_)
            | Self::ClassLoad(_)
            | Self::Compilation(_)
            | Self::CodeDiscarded(_)
            | Self::JvmCounter(_)
            | Self::RequestEntry(_)
            | Self::Request(_)
            | Self::ThreadDump(_) => None,
            _ => self.time(),
        }
    }
}
