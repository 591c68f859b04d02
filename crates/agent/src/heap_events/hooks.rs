//! Which instructions get hooks of HeapProxy.

use classfile::{ArrayKind, Insert, Instruction, Instrument, MethodView, Op, OpcodeSet, opcode};

use super::proxy::Hooks;
use agent_core::instrument::intrinsics::{CALLS, Made, Mode, made_by_call};
use agent_core::instrument::{OBJECT, max_code_length};

/// Inserts the calls into HeapProxy.
pub(crate) struct HeapHooks {
    pub(crate) hooks: &'static Hooks,
    is_object: bool,
}

impl HeapHooks {
    /// For a class of that internal name.
    pub(crate) fn new(name: &[u8], hooks: &'static Hooks) -> HeapHooks {
        HeapHooks { hooks, is_object: name == OBJECT }
    }
}

impl Instrument for HeapHooks {
    fn opcodes(&self) -> OpcodeSet {
        if self.is_object { OpcodeSet::of(&[opcode::RETURN]) } else { OpcodeSet::of(SITE_OPCODES) }
    }

    fn method(&mut self, method: &MethodView<'_>) -> bool {
        !self.is_object || method.name() == b"<init>"
    }

    fn max_code_length(&self, method: &MethodView<'_>) -> u32 {
        max_code_length(method)
    }

    fn instruction(&mut self, _: &MethodView<'_>, instruction: &Instruction<'_>, insert: &mut Insert<'_>) {
        let hook = match instruction.opcode() {
            opcode::RETURN => return insert.before(&[Op::Aload0, Op::InvokeStatic(&self.hooks.object)]),
            opcode::NEWARRAY => match instruction.array_kind() {
                Some(kind) => &self.hooks.primitive_arrays[kind as usize],
                None => return,
            },
            opcode::ANEWARRAY => &self.hooks.array,
            call if CALLS.contains(&call) => {
                match instruction.member_operand().and_then(|callee| made_by_call(Mode::Events, call, &callee)) {
                    Some(Made::Object | Made::References | Made::AnyArray | Made::Primitives | Made::Array(_)) => {
                        &self.hooks.made
                    }
                    Some(Made::BareInstance) => &self.hooks.made_bare,
                    // `clone` of other classes may return what was there before; nothing else is in the table for this mode.
                    _ => return,
                }
            }
            _ => match instruction.class_operand() {
                // multianewarray may make an array of one dimension too, which need not hold references.
                Some([b'[', element]) => match ArrayKind::of(*element) {
                    Some(kind) => &self.hooks.primitive_arrays[kind as usize],
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
/// Those, and the ones that may call what the JIT replaces.
const SITE_OPCODES: &[u8] = &[
    opcode::NEWARRAY,
    opcode::ANEWARRAY,
    opcode::MULTIANEWARRAY,
    opcode::INVOKEVIRTUAL,
    opcode::INVOKESPECIAL,
    opcode::INVOKESTATIC,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heap_events::proxy::DIRECT;

    /// A class with one method that makes `arrays` arrays of `int` and then fills up to `length` bytes.
    fn class_with(arrays: usize, length: usize) -> Vec<u8> {
        let mut code: Vec<u8> = [opcode::ICONST_0, opcode::NEWARRAY, 10, opcode::POP].repeat(arrays);
        code.resize(length - 1, opcode::NOP);
        code.push(opcode::RETURN);
        let mut class = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 49, 0, 8];
        for text in [&b"T"[..], b"java/lang/Object", b"m", b"()V", b"Code"] {
            class.extend([1, 0, text.len() as u8]);
            class.extend(text);
        }
        class.extend([7, 0, 1, 7, 0, 2]);
        class.extend([0, 0x21, 0, 6, 0, 7, 0, 0, 0, 0, 0, 1, 0, 9, 0, 3, 0, 4, 0, 1, 0, 5]);
        class.extend((code.len() as u32 + 12).to_be_bytes());
        class.extend([0, 1, 0, 0]);
        class.extend((code.len() as u32).to_be_bytes());
        class.extend(&code);
        class.extend([0, 0, 0, 0, 0, 0]);
        class
    }

    #[test]
    fn no_method_grows_beyond_what_hotspot_compiles() {
        // Each site takes four bytes more.
        for (length, expected) in [(7960, true), (7961, false), (8000, false), (8001, true)] {
            let class = class_with(10, length);
            let rewritten = classfile::rewrite(&class, &mut HeapHooks::new(b"T", &DIRECT)).expect("a class file");
            assert_eq!(rewritten.bytes.is_some(), expected, "{length} bytes");
            assert_eq!(rewritten.refused.is_empty(), expected, "{length} bytes");
        }
    }
}
