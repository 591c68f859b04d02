//! String constants. The VM makes one when code uses it for the first time, and tells nobody; so rewritten code calls the agent just
//! before, which makes the string in the VM's stead and knows whether it was there already.

use std::collections::hash_map::Entry;
use std::ffi::CString;
use std::sync::{Arc, Mutex, OnceLock};

use jvmti::jni_sys::{jfieldID, jmethodID, jstring};
use jvmti::{Jni, JniError};
use rustc_hash::FxHashMap;

use super::marks::Marks;
use super::slots::Resolved;
use super::{Counts, lock};
use crate::agent::Agent;
use crate::agent::classes::ClassIndex;
use crate::agent::lifecycle::cleared;
use crate::agent::threads::ThreadContext;

/// Different constants there can be.
const MOST: usize = 1 << 20;

/// Number of a text that some class has as a string constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ConstantIndex(pub(super) u32);

/// All constants in rewritten code.
pub(super) struct Constants {
    /// By number, marked once code has used it.
    used: Marks,
    texts: Mutex<Texts>,
    /// Known from VMInit on.
    maker: OnceLock<Maker>,
}

#[derive(Default)]
struct Texts {
    numbers: FxHashMap<Arc<[u8]>, u32>,
    texts: Vec<Arc<[u8]>>,
}

/// What it takes to make a constant.
struct Maker {
    /// `String.intern`.
    intern: jmethodID,
    /// `String.value`.
    value: jfieldID,
    string: ClassIndex,
    array: ClassIndex,
}

// SAFETY: a method and a field of a class that is never unloaded, which JNI lets every thread call.
unsafe impl Send for Maker {}
// SAFETY: as above.
unsafe impl Sync for Maker {}

impl Constants {
    /// No constants; `None` if the system has no room.
    pub(super) fn new() -> Option<Constants> {
        Some(Constants { used: Marks::new(MOST)?, texts: Mutex::default(), maker: OnceLock::new() })
    }

    /// Where the mark of constant 0 is.
    pub(super) fn address(&self) -> usize {
        self.used.address()
    }

    /// The number of a text in modified UTF-8; `None` if there are too many.
    pub(super) fn number(&self, text: &[u8]) -> Option<ConstantIndex> {
        let mut texts = lock(&self.texts);
        let Texts { numbers, texts } = &mut *texts;
        if let Some(&number) = numbers.get(text) {
            return Some(ConstantIndex(number));
        }
        let number = texts.len();
        if number >= MOST {
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
        lock(&self.texts).texts.get(number.0 as usize).cloned()
    }
}

impl Maker {
    fn find(agent: &'static Agent, jni: Jni) -> Result<Maker, String> {
        let java = |error: JniError| cleared(jni, error);
        let jvmti = |error: jvmti::Error| error.to_string();
        let class = jni.find_class(c"java/lang/String").map_err(java)?;
        let array = jni.find_class(c"[B").map_err(java)?;
        // SAFETY: live local references, deleted at the end.
        unsafe {
            let intern = jni.get_method_id(class, c"intern", c"()Ljava/lang/String;").map_err(java);
            let value = jni.get_field_id(class, c"value", c"[B").map_err(java);
            let string = agent.classes.resolve(agent.env, jni, class, agent).map_err(jvmti);
            let bytes = agent.classes.resolve(agent.env, jni, array, agent).map_err(jvmti);
            jni.delete_local_ref(class);
            jni.delete_local_ref(array);
            Ok(Maker { intern: intern?, value: value?, string: string?, array: bytes? })
        }
    }
}

impl Counts {
    /// Finds out what it takes to make string constants.
    ///
    /// # Errors
    /// What the VM refuses; no exception is pending any more.
    pub(crate) fn watch_constants(&self, agent: &'static Agent, jni: Jni) -> Result<(), String> {
        if let Some(constants) = &self.constants {
            let _ = constants.maker.set(Maker::find(agent, jni)?);
        }
        Ok(())
    }

    /// The current thread is going to use a string constant of that text.
    pub(super) fn use_text(&self, agent: &'static Agent, jni: Jni, context: &mut ThreadContext, text: &[u8]) {
        let Some(constants) = &self.constants else { return };
        let Some(number) = constants.number(text) else { return };
        if !constants.used.is_set(number.0) {
            self.use_constant(agent, jni, context, number);
        }
    }

    /// The current thread is going to use a string constant, which nobody has used so far.
    pub(super) fn use_constant(
        &self,
        agent: &'static Agent,
        jni: Jni,
        context: &mut ThreadContext,
        number: ConstantIndex,
    ) {
        let Some(constants) = &self.constants else { return };
        let Some(maker) = constants.maker.get() else { return };
        let Some(text) = constants.text(number).and_then(|text| CString::new(&*text).ok()) else { return };
        let before = agent.accounting.current_thread_bytes(jni);
        // SAFETY: live local references, deleted here, and a method of theirs that takes nothing.
        let made = unsafe {
            jni.new_string_utf(&text).and_then(|string| {
                let constant = jni.call_object_method(string, maker.intern, &[]);
                let is_new = constant.as_ref().is_ok_and(|&constant| jni.is_same_object(string, constant));
                let size = agent.env.get_object_size(string).unwrap_or(0) as u64;
                jni.delete_local_ref(string);
                jni.delete_local_ref(constant?);
                Ok(is_new.then_some(size))
            })
        };
        let bytes = agent.accounting.current_thread_bytes(jni).zip(before).map_or(0, |(after, before)| after - before);
        match made {
            Ok(Some(size)) => {
                self.count_pair(context, maker, size, bytes.saturating_sub(size));
            }
            Ok(None) => agent.exclude_bytes(context.carrier, bytes),
            // The VM will try itself, and say what it thinks of it.
            Err(_) => {
                jni.exception_clear();
                agent.exclude_bytes(context.carrier, bytes);
            }
        }
        constants.used.set(number.0);
    }

    fn maker(&self) -> Option<&Maker> {
        self.constants.as_ref()?.maker.get()
    }

    /// Whether that is the class of strings.
    pub(super) fn is_string(&self, class: ClassIndex) -> bool {
        self.maker().is_some_and(|maker| maker.string == class)
    }

    /// Counts a string of so many bytes, and its array, that the VM made.
    ///
    /// # Safety
    /// `string` is a live reference to a string.
    pub(super) unsafe fn count_string(
        &self,
        agent: &'static Agent,
        jni: Jni,
        context: &mut ThreadContext,
        string: jstring,
        bytes: u64,
    ) {
        let Some(maker) = self.maker() else { return };
        // SAFETY: by the caller's promise; the array is a local reference, deleted here.
        let array = unsafe {
            let array = jni.get_object_field(string, maker.value);
            let size = agent.env.get_object_size(array);
            jni.delete_local_ref(array);
            size
        };
        let Ok(array) = array else { return };
        self.count_pair(context, maker, bytes, array as u64);
    }

    /// Counts a string of so many bytes, and its array of so many.
    fn count_pair(&self, context: &mut ThreadContext, maker: &Maker, string: u64, array: u64) {
        for (class, bytes) in [(maker.string, string), (maker.array, array)] {
            self.count_by_the_vm(context, Resolved { class, place: None }, bytes);
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
