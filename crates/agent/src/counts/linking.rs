//! The array that the VM makes when it links a class, for the constants that are objects.

use classfile::{ClassFile, Constant, opcode};
use jvmti::Env;
use jvmti::jni_sys::jclass;
use rustc_hash::FxHashMap;

use agent_base::mutex::Mutex;
use agent_core::instrument::retransform::internal_name;

/// By internal name, the elements of the arrays of classes that are not linked yet. Several loaders may have a class of that name.
#[derive(Default)]
pub(super) struct Unlinked(Mutex<FxHashMap<Box<[u8]>, Vec<u32>>>);

impl Unlinked {
    /// The VM is going to make a class of that class file.
    pub(super) fn add(&self, class: &ClassFile<'_>) {
        let references = references(class);
        if references > 0 {
            self.0.lock().entry(class.name().into()).or_default().push(references);
        }
    }

    /// The VM has linked a class: the elements of its array, if it has one.
    ///
    /// # Safety
    /// `class` is a live reference.
    pub(super) unsafe fn take(&self, env: Env, class: jclass) -> Option<u32> {
        // SAFETY: by the caller's promise.
        let signature = unsafe { env.get_class_signature(class) }.ok()?;
        let name = internal_name(&signature)?;
        let mut unlinked = self.0.lock();
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
