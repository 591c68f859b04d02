//! Which instructions of which classes are rewritten (design page, section 4).

use classfile::{ArrayKind, Insert, Instruction, Instrument, MethodView, Op, OpcodeSet, opcode};

use super::proxy::{Hooks, INTERNAL_NAME};

const OBJECT: &[u8] = b"java/lang/Object";

/// Inserts the calls into HeapProxy.
pub(crate) struct HeapHooks {
    pub(crate) hooks: &'static Hooks,
    is_object: bool,
}

/// Whether a class may be rewritten at all, by its internal name.
pub(crate) fn may_rewrite(name: &[u8]) -> bool {
    name != INTERNAL_NAME.as_bytes()
}

impl HeapHooks {
    /// For a class of that internal name.
    pub(crate) fn new(name: &[u8], hooks: &'static Hooks) -> HeapHooks {
        HeapHooks { hooks, is_object: name == OBJECT }
    }
}

impl Instrument for HeapHooks {
    fn opcodes(&self) -> OpcodeSet {
        if self.is_object { OpcodeSet::of(&[opcode::RETURN]) } else { OpcodeSet::of(ARRAY_OPCODES) }
    }

    fn method(&mut self, method: &MethodView<'_>) -> bool {
        !self.is_object || method.name() == b"<init>"
    }

    fn instruction(&mut self, _: &MethodView<'_>, instruction: &Instruction<'_>, insert: &mut Insert<'_>) {
        let hook = match instruction.opcode() {
            opcode::RETURN => return insert.before(&[Op::Aload0, Op::InvokeStatic(&self.hooks.object)]),
            opcode::NEWARRAY => match instruction.array_kind() {
                Some(kind) => &self.hooks.primitive_arrays[primitive_index(kind)],
                None => return,
            },
            opcode::ANEWARRAY => &self.hooks.array,
            _ => match instruction.class_operand() {
                // multianewarray may make an array of one dimension too, which need not hold references.
                Some([b'[', element]) => match primitive_of(*element) {
                    Some(kind) => &self.hooks.primitive_arrays[primitive_index(kind)],
                    None => return,
                },
                _ => &self.hooks.multi_array,
            },
        };
        insert.after(&[Op::Dup, Op::InvokeStatic(hook)]);
    }
}

/// The instructions that make arrays.
pub(crate) const ARRAY_OPCODES: &[u8] = &[opcode::NEWARRAY, opcode::ANEWARRAY, opcode::MULTIANEWARRAY];

fn primitive_of(descriptor: u8) -> Option<ArrayKind> {
    Some(match descriptor {
        b'Z' => ArrayKind::Boolean,
        b'C' => ArrayKind::Char,
        b'F' => ArrayKind::Float,
        b'D' => ArrayKind::Double,
        b'B' => ArrayKind::Byte,
        b'S' => ArrayKind::Short,
        b'I' => ArrayKind::Int,
        b'J' => ArrayKind::Long,
        _ => return None,
    })
}

fn primitive_index(kind: ArrayKind) -> usize {
    kind as usize - ArrayKind::Boolean as usize
}
