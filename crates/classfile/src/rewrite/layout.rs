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
    /// One bit per old pc: whether an instruction begins there.
    pub(super) starts: Vec<u64>,
    /// The pcs of the instructions that hold distances.
    pub(super) moving: Vec<u16>,
    /// The pcs where the distance from old to new changes, and where therefore copying has to stop.
    pub(crate) stops: Vec<u16>,
    pub(crate) fixes: BTreeMap<u16, Fix>,
    pub(crate) slots: BTreeMap<u16, Slot>,
}

impl Layout {
    /// Takes up another method; its instructions are to be put into `starts` and `moving`.
    pub(super) fn begin(&mut self, code: &[u8]) {
        self.fixes.clear();
        self.slots.clear();
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

    /// Computes the map for the fixes and slots as they are.
    pub(crate) fn compute(&mut self, code: &[u8], insertions: &Insertions) -> Result<(), Refusal> {
        self.find_stops(code, insertions);
        self.entries.clear();
        self.entries.reserve(code.len() + 1);
        let mut sites = insertions.iter().peekable();
        let mut shift: u32 = 0;
        for &pc in &self.stops {
            self.entries.extend((self.entries.len() as u32..u32::from(pc)).map(|old| old.wrapping_add(shift)));
            shift = shift.wrapping_add(self.slot_length(pc));
            let entry = u32::from(pc).wrapping_add(shift);
            self.entries.push(entry);
            let mut place = entry;
            if let Some((_, before, after)) = sites.next_if(|(site, _, _)| site.pc == pc) {
                place += before.len() as u32;
                shift = shift.wrapping_add((before.len() + after.len()) as u32);
            }
            match code.get(usize::from(pc)) {
                Some(&(op::TABLESWITCH | op::LOOKUPSWITCH)) => {
                    shift = shift.wrapping_add(padding(place)).wrapping_sub(padding(u32::from(pc)));
                }
                _ => match self.fixes.get(&pc) {
                    Some(Fix::Wide) => shift = shift.wrapping_add(2),
                    Some(Fix::Inverted) => shift = shift.wrapping_add(GOTO_W_LENGTH),
                    Some(Fix::Relay(..)) | None => {}
                },
            }
        }
        // A slot behind the code has its stop at the end, which has then been pushed above.
        self.entries.extend((self.entries.len() as u32..=code.len() as u32).map(|old| old.wrapping_add(shift)));
        if self.new_length() > 65_535 {
            return Err(Refusal::CodeTooLarge);
        }
        Ok(())
    }

    /// Merges the pcs of sites, switches, fixed branches and slots.
    fn find_stops(&mut self, code: &[u8], insertions: &Insertions) {
        self.stops.clear();
        self.stops.extend(insertions.iter().map(|(site, _, _)| site.pc));
        let is_switch = |pc: &u16| matches!(code[usize::from(*pc)], op::TABLESWITCH | op::LOOKUPSWITCH);
        self.stops.extend(self.moving.iter().copied().filter(is_switch));
        self.stops.extend(self.fixes.keys());
        self.stops.extend(self.slots.keys());
        if !self.stops.is_sorted() {
            self.stops.sort_unstable();
        }
        self.stops.dedup();
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
        let starts = self.starts.get(pc / 64)?;
        if starts >> (pc % 64) & 1 == 0 {
            return None;
        }
        self.entries.get(pc).copied()
    }

    /// Where a range that ends in front of the instruction at `pc`, or with the code, ends: before the slot.
    pub(crate) fn range_end(&self, pc: u16) -> Option<u32> {
        let at = usize::from(pc);
        let end = if at + 1 == self.entries.len() { self.entries.last().copied() } else { self.entry(at) };
        end.map(|end| end - self.slot_length(pc))
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
