//! Where each instruction goes: old pc to new pc.
//!
//! The new code is: a guard and relays at the head, if any (see [`widen`](super::widen)), the instructions with what is
//! inserted in front of and behind each, relays at the tail, what runs when an exception leaves the method. Branches to an instruction, its frame, its line
//! and its exception range begin in front of what is inserted there.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::error::Refusal;
use crate::instruction::length_at;
use crate::opcode as op;
use crate::rewrite::Insertions;

/// The length of a `goto_w`, which is what a relay is.
pub(crate) const GOTO_W_LENGTH: u32 = 5;

/// How a 16-bit branch that no longer reaches its target is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BranchForm {
    /// As the form with 32-bit offset (`goto`, `jsr`).
    Wide,
    /// As the opposite condition over a `goto_w`.
    Inverted,
    /// As a branch to the relay of this number at the head.
    Head(u32),
    /// As a branch to the relay of this number at the tail.
    Tail(u32),
}

/// The map from old to new pcs of one method.
#[derive(Debug, Default)]
pub(crate) struct PcMap {
    /// By old pc, the end of the code included: where branches to it lead.
    entries: Vec<u32>,
    /// One bit per old pc: whether an instruction begins there.
    pub(super) starts: Vec<u64>,
    /// The pcs of the instructions that hold distances.
    pub(super) moving: Vec<u16>,
    /// The pcs where the distance from old to new changes, and where therefore copying has to stop.
    pub(crate) stops: Vec<u16>,
    pub(crate) fixes: BTreeMap<u16, BranchForm>,
    /// The length of the guard that the code begins with, or 0.
    pub(super) guard_length: u32,
    /// The length of what runs when an exception leaves the method, or 0.
    pub(super) handler_length: u32,
    /// Old pcs that the relays at the head jump to. A jump over them all comes first.
    pub(crate) head: Vec<u16>,
    /// The same at the tail, which nothing runs into.
    pub(crate) tail: Vec<u16>,
}

impl PcMap {
    /// Takes up another method; its instructions are to be put into `starts` and `moving`.
    pub(super) fn begin(&mut self, code: &[u8]) {
        self.guard_length = 0;
        self.handler_length = 0;
        self.fixes.clear();
        self.head.clear();
        self.tail.clear();
        self.moving.clear();
        self.starts.clear();
        self.starts.resize(code.len() / 64 + 1, 0);
    }

    /// Takes up another method with all its instructions.
    pub(crate) fn begin_whole(&mut self, code: &[u8]) -> Result<(), Refusal> {
        self.begin(code);
        let mut pc = 0;
        while let Some(&opcode) = code.get(pc) {
            self.starts[pc / 64] |= 1 << (pc % 64);
            if op::MOVING.contains(opcode) {
                self.moving.push(pc as u16);
            }
            pc += length_at(code, pc).ok_or(Refusal::MalformedCode)?;
        }
        Ok(())
    }

    /// Computes the map for the fixes and relays as they are.
    pub(crate) fn compute(&mut self, code: &[u8], insertions: &Insertions) -> Result<(), Refusal> {
        self.find_stops(code, insertions);
        self.entries.clear();
        self.entries.reserve(code.len() + 1);
        let mut sites = insertions.iter().peekable();
        let mut shift = self.head_length();
        for &pc in &self.stops {
            self.entries.extend((self.entries.len() as u32..u32::from(pc)).map(|old| old.wrapping_add(shift)));
            let entry = u32::from(pc).wrapping_add(shift);
            self.entries.push(entry);
            let mut place = entry;
            if let Some((_, before, after)) = sites.next_if(|(site, _, _)| site.pc == pc) {
                place += before.len() as u32;
                shift = shift.wrapping_add((before.len() + after.len()) as u32);
            }
            match code[usize::from(pc)] {
                op::TABLESWITCH | op::LOOKUPSWITCH => {
                    shift = shift.wrapping_add(padding(place)).wrapping_sub(padding(u32::from(pc)));
                }
                _ => match self.fixes.get(&pc) {
                    Some(BranchForm::Wide) => shift = shift.wrapping_add(2),
                    Some(BranchForm::Inverted) => shift = shift.wrapping_add(GOTO_W_LENGTH),
                    Some(BranchForm::Head(_) | BranchForm::Tail(_)) | None => {}
                },
            }
        }
        self.entries.extend((self.entries.len() as u32..=code.len() as u32).map(|old| old.wrapping_add(shift)));
        if self.new_length() > 65_535 {
            return Err(Refusal::CodeTooLarge);
        }
        Ok(())
    }

    /// Merges the pcs of sites, switches and fixed branches.
    fn find_stops(&mut self, code: &[u8], insertions: &Insertions) {
        self.stops.clear();
        self.stops.extend(insertions.iter().map(|(site, _, _)| site.pc));
        let is_switch = |pc: &u16| matches!(code[usize::from(*pc)], op::TABLESWITCH | op::LOOKUPSWITCH);
        self.stops.extend(self.moving.iter().copied().filter(is_switch));
        self.stops.extend(self.fixes.keys());
        if !self.stops.is_sorted() {
            self.stops.sort_unstable();
        }
        self.stops.dedup();
    }

    /// The length of the new code.
    #[inline]
    pub(crate) fn new_length(&self) -> u32 {
        self.tail_end() + self.handler_length
    }

    /// What an exception leaves on its way out of the method, from where to where, and where what runs then stands.
    pub(crate) fn handler(&self) -> Option<(Range<u32>, u32)> {
        (self.handler_length > 0).then(|| (self.guard_length..self.tail_start(), self.tail_end()))
    }

    fn tail_end(&self) -> u32 {
        self.tail_start() + self.tail.len() as u32 * GOTO_W_LENGTH
    }

    pub(crate) fn has_relays(&self) -> bool {
        !self.head.is_empty() || !self.tail.is_empty()
    }

    /// The length of what stands at the head: the guard, the relays and the jump over them.
    pub(crate) fn head_length(&self) -> u32 {
        self.guard_length + self.jump_length()
    }

    /// The length of the relays at the head and the jump over them.
    pub(crate) fn jump_length(&self) -> u32 {
        if self.head.is_empty() { 0 } else { (1 + self.head.len() as u32) * GOTO_W_LENGTH }
    }

    fn tail_start(&self) -> u32 {
        self.entries.last().copied().unwrap_or(0)
    }

    /// Where the relay of this number stands, at the head or at the tail.
    pub(crate) fn head_relay(&self, number: u32) -> u32 {
        self.guard_length + (1 + number) * GOTO_W_LENGTH
    }

    pub(crate) fn tail_relay(&self, number: u32) -> u32 {
        self.tail_start() + number * GOTO_W_LENGTH
    }

    /// The pc of the last instruction.
    pub(crate) fn last_pc(&self) -> Option<usize> {
        let word = self.starts.iter().rposition(|&word| word != 0)?;
        Some(word * 64 + self.starts[word].ilog2() as usize)
    }

    /// Where branches to the instruction at `pc` lead; nothing if there is none.
    #[inline]
    pub(crate) fn entry(&self, pc: usize) -> Option<u32> {
        let starts = self.starts.get(pc / 64)?;
        if starts >> (pc % 64) & 1 == 0 {
            return None;
        }
        self.entries.get(pc).copied()
    }

    /// The same for the end of a range, which may be the end of the code.
    pub(crate) fn range_end(&self, pc: u16) -> Option<u32> {
        let pc = usize::from(pc);
        if pc + 1 == self.entries.len() { Some(self.tail_start()) } else { self.entry(pc) }
    }

    /// The same for debug tables, which may name any byte of an instruction or the end of the code.
    pub(crate) fn nearest(&self, pc: usize) -> Option<u32> {
        self.entries.get(pc).copied()
    }

    /// Where the instruction at `pc` itself stands, behind what is inserted in front of it.
    pub(crate) fn place(&self, pc: u16, insertions: &Insertions) -> Option<u32> {
        let entry = self.entry(usize::from(pc))?;
        Some(entry + insertions.before_length(pc))
    }
}

/// The bytes between the opcode of a switch at `pc` and its operands.
pub(crate) fn padding(pc: u32) -> u32 {
    3 - pc % 4
}
