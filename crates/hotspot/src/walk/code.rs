//! Which piece of code an address lies in. Runs in signal handlers.

use super::Walker;

/// What a piece of code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A compiled method.
    Java,
    /// What calls a native method.
    Native,
    Interpreter,
    /// The place to which Java returns when the VM has called it.
    Entry,
    /// By which native code calls Java (the foreign function interface).
    Upcall,
    /// To which the thawed frames of a virtual thread return, while others are in the heap.
    Barrier,
    /// All else.
    Stub,
}

/// A piece of code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Code {
    pub(super) blob: usize,
    pub(super) kind: Kind,
    pub(super) begin: usize,
    pub(super) end: usize,
    /// Bytes of its frames, with the return address; 0 if it does not say.
    pub(super) frame: usize,
}

impl Code {
    /// Whether an address lies in it, and not in what the VM keeps beside it.
    pub(super) fn holds(&self, pc: usize) -> bool {
        (self.begin..self.end).contains(&pc)
    }
}

/// No frame of compiled code is larger.
const MAX_FRAME_WORDS: usize = 1 << 17;

impl Walker {
    /// The code at an address.
    pub(super) fn code(&self, pc: usize) -> Option<Code> {
        let blob = self.cache.blob_at(pc)?;
        let loads = self.loads;
        let name = loads.word(blob + self.layout.blob.name)?;
        let part = |at: usize| loads.word(name.wrapping_add(at)).map(usize::to_le_bytes);
        let kind = match &part(0)? {
            b"nmethod\0" => Kind::Java,
            b"native n" => Kind::Native,
            b"Interpre" => Kind::Interpreter,
            b"upcall_s" => Kind::Upcall,
            b"StubRout" if pc == self.layout.call_stub_return => Kind::Entry,
            b"StubRout" if &part(8)? == b"ines (co" && &part(16)? == b"ntinuati" => Kind::Barrier,
            _ => Kind::Stub,
        };
        let (begin, end) = self.layout.blob.code(loads, blob)?;
        let words = loads.u32(blob + self.layout.blob.frame_size)? as i32;
        let words = usize::try_from(words).ok().filter(|&words| words < MAX_FRAME_WORDS).unwrap_or(0);
        Some(Code { blob, kind, begin, end, frame: words * size_of::<usize>() })
    }
}
