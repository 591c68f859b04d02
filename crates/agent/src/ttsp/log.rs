//! The VM's own log of safepoints: what it says of each is exact, for every operation.
//!
//! The VM writes one or a few lines for each safepoint. Where late threads are looked for, it also logs what is about to begin, before it
//! stops anybody.

use std::io;

use jvmti::Jni;

use super::line::{Lines, Stop};
use crate::notice::LineNotice;
use crate::vm_log::VmLog;
use agent_base::clock::Ticks;

/// The log.
pub(super) struct SafepointLog {
    log: VmLog,
    lines: Lines,
}

impl SafepointLog {
    /// Has the VM log from now on, also what is about to begin if `beginnings`.
    ///
    /// # Errors
    /// Why it does not: part of a sentence.
    pub(super) fn begin(jni: Jni, beginnings: bool) -> Result<SafepointLog, String> {
        let what = if beginnings { "safepoint=info,vmthread=debug" } else { "safepoint=info" };
        let log = VmLog::begin(jni, what, "timenanos")?;
        Ok(SafepointLog { log, lines: Lines::default() })
    }

    /// What says when a line is written, from now on.
    ///
    /// # Errors
    /// The system does not say.
    pub(super) fn notice(&self) -> io::Result<LineNotice> {
        LineNotice::of(self.log.file())
    }

    /// When the stop began, about, whose end had not been logged when this was read.
    pub(super) fn begun(&self) -> Option<Ticks> {
        self.lines.begun()
    }

    /// Has the VM log no more.
    pub(super) fn end(&self, jni: Jni) {
        self.log.end(jni);
    }

    /// Calls `visit` with each stop whose end has been logged since the last call.
    ///
    /// # Errors
    /// The log cannot be read.
    pub(super) fn read(&mut self, mut visit: impl FnMut(Stop)) -> io::Result<()> {
        let lines = &mut self.lines;
        self.log.read(|line| lines.next(line).into_iter().for_each(&mut visit))
    }
}
