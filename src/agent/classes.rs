//! The classes that events refer to: what the trace says of them, and how large their instances are.
//!
//! A class is known by its tag in the agent's own environment (objects are tagged in another), so finding it again is one
//! call, and the tag keeps no class alive.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use jvmti::jni_sys::{jclass, jlong, jobject};
use jvmti::{Env, Jni};
use trace::ids::ClassId;
use trace::model::ArrayCode;

use super::clock::Ticks;
use super::layout::ArrayLayout;
use super::table::Table;

/// Number of a class in [`Classes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ClassIndex(pub(crate) u32);

/// For what a thread parks on an object of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parker {
    /// A lock that knows the thread that owns it.
    OwnableLock,
    /// A lock that does not.
    Lock,
    /// Anything else: a condition, a latch, a queue.
    Other,
}

/// What is known of a class.
#[derive(Debug)]
pub(crate) struct ClassRecord {
    pub(crate) id: ClassId,
    /// Dotted, arrays in source form.
    pub(crate) name: String,
    /// Empty if unknown.
    pub(crate) source: String,
    pub(crate) loaded: Ticks,
    pub(crate) array: ArrayCode,
    /// For arrays: how their size follows from their length.
    pub(crate) layout: Option<ArrayLayout>,
    /// Bytes of an instance that is no array; 0 until one was seen.
    instance_bytes: AtomicU32,
    included: bool,
    unloadable: bool,
    /// Once somebody has parked on one.
    parker: OnceLock<Parker>,
}

impl ClassRecord {
    /// For what threads park on its objects, once that is known.
    pub(crate) fn parker(&self) -> Option<Parker> {
        self.parker.get().copied()
    }

    /// Notes for what threads park on its objects.
    pub(crate) fn set_parker(&self, parker: Parker) {
        let _ = self.parker.set(parker);
    }

    /// Bytes of an instance.
    pub(crate) fn instance_bytes(&self) -> u64 {
        u64::from(self.instance_bytes.load(Ordering::Relaxed))
    }

    /// Notes how large instances are; for classes that are no arrays.
    pub(crate) fn set_instance_bytes(&self, bytes: u64) {
        self.instance_bytes.store(u32::try_from(bytes).unwrap_or(u32::MAX), Ordering::Relaxed);
    }

    /// Whether the filters let it through.
    pub(crate) fn is_included(&self) -> bool {
        self.included
    }
}

/// All classes met so far.
pub(crate) struct Classes {
    table: Table<ClassRecord>,
    registering: Mutex<()>,
}

/// What registration needs to know from elsewhere.
pub(crate) trait Surroundings {
    /// A new id of the trace.
    fn new_id(&self) -> u64;
    /// Whether the filters let a class through.
    fn includes(&self, name: &str) -> bool;
    /// Whether a loader lives as long as the VM: the boot, platform or system loader.
    fn is_permanent(&self, jni: Jni, loader: jobject) -> bool;
    /// The size rule of arrays of that kind.
    fn layout(&self, array: ArrayCode) -> Option<ArrayLayout>;
    /// The time to give a class that was loaded before anybody watched.
    fn start(&self) -> Ticks;
}

impl Classes {
    pub(crate) const fn new() -> Classes {
        Classes { table: Table::new(), registering: Mutex::new(()) }
    }

    /// The class of that number.
    pub(crate) fn get(&self, index: ClassIndex) -> Option<&ClassRecord> {
        self.table.get(index.0)
    }

    /// Notes when a class was loaded, until something refers to it.
    ///
    /// # Safety
    /// `class` is a live reference.
    pub(crate) unsafe fn note_load(&self, env: Env, class: jclass, now: Ticks) -> jvmti::Result<()> {
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
    /// # Safety
    /// `class` is a live reference.
    pub(crate) unsafe fn resolve(
        &self,
        env: Env,
        jni: Jni,
        class: jclass,
        around: &impl Surroundings,
    ) -> jvmti::Result<ClassIndex> {
        // SAFETY: by the caller's promise.
        let tag = unsafe { env.get_tag(class) }?;
        if tag > 0 {
            return Ok(ClassIndex((tag - 1) as u32));
        }
        let _registering = self.registering.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: by the caller's promise.
        let tag = unsafe { env.get_tag(class) }?;
        if tag > 0 {
            return Ok(ClassIndex((tag - 1) as u32));
        }
        let loaded = if tag < 0 { Ticks(tag.unsigned_abs()) } else { around.start() };
        // SAFETY: by the caller's promise; the loader is a local reference, deleted below.
        let (signature, source, loader) = unsafe {
            let source = env.get_source_file_name(class).map(|s| trace::modified_utf8::decode(&s)).unwrap_or_default();
            (env.get_class_signature(class)?, source, env.get_class_loader(class)?)
        };
        let signature = trace::modified_utf8::decode(&signature);
        // A hidden class may go while its loader stays. Its signature ends in `.0x7f;`, or in `/1234;` before JDK 15; an
        // ordinary class with such a name is only looked up more often.
        let last = signature.rsplit('/').next().unwrap_or_default();
        let hidden = signature.contains('.') || last.starts_with(|c: char| c.is_ascii_digit());
        let unloadable = hidden || !around.is_permanent(jni, loader);
        // SAFETY: a local reference that nobody uses any more; deleting null is allowed.
        unsafe { jni.delete_local_ref(loader) };
        let name = trace::names::class_name(&signature);
        let array = trace::names::array_code(&signature);
        let index = self.table.push_with(|_| ClassRecord {
            id: ClassId(around.new_id()),
            included: around.includes(&name),
            layout: around.layout(array),
            name,
            source,
            loaded,
            array,
            instance_bytes: AtomicU32::new(0),
            unloadable,
            parker: OnceLock::new(),
        });
        // SAFETY: by the caller's promise.
        unsafe { env.set_tag(class, jlong::from(index) + 1) }?;
        Ok(ClassIndex(index))
    }

    /// The code that HeapProxy keeps for a class (see there), from its first instance.
    ///
    /// # Safety
    /// `instance` is a live reference to an object of exactly that class.
    pub(crate) unsafe fn code(&self, env: Env, index: ClassIndex, instance: jobject) -> jvmti::Result<i32> {
        let Some(record) = self.get(index) else { return Ok(0) };
        if !record.array.is_array() && record.instance_bytes() == 0 {
            // SAFETY: by the caller's promise.
            let bytes = unsafe { env.get_object_size(instance) }?;
            record.set_instance_bytes(bytes as u64);
        }
        let number = if record.included { index.0 as i32 + 1 } else { -1 };
        Ok(number << 1 | i32::from(record.unloadable))
    }
}

/// The class that a number from HeapProxy means.
pub(crate) fn from_proxy(number: i32) -> ClassIndex {
    ClassIndex((number - 1) as u32)
}
