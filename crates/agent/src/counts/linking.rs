//! Objects that the VM makes for a class: the strings of its constant fields while it makes the class, and, when it links the class,
//! an array for the constants that are objects.

use classfile::{ClassFile, Constant, opcode};
use jvmti::Jni;
use jvmti::jni_sys::jclass;
use rustc_hash::FxHashMap;

use super::Counts;
use agent_base::clock::Ticks;
use agent_base::ids::AllocationSite;
use agent_base::mutex::Mutex;
use agent_core::core::context::enter;
use agent_core::instrument::retransform::internal_name;

/// By internal name, the elements of the arrays of classes that are not linked yet. Several loaders may have a class of that name.
#[derive(Default)]
pub(super) struct Unlinked(Mutex<FxHashMap<Box<[u8]>, Vec<u32>>>);

impl Counts {
    /// The VM is going to make a class of that class file on the current thread, while events are reported.
    pub(super) fn class_read(&self, jni: Jni, class: &ClassFile<'_>) {
        enter(self.core, jni, Ticks::now, |local| {
            let (thread, state) = local.with();
            for text in class.fields().filter_map(|field| field.constant_string()) {
                self.use_text(jni, thread, state, text);
            }
        });
        let references = references(class);
        if references > 0 {
            self.space.unlinked.0.lock().entry(class.name().into()).or_default().push(references);
        }
    }

    /// The VM has linked a class on the current thread.
    ///
    /// # Safety
    /// `class` is a live reference.
    pub(super) unsafe fn class_linked(&self, jni: Jni, class: jclass) {
        if !self.core.is_reporting() {
            return;
        }
        // SAFETY: by the caller's promise.
        let Ok(signature) = (unsafe { self.core.jvm.env.get_class_signature(class) }) else { return };
        let Some(name) = internal_name(&signature) else { return };
        if let Some(length) = self.take_unlinked(name)
            && let Some((class, bytes)) = self.references(length)
        {
            enter(self.core, jni, Ticks::now, |local| {
                let (thread, state) = local.with();
                self.count_vm_object(thread, state, AllocationSite { class, location: None }, bytes);
            });
        }
    }

    fn take_unlinked(&self, name: &[u8]) -> Option<u32> {
        let mut unlinked = self.space.unlinked.0.lock();
        let lengths = unlinked.get_mut(name)?;
        let length = lengths.pop();
        if lengths.is_empty() {
            unlinked.remove(name);
        }
        length
    }
}

/// Elements of the array that the VM makes when it links the class (HotSpot's `Rewriter::compute_index_maps`): one for each constant
/// that is an object, each `invokedynamic`, and each method that is called through a method handle or a variable handle.
fn references(class: &ClassFile<'_>) -> u32 {
    let pool = class.pool();
    // Methods are most of the entries of many pools, and few classes call methods of handles.
    let has_handles = pool.texts().any(|(_, text)| text == METHOD_HANDLE || text == VAR_HANDLE);
    let (mut references, mut is_dynamic) = (0, false);
    for constant in (1..pool.count()).filter_map(|index| pool.get(index)) {
        match constant {
            Constant::String { .. }
            | Constant::MethodHandle { .. }
            | Constant::MethodType { .. }
            | Constant::Dynamic { .. } => references += 1,
            Constant::InvokeDynamic { .. } => is_dynamic = true,
            Constant::Method { class, name_and_type } if has_handles => {
                let name = || pool.name_and_type(name_and_type).map(|(name, _)| name).unwrap_or_default();
                references += u32::from(is_polymorphic(pool.class_name(class), name));
            }
            _ => {}
        }
    }
    if is_dynamic {
        for code in class.methods().filter_map(|method| method.code()) {
            references += classfile::walk(code.bytes()).filter(|&(_, op)| op == opcode::INVOKEDYNAMIC).count() as u32;
        }
    }
    references
}

const METHOD_HANDLE: &[u8] = b"java/lang/invoke/MethodHandle";
const VAR_HANDLE: &[u8] = b"java/lang/invoke/VarHandle";

/// Whether a method accepts any arguments and may return any type (JVMS 2.9.3).
fn is_polymorphic<'a>(class: Option<&[u8]>, name: impl FnOnce() -> &'a [u8]) -> bool {
    match class {
        Some(METHOD_HANDLE) => matches!(name(), b"invoke" | b"invokeExact"),
        Some(VAR_HANDLE) => {
            let name = name();
            let begins = |start: &[u8]| name.starts_with(start);
            name != b"getClass" && (begins(b"get") || begins(b"set") || begins(b"compareAnd") || begins(b"weakCompare"))
        }
        _ => false,
    }
}
