//! One thread at a time is asked where it is: a signal to it, whose handler walks the thread's own stack.
//!
//! `on_signal` runs in a signal handler: no lock, no allocation, nothing of JVMTI. It is installed once and stays, since a signal may
//! still be on its way when nobody waits for it any more; without a request it does nothing.

use std::cell::UnsafeCell;
use std::ptr::null;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use libc::{c_int, c_void, siginfo_t};

use trace::time::Nanos;

use agent_base::clock::thread_cpu_nanos;
use agent_base::mutex::Mutex;
use agent_base::signals::SafeLoads;
use agent_base::signals::own::{OwnSignal, real_time_signals};
use hotspot::memory::JavaThread;
use hotspot::walk::{RawStack, Registers, WalkError, Walker};

/// A thread that does not answer in this time is in the kernel, or waits for a processor.
const PATIENCE: Duration = Duration::from_millis(20);

/// Where a thread was.
pub(crate) struct ThreadPosition {
    /// What it executed.
    pub(crate) pc: usize,
    /// Whether its Java frames were found, which are in the mailbox then.
    pub(crate) walked: Result<(), WalkError>,
    /// CPU time that it took to answer.
    pub(crate) took: Nanos,
}

/// Why a thread has not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// It has ended, or another library handles the signal.
    NotSent,
    /// It did not run within the time.
    Late,
    /// Another thread still answers an earlier request.
    Busy,
}

impl NoAnswer {
    /// Its name in the trace.
    pub(crate) fn name(self) -> &'static str {
        match self {
            NoAnswer::NotSent => "notSent",
            NoAnswer::Late => "noAnswer",
            NoAnswer::Busy => "busy",
        }
    }
}

/// What a request is about, and its answer. Written by the asking thread before the request is posted, and by the handler before it
/// is answered.
struct Request {
    thread: JavaThread,
    place: ThreadPosition,
    stack: RawStack,
}

/// The stages of a request, in the low bits of `STAGE`; the bits above count requests.
const FREE: u64 = 0;
const POSTED: u64 = 1;
const WALKING: u64 = 2;
const ANSWERED: u64 = 3;
const STAGES: u64 = 4;

struct Shared(UnsafeCell<Request>);

// SAFETY: `STAGE` says who may use it: who asks, whose turn it is, while it is free or answered, the handler while it walks.
unsafe impl Sync for Shared {}

static REQUEST: Shared = Shared(UnsafeCell::new(Request {
    thread: JavaThread(0),
    place: ThreadPosition { pc: 0, walked: Ok(()), took: Nanos(0) },
    stack: RawStack::empty(),
}));
static STAGE: AtomicU64 = AtomicU64::new(FREE);
/// How many answers there have been: whoever waits for one waits for this to change.
static ANSWERS: AtomicU32 = AtomicU32::new(0);
/// The system's number of the thread that is asked.
static ASKED: AtomicUsize = AtomicUsize::new(0);
static WALKER: AtomicPtr<Walker> = AtomicPtr::new(std::ptr::null_mut());

/// One thread asks at a time.
static TURN: Mutex<()> = Mutex::new(());

/// A way to ask; each feature that asks has its own.
pub(crate) struct Mailbox {
    signal: OwnSignal,
    loads: SafeLoads,
}

impl Mailbox {
    /// Installs the handler of a signal that nobody else handles.
    ///
    /// # Errors
    /// Why that is not possible: part of a sentence.
    pub(crate) fn open(walker: &'static Walker, loads: SafeLoads) -> Result<Mailbox, String> {
        WALKER.store(std::ptr::from_ref(walker).cast_mut(), Ordering::Release);
        // The last ones are the least used.
        let signal = OwnSignal::claim(real_time_signals().rev(), on_signal)?;
        Ok(Mailbox { signal, loads })
    }

    /// Asks a thread of this process that lives where it is, and hands the answer to `visit`.
    ///
    /// # Errors
    /// Why there is no answer.
    pub(crate) fn ask<T>(
        &mut self,
        tid: libc::pid_t,
        java: JavaThread,
        visit: impl FnOnce(&ThreadPosition, &RawStack) -> T,
    ) -> Result<T, NoAnswer> {
        let _turn = TURN.lock();
        let stage = STAGE.load(Ordering::Acquire);
        match stage % STAGES {
            // An answer that came too late.
            FREE | ANSWERED => {}
            _ => return Err(NoAnswer::Busy),
        }
        if !self.signal.is_handled_by(on_signal) {
            return Err(NoAnswer::NotSent);
        }
        // Else the walk fails by name.
        self.loads.check();
        let number = stage / STAGES + 1;
        // SAFETY: no handler uses it in this stage, and it is this thread's turn.
        unsafe { (*REQUEST.0.get()).thread = java };
        ASKED.store(tid as usize, Ordering::Relaxed);
        let (posted, answers) = (number * STAGES + POSTED, ANSWERS.load(Ordering::Relaxed));
        STAGE.store(posted, Ordering::Release);
        // SAFETY: a signal whose handler is ours, to a thread of this process.
        let is_sent = unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), tid, self.signal.number()) } == 0;
        let begun = Instant::now();
        let mut left = Some(PATIENCE);
        while is_sent && STAGE.load(Ordering::Acquire) != number * STAGES + ANSWERED {
            let Some(time) = left else { break };
            wait_for_answer(answers, time);
            left = PATIENCE.checked_sub(begun.elapsed());
        }
        let free = number * STAGES + FREE;
        if STAGE.compare_exchange(posted, free, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            return Err(if is_sent { NoAnswer::Late } else { NoAnswer::NotSent });
        }
        if STAGE.load(Ordering::Acquire) != number * STAGES + ANSWERED {
            return Err(NoAnswer::Late);
        }
        // SAFETY: the handler has answered, and does not use it any more.
        let request = unsafe { &*REQUEST.0.get() };
        let seen = visit(&request.place, &request.stack);
        STAGE.store(free, Ordering::Release);
        Ok(seen)
    }
}

/// Waits until there is another number of answers, or for that time.
fn wait_for_answer(answers: u32, time: Duration) {
    let time = libc::timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos() as i64 };
    let wait = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word is there for ever. Whatever ends the waiting, the caller looks again.
    unsafe { libc::syscall(libc::SYS_futex, ANSWERS.as_ptr(), wait, answers, &raw const time, null::<u32>(), 0) };
}

/// The thread that is asked answers.
unsafe extern "C" fn on_signal(_: c_int, _: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: no argument. It does not fail, so it leaves this thread's errno as it is.
    let own = unsafe { libc::syscall(libc::SYS_gettid) };
    let stage = STAGE.load(Ordering::Acquire);
    if stage % STAGES != POSTED || ASKED.load(Ordering::Relaxed) != own as usize {
        return;
    }
    let number = stage / STAGES;
    if STAGE.compare_exchange(stage, number * STAGES + WALKING, Ordering::AcqRel, Ordering::Acquire).is_err() {
        return;
    }
    let before = thread_cpu_nanos();
    // SAFETY: nobody else uses the request in this stage; the walker lives for ever; the kernel passes the context of this thread.
    unsafe {
        let request = &mut *REQUEST.0.get();
        let registers = Registers::of(context);
        request.place.pc = registers.pc;
        if let Some(walker) = WALKER.load(Ordering::Acquire).as_ref() {
            request.place.walked = walker.walk(&registers, Some(request.thread), &mut request.stack);
        }
        request.place.took = Nanos(thread_cpu_nanos().saturating_sub(before));
    }
    STAGE.store(number * STAGES + ANSWERED, Ordering::Release);
    ANSWERS.fetch_add(1, Ordering::Release);
    // SAFETY: the word is there for ever. It does not fail.
    unsafe { libc::syscall(libc::SYS_futex, ANSWERS.as_ptr(), libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1) };
}
