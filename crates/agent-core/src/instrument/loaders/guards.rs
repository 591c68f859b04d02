//! What each `loadClass` begins with: the agent's classes are found before any code of the loader runs.

use classfile::{ClassFile, Guard, Insert, Instruction, Instrument, MethodView, OpcodeSet, StaticMethod, access};
use jvmti::Env;
use jvmti::jni_sys::jmethodID;

use crate::instrument::max_code_length;
use crate::instrument::retransform::names_one;
use agent_base::helpers::LOADERS;

/// The method by which the VM has a loader find a class; loaders override it.
const LOAD_CLASS: (&[u8], &[u8]) = (b"loadClass", b"(Ljava/lang/String;)Ljava/lang/Class;");

const GUARD: Guard = Guard {
    applies: StaticMethod { class: LOADERS.internal_name, name: "applies", descriptor: "(Ljava/lang/String;)Z" },
    result: StaticMethod {
        class: LOADERS.internal_name,
        name: "find",
        descriptor: "(Ljava/lang/String;)Ljava/lang/Class;",
    },
};

/// Whether a class has such a method. No look at what it extends: for others a guard never applies.
pub(super) fn has_method(class: &ClassFile<'_>) -> bool {
    let is_it = |name, descriptor, flags| (name, descriptor) == LOAD_CLASS && flags & access::STATIC == 0;
    class.methods().any(|method| is_it(method.name(), method.descriptor(), method.access_flags()))
}

/// Puts the guard into `loadClass`.
pub(super) struct Guards;

impl Instrument for Guards {
    fn method(&mut self, method: &MethodView<'_>) -> bool {
        (method.name(), method.descriptor()) == LOAD_CLASS && method.access_flags() & access::STATIC == 0
    }

    fn opcodes(&self) -> OpcodeSet {
        OpcodeSet::of(&[])
    }

    fn max_code_length(&self, method: &MethodView<'_>) -> u32 {
        max_code_length(method)
    }

    fn guard(&self, _: &MethodView<'_>) -> Option<Guard> {
        Some(GUARD)
    }

    fn instruction(&mut self, _: &MethodView<'_>, _: &Instruction<'_>, _: &mut Insert<'_>) {}
}

/// Whether a method of a loaded class is a `loadClass`.
///
/// # Safety
/// The method is one of a class that is not unloaded.
pub(super) unsafe fn is_load_class(env: Env, method: jmethodID) -> bool {
    // SAFETY: by the caller's promise.
    let name = unsafe { env.get_method_name(method) };
    name.is_ok_and(|method| (&*method.name, &*method.signature) == LOAD_CLASS)
}

/// Whether a `loadClass` of a loaded class begins with the guard now.
///
/// # Safety
/// The method is one of a class that is not unloaded.
pub(super) unsafe fn is_guarded(env: Env, method: jmethodID) -> bool {
    use classfile::opcode::{ALOAD_1, IFEQ, INVOKESTATIC};
    // SAFETY: by the caller's promise.
    unsafe {
        let Ok(code) = env.get_bytecodes(method) else { return false };
        let begins = matches!(*code, [ALOAD_1, INVOKESTATIC, _, _, IFEQ, 0, 8, ALOAD_1, INVOKESTATIC, ..]);
        let names = |class| names_one(env, class, &[LOADERS.internal_name.as_bytes()]);
        begins && env.get_method_declaring_class(method).is_ok_and(names)
    }
}
