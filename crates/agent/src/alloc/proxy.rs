//! HeapProxy, the Java class that rewritten code calls: its methods, its fields, its natives.

use std::ffi::{CStr, c_void};
use std::time::{Duration, Instant};

use classfile::StaticMethod;
use jvmti::jni_sys::{JNIEnv, jclass, jfieldID};
use jvmti::{Jni, JniError};

use super::natives;
use agent_base::helpers::{self, HEAP_PROXY, HelperClass, Helpers, native};

/// So long another thread may change the table of classes before a recording is given up.
const LONGEST_CHANGE: Duration = Duration::from_secs(1);

/// Compiled from `java/MartiniHeapProxy.java`.
const BYTES: &[u8] = include_bytes!("../../java/classes/java/lang/MartiniHeapProxy.class");

const fn method(name: &'static str, descriptor: &'static str) -> StaticMethod {
    StaticMethod { class: HEAP_PROXY.internal_name, name, descriptor }
}

/// The methods that rewritten code calls.
pub(crate) struct Hooks {
    pub(crate) object: StaticMethod,
    /// By element type as `newarray` encodes it, from 4 (boolean) to 11 (long).
    pub(crate) primitive_arrays: [StaticMethod; 8],
    pub(crate) array: StaticMethod,
    pub(crate) multi_array: StaticMethod,
    /// For the result of a call that the JIT may replace by an allocation; see `instrument::intrinsics`.
    pub(crate) made: StaticMethod,
    pub(crate) made_bare: StaticMethod,
}

macro_rules! hooks {
    ($object:literal, $array:literal, $multi:literal, $made:literal, $bare:literal) => {
        Hooks {
            object: method($object, "(Ljava/lang/Object;)V"),
            primitive_arrays: [
                method($array, "([Z)V"),
                method($array, "([C)V"),
                method($array, "([F)V"),
                method($array, "([D)V"),
                method($array, "([B)V"),
                method($array, "([S)V"),
                method($array, "([I)V"),
                method($array, "([J)V"),
            ],
            array: method($array, "([Ljava/lang/Object;)V"),
            multi_array: method($multi, "([Ljava/lang/Object;)V"),
            made: method($made, "(Ljava/lang/Object;)V"),
            made_bare: method($bare, "(Ljava/lang/Object;)V"),
        }
    };
}

/// For classes loaded before VMInit.
pub(crate) static EARLY: Hooks =
    hooks!("earlyObjectAlloc", "earlyArrayAlloc", "earlyMultiArrayAlloc", "earlyMade", "earlyMadeBare");
/// For all others.
pub(crate) static DIRECT: Hooks = hooks!("objectAlloc", "arrayAlloc", "multiArrayAlloc", "made", "madeBare");

const KEEP: StaticMethod = method("keep", "(Ljava/lang/Object;)V");
/// Where the VM reports allocations: nothing is done with the object, but the JIT does not know that.
pub(crate) static ESCAPE: Hooks =
    Hooks { object: KEEP, primitive_arrays: [KEEP; 8], array: KEEP, multi_array: KEEP, made: KEEP, made_bare: KEEP };

/// HeapProxy's `registerNatives`, which its static initialiser calls: binds the natives that the hooks use.
///
/// # Safety
/// Called by the VM, with HeapProxy as `class`.
pub unsafe fn register_natives(jni: *mut JNIEnv, class: jclass) {
    let natives = [
        native(c"classCode", c"(Ljava/lang/Class;Ljava/lang/Object;)I", natives::class_code as *const c_void),
        native(c"objectAllocated", c"(Ljava/lang/Object;I)V", natives::object_allocated as *const c_void),
        native(c"arrayAllocated", c"(Ljava/lang/Object;II)V", natives::array_allocated as *const c_void),
        native(c"objectMade", c"(Ljava/lang/Object;IZ)V", natives::object_made as *const c_void),
        native(c"beginChange", c"()Z", natives::try_change as *const c_void),
        native(c"endChange", c"()V", natives::changed as *const c_void),
    ];
    // SAFETY: by the caller's promise; the functions fit their descriptors and do not unwind.
    unsafe { helpers::register_natives(Jni::from_raw(jni), class, &natives) }
}

/// The class inside the VM.
pub(crate) struct Proxy {
    class: HelperClass,
    jvm_init: jfieldID,
    lost: jfieldID,
}

// SAFETY: a global reference and ids, which JNI lets every thread use.
unsafe impl Send for Proxy {}
// SAFETY: as above.
unsafe impl Sync for Proxy {}

impl Proxy {
    /// Defines and initialises the class, if the VM does not have it. Works from VMStart on.
    ///
    /// # Errors
    /// What the VM refuses; no exception is pending any more.
    pub(crate) fn define(helpers: &Helpers, jni: Jni) -> Result<Proxy, JniError> {
        let class = helpers.define(jni, &HEAP_PROXY, BYTES)?;
        let fields = || {
            // The first look-up initialises the class, which binds its natives.
            Ok(Proxy { class, jvm_init: class.field(jni, c"jvmInit", c"Z")?, lost: class.field(jni, c"lost", c"I")? })
        };
        fields().inspect_err(|_| jni.exception_clear())
    }

    /// Sets the number of a primitive array class.
    pub(crate) fn set_primitive_array(&self, jni: Jni, field: &CStr, number: i32) -> Result<(), JniError> {
        let field = self.class.field(jni, field, c"I").inspect_err(|_| jni.exception_clear())?;
        // SAFETY: the class is a global reference and the field one of its own.
        unsafe { jni.set_static_int_field(self.class.0, field, number) };
        Ok(())
    }

    /// Lets the early wrappers through, or stops them.
    pub(crate) fn set_jvm_init(&self, jni: Jni, on: bool) {
        // SAFETY: the field is one of the class.
        unsafe { self.class.set_boolean(jni, self.jvm_init, on) }
    }

    /// Events that HeapProxy could not hand over; a lower bound.
    pub(crate) fn lost(&self, jni: Jni) -> u64 {
        // SAFETY: the field is one of the class.
        unsafe { self.class.count(jni, self.lost) }
    }

    /// Makes HeapProxy forget the classes that may be unloaded.
    pub(crate) fn purge(&self, jni: Jni) {
        // Out of memory: the classes stay until the next collection.
        let _ = self.class.call(jni, c"purge");
    }

    /// Makes HeapProxy forget all classes: another recording may have other filters.
    pub(crate) fn forget(&self, jni: Jni) -> Result<(), JniError> {
        // A debugger may have suspended a thread that changes the table.
        let begun = Instant::now();
        while !natives::begin_change() {
            if begun.elapsed() > LONGEST_CHANGE {
                return Err(JniError::Code(0));
            }
            std::thread::yield_now();
        }
        let forgotten = self.class.call(jni, c"forget");
        natives::end_change();
        forgotten
    }
}
