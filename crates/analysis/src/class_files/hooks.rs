//! Hooks as long as those of `heap=counts`: a number and a call in front of each instruction that allocates.

use classfile::{Insert, Instruction, Instrument, MethodView, Op, OpcodeSet, StaticMethod, opcode};

use super::HUGE_METHOD_LIMIT;

const INSTANCE: StaticMethod = StaticMethod { class: "java/lang/MartiniCounts", name: "instance", descriptor: "(I)V" };
const ARRAY: StaticMethod = StaticMethod { class: "java/lang/MartiniCounts", name: "array", descriptor: "(II)V" };

/// Any number that does not fit into two bytes, as most do in a large program.
const NUMBER: Op<'_> = Op::PushInt(1 << 16);

const SITES: OpcodeSet = OpcodeSet::of(&[opcode::NEW, opcode::NEWARRAY, opcode::ANEWARRAY, opcode::MULTIANEWARRAY]);

/// Inserts them, to see where they do not fit.
pub(super) struct Hooks;

impl Instrument for Hooks {
    fn method(&mut self, _: &MethodView<'_>) -> bool {
        true
    }

    fn opcodes(&self) -> OpcodeSet {
        SITES
    }

    fn max_code_length(&self, method: &MethodView<'_>) -> u32 {
        // What is not compiled anyway may grow.
        if method.code().bytes().len() > HUGE_METHOD_LIMIT { u16::MAX.into() } else { HUGE_METHOD_LIMIT as u32 }
    }

    fn instruction(&mut self, _: &MethodView<'_>, instruction: &Instruction<'_>, insert: &mut Insert<'_>) {
        match instruction.opcode() {
            opcode::NEWARRAY | opcode::ANEWARRAY => insert.before(&[Op::Dup, NUMBER, Op::InvokeStatic(&ARRAY)]),
            _ => insert.before(&[NUMBER, Op::InvokeStatic(&INSTANCE)]),
        }
    }
}
