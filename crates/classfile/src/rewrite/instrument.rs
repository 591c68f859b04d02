//! What a caller says to [`rewrite`](crate::rewrite()): which methods, which instructions, what to insert.

use std::cell::OnceCell;

use crate::class::{ClassFile, Member};
use crate::code::Code;
use crate::error::Refusal;
use crate::instruction::Instruction;
use crate::lines::LineTable;
use crate::opcode::OpcodeSet;
use crate::rewrite::Insertions;
use crate::rewrite::operation::{Bracket, Guard, Op};

/// Decides what is inserted where.
pub trait Instrument {
    /// Called once per class, before its methods.
    fn class(&mut self, _class: &ClassFile<'_>) {}

    /// Names and descriptors of methods to call that are looked for in the pool of the class, at the cost of a look at all its
    /// texts; others are appended to it without looking.
    fn common_texts(&self) -> &'static [&'static str] {
        &[]
    }

    /// Called once per method that has Code; `false` leaves the method alone.
    fn method(&mut self, method: &MethodView<'_>) -> bool;

    /// What this method, an instance method, begins with. It runs once per call, outside of all exception ranges and lines. Asked once
    /// per method, after [`method`](Instrument::method).
    fn guard(&self, _method: &MethodView<'_>) -> Option<Guard> {
        None
    }

    /// What this method, no constructor, calls when it begins, as a guard does, and when an exception leaves it. It has no guard then.
    /// Asked once per method, after [`method`](Instrument::method).
    fn bracket(&self, _method: &MethodView<'_>) -> Option<Bracket> {
        None
    }

    /// The opcodes that [`instruction`](Instrument::instruction) wants to see. Asked once per method,
    /// after [`method`](Instrument::method); methods without any of a few opcodes are not even walked.
    fn opcodes(&self) -> OpcodeSet {
        OpcodeSet::ALL
    }

    /// The length in bytes up to which the code of this method may grow; beyond it the method is left as it was, with
    /// [`Refusal::CodeBeyondLimit`]. A JVM may have limits of its own, such as the 8,000 bytes up to which HotSpot compiles.
    fn max_code_length(&self, _method: &MethodView<'_>) -> u32 {
        65_535
    }

    /// Called once per instruction with an opcode of [`opcodes`](Instrument::opcodes), in order. What is to be
    /// inserted is said to `insert`; saying nothing costs nothing.
    fn instruction(&mut self, method: &MethodView<'_>, instruction: &Instruction<'_>, insert: &mut Insert<'_>);
}

/// Takes the operations to insert around one instruction.
///
/// Each sequence must leave the stack as deep as it found it. Operations in front are run by
/// branches to the instruction; operations behind are run when the instruction completes, and are
/// covered by its exception handlers and its line, while branches to the next instruction pass them by.
/// Do not insert behind a store to a local variable at the end of a `try` range: the verifier would
/// check the handler against the stored type too.
#[derive(Debug)]
pub struct Insert<'i> {
    pub(crate) insertions: &'i mut Insertions,
    pub(crate) pc: u16,
    /// Whether the instruction can be followed by the next one.
    pub(crate) continues: bool,
    pub(crate) failed: &'i mut Option<Refusal>,
}

impl Insert<'_> {
    /// Inserts in front of the instruction. A second call appends to the first.
    pub fn before(&mut self, ops: &[Op<'_>]) {
        self.note(true, ops);
    }

    /// Inserts behind the instruction. A second call appends to the first.
    pub fn after(&mut self, ops: &[Op<'_>]) {
        self.note(false, ops);
    }

    fn note(&mut self, before: bool, ops: &[Op<'_>]) {
        // Nothing is fine anywhere.
        let done = if before || self.continues || ops.is_empty() {
            self.insertions.add(self.pc, before, ops)
        } else {
            Err(Refusal::InvalidInsertion)
        };
        if let Err(refusal) = done {
            self.failed.get_or_insert(refusal);
        }
    }
}

/// The method at hand, as it was before the rewriting.
#[derive(Debug)]
pub struct MethodView<'a> {
    member: Member<'a, 'a>,
    code: Code<'a, 'a>,
    lines: OnceCell<LineTable>,
}

impl<'a> MethodView<'a> {
    #[inline]
    pub(crate) fn new(member: Member<'a, 'a>, code: Code<'a, 'a>) -> Self {
        MethodView { member, code, lines: OnceCell::new() }
    }

    /// The class it belongs to.
    #[inline]
    pub fn class(&self) -> &'a ClassFile<'a> {
        self.member.class()
    }

    /// The class's name, internal form.
    #[inline]
    pub fn class_name(&self) -> &'a [u8] {
        self.class().name()
    }

    /// The method's name; `<init>` for a constructor.
    #[inline]
    pub fn name(&self) -> &'a [u8] {
        self.member.name()
    }

    /// The method's descriptor.
    #[inline]
    pub fn descriptor(&self) -> &'a [u8] {
        self.member.descriptor()
    }

    /// The method's access flags (JVMS table 4.6-A, [`access`](crate::access)).
    #[inline]
    pub fn access_flags(&self) -> u16 {
        self.member.access_flags()
    }

    /// The method's code.
    #[inline]
    pub fn code(&self) -> &Code<'a, 'a> {
        &self.code
    }

    /// The source line of the instruction at `pc`. The first call of a method sorts its line table.
    pub fn line(&self, pc: u16) -> Option<u16> {
        self.lines().line(pc)
    }

    /// The lowest and the highest source line of the method.
    pub fn line_range(&self) -> Option<(u16, u16)> {
        let lines = self.lines().entries().iter().map(|&(_, line)| line);
        Some((lines.clone().min()?, lines.max()?))
    }

    fn lines(&self) -> &LineTable {
        self.lines.get_or_init(|| self.code.lines())
    }
}
