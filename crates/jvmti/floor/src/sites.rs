//! Where the call is inserted.

use classfile::opcode::{ANEWARRAY, MULTIANEWARRAY, NEWARRAY, RETURN};
use classfile::{Insert, Instruction, Instrument, MethodView, Op, OpcodeSet, StaticMethod};

use crate::proxy;

const ALLOCATED: StaticMethod =
    StaticMethod { class: "java/lang/FloorProxy", name: proxy::METHOD, descriptor: "(Ljava/lang/Object;)V" };

/// The class with a call at each allocation, if it has any.
pub(crate) fn rewrite(class: &[u8]) -> Option<Vec<u8>> {
    // What is no class file is left to the VM to refuse.
    classfile::rewrite(class, &mut Sites { in_object: false }).ok()?.bytes
}

struct Sites {
    /// Whether the method at hand is the constructor of `java.lang.Object`.
    in_object: bool,
}

impl Instrument for Sites {
    fn opcodes(&self) -> OpcodeSet {
        OpcodeSet::of(&[NEWARRAY, ANEWARRAY, MULTIANEWARRAY, RETURN])
    }

    fn method(&mut self, method: &MethodView<'_>) -> bool {
        self.in_object = method.class_name() == b"java/lang/Object" && method.name() == b"<init>";
        true
    }

    fn instruction(&mut self, _method: &MethodView<'_>, instruction: &Instruction<'_>, insert: &mut Insert<'_>) {
        if instruction.opcode() != RETURN {
            insert.after(&[Op::Dup, Op::InvokeStatic(&ALLOCATED)]);
        } else if self.in_object {
            insert.before(&[Op::Aload0, Op::InvokeStatic(&ALLOCATED)]);
        }
    }
}
