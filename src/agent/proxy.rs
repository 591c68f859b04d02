//! HeapProxy, the Java class that rewritten code calls: its methods, its fields, and how it gets into the VM.

use std::ffi::{CStr, c_void};

use classfile::StaticMethod;
use jvmti::jni_sys::{jclass, jfieldID, jmethodID};
use jvmti::{Jni, JniError, NativeMethod};

use super::heap;

/// Compiled from `java/MartiniHeapProxy.java`.
const BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/MartiniHeapProxy.class"));

/// The class, as a trace would name it.
pub(crate) const DOTTED_NAME: &str = "java.lang.MartiniHeapProxy";
/// The class, as class files name it.
pub(crate) const INTERNAL_NAME: &str = "java/lang/MartiniHeapProxy";
const NAME: &CStr = c"java/lang/MartiniHeapProxy";

const fn method(name: &'static str, descriptor: &'static str) -> StaticMethod {
    StaticMethod { class: INTERNAL_NAME, name, descriptor }
}

/// The methods that rewritten code calls.
pub(crate) struct Hooks {
    pub(crate) object: StaticMethod,
    /// By element type as `newarray` encodes it, from 4 (boolean) to 11 (long).
    pub(crate) primitive_arrays: [StaticMethod; 8],
    pub(crate) array: StaticMethod,
    pub(crate) multi_array: StaticMethod,
    /// For what a call returned that the JIT may replace; see `replaced`.
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
/// Where the VM tells of allocations: nothing is done with the object, but the JIT does not know that.
pub(crate) static ESCAPE: Hooks =
    Hooks { object: KEEP, primitive_arrays: [KEEP; 8], array: KEEP, multi_array: KEEP, made: KEEP, made_bare: KEEP };

/// HeapProxy's `registerNatives`, which its static initialiser calls: binds the natives that the hooks use.
///
/// # Safety
/// Called by the VM, with HeapProxy as `class`.
pub(crate) unsafe fn register_natives(jni: Jni, class: jclass) {
    let natives = [
        NativeMethod {
            name: c"classCode",
            signature: c"(Ljava/lang/Class;Ljava/lang/Object;)I",
            function: heap::class_code as *const c_void,
        },
        NativeMethod {
            name: c"objectAllocated",
            signature: c"(Ljava/lang/Object;I)V",
            function: heap::object_allocated as *const c_void,
        },
        NativeMethod {
            name: c"arrayAllocated",
            signature: c"(Ljava/lang/Object;II)V",
            function: heap::array_allocated as *const c_void,
        },
        NativeMethod {
            name: c"objectMade",
            signature: c"(Ljava/lang/Object;IZ)V",
            function: heap::object_made as *const c_void,
        },
    ];
    // An exception stays pending: the class fails to initialise and `Proxy::define` tells.
    // SAFETY: the functions fit their descriptors, do not unwind, and stay loaded as long as the VM.
    let _ = unsafe { jni.register_natives(class, &natives) };
}

/// The class inside the VM.
pub(crate) struct Proxy {
    class: jclass,
    jvm_init: jfieldID,
    lost: jfieldID,
    purge: jmethodID,
}

// SAFETY: a global reference and ids, which JNI lets every thread use.
unsafe impl Send for Proxy {}
// SAFETY: as above.
unsafe impl Sync for Proxy {}

impl Proxy {
    /// Defines and initialises the class. Works from VMStart on (design page, section 4).
    ///
    /// # Errors
    /// What the VM refuses; the pending exception is cleared.
    pub(crate) fn define(jni: Jni) -> Result<Proxy, JniError> {
        let result = (|| {
            // SAFETY: the class has no loader but the boot loader, and its references live as long as they are used.
            unsafe {
                let local = jni.define_class(NAME, std::ptr::null_mut(), BYTES)?;
                let class = jni.new_global_ref(local);
                jni.delete_local_ref(local);
                Ok(Proxy {
                    class,
                    // The first look-up initialises the class, which binds its natives.
                    jvm_init: jni.get_static_field_id(class, c"jvmInit", c"Z")?,
                    lost: jni.get_static_field_id(class, c"lost", c"I")?,
                    purge: jni.get_static_method_id(class, c"purge", c"()V")?,
                })
            }
        })();
        if result.is_err() {
            jni.exception_clear();
        }
        result
    }

    /// Sets the number of a primitive array class.
    pub(crate) fn set_primitive_array(&self, jni: Jni, field: &CStr, number: i32) -> Result<(), JniError> {
        // SAFETY: the class is a global reference and the field one of its own.
        unsafe {
            let field = jni.get_static_field_id(self.class, field, c"I").inspect_err(|_| jni.exception_clear())?;
            jni.set_static_int_field(self.class, field, number);
        }
        Ok(())
    }

    /// Lets the early wrappers through, or stops them.
    pub(crate) fn set_jvm_init(&self, jni: Jni, on: bool) {
        // SAFETY: the class is a global reference and the field one of its own.
        unsafe { jni.set_static_boolean_field(self.class, self.jvm_init, on) }
    }

    /// Events that HeapProxy could not hand over; a lower bound.
    pub(crate) fn lost(&self, jni: Jni) -> u64 {
        // SAFETY: the class is a global reference and the field one of its own.
        unsafe { jni.get_static_int_field(self.class, self.lost) }.max(0) as u64
    }

    /// Makes HeapProxy forget the classes that may be unloaded.
    pub(crate) fn purge(&self, jni: Jni) {
        // SAFETY: the class is a global reference and the method one of its own, without arguments.
        if unsafe { jni.call_static_void_method(self.class, self.purge, &[]) }.is_err() {
            // Out of memory: the classes stay until the next collection.
            jni.exception_clear();
        }
    }
}
