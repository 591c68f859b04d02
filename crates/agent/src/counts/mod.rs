//! `heap=counts`: how often each allocation site ran, on which thread, and how many bytes that made.
//!
//! Rewritten code (`hooks`) adds to the counters of the thread (`blocks`) through MartiniCounts (`proxy`), without a native call.
//! Each piece of state has one owner, and `feature` lets them work together:
//!
//! | owner | of |
//! |---|---|
//! | `counters` | what each counter counts, as far as it is known |
//! | `rewritings` | the class files that were rewritten, and their classes |
//! | `block_pool` | the blocks of counters that threads have, and the sums over those that have ended |
//! | `threads` | which threads count for a recording |
//! | `sites` | the search for what the rewriting does not show of a counter |
//! | `constants` `linking` `vm_allocations` | what the VM makes itself |
//! | `snapshot` | the counts so far, for the writer |
//! | `section` `written` | what is in the trace |
//!
//! What rewritten code contains the address or number of lives as long as the JVM: all recordings share it.

mod block_pool;
mod blocks;
mod constants;
mod counters;
mod current_thread;
mod feature;
mod hooks;
mod ids;
mod jdk_methods;
mod large_arrays;
mod linking;
mod memory;
mod natives;
mod own_thread;
mod proxy;
mod report;
mod reuse;
mod rewritings;
mod section;
mod sites;
mod snapshot;
mod sums;
mod thread_table;
mod threads;
mod vm_allocations;
mod written;

pub(crate) use feature::Counts;
pub use natives::NATIVES;
pub use own_thread::read_own_counts;
pub use proxy::register_natives;
pub(crate) use report::SiteCount;
pub(crate) use snapshot::CountsSnapshot;
pub(crate) use space::NO_ROOM;
pub(crate) use threads::Totals;

/// The feature.
pub(crate) struct Counts {
    core: &'static Core,
    space: &'static CounterSpace,
    proxy: OnceLock<CountsProxy>,
    /// Threads that count at present.
    living: Mutex<Vec<Arc<ThreadCounts>>>,
    /// Those of them that lived at VMInit already and have reported nothing yet.
    expected: Mutex<Vec<Arc<ThreadCounts>>>,
    /// Those whose last accounts have not been read, while accounts are read at the end.
    unread: Mutex<FxHashMap<u32, Arc<ThreadCounts>>>,
    /// When counters are resolved again.
    next_resolution: Mutex<Option<Instant>>,
    /// There was no memory to resolve counters. Each attempt causes a collection, so there is none before the next collection.
    heap_is_full: AtomicBool,
    /// Bytes that counters of threads may take.
    limit: usize,
    /// When a snapshot is made.
    trigger: Mutex<SnapshotTrigger>,
    /// For the writer.
    snapshots: Mutex<VecDeque<CountsSnapshot>>,
    /// Done once the hooks count.
    begun: Once,
}

static CURRENT: Current<Counts> = Current::none();

impl Counts {
    /// What it writes into the trace, with the samples of callers if there are any.
    pub(crate) fn section(&'static self, sampler: Option<&'static Sampler>) -> Box<dyn Section> {
        Box::new(CountsSection::new(self, sampler))
    }

    /// For a recording. Blocks of threads take at most as many bytes as its buffers, unless sites are added later.
    pub(crate) fn new(core: &'static Core) -> Counts {
        let space = core.jvm.keep(CounterSpace::new);
        space.begin_again();
        Counts {
            core,
            space,
            proxy: OnceLock::new(),
            living: Mutex::default(),
            expected: Mutex::default(),
            unread: Mutex::default(),
            next_resolution: Mutex::default(),
            heap_is_full: AtomicBool::new(false),
            limit: core.options.buffer_bytes,
            trigger: Mutex::new(SnapshotTrigger::begin(core)),
            snapshots: Mutex::default(),
            begun: Once::new(),
        }
    }

    /// Whether there is room for what hooks need.
    pub(crate) fn can_count(&self) -> bool {
        self.space.table.is_some()
    }

    /// Defines MartiniCounts in the VM, if it does not have it. Works from the early VMStart on.
    ///
    /// # Errors
    /// What the VM refuses.
    pub(crate) fn define(&self, jni: Jni) -> Result<(), String> {
        let jvm = self.core.jvm;
        if self.space.defined.get().is_some() {
            return Ok(());
        }
        // Measuring initialises `Object`, whose initialiser has no site; no other class may be initialised before its turn.
        let layouts = jvm.classes.measure_arrays(jni);
        let class_file = self.space.class_file(jvm.java, layouts)?;
        let defined = CountsProxy::define(&jvm.helpers, jni, &class_file).map_err(|error| error.to_string())?;
        let _ = self.space.defined.set(defined);
        Ok(())
    }

    /// Lets the hooks count.
    fn let_count(&self, jni: Jni) {
        if let Some(Err(error)) = self.proxy.get().map(|proxy| proxy.begin(jni)) {
            message(&format!("cannot start MartiniCounts, so nothing is counted: {error}"));
        }
    }

    /// Adds what a living thread has counted to the trace.
    fn push_counted(&self, thread: &mut ThreadContext, own: &ThreadCounts, now: Ticks) {
        let Totals { instances, bytes } = self.totals(own);
        thread.push(Event::Counted { thread: own.thread, instances, bytes }, now);
    }
}

impl Reporter for Counts {
    type State = CountsThread;

    fn current() -> Option<&'static Counts> {
        CURRENT.get()
    }

    fn core(&self) -> &'static Core {
        self.core
    }
}

impl Feature for Counts {
    fn install(&'static self) {
        CURRENT.set(self);
    }

    fn callbacks(&self, _: &mut jvmtiEventCallbacks, objects: &mut jvmtiEventCallbacks) {
        objects.VMObjectAlloc = Some(vm_allocations::vm_object_alloc);
    }

    fn prepare(&'static self, jni: Jni) -> Result<(), String> {
        // MartiniCounts asks it for the numbers of classes.
        define_proxy(self.core, jni)?;
        let prepared = self.define(jni).and_then(|()| {
            let Some(&defined) = self.space.defined.get() else { return Ok(()) };
            let _ = self.proxy.set(CountsProxy::bind(jni, defined).map_err(|error| error.to_string())?);
            Ok(())
        });
        prepared.map_err(|error| format!("cannot define MartiniCounts, so nothing is counted: {error}"))
    }

    fn begin(&'static self, jni: Jni) -> Result<(), String> {
        self.watch_classes(jni)?;
        self.watch_constants(jni)?;
        let objects = self.core.tags.envs()[0];
        self.core.jvm.env.enable_event(JVMTI_EVENT_CLASS_LOAD).map_err(|e| e.to_string())?;
        objects.enable_event(JVMTI_EVENT_VM_OBJECT_ALLOC).map_err(|e| e.to_string())
    }

    unsafe fn thread_found(&'static self, jni: Jni, thread: jobject, index: ThreadIndex) {
        if !self.core.is_reporting() {
            // SAFETY: by the caller's promise.
            unsafe { self.expect(jni, index, thread) }
        }
    }

    fn resume(&'static self, jni: Jni) {
        self.begun.call_once(|| self.let_count(jni));
    }

    unsafe fn thread_start(&'static self, jni: Jni, local: &mut LocalThread, thread: jobject) {
        if self.core.is_reporting() {
            let (context, state) = local.with();
            // SAFETY: by the caller's promise.
            unsafe { self.starts(jni, context.carrier, state, thread) }
        }
    }

    fn thread_end(&'static self, jni: Jni, local: &mut LocalThread, now: Ticks) {
        let (thread, state): (&mut ThreadContext, &mut CountsThread) = local.with();
        let own = self.own(thread.carrier, state).clone();
        self.settle(&own, self.core.jvm.accounting.current_thread_bytes(jni), true);
        self.core.exclude(jni, thread.carrier, || self.resolve_counted(jni, Some(&own), ResolvePhase::Meanwhile));
        self.push_counted(thread, &own, now);
    }

    unsafe fn class_prepared(&'static self, jni: Jni, class: jclass) {
        // SAFETY: by the caller's promise.
        unsafe { self.class_linked(jni, class) }
    }

    fn wants_ticks(&self) -> bool {
        true
    }

    fn tick(&'static self, jni: Jni) {
        self.check_requests(jni);
        self.space.counters.warn_before_the_last();
        if !self.core.is_reporting() {
            self.space.release_unloadable(jni);
        }
    }

    fn snapshot(&'static self, jni: Jni, wanted: Wanted) -> bool {
        self.make_snapshot(jni, wanted);
        true
    }

    fn collected(&'static self, jni: Jni, _: GcNumber, _: GcNumber) {
        self.settle_all(jni);
        self.resolve_meanwhile(jni);
    }

    fn stop(&'static self, jni: Jni, _: End) {
        // The size of a class's instances is that of one which is made for it: not after the collection before the histogram.
        if self.core.options.live {
            enter(self.core, jni, Ticks::now, |local| {
                let resolve = || self.resolve_counted(jni, None, ResolvePhase::AtTheEnd);
                self.core.exclude(jni, local.thread.carrier, resolve);
            });
        }
    }

    fn accounts_begin(&'static self, jni: Jni, thread: &mut ThreadContext) {
        self.core.exclude(jni, thread.carrier, || self.resolve_counted(jni, None, ResolvePhase::AtTheEnd));
        *self.unread.lock() = self.living().into_iter().map(|own| (own.thread.0, own)).collect();
    }

    fn account(&'static self, thread: &mut ThreadContext, of: ThreadIndex, vm_bytes: Option<u64>, now: Ticks) {
        let own = self.unread.lock().remove(&of.0);
        if let Some(own) = own {
            self.settle(&own, vm_bytes, true);
            self.push_counted(thread, &own, now);
        }
    }

    fn accounts_end(&'static self, thread: &mut ThreadContext) {
        // Threads that JVMTI does not list.
        for own in std::mem::take(&mut *self.unread.lock()).values() {
            self.push_counted(thread, own, Ticks::now());
        }
    }

    fn stopped(&'static self, jni: Jni, end: End) {
        if let Some(proxy) = self.proxy.get() {
            proxy.end(jni);
            self.core.count_lost("hook without stack or memory", proxy.lost(jni));
        }
        self.end_all(end);
        if !self.core.pool.is_closed() {
            self.resolve_counted(jni, None, ResolvePhase::AfterTheEnd);
        }
        if end.is_survived() {
            // The thread that does so while the program runs ends with the recording.
            self.space.release_unloadable(jni);
            self.core.jvm.env.disable_events(&[JVMTI_EVENT_CLASS_LOAD]);
            self.core.tags.envs()[0].disable_events(&[JVMTI_EVENT_VM_OBJECT_ALLOC]);
        }
    }

    fn release(&'static self, _: Jni) {
        *self.living.lock() = Vec::new();
        *self.expected.lock() = Vec::new();
        *self.unread.lock() = FxHashMap::default();
        *self.snapshots.lock() = VecDeque::new();
        self.space.release();
    }

    fn rewriter(&'static self) -> Option<&'static dyn Rewriter> {
        Some(self)
    }
}

impl Rewriter for Counts {
    unsafe fn rewrite(&self, class: &ClassFile<'_>, request: RewriteRequest<'_>) -> Option<Vec<u8>> {
        let filters = &self.core.options.filters;
        let includes = |class: &[u8]| filters.includes(&trace::names::class_name(&trace::modified_utf8::decode(class)));
        let filter = (!filters.rules().is_empty()).then_some(includes);
        // SAFETY: by the caller's promise.
        let mut hooks = unsafe { CountHooks::new(self.core, self.space, request, filter) };
        let rewritten = classfile::rewrite_class(class, &mut hooks);
        let uncounted = hooks.end();
        (0..uncounted).for_each(|_| self.core.rewriting.refuse("site: there are too many"));
        self.core.rewriting.note(rewritten)
    }

    fn considers(&self, _: &[u8]) -> bool {
        true
    }

    unsafe fn wants(&self, class: jclass) -> bool {
        let env = self.core.jvm.env;
        // SAFETY: by the caller's promise.
        unsafe { has_site(env, class, ALLOCATING_OPCODES) || names_one(env, class, HOOKED_NAMES.all()) }
    }

    fn rewrites_all(&self) -> bool {
        true
    }

    fn class_loading(&self, jni: Jni, class: Option<&ClassFile<'_>>) {
        if let Some(class) = class {
            self.class_read(jni, class);
        }
        self.class_begins(jni);
    }

    unsafe fn class_loaded(&self, jni: Jni, class: jclass) {
        // SAFETY: by the caller's promise.
        unsafe { self.class_made(jni, class) }
    }
}
