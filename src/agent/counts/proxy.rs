//! MartiniCounts, the Java class with the counting hooks: its fields and natives, and how it gets into the VM.

use std::ffi::{CStr, c_void};

use jvmti::jni_sys::{jclass, jfieldID, jlongArray};
use jvmti::{Jni, JniError, NativeMethod};

/// Compiled from `java/MartiniCounts.java`.
const BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/MartiniCounts.class"));

/// The class, as class files name it.
pub(crate) const INTERNAL_NAME: &str = "java/lang/MartiniCounts";
/// The class, as a trace would name it.
pub(crate) const DOTTED_NAME: &str = "java.lang.MartiniCounts";
const NAME: &CStr = c"java/lang/MartiniCounts";

/// MartiniCounts' `registerNatives`, which its static initialiser calls: binds the natives that the hooks use.
///
/// # Safety
/// Called by the VM, with MartiniCounts as `class`.
pub(crate) unsafe fn register_natives(jni: Jni, class: jclass) {
    let natives = [
        NativeMethod { name: c"layout", signature: c"(C)I", function: super::natives::layout as *const c_void },
        NativeMethod { name: c"count", signature: c"(IJJ)V", function: super::natives::count as *const c_void },
        NativeMethod {
            name: c"countLarge",
            signature: c"(IJJ)V",
            function: super::natives::count_large as *const c_void,
        },
        NativeMethod { name: c"constants", signature: c"()J", function: super::natives::constants as *const c_void },
        NativeMethod {
            name: c"useConstant",
            signature: c"(I)V",
            function: super::natives::use_constant as *const c_void,
        },
        NativeMethod { name: c"rewritten", signature: c"([B)[B", function: super::natives::rewritten as *const c_void },
        NativeMethod { name: c"noteCall", signature: c"()V", function: super::natives::note_call as *const c_void },
        NativeMethod {
            name: c"accountBegins",
            signature: c"()V",
            function: super::natives::account_begins as *const c_void,
        },
        NativeMethod {
            name: c"accountEnds",
            signature: c"(IJ)V",
            function: super::natives::account_ends as *const c_void,
        },
        NativeMethod {
            name: c"counters",
            signature: c"(IILjava/lang/Class;)J",
            function: super::natives::counters as *const c_void,
        },
    ];
    // An exception stays pending: the class fails to initialise and `CountsProxy::define` tells.
    // SAFETY: the functions fit their descriptors, do not unwind, and stay loaded as long as the VM.
    let _ = unsafe { jni.register_natives(class, &natives) };
}

/// The class inside the VM.
pub(crate) struct CountsProxy {
    class: jclass,
    counting: jfieldID,
    lost: jfieldID,
    /// The Java array that says where each thread's counters are.
    counters: jlongArray,
}

// SAFETY: global references and ids, which JNI lets every thread use.
unsafe impl Send for CountsProxy {}
// SAFETY: as above.
unsafe impl Sync for CountsProxy {}

/// Entries of the Java array, as MartiniCounts has it.
pub(crate) const THREADS: i64 = 8192;

impl CountsProxy {
    /// Defines and initialises the class. Works from VMStart on (design page, section 4).
    ///
    /// # Errors
    /// What the VM refuses; the pending exception is cleared.
    pub(crate) fn define(jni: Jni) -> Result<CountsProxy, JniError> {
        let result = (|| {
            // SAFETY: the class has no loader but the boot loader, and its references live as long as they are used.
            unsafe {
                let local = jni.define_class(NAME, std::ptr::null_mut(), &bytes_for(jni)?)?;
                let class = jni.new_global_ref(local);
                jni.delete_local_ref(local);
                // The first look-up initialises the class, which binds its natives.
                let counters = jni.get_static_field_id(class, c"COUNTERS", c"[J")?;
                let array = jni.get_static_object_field(class, counters);
                let counters = jni.new_global_ref(array);
                jni.delete_local_ref(array);
                Ok(CountsProxy {
                    class,
                    counting: jni.get_static_field_id(class, c"counting", c"Z")?,
                    lost: jni.get_static_field_id(class, c"lost", c"I")?,
                    counters,
                })
            }
        })();
        if result.is_err() {
            jni.exception_clear();
        }
        result
    }

    /// Lets the hooks count, or stops them from counting what threads do for the first time.
    pub(crate) fn set_counting(&self, jni: Jni, on: bool) {
        // SAFETY: the class is a global reference and the field one of its own.
        unsafe { jni.set_static_boolean_field(self.class, self.counting, on) }
    }

    /// Events that MartiniCounts could not count; a lower bound.
    pub(crate) fn lost(&self, jni: Jni) -> u64 {
        // SAFETY: the class is a global reference and the field one of its own.
        unsafe { jni.get_static_int_field(self.class, self.lost) }.max(0) as u64
    }

    /// Which entry of the array belongs to the thread of that Java number.
    pub(crate) fn entry(thread: i64) -> usize {
        (thread & (THREADS - 1)) as usize
    }

    /// Says where the counters of a thread are, which is the current one; `None` takes its entry back.
    pub(crate) fn set_entry(&self, jni: Jni, thread: i64, address: Option<usize>) {
        // No thread has a negative number, while 0 is the number of one under construction.
        let values = address.map_or([-1, 0], |address| [thread, address as i64]);
        // SAFETY: a global reference to an array of twice as many elements as there are entries.
        unsafe { jni.set_long_array_region(self.counters, 2 * Self::entry(thread) as i32, &values) }
    }
}

/// The class file: where the JVM can tell a virtual thread's carrier, that is asked for instead of the thread itself.
fn bytes_for(jni: Jni) -> Result<Vec<u8>, JniError> {
    const THREAD: &[u8] = b"currentThread";
    const CARRIER: &[u8] = b"currentCarrierThread";
    let class = jni.find_class(c"java/lang/Thread")?;
    // SAFETY: live local references, deleted at once.
    let has_carriers = unsafe {
        let found = jni.get_static_method_id(class, c"currentCarrierThread", c"()Ljava/lang/Thread;");
        jni.delete_local_ref(class);
        found.is_ok()
    };
    if !has_carriers {
        jni.exception_clear();
        return Ok(BYTES.to_vec());
    }
    Ok(rename(BYTES, THREAD, CARRIER))
}

/// Gives one text of the constant pool, of a class file of ours, another value.
fn rename(class: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let entry = |text: &[u8]| [&[1], &(text.len() as u16).to_be_bytes()[..], text].concat();
    let (from, to) = (entry(from), entry(to));
    match class.windows(from.len()).position(|window| window == from) {
        Some(at) => [&class[..at], &to, &class[at + from.len()..]].concat(),
        None => class.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_class_asks_for_the_thread_in_one_place() {
        let carriers = rename(BYTES, b"currentThread", b"currentCarrierThread");
        assert_eq!(carriers.len(), BYTES.len() + 7);
        let class = classfile::ClassFile::parse(&carriers).expect("a class file");
        assert_eq!(class.name(), INTERNAL_NAME.as_bytes());
        assert_eq!(rename(&carriers, b"currentThread", b"x"), carriers);
    }
}
