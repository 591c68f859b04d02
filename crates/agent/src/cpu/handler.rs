//! The handler of the sampling signal. Runs in a signal handler, on whatever thread and in the middle of whatever that does: no lock,
//! no allocation, no thread-local storage, no formatting, little stack.
//!
//! Meanwhile the signal is blocked, so that it does not interrupt itself.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use libc::{c_int, c_void, siginfo_t};

use super::sample::{self, Sample, VmState};
use super::signal::{Purpose, SignalValue};
use super::slots::Slots;
use super::system_call::is_in_kernel;
use super::tasks::{Task, TaskRef, Tasks};
use agent_base::clock::Ticks;
use agent_base::mutex::Mutex;
use agent_base::signals::SafeLoads;
use agent_core::core::current::Current;
use hotspot::walk::{Registers, Walker};

/// The code of a signal that the kernel itself has sent, as by the timer of a process.
const SI_KERNEL: c_int = 0x80;

/// What the handler works with. It is never freed, but used by one recording after the other ([`Unused`]).
pub(super) struct Handled {
    pub(super) tasks: Tasks,
    pub(super) slots: Slots<Sample>,
    pub(super) walker: &'static Walker,
    pub(super) loads: SafeLoads,
    /// False: signals that still come are dropped.
    pub(super) is_active: AtomicBool,
    /// Whether the timer of the whole process runs, whose signals name no thread.
    pub(super) by_process: AtomicBool,
    /// Intervals of that timer that hit a thread which is not known.
    pub(super) unknown: AtomicU64,
    /// Signals that found no memory for their sample.
    pub(super) unwritten: AtomicU64,
}

/// The one of the current recording.
pub(super) static CURRENT: Current<Handled> = Current::none();

/// Handlers that run at present.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// What recordings have used that are over.
#[derive(Default)]
pub(super) struct Unused(Mutex<Vec<&'static Handled>>);

impl Unused {
    /// Nothing is sampled with it any more.
    pub(super) fn add(&self, handled: &'static Handled) {
        self.0.lock().push(handled);
    }

    /// One that is as new.
    pub(super) fn take(&self) -> Option<&'static Handled> {
        // A handler that came late may still fill a slot. One that comes from now on finds that it is not active.
        if RUNNING.load(Ordering::SeqCst) > 0 {
            return None;
        }
        let handled = self.0.lock().pop()?;
        handled.slots.drain(|_| ());
        handled.by_process.store(false, Ordering::Relaxed);
        handled.unknown.store(0, Ordering::Relaxed);
        handled.unwritten.store(0, Ordering::Relaxed);
        handled.is_active.store(true, Ordering::SeqCst);
        Some(handled)
    }
}

/// The handler.
///
/// # Safety
/// The kernel calls it, with the data of the signal and the registers of the thread.
pub(super) unsafe extern "C" fn on_signal(_: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the place of the thread's error number, which the program may be about to read.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *errno };
    RUNNING.fetch_add(1, Ordering::SeqCst);
    if let Some(handled) = CURRENT.get().filter(|handled| handled.is_active.load(Ordering::SeqCst)) {
        // SAFETY: by the caller's promise.
        unsafe { handled.signal(info, context) };
    }
    RUNNING.fetch_sub(1, Ordering::SeqCst);
    // SAFETY: as above.
    unsafe { *errno = before };
}

impl Handled {
    /// One for ever; `None` if the system gives no memory for samples.
    pub(super) fn new(walker: &'static Walker, loads: SafeLoads) -> Option<&'static Handled> {
        Some(Box::leak(Box::new(Handled {
            tasks: Tasks::new(),
            slots: Slots::new(&sample::EMPTY)?,
            walker,
            loads,
            is_active: AtomicBool::new(true),
            by_process: AtomicBool::new(false),
            unknown: AtomicU64::new(0),
            unwritten: AtomicU64::new(0),
        })))
    }

    /// # Safety
    /// As for `on_signal`.
    unsafe fn signal(&self, info: *mut siginfo_t, context: *mut c_void) {
        // SAFETY: by the caller's promise.
        let (code, value) = unsafe { ((*info).si_code, SignalValue::of_pointer((*info).si_value().sival_ptr)) };
        match code {
            libc::SI_TIMER => {
                // SAFETY: a timer's signal carries its overruns.
                let missed = unsafe { overruns(info) };
                if let (place, Purpose::Cpu) = value.split() {
                    // SAFETY: by the caller's promise.
                    unsafe { self.of_place(place, Purpose::Cpu, 1 + missed, context) };
                }
            }
            libc::SI_QUEUE => {
                if let (place, purpose @ Purpose::Wall) = value.split() {
                    // SAFETY: by the caller's promise.
                    unsafe { self.of_place(place, purpose, 0, context) };
                }
            }
            SI_KERNEL if self.by_process.load(Ordering::Relaxed) => {
                // SAFETY: no argument.
                let tid = unsafe { libc::gettid() };
                match self.tasks.of_tid(tid) {
                    // SAFETY: by the caller's promise.
                    Some(task) => unsafe { self.sample(task, Purpose::Cpu, 1, context) },
                    None => {
                        self.unknown.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
            // Somebody else has sent it.
            _ => {}
        }
    }

    /// # Safety
    /// As for `on_signal`.
    unsafe fn of_place(&self, place: TaskRef, purpose: Purpose, intervals: u64, context: *mut c_void) {
        if let Some(task) = self.tasks.get(place) {
            // SAFETY: by the caller's promise.
            unsafe { self.sample(task, purpose, intervals, context) };
        }
    }

    /// # Safety
    /// As for `on_signal`; `task` is the current thread.
    unsafe fn sample(&self, task: &Task, purpose: Purpose, intervals: u64, context: *mut c_void) {
        let time = Ticks::now();
        task.intervals.fetch_add(intervals, Ordering::Relaxed);
        let Some(mut taken) = self.slots.take() else {
            task.unwritten.fetch_add(intervals, Ordering::Relaxed);
            self.unwritten.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let sample = self.slots.value(&mut taken);
        // SAFETY: the registers that the kernel has passed.
        let registers = unsafe { Registers::of(context) };
        sample.purpose = purpose;
        sample.who = task.who();
        sample.mounted = task.mounted();
        sample.time = time;
        sample.amount = match purpose {
            Purpose::Cpu => intervals,
            Purpose::Wall => time.0.saturating_sub(task.looked.swap(time.0, Ordering::Relaxed)),
        };
        sample.pc = registers.pc;
        // A load may not fail while another handler of faults is installed, or this thread blocks it.
        let loads = Some(self.loads).filter(|loads| loads.is_intact() && !registers.blocks_faults);
        sample.in_kernel = loads.is_some_and(|loads| is_in_kernel(loads, registers.pc));
        sample.state = loads.zip(task.state()).and_then(|(loads, state)| loads.u32(state)).map(VmState);
        sample.walked = self.walker.walk(&registers, task.java_thread(), &mut sample.stack);
        self.slots.publish(taken);
    }
}

/// How often a timer has fired while its signal waited.
///
/// # Safety
/// The data of a timer's signal.
unsafe fn overruns(info: *const siginfo_t) -> u64 {
    /// Bytes to `si_overrun`, on processors of 64 bits.
    const AT: usize = 20;
    // SAFETY: by the caller's promise.
    let overruns = unsafe { info.byte_add(AT).cast::<c_int>().read() };
    overruns.max(0) as u64
}
