//! Heap dumps: when one is made, and how.
//!
//! The JVM's own dumper writes all objects, roots and values in one pause, on every collector: a walk by JVMTI that tags all
//! objects takes five to ten times as long, and a hundred bytes for each. What the dump lacks is added after the pause, by the
//! addresses that objects have as long as none moves (`addresses`) or that the dump says itself (`anchors`): `complete` puts
//! ids and allocation stacks into an HPROF file, `section` makes elements of the trace.
//!
//! All of it is done by a thread of the agent's own (`take`), so that only two wait for a dump: a thread that ran out of
//! memory, and the end of the VM. Neither waits for ever (`queue`), and the agent's own threads never wait.

mod addresses;
mod anchors;
mod by_vm;
mod complete;
mod data;
mod folder;
mod found;
pub(crate) mod id_map;
mod late_classes;
mod progress;
mod queue;
mod section;
mod survivors;
mod take;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use agent_options::beside;
use jvmti::jni_sys::{JNIEnv, jclass, jint};
use jvmti::sys::{JVMTI_EVENT_RESOURCE_EXHAUSTED, JVMTI_RESOURCE_EXHAUSTED_JAVA_HEAP, jvmtiEnv};
use jvmti::{Jni, guard};

use agent_base::agent_thread;
use agent_base::clock::Ticks;
use agent_base::ids::GcNumber;
use agent_base::message::message;
use agent_base::mutex::Mutex;
use agent_base::request_file::RequestFile;
use agent_core::core::Core;
use agent_core::core::context::Entry;
use agent_core::core::current::Current;
use agent_core::core::feature::{End, Feature};
use agent_core::vm::shutdown::register_hook;
use agent_trace::Section;
use by_vm::DumpByVm;
use late_classes::LateClasses;
use progress::ThreadSteps;
use queue::{Queue, Waited};
use section::DumpSection;
use survivors::Survivors;
use take::DumpMaker;

pub(crate) use data::{DumpData, DumpedClass, VmDump};

/// How often the request file is looked for.
const REQUEST_INTERVAL: Duration = Duration::from_millis(200);
/// A dump that makes no progress for so long is waited for no longer. A collection of all garbage, in front of a dump, shows
/// none.
const PATIENCE: Duration = Duration::from_secs(180);
/// As `PATIENCE`, where no garbage is collected in the pause of the dump.
const PATIENCE_WITHOUT_COLLECTION: Duration = Duration::from_secs(10);

const GAVE_UP: &str = "gave up on a heap dump that makes no progress";

/// Dumps for the trace that are kept while it takes none.
const MAX_READY: usize = 2;

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

/// The feature: dumps that are wanted, and those that are made.
pub(crate) struct HeapDumps {
    core: &'static Core,
    queue: Queue,
    /// Dumps that were made.
    made: AtomicU64,
    out_of_memory: AtomicBool,
    /// The writer writes nothing later than this, since the dump that is being made comes first.
    barrier: AtomicU64,
    ready: Mutex<Vec<DumpData>>,
    late_classes: LateClasses,
    by_vm: DumpByVm,
    /// How far the thread that dumps had come when the writer looked last.
    seen: Mutex<ThreadSteps>,
}

static CURRENT: Current<HeapDumps> = Current::none();

impl HeapDumps {
    /// What it writes into the trace.
    pub(crate) fn section(&'static self) -> Box<dyn Section> {
        Box::new(DumpSection::new(self))
    }

    /// For a recording.
    pub(crate) fn new(core: &'static Core) -> HeapDumps {
        HeapDumps {
            core,
            queue: Queue::new(PATIENCE),
            made: AtomicU64::new(0),
            out_of_memory: AtomicBool::new(false),
            barrier: AtomicU64::new(u64::MAX),
            ready: Mutex::default(),
            late_classes: LateClasses::default(),
            by_vm: DumpByVm::default(),
            seen: Mutex::default(),
        }
    }

    /// Has a dump made, and waits for it.
    ///
    /// # Errors
    /// There is none: one sentence.
    pub(crate) fn make_now(&self) -> Result<(), String> {
        let before = self.made.load(Ordering::Relaxed);
        match self.queue.ask_and_wait(Reason::Request) {
            Waited::Over if self.made.load(Ordering::Relaxed) > before => Ok(()),
            Waited::Over => Err("no heap dump was written; see the JVM's standard error".into()),
            Waited::GaveUp => Err(GAVE_UP.into()),
        }
    }

    /// Events up to here may be written.
    pub(crate) fn horizon(&self, horizon: Ticks) -> Ticks {
        horizon.min(Ticks(self.barrier.load(Ordering::Acquire)))
    }

    /// Dumps for the trace, oldest first.
    pub(crate) fn take_ready(&self) -> Vec<DumpData> {
        std::mem::take(&mut self.ready.lock())
    }

    /// Whether a dump that the writer waits for has come on since this was asked last; by the writer alone.
    pub(crate) fn gets_on(&self) -> bool {
        let now = self.queue.progress.of_thread();
        let before = std::mem::replace(&mut *self.seen.lock(), now);
        now != before && self.barrier.load(Ordering::Acquire) != u64::MAX
    }

    /// Whether dumps wait for the trace that takes none, each with a number for each object.
    fn is_writer_behind(&self) -> bool {
        let ready = self.ready.lock();
        ready.iter().filter(|dump| dump.base.is_some()).count() >= MAX_READY
    }

    /// Stops the writer at the present time.
    fn hold_writer(&self) {
        self.barrier.store(Ticks::now().0, Ordering::Release);
    }

    /// Lets the writer continue, with a dump if there is one.
    fn release_writer(&self, dump_data: Option<DumpData>) {
        self.ready.lock().extend(dump_data);
        self.barrier.store(u64::MAX, Ordering::Release);
    }
}

/// All hooks of the VM's shutdown have run.
pub(crate) fn program_ends() {
    if let Some(dumps) = CURRENT.get().filter(|dumps| dumps.core.is_reporting()) {
        dumps.queue.program_ends();
    }
}

impl Feature for HeapDumps {
    fn install(&'static self) {
        CURRENT.set(self);
    }

    fn prepare(&'static self, jni: Jni) -> Result<(), String> {
        self.core.jvm.classes.measure_arrays(jni);
        Ok(())
    }

    fn begin(&'static self, jni: Jni) -> Result<(), String> {
        let env = self.core.jvm.env;
        if Survivors::are_needed(jni) {
            register_hook(&self.core.jvm.helpers, jni);
        }
        // It is said at once, and not when it is too late.
        let when = self.core.options.dump.when;
        let goes_on = when.request || when.collection.is_some() || when.end && self.core.is_late;
        if goes_on && Survivors::are_kept_with_garbage(self.core, jni) {
            message(&format!("no heap dumps before the program ends: {}", take::KEEPS_GARBAGE));
        }
        agent_thread::start(env, jni, c"Martini dump", run)
            .map_err(|e| format!("cannot start the heap dump thread: {e}"))?;
        if self.core.options.dump.when.out_of_memory {
            env.enable_event(JVMTI_EVENT_RESOURCE_EXHAUSTED).map_err(|e| e.to_string())?;
            self.by_vm.begin(self.core, jni);
        }
        Ok(())
    }

    unsafe fn class_prepared(&'static self, jni: Jni, class: jclass) {
        // SAFETY: by the caller's promise.
        unsafe { self.late_classes.note(jni, class) }
    }

    fn collected(&'static self, _: Jni, before: GcNumber, last: GcNumber) {
        if let Some(wanted) = self.core.options.dump.when.collection
            && before.0 < wanted
            && wanted <= last.0
        {
            self.queue.ask(Reason::Collection);
        }
    }

    fn stop(&'static self, jni: Jni, end: End) {
        if end == End::Vm {
            self.queue.vm_ends();
        }
        if self.core.options.dump.when.end && end != End::Unwanted {
            self.queue.ask_and_wait(Reason::End);
        }
        if self.queue.close() == Waited::GaveUp {
            message(GAVE_UP);
            self.core.count_lost("heap dump", 1);
            self.release_writer(None);
        }
        if end.is_survived() {
            self.by_vm.stop(jni);
        }
    }

    fn release(&'static self, jni: Jni) {
        drop(self.take_ready());
        self.late_classes.discard(jni);
    }
}

/// The first time that the program exhausts the heap, waits until it is dumped. `flags` are those of JVMTI's `ResourceExhausted`.
pub(crate) fn exhausted(flags: jint) {
    let is_heap = flags & JVMTI_RESOURCE_EXHAUSTED_JAVA_HEAP as jint != 0;
    let is_wanted = |dumps: &&HeapDumps| dumps.core.is_reporting() && dumps.core.options.dump.when.out_of_memory;
    let Some(dumps) = CURRENT.get().filter(|dumps| is_heap && is_wanted(dumps)) else { return };
    if !dumps.out_of_memory.swap(true, Ordering::Relaxed)
        && dumps.queue.ask_and_wait(Reason::OutOfMemory) == Waited::GaveUp
    {
        message(GAVE_UP);
    }
}

/// Ends all waits when the thread ends, even by a panic.
struct CloseOnDrop(&'static HeapDumps);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.release_writer(None);
        self.0.queue.abandon();
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
        dumps.queue.progress.is_of_this_thread();
        let when = core.options.dump.when;
        let mut requests = when.request.then(|| RequestFile::begin(beside(&core.trace_path, "dump")));
        let mut maker = match DumpMaker::new(dumps, jni) {
            Ok(maker) => maker,
            Err(problem) => return message(&format!("cannot dump the heap: {problem}")),
        };
        if !maker.collects() {
            dumps.queue.set_patience(PATIENCE_WITHOUT_COLLECTION);
        }
        let interval = when.request.then_some(REQUEST_INTERVAL);
        let mut is_requested = || requests.as_mut().is_some_and(RequestFile::take);
        while let Some(reason) = dumps.queue.next(interval, &mut is_requested) {
            match maker.make(jni, reason) {
                Ok(()) => {
                    dumps.made.fetch_add(1, Ordering::Relaxed);
                }
                Err(problem) => {
                    core.count_lost("heap dump", 1);
                    message(&format!("no heap dump: {problem}"));
                }
            }
            dumps.queue.finish();
        }
        maker.end(jni);
    });
}
