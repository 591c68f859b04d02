//! The insertions that tests and benchmarks make: what the agent makes, at every site there is.

use classfile::opcode::{ANEWARRAY, MULTIANEWARRAY, NEW, NEWARRAY, RETURN};
use classfile::{Insert, Instruction, Instrument, MethodView, Op, OpcodeSet, StaticMethod};

/// Called with each new array.
pub const ARRAY: StaticMethod = StaticMethod {
    class: "java/lang/MartiniProbe",
    name: "array",
    descriptor: "(Ljava/lang/Object;)V",
};

/// Called with the number of the site behind each `new`.
pub const FRESH: StaticMethod = StaticMethod {
    class: "java/lang/MartiniProbe",
    name: "fresh",
    descriptor: "(I)V",
};

/// Called with the object where a constructor returns.
pub const OBJECT: StaticMethod = StaticMethod {
    class: "java/lang/MartiniProbe",
    name: "object",
    descriptor: "(Ljava/lang/Object;)V",
};

/// All allocation sites and the ends of all constructors.
#[derive(Debug, Default)]
pub struct AllSites {
    /// The number of the next site of a `new`.
    pub next: i32,
}

impl Instrument for AllSites {
    fn opcodes(&self) -> OpcodeSet {
        const SITES: OpcodeSet = OpcodeSet::of(&[NEW, NEWARRAY, ANEWARRAY, MULTIANEWARRAY, RETURN]);
        SITES
    }

    fn method(&mut self, _: &MethodView<'_>) -> bool {
        true
    }

    fn instruction(
        &mut self,
        method: &MethodView<'_>,
        instruction: &Instruction<'_>,
        insert: &mut Insert<'_>,
    ) {
        match instruction.opcode() {
            NEW => {
                insert.after(&[Op::PushInt(self.next), Op::InvokeStatic(&FRESH)]);
                self.next += 1;
            }
            RETURN if method.name() == b"<init>" => {
                insert.before(&[Op::Aload0, Op::InvokeStatic(&OBJECT)]);
            }
            RETURN => {}
            _ => insert.after(&[Op::Dup, Op::InvokeStatic(&ARRAY)]),
        }
    }
}
