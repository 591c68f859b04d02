//! What every feature uses: the JVM with its tables, the recording with its options and buffers, and each thread's part of it.
//! It knows no feature.

pub mod accounting;
pub mod asking;
pub(crate) mod before;
pub mod context;
pub mod current;
pub mod deep_stacks;
pub mod feature;
pub mod filters;
pub mod living;
pub mod lost;
pub(crate) mod rewriting;
pub mod schedule;
pub mod source;

use std::any::Any;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Thread;
use std::time::Duration;

use agent_options::{Options, Stacks as FindStacks};
use jvmti::jni_sys::jobject;
use jvmti::sys::CAN_SUPPORT_VIRTUAL_THREADS;
use jvmti::{Collector, Env, Jni, Vm};
use trace::model::ArrayCode;

use super::stacks::Stacks;
use super::stacks::cache::StackReader;
use super::stacks::walker::Tables;
use accounting::Accounting;
use agent_base::clock::{Clock, Ticks};
use agent_base::events::buffer::{Consumer, Producer};
use agent_base::events::pool::{Pool, RECORD_BYTES};
use agent_base::events::progress::Progress;
use agent_base::helpers::Helpers;
use agent_base::ids::{ClassIndex, CodeLocation, IdSource, RecordingNumber, StackIndex, ThreadIndex};
use agent_base::message::message;
use agent_base::mutex::Mutex;
use agent_base::objects::collections::Collections;
use agent_base::objects::tags::Tags;
use agent_base::objects::weak_refs::WeakRefs;
use agent_base::tables::array_layout::ArrayLayout;
use agent_base::tables::classes::Classes;
use agent_base::tables::methods::Methods;
use agent_base::tables::threads::Threads;
use asking::{SnapshotRequests, Wanted};
use before::Before;
use current::Current;
use feature::Feature;
use filters::MatchedFilters;
use hotspot::Hotspot;
use hotspot::return_addresses::StackLayout;
use hotspot::safe_mode::SafeMode;
use living::LivingThreads;
use lost::{DroppedCounts, Lost};
use rewriting::RewritingCounts;
use source::AllocationSource;

/// What lives as long as the JVM, however many recordings there are.
pub struct Jvm {
    /// The VM.
    pub vm: Vm,
    /// Tags of classes, thread-local storage, and all events that are not about objects or collections.
    pub env: Env,
    /// The feature release, such as 17.
    pub java: u32,
    /// Numbers for all that the trace names.
    pub ids: &'static IdSource,
    /// All classes seen so far.
    pub classes: Classes,
    /// All methods seen on stacks.
    pub methods: Methods,
    /// All call stacks seen.
    pub stacks: Stacks,
    /// All threads seen.
    pub threads: Threads,
    /// The bytes that the JVM itself accounts to threads.
    pub accounting: Accounting,
    /// Only a recording that may use it has it: see `Core::hotspot`.
    hotspot: Hotspot,
    /// The classes that the agent defines in the JVM.
    pub helpers: Helpers,
    collector: OnceLock<Collector>,
    /// Environments for tags, which recordings use one after the other.
    tag_envs: Mutex<Vec<Env>>,
    /// What features keep from one recording to the next.
    kept: Mutex<Vec<&'static (dyn Any + Send + Sync)>>,
}

impl Jvm {
    /// The JVM of an environment that was made for the agent.
    ///
    /// # Errors
    /// Why the agent cannot serve it: one sentence.
    pub fn new(vm: Vm, env: Env) -> Result<Jvm, String> {
        static IDS: IdSource = IdSource::from_one();
        let version = env.get_system_property(c"java.vm.specification.version").ok();
        let java = version.and_then(|version| std::str::from_utf8(&version).ok()?.parse().ok());
        let java = java.ok_or("cannot read this JVM's version; JDK 11 to 25 are supported")?;
        Ok(Jvm {
            vm,
            env,
            java,
            ids: &IDS,
            classes: Classes::new(env, &IDS),
            methods: Methods::new(env, &IDS),
            stacks: Stacks::new(&IDS),
            threads: Threads::new(env, &IDS),
            accounting: Accounting::default(),
            hotspot: Hotspot::default(),
            helpers: Helpers::new(java),
            collector: OnceLock::new(),
            tag_envs: Mutex::default(),
            kept: Mutex::default(),
        })
    }

    /// HotSpot's private memory, unless there is a reason to leave it alone.
    pub fn hotspot(&self, reason: Option<SafeMode>) -> Option<&Hotspot> {
        reason.is_none().then_some(&self.hotspot)
    }

    /// The frames of a stack as text, the innermost one first.
    pub fn frames(&self, stack: StackIndex) -> Vec<String> {
        let frames = self.stacks.get(stack).into_iter().flat_map(|stack| stack.frames.iter());
        let text = |frame: &CodeLocation| {
            let method = self.methods.get(frame.method);
            let class = method.and_then(|method| self.classes.get(method.class));
            let (class, method) = (class.map_or("?", |class| &class.name), method.map_or("?", |method| &method.name));
            format!("{class}.{method}:{}", frame.line)
        };
        frames.map(text).collect()
    }

    /// The VM's collector, from VMInit on.
    pub fn collector(&self, jni: Jni) -> Collector {
        *self.collector.get_or_init(|| Collector::of(jni))
    }

    /// What a feature keeps as long as the JVM lives, one value of each type; made at the first call.
    pub fn keep<T: Send + Sync + 'static>(&self, make: impl FnOnce() -> T) -> &'static T {
        let mut kept = self.kept.lock();
        if let Some(known) = kept.iter().find_map(|any| any.downcast_ref()) {
            return known;
        }
        let made = Box::leak(Box::new(make()));
        kept.push(made);
        made
    }

    /// So many environments for tags, the same for each recording; `make` makes those that are missing.
    ///
    /// # Errors
    /// Those of `make`.
    pub(crate) fn tag_envs(
        &self,
        number: usize,
        mut make: impl FnMut() -> Result<Env, String>,
    ) -> Result<Box<[Env]>, String> {
        let mut envs = self.tag_envs.lock();
        while envs.len() < number {
            envs.push(make()?);
        }
        Ok(envs[..number].into())
    }
}

/// A recording: what all its features share. One is current at a time. Earlier ones are never freed, since hooks on other
/// threads may still use them.
pub struct Core {
    /// The JVM that is recorded.
    pub jvm: &'static Jvm,
    /// Which recording of this JVM it is.
    pub number: RecordingNumber,
    /// What was asked for.
    pub options: Options,
    /// HotSpot's private memory; `None` in safe mode.
    pub hotspot: Option<&'static Hotspot>,
    /// Who reports allocations.
    pub source: AllocationSource,
    /// It began in a VM that ran already.
    pub is_late: bool,
    /// Every class is rewritten as it is loaded, from the first on.
    pub rewrites_early: bool,
    /// The trace file.
    pub trace_path: PathBuf,
    /// Tags of objects, and the events about them.
    pub tags: Tags,
    /// Turns ticks into the times of the trace.
    pub clock: Clock,
    /// When it began.
    pub start: Ticks,
    /// Memory of the buffers of events.
    pub pool: Arc<Pool>,
    /// When collections ran.
    pub collections: Collections,
    /// Its platform threads, as far as a feature reads their memory.
    pub living: LivingThreads,
    /// Weak references to followed objects.
    pub weak_refs: WeakRefs,
    /// Events that were not recorded, by reason.
    pub lost: Lost,
    /// What the limit of the trace or a stalled writer left out.
    pub dropped: DroppedCounts,
    /// Of the threads that write the trace, and of what they wait for.
    pub progress: Arc<Progress>,
    /// The user was warned that the trace takes nothing.
    said_stalled: AtomicBool,
    /// Whether looking at a weak reference would keep its object.
    looks_keep_objects: AtomicBool,
    /// Which filter patterns a class has matched.
    pub filters: MatchedFilters,
    /// How many classes were rewritten, and why others were not.
    pub rewriting: RewritingCounts,
    /// What was there before it, if it began late.
    pub before: Before,
    /// Requests for the numbers so far.
    pub snapshots: SnapshotRequests,
    features: OnceLock<Box<[&'static dyn Feature]>>,
    /// True between VMInit and VMDeath, unless the trace had to end earlier.
    reporting: AtomicBool,
    /// How many threads wait for a collection that they have asked for.
    collecting: AtomicU32,
    /// When reporting ended; 0 until then.
    reported_until: AtomicU64,
    /// Buffers that the writer does not know yet.
    new_buffers: Mutex<Vec<(ThreadIndex, Consumer)>>,
    writer: OnceLock<Thread>,
}

static CURRENT: Current<Core> = Current::none();

/// The parts of which a recording is made.
#[expect(missing_docs, reason = "they are those of `Core`")]
pub struct Plan {
    pub number: RecordingNumber,
    pub options: Options,
    pub hotspot: Option<&'static Hotspot>,
    pub source: AllocationSource,
    pub is_late: bool,
    pub rewrites_early: bool,
    pub trace_path: PathBuf,
    pub tags: Tags,
    pub start: Ticks,
    pub progress: Arc<Progress>,
}

impl Core {
    /// A recording that does not report yet.
    pub fn new(jvm: &'static Jvm, plan: Plan) -> Core {
        let Plan { number, options, hotspot, source, is_late, rewrites_early, trace_path, tags, start, progress } =
            plan;
        Core {
            jvm,
            number,
            hotspot,
            source,
            is_late,
            rewrites_early,
            trace_path,
            tags,
            clock: Clock::start(),
            start,
            pool: Pool::new(options.buffer_bytes / RECORD_BYTES, progress.clone()),
            collections: Collections::new(options.dump.when.ever()),
            living: LivingThreads::default(),
            weak_refs: WeakRefs::default(),
            lost: Lost::default(),
            dropped: DroppedCounts::default(),
            progress,
            said_stalled: AtomicBool::new(false),
            looks_keep_objects: AtomicBool::new(false),
            filters: MatchedFilters::none_of(&options.filters),
            rewriting: RewritingCounts::default(),
            before: Before::default(),
            snapshots: SnapshotRequests::default(),
            features: OnceLock::new(),
            reporting: AtomicBool::new(false),
            collecting: AtomicU32::new(0),
            reported_until: AtomicU64::new(0),
            new_buffers: Mutex::default(),
            writer: OnceLock::new(),
            options,
        }
    }

    /// Makes it the current recording, with its features in the order in which they are asked.
    pub fn install(&'static self, features: Box<[&'static dyn Feature]>) {
        let _ = self.features.set(features);
        CURRENT.set(self);
    }

    /// The current recording, once there is one.
    #[inline]
    pub fn current() -> Option<&'static Core> {
        CURRENT.get()
    }

    /// The current recording, until its trace takes no more events: from before it reports on.
    #[inline]
    pub fn open() -> Option<&'static Core> {
        CURRENT.get().filter(|core| !core.pool.is_closed())
    }

    /// The current recording, while it reports.
    #[inline]
    pub fn reporting() -> Option<&'static Core> {
        CURRENT.get().filter(|core| core.is_reporting())
    }

    /// Whether events are reported.
    #[inline]
    pub fn is_reporting(&self) -> bool {
        self.reporting.load(Ordering::Relaxed)
    }

    /// Switches reporting on or off.
    pub fn set_reporting(&self, on: bool) {
        if !on {
            // The first end is the one that counts. Whoever does not report any more is later.
            let _ = self.reported_until.compare_exchange(0, Ticks::now().0, Ordering::Relaxed, Ordering::Relaxed);
        }
        self.reporting.store(on, Ordering::SeqCst);
    }

    /// When reporting ended, or now. What is done after that to complete the trace is no time of the program's.
    pub fn reported_until(&self) -> Ticks {
        match self.reported_until.load(Ordering::Relaxed) {
            0 => Ticks::now(),
            until => Ticks(until),
        }
    }

    /// Whether the VM reports which virtual thread runs on a carrier, whose events are the carrier's otherwise.
    pub fn follows_virtual_threads(&self) -> bool {
        self.source.follows_threads(&self.options)
            && self.jvm.env.get_capabilities().is_ok_and(|granted| granted.has(CAN_SUPPORT_VIRTUAL_THREADS))
    }

    /// Collects the heap. A concurrent collector that the VM has stopped at its end never does, and this never returns.
    ///
    /// # Errors
    /// What the VM refuses.
    pub fn collect(&self) -> jvmti::Result<()> {
        self.collecting.fetch_add(1, Ordering::SeqCst);
        let collected = self.jvm.env.force_garbage_collection();
        self.collecting.fetch_sub(1, Ordering::SeqCst);
        collected
    }

    /// Whether somebody waits for a collection.
    pub fn is_collecting(&self) -> bool {
        self.collecting.load(Ordering::SeqCst) > 0
    }

    /// Ends reporting for good: hooks return at once, and no thread waits for the writer any more.
    pub fn stop_reporting(&self) {
        self.set_reporting(false);
        self.pool.close();
    }

    /// Frees what nobody needs after the end of the recording.
    pub fn release(&self, jni: Jni) {
        self.pool.release();
        self.weak_refs.release(jni);
        self.collections.release();
        drop(self.take_new_buffers());
    }

    /// The features, in the order in which they are asked.
    pub fn features(&self) -> impl Iterator<Item = &'static dyn Feature> {
        self.features.get().into_iter().flatten().copied()
    }

    /// What walking a stack needs.
    pub fn tables(&self, jni: Jni) -> Tables<'static> {
        Tables {
            env: self.jvm.env,
            classes: &self.jvm.classes,
            methods: &self.jvm.methods,
            stacks: &self.jvm.stacks,
            reader: self.stack_reader(jni),
        }
    }

    /// How the current thread reads its stack.
    pub(crate) fn stack_reader(&self, jni: Jni) -> StackReader<'static> {
        let (generation, epoch) = (self.collections.generation(), self.jvm.methods.redefined.epoch());
        StackReader { jni, layout: self.stack_layout(), generation, epoch }
    }

    /// HotSpot's memory, if stacks are recognised by their return addresses.
    fn reads_stacks(&self) -> Option<&'static Hotspot> {
        self.hotspot.filter(|_| self.options.stacks == FindStacks::ByAddresses)
    }

    /// Looks up how frames lie on stacks, from VMInit on.
    pub fn find_stack_layout(&self, jni: Jni) {
        self.reads_stacks().inspect(|hotspot| hotspot.find_stacks(self.jvm.env, jni));
    }

    /// Has the living threads registered, if a feature wants to know, from VMInit on and before events of threads come.
    pub fn register_threads(&self, jni: Jni) {
        let is_wanted = self.records_locks() || self.options.samples.any() || self.options.warm_up;
        if let Some(hotspot) = self.hotspot.filter(|_| is_wanted) {
            self.living.open(hotspot, hotspot.os_threads(self.jvm.env, jni));
        }
    }

    /// A thread is there that has sent no start event. True the first time: after `first`, features are told.
    ///
    /// # Safety
    /// `thread` is a live reference to it.
    pub unsafe fn thread_found(
        &'static self,
        jni: Jni,
        thread: jobject,
        index: ThreadIndex,
        first: impl FnOnce(),
    ) -> bool {
        let is_new = self.jvm.threads.announce(index, self.number);
        if is_new {
            first();
            // SAFETY: by the caller's promise.
            unsafe {
                self.living.found(self, jni, thread, index);
                self.features().for_each(|feature| feature.thread_found(jni, thread, index));
            }
        }
        is_new
    }

    /// How frames lie on stacks, if that is used and known.
    pub fn stack_layout(&self) -> Option<&'static StackLayout> {
        self.reads_stacks()?.stacks()
    }

    /// Whether the filters let objects of a class through.
    #[inline]
    pub fn includes(&self, class: ClassIndex) -> bool {
        let record = self.jvm.classes.get(class);
        record.is_some_and(|record| record.is_included(self.number, |name| self.includes_named(name)))
    }

    /// The same of a class with this name, which the filters are applied to.
    pub fn includes_named(&self, name: &str) -> bool {
        self.filters.includes(&self.options.filters, name)
    }

    /// The size rule of arrays of that kind.
    pub fn layout(&self, array: ArrayCode) -> Option<ArrayLayout> {
        self.jvm.classes.layout(array)
    }

    /// Counts something that could not be reported because of an error.
    #[cold]
    pub fn count_failure(&self, what: &str, error: jvmti::Error) {
        self.count_lost(&format!("{what} {}", error.name()), 1);
    }

    /// Counts events that were lost.
    pub fn count_lost(&self, what: &str, number: u64) {
        self.lost.count(what, number);
    }

    /// Runs `body`, which allocates in the VM for the agent, and excludes those bytes from the current thread's account.
    pub fn exclude<T>(&self, jni: Jni, carrier: ThreadIndex, body: impl FnOnce() -> T) -> T {
        let before = self.jvm.accounting.current_thread_bytes(jni);
        let result = body();
        let after = self.jvm.accounting.current_thread_bytes(jni);
        self.exclude_bytes(carrier, after.zip(before).map_or(0, |(after, before)| after - before));
        result
    }

    /// Subtracts bytes from what the JVM accounts to a thread.
    pub fn exclude_bytes(&self, carrier: ThreadIndex, bytes: u64) {
        if let Some(record) = self.jvm.threads.get(carrier) {
            record.excluded_bytes.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// Whether objects, or monitors among them, may have ids in the trace.
    pub fn has_ids(&self) -> bool {
        self.source.tracks_objects() || self.records_locks()
    }

    /// Whether threads that wait are recorded. Their events refer to each other, so the order of all events matters.
    #[inline]
    pub(crate) fn records_locks(&self) -> bool {
        self.options.locks.is_some()
    }

    /// Whether objects are tagged as they are reported.
    pub fn tags_objects(&self) -> bool {
        self.source.identifies(self.records_locks())
    }

    /// Whether objects have weak references: to report their deaths, or to find them when the heap is dumped.
    pub fn keeps_weak_refs(&self) -> bool {
        (self.options.lifetimes || self.options.dump.when.ever()) && !self.leaves_deaths_unseen()
    }

    /// From now on no object gets a weak reference, because a look at one would keep its object: deaths are not seen.
    pub fn leave_deaths_unseen(&self) {
        self.looks_keep_objects.store(true, Ordering::Relaxed);
    }

    /// Whether deaths of objects are not seen.
    pub fn leaves_deaths_unseen(&self) -> bool {
        self.looks_keep_objects.load(Ordering::Relaxed)
    }

    /// Whether there is something to do after each collection.
    pub fn watches_collections(&self) -> bool {
        self.records_allocations() || self.options.dump.when.ever()
    }

    /// Has the control thread make a snapshot, as `SnapshotRequests::ask` says. Where it has nothing to make that is said at once.
    pub fn ask_snapshot(&self, wanted: Wanted, longest: Duration) -> Option<bool> {
        let answers = self.watches_collections() && self.features().any(|feature| feature.wants_ticks());
        if !answers {
            return Some(false);
        }
        self.snapshots.ask(wanted, longest, || self.collections.wake())
    }

    /// Whether allocations are recorded, all or a sample, and so compared with what the JVM accounts to threads.
    pub fn records_allocations(&self) -> bool {
        self.source != AllocationSource::Off || self.options.sampled_bytes.is_some()
    }

    /// The writer's thread, which is woken early if the buffers fill faster than it reads them.
    pub fn set_writer(&self, writer: Thread) {
        let _ = self.writer.set(writer);
    }

    #[inline]
    fn wake_writer_if_behind(&self) {
        let limit = self.options.buffer_bytes / RECORD_BYTES;
        if self.pool.backlog() > limit / 4
            && let Some(writer) = self.writer.get()
        {
            writer.unpark();
        }
    }

    fn add_buffer(&self, carrier: ThreadIndex, consumer: Consumer) {
        self.new_buffers.lock().push((carrier, consumer));
    }

    /// Forgets the buffer of a thread that ends and has pushed nothing, if the writer does not know it yet.
    fn forget_buffer(&self, producer: &Producer) {
        let mut new_buffers = self.new_buffers.lock();
        if let Some(place) = new_buffers.iter().rposition(|(_, consumer)| consumer.reads(producer)) {
            new_buffers.swap_remove(place);
        }
    }

    /// The trace takes nothing: the user is warned once.
    #[cold]
    fn say_stalled(&self) {
        if !self.said_stalled.swap(true, Ordering::Relaxed) {
            message(&format!(
                "the trace {} has accepted no data for some seconds; the program continues, and events are dropped \
                 until it does",
                self.trace_path.display()
            ));
        }
    }

    /// The buffers that were added since the last call, with the platform threads that fill them.
    pub fn take_new_buffers(&self) -> Vec<(ThreadIndex, Consumer)> {
        std::mem::take(&mut self.new_buffers.lock())
    }
}
