//! Random classes that run: blocks of int arithmetic joined by every kind of branch.
//!
//! At each block the stack is empty and all locals are ints, so that stack-map frames are known without
//! inference. A counter in local 0 ends every run.

use classfile::{Bracket, Insert, Instruction, Instrument, MethodView, Op, opcode as op};

use super::assembler::{Asm, Builder, Label, Type};
use super::sites::FRESH;

/// The locals: fuel, argument, and ints; the last two hold an exception or a return address for a moment.
const INTS: u8 = 6;
const SPARE: u8 = 6;

/// Sizes of what is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) blocks: usize,
    /// Statements in a block, at most.
    pub(crate) statements: u32,
    /// Class-file version, major and minor.
    pub(crate) version: (u16, u16),
}

/// A generator of numbers: xorshift*, enough for choosing.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn roll(&mut self, sides: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as u32 % sides
    }

    fn local(&mut self) -> u8 {
        1 + self.roll(u32::from(INTS) - 1) as u8
    }
}

/// Inserts calls at random instructions, each with a number for its place.
pub(crate) struct RandomSites {
    pub(crate) seed: u64,
    /// One of so many instructions gets something in front, and one of so many behind.
    pub(crate) one_in: u32,
    /// How often each call is made: what makes methods long.
    pub(crate) repeat: usize,
    /// What the method calls at its beginning and where an exception leaves it.
    pub(crate) bracket: Option<i32>,
}

impl RandomSites {
    /// The numbers to be called with in front of and behind an instruction.
    pub(crate) fn at(&self, pc: u16, opcode: u8) -> [Vec<i32>; 2] {
        let mut dice = Dice::new(self.seed ^ u64::from(pc) << 20);
        let ends = matches!(opcode, op::GOTO | op::GOTO_W | op::RET..=op::RETURN | op::ATHROW | op::WIDE);
        // What stands behind a jsr runs when the subroutine returns; the tests keep to what completes at once.
        let behind = !ends && !matches!(opcode, op::JSR | op::JSR_W);
        let number = 100_000 + i32::from(pc) * 2;
        [(true, number), (behind, number + 1)].map(|(may, number)| {
            let times = if may && dice.roll(self.one_in) == 0 { self.repeat } else { 0 };
            vec![number; times]
        })
    }
}

impl Instrument for RandomSites {
    fn method(&mut self, _: &MethodView<'_>) -> bool {
        true
    }

    fn bracket(&self, method: &MethodView<'_>) -> Option<Bracket> {
        let argument = self.bracket.filter(|_| method.name() != b"<init>")?;
        Some(Bracket { begin: FRESH, unwound: FRESH, argument })
    }

    fn instruction(&mut self, _: &MethodView<'_>, instruction: &Instruction<'_>, insert: &mut Insert<'_>) {
        let calls = |numbers: &[i32]| -> Vec<Op<'static>> {
            numbers.iter().flat_map(|&number| [Op::PushInt(number), Op::InvokeStatic(&FRESH)]).collect()
        };
        let [before, after] = self.at(instruction.pc(), instruction.opcode());
        insert.before(&calls(&before));
        insert.after(&calls(&after));
    }
}

/// A class `Made<seed>` with `static int run(int fuel, int x)`, or nothing if the code became too long.
pub(crate) fn make(seed: u64, shape: Shape) -> Option<Vec<u8>> {
    let mut dice = Dice::new(seed);
    let mut class = Builder::new(&format!("Made{seed}"), shape.version.0, shape.version.1);
    let mut asm = Asm::new(6, 8);
    asm.initial = vec![Type::Int; 2];
    // From version 50 on; and from there on there is no jsr.
    let has_frames = shape.version.0 >= 50;
    let ints = [Type::Int; INTS as usize];
    for local in 2..INTS {
        asm.emit(&[op::ICONST_0, op::ISTORE, local]);
    }
    let blocks: Vec<Label> = (0..shape.blocks).map(|_| asm.label()).collect();
    let exit = asm.label();
    let subroutine = asm.label();
    let throwable = class.pool.class("java/lang/Throwable");
    let constant = class.pool.int(dice.roll(1 << 30) as i32);

    for (number, &block) in blocks.iter().enumerate() {
        let next = blocks.get(number + 1).copied().unwrap_or(exit);
        asm.bind(block);
        if has_frames {
            asm.frame(block, &ints, &[]);
        }
        asm.emit(&[op::IINC, 0, 0xFF, op::ILOAD, 0]);
        asm.branch(158, exit); // ifle
        let start = asm.here();
        for _ in 0..=dice.roll(shape.statements) {
            statement(&mut asm, &mut dice, &class, constant, (!has_frames).then_some(subroutine));
        }
        let end = asm.here();
        terminator(&mut asm, &mut dice, &blocks);
        // Whatever the terminator was, what follows is reached from somewhere else or not at all.
        if dice.roll(3) == 0 {
            let handler = asm.here();
            if has_frames {
                asm.frame(handler, &ints, &[Type::Object(throwable)]);
            }
            asm.emit(&[op::ASTORE, SPARE]);
            asm.branch(op::GOTO, next);
            asm.handler(start, end, handler, [0, throwable][dice.roll(2) as usize]);
        }
    }
    asm.bind(exit);
    if has_frames {
        asm.frame(exit, &ints, &[]);
    }
    asm.emit(&[op::ILOAD, 1]);
    for local in 2..INTS {
        asm.emit(&[op::ILOAD, local, 130]); // ixor
    }
    asm.emit(&[op::IRETURN]);
    asm.bind(subroutine);
    if !has_frames {
        asm.emit(&[op::ASTORE, SPARE + 1, op::IINC, 2, 3]);
        match dice.roll(2) {
            0 => asm.emit(&[op::RET, SPARE + 1]),
            _ => asm.emit(&[op::WIDE, op::RET, 0, SPARE + 1]),
        }
    }
    if asm.code.len() > 32_000 {
        return None;
    }
    class.method("run", "(II)I", asm);
    Some(class.finish())
}

/// Something that leaves the stack empty.
fn statement(asm: &mut Asm, dice: &mut Dice, class: &Builder, constant: u16, subroutine: Option<Label>) {
    let (a, b, c) = (dice.local(), dice.local(), dice.local());
    let arithmetic = [op::IADD, 100, 104, 130, 108][dice.roll(5) as usize]; // isub, imul, ixor, idiv
    match dice.roll(10) {
        0 => asm.emit(&[op::IINC, a, dice.roll(256) as u8]),
        1 => asm.emit(&[op::WIDE, op::IINC, 0, a, dice.roll(256) as u8, dice.roll(256) as u8]),
        2 => asm.emit(&[op::ILOAD, a, op::ILOAD, b, arithmetic, op::ISTORE, c]),
        3 => asm.emit(&[
            op::WIDE,
            op::ILOAD,
            0,
            a,
            op::BIPUSH,
            dice.roll(256) as u8,
            op::SWAP,
            arithmetic,
            op::ISTORE,
            c,
        ]),
        4 => asm.emit(&[op::SIPUSH, dice.roll(256) as u8, dice.roll(256) as u8, op::DUP, op::IADD, op::ISTORE, c]),
        5 => {
            asm.with_index(op::LDC_W, constant);
            asm.emit(&[op::ISTORE, c]);
        }
        6 => asm.emit(&[op::BIPUSH, dice.roll(9) as u8, op::NEWARRAY, 10, op::ARRAYLENGTH, op::ISTORE, c]),
        7 => {
            asm.with_index(op::NEW, class.object());
            asm.emit(&[op::POP]);
        }
        8 => asm.emit(&[op::ILOAD, a, op::ILOAD, b, op::DUP2, op::POP2, op::POP, op::ISTORE, c]),
        _ => match subroutine {
            Some(subroutine) => asm.branch([op::JSR, op::JSR_W][dice.roll(2) as usize], subroutine),
            None => asm.emit(&[op::NOP]),
        },
    }
}

/// What ends a block: nothing falls through but conditional branches, and they are followed by a `goto`.
fn terminator(asm: &mut Asm, dice: &mut Dice, blocks: &[Label]) {
    let mut any = || blocks[dice.roll(blocks.len() as u32) as usize];
    let (one, two, three) = (any(), any(), any());
    let (a, b) = (dice.local(), dice.local());
    match dice.roll(6) {
        0 => {
            asm.emit(&[op::ILOAD, a]);
            asm.branch(op::IFEQ + dice.roll(6) as u8, one);
            asm.branch(op::GOTO, two);
        }
        1 => {
            asm.emit(&[op::ILOAD, a, op::ILOAD, b]);
            asm.branch(159 + dice.roll(6) as u8, one); // if_icmpeq..
            asm.branch(op::GOTO_W, two);
        }
        2 => {
            asm.emit(&[op::ILOAD, a, op::BIPUSH, 7, 126]); // iand
            asm.tableswitch(one, dice.roll(5) as i32, &[two, three, one]);
        }
        3 => {
            asm.emit(&[op::ILOAD, a, op::BIPUSH, 3, 126]);
            asm.lookupswitch(three, &[(-5, one), (0, two), (1, one), (i32::MAX, two)]);
        }
        4 => asm.branch(op::GOTO, one),
        _ => asm.branch(op::GOTO_W, one),
    }
}
