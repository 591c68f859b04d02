//! Heap dumps: when they are wanted, and how one is made.
//!
//! The JVM's own dumper writes all objects, roots and values in one pause, on every collector: a walk by JVM TI that tags all
//! objects takes five to ten times as long, and a hundred bytes for each (docs/heap-dumps.md). What the dump lacks is joined to
//! it by the addresses that objects have as long as nothing moves (`addresses`), behind the pause: `complete` puts ids and
//! allocation stacks into an HPROF file, `writer::dump` makes elements of the trace.
//!
//! All of it is done by a thread of the agent's own, so that nobody waits for a dump but who has to: a thread that ran out of
//! memory, and the end of the VM.

mod addresses;
mod complete;
pub(crate) mod id_map;
mod snapshot;
mod take;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jvmti::jni_sys::{JNIEnv, jint};
use jvmti::sys::{JVMTI_RESOURCE_EXHAUSTED_JAVA_HEAP, jvmtiEnv};
use jvmti::{Jni, guard};

use super::clock::Ticks;
use super::gc::GcNumber;
use super::{Agent, message, threads};
use agent_options::{DumpOptions, request_file};
pub(crate) use snapshot::{Base, DumpedClass, Snapshot};
use take::Taker;

/// The trigger file is looked for this often.
const WATCH: Duration = Duration::from_millis(200);

/// Why a heap is dumped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    End,
    OutOfMemory,
    Collection,
    Request,
}

impl Reason {
    /// What the dump is called in the trace.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Reason::End => "end",
            Reason::OutOfMemory => "oom",
            Reason::Collection => "gc",
            Reason::Request => "request",
        }
    }
}

#[derive(Default)]
struct State {
    wanted: Vec<Reason>,
    asked: u64,
    done: u64,
    /// One is being made.
    making: bool,
    /// No more are made.
    closed: bool,
}

/// Who wants dumps, and who makes them.
pub(crate) struct Dumps {
    state: Mutex<State>,
    changed: Condvar,
    out_of_memory: AtomicBool,
    /// Nothing later than this is written yet, lest the trace go on before the dump that is being made.
    barrier: AtomicU64,
    ready: Mutex<Vec<Snapshot>>,
}

impl Dumps {
    /// Dumps may be asked for if `ever` there are some.
    pub(crate) fn new(ever: bool) -> Dumps {
        Dumps {
            state: Mutex::new(State { closed: !ever, ..State::default() }),
            changed: Condvar::new(),
            out_of_memory: AtomicBool::new(false),
            barrier: AtomicU64::new(u64::MAX),
            ready: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for a dump; with `wait` returns when it is made.
    pub(crate) fn ask(&self, reason: Reason, wait: bool) {
        let mut state = self.lock();
        if state.closed {
            return;
        }
        state.wanted.push(reason);
        state.asked += 1;
        let mine = state.asked;
        self.changed.notify_all();
        while wait && !state.closed && state.done < mine {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Lets no more dumps be asked for, and waits for the one that is being made.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        self.changed.notify_all();
        while state.making {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next dump to make; `None` once closed.
    fn next(&self, trigger: Option<&PathBuf>) -> Option<Reason> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if !state.wanted.is_empty() {
                state.making = true;
                return Some(state.wanted.remove(0));
            }
            let Some(trigger) = trigger else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(state);
            if std::fs::remove_file(trigger).is_ok() {
                let mut state = self.lock();
                state.asked += 1;
                state.making = true;
                return Some(Reason::Request);
            }
            state = self.changed.wait_timeout(self.lock(), WATCH).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Events up to here may be written.
    pub(crate) fn horizon(&self, horizon: Ticks) -> Ticks {
        horizon.min(Ticks(self.barrier.load(Ordering::Acquire)))
    }

    /// Dumps for the trace, oldest first.
    pub(crate) fn take_ready(&self) -> Vec<Snapshot> {
        std::mem::take(&mut self.ready.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn hold_back(&self) {
        self.barrier.store(Ticks::now().0, Ordering::Release);
    }

    fn let_go(&self, snapshot: Option<Snapshot>) {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner).extend(snapshot);
        self.barrier.store(u64::MAX, Ordering::Release);
    }
}

/// A collection has ended: is it the one after which the heap is to be dumped?
pub(crate) fn collected(agent: &Agent, before: GcNumber, number: GcNumber) {
    if let Some(wanted) = agent.options.dump.when.collection
        && before.0 < wanted
        && wanted <= number.0
    {
        agent.dumps.ask(Reason::Collection, false);
    }
}

/// JVMTI `ResourceExhausted`: the first time that the heap is, waits until it is dumped.
///
/// # Safety
/// Called by the VM.
pub(crate) unsafe extern "system" fn resource_exhausted(
    _: *mut jvmtiEnv,
    _: *mut JNIEnv,
    flags: jint,
    _: *const std::ffi::c_void,
    _: *const std::ffi::c_char,
) {
    guard(|| {
        let Some(agent) = Agent::reporting() else { return };
        if flags & JVMTI_RESOURCE_EXHAUSTED_JAVA_HEAP as jint != 0
            && !agent.dumps.out_of_memory.swap(true, Ordering::Relaxed)
        {
            agent.dumps.ask(Reason::OutOfMemory, true);
        }
    });
}

/// Ends the wait of everybody, however the thread ends.
struct Closes(&'static Agent);

impl Drop for Closes {
    fn drop(&mut self) {
        self.0.dumps.let_go(None);
        let mut state = self.0.dumps.lock();
        (state.closed, state.making) = (true, false);
        drop(state);
        self.0.dumps.changed.notify_all();
    }
}

/// Makes dumps until the VM ends.
///
/// # Safety
/// Called by the VM, on a thread of the agent's.
pub(crate) unsafe extern "system" fn run(_: *mut jvmtiEnv, jni: *mut JNIEnv, _: *mut std::ffi::c_void) {
    guard(|| {
        let Some(agent) = Agent::get() else { return };
        // SAFETY: the VM passes this thread's environment.
        let jni = unsafe { Jni::from_raw(jni) };
        threads::mute();
        let _closes = Closes(agent);
        let DumpOptions { when, .. } = &agent.options.dump;
        let trigger = when.request.then(|| request_file(&agent.trace_path));
        // What was left of another run is no request to this one.
        trigger.iter().for_each(|path| drop(std::fs::remove_file(path)));
        let mut taker = match Taker::new(agent, jni) {
            Ok(taker) => taker,
            Err(problem) => return message(&format!("the heap cannot be dumped: {problem}")),
        };
        while let Some(reason) = agent.dumps.next(trigger.as_ref()) {
            if let Err(problem) = taker.take(agent, jni, reason) {
                agent.count_lost("heap dump", 1);
                message(&format!("the heap is not dumped: {problem}"));
            }
            let mut state = agent.dumps.lock();
            state.done += 1;
            state.making = false;
            drop(state);
            agent.dumps.changed.notify_all();
        }
    });
}
