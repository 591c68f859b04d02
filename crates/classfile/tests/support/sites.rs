//! The insertions that tests and benchmarks make: what the agent makes, at every site there is.

use classfile::opcode::{ANEWARRAY, MULTIANEWARRAY, NEW, NEWARRAY, RETURN};
use classfile::{Insert, Instruction, Instrument, MethodView, Op, OpcodeSet, StaticMethod};

/// Called with each new array.
pub(crate) const ARRAY: StaticMethod =
    StaticMethod { class: "java/lang/MartiniProbe", name: "array", descriptor: "(Ljava/lang/Object;)V" };

/// Called with the number of the site behind each `new`.
pub(crate) const FRESH: StaticMethod =
    StaticMethod { class: "java/lang/MartiniProbe", name: "fresh", descriptor: "(I)V" };

/// Called with the object where a constructor returns.
pub(crate) const OBJECT: StaticMethod =
    StaticMethod { class: "java/lang/MartiniProbe", name: "object", descriptor: "(Ljava/lang/Object;)V" };

/// All allocation sites and the ends of constructors.
#[derive(Debug)]
pub(crate) struct AllSites {
    /// All constructors, rather than that of `java.lang.Object` alone as the agent does.
    pub(crate) all_constructors: bool,
    /// Whether the method at hand is such a constructor.
    pub(crate) ends_object: bool,
    /// The number of the next site of a `new`.
    pub(crate) next: i32,
}

impl AllSites {
    /// Sites numbered from 0.
    pub(crate) fn new(all_constructors: bool) -> Self {
        AllSites { all_constructors, ends_object: false, next: 0 }
    }
}

impl Instrument for AllSites {
    fn method(&mut self, method: &MethodView<'_>) -> bool {
        self.ends_object =
            method.name() == b"<init>" && (self.all_constructors || method.class_name() == b"java/lang/Object");
        true
    }

    fn opcodes(&self) -> OpcodeSet {
        const SITES: OpcodeSet = OpcodeSet::of(&[NEW, NEWARRAY, ANEWARRAY, MULTIANEWARRAY]);
        const AND_END: OpcodeSet = OpcodeSet::of(&[NEW, NEWARRAY, ANEWARRAY, MULTIANEWARRAY, RETURN]);
        if self.ends_object { AND_END } else { SITES }
    }

    fn instruction(&mut self, _: &MethodView<'_>, instruction: &Instruction<'_>, insert: &mut Insert<'_>) {
        match instruction.opcode() {
            NEW => {
                insert.after(&[Op::PushInt(self.next), Op::InvokeStatic(&FRESH)]);
                self.next += 1;
            }
            RETURN => insert.before(&[Op::Aload0, Op::InvokeStatic(&OBJECT)]),
            _ => insert.after(&[Op::Dup, Op::InvokeStatic(&ARRAY)]),
        }
    }
}
