//! The feature: lets the owners of its state work together.

use std::sync::OnceLock;

use classfile::ClassFile;
use jvmti::Jni;
use jvmti::jni_sys::{JNIEnv, jclass, jlong, jobject};
use jvmti::sys::{JVMTI_EVENT_CLASS_LOAD, JVMTI_EVENT_VM_OBJECT_ALLOC, jthread, jvmtiEnv, jvmtiEventCallbacks};

use super::block_pool::BlockPool;
use super::constants::Strings;
use super::counters::Counters;
use super::current_thread::{CountsThread, Here};
use super::hooks::{ALLOCATING_OPCODES, CountHooks, HOOKED_NAMES, SiteCounters};
use super::ids::CounterIndex;
use super::linking::Unlinked;
use super::native_code;
use super::proxy::CountsProxy;
use super::report::{self, SiteCount};
use super::rewritings::Rewritings;
use super::sites::{ResolvePhase, Sites};
use super::snapshot::{CountsSnapshot, Snapshots};
use super::sums::Totals;
use super::threads::{ThreadCounts, Threads};
use super::vm_allocations::{self, VmAllocations};
use crate::heap_events::define_proxy;
use crate::heap_histogram::walk;
use agent_base::clock::Ticks;
use agent_base::events::event::Event;
use agent_base::helpers::{COUNTS, Helper};
use agent_base::ids::{GcNumber, ThreadIndex};
use agent_core::core::Core;
use agent_core::core::asking::Wanted;
use agent_core::core::context::{LocalThread, Reporter, ThreadContext, ThreadState, callback, enter};
use agent_core::core::current::Current;
use agent_core::core::feature::{End, Feature, RewriteRequest, Rewriter};
use agent_core::instrument::retransform::{has_site, names_one};

/// From this release on the event for what the VM makes keeps C2 from replacing `Unsafe.allocateInstance` (JDK-8307462): each lambda that
/// captures would be made, by the VM. What the event would show is a few bytes for each member that reflection lists.
const FIRST_WITHOUT_VM_OBJECTS: u32 = 22;

/// The feature.
pub(crate) struct Counts {
    pub(super) core: &'static Core,
    // What all recordings share.
    counters: &'static Counters,
    rewritings: &'static Rewritings,
    pool: &'static BlockPool,
    pub(super) strings: &'static Strings,
    unlinked: &'static Unlinked,
    pub(super) vm_allocations: &'static VmAllocations,
    // What is of this one.
    pub(super) threads: Threads,
    pub(super) sites: Sites,
    snapshots: Snapshots,
    proxy: OnceLock<CountsProxy>,
}

static CURRENT: Current<Counts> = Current::none();

impl Counts {
    /// For a recording.
    pub(crate) fn new(core: &'static Core) -> Counts {
        let jvm = core.jvm;
        let (counters, pool, rewritings) =
            (jvm.keep(Counters::new), jvm.keep(BlockPool::new), jvm.keep(Rewritings::new));
        Counts {
            core,
            counters,
            rewritings,
            pool,
            strings: jvm.keep(Strings::new),
            unlinked: jvm.keep(Unlinked::default),
            vm_allocations: jvm.keep(VmAllocations::default),
            threads: Threads::new(core, counters, pool),
            sites: Sites::new(core, counters, rewritings),
            snapshots: Snapshots::begin(core),
            proxy: OnceLock::new(),
        }
    }

    /// Whether there is room for what hooks need.
    pub(crate) fn can_count(&self) -> bool {
        self.pool.table().is_some()
    }

    /// Defines MartiniCounts in the VM, if it does not have it. Works from the early VMStart on.
    ///
    /// # Errors
    /// What the VM refuses.
    pub(crate) fn define(&self, jni: Jni) -> Result<(), String> {
        CountsProxy::define(self.core.jvm, jni, self.pool, self.strings).map(drop)
    }

    fn bind(&self, jni: Jni) -> Result<(), String> {
        let class = CountsProxy::define(self.core.jvm, jni, self.pool, self.strings)?;
        let _ = self.proxy.set(CountsProxy::bind(jni, class).map_err(|error| error.to_string())?);
        Ok(())
    }

    /// All sites that ran, and the number of objects whose site is not known.
    pub(crate) fn sites(&self) -> (Vec<SiteCount>, u64) {
        report::sites(&self.threads, self.counters)
    }

    /// The number of counters in use.
    pub(crate) fn counters(&self) -> u64 {
        self.counters.len().into()
    }

    /// Bytes of memory that counters take.
    pub(crate) fn memory(&self) -> u64 {
        self.threads.memory()
    }

    /// The first snapshot that the writer has not taken yet, if it was made until then.
    pub(crate) fn take_snapshot(&self, until: Ticks) -> Option<CountsSnapshot> {
        self.snapshots.take(until)
    }

    fn make_snapshot(&self, jni: Jni, wanted: Wanted) {
        let core = self.core;
        self.resolve(jni, None, ResolvePhase::Meanwhile);
        let live = wanted
            .live
            .then(|| walk(core, jni, true))
            .and_then(|walked| walked.inspect_err(|&error| core.count_failure("heap walk", error)).ok());
        let time = wanted.at.unwrap_or_else(Ticks::now);
        let threads = self.threads.accounts(jni);
        let (sites, _) = self.sites();
        self.snapshots.push(CountsSnapshot { time, threads, sites, live });
    }

    /// Resolves the counters that are not zero: those of one thread, or of all.
    pub(super) fn resolve(&self, jni: Jni, own: Option<&ThreadCounts>, phase: ResolvePhase) {
        self.sites.resolve_counted(jni, &self.threads, own, phase);
    }

    /// Counts one object on the current thread, which has that number in Java.
    pub(super) fn count(&self, here: &mut Here<'_>, number: jlong, counter: CounterIndex, bytes: u64) {
        let (jni, carrier) = (here.jni, here.carrier);
        let own = here.own();
        self.threads.give_block(own, number);
        self.threads.add(own, counter, bytes, || {
            self.sites.resolve_one(jni, carrier, counter);
            let mut totals = self.threads.meaning(counter, 1).0;
            totals += self.threads.meaning(counter.next(), bytes).0;
            totals
        });
        here.note_caller(counter, bytes);
    }

    /// The number of a thread in Java; 0 if nothing can be counted.
    ///
    /// # Safety
    /// `thread` is a live reference to it.
    unsafe fn number(&self, jni: Jni, thread: jobject) -> i64 {
        // SAFETY: by the caller's promise.
        self.proxy.get().map_or(0, |proxy| unsafe { proxy.number(jni, thread) })
    }

    /// Adds what a living thread has counted to the trace.
    fn push_counted(&self, thread: &mut ThreadContext, own: &ThreadCounts, now: Ticks) {
        let Totals { instances, bytes } = self.threads.totals(own);
        thread.push(Event::Counted { thread: own.thread(), instances, bytes }, now);
    }
}

impl ThreadState for CountsThread {
    fn end(&mut self, _: Jni) {
        if let (Some(own), Some(counts)) = (&self.own, Counts::current()) {
            counts.threads.end(own);
        }
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
        objects.VMObjectAlloc = Some(vm_object_alloc);
    }

    fn prepare(&'static self, jni: Jni) -> Result<(), String> {
        // MartiniCounts asks it for the numbers of classes.
        define_proxy(self.core, jni)?;
        self.bind(jni).map_err(|error| format!("cannot define MartiniCounts, so nothing is counted: {error}"))
    }

    fn begin(&'static self, jni: Jni) -> Result<(), String> {
        self.vm_allocations.find(self.core, jni)?;
        self.strings.find(self.core, jni)?;
        let objects = self.core.tags.envs()[0];
        self.core.jvm.env.enable_event(JVMTI_EVENT_CLASS_LOAD).map_err(|e| e.to_string())?;
        if let Err(error) = native_code::begin(self.core.jvm.env) {
            self.core.count_failure("objects of native code", error);
        }
        if self.core.jvm.java >= FIRST_WITHOUT_VM_OBJECTS {
            return Ok(());
        }
        objects.enable_event(JVMTI_EVENT_VM_OBJECT_ALLOC).map_err(|e| e.to_string())
    }

    unsafe fn thread_found(&'static self, jni: Jni, thread: jobject, index: ThreadIndex) {
        if !self.core.is_reporting() {
            if self.core.is_late {
                // The thread counts from then on that it has counters. Until reporting begins nothing else is done for it.
                self.resume(jni);
            }
            // SAFETY: by the caller's promise.
            self.threads.expect(index, unsafe { self.number(jni, thread) });
        }
    }

    fn resume(&'static self, jni: Jni) {
        self.proxy.get().inspect(|proxy| proxy.begin(jni));
    }

    /// Hooks find the counters of the thread from the beginning, so that C2 sees no other way through them.
    unsafe fn thread_start(&'static self, jni: Jni, local: &mut LocalThread, thread: jobject) {
        if self.core.is_reporting() {
            let (context, state) = local.with();
            // SAFETY: by the caller's promise.
            let number = unsafe { self.number(jni, thread) };
            self.threads.give_block(Here::new(&self.threads, jni, context, state).own(), number);
        }
    }

    fn thread_end(&'static self, jni: Jni, local: &mut LocalThread, now: Ticks) {
        let (thread, state) = local.with();
        let own = Here::new(&self.threads, jni, thread, state).own().clone();
        self.threads.settle(&own, self.core.jvm.accounting.current_thread_bytes(jni), true);
        self.core.exclude(jni, thread.carrier, || self.resolve(jni, Some(&own), ResolvePhase::Meanwhile));
        self.push_counted(thread, &own, now);
    }

    unsafe fn class_prepared(&'static self, jni: Jni, class: jclass) {
        // SAFETY: by the caller's promise.
        let unlinked = || unsafe { self.unlinked.take(self.core.jvm.env, class) };
        if self.core.is_reporting()
            && let Some(length) = unlinked()
        {
            self.vm_allocations.class_linked(&self.threads, jni, length);
        }
    }

    fn wants_ticks(&self) -> bool {
        true
    }

    fn tick(&'static self, jni: Jni) {
        self.snapshots.check(self.core, |live| self.make_snapshot(jni, Wanted { live, at: None }));
        self.counters.warn_before_the_last();
        if !self.core.is_reporting() {
            self.rewritings.release_unresolved(jni);
        }
    }

    fn snapshot(&'static self, jni: Jni, wanted: Wanted) -> bool {
        self.make_snapshot(jni, wanted);
        true
    }

    fn collected(&'static self, jni: Jni, _: GcNumber, _: GcNumber) {
        self.threads.settle_all(jni);
        self.sites.resolve_meanwhile(jni, &self.threads);
    }

    fn stop(&'static self, jni: Jni, _: End) {
        // The size of a class's instances is that of one which is made for it: not after the collection before the histogram.
        if self.core.options.live {
            enter(self.core, jni, Ticks::now, |local| {
                let resolve = || self.resolve(jni, None, ResolvePhase::AtTheEnd);
                self.core.exclude(jni, local.thread.carrier, resolve);
            });
        }
    }

    fn accounts_begin(&'static self, jni: Jni, thread: &mut ThreadContext) {
        self.core.exclude(jni, thread.carrier, || self.resolve(jni, None, ResolvePhase::AtTheEnd));
        self.threads.begin_last_accounts();
    }

    fn account(&'static self, thread: &mut ThreadContext, of: ThreadIndex, vm_bytes: Option<u64>, now: Ticks) {
        if let Some(own) = self.threads.last_read(of) {
            self.threads.settle(&own, vm_bytes, true);
            self.push_counted(thread, &own, now);
        }
    }

    fn counted(&self, of: ThreadIndex) -> Option<u64> {
        self.threads.counted(of)
    }

    fn accounts_end(&'static self, thread: &mut ThreadContext) {
        // Threads that JVMTI does not list.
        self.threads.end_last_accounts().for_each(|own| self.push_counted(thread, &own, Ticks::now()));
    }

    fn stopped(&'static self, jni: Jni, end: End) {
        if let Some(proxy) = self.proxy.get() {
            self.core.count_lost("hook without stack or memory", proxy.end(jni));
        }
        self.threads.end_all(end.is_survived());
        if !self.core.pool.is_closed() {
            self.resolve(jni, None, ResolvePhase::AfterTheEnd);
        }
        if end.is_survived() {
            // The thread that does so while the program runs ends with the recording.
            self.rewritings.release_unresolved(jni);
            self.core.jvm.env.disable_events(&[JVMTI_EVENT_CLASS_LOAD]);
            self.core.tags.envs()[0].disable_events(&[JVMTI_EVENT_VM_OBJECT_ALLOC]);
        }
    }

    fn release(&'static self, _: Jni) {
        self.threads.release();
        self.snapshots.release();
    }

    fn rewriter(&'static self) -> Option<&'static dyn Rewriter> {
        Some(self)
    }
}

impl Rewriter for Counts {
    unsafe fn rewrite(&self, class: &ClassFile<'_>, request: RewriteRequest<'_>) -> Option<Vec<u8>> {
        let filters = &self.core.options.filters;
        let name = |class: &[u8]| trace::names::class_name(&trace::modified_utf8::decode(class));
        let includes = |class: &[u8]| self.core.includes_named(&name(class));
        let filter = (!filters.rules().is_empty()).then_some(includes);
        // SAFETY: by the caller's promise.
        let sites = unsafe { SiteCounters::new(self.core, self.counters, self.rewritings, request) };
        let mut hooks = CountHooks::new(sites, self.strings.constants(), filter);
        let rewritten = classfile::rewrite_class(class, &mut hooks);
        let uncounted = hooks.end();
        (0..uncounted).for_each(|_| self.core.rewriting.refuse("site: there are too many"));
        self.core.rewriting.note(class.name(), rewritten)
    }

    fn helper(&self) -> Option<&'static Helper> {
        Some(&COUNTS)
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
            // The VM makes the strings of its constant fields.
            Here::enter(&self.threads, jni, |here| {
                let texts = class.fields().filter_map(|field| field.constant_string());
                texts.for_each(|text| self.strings.use_text(here, text));
            });
            self.unlinked.add(class);
        }
        vm_allocations::class_begins(self.core, jni);
    }

    unsafe fn class_loaded(&self, jni: Jni, class: jclass) {
        // SAFETY: by the caller's promise.
        unsafe {
            self.rewritings.class_loaded(self.core.jvm.env, jni, class);
            if self.core.is_reporting() {
                self.vm_allocations.class_made(&self.threads, jni, class);
            }
        }
    }
}

/// JVMTI `VMObjectAlloc`: a native method of the VM's own made an object.
///
/// # Safety
/// Called by the VM.
unsafe extern "system" fn vm_object_alloc(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    _: jthread,
    _: jobject,
    class: jclass,
    size: jlong,
) {
    // SAFETY: the VM passes this thread's environment and a live class.
    unsafe {
        callback(jni, |counts: &Counts, jni, thread, state| {
            let mut here = Here::new(&counts.threads, jni, thread, state);
            if let Err(error) = counts.vm_allocations.object_made(&mut here, class, size as u64) {
                counts.core.count_failure("VM object", error);
            }
        });
    }
}
