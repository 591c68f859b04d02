//! The lock log: a line of text for each lock that a thread blocks on, and one when it has it.

use trace::locklog::{LockEventKind, WallClock, write_event, write_start};
use trace::time::{Nanos, Time};

use super::output::Output;
use crate::agent::clock::Ticks;
use crate::agent::message::message;

/// Text is handed to the file in pieces of about this size.
const PIECE: usize = 64 << 10;

/// A lock log that is being written.
pub(super) struct LockLog {
    output: Output,
    start: Ticks,
    text: Vec<u8>,
    failed: bool,
}

impl LockLog {
    /// Writes the first line: when the log began, in local time.
    pub(super) fn begin(output: Output, start: Ticks, time: Time) -> LockLog {
        let mut text = Vec::with_capacity(PIECE * 2);
        write_start(&local(time), &mut text);
        LockLog { output, start, text, failed: false }
    }

    /// Writes one line. `frames` are class and method.
    pub(super) fn line<'a>(
        &mut self,
        ticks: Ticks,
        kind: LockEventKind,
        thread: &str,
        frames: impl Iterator<Item = (&'a str, &'a str)>,
    ) {
        let since_start = Nanos(ticks.0.saturating_sub(self.start.0));
        write_event(since_start, kind, thread, frames, &mut self.text);
        if self.text.len() >= PIECE {
            self.drain();
        }
    }

    /// Hands the text to the file.
    pub(super) fn drain(&mut self) {
        if !self.failed
            && !self.text.is_empty()
            && let Err(error) = self.output.write(&self.text)
        {
            self.failed = true;
            message(&format!(
                "cannot continue to write the lock log to {}: {error}; the log ends here, the program continues",
                self.output.path.display()
            ));
        }
        self.text.clear();
    }

    /// Hands over the rest.
    pub(super) fn finish(mut self) {
        self.drain();
    }
}

fn local(time: Time) -> WallClock {
    let seconds = (time.0 / 1_000_000_000) as libc::time_t;
    // SAFETY: all-zero is a valid `tm`, and localtime_r fills it.
    let tm = unsafe {
        let mut tm: libc::tm = std::mem::zeroed();
        libc::localtime_r(&seconds, &mut tm);
        tm
    };
    WallClock {
        year: (tm.tm_year + 1900) as u16,
        month: (tm.tm_mon + 1) as u8,
        day: tm.tm_mday as u8,
        hour: tm.tm_hour as u8,
        minute: tm.tm_min as u8,
        second: tm.tm_sec as u8,
        milli: (time.0 / 1_000_000 % 1000) as u16,
    }
}
