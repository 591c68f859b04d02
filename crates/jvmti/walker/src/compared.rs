//! The comparisons, and what came of them.

use std::cell::UnsafeCell;
use std::fmt::Write as _;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use jvmti::jni_sys::{JNIEnv, jint, jmethodID};
use jvmti::sys::jvmtiFrameInfo;
use jvmti::{Env, exported};
use libc::c_void;

use crate::sender::{self, Local};
use hotspot::walk::compare::{Match, VmFrame};
use hotspot::walk::{Frame, MAX_FRAMES, MethodNumber, RawStack, Registers, WalkError, Walker};

/// A frame of `AsyncGetCallTrace`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallFrame {
    bytecode_index: jint,
    method: jmethodID,
}

#[repr(C)]
struct CallTrace {
    jni: *mut JNIEnv,
    frames: jint,
    frame: *mut CallFrame,
}

/// The index of a frame of a native method.
const NATIVE: jint = -3;

type AsyncGetCallTrace = unsafe extern "C" fn(*mut CallTrace, jint, *mut c_void);

static FUNCTION: AtomicUsize = AtomicUsize::new(0);

/// Looks the VM's function up.
pub(crate) fn find() -> Result<(), String> {
    let function = exported(c"AsyncGetCallTrace").ok_or("this JVM has no AsyncGetCallTrace")?;
    FUNCTION.store(function.as_ptr() as usize, Ordering::Release);
    Ok(())
}

/// Room for the VM's frames of a thread.
pub(crate) fn frames() -> Box<[CallFrame]> {
    vec![CallFrame { bytecode_index: 0, method: null_mut() }; MAX_FRAMES].into()
}

/// Where the thread was stopped.
const PLACES: [&str; 5] = ["outside", "compiled", "native", "interpreter", "stub"];

/// What came of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
enum Outcome {
    Same,
    /// Neither has frames.
    BothEmpty,
    /// Ours is marked as cut off, and is the beginning of the VM's.
    Cut,
    /// Ours ends where a virtual thread begins, the VM's continues with its carrier.
    Carrier,
    /// The same methods, other lines.
    Lines,
    /// The walker has one more frame on top.
    OneMore,
    /// The walker has a frame less on top.
    OneLess,
    /// Ours begins as the VM's does, which ends later.
    Shorter,
    /// The VM's begins as ours does, which ends later.
    Longer,
    Differ,
    /// The walker failed, the VM did not.
    OursFails,
    /// The VM failed, the walker did not.
    VmFails,
    BothFail,
}

const OUTCOMES: [&str; 13] = [
    "same",
    "bothEmpty",
    "cut",
    "carrier",
    "lines",
    "oneMore",
    "oneLess",
    "shorter",
    "longer",
    "differ",
    "oursFails",
    "vmFails",
    "bothFail",
];

struct Counts {
    of: [[AtomicU64; OUTCOMES.len()]; PLACES.len()],
    frames: AtomicU64,
}

static ASYNC: Counts = Counts::new();
static JVMTI: Counts = Counts::new();
/// By place and error of ours.
static OUR_ERRORS: [[AtomicU64; WalkError::ALL.len()]; PLACES.len()] =
    [const { [const { AtomicU64::new(0) }; WalkError::ALL.len()] }; PLACES.len()];
/// By error of the VM, as a positive number, where ours has frames.
static VM_ERRORS: [AtomicU64; 16] = [const { AtomicU64::new(0) }; 16];

impl Counts {
    const fn new() -> Counts {
        Counts {
            of: [const { [const { AtomicU64::new(0) }; OUTCOMES.len()] }; PLACES.len()],
            frames: AtomicU64::new(0),
        }
    }
}

/// So many cases are kept of each outcome, and so many frames of each.
const KEPT: usize = 16;
const KEPT_FRAMES: usize = 40;
const KEPT_WORDS: usize = 24;

/// A case that was not as it should be: of a fixed size, since handlers write it.
struct Case {
    is_ready: AtomicBool,
    content: UnsafeCell<Content>,
}

#[derive(Clone, Copy)]
struct Content {
    is_jvmti: bool,
    error: Option<WalkError>,
    registers: Registers,
    our_length: usize,
    vm_length: jint,
    ours: [Option<Frame>; KEPT_FRAMES],
    vm: [Option<(MethodNumber, Option<usize>)>; KEPT_FRAMES],
    words: [usize; KEPT_WORDS],
}

const NOTHING: Content = Content {
    is_jvmti: false,
    error: None,
    registers: Registers { pc: 0, sp: 0, fp: 0, method: 0, bytecode: 0, result: 0, blocks_faults: false },
    our_length: 0,
    vm_length: 0,
    ours: [None; KEPT_FRAMES],
    vm: [None; KEPT_FRAMES],
    words: [0; KEPT_WORDS],
};

// SAFETY: the content is written by the one that has taken its number, and read once it is ready.
unsafe impl Sync for Case {}

impl Case {
    const fn new() -> Case {
        Case { is_ready: AtomicBool::new(false), content: UnsafeCell::new(NOTHING) }
    }
}

static CASES: [[Case; KEPT]; OUTCOMES.len()] = [const { [const { Case::new() }; KEPT] }; OUTCOMES.len()];
static CASES_OF: [AtomicUsize; OUTCOMES.len()] = [const { AtomicUsize::new(0) }; OUTCOMES.len()];

fn place_index(walker: &Walker, pc: usize) -> usize {
    PLACES.iter().position(|&place| place == walker.place(pc)).unwrap_or(0)
}

/// Compares two stacks, of which both exist. The VM's frames by index.
fn compare(walker: &Walker, ours: &RawStack, vm: &dyn Fn(usize) -> VmFrame, vm_length: usize) -> Outcome {
    let frames = ours.frames();
    if frames.is_empty() && vm_length == 0 {
        return Outcome::BothEmpty;
    }
    let matches = |ours_from: usize, vm_from: usize| {
        let length = (frames.len() - ours_from).min(vm_length - vm_from);
        let mut worst = Match::Same;
        for index in 0..length {
            match walker.compare(frames[ours_from + index], vm(vm_from + index)) {
                Match::Same => {}
                Match::OtherLine => worst = Match::OtherLine,
                Match::OtherMethod => return Match::OtherMethod,
            }
        }
        worst
    };
    let plain = matches(0, 0);
    if plain != Match::OtherMethod && frames.len() < vm_length {
        if ours.is_truncated() {
            return Outcome::Cut;
        }
        let next = walker.number(vm(frames.len())).and_then(|number| walker.method(number));
        if next.is_some_and(|names| names.name == b"enterSpecial") {
            return Outcome::Carrier;
        }
    }
    if plain != Match::OtherMethod {
        return match frames.len().cmp(&vm_length) {
            std::cmp::Ordering::Less => Outcome::Shorter,
            std::cmp::Ordering::Greater => Outcome::Longer,
            std::cmp::Ordering::Equal if plain == Match::Same => Outcome::Same,
            std::cmp::Ordering::Equal => Outcome::Lines,
        };
    }
    if frames.len() == vm_length + 1 && matches(1, 0) == Match::Same {
        return Outcome::OneMore;
    }
    if frames.len() + 1 == vm_length && matches(0, 1) == Match::Same {
        return Outcome::OneLess;
    }
    Outcome::Differ
}

/// The address of a `Method`, by its id.
fn method_of(id: jmethodID) -> usize {
    if id.is_null() {
        return 0;
    }
    // SAFETY: up to JDK 25 an id is the address of a word with that address, and the method has a frame.
    unsafe { id.cast::<usize>().read_volatile() }
}

/// In the handler: walks, lets the VM walk, and compares.
pub(crate) fn with_async(walker: &Walker, local: &mut Local, context: *mut c_void) {
    // SAFETY: the kernel passed it to the handler that runs.
    let registers = unsafe { Registers::of(context) };
    let done = walker.walk(&registers, Some(local.thread), &mut local.stack);
    let mut trace = CallTrace { jni: local.jni, frames: 0, frame: local.vm_frames.as_mut_ptr() };
    // SAFETY: the VM's function with its signature; ids of methods were made for it.
    unsafe {
        let function = std::mem::transmute::<usize, AsyncGetCallTrace>(FUNCTION.load(Ordering::Acquire));
        function(&raw mut trace, MAX_FRAMES as jint, context);
    }
    let vm_length = trace.frames;
    let frames = &local.vm_frames;
    let vm = |index: usize| {
        // The lock of a synchronized method is taken before its first bytecode: -1.
        let index_of = |index: jint| (index != NATIVE).then(|| usize::try_from(index).unwrap_or(0));
        VmFrame { method: method_of(frames[index].method), bytecode_index: index_of(frames[index].bytecode_index) }
    };
    let place = place_index(walker, registers.pc);
    let outcome = match (done, usize::try_from(vm_length)) {
        (Ok(()), Ok(length)) => compare(walker, &local.stack, &vm, length),
        (Ok(()), Err(_)) if local.stack.frames().is_empty() => Outcome::BothEmpty,
        (Ok(()), Err(_)) => Outcome::VmFails,
        (Err(_), Ok(length)) if length > 0 => Outcome::OursFails,
        (Err(_), _) => Outcome::BothFail,
    };
    if let Err(error) = done {
        OUR_ERRORS[place][error as usize].fetch_add(1, Ordering::Relaxed);
    }
    if outcome == Outcome::VmFails {
        VM_ERRORS[(-vm_length).clamp(0, 15) as usize].fetch_add(1, Ordering::Relaxed);
    }
    count(&ASYNC, place, outcome, &local.stack);
    if ![Outcome::Same, Outcome::BothEmpty, Outcome::Cut, Outcome::Carrier].contains(&outcome) {
        let content = Content { error: done.err(), registers, vm_length, ..NOTHING };
        keep(walker, outcome, content, &local.stack, &vm);
    }
}

/// In a callback of JVMTI.
pub(crate) fn with_jvmti(walker: &Walker, env: Env) {
    let mut raw = vec![jvmtiFrameInfo::default(); MAX_FRAMES];
    // SAFETY: null is the current thread.
    let Ok(found) = (unsafe { env.get_stack_trace(null_mut(), 0, &mut raw) }) else { return };
    let found = found.to_vec();
    sender::with(|local| {
        let registers = Registers::here();
        let done = walker.walk(&registers, Some(local.thread), &mut local.stack);
        let vm = |index: usize| VmFrame {
            method: method_of(found[index].method),
            bytecode_index: usize::try_from(found[index].location).ok(),
        };
        let outcome = match done {
            Ok(()) => compare(walker, &local.stack, &vm, found.len()),
            Err(_) => Outcome::OursFails,
        };
        count(&JVMTI, 0, outcome, &local.stack);
        if ![Outcome::Same, Outcome::BothEmpty, Outcome::Cut, Outcome::Carrier].contains(&outcome) {
            let vm_length = found.len() as jint;
            let content = Content { is_jvmti: true, error: done.err(), registers, vm_length, ..NOTHING };
            keep(walker, outcome, content, &local.stack, &vm);
        }
    });
}

fn count(counts: &Counts, place: usize, outcome: Outcome, stack: &RawStack) {
    counts.of[place][outcome as usize].fetch_add(1, Ordering::Relaxed);
    counts.frames.fetch_add(stack.frames().len() as u64, Ordering::Relaxed);
}

/// Keeps a case, if there is room.
fn keep(walker: &Walker, outcome: Outcome, mut content: Content, stack: &RawStack, vm: &dyn Fn(usize) -> VmFrame) {
    let index = CASES_OF[outcome as usize].fetch_add(1, Ordering::Relaxed);
    let Some(case) = CASES[outcome as usize].get(index) else { return };
    content.our_length = stack.frames().len();
    for (place, &frame) in content.ours.iter_mut().zip(stack.frames()) {
        *place = Some(frame);
    }
    let length = usize::try_from(content.vm_length).unwrap_or(0);
    for (index, place) in content.vm.iter_mut().enumerate().take(length) {
        let frame = vm(index);
        *place = walker.number(frame).map(|number| (number, frame.bytecode_index));
    }
    for (index, word) in content.words.iter_mut().enumerate() {
        *word = walker.word(content.registers.sp + index * 8).unwrap_or(0);
    }
    // SAFETY: nobody else has this number.
    unsafe { *case.content.get() = content };
    case.is_ready.store(true, Ordering::Release);
}

/// All that was found.
pub(crate) fn report(walker: &Walker) -> String {
    let mut text = String::new();
    for (name, counts) in [("async", &ASYNC), ("jvmti", &JVMTI)] {
        let mut all = 0;
        for (place, of_place) in PLACES.iter().zip(&counts.of) {
            for (outcome, number) in OUTCOMES.iter().zip(of_place) {
                let number = number.load(Ordering::Relaxed);
                all += number;
                if number > 0 {
                    let _ = writeln!(text, "{name} {place} {outcome} {number}");
                }
            }
        }
        let _ = writeln!(text, "{name} all all {all}");
        let _ = writeln!(text, "{name} all frames {}", counts.frames.load(Ordering::Relaxed));
    }
    for (place, of_place) in PLACES.iter().zip(&OUR_ERRORS) {
        for (error, number) in WalkError::ALL.iter().zip(of_place) {
            let number = number.load(Ordering::Relaxed);
            if number > 0 {
                let _ = writeln!(text, "ours {place} {} {number}", error.name());
            }
        }
    }
    for (error, number) in VM_ERRORS.iter().enumerate() {
        let number = number.load(Ordering::Relaxed);
        if number > 0 {
            let _ = writeln!(text, "vm all -{error} {number}");
        }
    }
    for (outcome, cases) in OUTCOMES.iter().zip(&CASES) {
        for case in cases.iter().filter(|case| case.is_ready.load(Ordering::Acquire)) {
            // SAFETY: a case that is ready is not written any more.
            show(walker, outcome, unsafe { &*case.content.get() }, &mut text);
        }
    }
    text
}

fn show(walker: &Walker, outcome: &str, case: &Content, text: &mut String) {
    let with = if case.is_jvmti { "jvmti" } else { "async" };
    let code = walker.code_name(case.registers.pc);
    let error = case.error.map_or("", WalkError::name);
    let _ = writeln!(text, "\n== {outcome} {with} {error} at {} {code:x?}", walker.place(case.registers.pc));
    let _ = writeln!(text, "{:x?}, ours {}, the VM's {}", case.registers, case.our_length, case.vm_length);
    let name = |number: MethodNumber| {
        walker.method(number).map_or("?".to_owned(), |names| {
            format!("{}.{}{}", utf8(names.class), utf8(names.name), utf8(names.signature))
        })
    };
    for index in 0..KEPT_FRAMES {
        let ours = case.ours[index].map(|frame| (frame.kind.letter(), name(frame.method), frame.line));
        let vm = case.vm[index].map(|(number, index)| (name(number), index));
        if ours.is_none() && vm.is_none() {
            break;
        }
        let same = matches!((&ours, &vm), (Some((_, ours, _)), Some((vm, _))) if ours == vm);
        let ours = ours.map_or("-".to_owned(), |(kind, name, line)| format!("{kind} {name}:{line}"));
        let vm = vm.map_or(
            "-".to_owned(),
            |(name, index)| if same { format!("@{index:?}") } else { format!("{name}@{index:?}") },
        );
        let _ = writeln!(text, "  {} {ours}    {vm}", if same { ' ' } else { '!' });
    }
    for (index, &word) in case.words.iter().enumerate() {
        if let Some((name, at)) = walker.code_name(word) {
            let _ = writeln!(text, "    [sp + {}] = {word:x} {name} + {at}", index * 8);
        }
    }
}

fn utf8(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}
