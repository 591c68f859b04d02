//! Branches that no longer reach their targets with 16 bits.
//!
//! `goto` and `jsr` have a wide form. A conditional branch has none; the usual way, the opposite condition
//! over a `goto_w`, makes the next instruction a branch target, which needs a stack-map frame there, and
//! that frame is known to nobody but a verifier. So the branch goes to a **relay** instead: a
//! `goto_w` within its reach. The frame of a relay is the frame of its target, which the table has. Relays
//! stand in **slots** in front of instructions that have frames themselves (or at the beginning of the
//! method, whose frame follows from its descriptor, or behind its end), so that code which runs into a slot
//! can jump over it. A method needs no type inference this way, and is refused only where a stretch of
//! 32 KiB has no frame at all. Code without frames (before version 50) takes the usual way.

use std::collections::HashMap;

use crate::code::Code;
use crate::error::Refusal;
use crate::instruction::length_at;
use crate::opcode as op;
use crate::read::u16_at;
use crate::rewrite::Insertions;
use crate::rewrite::frames::Frames;
use crate::rewrite::layout::{Fix, Layout};

/// Widening moves code, which can make more branches too long, but hardly ever more than twice. The
/// limit is there for code made to take one round per branch.
const ROUNDS: u32 = 32;

/// Code up to this length has no distance that 16 bits cannot hold.
const ALWAYS_IN_REACH: u32 = 32_768;

impl Layout {
    /// Finds the layout of a method whose instructions have been added, widening branches where needed.
    pub(crate) fn settle(&mut self, code: &Code<'_, '_>, insertions: &Insertions) -> Result<(), Refusal> {
        self.compute(code.bytes(), insertions)?;
        if self.new_length() <= ALWAYS_IN_REACH {
            return Ok(());
        }
        let spots = Spots::find(code)?;
        let mut latest = HashMap::new();
        for _ in 0..ROUNDS {
            if !self.widen(code.bytes(), insertions, &spots, &mut latest)? {
                return Ok(());
            }
            self.compute(code.bytes(), insertions)?;
        }
        Err(Refusal::BranchTooFar)
    }

    /// Gives a fix to each branch that needs one; false if none did.
    fn widen(
        &mut self,
        code: &[u8],
        insertions: &Insertions,
        spots: &Spots,
        latest: &mut HashMap<u16, Fix>,
    ) -> Result<bool, Refusal> {
        let mut changed = false;
        // Fixing borrows the layout, but never changes which instructions move.
        for at in 0..self.moving.len() {
            let old_pc = self.moving[at];
            let opcode = code[usize::from(old_pc)];
            if !matches!(opcode, op::IFEQ..=op::JSR | op::IFNULL | op::IFNONNULL) {
                continue;
            }
            let offset = u16_at(code, usize::from(old_pc) + 1).ok_or(Refusal::MalformedCode)?;
            let target = old_pc.wrapping_add(offset);
            let place = self.place(old_pc, insertions).ok_or(Refusal::MalformedCode)?;
            let goal = self.entry(usize::from(target)).ok_or(Refusal::BadBranchTarget)?;
            match self.fixes.get(&old_pc) {
                None if reaches(place, goal) => {}
                None => {
                    let fix = self.fix(opcode, place, old_pc, target, spots, latest)?;
                    self.fixes.insert(old_pc, fix);
                    changed = true;
                }
                Some(&Fix::Relay(slot, number)) => {
                    let relay = self.relay(slot, number);
                    if !relay.is_some_and(|relay| reaches(place, relay)) {
                        return Err(Refusal::BranchTooFar);
                    }
                }
                Some(Fix::Wide | Fix::Inverted) => {}
            }
        }
        Ok(changed)
    }

    fn fix(
        &mut self,
        opcode: u8,
        place: u32,
        pc: u16,
        target: u16,
        spots: &Spots,
        latest: &mut HashMap<u16, Fix>,
    ) -> Result<Fix, Refusal> {
        if !op::is_conditional(opcode) {
            return Ok(Fix::Wide);
        }
        // A class whose target has no frame is not checked by frames, and needs none.
        if spots.frames.binary_search(&target).is_err() {
            return Ok(Fix::Inverted);
        }
        if let Some(&fix @ Fix::Relay(slot, number)) = latest.get(&target)
            && self.relay(slot, number).is_some_and(|relay| reaches(place, relay))
        {
            return Ok(fix);
        }
        let spot = spots.nearest(pc, |spot| {
            let spot = self.nearest(usize::from(spot)).unwrap_or(0);
            spot.abs_diff(place)
        });
        let (pc, skipped) = spot.ok_or(Refusal::BranchTooFar)?;
        let slot = self.slots.entry(pc).or_default();
        slot.skipped = skipped;
        slot.targets.push(target);
        // A slot with more relays than the code has bytes does not survive `compute`.
        let fix = Fix::Relay(pc, slot.targets.len() as u32 - 1);
        latest.insert(target, fix);
        Ok(fix)
    }
}

/// Whether 16 bits hold the way.
fn reaches(from: u32, to: u32) -> bool {
    i16::try_from(i64::from(to) - i64::from(from)).is_ok()
}

/// Where slots may stand.
struct Spots {
    /// The pcs of the StackMapTable.
    frames: Vec<u16>,
    /// By rising pc, and whether the code before runs into the slot.
    places: Vec<(u16, bool)>,
}

impl Spots {
    fn find(code: &Code<'_, '_>) -> Result<Self, Refusal> {
        let mut frames = Vec::new();
        for attribute in code.attributes().filter(|a| a.name == b"StackMapTable") {
            let mut table = Frames::new(attribute.data)?;
            while let Some(frame) = table.try_next()? {
                frames.push(u16::try_from(frame.pc).map_err(|_| Refusal::MalformedStackMap)?);
            }
        }
        let mut places = Vec::new();
        let mut next = frames.iter().peekable();
        let code = code.bytes();
        let mut runs_in = true;
        let mut pc = 0;
        while pc < code.len() {
            if next.next_if(|&&frame| usize::from(frame) == pc).is_some() || pc == 0 {
                places.push((pc as u16, runs_in));
            }
            runs_in = !op::never_continues(code, pc);
            pc += length_at(code, pc).ok_or(Refusal::MalformedCode)?;
        }
        if !runs_in {
            places.push((pc as u16, false));
        }
        Ok(Spots { frames, places })
    }

    /// The nearer one of the spots on both sides of `pc`.
    fn nearest(&self, pc: u16, distance: impl Fn(u16) -> u32) -> Option<(u16, bool)> {
        let behind = self.places.partition_point(|&(spot, _)| spot <= pc);
        let sides = [behind.checked_sub(1), Some(behind)];
        let sides = sides.into_iter().flatten().filter_map(|i| self.places.get(i));
        sides.min_by_key(|&&(spot, _)| distance(spot)).copied()
    }
}
