//! What threads do (`cpu`, `wall`): a signal interrupts a thread each time it has used an interval of CPU time, or when it is its turn,
//! and the handler notes where it is.
//!
//! ```text
//! registry   which threads there are; a timer for each        events of threads, engine_thread each 100 ms
//! handler    the registers of an interrupted thread, its stack   -> a slot
//! slots      memory for samples                                  -> the writer, each 10 to 100 ms
//! ```
//!
//! `tasks` is what the handler knows of threads, `signal` and `timers` are the system's part, `non_java_threads` the threads that do not run
//! Java.

mod engine_thread;
mod handler;
mod non_java_threads;
mod registry;
mod sample;
mod section;
mod signal;
mod slots;
mod system_call;
mod tasks;
mod timers;
mod totals;
mod who;

pub(crate) use timers::CpuClock;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use jvmti::jni_sys::jobject;
use jvmti::{Jni, is_flag_on};

use agent_base::clock::Ticks;
use agent_base::ids::ThreadIndex;
use agent_base::message::message;
use agent_base::mutex::Mutex;
use agent_base::signals::own::{OwnSignal, real_time_signals};
use agent_core::core::Core;
use agent_core::core::context::{FeatureState, LocalThread, Slot, ThreadState};
use agent_core::core::current::Current;
use agent_core::core::feature::{End, Feature};
use agent_trace::Section;
use handler::{Handled, Unused, on_signal};
use hotspot::walk::Walker;
use non_java_threads::NonJavaThreads;
use registry::Registry;
use section::CpuSection;
use tasks::{TaskRef, VmThread};
use timers::tick_nanos;

pub(crate) use non_java_threads::NonJavaThread;
pub(crate) use registry::Left;
pub(crate) use sample::{Sample, VmState};
pub(crate) use signal::Purpose;
pub(crate) use totals::Totals;
pub(crate) use who::{OtherThread, Who};

/// The feature.
pub(crate) struct Cpu {
    core: &'static Core,
    engine: OnceLock<Engine>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What runs once the VM has shown that it can.
struct Engine {
    core: &'static Core,
    handled: &'static Handled,
    signal: OwnSignal,
    interval: Option<u64>,
    wall: Option<Duration>,
    registry: Mutex<Registry>,
    /// CPU time of the process when it began, and from its end on what it had until then.
    begun: u64,
    used: AtomicU64,
    is_stopping: AtomicBool,
    /// Samples for which there was no memory that the writer knows of.
    known_unwritten: AtomicU64,
}

static CURRENT: Current<Cpu> = Current::none();

/// What is kept for a thread that runs Java: its place in the table of the signal handler, once it was looked up.
pub(crate) struct CpuThread(Option<TaskRef>);

impl ThreadState for CpuThread {}

impl FeatureState for CpuThread {
    const SLOT: Slot = Slot::Cpu;

    fn new(_: &'static Core) -> CpuThread {
        let engine = CURRENT.get().and_then(|cpu| cpu.engine.get());
        CpuThread(engine.and_then(|engine| engine.registry.lock().task(own_tid())))
    }
}

/// Says how to have the lines of compiled code, if the agent could not see to it.
fn name_missing_lines(jni: Jni) {
    if is_flag_on(jni, c"DebugNonSafepoints") == Some(false) {
        message(
            "compiled code shows the line of the nearest safepoint; for exact lines add -XX:+UnlockDiagnosticVMOptions \
             -XX:+DebugNonSafepoints",
        );
    }
}

fn own_tid() -> libc::pid_t {
    // SAFETY: no argument.
    unsafe { libc::gettid() }
}

impl Cpu {
    /// What it writes into the trace.
    pub(crate) fn section(&'static self) -> Box<dyn Section> {
        Box::new(CpuSection::new(self))
    }

    /// For a recording whose options ask for it.
    pub(crate) fn new(core: &'static Core) -> Cpu {
        Cpu { core, engine: OnceLock::new(), thread: Mutex::new(None) }
    }

    /// Names methods of samples.
    pub(crate) fn walker(&self) -> Option<&'static Walker> {
        self.engine.get().map(|engine| engine.handled.walker)
    }

    /// Nanoseconds of CPU time between two samples, if that is sampled.
    pub(crate) fn interval(&self) -> Option<u64> {
        self.engine.get()?.interval
    }

    /// Calls `visit` with the samples since the last call.
    pub(crate) fn drain(&self, visit: impl FnMut(&Sample)) {
        if let Some(engine) = self.engine.get() {
            engine.handled.slots.drain(visit);
        }
    }

    /// The intervals for whose samples there was no memory since the last call.
    pub(crate) fn take_unwritten(&self) -> Vec<(Who, u64)> {
        let Some(engine) = self.engine.get() else { return Vec::new() };
        let unwritten = engine.handled.unwritten.load(Ordering::Relaxed);
        if engine.known_unwritten.swap(unwritten, Ordering::Relaxed) == unwritten {
            return Vec::new();
        }
        engine.registry.lock().take_unwritten()
    }

    /// What threads that are sampled no more have left since the last call.
    pub(crate) fn take_left(&self) -> Vec<Left> {
        self.engine.get().map(|engine| engine.registry.lock().take_left()).unwrap_or_default()
    }

    /// What is known of a thread that does not run Java.
    pub(crate) fn other(&self, number: OtherThread) -> Option<NonJavaThread> {
        self.engine.get()?.registry.lock().others.get(number).cloned()
    }

    /// Nothing more is written of a thread that does not run Java.
    pub(crate) fn forget(&self, number: OtherThread) {
        if let Some(engine) = self.engine.get() {
            engine.registry.lock().others.forget(number);
        }
    }

    /// What was sampled and what not, once the recording has ended.
    pub(crate) fn totals(&self) -> Option<Totals> {
        let engine = self.engine.get()?;
        let registry = engine.registry.lock();
        let process = engine.used.load(Ordering::Relaxed);
        Some(Totals {
            interval: engine.interval,
            process,
            agent: registry.agent,
            not_seen: process.saturating_sub(registry.seen + registry.agent),
            unknown: engine.handled.unknown.load(Ordering::Relaxed) * engine.interval.unwrap_or(0),
            left_out: registry.left_out * engine.interval.unwrap_or(0),
            is_by_process: registry.is_by_process(),
        })
    }

    /// Samples no more; the second time nothing is left to do.
    fn end(&self) {
        let Some(engine) = self.engine.get() else { return };
        engine.is_stopping.store(true, Ordering::Relaxed);
        let thread = self.thread.lock().take();
        if let Some(thread) = thread {
            thread.thread().unpark();
            // It waits for nothing but the time.
            let _ = thread.join();
        }
        engine.stop();
    }

    /// Prepares all that the handler needs.
    ///
    /// # Errors
    /// Why threads are not sampled: one clause.
    fn prepare(&self, jni: Jni) -> Result<Engine, String> {
        let core = self.core;
        let hotspot = core.hotspot.ok_or("safe mode does not read the JVM's private memory")?;
        core.living.layout().ok_or("cannot map the JVM's threads to OS threads")?;
        let (walker, loads) = hotspot.trusted_walker(core.jvm.env, jni, core.jvm.java)?;
        let signal = OwnSignal::claim(std::iter::once(libc::SIGPROF).chain(real_time_signals()), on_signal)?;
        let handled = match core.jvm.keep(Unused::default).take() {
            Some(handled) => handled,
            None => Handled::new(walker, loads).ok_or("no memory for samples")?,
        };
        handler::CURRENT.set(handled);
        let samples = core.options.samples;
        name_missing_lines(jni);
        let interval = samples.cpu.map(|interval| interval.as_nanos() as u64);
        if let Some((interval, tick)) = interval.zip(tick_nanos()).filter(|(interval, tick)| interval < tick) {
            message(&format!(
                "the kernel checks CPU time only every {} us, so a sample stands for that much, not for {} us",
                tick / 1000,
                interval / 1000
            ));
        }
        let registry = Registry::new(handled, signal, interval, NonJavaThreads::new(core.jvm.ids));
        Ok(Engine {
            core,
            handled,
            signal,
            interval,
            wall: samples.wall,
            registry: Mutex::new(registry),
            begun: CpuClock::PROCESS.nanos().unwrap_or(0),
            used: AtomicU64::new(0),
            is_stopping: AtomicBool::new(false),
            known_unwritten: AtomicU64::new(0),
        })
    }
}

impl Engine {
    /// A thread that runs Java is sampled from now on, unless it ends.
    fn add(&self, index: ThreadIndex) {
        let living = &self.core.living;
        let (Some(thread), Some(layout)) = (living.get(index), living.layout()) else { return };
        thread.while_alive(|| {
            let vm = VmThread { java_thread: thread.java, state: layout.state(thread.java) };
            self.registry.lock().add(thread.tid, Who::Java(index), Some(vm));
        });
    }

    /// Samples no more.
    fn stop(&self) {
        self.registry.lock().close();
        if !self.handled.is_active.swap(false, Ordering::SeqCst) {
            return;
        }
        let used = CpuClock::PROCESS.nanos().unwrap_or(0).saturating_sub(self.begun);
        self.used.store(used, Ordering::Relaxed);
    }
}

impl Feature for Cpu {
    fn install(&'static self) {
        CURRENT.set(self);
    }

    fn begin(&'static self, jni: Jni) -> Result<(), String> {
        match self.prepare(jni) {
            Ok(engine) => drop(self.engine.set(engine)),
            // The other features go on.
            Err(why) => message(&format!("threads are not sampled: {why}")),
        }
        Ok(())
    }

    unsafe fn thread_found(&'static self, _: Jni, _: jobject, index: ThreadIndex) {
        self.engine.get().inspect(|engine| engine.add(index));
    }

    fn resume(&'static self, _: Jni) {
        if let Some(engine) = self.engine.get() {
            let started = engine_thread::start(engine);
            let mut thread = self.thread.lock();
            *thread =
                started.inspect_err(|why| message(&format!("only threads that run Java are sampled: {why}"))).ok();
        }
    }

    unsafe fn thread_start(&'static self, _: Jni, local: &mut LocalThread, _: jobject) {
        self.engine.get().inspect(|engine| engine.add(local.thread.carrier));
    }

    // Also when the trace takes nothing any more: the VM frees what the handler reads of the thread.
    unsafe fn thread_leaves(&'static self, jni: Jni, thread: jobject, _: ThreadIndex) {
        let Some(engine) = self.engine.get() else { return };
        // SAFETY: by the caller's promise. A virtual thread has none, and its carrier goes on.
        if unsafe { self.core.jvm.threads.address(jni, thread) }.is_some() {
            engine.registry.lock().remove(own_tid());
        }
    }

    // A thread that attached itself may not be known by its object (DestroyJavaVM on JDK 21).
    fn thread_end(&'static self, _: Jni, _: &mut LocalThread, _: Ticks) {
        if let Some(engine) = self.engine.get() {
            engine.registry.lock().remove(own_tid());
        }
    }

    fn switched(&'static self, _: Jni, local: &mut LocalThread) {
        let Some(engine) = self.engine.get() else { return };
        let (thread, CpuThread(task)) = local.with();
        if let Some(task) = task.and_then(|task| engine.handled.tasks.get(task)) {
            task.set_mounted(thread.is_virtual.then_some(thread.current));
        }
    }

    fn stop(&'static self, _: Jni, _: End) {
        self.end();
    }

    // A recording whose trace has ended before is not stopped.
    fn stopped(&'static self, _: Jni, _: End) {
        self.end();
    }

    fn release(&'static self, _: Jni) {
        if let Some(engine) = self.engine.get() {
            self.core.jvm.keep(Unused::default).add(engine.handled);
        }
    }
}
