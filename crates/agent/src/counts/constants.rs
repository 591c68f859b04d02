//! String constants. The VM makes one when code uses it for the first time, and sends no event. So rewritten code calls the agent just
//! before; the agent interns the string itself, which shows whether the VM had it already.

use std::collections::hash_map::Entry;
use std::ffi::CString;
use std::sync::Arc;

use jvmti::jni_sys::{jfieldID, jmethodID, jstring};
use jvmti::{Jni, JniError};
use rustc_hash::FxHashMap;

use super::Counts;
use super::marks::Marks;
use super::threads::CountsThread;
use agent_base::ids::{AllocationSite, ClassIndex};
use agent_base::mutex::Mutex;
use agent_core::core::Core;
use agent_core::core::context::ThreadContext;

/// The largest number of different constants.
const MAX_CONSTANTS: usize = 1 << 20;

/// Number of a text that some class has as a string constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ConstantIndex(pub(super) u32);

/// All constants in rewritten code.
pub(super) struct Constants {
    /// By number, marked once code has used it.
    used: Marks,
    texts: Mutex<Texts>,
}

#[derive(Default)]
struct Texts {
    numbers: FxHashMap<Arc<[u8]>, u32>,
    texts: Vec<Arc<[u8]>>,
}

/// The method, field and classes that are needed to make a constant.
pub(super) struct StringFactory {
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
        Some(Constants { used: Marks::new(MAX_CONSTANTS)?, texts: Mutex::default() })
    }

    /// Where the mark of constant 0 is.
    pub(super) fn address(&self) -> usize {
        self.used.address()
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
        if let Entry::Vacant(vacant) = numbers.entry(text) {
            vacant.insert(number as u32);
        }
        Some(ConstantIndex(number as u32))
    }

    fn text(&self, number: ConstantIndex) -> Option<Arc<[u8]>> {
        self.texts.lock().texts.get(number.0 as usize).cloned()
    }
}

impl StringFactory {
    fn find(core: &Core, jni: Jni) -> Result<StringFactory, String> {
        let java = |error: JniError| jni.cleared(error);
        let jvmti = |error: jvmti::Error| error.to_string();
        let class = jni.find_class(c"java/lang/String").map_err(java)?;
        let array = jni.find_class(c"[B").map_err(java)?;
        // SAFETY: live local references, deleted at the end.
        unsafe {
            let intern = jni.get_method_id(class, c"intern", c"()Ljava/lang/String;").map_err(java);
            let value = jni.get_field_id(class, c"value", c"[B").map_err(java);
            let string = core.jvm.classes.resolve(jni, class).map_err(jvmti);
            let bytes = core.jvm.classes.resolve(jni, array).map_err(jvmti);
            jni.delete_local_ref(class);
            jni.delete_local_ref(array);
            Ok(StringFactory { intern: intern?, value: value?, string: string?, array: bytes? })
        }
    }
}

impl Counts {
    /// Looks up what is needed to make string constants.
    ///
    /// # Errors
    /// What the VM refuses; no exception is pending any more.
    pub(super) fn watch_constants(&self, jni: Jni) -> Result<(), String> {
        if self.space.strings.get().is_none() {
            let _ = self.space.strings.set(StringFactory::find(self.core, jni)?);
        }
        Ok(())
    }

    /// The current thread is going to use a string constant of that text.
    pub(super) fn use_text(&self, jni: Jni, thread: &ThreadContext, state: &mut CountsThread, text: &[u8]) {
        let Some(constants) = &self.space.constants else { return };
        let Some(number) = constants.number(text) else { return };
        if !constants.used.is_set(number.0) {
            self.use_constant(jni, thread, state, number);
        }
    }

    /// The current thread is going to use a string constant that no code has used so far.
    pub(super) fn use_constant(
        &self,
        jni: Jni,
        thread: &ThreadContext,
        state: &mut CountsThread,
        number: ConstantIndex,
    ) {
        let Some(constants) = &self.space.constants else { return };
        let Some(factory) = self.space.strings.get() else { return };
        let core = self.core;
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
            Ok(Some(size)) => {
                self.count_pair(thread, state, factory, size, bytes.saturating_sub(size));
            }
            Ok(None) => core.exclude_bytes(thread.carrier, bytes),
            // The VM tries the same next, and throws what the program has to handle.
            Err(_) => {
                jni.exception_clear();
                core.exclude_bytes(thread.carrier, bytes);
            }
        }
        constants.used.set(number.0);
    }

    fn factory(&self) -> Option<&StringFactory> {
        self.space.strings.get()
    }

    /// Whether that is the class of strings.
    pub(super) fn is_string(&self, class: ClassIndex) -> bool {
        self.factory().is_some_and(|factory| factory.string == class)
    }

    /// Counts a string of so many bytes, and its array, that the VM made.
    ///
    /// # Safety
    /// `string` is a live reference to a string.
    pub(super) unsafe fn count_string(
        &self,
        jni: Jni,
        thread: &ThreadContext,
        state: &mut CountsThread,
        string: jstring,
        bytes: u64,
    ) {
        let Some(factory) = self.factory() else { return };
        // SAFETY: by the caller's promise; the array is a local reference, deleted here.
        let array = unsafe {
            let array = jni.get_object_field(string, factory.value);
            let size = self.core.jvm.env.get_object_size(array);
            jni.delete_local_ref(array);
            size
        };
        let Ok(array) = array else { return };
        self.count_pair(thread, state, factory, bytes, array as u64);
    }

    /// Counts a string of so many bytes, and its array of so many.
    fn count_pair(
        &self,
        thread: &ThreadContext,
        state: &mut CountsThread,
        factory: &StringFactory,
        string: u64,
        array: u64,
    ) {
        for (class, bytes) in [(factory.string, string), (factory.array, array)] {
            self.count_vm_object(thread, state, AllocationSite { class, location: None }, bytes);
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
