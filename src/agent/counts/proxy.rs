//! MartiniCounts, the Java class with the counting hooks: its fields and natives, and how it gets into the VM.

use std::ffi::{CStr, c_void};

use jvmti::jni_sys::{jclass, jfieldID, jmethodID, jobject};
use jvmti::{Jni, JniError, NativeMethod};

use crate::agent::accounting::tid_field;

/// Compiled from `java/MartiniCounts.java`.
const BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/MartiniCounts.class"));

/// The class, as class files name it.
pub(crate) const INTERNAL_NAME: &str = "java/lang/MartiniCounts";
/// The class, as a trace would name it.
pub(crate) const DOTTED_NAME: &str = "java.lang.MartiniCounts";
const NAME: &CStr = c"java/lang/MartiniCounts";

/// MartiniCounts' `registerNatives`, which its method `bind` calls: binds the natives that the hooks use.
///
/// # Safety
/// Called by the VM, with MartiniCounts as `class`.
pub(crate) unsafe fn register_natives(jni: Jni, class: jclass) {
    let natives = [
        NativeMethod { name: c"count", signature: c"(IJJ)V", function: super::natives::count as *const c_void },
        NativeMethod {
            name: c"countLarge",
            signature: c"(IJJ)V",
            function: super::natives::count_large as *const c_void,
        },
        NativeMethod {
            name: c"useConstant",
            signature: c"(I)V",
            function: super::natives::use_constant as *const c_void,
        },
        NativeMethod { name: c"rewritten", signature: c"([B)[B", function: super::natives::rewritten as *const c_void },
        NativeMethod { name: c"noteCall", signature: c"()V", function: super::natives::note_call as *const c_void },
        NativeMethod {
            name: c"countGiven",
            signature: c"(Ljava/lang/Object;)V",
            function: super::natives::count_given as *const c_void,
        },
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
    // An exception stays pending: `bind` throws it and `CountsProxy::bind` tells.
    // SAFETY: the functions fit their descriptors, do not unwind, and stay loaded as long as the VM.
    let _ = unsafe { jni.register_natives(class, &natives) };
}

/// The class, before it is bound: a global reference, which nobody deletes.
pub(crate) struct Defined(jclass);

// SAFETY: JNI lets every thread use a global reference.
unsafe impl Send for Defined {}
// SAFETY: as above.
unsafe impl Sync for Defined {}

/// The class inside the VM.
pub(crate) struct CountsProxy {
    class: jclass,
    begin: jmethodID,
    counting: jfieldID,
    lost: jfieldID,
    /// `Thread.tid`.
    number: jfieldID,
}

// SAFETY: global references and ids, which JNI lets every thread use.
unsafe impl Send for CountsProxy {}
// SAFETY: as above.
unsafe impl Sync for CountsProxy {}

impl CountsProxy {
    /// Defines the class, which works from the early VMStart on (design page, section 4). Its static initialiser calls nothing.
    ///
    /// # Errors
    /// What the VM refuses; the pending exception is cleared.
    pub(crate) fn define(jni: Jni, class_file: &[u8]) -> Result<Defined, JniError> {
        // SAFETY: the class has no loader but the boot loader, and the local reference is deleted at once.
        let result = unsafe {
            jni.define_class(NAME, std::ptr::null_mut(), class_file).map(|local| {
                let class = jni.new_global_ref(local);
                jni.delete_local_ref(local);
                Defined(class)
            })
        };
        if result.is_err() {
            jni.exception_clear();
        }
        result
    }

    /// Initialises the class, if it is not yet, and binds its natives.
    ///
    /// # Errors
    /// What the VM refuses; the pending exception is cleared.
    pub(crate) fn bind(jni: Jni, &Defined(class): &Defined) -> Result<CountsProxy, JniError> {
        let result = (|| {
            // SAFETY: a global reference to the class, which nobody deletes, and a method of it that takes nothing.
            unsafe {
                let bind = jni.get_static_method_id(class, c"bind", c"()V")?;
                jni.call_static_void_method(class, bind, &[])?;
                Ok(CountsProxy {
                    class,
                    begin: jni.get_static_method_id(class, c"begin", c"()V")?,
                    counting: jni.get_static_field_id(class, c"counting", c"Z")?,
                    lost: jni.get_static_field_id(class, c"lost", c"I")?,
                    number: tid_field(jni)?,
                })
            }
        })();
        if result.is_err() {
            jni.exception_clear();
        }
        result
    }

    /// Lets the hooks count.
    ///
    /// # Errors
    /// What the VM refuses; the pending exception is cleared.
    pub(crate) fn begin(&self, jni: Jni) -> Result<(), JniError> {
        // SAFETY: a method of the class that takes nothing.
        let begun = unsafe { jni.call_static_void_method(self.class, self.begin, &[]) };
        if begun.is_err() {
            jni.exception_clear();
        }
        begun
    }

    /// Lets the hooks count no more on threads that have no counters.
    pub(crate) fn end(&self, jni: Jni) {
        // SAFETY: the class is a global reference and the field one of its own.
        unsafe { jni.set_static_boolean_field(self.class, self.counting, false) }
    }

    /// Events that MartiniCounts could not count; a lower bound.
    pub(crate) fn lost(&self, jni: Jni) -> u64 {
        // SAFETY: the class is a global reference and the field one of its own.
        unsafe { jni.get_static_int_field(self.class, self.lost) }.max(0) as u64
    }

    /// The number of a thread in Java.
    ///
    /// # Safety
    /// `thread` is a live reference to a thread.
    pub(crate) unsafe fn number(&self, jni: Jni, thread: jobject) -> i64 {
        // SAFETY: by the caller's promise; the field is one of java.lang.Thread.
        unsafe { jni.get_long_field(thread, self.number) }
    }
}

/// The class file, with what is known of this VM in its constant pool: where it can tell a virtual thread's carrier, that is asked
/// for instead of the thread itself; packed layouts of arrays by the descriptor of their elements; where constants are marked, and where
/// threads find their counters.
pub(crate) fn class_file(java: u32, layout: impl Fn(u8) -> i32, constants: usize, counters: usize) -> Vec<u8> {
    const THREAD: &[u8] = b"currentThread";
    const CARRIER: &[u8] = b"currentCarrierThread";
    let mut class = if java >= FIRST_WITH_CARRIERS { rename(BYTES, THREAD, CARRIER) } else { BYTES.to_vec() };
    for (given, descriptor) in LAYOUTS {
        fill(&mut class, INTEGER, &given.to_be_bytes(), &layout(descriptor).to_be_bytes());
    }
    for (given, address) in [(CONSTANTS, constants), (COUNTERS, counters)] {
        fill(&mut class, LONG, &given.to_be_bytes(), &(address as u64).to_be_bytes());
    }
    class
}

/// The first feature release with `Thread.currentCarrierThread`.
const FIRST_WITH_CARRIERS: u32 = 19;
/// Tags of entries of the constant pool.
const INTEGER: u8 = 3;
const LONG: u8 = 5;
/// What stands in MartiniCounts for the layout of arrays of these elements, which `L` is for references.
const LAYOUTS: [(u32, u8); 5] =
    [(0x4D61_0001, b'B'), (0x4D61_0002, b'C'), (0x4D61_0004, b'I'), (0x4D61_0008, b'J'), (0x4D61_0000, b'L')];
/// What stands there for the place where constants are marked.
const CONSTANTS: u64 = 0x4D61_0000_0000_0010;
/// What stands there for the place where threads find their counters.
const COUNTERS: u64 = 0x4D61_0000_0000_0020;

/// Gives one number of the constant pool, of a class file of ours, another value.
fn fill(class: &mut [u8], tag: u8, from: &[u8], to: &[u8]) {
    let entry = [&[tag], from].concat();
    if let Some(at) = class.windows(entry.len()).position(|window| window == entry) {
        class[at + 1..at + 1 + to.len()].copy_from_slice(to);
    }
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
    fn what_is_known_of_the_vm_is_in_the_class_file() {
        let layout = |descriptor: u8| 0x5500_0000 + i32::from(descriptor);
        let class = class_file(17, layout, 0x7F12_3456_7890, 0x7F12_0000_0000);
        assert_eq!(class.len(), BYTES.len());
        let count = |entry: &[u8]| class.windows(entry.len()).filter(|window| *window == entry).count();
        for (given, descriptor) in LAYOUTS {
            assert_eq!(count(&given.to_be_bytes()), 0);
            assert_eq!(count(&[&[INTEGER][..], &layout(descriptor).to_be_bytes()].concat()), 1);
        }
        for (given, address) in [(CONSTANTS, [0x34, 0x56, 0x78, 0x90]), (COUNTERS, [0; 4])] {
            assert_eq!(count(&given.to_be_bytes()), 0);
            assert_eq!(count(&[&[LONG, 0, 0, 0x7F, 0x12][..], &address].concat()), 1);
        }
        classfile::ClassFile::parse(&class).expect("a class file");
    }

    #[test]
    fn our_class_asks_for_the_thread_in_one_place() {
        let carriers = rename(BYTES, b"currentThread", b"currentCarrierThread");
        assert_eq!(carriers.len(), BYTES.len() + 7);
        let class = classfile::ClassFile::parse(&carriers).expect("a class file");
        assert_eq!(class.name(), INTERNAL_NAME.as_bytes());
        assert_eq!(rename(&carriers, b"currentThread", b"x"), carriers);
    }
}
