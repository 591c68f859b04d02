//! The Java frames at an address of compiled code: its method and those that are inlined there. Runs in signal handlers.

use super::Walker;
use super::code::Code;
use super::compressed::Stream;
use super::error::WalkError;
use super::frame::{Frame, FrameKind, RawStack};
use super::layout::{DebugInfo, PC_DESC_BYTES, PC_DESC_SCOPE};

/// So deep the inlining of one place may be.
const MAX_INLINED: usize = 256;
/// In the stream: a bytecode index is written as one more.
const INDEX_BIAS: u32 = 1;

/// Which address of compiled code is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// One to which a call returns: descriptions exist for it.
    Return(usize),
    /// One that was stopped: the next description counts.
    Stopped(usize),
    /// One where the frame is not complete: the beginning of the method.
    Beginning,
}

impl Walker {
    /// Puts the frames at that address on the stack; false if there is no more room.
    pub(super) fn push_compiled(&self, code: Code, at: At, stack: &mut RawStack) -> Result<bool, WalkError> {
        let kind = self.kind(code)?;
        let info = self.layout.debug.of(self.loads, code.blob).ok_or(WalkError::DebugInfo)?;
        let scope = match at {
            At::Beginning => None,
            At::Return(pc) => self.scope(info, pc.wrapping_sub(code.begin) as i32),
            At::Stopped(pc) => self.scope(info, pc.wrapping_sub(code.begin).wrapping_add(1) as i32),
        };
        let Some(mut scope) = scope else {
            let index = (at == At::Beginning).then_some(0);
            return self.push_method(self.method_of(code)?, kind, index, stack);
        };
        for _ in 0..MAX_INLINED {
            let mut stream =
                Stream::new(self.loads, self.encoding, info.scopes.wrapping_add(scope as usize), info.scopes_end);
            let mut number = || stream.unsigned().ok_or(WalkError::DebugInfo);
            let (sender, method, index) = (number()?, number()?, number()?);
            let method = (method as usize).checked_sub(1).ok_or(WalkError::DebugInfo)?;
            let method =
                self.loads.word(info.methods.wrapping_add(method * size_of::<usize>())).ok_or(WalkError::DebugInfo)?;
            let kind = if sender == 0 { kind } else { FrameKind::Inlined };
            // The lock of a synchronized method is taken before its first bytecode.
            let index = index.saturating_sub(INDEX_BIAS) as usize;
            if !self.push_method(method, kind, Some(index), stack)? {
                return Ok(false);
            }
            if sender == 0 {
                return Ok(true);
            }
            // A scope is written behind those that it is inlined into.
            if sender >= scope {
                return Err(WalkError::DebugInfo);
            }
            scope = sender;
        }
        Err(WalkError::DebugInfo)
    }

    /// Puts a frame of that method on the stack, at the line of that bytecode index; false if there is no more room.
    pub(super) fn push_method(
        &self,
        method: usize,
        kind: FrameKind,
        index: Option<usize>,
        stack: &mut RawStack,
    ) -> Result<bool, WalkError> {
        let method = self.layout.method.read(self.loads, method).ok_or(WalkError::Method)?;
        let known = self.methods.number_of(self.loads, &method)?;
        let line = index.map_or(0, |index| method.line(self.loads, self.encoding, index));
        Ok(stack.push(Frame { method: known.number, line, kind }))
    }

    /// The method of compiled code.
    pub(super) fn method_of(&self, code: Code) -> Result<usize, WalkError> {
        self.loads.word(code.blob + self.layout.compiled.method).ok_or(WalkError::Method)
    }

    fn kind(&self, code: Code) -> Result<FrameKind, WalkError> {
        match self.loads.u8(code.blob + self.layout.compiled.level) {
            Some(1) => Ok(FrameKind::C1Tier1),
            Some(2) => Ok(FrameKind::C1Tier2),
            Some(3) => Ok(FrameKind::C1Tier3),
            Some(4) => Ok(FrameKind::C2),
            _ => Err(WalkError::Compiled),
        }
    }

    /// Where the scope begins of the first description at or behind that distance from the beginning of the code, or of the last one;
    /// `None` if none is known.
    fn scope(&self, info: DebugInfo, distance: i32) -> Option<u32> {
        let field = |index: usize, at: usize| self.loads.u32(info.pcs.wrapping_add(index * PC_DESC_BYTES + at));
        let (mut low, mut high) = (0, (info.pcs_end - info.pcs) / PC_DESC_BYTES);
        while low < high {
            let middle = low + (high - low) / 2;
            if (field(middle, 0)? as i32) < distance {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        // 0 marks both ends of the table. Behind the last description is the end of the code that it belongs to.
        let scope = |index: usize| field(index, PC_DESC_SCOPE).filter(|&scope| scope != 0);
        let found = if low * PC_DESC_BYTES < info.pcs_end - info.pcs { scope(low) } else { None };
        found.or_else(|| scope(low.checked_sub(1)?))
    }
}
