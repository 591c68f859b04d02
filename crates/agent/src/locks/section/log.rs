//! The lock log: a line of text for each lock that a thread blocks on, and one when it has it.
//!
//! It has a thread of its own, so that the trace does not end where nobody reads the log.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use trace::locklog::{LockEventKind, WallClock, write_event, write_start};
use trace::time::{Nanos, Time};

use agent_base::clock::{Ticks, local};
use agent_base::events::progress::{MAX_STALL, MAX_STALL_AT_END, Patience, Progress};
use agent_base::message::message;
use agent_core::core::Core;
use agent_trace::Output;

/// Text is handed over in pieces of about this size.
const PIECE: usize = 64 << 10;
/// Pieces on their way to the file.
const MAX_PIECES: usize = 16;
/// How often the writer looks whether the log takes more.
const LOOK: Duration = Duration::from_millis(2);

/// A lock log that is being written.
pub(super) struct LockLog {
    core: &'static Core,
    text: Vec<u8>,
    pieces: SyncSender<Vec<u8>>,
    thread: JoinHandle<()>,
    /// Shows whether the log takes text.
    progress: Arc<Progress>,
    path: String,
    /// It takes none, so locks are left out that no thread is blocked on yet.
    is_stalled: bool,
    /// Locks that were left out.
    pub(super) dropped: u64,
}

impl LockLog {
    /// Writes the first line: when the log began, in local time. `None`, after a message, if the system has no thread for it.
    pub(super) fn begin(output: Output, core: &'static Core, time: Time) -> Option<LockLog> {
        let mut text = Vec::with_capacity(PIECE * 2);
        write_start(&wall_clock(time), &mut text);
        let (pieces, received) = sync_channel(MAX_PIECES);
        let (progress, path) = (output.progress().clone(), output.path.display().to_string());
        match thread::Builder::new().name("martini-locklog".into()).spawn(move || write(output, &received)) {
            Ok(thread) => Some(LockLog { core, text, pieces, thread, progress, path, is_stalled: false, dropped: 0 }),
            Err(error) => {
                message(&format!("cannot start the lock log writer, so there is no lock log: {error}"));
                None
            }
        }
    }

    /// Writes one line, or leaves it out if it is a beginning and the log takes no text. `frames` are class and method.
    pub(super) fn line<'a>(
        &mut self,
        ticks: Ticks,
        kind: LockEventKind,
        thread: &str,
        frames: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> bool {
        if self.is_stalled && kind == LockEventKind::Try {
            self.dropped += 1;
            return false;
        }
        let since_start = Nanos(ticks.0.saturating_sub(self.core.start.0));
        write_event(since_start, kind, thread, frames, &mut self.text);
        if self.text.len() >= PIECE {
            self.drain();
        }
        true
    }

    /// Hands the text over. Waits while the log is behind and gets on.
    pub(super) fn drain(&mut self) {
        let mut patience = Patience::new(&self.progress, MAX_STALL);
        while !self.text.is_empty() {
            match self.pieces.try_send(std::mem::take(&mut self.text)) {
                Ok(()) => self.is_stalled = false,
                Err(TrySendError::Full(text)) => {
                    self.text = text;
                    if self.is_stalled || patience.is_over() {
                        self.is_stalled = true;
                        return;
                    }
                    // The writer waits and is not stuck.
                    self.core.progress.step();
                    thread::sleep(LOOK);
                }
                // It has failed, and said so.
                Err(TrySendError::Disconnected(_)) => {}
            }
        }
    }

    /// Hands over the rest, and waits until it is written or the log has taken nothing for long.
    pub(super) fn finish(mut self) {
        self.drain();
        let LockLog { core, text, pieces, thread, progress, path, .. } = self;
        let mut is_lost = !text.is_empty();
        drop(pieces);
        let mut patience = Patience::new(&progress, MAX_STALL_AT_END);
        while !thread.is_finished() {
            if patience.is_over() {
                is_lost = true;
                break;
            }
            core.progress.step();
            thread::sleep(LOOK);
        }
        if is_lost {
            message(&format!(
                "the lock log {path} ends early: it accepted no data for some seconds; check the pipe's \
                              reader"
            ));
        }
    }
}

/// Writes what comes, until nothing more comes.
fn write(mut output: Output, pieces: &Receiver<Vec<u8>>) {
    for piece in pieces {
        if let Err(error) = output.write(&piece) {
            return message(&format!(
                "cannot write to the lock log {}: {error}; the log ends here, the program continues",
                output.path.display()
            ));
        }
    }
}

fn wall_clock(time: Time) -> WallClock {
    let tm = local(time);
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
