//! Strings that the VM makes.
//!
//! It makes a constant when code uses it for the first time, and sends no event. So rewritten code calls the agent just
//! before; the agent interns the string itself, which shows whether the VM had it already.

use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use jvmti::jni_sys::{jfieldID, jmethodID, jobject};
use jvmti::{Jni, JniError};
use rustc_hash::FxHashMap;

use super::current_thread::Here;
use super::memory::zeros;
use agent_base::ids::ClassIndex;
use agent_base::mutex::Mutex;
use agent_core::core::Core;

/// The largest number of different constants.
const MAX_CONSTANTS: usize = 1 << 20;

/// Number of a text that some class has as a string constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ConstantIndex(pub(super) u32);

/// All constants in rewritten code.
pub(super) struct Constants {
    /// By number, 1 once code has used it; compiled Java code reads it.
    used: &'static [AtomicU8],
    texts: Mutex<Texts>,
}

#[derive(Default)]
struct Texts {
    numbers: FxHashMap<Arc<[u8]>, u32>,
    texts: Vec<Arc<[u8]>>,
}

/// The method, field and classes that are needed to make a constant.
struct StringFactory {
    /// `String.intern`.
    intern: jmethodID,
    /// `String.value`.
    value: jfieldID,
    string: ClassIndex,
    array: ClassIndex,
}

// SAFETY: a method and a field of a class that is never unloaded, which JNI lets every thread call.
unsafe impl Send for StringFactory {}
// SAFETY: as above.
unsafe impl Sync for StringFactory {}

impl Constants {
    /// No constants; `None` if the system has no room.
    pub(super) fn new() -> Option<Constants> {
        // SAFETY: zeros are valid.
        Some(Constants { used: unsafe { zeros(MAX_CONSTANTS) }?, texts: Mutex::default() })
    }

    /// Where the mark of constant 0 is.
    pub(super) fn address(&self) -> usize {
        self.used.as_ptr() as usize
    }

    /// The number of a text in modified UTF-8; `None` if there are too many.
    pub(super) fn number(&self, text: &[u8]) -> Option<ConstantIndex> {
        let mut texts = self.texts.lock();
        let Texts { numbers, texts } = &mut *texts;
        if let Some(&number) = numbers.get(text) {
            return Some(ConstantIndex(number));
        }
        let number = texts.len();
        if number >= MAX_CONSTANTS {
            return None;
        }
        let text: Arc<[u8]> = text.into();
        texts.push(text.clone());
        numbers.insert(text, number as u32);
        Some(ConstantIndex(number as u32))
    }

    fn text(&self, number: ConstantIndex) -> Option<Arc<[u8]>> {
        self.texts.lock().texts.get(number.0 as usize).cloned()
    }
}

impl StringFactory {
    fn find(core: &Core, jni: Jni) -> Result<StringFactory, String> {
        const STRING: &CStr = c"java/lang/String";
        let java = |error: JniError| jni.cleared(error);
        let (string, array) = (core.jvm.classes.find(jni, STRING)?, core.jvm.classes.find(jni, c"[B")?);
        let class = jni.find_class(STRING).map_err(java)?;
        // SAFETY: a live local reference, deleted at the end.
        unsafe {
            let intern = jni.get_method_id(class, c"intern", c"()Ljava/lang/String;").map_err(java);
            let value = jni.get_field_id(class, c"value", c"[B").map_err(java);
            jni.delete_local_ref(class);
            Ok(StringFactory { intern: intern?, value: value?, string, array })
        }
    }

    /// Counts a string of so many bytes, and its array of so many.
    fn count(&self, here: &mut Here<'_>, string: u64, array: u64) {
        here.count_vm_object(self.string, None, string);
        here.count_vm_object(self.array, None, array);
    }
}

/// The strings of a JVM.
pub(super) struct Strings {
    /// `None` if the system has no room.
    constants: Option<Constants>,
    /// Known from VMInit on.
    factory: OnceLock<StringFactory>,
}

impl Strings {
    /// None that is known.
    pub(super) fn new() -> Strings {
        Strings { constants: Constants::new(), factory: OnceLock::new() }
    }

    /// The constants in rewritten code; `None` if they cannot be counted.
    pub(super) fn constants(&self) -> Option<&Constants> {
        self.constants.as_ref()
    }

    /// Looks up what is needed to make string constants.
    ///
    /// # Errors
    /// What the VM refuses; no exception is pending any more.
    pub(super) fn find(&self, core: &Core, jni: Jni) -> Result<(), String> {
        if self.factory.get().is_none() {
            let _ = self.factory.set(StringFactory::find(core, jni)?);
        }
        Ok(())
    }

    /// The current thread is going to use a string constant of that text.
    pub(super) fn use_text(&self, here: &mut Here<'_>, text: &[u8]) {
        if let Some(constants) = &self.constants
            && let Some(number) = constants.number(text)
            && constants.used[number.0 as usize].load(Ordering::Relaxed) == 0
        {
            self.use_constant(here, number);
        }
    }

    /// The current thread is going to use a string constant that no code has used so far.
    pub(super) fn use_constant(&self, here: &mut Here<'_>, number: ConstantIndex) {
        let (Some(constants), Some(factory)) = (&self.constants, self.factory.get()) else { return };
        let (core, jni) = (here.core, here.jni);
        let Some(text) = constants.text(number).and_then(|text| CString::new(&*text).ok()) else { return };
        let before = core.jvm.accounting.current_thread_bytes(jni);
        // SAFETY: live local references, deleted here, and a method of theirs that takes nothing.
        let new_bytes = unsafe {
            jni.new_string_utf(&text).and_then(|string| {
                let constant = jni.call_object_method(string, factory.intern, &[]);
                let is_new = constant.as_ref().is_ok_and(|&constant| jni.is_same_object(string, constant));
                let size = core.jvm.env.get_object_size(string).unwrap_or(0) as u64;
                jni.delete_local_ref(string);
                jni.delete_local_ref(constant?);
                Ok(is_new.then_some(size))
            })
        };
        let bytes =
            core.jvm.accounting.current_thread_bytes(jni).zip(before).map_or(0, |(after, before)| after - before);
        match new_bytes {
            Ok(Some(size)) => factory.count(here, size, bytes.saturating_sub(size)),
            Ok(None) => core.exclude_bytes(here.carrier, bytes),
            // The VM tries the same next, and throws what the program has to handle.
            Err(_) => {
                jni.exception_clear();
                core.exclude_bytes(here.carrier, bytes);
            }
        }
        constants.used[number.0 as usize].store(1, Ordering::Relaxed);
    }

    /// The VM calls a method on the current thread with that object, which it has made for that: counts it, and the array of a string.
    ///
    /// # Safety
    /// `object` is a live reference.
    pub(super) unsafe fn count_argument(&self, here: &mut Here<'_>, object: jobject) {
        let (core, jni) = (here.core, here.jni);
        let size = |object| {
            // SAFETY: a live reference, by the caller's promise or from below.
            unsafe { core.jvm.env.get_object_size(object) }.map(|bytes| bytes as u64)
        };
        // SAFETY: by the caller's promise; the class is a local reference, deleted here.
        let found = unsafe {
            let class = jni.get_object_class(object);
            let found = core.jvm.classes.resolve(jni, class);
            jni.delete_local_ref(class);
            found.and_then(|class| Ok((class, size(object)?)))
        };
        let (class, bytes) = match found {
            Ok(found) => found,
            Err(error) => return core.count_failure("VM object", error),
        };
        match self.factory.get().filter(|factory| factory.string == class) {
            Some(factory) => {
                // SAFETY: a live reference to a string; the array is a local reference, deleted here.
                let array = unsafe {
                    let array = jni.get_object_field(object, factory.value);
                    let size = size(array);
                    jni.delete_local_ref(array);
                    size
                };
                if let Ok(array) = array {
                    factory.count(here, bytes, array);
                }
            }
            None => here.count_vm_object(class, None, bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_number() {
        let constants = Constants::new().expect("room");
        assert_eq!(constants.number(b"a"), Some(ConstantIndex(0)));
        assert_eq!(constants.number(b"b"), Some(ConstantIndex(1)));
        assert_eq!(constants.number(b"a"), Some(ConstantIndex(0)));
        assert_eq!(constants.text(ConstantIndex(1)).as_deref(), Some(&b"b"[..]));
        assert_eq!(constants.text(ConstantIndex(2)), None);
    }
}
