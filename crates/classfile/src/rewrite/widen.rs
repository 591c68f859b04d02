//! Branches that no longer reach their targets with 16 bits.
//!
//! `goto` and `jsr` have a wide form. A conditional branch has none; the usual way, the opposite condition
//! over a `goto_w`, makes the next instruction a branch target, which needs a stack-map frame there, and
//! only a verifier knows that frame. So the branch goes to a **relay** instead: a `goto_w` within
//! its reach, whose frame is the frame of its target, which the table has. Relays stand behind the end of the
//! code, where nothing runs into them, or at its head, where the code begins with a jump over them to a frame
//! that follows from the method's descriptor. Code is no longer than 65,535 bytes, so one of the two is always
//! within 32 KiB, and no type inference is needed. Where the target has no frame (before version 50, or where
//! nothing is verified), the usual way is taken.

use std::collections::HashMap;

use crate::code::Code;
use crate::error::Refusal;
use crate::opcode as op;
use crate::read::u16_at;
use crate::rewrite::Insertions;
use crate::rewrite::frames::Frames;
use crate::rewrite::pc_map::{BranchForm, PcMap};

/// Widening moves code, which can make more branches too long, but hardly ever more than twice. The limit
/// is there for code made to take one round per branch.
const ROUNDS: u32 = 32;

/// Code up to this length has no distance that 16 bits cannot hold.
const ALWAYS_IN_REACH: u32 = 32_768;

impl PcMap {
    /// Finds the pcs of a method whose instructions have been added, widening branches where needed.
    pub(crate) fn settle(&mut self, code: &Code<'_, '_>, insertions: &Insertions) -> Result<(), Refusal> {
        self.compute(code.bytes(), insertions)?;
        if self.new_length() <= ALWAYS_IN_REACH {
            return Ok(());
        }
        let frames = frame_pcs(code)?;
        let mut relays = HashMap::new();
        for _ in 0..ROUNDS {
            if !self.widen(code.bytes(), insertions, &frames, &mut relays)? {
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
        frames: &[usize],
        relays: &mut HashMap<(u16, bool), BranchForm>,
    ) -> Result<bool, Refusal> {
        let mut changed = false;
        // Fixing borrows the pcs, but never changes which instructions move.
        for at in 0..self.moving.len() {
            let pc = self.moving[at];
            let opcode = code[usize::from(pc)];
            let is_short = op::is_conditional(opcode) || matches!(opcode, op::GOTO | op::JSR);
            if !is_short {
                continue;
            }
            let offset = u16_at(code, usize::from(pc) + 1).ok_or(Refusal::MalformedCode)?;
            let target = pc.wrapping_add(offset);
            let place = self.place(pc, insertions).ok_or(Refusal::MalformedCode)?;
            let goal = self.entry(usize::from(target)).ok_or(Refusal::BadBranchTarget)?;
            let is_settled = match self.fixes.get(&pc) {
                None => reaches(place, goal),
                Some(BranchForm::Wide | BranchForm::Inverted) => true,
                Some(&BranchForm::Head(number)) => reaches(place, self.head_relay(number)),
                Some(&BranchForm::Tail(number)) => reaches(place, self.tail_relay(number)),
            };
            if is_settled {
                continue;
            }
            let fix = if !op::is_conditional(opcode) {
                BranchForm::Wide
            } else if frames.binary_search(&usize::from(target)).is_err() {
                BranchForm::Inverted
            } else {
                let at_head = place < self.new_length() / 2;
                *relays.entry((target, at_head)).or_insert_with(|| self.add_relay(target, at_head))
            };
            self.fixes.insert(pc, fix);
            changed = true;
        }
        // Behind code that runs over its own end, which no verifier accepts, there is no room for relays.
        let ends = self.last_pc().is_some_and(|pc| op::never_continues(code, pc));
        if !ends && !self.tail.is_empty() {
            return Err(Refusal::BranchTooFar);
        }
        Ok(changed)
    }

    fn add_relay(&mut self, target: u16, at_head: bool) -> BranchForm {
        let side = if at_head { &mut self.head } else { &mut self.tail };
        side.push(target);
        // There is at most one relay per pc.
        let number = side.len() as u32 - 1;
        if at_head { BranchForm::Head(number) } else { BranchForm::Tail(number) }
    }
}

/// Whether 16 bits hold the way.
fn reaches(from: u32, to: u32) -> bool {
    i16::try_from(i64::from(to) - i64::from(from)).is_ok()
}

/// The pcs of the StackMapTable, rising.
fn frame_pcs(code: &Code<'_, '_>) -> Result<Vec<usize>, Refusal> {
    let mut pcs = Vec::new();
    for attribute in code.attributes().filter(|a| a.name == b"StackMapTable") {
        let mut table = Frames::new(attribute.data)?;
        while let Some(frame) = table.try_next()? {
            pcs.push(frame.pc);
        }
    }
    Ok(pcs)
}
