//! From a counter to its site and class.
//!
//! The site is known from the rewriting; the class that it makes is there once the site has run, and looked up some time later, at
//! the end at the latest. A site that has run but whose class is not there, or has no instances, has failed each time: that the VM
//! finds a class, or can initialise it, does not change (JVMS 5.4.3, 5.5). What an initialiser made of its own class before it failed is
//! not reported.

use std::ffi::CString;
use std::ptr::null_mut;
use std::sync::atomic::Ordering;
use std::time::Instant;

use classfile::access::{ABSTRACT, INTERFACE};
use jvmti::jni_sys::{jclass, jmethodID, jobject};
use jvmti::sys::{
    JVMTI_CLASS_STATUS_ERROR, JVMTI_CLASS_STATUS_INITIALIZED, JVMTI_CLASS_STATUS_PREPARED, jvmtiFrameInfo,
};
use jvmti::{Allocated, Jni};
use rustc_hash::FxHashMap;

use super::counters::{ARRAY_TAKEN, AllocationSite, BytecodeSite, CounterKind};
use super::ids::{CounterIndex, RewritingIndex};
use super::rewritings::{Class, Part, is_hidden_name, no_memory};
use super::threads::ThreadCounts;
use super::{Counts, lock};
use crate::agent::core::Core;
use crate::agent::heap_histogram::instance_bytes;
use crate::agent::helpers::COUNTS;
use crate::agent::ids::{ClassIndex, CodeLocation};

/// A caller of MartiniCounts is found within so many frames; each dimension of an array takes one.
const MOST_FRAMES: usize = 512;

/// What a site does that makes, or may make, objects of a class.
#[derive(Clone, Copy, Debug)]
pub(super) enum Seen {
    /// It makes them, which these count.
    Counters(CounterIndex),
    /// It calls what makes them, where they are counted.
    MadeElsewhere,
}

/// What is known of the class that a site makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClassLookup {
    Class(ClassIndex),
    /// It is not there yet, or not initialised.
    NotYet,
    /// It has no instances.
    Never,
    /// It is not initialised yet, and may have some.
    Unknown,
}

/// When counters are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResolvePhase {
    /// The program runs on.
    Meanwhile,
    /// It ends.
    AtTheEnd,
    /// Nothing is counted any more.
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
        // SAFETY: local references that nobody uses any more.
        unsafe {
            jni.delete_local_ref(self.loader);
            jni.delete_local_ref(self.class);
        }
    }

    /// The class that its code means by that name, if it has it already, as a local reference.
    ///
    /// # Errors
    /// There is no memory.
    fn find(&self, jni: Jni, name: &[u8]) -> jvmti::Result<Option<jclass>> {
        let Ok(c_name) = CString::new(name) else { return Ok(None) };
        // SAFETY: live local references.
        unsafe {
            // A hidden class means itself by a name that nobody finds.
            if is_hidden_name(&self.signature, name) {
                return Ok(Some(jni.new_local_ref(self.class)));
            }
            jni.find_loaded_class(&c_name, self.loader).map_err(no_memory)
        }
    }
}

impl Counts {
    /// Finds out what those counters count that are not zero: those of one thread, or of all.
    pub(super) fn resolve_counted(&self, jni: Jni, own: Option<&ThreadCounts>, look: ResolvePhase) {
        if look != ResolvePhase::Meanwhile || !self.heap_is_full.load(Ordering::Relaxed) {
            self.resolve_all(jni, self.counted(own), look);
        }
    }

    /// Those of which it is not known yet what they count.
    fn counted(&self, own: Option<&ThreadCounts>) -> Vec<(RewritingIndex, CounterIndex)> {
        let mut unknown = Vec::new();
        let mut visit = |counter, _| unknown.extend(self.unknown(counter));
        // Threads that begin or end do not wait: whoever ends now looks for itself.
        let living = if own.is_none() { self.living() } else { Vec::new() };
        let sums = self.space.sums.iter().filter(|_| own.is_none());
        let blocks = own.into_iter().chain(living.iter().map(|counts| &**counts)).filter_map(ThreadCounts::block);
        blocks.chain(sums).for_each(|block| block.for_each(self.space.counters.len(), &mut visit));
        unknown
    }

    /// After a collection: what was rewritten of classes that may be unloaded is looked at, and may be unloaded from now on; and,
    /// unless that was a short time ago, whatever is counted.
    pub(super) fn resolve_meanwhile(&self, jni: Jni) {
        self.heap_is_full.store(false, Ordering::Relaxed);
        let fresh = self.space.rewritings.take_fresh();
        let counters = fresh.parts.iter().flat_map(Part::range);
        self.resolve_all(jni, counters.filter_map(|counter| self.unknown(counter)).collect(), ResolvePhase::Meanwhile);
        fresh.release(jni);
        self.space.rewritings.sweep(jni);
        let mut next = lock(&self.next_look);
        let begin = Instant::now();
        if next.is_none_or(|next| begin >= next) {
            let counted = self.counted(None);
            // So looking for them takes a hundredth of the time at most; finding out is done once.
            *next = Some(Instant::now() + begin.elapsed() * 99);
            self.resolve_all(jni, counted, ResolvePhase::Meanwhile);
        }
    }

    /// Whether it is not known what a counter counts, and there may be memory to find out.
    pub(super) fn may_resolve(&self, counter: CounterIndex) -> bool {
        !self.heap_is_full.load(Ordering::Relaxed) && self.unknown(counter).is_some()
    }

    /// Finds out what one counter counts.
    pub(super) fn resolve_one(&self, jni: Jni, counter: CounterIndex) {
        self.resolve_all(jni, self.unknown(counter).into_iter().collect(), ResolvePhase::Meanwhile);
    }

    /// A counter of which it is not known yet what it counts, with the number of its rewriting.
    fn unknown(&self, counter: CounterIndex) -> Option<(RewritingIndex, CounterIndex)> {
        let record = self.space.counters.get(counter)?;
        let is_unknown = record.kind.name().is_some() && record.resolved.get().is_none();
        let code = self.space.rewritings.method(record.site.filter(|_| is_unknown)?.code)?;
        Some((code.rewriting, counter))
    }

    fn resolve_all(&self, jni: Jni, mut unknown: Vec<(RewritingIndex, CounterIndex)>, look: ResolvePhase) {
        unknown.sort_unstable();
        unknown.dedup();
        for counters in unknown.chunk_by(|a, b| a.0 == b.0) {
            if let Err(error) = self.resolve(jni, counters[0].0, counters.iter().map(|c| c.1), look) {
                if error == jvmti::Error::OUT_OF_MEMORY {
                    return self.heap_is_full.store(true, Ordering::Relaxed);
                }
                self.core.count_failure("site", error);
            }
        }
    }

    /// Finds out what counters of one rewriting count, unless its class is unloaded.
    fn resolve(
        &self,
        jni: Jni,
        rewriting: RewritingIndex,
        counters: impl Iterator<Item = CounterIndex>,
        look: ResolvePhase,
    ) -> jvmti::Result<()> {
        let Class::There(class) = self.space.rewritings.class(jni, rewriting)? else { return Ok(()) };
        // SAFETY: a local reference, which nobody else has.
        let declaring = unsafe { Declaring::of(self.core, jni, class)? };
        let mut known = FxHashMap::default();
        let mut resolve = |counter| {
            let Some(record) = self.space.counters.get(counter) else { return Ok(()) };
            let (Some(name), Some(site)) = (record.kind.name(), record.site) else { return Ok(()) };
            let made = match known.get(&name) {
                Some(&made) => made,
                None => {
                    let is_instance = matches!(record.kind, CounterKind::Instances(_));
                    let made = self.made(jni, &declaring, &self.space.counters.name_of(name), is_instance, look)?;
                    *known.entry(name).or_insert(made)
                }
            };
            match made {
                ClassLookup::Class(class) => {
                    let location = self.location(&declaring, site);
                    self.space.counters.resolve(counter, Some(AllocationSite { class, location }));
                }
                ClassLookup::NotYet if look == ResolvePhase::AfterTheEnd => self.space.counters.resolve(counter, None),
                ClassLookup::NotYet | ClassLookup::Unknown => {}
                ClassLookup::Never => self.space.counters.resolve(counter, None),
            }
            Ok(())
        };
        let result = { counters }.try_for_each(&mut resolve);
        declaring.release(jni);
        result
    }

    fn location(&self, declaring: &Declaring, site: BytecodeSite) -> Option<CodeLocation> {
        let code = self.space.rewritings.method(site.code)?;
        let method = self.core.jvm.methods.named(declaring.index, &code.name, &code.descriptor, code.lines);
        Some(CodeLocation { method, line: site.line })
    }

    /// What the code of a class makes by that name.
    fn made(
        &self,
        jni: Jni,
        declaring: &Declaring,
        name: &[u8],
        is_instance: bool,
        look: ResolvePhase,
    ) -> jvmti::Result<ClassLookup> {
        let Some(class) = declaring.find(jni, name)? else { return Ok(ClassLookup::NotYet) };
        // SAFETY: a live local reference, deleted here.
        unsafe {
            let made = if is_instance {
                sized(self.core, jni, class, look)
            } else {
                self.core.jvm.classes.resolve(jni, class).map(ClassLookup::Class)
            };
            jni.delete_local_ref(class);
            made
        }
    }

    /// The counters of a class at a site whose classes show when it runs.
    ///
    /// # Safety
    /// `loaded` is a live reference to that class.
    pub(super) unsafe fn seen_at(
        &self,
        jni: Jni,
        site: CounterIndex,
        class: ClassIndex,
        loaded: jclass,
    ) -> Option<Seen> {
        if site == ARRAY_TAKEN {
            return self.space.counters.taken(class).map(Seen::Counters);
        }
        let found = caller(self.core, jni).and_then(|(method, location)| {
            // SAFETY: by the caller's promise; the method is on the stack.
            if !unsafe { self.makes(jni, method, site, loaded)? } {
                return Ok(Some(Seen::MadeElsewhere));
            }
            let resolved = AllocationSite { class, location: Some(location) };
            Ok(self.space.counters.seen(site, resolved).map(Seen::Counters))
        });
        found.unwrap_or_else(|error| {
            self.core.count_failure("site", error);
            None
        })
    }

    /// Whether the site makes instances of that class itself: where `clone` is called, if that is `Object.clone`.
    ///
    /// # Safety
    /// `class` is a live reference, and the class of `caller` is alive.
    unsafe fn makes(&self, jni: Jni, caller: jmethodID, site: CounterIndex, class: jclass) -> jvmti::Result<bool> {
        let (owner, by_owner) = match self.space.counters.get(site).map(|record| record.kind) {
            Some(CounterKind::CloneSite(owner)) => (owner, false),
            Some(CounterKind::SuperCloneSite(owner)) => (owner, true),
            _ => return Ok(true),
        };
        let core = self.core;
        // SAFETY: by the caller's promise; local references, deleted here.
        unsafe {
            let declaring = Declaring::of(core, jni, core.jvm.env.get_method_declaring_class(caller)?)?;
            let owner = declaring.find(jni, &self.space.counters.name_of(owner));
            declaring.release(jni);
            let Some(owner) = owner? else { return Ok(false) };
            let makes = if by_owner {
                clones_as_object(core, jni, owner)
            } else if is_below(jni, class, owner) {
                clones_as_object(core, jni, class)
            } else {
                // It was made by a `clone` that returns what it likes.
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
unsafe fn sized(core: &Core, jni: Jni, class: jclass, look: ResolvePhase) -> jvmti::Result<ClassLookup> {
    // SAFETY: by the caller's promise.
    unsafe {
        let status = core.jvm.env.get_class_status(class)?;
        if status & JVMTI_CLASS_STATUS_ERROR != 0 {
            return Ok(ClassLookup::Never);
        }
        // The VM shows the size of objects only, so it takes one; but no class may be initialised because of the agent.
        let is_initialised = status & JVMTI_CLASS_STATUS_INITIALIZED != 0;
        let is_linked = status & JVMTI_CLASS_STATUS_PREPARED != 0;
        if !is_initialised && (look == ResolvePhase::Meanwhile || !is_linked) {
            return Ok(ClassLookup::NotYet);
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
            return Ok(ClassLookup::Never);
        }
        let object = jni.alloc_object(class).inspect_err(|_| jni.exception_clear()).map_err(no_memory)?;
        let sized = core.jvm.classes.note_size(index, object);
        jni.delete_local_ref(object);
        sized.map(|_| ClassLookup::Class(index))
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
            if found.len() < frames.len() || frames.len() >= MOST_FRAMES {
                return Err(jvmti::Error::NO_MORE_FRAMES);
            }
            frames.resize(frames.len() * 4, jvmtiFrameInfo::default());
        }
    }
}
