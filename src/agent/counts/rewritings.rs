//! Which class came of what was rewritten: found by its name and loader, or, where the VM does not find it so, when it has made it.
//!
//! What may be unloaded is kept alive until it was looked at, after the next collection; by then most sites that will ever run
//! have run.

use std::cell::RefCell;
use std::ffi::CString;
use std::ops::Range;
use std::sync::{Mutex, OnceLock};

use jvmti::jni_sys::{jclass, jlong, jobject, jweak};
use jvmti::{Env, Jni, JniError};
use rustc_hash::FxHashMap;

use super::ids::{CounterIndex, RewritingIndex, RewrittenMethodIndex};
use super::lock;
use crate::agent::core::Core;
use crate::agent::tables::table::Table;

/// Whose class file is rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A class of that loader, a live reference; null is the boot loader.
    Loader(jobject),
    /// A class that is not found by its name, which the current thread is about to define: a hidden one, or one that reflection makes.
    Nameless,
}

impl Origin {
    /// A class of that internal name and loader; null is the boot loader, and a hidden class has none.
    pub(crate) fn of(loader: Option<jobject>, name: &[u8]) -> Origin {
        let Some(loader) = loader else { return Origin::Nameless };
        // HotSpot looks in the loader above that of such a class (`java_lang_ClassLoader::non_reflection_class_loader`).
        if name.starts_with(b"jdk/internal/reflect/Generated") { Origin::Nameless } else { Origin::Loader(loader) }
    }
}

/// A class file that was rewritten, and has sites.
struct Rewriting {
    /// Internal.
    name: CString,
    declaring: Declaring,
}

enum Declaring {
    /// A class of the boot loader, or of that one.
    Named(Option<KeptIndex>),
    /// A class that is not found by its name, once the VM has it.
    Nameless(OnceLock<KeptIndex>),
}

/// A method with sites.
pub(super) struct RewrittenMethod {
    pub(super) rewriting: RewritingIndex,
    /// Modified UTF-8.
    pub(super) name: Box<[u8]>,
    pub(super) descriptor: Box<[u8]>,
    /// First and last line, if known.
    pub(super) lines: Option<(u32, u32)>,
}

/// Number of a class loader, or of a class that is not found by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct KeptIndex(u32);

/// Class loaders are tagged in the environment of the classes from here on; classes and threads have lower tags.
const LOADERS: jlong = 1 << 41;

struct Weak(jweak);

// SAFETY: JNI lets every thread use a weak global reference.
unsafe impl Send for Weak {}

struct Strong(jobject);

// SAFETY: JNI lets every thread use a global reference.
unsafe impl Send for Strong {}

/// So many parts are kept at most; others may be unloaded before they are looked at.
const MOST_FRESH: usize = 1024;
/// So many weak references are not worth a look.
const FEW_WEAK: usize = 1024;

/// Weak references to all that may be unloaded.
#[derive(Default)]
struct Kept {
    /// `None` for what is unloaded.
    references: Vec<Option<Weak>>,
    there: usize,
    /// How many there were after the last sweep.
    swept: usize,
}

/// What was rewritten of a class that may be unloaded.
pub(super) struct Part {
    pub(super) rewriting: RewritingIndex,
    /// Its counters, among others.
    pub(super) counters: Range<u32>,
}

/// What was not looked at yet.
#[derive(Default)]
pub(super) struct Fresh {
    pub(super) parts: Vec<Part>,
    /// Nothing of it is unloaded meanwhile.
    kept: FxHashMap<u32, Strong>,
}

impl Fresh {
    /// It may be unloaded from now on.
    pub(super) fn release(self, jni: Jni) {
        for Strong(reference) in self.kept.into_values() {
            // SAFETY: a global reference that nobody else has.
            unsafe { jni.delete_global_ref(reference) };
        }
    }
}

/// The class of a rewriting.
pub(super) enum Class {
    /// A local reference.
    There(jclass),
    /// The VM has not made it yet, or never will.
    NotYet,
    Unloaded,
}

thread_local! {
    /// Such classes that this thread is about to define, by internal name: others may come in between.
    static COMING: RefCell<Vec<(Box<[u8]>, Part)>> = const { RefCell::new(Vec::new()) };
}

/// More are not defined within each other; what is left over was refused by the VM.
const MOST_COMING: usize = 64;

/// All that was rewritten and has sites.
pub(super) struct Rewritings {
    rewritings: Table<Rewriting>,
    methods: Table<RewrittenMethod>,
    kept: Mutex<Kept>,
    fresh: Mutex<Fresh>,
}

impl Rewritings {
    pub(super) fn new() -> Rewritings {
        Rewritings { rewritings: Table::new(), methods: Table::new(), kept: Mutex::default(), fresh: Mutex::default() }
    }

    /// A class file of that internal name is being rewritten and has a site; `None` if the VM has no memory for a reference.
    ///
    /// # Safety
    /// `origin` holds a live reference or null.
    pub(super) unsafe fn begin(&self, env: Env, jni: Jni, name: &[u8], origin: Origin) -> Option<RewritingIndex> {
        let name = CString::new(name).ok()?;
        let declaring = match origin {
            Origin::Loader(loader) if loader.is_null() => Declaring::Named(None),
            // SAFETY: by the caller's promise.
            Origin::Loader(loader) => Declaring::Named(Some(unsafe { self.loader(env, jni, loader) }?)),
            Origin::Nameless => Declaring::Nameless(OnceLock::new()),
        };
        Some(RewritingIndex(self.rewritings.push_with(|_| Rewriting { name, declaring })))
    }

    /// It is rewritten, with sites that have these counters.
    ///
    /// # Safety
    /// As for `begin`, with the same `origin`.
    pub(super) unsafe fn end(&self, core: &Core, jni: Jni, origin: Origin, part: Part) {
        let Some(rewriting) = self.rewritings.get(part.rewriting.0) else { return };
        match (origin, &rewriting.declaring) {
            (Origin::Loader(loader), &Declaring::Named(Some(kept))) if !core.is_permanent(jni, loader) => {
                // SAFETY: by the caller's promise.
                unsafe { self.keep(jni, loader, kept, part) };
            }
            (Origin::Nameless, _) => COMING.with_borrow_mut(|coming| {
                if coming.len() == MOST_COMING {
                    coming.remove(0);
                }
                coming.push((rewriting.name.to_bytes().into(), part));
            }),
            _ => {}
        }
    }

    /// The VM has made a class on the current thread, which may be one that is not found by its name.
    ///
    /// # Safety
    /// `class` is a live reference.
    pub(super) unsafe fn class_loaded(&self, env: Env, jni: Jni, class: jclass) {
        COMING.with_borrow_mut(|coming| {
            if coming.is_empty() {
                return;
            }
            // SAFETY: by the caller's promise.
            let Ok(signature) = (unsafe { env.get_class_signature(class) }) else { return };
            let is_own = |name: &[u8]| internal_name(&signature) == Some(name) || is_hidden_name(&signature, name);
            let Some(found) = coming.iter().rposition(|(name, _)| is_own(name)) else { return };
            // What was to be defined within it never was.
            let Some((_, part)) = coming.drain(found..).next() else { return };
            let Some(Rewriting { declaring: Declaring::Nameless(own), .. }) = self.rewritings.get(part.rewriting.0)
            else {
                return;
            };
            // SAFETY: by the caller's promise.
            unsafe {
                if let Some(kept) = self.add_weak(jni, class) {
                    let _ = own.set(kept);
                    self.keep(jni, class, kept, part);
                }
            }
        });
    }

    /// # Safety
    /// `reference` is live, and the object is `kept`.
    unsafe fn keep(&self, jni: Jni, reference: jobject, kept: KeptIndex, part: Part) {
        // Only who reports looks, and lets go.
        let mut fresh = lock(&self.fresh);
        if Core::reporting().is_none() || fresh.parts.len() >= MOST_FRESH {
            return;
        }
        fresh.parts.push(part);
        // SAFETY: by the caller's promise.
        fresh.kept.entry(kept.0).or_insert_with(|| Strong(unsafe { jni.new_global_ref(reference) }));
    }

    /// What was not looked at yet: for whoever looks now.
    pub(super) fn take_fresh(&self) -> Fresh {
        std::mem::take(&mut *lock(&self.fresh))
    }

    /// A method of the class that is being rewritten has a site.
    pub(super) fn add_method(&self, method: RewrittenMethod) -> RewrittenMethodIndex {
        RewrittenMethodIndex(self.methods.push_with(|_| method))
    }

    /// The method of that number.
    pub(super) fn method(&self, method: RewrittenMethodIndex) -> Option<&RewrittenMethod> {
        self.methods.get(method.0)
    }

    /// The class that came of a rewriting.
    ///
    /// # Errors
    /// There is no memory.
    pub(super) fn class(&self, jni: Jni, rewriting: RewritingIndex) -> jvmti::Result<Class> {
        let Some(Rewriting { name, declaring }) = self.rewritings.get(rewriting.0) else { return Ok(Class::NotYet) };
        let loader = match declaring {
            Declaring::Named(None) => std::ptr::null_mut(),
            &Declaring::Named(Some(loader)) => match self.local(jni, loader) {
                Some(loader) => loader,
                None => return Ok(Class::Unloaded),
            },
            Declaring::Nameless(class) => {
                let Some(&class) = class.get() else { return Ok(Class::NotYet) };
                return Ok(self.local(jni, class).map_or(Class::Unloaded, Class::There));
            }
        };
        // SAFETY: null or a live local reference, deleted here.
        unsafe {
            let found = jni.find_loaded_class(name, loader);
            jni.delete_local_ref(loader);
            Ok(found.map_err(no_memory)?.map_or(Class::NotYet, Class::There))
        }
    }

    /// The number of a loader, which is tagged if it is new.
    ///
    /// # Safety
    /// `loader` is a live reference.
    unsafe fn loader(&self, env: Env, jni: Jni, loader: jobject) -> Option<KeptIndex> {
        // SAFETY: by the caller's promise.
        unsafe {
            let tag = env.get_tag(loader).ok()?;
            if tag >= LOADERS {
                return Some(KeptIndex((tag - LOADERS) as u32));
            }
            // Of two threads that come here the later wins; the classes of both are found.
            let kept = self.add_weak(jni, loader)?;
            env.set_tag(loader, LOADERS + jlong::from(kept.0)).ok()?;
            Some(kept)
        }
    }

    /// # Safety
    /// `reference` is live.
    unsafe fn add_weak(&self, jni: Jni, reference: jobject) -> Option<KeptIndex> {
        // SAFETY: by the caller's promise.
        let weak = unsafe { jni.new_weak_global_ref(reference) }.inspect_err(|_| jni.exception_clear()).ok()?;
        let mut kept = lock(&self.kept);
        kept.there += 1;
        kept.references.push(Some(Weak(weak)));
        Some(KeptIndex((kept.references.len() - 1) as u32))
    }

    /// Gives back the references to what is unloaded, if there are twice as many as there were.
    pub(super) fn sweep(&self, jni: Jni) {
        let mut kept = lock(&self.kept);
        if kept.there < FEW_WEAK.max(2 * kept.swept) {
            return;
        }
        for index in 0..kept.references.len() {
            if let Some(local) = kept.local(jni, KeptIndex(index as u32)) {
                // SAFETY: a local reference that nobody uses any more.
                unsafe { jni.delete_local_ref(local) };
            }
        }
        kept.swept = kept.there;
    }

    fn local(&self, jni: Jni, index: KeptIndex) -> Option<jobject> {
        lock(&self.kept).local(jni, index)
    }
}

impl Kept {
    /// A local reference, unless it is unloaded.
    fn local(&mut self, jni: Jni, index: KeptIndex) -> Option<jobject> {
        let entry = self.references.get_mut(index.0 as usize)?;
        let Weak(weak) = *entry.as_ref()?;
        // SAFETY: a weak reference that nobody deletes but below, where it is borrowed.
        unsafe {
            let local = jni.new_local_ref(weak);
            if local.is_null() {
                *entry = None;
                self.there -= 1;
                jni.delete_weak_global_ref(weak);
                return None;
            }
            Some(local)
        }
    }
}

/// The only reason why an object of the VM's own cannot be made.
pub(super) fn no_memory(_: JniError) -> jvmti::Error {
    jvmti::Error::OUT_OF_MEMORY
}

/// Whether a signature is that of a hidden class whose class file has that name: the VM appends a number to it, behind a
/// slash, or behind a dot from JDK 15 on.
pub(super) fn is_hidden_name(signature: &[u8], name: &[u8]) -> bool {
    let rest = signature.strip_prefix(b"L").and_then(|s| s.strip_prefix(name));
    matches!(rest, Some([b'.', ..] | [b'/', b'0'..=b'9', ..]))
}

fn internal_name(signature: &[u8]) -> Option<&[u8]> {
    signature.strip_prefix(b"L")?.strip_suffix(b";")
}

impl Part {
    /// All counters in its range.
    pub(super) fn range(&self) -> impl Iterator<Item = CounterIndex> + use<> {
        self.counters.clone().map(CounterIndex)
    }
}

#[cfg(test)]
mod tests {
    use std::ptr::{null_mut, without_provenance_mut};

    use super::*;

    #[test]
    fn what_reflection_makes_is_not_looked_for_by_name() {
        let loader = without_provenance_mut(8);
        assert_eq!(Origin::of(Some(loader), b"jdk/internal/reflect/GeneratedConstructorAccessor7"), Origin::Nameless);
        assert_eq!(Origin::of(Some(loader), b"app/Generated"), Origin::Loader(loader));
        assert_eq!(Origin::of(Some(null_mut()), b"java/lang/Object"), Origin::Loader(null_mut()));
    }

    #[test]
    fn hidden_classes_are_identified_by_what_is_appended() {
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
