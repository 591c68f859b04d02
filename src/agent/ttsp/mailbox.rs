//! One thread at a time is asked where it is: a signal to it, whose handler walks the thread's own stack.
//!
//! `on_signal` runs in a signal handler: no lock, no allocation, nothing of JVMTI. It is installed once and stays, since a signal may
//! still be on its way when nobody waits for it any more; without a request it does nothing.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use libc::{c_int, c_void, siginfo_t};

use crate::agent::hotspot::memory::JavaThread;
use crate::agent::hotspot::walk::{RawStack, Registers, WalkError, Walker};
use crate::agent::signals::SafeLoads;

/// So many of the last signals.
const OF_THE_JDK: c_int = 3;
/// A thread that does not answer in this time is in the kernel, or waits for a processor.
const PATIENCE: Duration = Duration::from_millis(20);
/// How often it is looked whether it has answered.
const LOOK: Duration = Duration::from_micros(50);

/// Where a thread was.
pub(super) struct Place {
    /// What it executed.
    pub(super) pc: usize,
    /// Whether its Java frames were found, which are in the mailbox then.
    pub(super) walked: Result<(), WalkError>,
}

/// Why a thread has not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoAnswer {
    /// It has ended, or another library handles the signal.
    NotSent,
    /// It did not run within the time.
    Late,
    /// Another thread still answers an earlier request.
    Busy,
}

impl NoAnswer {
    /// Its name in the trace.
    pub(super) fn name(self) -> &'static str {
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
    place: Place,
    stack: RawStack,
}

/// The stages of a request, in the low bits of `STAGE`; the bits above count requests.
const FREE: u64 = 0;
const POSTED: u64 = 1;
const WALKING: u64 = 2;
const ANSWERED: u64 = 3;
const STAGES: u64 = 4;

struct Shared(UnsafeCell<Request>);

// SAFETY: `STAGE` says who may use it: the asking thread while it is free or answered, the handler while it walks.
unsafe impl Sync for Shared {}

static REQUEST: Shared = Shared(UnsafeCell::new(Request {
    thread: JavaThread(0),
    place: Place { pc: 0, walked: Ok(()) },
    stack: RawStack::new(),
}));
static STAGE: AtomicU64 = AtomicU64::new(FREE);
/// The system's number of the thread that is asked.
static ASKED: AtomicUsize = AtomicUsize::new(0);
static WALKER: AtomicPtr<Walker> = AtomicPtr::new(std::ptr::null_mut());

/// The one mailbox; the asking thread has it.
pub(super) struct Mailbox {
    signal: c_int,
    loads: SafeLoads,
}

impl Mailbox {
    /// Installs the handler of a signal that nobody else handles.
    ///
    /// # Errors
    /// Why that is not possible: part of a sentence.
    pub(super) fn open(walker: &'static Walker, loads: SafeLoads) -> Result<Mailbox, &'static str> {
        WALKER.store(std::ptr::from_ref(walker).cast_mut(), Ordering::Release);
        // The last ones are the JDK's own, those in front of them the least used.
        let mut signals = (libc::SIGRTMIN() + 1..=libc::SIGRTMAX() - OF_THE_JDK).rev();
        let free = signals.find(|&signal| is_ours(signal) || handler(signal) == Some(libc::SIG_DFL));
        let signal = free.ok_or("no signal is free")?;
        // SAFETY: all zeros are a value of the action, which has a handler of the kind that its flags name.
        let is_installed = is_ours(signal)
            || unsafe {
                let mut action = std::mem::zeroed::<libc::sigaction>();
                action.sa_sigaction = on_signal as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
                libc::sigaction(signal, &raw const action, std::ptr::null_mut()) == 0
            };
        if is_installed { Ok(Mailbox { signal, loads }) } else { Err("the system refuses a signal handler") }
    }

    /// Asks a thread of this process that lives where it is, and hands the answer to `visit`.
    ///
    /// # Errors
    /// Why there is no answer.
    pub(super) fn ask<T>(
        &mut self,
        tid: libc::pid_t,
        java: JavaThread,
        visit: impl FnOnce(&Place, &RawStack) -> T,
    ) -> Result<T, NoAnswer> {
        let stage = STAGE.load(Ordering::Acquire);
        match stage % STAGES {
            // An answer that came too late.
            FREE | ANSWERED => {}
            _ => return Err(NoAnswer::Busy),
        }
        if !is_ours(self.signal) {
            return Err(NoAnswer::NotSent);
        }
        // Else the walk fails by name.
        self.loads.check();
        let number = stage / STAGES + 1;
        // SAFETY: no handler uses it in this stage, and there is one asking thread.
        unsafe { (*REQUEST.0.get()).thread = java };
        ASKED.store(tid as usize, Ordering::Relaxed);
        let posted = number * STAGES + POSTED;
        STAGE.store(posted, Ordering::Release);
        // SAFETY: a signal whose handler is ours, to a thread of this process.
        let is_sent = unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), tid, self.signal) } == 0;
        let begun = Instant::now();
        while is_sent && begun.elapsed() < PATIENCE && STAGE.load(Ordering::Acquire) != number * STAGES + ANSWERED {
            std::thread::sleep(LOOK);
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

fn handler(signal: c_int) -> Option<usize> {
    // SAFETY: the kernel fills in the action, of which all zeros are a value.
    unsafe {
        let mut action = std::mem::zeroed::<libc::sigaction>();
        (libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0).then_some(action.sa_sigaction)
    }
}

fn is_ours(signal: c_int) -> bool {
    handler(signal) == Some(on_signal as *const () as usize)
}

/// The thread that is asked answers.
extern "C" fn on_signal(_: c_int, _: *mut siginfo_t, context: *mut c_void) {
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
    // SAFETY: nobody else uses the request in this stage; the walker lives for ever; the kernel passes the context of this thread.
    unsafe {
        let request = &mut *REQUEST.0.get();
        let registers = Registers::of(context);
        request.place.pc = registers.pc;
        if let Some(walker) = WALKER.load(Ordering::Acquire).as_ref() {
            request.place.walked = walker.walk(&registers, Some(request.thread), &mut request.stack);
        }
    }
    STAGE.store(number * STAGES + ANSWERED, Ordering::Release);
}
