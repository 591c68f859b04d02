//! What a walk gives. Written in signal handlers.

/// Number of a method in the walker's table ([`Walker::method`](super::Walker::method)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MethodNumber(pub u32);

/// How a frame runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum FrameKind {
    /// By the interpreter.
    Interpreted = b'I',
    /// As code of C1 that collects nothing.
    C1Tier1 = b'1',
    /// As code of C1 that counts calls and loops.
    C1Tier2 = b'2',
    /// As code of C1 that collects full profiles.
    C1Tier3 = b'3',
    /// As code of C2, or of another compiler at that tier.
    C2 = b'4',
    /// A native method.
    Native = b'N',
    /// Inlined into the next frame outwards that is not.
    Inlined = b'i',
}

impl FrameKind {
    /// Its letter in the trace.
    pub fn letter(self) -> char {
        char::from(self as u8)
    }
}

/// A frame of Java.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Whose frame it is.
    pub method: MethodNumber,
    /// Source line; 0 if unknown. A class file has no larger ones.
    pub line: u16,
    /// How its code runs.
    pub kind: FrameKind,
}

impl Frame {
    const NONE: Frame = Frame { method: MethodNumber(0), line: 0, kind: FrameKind::Interpreted };
}

/// So many frames a walk gives at most.
pub const MAX_FRAMES: usize = 1024;

/// The innermost frames of a stack, in memory of a fixed size (8 KiB): made once for each thread or ring, outside of signal
/// handlers.
pub struct RawStack {
    frames: [Frame; MAX_FRAMES],
    length: usize,
    is_truncated: bool,
}

impl RawStack {
    /// An empty one.
    pub const fn empty() -> RawStack {
        RawStack { frames: [Frame::NONE; MAX_FRAMES], length: 0, is_truncated: false }
    }

    /// The frames, the innermost first. None: the thread has no frame of Java.
    pub fn frames(&self) -> &[Frame] {
        &self.frames[..self.length]
    }

    /// Whether frames further out are left out: there were more than fit, or those of a virtual thread are still in the heap.
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    pub(super) fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
        self.is_truncated = false;
    }

    /// False if there is no room, which is noted.
    pub(super) fn push(&mut self, frame: Frame) -> bool {
        let Some(place) = self.frames.get_mut(self.length) else {
            self.is_truncated = true;
            return false;
        };
        *place = frame;
        self.length += 1;
        true
    }

    pub(super) fn set_truncated(&mut self) {
        self.is_truncated = true;
    }
}
