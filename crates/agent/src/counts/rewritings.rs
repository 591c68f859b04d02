//! Which class the VM made of a class file that was rewritten. It is found by its name and loader later, or, if the VM does not find
//! it by its name, noted when the VM has made it.
//!
//! A class that may be unloaded is kept alive until its counters are resolved, after the next collection. Most of its sites have run
//! by then, if they ever do.

use std::cell::RefCell;
use std::ffi::CString;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::sync::OnceLock;

use jvmti::jni_sys::{jclass, jlong, jobject, jweak};
use jvmti::{Env, Jni, JniError, SharedRef};
use rustc_hash::FxHashMap;

use super::ids::{CounterIndex, RewritingIndex, RewrittenMethodIndex};
use agent_base::mutex::Mutex;
use agent_base::objects::weak_users::WeakUsers;
use agent_base::tables::table::Table;
use agent_core::core::Core;
use agent_core::instrument::retransform::internal_name;

/// The class whose file is rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A class of that loader, a live reference; null is the boot loader.
    Loader(jobject),
    /// A class that the VM does not find by its name, and that the current thread is about to define: a hidden one, or one that
    /// reflection makes.
    NotFoundByName,
}

impl Origin {
    /// A class of that internal name and loader; null is the boot loader, and a hidden class has none.
    pub(crate) fn of(loader: Option<jobject>, name: &[u8]) -> Origin {
        let Some(loader) = loader else { return Origin::NotFoundByName };
        // HotSpot searches the loader above that of such a class (`java_lang_ClassLoader::non_reflection_class_loader`).
        if name.starts_with(b"jdk/internal/reflect/Generated") {
            Origin::NotFoundByName
        } else {
            Origin::Loader(loader)
        }
    }
}

/// A class file that was rewritten, and has sites.
struct Rewriting {
    /// Internal.
    name: CString,
    declaring: Declaring,
}

/// Where the class is found.
enum Declaring {
    /// By its name in that loader; `None` is the boot loader.
    FoundByName(Option<UnloadableIndex>),
    /// Once the VM has made it.
    NotFoundByName(OnceLock<UnloadableIndex>),
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

/// Number of a class loader, or of a class that is not found by its name: what may be unloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct UnloadableIndex(u32);

/// The tags of class loaders begin here; classes and threads, in the same environment, have lower tags.
const LOADERS: jlong = 1 << 41;

/// So many parts are held at most; others may be unloaded before their counters are resolved.
const MAX_UNRESOLVED: usize = 1024;
/// With fewer weak references than this, a sweep is not worth its time.
const MIN_SWEPT: usize = 1024;

/// SharedRef references to all that may be unloaded.
#[derive(Default)]
struct Unloadable {
    /// `None` for what is unloaded.
    references: Vec<Option<SharedRef>>,
    alive: usize,
    /// How many were alive after the last sweep.
    alive_after_sweep: usize,
}

/// A rewritten class that may be unloaded, and its counters.
pub(super) struct Part {
    pub(super) rewriting: RewritingIndex,
    /// Its counters, among others.
    pub(super) counters: Range<u32>,
}

/// Classes whose counters are not resolved yet.
#[derive(Default)]
pub(super) struct Unresolved {
    pub(super) parts: Vec<Part>,
    /// By number; they keep the classes from being unloaded.
    held: FxHashMap<u32, SharedRef>,
}

impl Unresolved {
    /// The classes may be unloaded from now on.
    pub(super) fn release(self, jni: Jni) {
        for SharedRef(reference) in self.held.into_values() {
            // SAFETY: a global reference that is used nowhere else.
            unsafe { jni.delete_global_ref(reference) };
        }
    }
}

/// The class of a rewriting.
pub(super) enum Class {
    /// A local reference.
    Loaded(jclass),
    /// The VM has not made it yet, or never will.
    NotLoaded,
    Unloaded,
}

thread_local! {
    /// Classes not found by name that this thread is about to define, by internal name. While it defines one, it may define others.
    /// It is there for as long as Java code runs on the thread: a thread of native code may leave the JVM after what has a destructor.
    static BEING_DEFINED: RefCell<ManuallyDrop<BeingDefined>> = const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

/// Internal names, and what was rewritten.
type BeingDefined = Vec<(Box<[u8]>, Part)>;

/// More are not defined within each other; what remains was refused by the VM.
const MAX_BEING_DEFINED: usize = 64;

/// A class that is found by its name: its loader, and its internal name.
type ClassKey = (Option<UnloadableIndex>, Box<[u8]>);

/// A class that was rewritten once or more often.
pub(super) struct Rewritten {
    pub(super) rewriting: RewritingIndex,
    /// Its counters, among others.
    pub(super) counters: Vec<Range<u32>>,
}

/// All that was rewritten and has sites.
pub(super) struct Rewritings {
    rewritings: Table<Rewriting>,
    methods: Table<RewrittenMethod>,
    /// Those classes of it that are found by their names and may be alive.
    classes: Mutex<FxHashMap<ClassKey, Rewritten>>,
    unloadable: Mutex<Unloadable>,
    /// Who uses the weak references.
    users: WeakUsers,
    unresolved: Mutex<Unresolved>,
}

impl Rewritings {
    pub(super) fn new() -> Rewritings {
        Rewritings {
            rewritings: Table::empty(),
            methods: Table::empty(),
            classes: Mutex::default(),
            unloadable: Mutex::default(),
            users: WeakUsers::default(),
            unresolved: Mutex::default(),
        }
    }

    /// A class file of that internal name is being rewritten and has a site: its number, which is an earlier one with the counters
    /// that it got then if that class was rewritten before; `None` if the VM has no memory for a reference.
    ///
    /// # Safety
    /// `origin` holds a live reference or null.
    pub(super) unsafe fn begin(&self, env: Env, jni: Jni, name: &[u8], origin: Origin) -> Option<Rewritten> {
        let c_name = CString::new(name).ok()?;
        let add = |declaring| {
            let rewriting = RewritingIndex(self.rewritings.push_with(|_| Rewriting { name: c_name, declaring }));
            Rewritten { rewriting, counters: Vec::new() }
        };
        let loader = match origin {
            Origin::Loader(loader) if loader.is_null() => None,
            // SAFETY: by the caller's promise.
            Origin::Loader(loader) => Some(unsafe { self.loader(env, jni, loader) }?),
            Origin::NotFoundByName => return Some(add(Declaring::NotFoundByName(OnceLock::new()))),
        };
        let mut classes = self.classes.lock();
        let known = classes.entry((loader, name.into())).or_insert_with(|| add(Declaring::FoundByName(loader)));
        Some(Rewritten { rewriting: known.rewriting, counters: known.counters.clone() })
    }

    /// New counters were made for it.
    pub(super) fn note_counters(&self, part: &Part) {
        let Some(Rewriting { name, declaring: Declaring::FoundByName(loader) }) = self.rewritings.get(part.rewriting.0)
        else {
            return;
        };
        if let Some(known) = self.classes.lock().get_mut(&(*loader, name.to_bytes().into())) {
            known.counters.push(part.counters.clone());
        }
    }

    /// It is rewritten, with sites that have these counters.
    ///
    /// # Safety
    /// As for `begin`, with the same `origin`.
    pub(super) unsafe fn end(&self, core: &Core, jni: Jni, origin: Origin, part: Part) {
        let Some(rewriting) = self.rewritings.get(part.rewriting.0) else { return };
        match (origin, &rewriting.declaring) {
            (Origin::Loader(loader), &Declaring::FoundByName(Some(kept)))
                // SAFETY: by the caller's promise.
                if !unsafe { core.jvm.classes.is_permanent(jni, loader) } =>
            {
                // SAFETY: by the caller's promise.
                unsafe { self.hold(jni, loader, kept, part) };
            }
            (Origin::NotFoundByName, _) => BEING_DEFINED.with_borrow_mut(|defining| {
                if defining.len() == MAX_BEING_DEFINED {
                    defining.remove(0);
                }
                defining.push((rewriting.name.to_bytes().into(), part));
            }),
            _ => {}
        }
    }

    /// The VM has made a class on the current thread, which may be one that is not found by its name.
    ///
    /// # Safety
    /// `class` is a live reference.
    pub(super) unsafe fn class_loaded(&self, env: Env, jni: Jni, class: jclass) {
        BEING_DEFINED.with_borrow_mut(|defining| {
            if defining.is_empty() {
                return;
            }
            // SAFETY: by the caller's promise.
            let Ok(signature) = (unsafe { env.get_class_signature(class) }) else { return };
            let is_own = |name: &[u8]| internal_name(&signature) == Some(name) || is_hidden_name(&signature, name);
            let Some(found) = defining.iter().rposition(|(name, _)| is_own(name)) else { return };
            // The classes behind it were never defined.
            let Some((_, part)) = defining.drain(found..).next() else { return };
            if found == 0 {
                // Nobody drops it when the thread ends.
                defining.shrink_to_fit();
            }
            let Some(Rewriting { declaring: Declaring::NotFoundByName(own), .. }) =
                self.rewritings.get(part.rewriting.0)
            else {
                return;
            };
            // SAFETY: by the caller's promise.
            unsafe {
                if let Some(kept) = self.add_weak(jni, class) {
                    let _ = own.set(kept);
                    self.hold(jni, class, kept, part);
                }
            }
        });
    }

    /// Keeps a class alive until its counters are resolved, by a reference to it or its loader.
    ///
    /// # Safety
    /// `reference` is live, and the object has the number `kept`.
    unsafe fn hold(&self, jni: Jni, reference: jobject, kept: UnloadableIndex, part: Part) {
        // Only a recording resolves counters, and releases the classes.
        if Core::reporting().is_none() || self.unresolved.lock().parts.len() >= MAX_UNRESOLVED {
            return;
        }
        // SAFETY: by the caller's promise.
        let strong = SharedRef(unsafe { jni.new_global_ref(reference) });
        let before = {
            let mut unresolved = self.unresolved.lock();
            unresolved.parts.push(part);
            unresolved.held.insert(kept.0, strong)
        };
        if let Some(SharedRef(before)) = before {
            // SAFETY: a global reference that is used nowhere else.
            unsafe { jni.delete_global_ref(before) };
        }
    }

    /// The classes whose counters are not resolved yet; the caller resolves them, and releases the classes.
    pub(super) fn take_unresolved(&self) -> Unresolved {
        std::mem::take(&mut *self.unresolved.lock())
    }

    /// Releases the classes whose counters will not be resolved any more.
    pub(super) fn release_unresolved(&self, jni: Jni) {
        self.take_unresolved().release(jni);
    }

    /// A method of the class that is being rewritten has a site.
    pub(super) fn add_method(&self, method: RewrittenMethod) -> RewrittenMethodIndex {
        RewrittenMethodIndex(self.methods.push_with(|_| method))
    }

    /// The method of that number.
    pub(super) fn method(&self, method: RewrittenMethodIndex) -> Option<&RewrittenMethod> {
        self.methods.get(method.0)
    }

    /// The class that the VM made of a rewritten class file.
    ///
    /// # Errors
    /// There is no memory.
    pub(super) fn class(&self, jni: Jni, rewriting: RewritingIndex) -> jvmti::Result<Class> {
        let Some(Rewriting { name, declaring }) = self.rewritings.get(rewriting.0) else { return Ok(Class::NotLoaded) };
        let loader = match declaring {
            Declaring::FoundByName(None) => std::ptr::null_mut(),
            &Declaring::FoundByName(Some(loader)) => match self.local(jni, loader) {
                Some(loader) => loader,
                None => return Ok(Class::Unloaded),
            },
            Declaring::NotFoundByName(class) => {
                let Some(&class) = class.get() else { return Ok(Class::NotLoaded) };
                return Ok(self.local(jni, class).map_or(Class::Unloaded, Class::Loaded));
            }
        };
        // SAFETY: null or a live local reference, deleted here.
        unsafe {
            let found = jni.find_loaded_class(name, loader);
            jni.delete_local_ref(loader);
            Ok(found.map_err(no_memory)?.map_or(Class::NotLoaded, Class::Loaded))
        }
    }

    /// The number of a loader, which is tagged if it is new.
    ///
    /// # Safety
    /// `loader` is a live reference.
    unsafe fn loader(&self, env: Env, jni: Jni, loader: jobject) -> Option<UnloadableIndex> {
        // SAFETY: by the caller's promise.
        unsafe {
            let tag = env.get_tag(loader).ok()?;
            if tag >= LOADERS {
                return Some(UnloadableIndex((tag - LOADERS) as u32));
            }
            // If two threads tag a loader at once, the later tag stays; both numbers lead to the loader.
            let kept = self.add_weak(jni, loader)?;
            env.set_tag(loader, LOADERS + jlong::from(kept.0)).ok()?;
            Some(kept)
        }
    }

    /// # Safety
    /// `reference` is live.
    unsafe fn add_weak(&self, jni: Jni, reference: jobject) -> Option<UnloadableIndex> {
        // SAFETY: by the caller's promise.
        let weak = unsafe { jni.new_weak_global_ref(reference) }.inspect_err(|_| jni.exception_clear()).ok()?;
        let mut kept = self.unloadable.lock();
        kept.alive += 1;
        kept.references.push(Some(SharedRef(weak)));
        Some(UnloadableIndex((kept.references.len() - 1) as u32))
    }

    /// On the agent's own thread: deletes the references to what is unloaded, if there are twice as many references as after the last
    /// time.
    pub(super) fn sweep(&self, jni: Jni) {
        let references = {
            let kept = self.unloadable.lock();
            if kept.alive < MIN_SWEPT.max(2 * kept.alive_after_sweep) {
                return;
            }
            kept.references.len() as u32
        };
        // SAFETY: only this function deletes one of these references.
        let is_dead = |weak: jweak| unsafe { jni.is_same_object(weak, std::ptr::null_mut()) };
        let is_unloaded = |&index: &UnloadableIndex| {
            let weak = self.unloadable.lock().weak(index);
            weak.is_some_and(is_dead)
        };
        let unloaded: Vec<_> = (0..references).map(UnloadableIndex).filter(is_unloaded).collect();
        let removed: Vec<jweak> = {
            let mut kept = self.unloadable.lock();
            kept.alive -= unloaded.len();
            kept.alive_after_sweep = kept.alive;
            let references = &mut kept.references;
            unloaded.iter().filter_map(|index| Some(references.get_mut(index.0 as usize)?.take()?.0)).collect()
        };
        // SAFETY: they are in the table no more.
        unsafe { self.users.delete(jni, removed) };
        let kept = self.unloadable.lock();
        self.classes.lock().retain(|(loader, _), _| loader.is_none_or(|loader| kept.weak(loader).is_some()));
    }

    /// A local reference, unless it is unloaded.
    fn local(&self, jni: Jni, index: UnloadableIndex) -> Option<jobject> {
        self.users.using(|| {
            let weak = self.unloadable.lock().weak(index)?;
            // SAFETY: a weak reference that was in the table is not deleted while somebody may use it.
            let local = unsafe { jni.new_local_ref(weak) };
            (!local.is_null()).then_some(local)
        })
    }
}

impl Unloadable {
    fn weak(&self, index: UnloadableIndex) -> Option<jweak> {
        self.references.get(index.0 as usize)?.as_ref().map(|weak| weak.0)
    }
}

/// The only reason for which the VM cannot make an object of its own.
pub(super) fn no_memory(_: JniError) -> jvmti::Error {
    jvmti::Error::OUT_OF_MEMORY
}

/// Whether a signature is that of a hidden class whose class file has that name: the VM appends a number to it, behind a
/// slash, or behind a dot from JDK 15 on.
pub(super) fn is_hidden_name(signature: &[u8], name: &[u8]) -> bool {
    let rest = signature.strip_prefix(b"L").and_then(|s| s.strip_prefix(name));
    matches!(rest, Some([b'.', ..] | [b'/', b'0'..=b'9', ..]))
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
    fn classes_of_reflection_are_not_found_by_name() {
        let loader = without_provenance_mut(8);
        assert_eq!(
            Origin::of(Some(loader), b"jdk/internal/reflect/GeneratedConstructorAccessor7"),
            Origin::NotFoundByName
        );
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
