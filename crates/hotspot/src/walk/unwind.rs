//! From frame to frame, outwards. Runs in signal handlers: every loop is bounded, every load may fail or lies in the thread's stack.
//!
//! Where the stopped code does not show where its caller is, several places are tried. One is right if from there every frame leads
//! to the next up to the stub by which the VM has called Java, for which each return address has to stand behind a call.

use super::Walker;
use super::code::{Code, Kind};
use super::error::WalkError;
use super::frame::{FrameKind, RawStack};
use super::registers::Registers;
use super::scopes::At;
use super::x86_64::{BEFORE, Call, call_before};

pub(super) const WORD: usize = size_of::<usize>();
/// In words from the frame pointer of an interpreted frame: its method, and the bytecode that it executes.
pub(super) const METHOD: usize = 3;
pub(super) const BYTECODE: usize = 8;
/// The stack pointer of its caller before the caller's frame was extended by arguments.
const SENDER_SP: usize = 1;
/// In words from the frame pointer of an entry frame: the `JavaCallWrapper`.
const CALL_WRAPPER: usize = 6;
/// So many frames are looked at in all, those of tries that failed too.
const MAX_STEPS: u32 = 16_384;
/// So deep tries may be within tries.
const MAX_DEPTH: u32 = 4;
/// So many words above the stack pointer are searched for the return address of a stub.
const STUB_WORDS: usize = 64;

/// A frame: the lowest address of it that its callee left, the address at which it continues, and the frame pointer there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RawFrame {
    pub(super) sp: usize,
    pub(super) pc: usize,
    pub(super) fp: usize,
}

/// A walk under way.
pub(super) struct Walk<'w> {
    pub(super) walker: &'w Walker,
    pub(super) stack: &'w mut RawStack,
    /// The `JavaThread`.
    pub(super) thread: usize,
    /// The part of the thread's stack that is in use.
    pub(super) low: usize,
    pub(super) base: usize,
    pub(super) steps: u32,
    pub(super) depth: u32,
}

impl<'w> Walk<'w> {
    /// A walk of the thread that was stopped with that stack pointer.
    pub(super) fn new(
        walker: &'w Walker,
        thread: usize,
        sp: usize,
        stack: &'w mut RawStack,
    ) -> Result<Walk<'w>, WalkError> {
        let base = walker.loads.word(thread + walker.layout.thread.stack_base).ok_or(WalkError::NotOnStack)?;
        let walk = Walk { walker, stack, thread, low: sp, base, steps: MAX_STEPS, depth: 0 };
        walk.holds(sp).then_some(walk).ok_or(WalkError::NotOnStack)
    }

    pub(super) fn holds(&self, address: usize) -> bool {
        address.is_multiple_of(WORD) && self.low <= address && address < self.base
    }

    /// The word at an address of the stack.
    pub(super) fn word(&self, address: usize) -> Option<usize> {
        if self.holds(address) { self.walker.loads.word(address) } else { None }
    }

    /// All frames from one on whose callee has been looked at, or that has none.
    pub(super) fn walk_from(&mut self, mut frame: RawFrame) -> Result<(), WalkError> {
        loop {
            self.steps = self.steps.checked_sub(1).ok_or(WalkError::TooLong)?;
            let code = self.walker.code(frame.pc).filter(|code| code.holds(frame.pc)).ok_or(WalkError::UnknownCode)?;
            let has_room = match code.kind {
                Kind::Java => self.walker.push_compiled(code, At::Return(self.valid_pc(code, frame)?), self.stack)?,
                Kind::Native => match self.push_native(code)? {
                    Some(has_room) => has_room,
                    None => return Ok(()),
                },
                Kind::Interpreter => self.push_interpreted(frame.fp, None)?,
                Kind::Barrier => {
                    self.stack.set_truncated();
                    return Ok(());
                }
                Kind::Stub => return self.walk_from_stub(frame, code),
                Kind::Entry | Kind::Upcall => true,
            };
            if !has_room {
                return Ok(());
            }
            let caller = match code.kind {
                Kind::Interpreter => self.caller_of_interpreted(frame.fp)?,
                Kind::Entry => match self.caller_of_entry(frame)? {
                    Some(caller) => caller,
                    None => return Ok(()),
                },
                Kind::Upcall => match self.caller_of_upcall(frame, code)? {
                    Some(caller) => caller,
                    None => return Ok(()),
                },
                _ => self.caller_by_size(frame, code).ok_or(WalkError::Order)?,
            };
            if caller.sp <= frame.sp {
                return Err(WalkError::Order);
            }
            frame = caller;
        }
    }

    /// The frames from the first of these places on from which the walk succeeds; `error` if there is none.
    pub(super) fn walk_from_one_of(
        &mut self,
        places: impl IntoIterator<Item = Option<RawFrame>>,
        error: WalkError,
    ) -> Result<(), WalkError> {
        if self.depth >= MAX_DEPTH {
            return Err(error);
        }
        let length = self.stack.frames().len();
        for place in places.into_iter().flatten() {
            self.depth += 1;
            let done = self.walk_from(place);
            self.depth -= 1;
            match done {
                Ok(()) => return Ok(()),
                // No other place can help.
                Err(WalkError::TableFull | WalkError::TooLong) => return done,
                Err(_) => self.stack.truncate(length),
            }
        }
        Err(error)
    }

    /// Where a frame of compiled code will continue, or would have, had its code not become invalid.
    fn valid_pc(&self, code: Code, frame: RawFrame) -> Result<usize, WalkError> {
        let layout = &self.walker.layout.compiled;
        if !layout.is_deopt_handler(self.walker.loads, code.blob, frame.pc) {
            return Ok(frame.pc);
        }
        let at = layout.original_pc_at(self.walker.loads, code.blob, frame.sp);
        let pc = at.and_then(|at| self.word(at)).ok_or(WalkError::Compiled)?;
        code.holds(pc).then_some(pc).ok_or(WalkError::Compiled)
    }

    /// Whether a call may return to that address: the call, if there is one.
    pub(super) fn call(&self, pc: usize) -> Option<Call> {
        let code = self.walker.code(pc).filter(|code| code.holds(pc))?;
        match code.kind {
            Kind::Interpreter | Kind::Entry | Kind::Barrier | Kind::Upcall => return self.call_in_front(pc),
            Kind::Java if self.walker.layout.compiled.is_deopt_handler(self.walker.loads, code.blob, pc) => {
                return Some(Call::Unknown);
            }
            Kind::Java | Kind::Native | Kind::Stub => {}
        }
        self.call_in_front(pc).filter(|&call| call != Call::None)
    }

    fn call_in_front(&self, pc: usize) -> Option<Call> {
        let mut before = [0; BEFORE];
        self.walker.loads.copy(pc - BEFORE, &mut before).then(|| call_before(&before, pc))
    }

    /// A frame that something returns to: its return address at `at`.
    pub(super) fn returned_to(&self, at: usize, fp: usize) -> Option<RawFrame> {
        let pc = self.word(at)?;
        self.call(pc)?;
        Some(RawFrame { sp: at + WORD, pc, fp })
    }

    /// The caller of code whose frame is complete.
    pub(super) fn caller_by_size(&self, frame: RawFrame, code: Code) -> Option<RawFrame> {
        if code.frame < 2 * WORD {
            return None;
        }
        let sp = frame.sp.checked_add(code.frame)?;
        // Compiled code saves the frame pointer next to the return address, in case its caller has one.
        self.returned_to(sp - WORD, self.word(sp - 2 * WORD)?)
    }

    /// The compiled code that a stub has stopped, not been called by: at a poll of a safepoint.
    fn stopped_by_size(&self, frame: RawFrame, code: Code) -> Option<RawFrame> {
        let sp = frame.sp.checked_add(code.frame).filter(|_| code.frame >= 2 * WORD)?;
        let caller = RawFrame { sp, pc: self.word(sp - WORD)?, fp: self.word(sp - 2 * WORD)? };
        let stopped = self.walker.code(caller.pc)?;
        (stopped.kind == Kind::Java && stopped.holds(caller.pc)).then_some(caller)
    }

    /// Puts a native method on the stack that compiled code calls: whether there is room for more. `None`: what follows is not the
    /// virtual thread's.
    pub(super) fn push_native(&mut self, code: Code) -> Result<Option<bool>, WalkError> {
        let walker = self.walker;
        let method = walker.layout.method.read(walker.loads, walker.method_of(code)?).ok_or(WalkError::Method)?;
        if walker.methods.number_of(walker.loads, &method)?.is_bottom {
            return Ok(None);
        }
        walker.push_method(method.address, FrameKind::Native, None, self.stack).map(Some)
    }

    /// Puts an interpreted frame on the stack; `bytecode` is the one that it executes, if that is known better than by the frame.
    pub(super) fn push_interpreted(&mut self, fp: usize, bytecode: Option<usize>) -> Result<bool, WalkError> {
        let walker = self.walker;
        let word = |words: usize| self.word(fp.checked_sub(words * WORD)?);
        let method = word(METHOD).and_then(|method| walker.layout.method.read(walker.loads, method));
        let method = method.ok_or(WalkError::Interpreter)?;
        if method.is_native {
            return walker.push_method(method.address, FrameKind::Native, None, self.stack);
        }
        let index = bytecode.and_then(|bytecode| method.index_of(bytecode));
        let index = index.or_else(|| method.index_of(word(BYTECODE)?));
        walker.push_method(method.address, FrameKind::Interpreted, index, self.stack)
    }

    pub(super) fn caller_of_interpreted(&self, fp: usize) -> Result<RawFrame, WalkError> {
        let sp = fp.checked_sub(SENDER_SP * WORD).and_then(|at| self.word(at));
        // The call of a method handle may have taken the last argument from the caller's stack: then it lies below.
        let sp = sp.filter(|&sp| self.holds(sp) && sp > fp).ok_or(WalkError::Order)?;
        let caller =
            self.returned_to(fp + WORD, self.word(fp).ok_or(WalkError::Order)?).ok_or(WalkError::UnknownCode)?;
        Ok(RawFrame { sp, ..caller })
    }

    pub(super) fn caller_of_entry(&self, frame: RawFrame) -> Result<Option<RawFrame>, WalkError> {
        let wrapper = frame.fp.checked_sub(CALL_WRAPPER * WORD).and_then(|at| self.word(at));
        let wrapper = wrapper.filter(|&wrapper| self.holds(wrapper) && wrapper > frame.sp).ok_or(WalkError::Anchor)?;
        self.left_java(wrapper + self.walker.layout.thread.wrapper_anchor)
    }

    fn caller_of_upcall(&self, frame: RawFrame, code: Code) -> Result<Option<RawFrame>, WalkError> {
        let at = self.walker.layout.blob.upcall_anchor.ok_or(WalkError::UnknownCode)?;
        let distance = self.walker.loads.u32(code.blob + at).ok_or(WalkError::UnknownCode)?;
        self.left_java(frame.sp + distance as usize)
    }

    /// The frame in which a thread left Java; `None` if it had not entered Java.
    pub(super) fn left_java(&self, anchor: usize) -> Result<Option<RawFrame>, WalkError> {
        let layout = &self.walker.layout.thread;
        let word = |at: usize| self.walker.loads.word(anchor + at).ok_or(WalkError::Anchor);
        let (sp, pc, fp) = (word(layout.sp)?, word(layout.pc)?, word(layout.fp)?);
        if sp == 0 {
            return Ok(None);
        }
        if !self.holds(sp) {
            return Err(WalkError::Anchor);
        }
        // Some stubs do not set it; then it is the address to which their call returns.
        let pc = if pc == 0 { self.word(sp - WORD).ok_or(WalkError::Anchor)? } else { pc };
        Ok(Some(RawFrame { sp, pc, fp }))
    }

    /// The frames that called a stub or adapter, which calls something else.
    fn walk_from_stub(&mut self, frame: RawFrame, code: Code) -> Result<(), WalkError> {
        let by_size = self.caller_by_size(frame, code).or_else(|| self.stopped_by_size(frame, code));
        if by_size.is_some() {
            return self.walk_from_one_of([by_size], WalkError::Stub);
        }
        let calls_it = |frame: &RawFrame, walk: &Walk<'_>| matches!(walk.call(frame.pc), Some(Call::Of(target)) if code.holds(target));
        let mut places = [None; STUB_WORDS];
        self.fill(&mut places, frame.sp, frame.fp);
        let sure = places.map(|place| place.filter(|place| calls_it(place, self)));
        self.walk_from_one_of(sure, WalkError::Stub).or_else(|_| self.walk_from_one_of(places, WalkError::Stub))
    }

    /// Frames to which the code that was stopped may return, by the words from `sp` on, and by the frame pointer.
    pub(super) fn fill(&self, places: &mut [Option<RawFrame>], sp: usize, fp: usize) {
        let [first, rest @ ..] = places else { return };
        *first = self.returned_to(sp, fp);
        let [second, rest @ ..] = rest else { return };
        *second = self.word(fp).and_then(|saved| self.returned_to(fp + WORD, saved));
        for (index, place) in rest.iter_mut().enumerate() {
            let at = sp + (index + 1) * WORD;
            // What saves the frame pointer does so next to the return address.
            *place = self.word(at - WORD).and_then(|saved| self.returned_to(at, saved));
        }
    }
}

/// Begins a walk.
pub(super) fn walk(
    walker: &Walker,
    thread: usize,
    registers: &Registers,
    stack: &mut RawStack,
) -> Result<(), WalkError> {
    let mut walk = Walk::new(walker, thread, registers.sp, stack)?;
    let done = walk.top(registers);
    if done.is_err() {
        walk.stack.truncate(0);
    }
    done
}
