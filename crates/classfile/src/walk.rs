//! The instructions of bare code, for callers that have a method's bytes but not its class.

use crate::instruction::length_at;

/// Offset and opcode of each instruction, up to the end or the first that cannot be read.
pub fn walk(code: &[u8]) -> impl Iterator<Item = (usize, u8)> + '_ {
    let mut pc = 0;
    std::iter::from_fn(move || {
        let at = pc;
        pc += length_at(code, at)?;
        Some((at, code[at]))
    })
}
