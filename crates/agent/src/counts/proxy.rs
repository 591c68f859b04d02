//! MartiniCounts, the Java class with the counting hooks: its fields and natives.

use std::ffi::c_void;

use jvmti::jni_sys::{JNIEnv, jclass, jfieldID, jobject};
use jvmti::{Jni, JniError};

use super::natives;
use agent_base::helpers::{self, COUNTS, HelperClass, Helpers, native, rename};
use agent_base::tables::threads::tid_field;

/// Compiled from `java/MartiniCounts.java`.
const BYTES: &[u8] = include_bytes!("../../java/classes/java/lang/MartiniCounts.class");

/// MartiniCounts' `registerNatives`, which its method `bind` calls: binds the natives that the hooks use.
///
/// # Safety
/// Called by the VM, with MartiniCounts as `class`.
pub unsafe fn register_natives(jni: *mut JNIEnv, class: jclass) {
    let natives = [
        native(c"count", c"(IJJ)V", natives::count as *const c_void),
        native(c"countLarge", c"(IJJ)V", natives::count_large as *const c_void),
        native(c"useConstant", c"(I)V", natives::use_constant as *const c_void),
        native(c"rewritten", c"([B)[B", natives::rewritten as *const c_void),
        native(c"noteCall", c"()V", natives::note_call as *const c_void),
        native(c"countArgument", c"(Ljava/lang/Object;)V", natives::count_argument as *const c_void),
        native(c"accountBegins", c"()V", natives::account_begins as *const c_void),
        native(c"accountEnds", c"(IJ)V", natives::account_ends as *const c_void),
        native(c"counters", c"(IILjava/lang/Class;)J", natives::counters as *const c_void),
    ];
    // SAFETY: by the caller's promise; the functions fit their descriptors and do not unwind.
    unsafe { helpers::register_natives(Jni::from_raw(jni), class, &natives) }
}

/// The class inside the VM, bound to its natives.
pub(super) struct CountsProxy {
    class: HelperClass,
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
    /// Defines the class, which works from the early VMStart on. Its static initialiser calls nothing.
    ///
    /// # Errors
    /// What the VM refuses; no exception is pending any more.
    pub(super) fn define(helpers: &Helpers, jni: Jni, class_file: &[u8]) -> Result<HelperClass, JniError> {
        helpers.define(jni, &COUNTS, class_file)
    }

    /// Initialises the class, if it is not yet, and binds its natives.
    ///
    /// # Errors
    /// What the VM refuses; no exception is pending any more.
    pub(super) fn bind(jni: Jni, class: HelperClass) -> Result<CountsProxy, JniError> {
        class.call(jni, c"bind")?;
        let fields = || {
            Ok(CountsProxy {
                class,
                counting: class.field(jni, c"counting", c"Z")?,
                lost: class.field(jni, c"lost", c"I")?,
                number: tid_field(jni)?,
            })
        };
        fields().inspect_err(|_| jni.exception_clear())
    }

    /// Lets the hooks count.
    ///
    /// # Errors
    /// What the VM refuses; no exception is pending any more.
    pub(super) fn begin(&self, jni: Jni) -> Result<(), JniError> {
        self.class.call(jni, c"begin")
    }

    /// Lets the hooks count no more on threads that have no counters.
    pub(super) fn end(&self, jni: Jni) {
        // SAFETY: the field is one of the class.
        unsafe { self.class.set_boolean(jni, self.counting, false) }
    }

    /// Events that MartiniCounts could not count; a lower bound.
    pub(super) fn lost(&self, jni: Jni) -> u64 {
        // SAFETY: the field is one of the class.
        unsafe { self.class.count(jni, self.lost) }
    }

    /// The number of a thread in Java.
    ///
    /// # Safety
    /// `thread` is a live reference to a thread.
    pub(super) unsafe fn number(&self, jni: Jni, thread: jobject) -> i64 {
        // SAFETY: by the caller's promise; the field is one of java.lang.Thread.
        unsafe { jni.get_long_field(thread, self.number) }
    }
}

/// The class file, with what is known of this VM in its constant pool: where it knows a virtual thread's carrier, that is asked
/// for instead of the thread itself; packed layouts of arrays by the descriptor of their elements; where constants are marked, and where
/// threads find their counters.
pub(crate) fn class_file(java: u32, layout: impl Fn(u8) -> i32, constants: usize, counters: usize) -> Vec<u8> {
    const THREAD: &[u8] = b"currentThread";
    const CARRIER: &[u8] = b"currentCarrierThread";
    let mut class = if java >= FIRST_WITH_CARRIERS { rename(BYTES, THREAD, CARRIER) } else { BYTES.to_vec() };
    for (placeholder, descriptor) in LAYOUTS {
        fill(&mut class, INTEGER, &placeholder.to_be_bytes(), &layout(descriptor).to_be_bytes());
    }
    for (placeholder, address) in [(CONSTANTS, constants), (COUNTERS, counters)] {
        fill(&mut class, LONG, &placeholder.to_be_bytes(), &(address as u64).to_be_bytes());
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

/// Replaces one number in the constant pool of a class file of ours.
fn fill(class: &mut [u8], tag: u8, from: &[u8], to: &[u8]) {
    let entry = [&[tag], from].concat();
    if let Some(at) = class.windows(entry.len()).position(|window| window == entry) {
        class[at + 1..at + 1 + to.len()].copy_from_slice(to);
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
        for (placeholder, descriptor) in LAYOUTS {
            assert_eq!(count(&placeholder.to_be_bytes()), 0);
            assert_eq!(count(&[&[INTEGER][..], &layout(descriptor).to_be_bytes()].concat()), 1);
        }
        for (placeholder, address) in [(CONSTANTS, [0x34, 0x56, 0x78, 0x90]), (COUNTERS, [0; 4])] {
            assert_eq!(count(&placeholder.to_be_bytes()), 0);
            assert_eq!(count(&[&[LONG, 0, 0, 0x7F, 0x12][..], &address].concat()), 1);
        }
        classfile::ClassFile::parse(&class).expect("a class file");
    }

    #[test]
    fn our_class_asks_for_the_thread_in_one_place() {
        let carriers = rename(BYTES, b"currentThread", b"currentCarrierThread");
        assert_eq!(carriers.len(), BYTES.len() + 7);
        let class = classfile::ClassFile::parse(&carriers).expect("a class file");
        assert_eq!(class.name(), COUNTS.internal_name.as_bytes());
        assert_eq!(rename(&carriers, b"currentThread", b"x"), carriers);
    }
}
