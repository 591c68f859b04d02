//! The agent: what runs inside the profiled JVM.
//!
//! Events start in `heap`, `threads` and `waits`, on the thread where they happen; travel through `buffer` and `gc`; and end in
//! `writer`, on a native thread that knows no JNI. `classes`, `methods`, `stacks` and `threads` are the tables that both
//! sides share. `lifecycle` puts it all in motion.

mod accounting;
mod arrays;
mod buffer;
mod classes;
mod clock;
mod code_cache;
mod counts;
mod dump;
mod engine;
mod environments;
mod event;
mod familiar;
mod gc;
mod head;
mod heap;
mod instrument;
mod java_thread;
mod layout;
mod lifecycle;
mod live;
mod lives;
mod methods;
mod output;
mod proxy;
mod replaced;
mod return_addresses;
mod sampler;
mod share;
mod stacks;
mod start;
mod table;
mod tags;
mod threads;
mod transform;
mod virtual_threads;
mod waits;
mod writer;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, OnceLock, PoisonError};
use std::thread::{JoinHandle, Thread};

use jvmti::jni_sys::{jclass, jobject};
use jvmti::{Env, Jni};
use trace::model::ArrayCode;

use accounting::Accounting;
use agent_options::Options;
use buffer::Pool;
use classes::{ClassIndex, Classes, Surroundings};
use clock::{Clock, Ticks};
use counts::Counts;
use dump::Dumps;
use engine::Engine;
use gc::GcQueue;
use layout::{ArrayLayout, ArrayLayouts};
use live::Living;
use lives::Lives;
use methods::Methods;
use proxy::Proxy;
use stacks::{Stacks, Tables};
use start::StartUp;
use tags::Tags;
use threads::{ThreadIndex, Threads};
use waits::Waits;

pub(crate) use lifecycle::on_load;

/// Says something to the user: one line on standard error, since standard output is the program's.
pub(crate) fn message(text: &str) {
    use std::io::Write;
    // One write, so that lines of several JVMs do not mix; if standard error is gone there is nobody to tell.
    let _ = std::io::stderr().write_all(format!("martini: {text}\n").as_bytes());
}

/// Binds HeapProxy's natives, called from its static initialiser.
///
/// # Safety
/// Called by the VM, with HeapProxy as `class`.
pub(crate) unsafe fn register_natives(jni: *mut jvmti::jni_sys::JNIEnv, class: jclass) {
    // SAFETY: by the caller's promise.
    unsafe { proxy::register_natives(Jni::from_raw(jni), class) }
}

/// Binds MartiniCounts' natives, called from its method `bind`.
///
/// # Safety
/// Called by the VM, with MartiniCounts as `class`.
pub(crate) unsafe fn register_counts_natives(jni: *mut jvmti::jni_sys::JNIEnv, class: jclass) {
    // SAFETY: by the caller's promise.
    unsafe { counts::register_natives(jni, class) }
}

/// Binds MartiniParking's natives, called from its static initialiser.
///
/// # Safety
/// Called by the VM, with MartiniParking as `class`.
pub(crate) unsafe fn register_parking_natives(jni: *mut jvmti::jni_sys::JNIEnv, class: jclass) {
    // SAFETY: by the caller's promise.
    unsafe { waits::register_natives(Jni::from_raw(jni), class) }
}

/// What the VM told about itself while it initialised.
#[derive(Default)]
struct Vm {
    /// None where no class is rewritten.
    proxy: Option<Proxy>,
    layouts: ArrayLayouts,
    /// Boot, platform and system loader but for the boot loader, which is null.
    permanent_loaders: OnceLock<Vec<GlobalRef>>,
}

/// A global JNI reference that is never deleted.
struct GlobalRef(jobject);

// SAFETY: JNI lets every thread use a global reference.
unsafe impl Send for GlobalRef {}
// SAFETY: as above.
unsafe impl Sync for GlobalRef {}

/// The one agent of this process. A JVM loads it once and never unloads it, so it lives for ever.
pub(crate) struct Agent {
    /// Tags of objects, and the events about them.
    tags: Tags,
    /// Tags of classes, thread-local storage, and all other events.
    env: Env,
    options: Options,
    /// The trace file.
    trace_path: PathBuf,
    /// The feature release of the VM, such as 17.
    java: u32,
    engine: Engine,
    /// Every class is rewritten as it is loaded, from the first on.
    early: bool,
    dumps: Dumps,
    clock: Clock,
    start: Ticks,
    /// The next id of the trace; all kinds of id share it (format page, 2.2).
    ids: AtomicU64,
    classes: Classes,
    methods: Methods,
    stacks: Stacks,
    /// Where stacks are wanted, if the VM is one in which they can be told so.
    return_addresses: OnceLock<Option<return_addresses::Layout>>,
    threads: Threads,
    accounting: Accounting,
    gc: GcQueue,
    lives: Lives,
    /// With `heap=counts`.
    counts: Option<Counts>,
    /// With `live=true`, once the heap has been walked.
    live: OnceLock<(Ticks, Vec<(ClassIndex, Living)>)>,
    /// With `locks=on`.
    waits: Option<Waits>,
    control: StartUp,
    pool: Arc<Pool>,
    /// The classes that rewritten code calls are defined, or cannot be.
    prepared: Once,
    vm: OnceLock<Vm>,
    /// Between VMInit and VMDeath, unless the trace had to end before.
    reporting: AtomicBool,
    /// What was not reported, and why; shown at the end.
    failures: Mutex<BTreeMap<String, u64>>,
    transform: transform::Counters,
    writer: Mutex<Option<JoinHandle<()>>>,
    writer_thread: OnceLock<Thread>,
}

static AGENT: OnceLock<Agent> = OnceLock::new();

impl Agent {
    /// The agent, once loaded.
    fn get() -> Option<&'static Agent> {
        AGENT.get()
    }

    /// The agent, while it reports.
    #[inline]
    fn reporting() -> Option<&'static Agent> {
        AGENT.get().filter(|agent| agent.reporting.load(Ordering::Relaxed))
    }

    /// What walking a stack needs.
    fn tables(&self, jni: Jni) -> Tables<'_, Agent> {
        Tables {
            env: self.env,
            classes: &self.classes,
            methods: &self.methods,
            stacks: &self.stacks,
            around: self,
            reading: self.reading(jni),
        }
    }

    /// Counts something that could not be reported.
    #[cold]
    fn count_failure(&self, what: &str, error: jvmti::Error) {
        self.count_lost(&format!("{what} {}", error.name()), 1);
    }

    /// Counts events that were lost.
    fn count_lost(&self, what: &str, number: u64) {
        if number > 0 {
            let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
            *failures.entry(what.to_owned()).or_default() += number;
        }
    }

    /// Runs `body`, which allocates in the VM on behalf of the agent, and keeps that out of the current thread's account.
    fn exclude<T>(&self, jni: Jni, carrier: ThreadIndex, body: impl FnOnce() -> T) -> T {
        let before = self.accounting.current_thread_bytes(jni);
        let result = body();
        let after = self.accounting.current_thread_bytes(jni);
        self.exclude_bytes(carrier, after.zip(before).map_or(0, |(after, before)| after - before));
        result
    }

    /// Takes bytes away from what the JVM accounts to a thread.
    fn exclude_bytes(&self, carrier: ThreadIndex, bytes: u64) {
        if let Some(record) = self.threads.get(carrier) {
            record.excluded_bytes.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// Whether objects, or monitors among them, may have ids in the trace.
    fn has_ids(&self) -> bool {
        self.engine.follows() || self.waits.is_some()
    }

    /// Whether objects are tagged.
    fn tags_objects(&self) -> bool {
        self.engine.identifies(self.waits.is_some())
    }

    /// Whether objects have weak references: to tell of their deaths, or to find them when the heap is dumped.
    fn follows_lives(&self) -> bool {
        self.options.lifetimes || self.options.dump.when.ever()
    }

    /// Wakes the writer if so much waits that its next turn may be too late.
    #[inline]
    fn wake_writer_if_behind(&self) {
        let limit = self.options.buffer_bytes / buffer::RECORD_BYTES;
        if self.pool.backlog() > limit / 4
            && let Some(writer) = self.writer_thread.get()
        {
            writer.unpark();
        }
    }

    /// Ends reporting for good: hooks return at once and nobody waits for the writer any more.
    fn stop_reporting(&self) {
        self.reporting.store(false, Ordering::SeqCst);
        self.pool.close();
    }
}

impl Surroundings for Agent {
    fn new_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    fn includes(&self, name: &str) -> bool {
        self.options.filters.includes(name)
    }

    fn is_permanent(&self, jni: Jni, loader: jobject) -> bool {
        loader.is_null()
            || self.vm.get().is_some_and(|vm| {
                // SAFETY: `loader` is a live local reference, the others are global ones.
                vm.permanent_loaders
                    .get()
                    .into_iter()
                    .flatten()
                    .any(|known| unsafe { jni.is_same_object(known.0, loader) })
            })
    }

    fn layout(&self, array: ArrayCode) -> Option<ArrayLayout> {
        self.vm.get().and_then(|vm| vm.layouts.get(array))
    }

    fn start(&self) -> Ticks {
        self.start
    }
}
