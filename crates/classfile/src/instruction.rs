//! Instructions: found one after the other, their operands read when asked for.

use crate::opcode::{self as op, LENGTHS};
use crate::pool::{Constant, ConstantPool};
use crate::read::{i32_at, u16_at};

/// The length of the instruction at `pc`, or nothing if it is unknown or runs past the end.
#[inline]
pub(crate) fn length_at(code: &[u8], pc: usize) -> Option<usize> {
    let opcode = *code.get(pc)?;
    let length = match LENGTHS[usize::from(opcode)] {
        0 => length_of_special(code, pc, opcode)?,
        length => usize::from(length),
    };
    (length <= code.len() - pc).then_some(length)
}

#[cold]
fn length_of_special(code: &[u8], pc: usize, opcode: u8) -> Option<usize> {
    // Operands of switches begin at the next multiple of four, counted from the method's start.
    let operands = (pc + 4) & !3;
    let cases = match opcode {
        op::TABLESWITCH => {
            let low = i32_at(code, operands + 4)?;
            let high = i32_at(code, operands + 8)?;
            let count = i64::from(high) - i64::from(low) + 1;
            12 + usize::try_from(count).ok().filter(|&n| n > 0)?.checked_mul(4)?
        }
        op::LOOKUPSWITCH => {
            let count = usize::try_from(i32_at(code, operands + 4)?).ok()?;
            8 + count.checked_mul(8)?
        }
        op::WIDE => {
            return match *code.get(pc + 1)? {
                op::ILOAD..=op::ALOAD | op::ISTORE..=op::ASTORE | op::RET => Some(4),
                op::IINC => Some(6),
                _ => None,
            };
        }
        _ => return None,
    };
    Some(operands - pc + cases)
}

/// The element type of `newarray` (JVMS table 6.5.newarray-A).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ArrayKind {
    Boolean,
    Char,
    Float,
    Double,
    Byte,
    Short,
    Int,
    Long,
}

impl ArrayKind {
    /// The code of the first.
    const FIRST_CODE: u8 = 4;
    /// All of them, in the order of their codes, with their descriptors.
    const ALL: [(ArrayKind, u8); 8] = [
        (ArrayKind::Boolean, b'Z'),
        (ArrayKind::Char, b'C'),
        (ArrayKind::Float, b'F'),
        (ArrayKind::Double, b'D'),
        (ArrayKind::Byte, b'B'),
        (ArrayKind::Short, b'S'),
        (ArrayKind::Int, b'I'),
        (ArrayKind::Long, b'J'),
    ];

    /// Of elements with that descriptor.
    pub fn of(descriptor: u8) -> Option<ArrayKind> {
        ArrayKind::ALL.iter().find(|(_, known)| *known == descriptor).map(|(kind, _)| *kind)
    }

    /// The elements' descriptor.
    pub fn descriptor(self) -> u8 {
        ArrayKind::ALL[self as usize].1
    }
}

/// A field or method that an instruction names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberRef<'a> {
    /// The class or array it is looked up in, internal form; empty for `invokedynamic`.
    pub owner: &'a [u8],
    /// Its name.
    pub name: &'a [u8],
    /// Its descriptor.
    pub descriptor: &'a [u8],
}

/// One instruction in place.
#[derive(Debug, Clone, Copy)]
pub struct Instruction<'a> {
    pool: &'a ConstantPool<'a>,
    code: &'a [u8],
    pc: u16,
    opcode: u8,
}

impl<'a> Instruction<'a> {
    #[inline]
    pub(crate) fn new(pool: &'a ConstantPool<'a>, code: &'a [u8], pc: usize, opcode: u8) -> Self {
        // Code is at most 65,535 bytes long, so a pc inside it is a u16.
        let pc = pc as u16;
        Instruction { pool, code, pc, opcode }
    }

    /// Its offset in the method's code as it was.
    #[inline]
    pub fn pc(&self) -> u16 {
        self.pc
    }

    /// Its opcode; for a widened instruction that is `wide`.
    #[inline]
    pub fn opcode(&self) -> u8 {
        self.opcode
    }

    /// Its bytes, opcode first.
    pub fn bytes(&self) -> &'a [u8] {
        let pc = usize::from(self.pc);
        match length_at(self.code, pc) {
            Some(length) => &self.code[pc..pc + length],
            None => &[],
        }
    }

    /// The constant-pool index it carries, if its opcode has one.
    pub fn constant_index(&self) -> Option<u16> {
        let at = usize::from(self.pc) + 1;
        match self.opcode {
            op::LDC => self.code.get(at).map(|&index| u16::from(index)),
            op::LDC_W
            | op::LDC2_W
            | op::GETSTATIC..=op::NEW
            | op::ANEWARRAY
            | op::CHECKCAST
            | op::INSTANCEOF
            | op::MULTIANEWARRAY => u16_at(self.code, at),
            _ => None,
        }
    }

    /// The string constant that `ldc` or `ldc_w` pushes, in modified UTF-8.
    pub fn string_operand(&self) -> Option<&'a [u8]> {
        match (self.opcode, self.pool.get(self.constant_index()?)?) {
            (op::LDC | op::LDC_W, Constant::String { utf8 }) => self.pool.utf8(utf8),
            _ => None,
        }
    }

    /// The class that `new`, `anewarray` (the element), `multianewarray` (the array), `checkcast` or
    /// `instanceof` names.
    pub fn class_operand(&self) -> Option<&'a [u8]> {
        self.pool.class_name(self.constant_index()?)
    }

    /// The field or method that a field access or an invocation names.
    pub fn member_operand(&self) -> Option<MemberRef<'a>> {
        let (class, name_and_type) = match self.pool.get(self.constant_index()?)? {
            Constant::Field { class, name_and_type }
            | Constant::Method { class, name_and_type }
            | Constant::InterfaceMethod { class, name_and_type } => (Some(class), name_and_type),
            Constant::InvokeDynamic { name_and_type, .. } => (None, name_and_type),
            _ => return None,
        };
        let owner = match class {
            Some(class) => self.pool.class_name(class)?,
            None => b"",
        };
        let (name, descriptor) = self.pool.name_and_type(name_and_type)?;
        Some(MemberRef { owner, name, descriptor })
    }

    /// The element type of `newarray`.
    pub fn array_kind(&self) -> Option<ArrayKind> {
        if self.opcode != op::NEWARRAY {
            return None;
        }
        let code = *self.code.get(usize::from(self.pc) + 1)?;
        ArrayKind::ALL.get(usize::from(code.checked_sub(ArrayKind::FIRST_CODE)?)).map(|(kind, _)| *kind)
    }

    /// The number of dimensions that `multianewarray` fills.
    pub fn dimensions(&self) -> Option<u8> {
        if self.opcode != op::MULTIANEWARRAY {
            return None;
        }
        self.code.get(usize::from(self.pc) + 3).copied()
    }
}

/// Walks the instructions of a method up to its end, or the first that cannot be read.
#[derive(Debug, Clone)]
pub struct Instructions<'p, 'a> {
    pool: &'p ConstantPool<'a>,
    code: &'a [u8],
    pc: usize,
}

impl<'p, 'a> Instructions<'p, 'a> {
    pub(crate) fn new(pool: &'p ConstantPool<'a>, code: &'a [u8]) -> Self {
        Instructions { pool, code, pc: 0 }
    }
}

impl<'p> Iterator for Instructions<'p, '_> {
    type Item = Instruction<'p>;

    #[inline]
    fn next(&mut self) -> Option<Instruction<'p>> {
        let pc = self.pc;
        let length = length_at(self.code, pc)?;
        self.pc += length;
        Some(Instruction::new(self.pool, self.code, pc, self.code[pc]))
    }
}
