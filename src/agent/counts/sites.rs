//! From a counter to its site and class.
//!
//! The site is looked up on the thread that runs it for the first time; its class when it runs again, or some time later.

use std::ffi::CString;
use std::ptr::null_mut;

use jvmti::Jni;
use jvmti::jni_sys::jclass;
use jvmti::sys::{JVMTI_CLASS_STATUS_INITIALIZED, jvmtiFrameInfo};
use rustc_hash::FxHashMap;

use super::slots::{ARRAY_TAKEN, CounterIndex, Place, Resolved, Role};
use super::{Counts, lock, proxy};
use crate::agent::Agent;
use crate::agent::classes::ClassIndex;
use crate::agent::threads::ThreadIndex;

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

/// A site that has run, but whose class is not known yet: the hook comes before the instruction that may load it.
#[derive(Default)]
pub(super) struct Pending {
    /// By declaring class: a global reference to it, and the counters of its sites.
    by_class: FxHashMap<u32, (Declaring, Vec<CounterIndex>)>,
}

/// A global reference to a class with sites; deleted by whoever takes it out.
struct Declaring(jclass);

// SAFETY: JNI lets every thread use a global reference.
unsafe impl Send for Declaring {}

impl Counts {
    /// The current thread runs the site of a counter, for the first time or again (`again`). Returns whether that is to be
    /// counted; it is not if the time before must have failed, since then this one takes its place.
    pub(super) fn visit(
        &self,
        agent: &'static Agent,
        jni: Jni,
        thread: ThreadIndex,
        counter: CounterIndex,
        again: bool,
    ) -> bool {
        let Some(slot) = self.slots.get(counter) else { return true };
        let Some(name) = slot.role.name().filter(|_| slot.resolved.get().is_none()) else { return true };
        let (place, is_new) = match slot.place.get() {
            Some(place) => (place, false),
            None => match caller(agent, jni) {
                Ok(caller) => (slot.place.get_or_init(|| caller), true),
                Err(error) => {
                    agent.count_failure("site", error);
                    return true;
                }
            },
        };
        let Some(method) = agent.methods.get(place.method) else { return true };
        // SAFETY: the method is on the stack, so its class is alive; the reference is deleted below.
        unsafe {
            let Ok(declaring) = agent.env.get_method_declaring_class(method.vm.0) else { return true };
            let there = matches!(slot.role, Role::ByTheVm(_)) || is_primitive(&self.slots.name_of(name));
            let used = again || there;
            if used || !is_new {
                // Who was here before may have been another thread, which has not come further yet.
                let readiness = if used { Readiness::Used } else { Readiness::Unknown };
                agent.exclude(jni, thread, || self.resolve(agent, jni, declaring, counter, readiness));
            }
            if !again && slot.resolved.get().is_none() {
                self.put_off(jni, declaring, method.class, counter);
            }
            jni.delete_local_ref(declaring);
        }
        !again || slot.resolved.get().is_some()
    }

    /// Looks for the classes of sites that have run once.
    pub(crate) fn resolve_pending(&self, agent: &'static Agent, jni: Jni) {
        let pending = std::mem::take(&mut lock(&self.pending).by_class);
        for (Declaring(declaring), counters) in pending.into_values() {
            for counter in counters {
                // SAFETY: a global reference.
                unsafe { self.resolve(agent, jni, declaring, counter, Readiness::Unknown) };
            }
            // SAFETY: nobody else has it any more.
            unsafe { jni.delete_global_ref(declaring) };
        }
    }

    /// # Safety
    /// `declaring` is a live reference to a class.
    unsafe fn put_off(&self, jni: Jni, declaring: jclass, class: ClassIndex, counter: CounterIndex) {
        let mut pending = lock(&self.pending);
        // SAFETY: by the caller's promise.
        let make = || (Declaring(unsafe { jni.new_global_ref(declaring) }), Vec::new());
        pending.by_class.entry(class.0).or_insert_with(make).1.push(counter);
    }

    /// Finds out what class a counter counts. It stays unknown if there is no such class, or not yet.
    ///
    /// # Safety
    /// `declaring` is a live reference to the class with the site.
    unsafe fn resolve(
        &self,
        agent: &'static Agent,
        jni: Jni,
        declaring: jclass,
        counter: CounterIndex,
        readiness: Readiness,
    ) {
        let Some(slot) = self.slots.get(counter) else { return };
        let (Some(name), Some(place)) = (slot.role.name(), slot.place.get()) else { return };
        let is_instance = matches!(slot.role, Role::Instances(_));
        // SAFETY: by the caller's promise.
        match unsafe { self.class(agent, jni, declaring, &self.slots.name_of(name), is_instance, readiness) } {
            Ok(Some(class)) => self.slots.resolve(counter, Resolved { class, place: Some(*place) }),
            Ok(None) => {}
            Err(error) => agent.count_failure("site", error),
        }
    }

    /// The counters of a class at a site whose classes show when it runs.
    ///
    /// # Safety
    /// `loaded` is a live reference to that class.
    pub(super) unsafe fn seen_at(
        &self,
        agent: &'static Agent,
        jni: Jni,
        site: CounterIndex,
        class: ClassIndex,
        loaded: jclass,
    ) -> Option<Seen> {
        if site == ARRAY_TAKEN {
            return self.slots.taken(class).map(Seen::Counters);
        }
        let found = caller(agent, jni).and_then(|caller| {
            // SAFETY: by the caller's promise.
            if !unsafe { self.makes(agent, jni, caller, site, loaded)? } {
                return Ok(Some(Seen::MadeElsewhere));
            }
            let resolved = Resolved { class, place: Some(caller) };
            Ok(self.slots.seen(site, resolved).map(Seen::Counters))
        });
        found.unwrap_or_else(|error| {
            agent.count_failure("site", error);
            None
        })
    }

    /// Whether the site makes instances of that class itself: where `clone` is called, if that is `Object.clone`.
    ///
    /// # Safety
    /// `class` is a live reference.
    unsafe fn makes(
        &self,
        agent: &'static Agent,
        jni: Jni,
        caller: Place,
        site: CounterIndex,
        class: jclass,
    ) -> jvmti::Result<bool> {
        let (owner, by_owner) = match self.slots.get(site).map(|slot| slot.role) {
            Some(Role::CloneSite(owner)) => (owner, false),
            Some(Role::SuperCloneSite(owner)) => (owner, true),
            _ => return Ok(true),
        };
        // SAFETY: the method is on the stack, so its class is alive; by the caller's promise; local references, deleted here.
        unsafe {
            let Some(method) = agent.methods.get(caller.method) else { return Ok(false) };
            let declaring = agent.env.get_method_declaring_class(method.vm.0)?;
            let owner = find(agent, jni, declaring, &self.slots.name_of(owner));
            jni.delete_local_ref(declaring);
            let Some(owner) = owner? else { return Ok(false) };
            let makes = if by_owner {
                clones_as_object(agent, jni, owner)
            } else if is_below(jni, class, owner) {
                clones_as_object(agent, jni, class)
            } else {
                // It was made by a `clone` that returns what it likes.
                Ok(false)
            };
            jni.delete_local_ref(owner);
            makes
        }
    }

    /// The class that the code of `declaring` means by that name, if it has it already.
    ///
    /// # Safety
    /// `declaring` is a live reference to a class.
    unsafe fn class(
        &self,
        agent: &'static Agent,
        jni: Jni,
        declaring: jclass,
        name: &[u8],
        is_instance: bool,
        readiness: Readiness,
    ) -> jvmti::Result<Option<ClassIndex>> {
        // SAFETY: by the caller's promise; the class is a local reference, deleted here.
        unsafe {
            let Some(class) = find(agent, jni, declaring, name)? else { return Ok(None) };
            let index =
                if is_instance { self.sized(agent, jni, class, readiness) } else { self.known(agent, jni, class) };
            jni.delete_local_ref(class);
            index
        }
    }

    /// # Safety
    /// `class` is a live reference.
    unsafe fn known(&self, agent: &'static Agent, jni: Jni, class: jclass) -> jvmti::Result<Option<ClassIndex>> {
        // SAFETY: by the caller's promise.
        unsafe { agent.classes.resolve(agent.env, jni, class, agent) }.map(Some)
    }

    /// As `known`, with the size of an instance.
    ///
    /// # Safety
    /// `class` is a live reference to a class that is no array.
    unsafe fn sized(
        &self,
        agent: &'static Agent,
        jni: Jni,
        class: jclass,
        readiness: Readiness,
    ) -> jvmti::Result<Option<ClassIndex>> {
        // SAFETY: by the caller's promise.
        unsafe {
            // The VM tells the size of objects only, so it takes one; but nobody shall initialise a class on our behalf.
            let initialised = agent.env.get_class_status(class)? & JVMTI_CLASS_STATUS_INITIALIZED != 0;
            if readiness == Readiness::Unknown && !initialised {
                return Ok(None);
            }
            let index = agent.classes.resolve(agent.env, jni, class, agent)?;
            if agent.classes.get(index).is_some_and(|c| c.instance_bytes() == 0) {
                match jni.alloc_object(class) {
                    Ok(object) => {
                        agent.classes.code(agent.env, index, object)?;
                        jni.delete_local_ref(object);
                    }
                    // There are no instances: it is abstract, or its initialiser has failed.
                    Err(_) => {
                        jni.exception_clear();
                        return Ok(None);
                    }
                }
            }
            Ok(Some(index))
        }
    }
}

/// The class that the code of `declaring` means by that name, if it has it already, as a local reference.
///
/// # Safety
/// `declaring` is a live reference to a class.
unsafe fn find(agent: &Agent, jni: Jni, declaring: jclass, name: &[u8]) -> jvmti::Result<Option<jclass>> {
    let Ok(c_name) = CString::new(name) else { return Ok(None) };
    // SAFETY: by the caller's promise; the loader is a local reference, deleted here.
    unsafe {
        // A hidden class means itself by a name that nobody finds.
        if is_hidden_name(&agent.env.get_class_signature(declaring)?, name) {
            return Ok(Some(jni.new_local_ref(declaring)));
        }
        let loader = agent.env.get_class_loader(declaring)?;
        let found = jni.find_loaded_class(&c_name, loader);
        jni.delete_local_ref(loader);
        Ok(found)
    }
}

/// What is known of a class that is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Readiness {
    /// The current thread has made an instance, unless that failed.
    Used,
    /// It may not even be loaded.
    Unknown,
}

/// Whether a descriptor is that of an array of primitives.
fn is_primitive(descriptor: &[u8]) -> bool {
    matches!(descriptor, [b'[', b'Z' | b'C' | b'F' | b'D' | b'B' | b'S' | b'I' | b'J'])
}

/// Whether a signature is that of a hidden class whose class file has that name: the VM appends a number to it, behind a
/// slash, or behind a dot from JDK 15 on.
fn is_hidden_name(signature: &[u8], name: &[u8]) -> bool {
    let rest = signature.strip_prefix(b"L").and_then(|s| s.strip_prefix(name));
    matches!(rest, Some([b'.', ..] | [b'/', b'0'..=b'9', ..]))
}

/// Whether `clone` of a class, as it is or inherited, is `Object.clone`.
///
/// # Safety
/// `class` is a live reference.
unsafe fn clones_as_object(agent: &'static Agent, jni: Jni, class: jclass) -> jvmti::Result<bool> {
    // SAFETY: by the caller's promise; all references are local and deleted.
    unsafe {
        let Ok(clone) = jni.get_method_id(class, c"clone", c"()Ljava/lang/Object;") else {
            jni.exception_clear();
            return Ok(false);
        };
        let declaring = agent.env.get_method_declaring_class(clone)?;
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

/// Where MartiniCounts was called, on the current thread.
fn caller(agent: &'static Agent, jni: Jni) -> jvmti::Result<Place> {
    // Two or three are MartiniCounts' own, under the native method.
    let mut frames = vec![jvmtiFrameInfo::default(); 5];
    loop {
        // SAFETY: null is the current thread, and methods on its stack are of living classes.
        unsafe {
            let found = agent.env.get_stack_trace(null_mut(), 0, &mut frames)?.to_vec();
            for frame in &found {
                let index = agent.methods.resolve(agent.env, jni, frame.method, &agent.classes, agent)?;
                let Some(record) = agent.methods.get(index) else { continue };
                if agent.classes.get(record.class).is_none_or(|c| c.name != proxy::DOTTED_NAME) {
                    return Ok(Place { method: index, line: record.line(frame.location) });
                }
            }
            if found.len() < frames.len() || frames.len() >= MOST_FRAMES {
                return Err(jvmti::Error::NO_MORE_FRAMES);
            }
            frames.resize(frames.len() * 4, jvmtiFrameInfo::default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_classes_are_told_by_what_is_appended() {
        for (signature, hidden) in [
            (&b"La/B$$Lambda$1/1234;"[..], true),
            (b"La/B$$Lambda$1.0x00001234;", true),
            (b"La/B$$Lambda$1;", false),
            (b"La/B$$Lambda$12;", false),
            (b"La/B$$Lambda$1/C;", false),
        ] {
            assert_eq!(is_hidden_name(signature, b"a/B$$Lambda$1"), hidden);
        }
    }
}
