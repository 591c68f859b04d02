//! From a counter to its site and class: looked up on the thread that runs the site for the first time.

use std::ffi::CString;
use std::ptr::null_mut;

use jvmti::Jni;
use jvmti::jni_sys::{jclass, jmethodID};
use jvmti::sys::jvmtiFrameInfo;

use super::slots::{CounterIndex, NameIndex, Resolved, Role};
use super::{Counts, proxy};
use crate::agent::Agent;
use crate::agent::classes::ClassIndex;
use crate::agent::methods::MethodIndex;
use crate::agent::threads::ThreadIndex;

/// A caller of MartiniCounts is found within so many frames; each dimension of an array takes one.
const MOST_FRAMES: usize = 512;

/// The method and place that called MartiniCounts.
struct Caller {
    method: jmethodID,
    index: MethodIndex,
    line: u32,
}

/// What a site does that makes, or may make, objects of a class.
#[derive(Clone, Copy, Debug)]
pub(super) enum Seen {
    /// It makes them, which these count.
    Counters(CounterIndex),
    /// It calls what makes them, where they are counted.
    MadeElsewhere,
}

impl Counts {
    /// Finds out what a counter counts, unless that is known already. Failures are counted; the counter stays nameless.
    pub(super) fn resolve(&self, agent: &'static Agent, jni: Jni, thread: ThreadIndex, counter: CounterIndex) {
        let Some(slot) = self.slots.get(counter) else { return };
        let (Role::Instances(name) | Role::Arrays(name) | Role::ByTheVm(name)) = slot.role else { return };
        if slot.resolved.get().is_some() {
            return;
        }
        let resolved = caller(agent, jni).and_then(|caller| {
            let is_instance = matches!(slot.role, Role::Instances(_));
            let class = agent.exclude(jni, thread, || self.class(agent, jni, &caller, name, is_instance))?;
            Ok(class.map(|class| Resolved { class, method: caller.index, line: caller.line }))
        });
        match resolved {
            // Somebody else may have been faster, with the same result.
            Ok(Some(resolved)) => drop(slot.resolved.set(resolved)),
            Ok(None) => agent.count_lost("class of a site not found", 1),
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
        let found = caller(agent, jni).and_then(|caller| {
            // SAFETY: by the caller's promise.
            if !unsafe { self.makes(agent, jni, &caller, site, loaded)? } {
                return Ok(Some(Seen::MadeElsewhere));
            }
            let resolved = Resolved { class, method: caller.index, line: caller.line };
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
        caller: &Caller,
        site: CounterIndex,
        class: jclass,
    ) -> jvmti::Result<bool> {
        let (owner, by_owner) = match self.slots.get(site).map(|slot| slot.role) {
            Some(Role::CloneSite(owner)) => (owner, false),
            Some(Role::SuperCloneSite(owner)) => (owner, true),
            _ => return Ok(true),
        };
        let Some(owner) = self.find(agent, jni, caller, owner)? else { return Ok(false) };
        // SAFETY: by the caller's promise; the owner is a local reference, deleted here.
        unsafe {
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

    /// The class that the caller's code means by that name; it has used it just now.
    fn class(
        &self,
        agent: &'static Agent,
        jni: Jni,
        caller: &Caller,
        name: NameIndex,
        is_instance: bool,
    ) -> jvmti::Result<Option<ClassIndex>> {
        let Some(class) = self.find(agent, jni, caller, name)? else { return Ok(None) };
        // SAFETY: a local reference, deleted below.
        unsafe {
            let index = self.register(agent, jni, class, is_instance);
            jni.delete_local_ref(class);
            index.map(Some)
        }
    }

    /// The same as a local reference.
    fn find(&self, agent: &'static Agent, jni: Jni, caller: &Caller, name: NameIndex) -> jvmti::Result<Option<jclass>> {
        let Ok(name) = CString::new(self.slots.name_of(name)) else { return Ok(None) };
        // SAFETY: the method is on the stack, so its class is alive; all references are local and deleted below.
        unsafe {
            let declaring = agent.env.get_method_declaring_class(caller.method)?;
            let loader = agent.env.get_class_loader(declaring)?;
            // A hidden class means itself by a name that nobody finds.
            let found = if is_hidden_name(&agent.env.get_class_signature(declaring)?, name.as_bytes()) {
                Some(jni.new_local_ref(declaring))
            } else {
                jni.find_class_from(&name, loader, declaring)
            };
            jni.delete_local_ref(loader);
            jni.delete_local_ref(declaring);
            Ok(found)
        }
    }

    /// # Safety
    /// `class` is a live reference to an initialised class that `new` can make, or to one of arrays.
    unsafe fn register(
        &self,
        agent: &'static Agent,
        jni: Jni,
        class: jclass,
        is_instance: bool,
    ) -> jvmti::Result<ClassIndex> {
        // SAFETY: by the caller's promise.
        unsafe {
            let index = agent.classes.resolve(agent.env, jni, class, agent)?;
            if is_instance && agent.classes.get(index).is_some_and(|c| c.instance_bytes() == 0) {
                // The VM tells the size of objects only, so it takes one.
                match jni.alloc_object(class) {
                    Ok(object) => {
                        agent.classes.code(agent.env, index, object)?;
                        jni.delete_local_ref(object);
                    }
                    Err(_) => {
                        jni.exception_clear();
                        agent.count_lost("size of a class not found", 1);
                    }
                }
            }
            Ok(index)
        }
    }
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

/// The frame that called MartiniCounts, on the current thread.
fn caller(agent: &'static Agent, jni: Jni) -> jvmti::Result<Caller> {
    let mut frames = vec![jvmtiFrameInfo::default(); 8];
    loop {
        // SAFETY: null is the current thread, and methods on its stack are of living classes.
        unsafe {
            let found = agent.env.get_stack_trace(null_mut(), 0, &mut frames)?.to_vec();
            for frame in &found {
                let index = agent.methods.resolve(agent.env, jni, frame.method, &agent.classes, agent)?;
                let Some(record) = agent.methods.get(index) else { continue };
                if agent.classes.get(record.class).is_none_or(|c| c.name != proxy::DOTTED_NAME) {
                    return Ok(Caller { method: frame.method, index, line: record.line(frame.location) });
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
