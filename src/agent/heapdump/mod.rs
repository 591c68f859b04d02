//! Heap dumps: when one is made, and how.
//!
//! The JVM's own dumper writes all objects, roots and values in one pause, on every collector: a walk by JVMTI that tags all
//! objects takes five to ten times as long, and a hundred bytes for each. What the dump lacks is added after the pause, by the
//! addresses that objects have as long as none moves (`addresses`): `complete` puts ids and allocation stacks into an HPROF
//! file, `trace_out::heap_dump` makes elements of the trace.
//!
//! All of it is done by a thread of the agent's own (`take`), so that only two wait for a dump: a thread that ran out of
//! memory, and the end of the VM.

mod addresses;
mod complete;
mod data;
pub(crate) mod id_map;
mod take;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agent_options::{DumpOptions, request_file};
use jvmti::jni_sys::{JNIEnv, jint};
use jvmti::sys::{JVMTI_EVENT_RESOURCE_EXHAUSTED, JVMTI_RESOURCE_EXHAUSTED_JAVA_HEAP, jvmtiEnv, jvmtiEventCallbacks};
use jvmti::{Jni, guard};

use super::agent_thread;
use super::clock::Ticks;
use super::core::Core;
use super::core::context::Entry;
use super::core::current::Current;
use super::core::feature::{End, Feature};
use super::ids::GcNumber;
use super::message::message;
use take::DumpMaker;

pub(crate) use data::{DumpData, DumpedClass, VmDump};

/// How often the request file is looked for.
const REQUEST_INTERVAL: Duration = Duration::from_millis(200);

/// Why a heap is dumped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    End,
    OutOfMemory,
    Collection,
    Request,
}

impl Reason {
    /// The name of the dump in the trace.
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

/// The feature: dumps that are wanted, and those that are made.
pub(crate) struct HeapDumps {
    core: &'static Core,
    state: Mutex<State>,
    changed: Condvar,
    out_of_memory: AtomicBool,
    /// The writer writes nothing later than this, since the dump that is being made comes first.
    barrier: AtomicU64,
    ready: Mutex<Vec<DumpData>>,
}

static CURRENT: Current<HeapDumps> = Current::none();

impl HeapDumps {
    /// For a recording.
    pub(crate) fn new(core: &'static Core) -> HeapDumps {
        HeapDumps {
            core,
            state: Mutex::default(),
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
    fn ask(&self, reason: Reason, wait: bool) {
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

    /// Refuses further dumps, and waits for the one that is being made.
    fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        self.changed.notify_all();
        while state.making {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next dump to make; `None` once closed.
    fn next(&self, request: Option<&PathBuf>) -> Option<Reason> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if !state.wanted.is_empty() {
                state.making = true;
                return Some(state.wanted.remove(0));
            }
            let Some(request) = request else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(state);
            if std::fs::remove_file(request).is_ok() {
                let mut state = self.lock();
                state.asked += 1;
                state.making = true;
                return Some(Reason::Request);
            }
            state = self.changed.wait_timeout(self.lock(), REQUEST_INTERVAL).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Events up to here may be written.
    pub(crate) fn horizon(&self, horizon: Ticks) -> Ticks {
        horizon.min(Ticks(self.barrier.load(Ordering::Acquire)))
    }

    /// Dumps for the trace, oldest first.
    pub(crate) fn take_ready(&self) -> Vec<DumpData> {
        std::mem::take(&mut self.ready.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Stops the writer at the present time.
    fn hold_writer(&self) {
        self.barrier.store(Ticks::now().0, Ordering::Release);
    }

    /// Lets the writer continue, with a dump if there is one.
    fn release_writer(&self, dump_data: Option<DumpData>) {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner).extend(dump_data);
        self.barrier.store(u64::MAX, Ordering::Release);
    }
}

impl Feature for HeapDumps {
    fn install(&'static self) {
        CURRENT.set(self);
    }

    fn callbacks(&self, main: &mut jvmtiEventCallbacks, _: &mut jvmtiEventCallbacks) {
        main.ResourceExhausted = Some(resource_exhausted);
    }

    fn prepare(&'static self, jni: Jni) -> Result<(), String> {
        self.core.jvm.classes.measure_arrays(jni);
        Ok(())
    }

    fn begin(&'static self, jni: Jni) -> Result<(), String> {
        let env = self.core.jvm.env;
        agent_thread::start(env, jni, c"Martini dump", run)
            .map_err(|e| format!("the thread that dumps the heap cannot be started: {e}"))?;
        if self.core.options.dump.when.out_of_memory {
            env.enable_event(JVMTI_EVENT_RESOURCE_EXHAUSTED).map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    fn collected(&'static self, _: Jni, before: GcNumber, last: GcNumber) {
        if let Some(wanted) = self.core.options.dump.when.collection
            && before.0 < wanted
            && wanted <= last.0
        {
            self.ask(Reason::Collection, false);
        }
    }

    fn stop(&'static self, _: Jni, end: End) {
        if self.core.options.dump.when.end {
            self.ask(Reason::End, true);
        }
        self.close();
        if end == End::Recording {
            let _ = self.core.jvm.env.disable_event(JVMTI_EVENT_RESOURCE_EXHAUSTED);
        }
    }
}

/// JVMTI `ResourceExhausted`: the first time that the heap is exhausted, waits until it is dumped.
///
/// # Safety
/// Called by the VM.
unsafe extern "system" fn resource_exhausted(
    _: *mut jvmtiEnv,
    _: *mut JNIEnv,
    flags: jint,
    _: *const std::ffi::c_void,
    _: *const std::ffi::c_char,
) {
    guard(|| {
        let Some(dumps) = CURRENT.get().filter(|dumps| dumps.core.is_reporting()) else { return };
        if flags & JVMTI_RESOURCE_EXHAUSTED_JAVA_HEAP as jint != 0 && !dumps.out_of_memory.swap(true, Ordering::Relaxed)
        {
            dumps.ask(Reason::OutOfMemory, true);
        }
    });
}

/// Ends all waits when the thread ends, even by a panic.
struct CloseOnDrop(&'static HeapDumps);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.release_writer(None);
        let mut state = self.0.lock();
        (state.closed, state.making) = (true, false);
        drop(state);
        self.0.changed.notify_all();
    }
}

/// Makes dumps until the recording ends.
///
/// # Safety
/// Called by the VM, on a thread of the agent's.
unsafe extern "system" fn run(_: *mut jvmtiEnv, jni: *mut JNIEnv, _: *mut std::ffi::c_void) {
    guard(|| {
        let Some(dumps) = CURRENT.get() else { return };
        let core = dumps.core;
        // SAFETY: the VM passes this thread's environment.
        let jni = unsafe { Jni::from_raw(jni) };
        Entry::stay();
        let _closes = CloseOnDrop(dumps);
        let DumpOptions { when, .. } = &core.options.dump;
        let request = when.request.then(|| request_file(&core.trace_path));
        // A file that an earlier run left is no request.
        request.iter().for_each(|path| drop(std::fs::remove_file(path)));
        let mut maker = match DumpMaker::new(dumps, jni) {
            Ok(maker) => maker,
            Err(problem) => return message(&format!("the heap cannot be dumped: {problem}")),
        };
        while let Some(reason) = dumps.next(request.as_ref()) {
            if let Err(problem) = maker.make(jni, reason) {
                core.count_lost("heap dump", 1);
                message(&format!("the heap is not dumped: {problem}"));
            }
            let mut state = dumps.lock();
            state.done += 1;
            state.making = false;
            drop(state);
            dumps.changed.notify_all();
        }
    });
}
