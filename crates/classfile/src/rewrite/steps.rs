//! The inner loop of the walk: from one instruction that matters to the next.

use crate::opcode::{LENGTHS, MOVING, OpcodeSet};

/// Set where the walk must stop to look.
const STOP: u8 = 0x80;

/// What to do at each opcode, for one set of interesting ones.
#[derive(Debug)]
pub(super) struct Steps {
    pub(super) set: OpcodeSet,
    table: [u8; 256],
}

/// The steps for no interesting opcodes.
const PLAIN: [u8; 256] = {
    let mut table = LENGTHS;
    let mut opcode = 0;
    while opcode < table.len() {
        if table[opcode] == 0 || MOVING.contains(opcode as u8) {
            table[opcode] |= STOP;
        }
        opcode += 1;
    }
    table
};

impl Steps {
    pub(super) fn new(set: OpcodeSet) -> Self {
        let mut table = PLAIN;
        set.for_each(|opcode| table[usize::from(opcode)] |= STOP);
        Steps { set, table }
    }

    /// From the instruction at `pc` on, the pc of the first that is interesting, moves, or has no fixed
    /// length; the end of the code, or beyond it if the last instruction is cut short.
    ///
    /// Marks where instructions begin, the one found included, in `starts` (a bit each).
    #[inline]
    pub(super) fn find(&self, code: &[u8], mut pc: usize, starts: &mut [u64]) -> usize {
        while let Some(&opcode) = code.get(pc) {
            if let Some(word) = starts.get_mut(pc / 64) {
                *word |= 1 << (pc % 64);
            }
            let step = self.table[usize::from(opcode)];
            if step & STOP != 0 {
                break;
            }
            pc += usize::from(step);
        }
        pc
    }
}
