//! Writes the new Code attribute of one method.

use crate::class::Member;
use crate::code::{Code, CodeLayout};
use crate::error::Refusal;
use crate::instruction::length_at;
use crate::opcode as op;
use crate::read::{i32_at, u16_at};
use crate::rewrite::pc_map::{BranchForm, PcMap, padding};
use crate::rewrite::{Insertions, expand, frames, tables, type_annotations};

/// Attributes of Code that hold pcs and that no JVM with JVMTI reads: CLDC's stack maps and the ranges that
/// `javac -Xjcov` writes. A moved method goes without them rather than with wrong ones.
const DROPPED: [&[u8]; 2] = [b"StackMap", b"CharacterRangeTable"];

/// The first class file version whose branches need frames.
const FIRST_WITH_FRAMES: u16 = 50;

/// Appends the content of the Code attribute, moved to `pcs`, to `out`.
///
/// On refusal `out` holds a part of it.
pub(crate) fn write_code(
    member: &Member<'_, '_>,
    code: &Code<'_, '_>,
    insertions: &mut Insertions,
    pcs: &PcMap,
    out: &mut Vec<u8>,
) -> Result<(), Refusal> {
    write_head(code, insertions, pcs, out)?;
    write_instructions(code.bytes(), insertions, pcs, out)?;
    tables::write_exceptions(code, pcs, out)?;

    let count_at = out.len();
    out.extend_from_slice(&[0; 2]);
    let mut count: u16 = 0;
    let mut attributes = code.attributes();
    let mut has_frames = member.class().major_version() < FIRST_WITH_FRAMES;
    while let Some(attribute) = attributes.try_next()? {
        if (insertions.sites() > 0 || pcs.guard_length > 0) && DROPPED.contains(&attribute.name) {
            continue;
        }
        count += 1;
        out.extend_from_slice(&attribute.name_index.to_be_bytes());
        let length_at = out.len();
        out.extend_from_slice(&[0; 4]);
        match attribute.name {
            b"StackMapTable" => {
                has_frames = true;
                if pcs.has_relays() {
                    expand::write(member, attribute.data, insertions, pcs, out)?;
                } else {
                    frames::write(attribute.data, insertions, pcs, out)?;
                }
            }
            b"LineNumberTable" => tables::write_lines(attribute.data, pcs, out)?,
            b"LocalVariableTable" | b"LocalVariableTypeTable" => {
                tables::write_variables(attribute.data, pcs, out)?;
            }
            b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => {
                type_annotations::write(attribute.data, insertions, pcs, out)?;
            }
            // The JVM must ignore attributes it does not know (JVMS 4.7.1), so a pc in one, grown
            // stale, cannot change what the program does.
            _ => out.extend_from_slice(attribute.data),
        }
        set_length(out, length_at);
    }
    if pcs.guard_length > 0 && !has_frames {
        count += 1;
        out.extend_from_slice(&insertions.constants_mut().frames_name()?.to_be_bytes());
        let length_at = out.len();
        out.extend_from_slice(&[0; 4]);
        frames::write(&[0; 2], insertions, pcs, out)?;
        set_length(out, length_at);
    }
    out[count_at..count_at + 2].copy_from_slice(&count.to_be_bytes());
    Ok(())
}

/// Sets the length of the attribute at the end, which stands there.
fn set_length(out: &mut [u8], at: usize) {
    let length = (out.len() - at - 4) as u32;
    out[at..at + 4].copy_from_slice(&length.to_be_bytes());
}

/// `max_stack`, `max_locals` and `code_length`.
fn write_head(code: &Code<'_, '_>, insertions: &Insertions, pcs: &PcMap, out: &mut Vec<u8>) -> Result<(), Refusal> {
    // How deep the stack is at a site is not known, so the deepest insertion may come on the deepest stack.
    let max_stack = u32::from(code.max_stack()) + insertions.extra_stack();
    let length = pcs.new_length();
    match code.layout {
        CodeLayout::Short => {
            let max_stack = u8::try_from(max_stack).map_err(|_| Refusal::StackTooDeep)?;
            // Both were read from fields of these widths, or are bounded by `PcMap::compute`.
            out.extend_from_slice(&[max_stack, code.max_locals() as u8]);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
        CodeLayout::Normal => {
            let max_stack = u16::try_from(max_stack).map_err(|_| Refusal::StackTooDeep)?;
            out.extend_from_slice(&max_stack.to_be_bytes());
            out.extend_from_slice(&code.max_locals().to_be_bytes());
            out.extend_from_slice(&length.to_be_bytes());
        }
    }
    Ok(())
}

/// The instructions with all that is inserted.
fn write_instructions(code: &[u8], insertions: &Insertions, pcs: &PcMap, out: &mut Vec<u8>) -> Result<(), Refusal> {
    let mut writer = Writer { code, pcs, start: out.len(), out };
    let mut sites = insertions.iter().peekable();
    writer.out.extend_from_slice(insertions.guard_bytes());
    writer.head()?;
    // Between two stops code is copied as it is, and the distances in it are set afterwards.
    let mut copied = 0;
    for &stop in &pcs.stops {
        let pc = usize::from(stop);
        writer.out.extend_from_slice(&code[copied..pc]);
        let site = sites.next_if(|(site, _, _)| site.pc == stop);
        let (before, after) = site.map_or((&[][..], &[][..]), |(_, before, after)| (before, after));
        writer.out.extend_from_slice(before);
        let length = length_at(code, pc).ok_or(Refusal::MalformedCode)?;
        copied = pc + length;
        match code[pc] {
            opcode @ (op::TABLESWITCH | op::LOOKUPSWITCH) => writer.switch(pc, opcode, length)?,
            opcode => match pcs.fixes.get(&stop) {
                Some(&fix) => writer.fixed_branch(pc, opcode, fix)?,
                None => writer.out.extend_from_slice(&code[pc..copied]),
            },
        }
        writer.out.extend_from_slice(after);
    }
    writer.out.extend_from_slice(&code[copied..]);
    writer.relays(&pcs.tail)?;
    writer.out.extend_from_slice(insertions.handler_bytes());
    debug_assert_eq!(writer.place(), pcs.new_length());
    for &pc in &pcs.moving {
        if pcs.fixes.is_empty() || !pcs.fixes.contains_key(&pc) {
            writer.set_distance(pc, insertions)?;
        }
    }
    Ok(())
}

/// Writes the instructions that hold pcs.
struct Writer<'w> {
    code: &'w [u8],
    pcs: &'w PcMap,
    /// Where the code begins in `out`.
    start: usize,
    out: &'w mut Vec<u8>,
}

impl Writer<'_> {
    /// The new pc of what is written next.
    fn place(&self) -> u32 {
        (self.out.len() - self.start) as u32
    }

    /// The distance from `from` to where a branch by `offset` from old `pc` now leads.
    fn distance(&self, pc: usize, offset: i32, from: u32) -> Result<i32, Refusal> {
        let target = i64::try_from(pc).ok().map(|pc| pc + i64::from(offset));
        let entry = target
            .and_then(|target| usize::try_from(target).ok())
            .and_then(|target| self.pcs.entry(target))
            .ok_or(Refusal::BadBranchTarget)?;
        // Both are at most 65,535.
        Ok(entry as i32 - from as i32)
    }

    fn jump(&mut self, opcode: u8, distance: i32) {
        self.out.push(opcode);
        self.out.extend_from_slice(&distance.to_be_bytes());
    }

    fn short_jump(&mut self, opcode: u8, distance: i32) -> Result<(), Refusal> {
        let distance = i16::try_from(distance).map_err(|_| Refusal::BranchTooFar)?;
        self.out.push(opcode);
        self.out.extend_from_slice(&distance.to_be_bytes());
        Ok(())
    }

    /// The relays at the head with the jump over them.
    fn head(&mut self) -> Result<(), Refusal> {
        if !self.pcs.head.is_empty() {
            self.jump(op::GOTO_W, self.pcs.jump_length() as i32);
        }
        self.relays(&self.pcs.head)
    }

    fn relays(&mut self, targets: &[u16]) -> Result<(), Refusal> {
        for &target in targets {
            let distance = self.distance(usize::from(target), 0, self.place())?;
            self.jump(op::GOTO_W, distance);
        }
        Ok(())
    }

    /// A 16-bit branch in another form.
    fn fixed_branch(&mut self, pc: usize, opcode: u8, fix: BranchForm) -> Result<(), Refusal> {
        let offset = u16_at(self.code, pc + 1).ok_or(Refusal::MalformedCode)? as i16;
        let distance = self.distance(pc, i32::from(offset), self.place())?;
        match fix {
            BranchForm::Wide => {
                // goto_w and jsr_w follow each other as goto and jsr do.
                self.jump(opcode - op::GOTO + op::GOTO_W, distance);
                Ok(())
            }
            BranchForm::Inverted => {
                self.short_jump(op::inverted(opcode), 8)?;
                self.jump(op::GOTO_W, distance - 3);
                Ok(())
            }
            BranchForm::Head(number) => self.branch_to(opcode, self.pcs.head_relay(number)),
            BranchForm::Tail(number) => self.branch_to(opcode, self.pcs.tail_relay(number)),
        }
    }

    fn branch_to(&mut self, opcode: u8, place: u32) -> Result<(), Refusal> {
        self.short_jump(opcode, place as i32 - self.place() as i32)
    }

    /// Sets the distance in a branch that has been copied as it was.
    fn set_distance(&mut self, pc: u16, insertions: &Insertions) -> Result<(), Refusal> {
        let from = self.pcs.place(pc, insertions).ok_or(Refusal::MalformedCode)?;
        let operand = self.start + from as usize + 1;
        let pc = usize::from(pc);
        match self.code[pc] {
            op::TABLESWITCH | op::LOOKUPSWITCH => {}
            op::GOTO_W | op::JSR_W => {
                let offset = i32_at(self.code, pc + 1).ok_or(Refusal::MalformedCode)?;
                let distance = self.distance(pc, offset, from)?;
                self.out[operand..operand + 4].copy_from_slice(&distance.to_be_bytes());
            }
            _ => {
                let offset = u16_at(self.code, pc + 1).ok_or(Refusal::MalformedCode)? as i16;
                let distance = self.distance(pc, i32::from(offset), from)?;
                let distance = i16::try_from(distance).map_err(|_| Refusal::BranchTooFar)?;
                self.out[operand..operand + 2].copy_from_slice(&distance.to_be_bytes());
            }
        }
        Ok(())
    }

    fn switch(&mut self, pc: usize, opcode: u8, length: usize) -> Result<(), Refusal> {
        let from = self.place();
        let (old_padding, new_padding) = (padding(pc as u32) as usize, padding(from) as usize);
        let operands = pc + 1 + old_padding;
        self.out.push(opcode);
        if old_padding == new_padding {
            // Class files before 51 may hold anything here, and an unmoved method keeps it.
            self.out.extend_from_slice(&self.code[pc + 1..operands]);
        } else {
            self.out.extend_from_slice(&[0; 3][..new_padding]);
        }
        let words = self.code[operands..pc + length].chunks_exact(4);
        for (i, word) in words.enumerate() {
            // tableswitch: default, low, high, offsets; lookupswitch: default, count, (match, offset)...
            let is_offset = match opcode {
                op::TABLESWITCH => i == 0 || i > 2,
                _ => i == 0 || (i > 2 && i % 2 == 1),
            };
            if is_offset {
                let offset = i32_at(word, 0).ok_or(Refusal::MalformedCode)?;
                let distance = self.distance(pc, offset, from)?;
                self.out.extend_from_slice(&distance.to_be_bytes());
            } else {
                self.out.extend_from_slice(word);
            }
        }
        Ok(())
    }
}
