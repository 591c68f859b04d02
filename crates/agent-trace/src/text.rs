//! Collects the text of elements for the file, up to the limit that the user set.

use super::output::Output;
use agent_base::message::message;

/// A limited trace keeps this much of its limit, or half of a small one, for the footer.
const FOOTER_BYTES: u64 = 64 << 10;

/// The text that has not gone to the file yet.
pub(super) struct Text {
    output: Output,
    text: Vec<u8>,
    /// Bytes handed to the file.
    handed: u64,
    /// Text that may still come before the trace is full; `None` without a limit.
    room: Option<u64>,
    limit: Option<u64>,
    failed: bool,
}

impl Text {
    /// Text is handed to the file in pieces of about this size.
    pub(super) const PIECE: usize = 256 << 10;

    /// No text yet, and at most about `limit` bytes.
    pub(super) fn new(output: Output, limit: Option<u64>) -> Text {
        let room = limit.map(|limit| limit - FOOTER_BYTES.min(limit / 2));
        Text { output, text: Vec::with_capacity(Text::PIECE * 2), handed: 0, room, limit, failed: false }
    }

    /// Whether the trace has reached its limit, so that nothing but its footer may come.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.room == Some(0)
    }

    /// Whether a limited trace has less than half of its room left.
    pub(super) fn is_half_full(&self) -> bool {
        self.room.zip(self.limit).is_some_and(|(room, limit)| room < limit / 2)
    }

    /// The limit, if it was reached.
    pub(super) fn reached_limit(&self) -> Option<u64> {
        self.limit.filter(|_| self.is_full())
    }

    /// Whether the file could not be written.
    pub(super) fn has_failed(&self) -> bool {
        self.failed
    }

    /// Appends one element.
    #[inline]
    pub(super) fn emit(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let start = self.text.len();
        write(&mut self.text);
        if let Some(pages) = self.output.pages() {
            pages.align(&mut self.text, start);
        }
        if let Some(room) = &mut self.room {
            *room = room.saturating_sub((self.text.len() - start) as u64);
        }
        if self.text.len() >= Text::PIECE {
            self.drain();
        }
    }

    /// Bytes so far.
    pub(super) fn total(&self) -> u64 {
        self.handed + self.text.len() as u64
    }

    /// Hands the text to the file.
    pub(super) fn drain(&mut self) {
        if !self.failed
            && !self.text.is_empty()
            && let Err(error) = self.output.write(&self.text)
        {
            self.fail(&error);
        }
        self.handed += self.text.len() as u64;
        self.text.clear();
    }

    /// Lets a reader see what was written so far.
    pub(super) fn flush(&mut self) {
        if !self.failed
            && let Err(error) = self.output.flush()
        {
            self.fail(&error);
        }
    }

    fn fail(&mut self, error: &std::io::Error) {
        self.failed = true;
        self.output.cut_back();
        message(&format!(
            "cannot write to the trace {}: {error}; the trace ends here, the program continues",
            self.output.path.display()
        ));
    }

    /// Says that the trace is full.
    pub(super) fn say_full(&self) {
        if let Some(limit) = self.reached_limit() {
            message(&format!(
                "the trace {} has reached its limit of {limit} bytes and ends here; the program continues",
                self.output.path.display()
            ));
        }
    }

    /// Hands over the rest and ends the file.
    pub(super) fn finish(mut self) {
        self.drain();
        if self.failed {
            return;
        }
        let path = self.output.path.clone();
        if let Err(error) = self.output.finish() {
            message(&format!("cannot finish the trace {}: {error}", path.display()));
        }
    }
}

#[cfg(test)]
mod tests {
    use agent_options::Format;
    use trace::file::{IfTaken, TRACE};

    use super::*;

    #[test]
    fn the_second_half_of_a_limited_trace_is_known() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = |name: &str, limit| {
            let path = folder.path().join(name);
            let Ok(output) = Output::open(&path, Format::Xml, TRACE, IfTaken::Next) else {
                panic!("the folder is ours")
            };
            Text::new(output, limit)
        };
        let (mut limited, mut endless) = (text("limited.trcxml", Some(1 << 20)), text("endless.trcxml", None));
        limited.emit(|out| out.resize(400 << 10, b' '));
        assert!(!limited.is_half_full());
        for text in [&mut limited, &mut endless] {
            text.emit(|out| out.extend([b' '; 200 << 10]));
        }
        assert!(limited.is_half_full() && !limited.is_full() && !endless.is_half_full());
    }
}
