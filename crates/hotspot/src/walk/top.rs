//! The innermost frame, which may have been stopped at any instruction. Runs in signal handlers.

use super::code::{Code, Kind};
use super::error::WalkError;
use super::frame::FrameKind;
use super::registers::Registers;
use super::scopes::At;
use super::unwind::{RawFrame, WORD, Walk};
use super::x86_64::{Call, FrameState, WINDOW, in_body, in_prologue};

/// So many words above the stack pointer are searched where Java calls native code without a note of it.
const LEAF_WORDS: usize = 512;
/// So many frames of native code are followed there by their frame pointers.
const LEAF_FRAMES: usize = 64;
/// In words: where the state of an interpreted frame ends, below which its operands are.
const INTERPRETER_STATE: usize = 9;
/// So many places in native code are tried.
const LEAF_PLACES: usize = 24;
/// So many words more than its frame compiled code may have on the stack.
const SHIFTED_WORDS: usize = 24;
/// So many bytes around the place to which Java returns the stub reaches by which the VM has called it.
const CALL_STUB_BYTES: usize = 512;
/// `JavaThreadState`: the thread runs Java code.
const IN_JAVA: u32 = 8;

impl Walk<'_> {
    /// All frames of a thread that was stopped with these registers.
    pub(super) fn top(&mut self, registers: &Registers) -> Result<(), WalkError> {
        let here = RawFrame { sp: registers.sp, pc: registers.pc, fp: registers.fp };
        let Some(code) = self.walker.code(registers.pc) else { return self.outside(here) };
        match code.kind {
            Kind::Entry => self.walk_from(here),
            Kind::Interpreter => self.top_interpreted(here, registers),
            Kind::Java | Kind::Native => self.top_compiled(here, code),
            Kind::Stub | Kind::Upcall | Kind::Barrier => self.top_stub(here, code, registers),
        }
    }

    /// Where the thread last left Java, if it has not come back and that is further out.
    fn anchored(&self, sp: usize) -> Result<Option<RawFrame>, WalkError> {
        let left = self.left_java(self.thread + self.walker.layout.thread.anchor)?;
        Ok(left.filter(|left| left.sp >= sp))
    }

    /// In native code or the VM.
    fn outside(&mut self, here: RawFrame) -> Result<(), WalkError> {
        if let Some(left) = self.anchored(here.sp)? {
            return self.walk_from(left);
        }
        let state = self.walker.loads.u32(self.thread + self.walker.layout.thread.state);
        match state.ok_or(WalkError::NotOnStack)? {
            IN_JAVA => self.walk_from_leaf_call(here),
            _ => Ok(()),
        }
    }

    /// Java code has called native code without leaving a note: a function of the VM that ends soon, or of the C library.
    fn walk_from_leaf_call(&mut self, here: RawFrame) -> Result<(), WalkError> {
        let mut places = [None; LEAF_PLACES];
        let mut number = 0;
        let mut add = |place: Option<RawFrame>| {
            if number < LEAF_PLACES && place.is_some() {
                places[number] = place;
                number += 1;
            }
        };
        add(self.returned_to(here.sp, here.fp));
        let mut fp = here.fp;
        for _ in 0..LEAF_FRAMES {
            let Some(saved) = self.word(fp) else { break };
            if let Some(caller) = self.returned_to(fp + WORD, saved) {
                add(Some(caller));
                break;
            }
            if saved <= fp {
                break;
            }
            fp = saved;
        }
        for at in (1..LEAF_WORDS).map(|index| here.sp + index * WORD) {
            add(self.word(at - WORD).and_then(|saved| self.returned_to(at, saved)));
        }
        let is_outside = |place: &RawFrame| match self.call(place.pc) {
            Some(Call::Of(target)) => self.walker.code(target).is_none(),
            _ => false,
        };
        let sure = places.map(|place| place.filter(is_outside));
        let is_unknown = |place: &RawFrame| self.call(place.pc) == Some(Call::Unknown);
        let unsure = places.map(|place| place.filter(is_unknown));
        self.walk_from_one_of(sure, WalkError::LeafCall).or_else(|_| self.walk_from_one_of(unsure, WalkError::LeafCall))
    }

    fn top_interpreted(&mut self, here: RawFrame, registers: &Registers) -> Result<(), WalkError> {
        let length = self.stack.frames().len();
        if self.holds(here.fp) && here.fp - here.sp >= INTERPRETER_STATE * WORD {
            let caller = self.caller_of_interpreted(here.fp);
            let pushed = self.push_interpreted(here.fp, Some(registers.bytecode));
            if let (Ok(caller), Ok(has_room)) = (caller, pushed) {
                let done =
                    if has_room { self.walk_from_one_of([Some(caller)], WalkError::Interpreter) } else { Ok(()) };
                if done.is_ok() {
                    return done;
                }
            }
            self.stack.truncate(length);
        }
        // The method is being entered, or was left.
        let sp = Some(registers.bytecode).filter(|&sp| self.holds(sp));
        let taken = sp.filter(|_| self.call(registers.result).is_some());
        let taken = taken.map(|sp| RawFrame { sp, pc: registers.result, fp: here.fp });
        let on_top = self.returned_to(here.sp, here.fp).map(|frame| RawFrame { sp: sp.unwrap_or(frame.sp), ..frame });
        // Its frame is being built from the frame pointer on.
        let begun = Some(here.fp).filter(|&fp| fp >= here.sp && fp - here.sp < INTERPRETER_STATE * WORD);
        let begun = begun.and_then(|fp| {
            let sender = if fp == here.sp { sp } else { self.word(fp - WORD) };
            let caller = self.returned_to(fp + WORD, self.word(fp)?)?;
            Some(RawFrame { sp: sender.filter(|&sp| self.holds(sp) && sp > fp)?, ..caller })
        });
        let is_entered = self.walker.push_method(registers.method, FrameKind::Interpreted, Some(0), self.stack).is_ok();
        if is_entered && self.walk_from_one_of([begun, on_top, taken], WalkError::Interpreter).is_ok() {
            return Ok(());
        }
        self.stack.truncate(length);
        self.walk_from_anywhere(here, WalkError::Interpreter)
    }

    fn top_compiled(&mut self, here: RawFrame, code: Code) -> Result<(), WalkError> {
        let complete = self.walker.layout.blob.frame_complete(self.walker.loads, code.blob, code.begin);
        let is_complete = complete.is_none_or(|complete| here.pc >= complete);
        let state = self.frame_state(here.pc, code, complete.filter(|_| !is_complete));
        let has_room = if code.kind == Kind::Native {
            match self.push_native(code)? {
                Some(has_room) => has_room,
                None => return Ok(()),
            }
        } else {
            let at = if is_complete { At::Stopped(here.pc) } else { At::Beginning };
            self.walker.push_compiled(code, at, self.stack)?
        };
        if !has_room {
            return Ok(());
        }
        let complete = self.caller_by_size(here, code);
        let on_top = self.returned_to(here.sp, here.fp);
        let below = self.word(here.sp).and_then(|fp| self.returned_to(here.sp + WORD, fp));
        let first = match state {
            FrameState::Complete => complete,
            FrameState::PointerInRegister => complete.map(|caller| RawFrame { fp: here.fp, ..caller }),
            FrameState::ReturnOnTop => on_top,
            FrameState::PointerOnTop => below,
        };
        let by_pointer = self.word(here.fp).and_then(|fp| self.returned_to(here.fp + WORD, fp));
        let by_pointer = by_pointer.filter(|_| code.kind == Kind::Native);
        let anchored = self.anchored(here.sp).ok().flatten().filter(|left| left.pc != here.pc && left.sp > here.sp);
        let usual = [first, by_pointer, complete, on_top, below, anchored];
        if self.walk_from_one_of(usual, WalkError::Compiled).is_ok() {
            return Ok(());
        }
        // Some instructions that stand for whole methods put more on the stack.
        let mut shifted = [None; SHIFTED_WORDS];
        for (index, place) in shifted.iter_mut().enumerate() {
            *place = self.caller_by_size(RawFrame { sp: here.sp + (index + 1) * WORD, ..here }, code);
        }
        self.walk_from_one_of(shifted, WalkError::Compiled)
    }

    /// The state of the frame at an address of compiled code; `complete` is where it becomes complete, if that is further on.
    fn frame_state(&self, pc: usize, code: Code, complete: Option<usize>) -> FrameState {
        let mut bytes = [0; 2 * WINDOW];
        let begin = pc.saturating_sub(WINDOW).max(code.begin);
        let end = complete.unwrap_or(code.end).min(pc + WINDOW);
        let (Some(before), Some(length)) = (pc.checked_sub(begin), end.checked_sub(begin)) else {
            return FrameState::Complete;
        };
        if !self.walker.loads.copy(begin, &mut bytes[..length]) || before > length {
            return FrameState::Complete;
        }
        let (before, after) = bytes[..length].split_at(before);
        if complete.is_some() { in_prologue(before, after) } else { in_body(after) }
    }

    fn top_stub(&mut self, here: RawFrame, code: Code, registers: &Registers) -> Result<(), WalkError> {
        // Native code calls stubs too, and some stubs have noted where they left Java.
        let anchored = self.anchored(here.sp).ok().flatten();
        if self.walk_from_one_of([anchored], WalkError::Stub).is_ok() {
            return Ok(());
        }
        let entry = self.walker.layout.call_stub_return;
        if here.pc.abs_diff(entry) < CALL_STUB_BYTES && code.holds(entry) {
            match self.caller_of_entry(here) {
                Ok(None) => return Ok(()),
                Ok(caller) if self.walk_from_one_of([caller], WalkError::Stub).is_ok() => return Ok(()),
                _ => {}
            }
        }
        let complete = self.walker.layout.blob.frame_complete(self.walker.loads, code.blob, code.begin);
        if complete.is_some_and(|complete| here.pc >= complete) && code.frame > 0 {
            let state = self.frame_state(here.pc, code, None);
            let caller = self.caller_by_size(here, code).filter(|_| state == FrameState::Complete);
            if self.walk_from_one_of([caller], WalkError::Stub).is_ok() {
                return Ok(());
            }
        }
        let is_call_of_it =
            |place: &RawFrame| matches!(self.call(place.pc), Some(Call::Of(target)) if code.holds(target));
        let mut places = [None; 32];
        self.fill(&mut places, here.sp, here.fp);
        let sure = places.map(|place| place.filter(is_call_of_it));
        if self.walk_from_one_of(sure, WalkError::Stub).is_ok()
            || self.walk_from_one_of(places, WalkError::Stub).is_ok()
        {
            return Ok(());
        }
        // An adapter to the interpreter has taken the return address from the stack.
        let taken = self.call(registers.result).map(|_| RawFrame { sp: here.sp, pc: registers.result, fp: here.fp });
        let at = Some(registers.bytecode).filter(|&sp| self.holds(sp));
        let taken = taken.map(|frame| RawFrame { sp: at.unwrap_or(frame.sp), ..frame });
        self.walk_from_one_of([taken], WalkError::Stub).or_else(|_| self.walk_from_anywhere(here, WalkError::Stub))
    }

    /// The frames from the first place above the stack pointer on that can be a return address, or from where the thread left Java.
    fn walk_from_anywhere(&mut self, here: RawFrame, error: WalkError) -> Result<(), WalkError> {
        let mut places = [None; 33];
        places[0] = self.anchored(here.sp).ok().flatten();
        self.fill(&mut places[1..], here.sp, here.fp);
        self.walk_from_one_of(places, error)
    }
}
