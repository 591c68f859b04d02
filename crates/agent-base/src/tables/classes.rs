//! The classes that events refer to: what the trace says of them, and how large their instances are.
//!
//! A class is known by its tag in the agent's own environment (objects are tagged in another), so finding it again is one
//! call, and the tag keeps no class alive.

use std::ffi::CStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use jvmti::jni_sys::{jclass, jlong, jobject};
use jvmti::{Env, Jni, JniError, SharedRef, Turn};
use trace::ids::ClassId;
use trace::model::ArrayCode;

use super::array_layout::{ArrayLayout, ArrayLayouts};
use super::modules::ModuleFields;
use super::table::Table;
use crate::clock::Ticks;
use crate::ids::{ClassIndex, IdSource, RecordingNumber};

/// What an object of a class is to a thread that parks with it as its blocker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockerKind {
    /// A lock that knows the thread that owns it.
    OwnableLock,
    /// A lock that does not.
    Lock,
    /// Anything else: a condition, a latch, a queue.
    Other,
}

/// What is known of a class.
#[derive(Debug)]
pub struct ClassRecord {
    /// Its id in the trace.
    pub id: ClassId,
    /// Dotted, arrays in source form.
    pub name: String,
    /// Empty if unknown.
    pub source: String,
    /// The module it is in, if that has a name and the VM was initialised when the class was registered.
    pub module: Option<Box<str>>,
    /// When it was registered.
    pub loaded: Ticks,
    /// Whether it is an array, and of what.
    pub array: ArrayCode,
    /// Bytes of an instance that is no array; 0 until one was seen.
    instance_bytes: AtomicU32,
    /// Whether the filters of a recording let it through: twice the recording's number, and one if they do; 0 until they are
    /// applied.
    included: AtomicU32,
    unloadable: bool,
    /// Known once a thread has parked with one as its blocker.
    blocker_kind: OnceLock<BlockerKind>,
}

impl ClassRecord {
    /// What its objects are to threads that park, once that is known.
    pub fn blocker_kind(&self) -> Option<BlockerKind> {
        self.blocker_kind.get().copied()
    }

    /// Notes what its objects are to threads that park.
    pub fn set_blocker_kind(&self, kind: BlockerKind) {
        let _ = self.blocker_kind.set(kind);
    }

    /// Whether it may be unloaded while the VM runs.
    pub fn is_unloadable(&self) -> bool {
        self.unloadable
    }

    /// Bytes of an instance.
    pub fn instance_bytes(&self) -> u64 {
        u64::from(self.instance_bytes.load(Ordering::Relaxed))
    }

    /// Notes how large instances are; for classes that are no arrays.
    pub fn set_instance_bytes(&self, bytes: u64) {
        self.instance_bytes.store(u32::try_from(bytes).unwrap_or(u32::MAX), Ordering::Relaxed);
    }

    /// Whether the filters of that recording let it through; they are applied to its name once for a class.
    #[inline]
    pub fn is_included(&self, recording: RecordingNumber, filters: impl FnOnce(&str) -> bool) -> bool {
        let known = self.included.load(Ordering::Relaxed);
        if known >> 1 == recording.0 { known & 1 != 0 } else { self.apply(recording, filters) }
    }

    #[cold]
    fn apply(&self, recording: RecordingNumber, filters: impl FnOnce(&str) -> bool) -> bool {
        let included = filters(&self.name);
        self.included.store(recording.0 << 1 | u32::from(included), Ordering::Relaxed);
        included
    }
}

/// All classes seen so far.
pub struct Classes {
    env: Env,
    ids: &'static IdSource,
    /// The load time of classes that were loaded before the agent.
    start: Ticks,
    table: Table<ClassRecord>,
    registering: Turn,
    /// The platform and the system loader, which live as long as the VM, as the boot loader does.
    permanent_loaders: OnceLock<Vec<SharedRef>>,
    layouts: OnceLock<ArrayLayouts>,
    /// Known from VMInit on, where the VM has them.
    modules: OnceLock<ModuleFields>,
}

impl Classes {
    /// No class yet. Classes are tagged in `env`.
    pub fn new(env: Env, ids: &'static IdSource) -> Classes {
        Classes {
            env,
            ids,
            start: Ticks::now(),
            table: Table::empty(),
            registering: Turn::free(),
            permanent_loaders: OnceLock::new(),
            layouts: OnceLock::new(),
            modules: OnceLock::new(),
        }
    }

    /// How the sizes of arrays of that kind follow from their lengths, once that was measured.
    #[inline]
    pub fn layout(&self, array: ArrayCode) -> Option<ArrayLayout> {
        self.layouts.get()?.get(array)
    }

    /// The same, measured now if it has not been done yet; initialises `Object`.
    pub fn measure_arrays(&self, jni: Jni) -> &ArrayLayouts {
        self.layouts.get_or_init(|| ArrayLayouts::of_this_vm(self.env, jni))
    }

    /// Finds the loaders that live as long as the VM, from VMInit on.
    ///
    /// # Errors
    /// What the VM refuses; no exception is pending any more.
    pub fn find_permanent_loaders(&self, jni: Jni) -> Result<(), String> {
        if self.permanent_loaders.get().is_none() {
            let _ = self.permanent_loaders.set(permanent_loaders(jni).map_err(|error| jni.cleared(error))?);
        }
        Ok(())
    }

    /// Finds out where the VM keeps the names of modules, from VMInit on. Where it keeps them elsewhere the trace has none.
    pub fn find_modules(&self, jni: Jni) {
        if self.modules.get().is_none() {
            let _ = ModuleFields::find(jni).map(|fields| self.modules.set(fields)).map_err(|error| jni.cleared(error));
        }
    }

    /// Whether a loader lives as long as the VM: the boot, platform or system loader.
    ///
    /// # Safety
    /// `loader` is a live local reference or null.
    pub unsafe fn is_permanent(&self, jni: Jni, loader: jobject) -> bool {
        let known = || self.permanent_loaders.get().into_iter().flatten();
        // SAFETY: by the caller's promise; the others are global references.
        loader.is_null() || known().any(|known| unsafe { jni.is_same_object(known.0, loader) })
    }

    /// The class of that number.
    pub fn get(&self, index: ClassIndex) -> Option<&ClassRecord> {
        self.table.get(index.0)
    }

    /// The number of the class of that name, which the boot loader finds.
    ///
    /// # Errors
    /// What the VM refuses; no exception is pending any more.
    pub fn find(&self, jni: Jni, name: &CStr) -> Result<ClassIndex, String> {
        let class = jni.find_class(name).map_err(|error| jni.cleared(error))?;
        // SAFETY: a live local reference, deleted at once.
        unsafe {
            let index = self.resolve(jni, class);
            jni.delete_local_ref(class);
            index.map_err(|error| error.to_string())
        }
    }

    /// Visits all classes that are loaded, as local references, until that fails.
    ///
    /// # Errors
    /// What the VM refuses, and those of `visit`.
    pub fn each_loaded(&self, jni: Jni, mut visit: impl FnMut(jclass) -> jvmti::Result<()>) -> jvmti::Result<()> {
        let classes = self.env.get_loaded_classes()?;
        jni.expect_local_refs(classes.len());
        classes.iter().try_for_each(|&class| {
            let visited = visit(class);
            // At once: the hooks of other agents may run below in frames of their own, and -Xcheck:jni holds the references of this one
            // against them.
            // SAFETY: a live local reference, which is done with.
            unsafe { jni.delete_local_ref(class) };
            visited
        })
    }

    /// Notes when a class was loaded, as long as the class has no number.
    ///
    /// # Errors
    /// A JVMTI call fails.
    ///
    /// # Safety
    /// `class` is a live reference.
    pub unsafe fn note_load(&self, class: jclass, now: Ticks) -> jvmti::Result<()> {
        let env = self.env;
        // SAFETY: by the caller's promise.
        unsafe {
            match env.get_tag(class)? {
                0 => env.set_tag(class, -(now.0 as jlong)),
                _ => Ok(()),
            }
        }
    }

    /// The number of a class, which is registered if it is new.
    ///
    /// # Errors
    /// A JVMTI call fails.
    ///
    /// # Safety
    /// `class` is a live reference.
    pub unsafe fn resolve(&self, jni: Jni, class: jclass) -> jvmti::Result<ClassIndex> {
        let env = self.env;
        // SAFETY: by the caller's promise.
        let tag = unsafe { env.get_tag(class) }?;
        if tag > 0 {
            return Ok(ClassIndex((tag - 1) as u32));
        }
        // If the turn does not come, the class may be registered twice, with two ids in the trace.
        // SAFETY: by the caller's promise.
        let _registering = self.registering.take(|| unsafe { env.get_tag(class) }.is_ok_and(|tag| tag > 0));
        // SAFETY: by the caller's promise.
        let tag = unsafe { env.get_tag(class) }?;
        if tag > 0 {
            return Ok(ClassIndex((tag - 1) as u32));
        }
        let loaded = if tag < 0 { Ticks(tag.unsigned_abs()) } else { self.start };
        // SAFETY: by the caller's promise; the loader is a local reference, deleted below.
        let (signature, source, loader) = unsafe {
            let source = env.get_source_file_name(class).map(|s| trace::modified_utf8::decode(&s)).unwrap_or_default();
            (env.get_class_signature(class)?, source, env.get_class_loader(class)?)
        };
        let signature = trace::modified_utf8::decode(&signature);
        // A hidden class may be unloaded while its loader stays. Its signature ends in `.0x7f;`, or in `/1234;` before JDK 15;
        // an ordinary class with such a name is only looked up more often.
        let last = signature.rsplit('/').next().unwrap_or_default();
        let hidden = signature.contains('.') || last.starts_with(|c: char| c.is_ascii_digit());
        // SAFETY: it is that local reference.
        let unloadable = hidden || !unsafe { self.is_permanent(jni, loader) };
        // SAFETY: a local reference that is not used any more; deleting null is allowed.
        unsafe { jni.delete_local_ref(loader) };
        // SAFETY: by the caller's promise.
        let module = self.modules.get().and_then(|modules| unsafe { modules.name(jni, class) });
        let name = trace::names::class_name(&signature);
        let array = trace::names::array_code(&signature);
        let index = self.table.push_with(|_| ClassRecord {
            id: ClassId(self.ids.next()),
            included: AtomicU32::new(0),
            name,
            source,
            module,
            loaded,
            array,
            instance_bytes: AtomicU32::new(0),
            unloadable,
            blocker_kind: OnceLock::new(),
        });
        // SAFETY: by the caller's promise.
        unsafe { env.set_tag(class, jlong::from(index) + 1) }?;
        Ok(ClassIndex(index))
    }

    /// Notes how large instances of a class are, unless that is known.
    ///
    /// # Errors
    /// A JVMTI call fails.
    ///
    /// # Safety
    /// `instance` is a live reference to an object of exactly that class.
    pub unsafe fn note_size(&self, index: ClassIndex, instance: jobject) -> jvmti::Result<()> {
        let Some(record) = self.get(index) else { return Ok(()) };
        if !record.array.is_array() && record.instance_bytes() == 0 {
            // SAFETY: by the caller's promise.
            let bytes = unsafe { self.env.get_object_size(instance) }?;
            record.set_instance_bytes(bytes as u64);
        }
        Ok(())
    }
}

/// The platform and the system class loader.
fn permanent_loaders(jni: Jni) -> Result<Vec<SharedRef>, JniError> {
    let loader_class = jni.find_class(c"java/lang/ClassLoader")?;
    // SAFETY: a live class, and static methods of it that take nothing; the locals are deleted at once.
    unsafe {
        let mut found = Vec::new();
        for name in [c"getPlatformClassLoader", c"getSystemClassLoader"] {
            let method = jni.get_static_method_id(loader_class, name, c"()Ljava/lang/ClassLoader;")?;
            let loader = jni.call_static_object_method(loader_class, method, &[])?;
            found.push(SharedRef(jni.new_global_ref(loader)));
            jni.delete_local_ref(loader);
        }
        jni.delete_local_ref(loader_class);
        Ok(found)
    }
}
