//! MartiniCounts, the Java class with the counting hooks.

use std::sync::Once;

use jvmti::jni_sys::{jfieldID, jobject};
use jvmti::{Jni, JniError};
use trace::names::array_code;

use super::block_pool::BlockPool;
use super::constants::{Constants, Strings};
use agent_base::helpers::{COUNTS, HelperClass, rename};
use agent_base::message::message;
use agent_base::tables::array_layout::ArrayLayout;
use agent_base::tables::threads::tid_field;
use agent_core::core::Jvm;

/// Why nothing can be counted.
pub(crate) const NO_ROOM: &str = "no address space for counters; heap=vm needs none";

/// The class inside the VM, bound to its natives.
pub(super) struct CountsProxy {
    class: HelperClass,
    /// `Thread.tid`.
    number: jfieldID,
    /// Done once the hooks count.
    begun: Once,
}

// SAFETY: a global reference and an id, which JNI lets every thread use.
unsafe impl Send for CountsProxy {}
// SAFETY: as above.
unsafe impl Sync for CountsProxy {}

impl CountsProxy {
    /// Defines the class in the VM, if it does not have it, with what is known of the VM. Works from the early VMStart on.
    ///
    /// # Errors
    /// What the VM refuses.
    pub(super) fn define(jvm: &Jvm, jni: Jni, pool: &BlockPool, strings: &Strings) -> Result<HelperClass, String> {
        if let Some(known) = jvm.helpers.known(&COUNTS) {
            return Ok(known);
        }
        // Measuring initialises `Object`, whose initialiser has no site; no other class may be initialised before its turn.
        let layouts = jvm.classes.measure_arrays(jni);
        let packed = |descriptor: u8| {
            let name =
                if descriptor == b'L' { "[Ljava/lang/Object;".into() } else { format!("[{}", descriptor as char) };
            layouts.get(array_code(&name)).and_then(ArrayLayout::packed).unwrap_or(0)
        };
        let constants = strings.constants().map_or(0, Constants::address);
        let class_file = class_file(jvm.java, packed, constants, pool.table().ok_or(NO_ROOM)?);
        jvm.helpers.define_from(jni, &COUNTS, &class_file).map_err(|error| error.to_string())
    }

    /// Initialises the class, if it is not yet, and binds its natives. (Its static initialiser calls nothing.)
    ///
    /// # Errors
    /// What the VM refuses; no exception is pending any more.
    pub(super) fn bind(jni: Jni, class: HelperClass) -> Result<CountsProxy, JniError> {
        class.call(jni, c"bind")?;
        let number = tid_field(jni).inspect_err(|_| jni.exception_clear())?;
        Ok(CountsProxy { class, number, begun: Once::new() })
    }

    /// Lets the hooks count.
    pub(super) fn begin(&self, jni: Jni) {
        self.begun.call_once(|| {
            if let Err(error) = self.class.call(jni, c"begin") {
                message(&format!("cannot start MartiniCounts, so nothing is counted: {error}"));
            }
        });
    }

    /// Lets the hooks count no more on threads that have no counters. Returns how many events MartiniCounts could not count; a
    /// lower bound.
    pub(super) fn end(&self, jni: Jni) -> u64 {
        self.class.set_boolean(jni, c"counting", false);
        self.class.lost(jni)
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
fn class_file(java: u32, layout: impl Fn(u8) -> i32, constants: usize, counters: usize) -> Vec<u8> {
    const THREAD: &[u8] = b"currentThread";
    const CARRIER: &[u8] = b"currentCarrierThread";
    let mut class =
        if java >= FIRST_WITH_CARRIERS { rename(COUNTS.bytes, THREAD, CARRIER) } else { COUNTS.bytes.to_vec() };
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
        assert_eq!(class.len(), COUNTS.bytes.len());
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
        let carriers = rename(COUNTS.bytes, b"currentThread", b"currentCarrierThread");
        assert_eq!(carriers.len(), COUNTS.bytes.len() + 7);
        let class = classfile::ClassFile::parse(&carriers).expect("a class file");
        assert_eq!(class.name(), COUNTS.internal_name.as_bytes());
        assert_eq!(rename(&carriers, b"currentThread", b"x"), carriers);
    }
}
