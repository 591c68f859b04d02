//! From a counter to its site and class.
//!
//! The site is known from the rewriting. The class of what it makes is loaded when the site has run, and the agent looks it up some
//! time later, at the end at the latest. If a site has run but its class is not loaded, or has no instances, each run has failed: a
//! class that the VM could not find or initialise once stays so (JVMS 5.4.3, 5.5). If a static initialiser makes objects of its own
//! class and then fails, these are not reported.

use std::ffi::CString;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use classfile::access::{ABSTRACT, INTERFACE};
use jvmti::jni_sys::{jclass, jmethodID, jobject};
use jvmti::sys::{
    JVMTI_CLASS_STATUS_ERROR, JVMTI_CLASS_STATUS_INITIALIZED, JVMTI_CLASS_STATUS_PREPARED, jvmtiFrameInfo,
};
use jvmti::{Allocated, Collector, HeapRoom, Jni, SharedRef};
use rustc_hash::FxHashMap;

use super::counters::{BytecodeSite, CounterKind, Counters, NEW_INSTANCE_CALLER};
use super::current_thread::Here;
use super::ids::{CounterIndex, RewritingIndex};
use super::rewritings::{Class, Part, Rewritings, is_hidden_name, no_memory};
use super::threads::{ThreadCounts, Threads};
use crate::heap_histogram::instance_bytes;
use agent_base::helpers::COUNTS;
use agent_base::ids::{AllocationSite, ClassIndex, CodeLocation, ThreadIndex};
use agent_base::mutex::Mutex;
use agent_base::tables::classes::ClassRecord;
use agent_core::core::Core;

/// Bytes of the heap that are left to the program while counters are resolved.
const NEEDED_ROOM: u64 = 1 << 20;

/// The caller of MartiniCounts is found within so many frames; each dimension of an array takes one.
const MAX_FRAMES: usize = 512;

/// The counters of a class at a site whose classes are known only when it runs.
#[derive(Clone, Copy, Debug)]
pub(super) enum DynamicCounters {
    /// The site makes the objects: this counter counts them, and the next one their bytes.
    First(CounterIndex),
    /// A method that the site calls makes and counts them.
    CountedElsewhere,
}

/// What is known of the class of the objects that a site makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClassLookup {
    Class(ClassIndex),
    /// It is not loaded yet, or not initialised.
    NotReady,
    /// It has no instances.
    NoInstances,
    /// It is not initialised yet, and may have instances.
    Unknown,
}

/// When counters are resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResolvePhase {
    /// While the program runs.
    Meanwhile,
    /// When it ends.
    AtTheEnd,
    /// After counting has stopped.
    AfterTheEnd,
}

/// A class with sites.
struct Declaring {
    class: jclass,
    signature: Allocated<u8>,
    loader: jobject,
    index: ClassIndex,
}

impl Declaring {
    /// # Safety
    /// `class` is a local reference, which the result takes over.
    unsafe fn of(core: &Core, jni: Jni, class: jclass) -> jvmti::Result<Declaring> {
        // SAFETY: by the caller's promise.
        unsafe {
            let found = (|| {
                let signature = core.jvm.env.get_class_signature(class)?;
                let index = core.jvm.classes.resolve(jni, class)?;
                Ok(Declaring { class, signature, loader: core.jvm.env.get_class_loader(class)?, index })
            })();
            if found.is_err() {
                jni.delete_local_ref(class);
            }
            found
        }
    }

    fn release(self, jni: Jni) {
        // SAFETY: local references that are not used any more.
        unsafe {
            jni.delete_local_ref(self.loader);
            jni.delete_local_ref(self.class);
        }
    }

    /// The class to which that name refers in its code, if it is loaded already, as a local reference.
    ///
    /// # Errors
    /// There is no memory.
    fn find(&self, jni: Jni, name: &[u8]) -> jvmti::Result<Option<jclass>> {
        let Ok(c_name) = CString::new(name) else { return Ok(None) };
        // SAFETY: live local references.
        unsafe {
            // In a hidden class its own name refers to itself, and no loader finds it by that name.
            if is_hidden_name(&self.signature, name) {
                return Ok(Some(jni.new_local_ref(self.class)));
            }
            jni.find_loaded_class(&c_name, self.loader).map_err(no_memory)
        }
    }
}

/// Finds the sites of a recording's counters.
pub(super) struct Sites {
    core: &'static Core,
    counters: &'static Counters,
    rewritings: &'static Rewritings,
    /// When all are resolved again.
    next_resolution: Mutex<Option<Instant>>,
    /// Classes seen at sites whose classes are known only when they run, whose instances' size is not known yet.
    unsized_classes: Mutex<Vec<SharedRef>>,
    /// There was no memory to resolve counters. Each attempt causes a collection, so there is none before the next collection.
    heap_is_full: AtomicBool,
}

impl Sites {
    /// None is resolved yet.
    pub(super) fn new(core: &'static Core, counters: &'static Counters, rewritings: &'static Rewritings) -> Sites {
        let (next_resolution, unsized_classes, heap_is_full) = Default::default();
        Sites { core, counters, rewritings, next_resolution, unsized_classes, heap_is_full }
    }

    /// Resolves the counters that are not zero: those of one thread, or of all.
    pub(super) fn resolve_counted(&self, jni: Jni, threads: &Threads, own: Option<&ThreadCounts>, phase: ResolvePhase) {
        if phase != ResolvePhase::Meanwhile || !self.heap_is_full.load(Ordering::Relaxed) {
            self.resolve_all(jni, self.counted(threads, own), phase);
            self.find_sizes(jni, phase);
        }
    }

    /// Those of them that are not resolved yet.
    fn counted(&self, threads: &Threads, own: Option<&ThreadCounts>) -> Vec<(RewritingIndex, CounterIndex)> {
        let mut unknown = Vec::new();
        threads.for_each_counted(own, |counter| unknown.extend(self.unknown(counter)));
        unknown
    }

    /// After a collection: resolves the counters of classes that may be unloaded, and lets the VM unload them from now on. Also
    /// resolves all other counters that are not zero, unless that was done a short time ago.
    pub(super) fn resolve_meanwhile(&self, jni: Jni, threads: &Threads) {
        self.heap_is_full.store(false, Ordering::Relaxed);
        let unresolved = self.rewritings.take_unresolved();
        let counters = unresolved.parts.iter().flat_map(Part::range);
        self.resolve_all(jni, counters.filter_map(|counter| self.unknown(counter)).collect(), ResolvePhase::Meanwhile);
        unresolved.release(jni);
        self.find_sizes(jni, ResolvePhase::Meanwhile);
        self.rewritings.sweep(jni);
        let begin = Instant::now();
        let is_due = self.next_resolution.lock().is_none_or(|next| begin >= next);
        if is_due {
            let counted = self.counted(threads, None);
            // So the search takes a hundredth of the time at most; each counter is resolved once.
            *self.next_resolution.lock() = Some(Instant::now() + begin.elapsed() * 99);
            self.resolve_all(jni, counted, ResolvePhase::Meanwhile);
        }
    }

    /// Resolves one counter, unless it is resolved or there may be no memory to do so. `thread` is the current one.
    pub(super) fn resolve_one(&self, jni: Jni, thread: ThreadIndex, counter: CounterIndex) {
        if !self.heap_is_full.load(Ordering::Relaxed)
            && let Some(unknown) = self.unknown(counter)
        {
            self.core.exclude(jni, thread, || self.resolve_all(jni, vec![unknown], ResolvePhase::Meanwhile));
        }
    }

    /// A counter that is not resolved yet, with the number of its rewriting.
    fn unknown(&self, counter: CounterIndex) -> Option<(RewritingIndex, CounterIndex)> {
        let record = self.counters.get(counter)?;
        let is_unknown = record.kind.name().is_some() && record.resolved.get().is_none();
        let code = self.rewritings.method(record.site.filter(|_| is_unknown)?.code)?;
        Some((code.rewriting, counter))
    }

    fn resolve_all(&self, jni: Jni, mut unknown: Vec<(RewritingIndex, CounterIndex)>, phase: ResolvePhase) {
        unknown.sort_unstable();
        unknown.dedup();
        for counters in unknown.chunk_by(|a, b| a.0 == b.0) {
            if !self.may_allocate(jni, phase) {
                return self.heap_is_full.store(true, Ordering::Relaxed);
            }
            if let Err(error) = self.resolve(jni, counters[0].0, counters.iter().map(|c| c.1), phase) {
                if error == jvmti::Error::OUT_OF_MEMORY {
                    return self.heap_is_full.store(true, Ordering::Relaxed);
                }
                self.core.count_failure("site", error);
            }
        }
    }

    /// Whether the heap has room for what resolving takes: strings for names, an instance of each class. The agent must not be the
    /// first that finds no room, and at VMDeath nobody makes room any more but a collector that stops all threads for it.
    fn may_allocate(&self, jni: Jni, phase: ResolvePhase) -> bool {
        let has_room = || HeapRoom::now(jni).is_none_or(|room| room.free >= NEEDED_ROOM.min(room.max / 16));
        let collects = || {
            phase != ResolvePhase::Meanwhile
                && self.core.jvm.collector(jni) == Collector::Stopping
                && self.core.collect().is_ok()
        };
        has_room() || collects() && has_room()
    }

    /// Resolves counters of one rewriting, unless its class is unloaded.
    fn resolve(
        &self,
        jni: Jni,
        rewriting: RewritingIndex,
        counters: impl Iterator<Item = CounterIndex>,
        phase: ResolvePhase,
    ) -> jvmti::Result<()> {
        let Class::Loaded(class) = self.rewritings.class(jni, rewriting)? else { return Ok(()) };
        // SAFETY: a local reference that is used nowhere else.
        let declaring = unsafe { Declaring::of(self.core, jni, class)? };
        let mut looked_up = FxHashMap::default();
        let mut resolve = |counter| {
            let Some(record) = self.counters.get(counter) else { return Ok(()) };
            let (Some(name), Some(site)) = (record.kind.name(), record.site) else { return Ok(()) };
            let found = match looked_up.get(&name) {
                Some(&found) => found,
                None => {
                    let is_instance = matches!(record.kind, CounterKind::Instances(_));
                    let found = self.look_up(jni, &declaring, &self.counters.name_of(name), is_instance, phase)?;
                    *looked_up.entry(name).or_insert(found)
                }
            };
            match found {
                ClassLookup::Class(class) => {
                    let location = self.location(&declaring, site);
                    self.counters.resolve(counter, Some(AllocationSite { class, location }));
                }
                ClassLookup::NotReady if phase == ResolvePhase::AfterTheEnd => self.counters.resolve(counter, None),
                ClassLookup::NotReady | ClassLookup::Unknown => {}
                ClassLookup::NoInstances => self.counters.resolve(counter, None),
            }
            Ok(())
        };
        let result = { counters }.try_for_each(&mut resolve);
        declaring.release(jni);
        result
    }

    fn location(&self, declaring: &Declaring, site: BytecodeSite) -> Option<CodeLocation> {
        let code = self.rewritings.method(site.code)?;
        let method = self.core.jvm.methods.named(declaring.index, &code.name, &code.descriptor, code.lines);
        Some(CodeLocation { method, line: site.line })
    }

    /// The class to which a name refers in the code of another.
    fn look_up(
        &self,
        jni: Jni,
        declaring: &Declaring,
        name: &[u8],
        is_instance: bool,
        phase: ResolvePhase,
    ) -> jvmti::Result<ClassLookup> {
        let Some(class) = declaring.find(jni, name)? else { return Ok(ClassLookup::NotReady) };
        // SAFETY: a live local reference, deleted here.
        unsafe {
            let found = if is_instance {
                sized(self.core, jni, class, phase)
            } else {
                self.core.jvm.classes.resolve(jni, class).map(ClassLookup::Class)
            };
            jni.delete_local_ref(class);
            found
        }
    }

    /// The counters of a class at a site whose classes are known only when it runs.
    ///
    /// # Safety
    /// `loaded` is a live reference to that class.
    pub(super) unsafe fn at_dynamic_site(
        &self,
        here: &Here<'_>,
        site: CounterIndex,
        class: ClassIndex,
        loaded: jclass,
    ) -> Option<DynamicCounters> {
        let jni = here.jni;
        if site == NEW_INSTANCE_CALLER {
            return self.counters.subtracted(class).map(DynamicCounters::First);
        }
        let found = caller(self.core, jni).and_then(|(method, location)| {
            // SAFETY: by the caller's promise; the method is on the stack.
            if !unsafe { self.makes(jni, method, site, loaded)? } {
                return Ok(Some(DynamicCounters::CountedElsewhere));
            }
            // SAFETY: by the caller's promise.
            unsafe { self.expect_size(here, class, loaded) };
            let resolved = AllocationSite { class, location: Some(location) };
            Ok(self.counters.at_dynamic_site(site, resolved).map(DynamicCounters::First))
        });
        found.unwrap_or_else(|error| {
            self.core.count_failure("site", error);
            None
        })
    }

    /// Sees that the size of a class's instances will be known: the hook must not pass the object, or the JIT could not remove it.
    ///
    /// # Safety
    /// `class` is a live reference to the class of that number.
    unsafe fn expect_size(&self, here: &Here<'_>, index: ClassIndex, class: jclass) {
        let jni = here.jni;
        let is_known = |c: &ClassRecord| c.array.is_array() || c.instance_bytes() > 0;
        if self.core.jvm.classes.get(index).is_none_or(is_known) {
            return;
        }
        // SAFETY: by the caller's promise.
        let reference = SharedRef(unsafe { jni.new_global_ref(class) });
        if !reference.0.is_null() {
            self.unsized_classes.lock().push(reference);
            self.core.exclude(jni, here.carrier, || self.find_sizes(jni, ResolvePhase::Meanwhile));
        }
    }

    /// Finds the sizes that are not known yet, of classes that are initialised by now.
    fn find_sizes(&self, jni: Jni, phase: ResolvePhase) {
        let mut classes = std::mem::take(&mut *self.unsized_classes.lock());
        if classes.is_empty() {
            return;
        }
        let has_room = self.may_allocate(jni, phase);
        classes.retain(|&SharedRef(class)| {
            // SAFETY: a live reference, deleted when it has no other use.
            unsafe {
                let found = if has_room { sized(self.core, jni, class, phase) } else { Ok(ClassLookup::NotReady) };
                let is_left = phase != ResolvePhase::AfterTheEnd && matches!(found, Ok(ClassLookup::NotReady) | Err(_));
                if !is_left {
                    jni.delete_global_ref(class);
                }
                is_left
            }
        });
        self.unsized_classes.lock().append(&mut classes);
    }

    /// Whether the site makes instances of that class itself: where `clone` is called, if that is `Object.clone`.
    ///
    /// # Safety
    /// `class` is a live reference, and the class of `caller` is alive.
    unsafe fn makes(&self, jni: Jni, caller: jmethodID, site: CounterIndex, class: jclass) -> jvmti::Result<bool> {
        let (owner, by_owner) = match self.counters.get(site).map(|record| record.kind) {
            Some(CounterKind::CloneSite(owner)) => (owner, false),
            Some(CounterKind::SuperCloneSite(owner)) => (owner, true),
            // SAFETY: by the caller's promise.
            Some(CounterKind::BareSite) => return unsafe { has_instances(self.core, class) },
            _ => return Ok(true),
        };
        let core = self.core;
        // SAFETY: by the caller's promise; local references, deleted here.
        unsafe {
            let declaring = Declaring::of(core, jni, core.jvm.env.get_method_declaring_class(caller)?)?;
            let owner = declaring.find(jni, &self.counters.name_of(owner));
            declaring.release(jni);
            let Some(owner) = owner? else { return Ok(false) };
            let makes = if by_owner {
                clones_as_object(core, jni, owner)
            } else if is_below(jni, class, owner) {
                clones_as_object(core, jni, class)
            } else {
                // A `clone` of another class made it, which may return anything.
                Ok(false)
            };
            jni.delete_local_ref(owner);
            makes
        }
    }
}

/// A class, with the size of an instance.
///
/// # Safety
/// `class` is a live reference to a class that is no array.
unsafe fn sized(core: &Core, jni: Jni, class: jclass, phase: ResolvePhase) -> jvmti::Result<ClassLookup> {
    // SAFETY: by the caller's promise.
    unsafe {
        let status = core.jvm.env.get_class_status(class)?;
        if status & JVMTI_CLASS_STATUS_ERROR != 0 {
            return Ok(ClassLookup::NoInstances);
        }
        // The VM reports the size of objects only, so one is made; but the agent must not cause a class to be initialised.
        let is_initialised = status & JVMTI_CLASS_STATUS_INITIALIZED != 0;
        let is_linked = status & JVMTI_CLASS_STATUS_PREPARED != 0;
        if !is_initialised && (phase == ResolvePhase::Meanwhile || !is_linked) {
            return Ok(ClassLookup::NotReady);
        }
        let index = core.jvm.classes.resolve(jni, class)?;
        if core.jvm.classes.get(index).is_some_and(|class| class.instance_bytes() > 0) {
            return Ok(ClassLookup::Class(index));
        }
        if !is_initialised {
            // Its initialiser, which may be the whole program, still runs.
            let found = instance_bytes(core.jvm, class)?;
            if let (Some(bytes), Some(class)) = (found, core.jvm.classes.get(index)) {
                class.set_instance_bytes(bytes);
                return Ok(ClassLookup::Class(index));
            }
            return Ok(ClassLookup::Unknown);
        }
        if core.jvm.env.get_class_modifiers(class)? & i32::from(ABSTRACT | INTERFACE) != 0 {
            return Ok(ClassLookup::NoInstances);
        }
        let object = jni.alloc_object(class).inspect_err(|_| jni.exception_clear()).map_err(no_memory)?;
        let sized = core.jvm.classes.note_size(index, object);
        jni.delete_local_ref(object);
        sized.map(|_| ClassLookup::Class(index))
    }
}

/// Whether a class is neither abstract nor primitive nor an array.
///
/// # Safety
/// `class` is a live reference.
unsafe fn has_instances(core: &Core, class: jclass) -> jvmti::Result<bool> {
    // SAFETY: by the caller's promise.
    unsafe {
        let modifiers = core.jvm.env.get_class_modifiers(class)?;
        let is_made = modifiers & i32::from(ABSTRACT | INTERFACE) == 0;
        // Classes of arrays and primitives are abstract.
        Ok(is_made && core.jvm.env.get_class_status(class)? & JVMTI_CLASS_STATUS_ERROR == 0)
    }
}

/// Whether `clone` of a class, as it is or inherited, is `Object.clone`.
///
/// # Safety
/// `class` is a live reference.
unsafe fn clones_as_object(core: &Core, jni: Jni, class: jclass) -> jvmti::Result<bool> {
    // SAFETY: by the caller's promise; all references are local and deleted.
    unsafe {
        let Ok(clone) = jni.get_method_id(class, c"clone", c"()Ljava/lang/Object;") else {
            jni.exception_clear();
            return Ok(false);
        };
        let declaring = core.jvm.env.get_method_declaring_class(clone)?;
        let above = jni.get_superclass(declaring);
        jni.delete_local_ref(declaring);
        let is_object = above.is_null();
        jni.delete_local_ref(above);
        Ok(is_object)
    }
}

/// Whether a class is another or extends it.
///
/// # Safety
/// Both are live references.
unsafe fn is_below(jni: Jni, class: jclass, above: jclass) -> bool {
    // SAFETY: by the caller's promise; all references are local and deleted.
    unsafe {
        let mut class = jni.new_local_ref(class);
        loop {
            if class.is_null() || jni.is_same_object(class, above) {
                let found = !class.is_null();
                jni.delete_local_ref(class);
                return found;
            }
            let next = jni.get_superclass(class);
            jni.delete_local_ref(class);
            class = next;
        }
    }
}

/// Which method called MartiniCounts on the current thread, and where.
fn caller(core: &Core, jni: Jni) -> jvmti::Result<(jmethodID, CodeLocation)> {
    // Two or three are MartiniCounts' own, under the native method.
    let mut frames = vec![jvmtiFrameInfo::default(); 5];
    loop {
        // SAFETY: null is the current thread, and methods on its stack are of living classes.
        unsafe {
            let found = core.jvm.env.get_stack_trace(null_mut(), 0, &mut frames)?.to_vec();
            for frame in &found {
                let index = core.jvm.methods.resolve(jni, frame.method, &core.jvm.classes)?;
                let Some(record) = core.jvm.methods.get(index) else { continue };
                if core.jvm.classes.get(record.class).is_none_or(|c| c.name != COUNTS.dotted_name) {
                    return Ok((frame.method, CodeLocation { method: index, line: record.line(frame.location) }));
                }
            }
            if found.len() < frames.len() || frames.len() >= MAX_FRAMES {
                return Err(jvmti::Error::NO_MORE_FRAMES);
            }
            frames.resize(frames.len() * 4, jvmtiFrameInfo::default());
        }
    }
}
