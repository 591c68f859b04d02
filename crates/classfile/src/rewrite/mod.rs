//! Rewriting: one walk over the class, and for each method with insertions one new Code attribute.
//!
//! Nothing but these attributes and the end of the constant pool changes; everything else, order included,
//! is copied as slices of the original.

mod constants;
mod emit;
mod expand;
mod frames;
mod insertions;
mod instrument;
mod operation;
mod pc_map;
mod steps;
mod tables;
mod type_annotations;
mod widen;

use std::ops::Range;

pub(crate) use emit::write_code;
pub(crate) use insertions::Insertions;
pub(crate) use pc_map::PcMap;

pub use instrument::{Insert, Instrument, MethodView};
pub use operation::{Bracket, Guard, Op, StaticMethod};

use crate::class::{ClassFile, Member};
use crate::error::{ParseError, Refusal};
use crate::instruction::{Instruction, length_at};
use crate::opcode::{self as op, OpcodeSet};
use crate::rewrite::steps::Steps;

/// A method that was left as it was, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refused<'a> {
    /// Its name, modified UTF-8.
    pub name: &'a [u8],
    /// Its descriptor.
    pub descriptor: &'a [u8],
    /// Why it was left.
    pub reason: Refusal,
}

/// What became of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten<'a> {
    /// The new class; nothing if it is unchanged, and then nothing was copied.
    pub bytes: Option<Vec<u8>>,
    /// Instructions that got insertions, in methods that were rewritten.
    pub inserted_sites: u32,
    /// Methods that should have been rewritten, or could not be looked at, and were left.
    pub refused: Vec<Refused<'a>>,
}

/// Rewrites the methods of a class as `instrument` says.
///
/// A method is rewritten whole or left byte for byte as it was; an error is given for bytes that are
/// not a class at all. The cost is proportional to the size of the class.
///
/// # Errors
///
/// The bytes are no class file: see [`ClassFile::parse`].
pub fn rewrite<'a>(class: &'a [u8], instrument: &mut impl Instrument) -> Result<Rewritten<'a>, ParseError> {
    Ok(rewrite_class(&ClassFile::parse(class)?, instrument))
}

/// As [`rewrite`], for a class that is parsed already.
pub fn rewrite_class<'a>(class: &ClassFile<'a>, instrument: &mut impl Instrument) -> Rewritten<'a> {
    instrument.class(class);
    let texts = class.pool().find_texts(instrument.common_texts());
    let mut work = Work {
        insertions: Insertions::new(class.pool().count(), texts),
        pcs: PcMap::default(),
        steps: None,
        out: Vec::new(),
        patches: Vec::new(),
    };
    let mut inserted_sites = 0;
    let mut refused = Vec::new();
    for member in class.methods() {
        let checkpoint = work.insertions.begin_method();
        match work.method(class, member, instrument) {
            // No method has more sites than bytes of code.
            Ok(sites) => inserted_sites += sites as u32,
            Err(reason) => {
                work.insertions.roll_back(&checkpoint);
                refused.push(Refused { name: member.name(), descriptor: member.descriptor(), reason });
            }
        }
    }
    Rewritten { bytes: (!work.patches.is_empty()).then(|| work.assemble(class)), inserted_sites, refused }
}

/// A place of the class and the bytes that replace it.
struct Patch {
    old: Range<usize>,
    /// Where in [`Work::out`] the replacement stands.
    new: Range<usize>,
}

/// What is collected while a class is walked; the buffers serve all its methods.
struct Work {
    insertions: Insertions,
    pcs: PcMap,
    steps: Option<Steps>,
    out: Vec<u8>,
    patches: Vec<Patch>,
}

impl Work {
    /// Looks at one method and rewrites it if there is something to insert; returns the number of sites.
    fn method<'a>(
        &mut self,
        class: &ClassFile<'a>,
        member: Member<'_, 'a>,
        instrument: &mut impl Instrument,
    ) -> Result<usize, Refusal> {
        let Some(attribute) = member.code_attribute() else {
            return Ok(0);
        };
        let code = class.parse_code(&attribute)?;
        let view = MethodView::new(member, code);
        if !instrument.method(&view) {
            return Ok(0);
        }
        let interest = instrument.opcodes();
        let (guard, bracket) = (instrument.guard(&view), instrument.bracket(&view));
        let is_framed = guard.is_some() || bracket.is_some();
        if !is_framed && !interest.occurs_in(code.bytes()) {
            return Ok(0);
        }
        self.scan(class, &view, instrument, &interest)?;
        match (&guard, &bracket) {
            (None, None) => {}
            (Some(guard), None) => self.pcs.guard_length = self.insertions.guard(guard)?,
            (None, Some(bracket)) if view.name() != b"<init>" => {
                (self.pcs.guard_length, self.pcs.handler_length) = self.insertions.bracket(bracket)?;
            }
            _ => return Err(Refusal::InvalidInsertion),
        }
        let sites = self.insertions.sites();
        if !is_framed && sites == 0 {
            return Ok(0);
        }

        let start = self.out.len();
        if start == 0 {
            self.out.reserve(class.bytes().len() / 2);
        }
        self.out.extend_from_slice(&[0; 4]);
        let done = self
            .pcs
            .settle(&code, &self.insertions)
            .and_then(|()| match self.pcs.new_length() > instrument.max_code_length(&view) {
                true => Err(Refusal::CodeBeyondLimit),
                false => Ok(()),
            })
            .and_then(|()| write_code(&member, &code, &mut self.insertions, &self.pcs, &mut self.out));
        if let Err(refusal) = done {
            self.out.truncate(start);
            return Err(refusal);
        }
        // Every part of a Code attribute is bounded by the class or by 65,535 entries.
        let length = (self.out.len() - start - 4) as u32;
        self.out[start..start + 4].copy_from_slice(&length.to_be_bytes());
        let data = attribute.offset..attribute.offset + attribute.data.len();
        self.patches.push(Patch { old: data.start - 4..data.end, new: start..self.out.len() });
        Ok(sites)
    }

    /// Notes the instructions, and shows the instrument those it asked for.
    fn scan<'a>(
        &mut self,
        class: &ClassFile<'a>,
        view: &MethodView<'_>,
        instrument: &mut impl Instrument,
        interest: &OpcodeSet,
    ) -> Result<(), Refusal> {
        let code = view.code().bytes();
        let steps = match &mut self.steps {
            Some(steps) if steps.set == *interest => steps,
            other => other.insert(Steps::new(*interest)),
        };
        self.pcs.begin(code);
        let mut failed = None;
        let mut pc = steps.find(code, 0, &mut self.pcs.starts);
        while let Some(&opcode) = code.get(pc) {
            let length = length_at(code, pc).ok_or(Refusal::MalformedCode)?;
            if op::MOVING.contains(opcode) {
                self.pcs.moving.push(pc as u16);
            }
            if interest.contains(opcode) {
                let instruction = Instruction::new(class.pool(), code, pc, opcode);
                let mut insert = Insert {
                    insertions: &mut self.insertions,
                    pc: instruction.pc(),
                    continues: !op::never_continues(code, pc),
                    failed: &mut failed,
                };
                instrument.instruction(view, &instruction, &mut insert);
                if let Some(refusal) = failed {
                    return Err(refusal);
                }
            }
            pc = steps.find(code, pc + length, &mut self.pcs.starts);
        }
        if pc > code.len() {
            return Err(Refusal::MalformedCode);
        }
        Ok(())
    }

    /// The class with its patches and its longer pool.
    fn assemble(&self, class: &ClassFile<'_>) -> Vec<u8> {
        let bytes = class.bytes();
        let constants = self.insertions.constants();
        let pool_end = class.pool().end();
        let mut new = Vec::with_capacity(bytes.len() + constants.bytes().len() + self.out.len());
        new.extend_from_slice(&bytes[..8]);
        new.extend_from_slice(&constants.count().to_be_bytes());
        new.extend_from_slice(&bytes[10..pool_end]);
        new.extend_from_slice(constants.bytes());
        let mut done = pool_end;
        for patch in &self.patches {
            new.extend_from_slice(&bytes[done..patch.old.start]);
            new.extend_from_slice(&self.out[patch.new.clone()]);
            done = patch.old.end;
        }
        new.extend_from_slice(&bytes[done..]);
        new
    }
}
