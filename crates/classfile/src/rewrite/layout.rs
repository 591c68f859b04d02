//! Where each instruction goes: old pc to new pc.
//!
//! Between the code of two instructions there can stand, in this order: what is inserted behind the
//! first, a slot of relays (see [`widen`](super::widen)), what is inserted in front of the second.
//! Branches to the second, its frame, its line and its exception range begin behind the slot.

use std::collections::BTreeMap;

use crate::error::Refusal;
use crate::instruction::length_at;
use crate::opcode as op;
use crate::rewrite::Insertions;

/// Marks pcs inside an instruction; the rest is the place of the instruction they are in.
const INSIDE: u32 = 1 << 31;

/// The length of a `goto_w`: a relay, or the jump over a slot.
pub(crate) const GOTO_W_LENGTH: u32 = 5;

/// How a 16-bit branch that no longer reaches its target is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fix {
    /// As the form with 32-bit offset (`goto`, `jsr`).
    Wide,
    /// As the opposite condition over a `goto_w`.
    Inverted,
    /// As a branch to a relay: slot before this pc, number in the slot.
    Relay(u16, u32),
}

/// Relays in front of an instruction (or behind the last one).
#[derive(Debug, Clone, Default)]
pub(crate) struct Slot {
    /// The code before runs into the slot and must jump over it.
    pub(crate) skipped: bool,
    /// Old pcs that the relays jump to.
    pub(crate) targets: Vec<u16>,
}

impl Slot {
    pub(crate) fn length(&self) -> u32 {
        let jumps = self.targets.len() as u32 + u32::from(self.skipped);
        jumps * GOTO_W_LENGTH
    }

    /// Where relay `number` stands, counted from the beginning of the slot.
    pub(crate) fn offset_of(&self, number: u32) -> u32 {
        (number + u32::from(self.skipped)) * GOTO_W_LENGTH
    }
}

/// The map from old to new pcs of one method.
#[derive(Debug, Default)]
pub(crate) struct Layout {
    /// By old pc, the end of the code included: where branches to it lead.
    entries: Vec<u32>,
    pub(crate) fixes: BTreeMap<u16, Fix>,
    pub(crate) slots: BTreeMap<u16, Slot>,
}

impl Layout {
    /// Computes the map for the fixes and slots as they are.
    pub(crate) fn compute(&mut self, code: &[u8], insertions: &Insertions) -> Result<(), Refusal> {
        self.entries.clear();
        self.entries.reserve(code.len() + 1);
        let mut sites = insertions.iter().peekable();
        let plain = self.fixes.is_empty() && self.slots.is_empty();
        let mut new = 0;
        let mut pc = 0;
        while pc < code.len() {
            let length = length_at(code, pc).ok_or(Refusal::MalformedCode)?;
            if !plain {
                new += self.slot_length(pc as u16);
            }
            self.entries.push(new);
            self.entries.resize(pc + length, new | INSIDE);
            let after = match sites.next_if(|(site, _, _)| usize::from(site.pc) == pc) {
                Some((_, before, after)) => {
                    new += before.len() as u32;
                    after.len() as u32
                }
                None => 0,
            };
            new += length as u32;
            match code[pc] {
                op::TABLESWITCH | op::LOOKUPSWITCH => {
                    let start = new - length as u32;
                    new = new - padding(pc as u32) + padding(start);
                }
                _ if plain => {}
                _ => match self.fixes.get(&(pc as u16)) {
                    Some(Fix::Wide) => new += 2,
                    Some(Fix::Inverted) => new += GOTO_W_LENGTH,
                    Some(Fix::Relay(..)) | None => {}
                },
            }
            new += after;
            pc += length;
        }
        if !plain {
            new += self.slot_length(pc as u16);
        }
        self.entries.push(new);
        if new > 65_535 {
            return Err(Refusal::CodeTooLarge);
        }
        Ok(())
    }

    /// The length of the new code.
    pub(crate) fn new_length(&self) -> u32 {
        self.entries.last().copied().unwrap_or(0)
    }

    /// The length of the slot in front of the instruction at `pc`.
    pub(crate) fn slot_length(&self, pc: u16) -> u32 {
        self.slots.get(&pc).map_or(0, Slot::length)
    }

    /// Where branches to the instruction at `pc` lead; nothing if there is none.
    #[inline]
    pub(crate) fn entry(&self, pc: usize) -> Option<u32> {
        let (_, instructions) = self.entries.split_last()?;
        instructions.get(pc).copied().filter(|e| e & INSIDE == 0)
    }

    /// Where a range that ends in front of the instruction at `pc`, or with the code, ends: before the slot.
    pub(crate) fn range_end(&self, pc: u16) -> Option<u32> {
        let entry = self.entries.get(usize::from(pc)).copied()?;
        (entry & INSIDE == 0).then(|| entry - self.slot_length(pc))
    }

    /// The same for debug tables, which may name any byte of an instruction or the end of the code.
    pub(crate) fn nearest(&self, pc: usize) -> Option<u32> {
        self.entries.get(pc).map(|entry| entry & !INSIDE)
    }

    /// Where the instruction at `pc` itself stands, behind what is inserted in front of it.
    pub(crate) fn place(&self, pc: u16, insertions: &Insertions) -> Option<u32> {
        let entry = self.entry(usize::from(pc))?;
        Some(entry + insertions.before_length(pc))
    }

    /// Where relay `number` of the slot in front of `pc` stands.
    pub(crate) fn relay(&self, pc: u16, number: u32) -> Option<u32> {
        let slot = self.slots.get(&pc)?;
        let entry = self.nearest(usize::from(pc))?;
        Some(entry - slot.length() + slot.offset_of(number))
    }
}

/// The bytes between the opcode of a switch at `pc` and its operands.
pub(crate) fn padding(pc: u32) -> u32 {
    3 - pc % 4
}
