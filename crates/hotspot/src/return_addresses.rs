//! A key that identifies the calling thread's stack, read from the stack itself: the return addresses of compiled methods, with
//! the numbers of their compilations, and method and instruction of interpreted ones.
//!
//! `GetStackTrace` takes 1.5 to 2 microseconds above compiled code, and `AsyncGetCallTrace` does not work there (docs/internals/hotspot.md).
//! But where the return addresses are the same as before, in the same code, the frames are the same too, and the VM need not be
//! asked. The layout of frames follows from HotSpot's calling convention (`frame_x86.hpp`), the same in JDK 11 to 25; the sizes
//! of those of compiled methods are in the code cache.

use std::ptr::null_mut;

use jvmti::sys::jvmtiFrameInfo;
use jvmti::{Env, Field, Jni};

use super::code_cache::{CodeCache, CodeKind, Pc, static_word};
use super::comparisons::Comparisons;
use super::doubtful;
use super::memory::{JavaThread, load, load_u32};

const WORD: usize = size_of::<usize>();
/// No stack is larger.
const MAX_STACK: usize = 1 << 40;
/// In words from the frame pointer of an interpreted frame: its method, and the bytecode that it executes.
const METHOD: usize = 3;
const BYTECODE: usize = 8;
/// The stack pointer of its caller before the caller's frame was extended by arguments.
const SENDER_SP: usize = 1;
/// In words from the frame pointer of an entry frame: the `JavaCallWrapper`.
const CALL_WRAPPER: usize = 6;
/// Marks words of a key that are places in compiled code or stubs; the others are addresses of methods and bytecodes.
const CODE_PLACE: u64 = 1 << 63;

/// Where HotSpot keeps what is needed: offsets in bytes.
#[derive(Debug)]
pub struct StackLayout {
    code: CodeCache,
    /// From a `JavaThread` to the JNI environment inside it.
    env: usize,
    stack_base: usize,
    /// From a `JavaThread` to its anchor, and from a `JavaCallWrapper`.
    anchor: usize,
    wrapper_anchor: usize,
    /// In an anchor: where the thread left Java.
    sp: usize,
    pc: usize,
    fp: usize,
    /// The address at which the VM counts its collections.
    collections: usize,
    /// How often cached stacks were compared with those of JVMTI.
    pub comparisons: Comparisons,
}

/// A frame: its lowest address, the address at which it continues, and its frame pointer, which only some frames have.
#[derive(Clone, Copy)]
struct RawFrame {
    sp: usize,
    pc: Pc,
    fp: usize,
}

/// How long a key identifies its stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyValidity {
    /// No other stack will ever have it.
    Forever,
    /// Once a class is unloaded, the address of one of its methods can become that of another.
    UntilCollection,
}

impl StackLayout {
    /// The layout of this VM, if the processor is x86-64 and the VM exports all that is needed.
    pub(crate) fn find(env: Env, jni: Jni, current: JavaThread) -> Option<StackLayout> {
        if cfg!(not(target_arch = "x86_64")) {
            return None;
        }
        let thread = |name| Field::offset_of(c"JavaThread", name).or_else(|| Field::offset_of(c"Thread", name));
        let anchor = |name| Field::offset_of(c"JavaFrameAnchor", name);
        let layout = StackLayout {
            code: CodeCache::find()?,
            env: (jni.as_raw() as usize).checked_sub(current.0)?,
            stack_base: thread(c"_stack_base")?,
            anchor: thread(c"_anchor")?,
            wrapper_anchor: Field::offset_of(c"JavaCallWrapper", c"_anchor")?,
            sp: anchor(c"_last_Java_sp")?,
            pc: anchor(c"_last_Java_pc")?,
            fp: anchor(c"_last_Java_fp")?,
            collections: static_word(c"Universe", c"_collectedHeap")?
                + Field::offset_of(c"CollectedHeap", c"_total_collections")?,
            comparisons: Comparisons::new(),
        };
        layout.holds(env, current).then_some(layout)
    }

    /// Whether the layout holds for the current thread: it is where the VM says, and has left Java if JVMTI sees frames.
    fn holds(&self, env: Env, current: JavaThread) -> bool {
        let Some(base) = doubtful::word(current.0 + self.stack_base) else { return false };
        let stack = Stack { low: (&raw const base) as usize, base };
        let Some(sp) = doubtful::word(current.0 + self.anchor + self.sp) else { return false };
        // SAFETY: null is the current thread.
        let frames =
            unsafe { env.get_stack_trace(null_mut(), 0, &mut [jvmtiFrameInfo::default()]).map(|frames| frames.len()) };
        doubtful::half(self.collections).is_some()
            && stack.low < stack.base
            && stack.base - stack.low < MAX_STACK
            && match frames {
                Ok(0) => sp == 0,
                Ok(_) => stack.holds(sp),
                Err(_) => false,
            }
    }

    /// How often the VM has collected. It counts those collections too that it makes without an event, before a heap dump or a
    /// histogram of classes that somebody asks for.
    pub fn collections(&self) -> u32 {
        // SAFETY: the heap is never freed; `holds` has read the word.
        unsafe { load_u32(self.collections) }
    }

    /// Reads the calling thread's innermost `max_frames` frames of Java into `key`, which no other stack has then. `None` if
    /// the stack cannot be identified in this way.
    ///
    /// The thread is in native code that Java code or the VM called.
    pub fn read(&self, jni: Jni, max_frames: usize, key: &mut Vec<u64>) -> Option<KeyValidity> {
        if self.comparisons.mismatches() > 0 {
            return None;
        }
        let mut validity = KeyValidity::Forever;
        let thread = jni.as_raw() as usize - self.env;
        // SAFETY: the current thread lives.
        let base = unsafe { load(thread + self.stack_base) };
        let stack = Stack { low: (&raw const validity) as usize, base };
        // SAFETY: as above.
        let Some(mut frame) = (unsafe { self.left_java(thread + self.anchor, stack) })? else { return Some(validity) };
        let mut is_first = true;
        let mut number = 0;
        while number < max_frames {
            let code = self.code.code(frame.pc)?;
            let place = CODE_PLACE | (self.code.distance(frame.pc) as u64) << 32;
            frame = match code {
                CodeKind::Compiled { frame: bytes, id } => {
                    key.push(place | u64::from(id));
                    number += 1;
                    stack.caller(frame, bytes)?
                }
                CodeKind::Stub { frame: bytes } if is_first => {
                    key.push(place);
                    stack.caller(frame, bytes)?
                }
                CodeKind::Stub { .. } => return None,
                CodeKind::Interpreter => {
                    validity = KeyValidity::UntilCollection;
                    let word = |words: usize| stack.word(frame.fp.checked_sub(words * WORD)?);
                    key.extend([word(METHOD)? as u64, word(BYTECODE)? as u64]);
                    number += 1;
                    let caller = RawFrame {
                        sp: word(SENDER_SP)?,
                        pc: Pc(stack.word(frame.fp + WORD)?),
                        fp: stack.word(frame.fp)?,
                    };
                    (caller.sp > frame.sp).then_some(caller)?
                }
                CodeKind::Entry => {
                    key.push(place);
                    let wrapper = stack.word(frame.fp.checked_sub(CALL_WRAPPER * WORD)?)?;
                    if !stack.holds(wrapper) || wrapper <= frame.sp {
                        return None;
                    }
                    // SAFETY: the wrapper is a variable of the VM's function that called Java, which has not returned.
                    match unsafe { self.left_java(wrapper + self.wrapper_anchor, stack) }? {
                        Some(caller) if caller.sp > frame.sp => {
                            is_first = true;
                            frame = caller;
                            continue;
                        }
                        Some(_) => return None,
                        None => break,
                    }
                }
            };
            is_first = false;
        }
        Some(validity)
    }

    /// The frame in which a thread left Java; `Some(None)` if it had not entered Java, `None` if the anchor makes no sense.
    ///
    /// # Safety
    /// At that address is an anchor of the current thread.
    unsafe fn left_java(&self, anchor: usize, stack: Stack) -> Option<Option<RawFrame>> {
        // SAFETY: by the caller's promise.
        let (sp, pc, fp) = unsafe { (load(anchor + self.sp), load(anchor + self.pc), load(anchor + self.fp)) };
        if sp == 0 {
            return Some(None);
        }
        // Some stubs do not set it; then it is the address to which their call returns.
        let pc = if pc == 0 { stack.word(sp.checked_sub(WORD)?)? } else { pc };
        stack.holds(sp).then_some(Some(RawFrame { sp, pc: Pc(pc), fp }))
    }
}

/// The part of the calling thread's stack that its callers use.
#[derive(Clone, Copy)]
struct Stack {
    low: usize,
    base: usize,
}

impl Stack {
    fn holds(self, address: usize) -> bool {
        address.is_multiple_of(WORD) && self.low <= address && address < self.base
    }

    fn word(self, address: usize) -> Option<usize> {
        // SAFETY: an aligned word of the thread's own stack.
        self.holds(address).then(|| unsafe { load(address) })
    }

    /// The caller of compiled code whose frame takes so many bytes.
    fn caller(self, frame: RawFrame, bytes: usize) -> Option<RawFrame> {
        let sp = frame.sp.checked_add(bytes)?;
        // Compiled code saves the frame pointer next to the return address, in case its caller has one.
        Some(RawFrame { sp, pc: Pc(self.word(sp - WORD)?), fp: self.word(sp - 2 * WORD)? })
    }
}
