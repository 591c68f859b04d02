//! Which instructions are looked at.

use classfile::{MethodView, OpcodeSet, opcode};

use agent_core::instrument::intrinsics::CALLS;

/// The instructions that allocate.
pub(in crate::counts) const ALLOCATING_OPCODES: &[u8] =
    &[opcode::NEW, opcode::NEWARRAY, opcode::ANEWARRAY, opcode::MULTIANEWARRAY];
/// Those that push constants, which the VM makes when they are first used.
const CONSTANTS: &[u8] = &[opcode::LDC, opcode::LDC_W];

/// The instructions that allocate, on request with those that call, by far the most frequent ones, and those that push constants.
pub(super) const fn opcodes(calls: bool, constants: bool) -> OpcodeSet {
    const fn set(calls: bool, constants: bool) -> OpcodeSet {
        let allocating = OpcodeSet::of(ALLOCATING_OPCODES);
        allocating.and(if calls { CALLS } else { &[] }).and(if constants { CONSTANTS } else { &[] })
    }
    const SETS: [[OpcodeSet; 2]; 2] = [[set(false, false), set(false, true)], [set(true, false), set(true, true)]];
    SETS[calls as usize][constants as usize]
}

/// Whether code may count each of its constants too, so that it stays far below the length that it may have: the hooks of
/// constants must not take the room of those of its sites.
pub(super) fn has_room_for_constants(method: &MethodView<'_>, max_length: u32) -> bool {
    /// `dup`, `sipush`, `invokestatic`.
    const GROWTH: usize = 7;
    let code = method.code().bytes();
    // Jumps may grow, too.
    let max_length = max_length as usize * 15 / 16;
    // No instruction that gets a hook is shorter than two bytes.
    if code.len() + code.len() / 2 * GROWTH <= max_length {
        return true;
    }
    let is_hooked = |opcode| ALLOCATING_OPCODES.contains(&opcode) || CONSTANTS.contains(&opcode);
    code.len() + classfile::walk(code).filter(|&(_, opcode)| is_hooked(opcode)).count() * GROWTH <= max_length
}
