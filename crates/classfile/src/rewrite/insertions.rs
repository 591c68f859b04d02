//! What is to be inserted into the method at hand, already as bytecode.

use crate::error::Refusal;
use crate::opcode as op;
use crate::rewrite::constants::{Checkpoint, NewConstants};
use crate::rewrite::operation::{Bracket, Guard, Op};

/// The insertions around one instruction.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Site {
    pub(crate) pc: u16,
    /// Where in the arena the bytes to go in front begin; those to go behind follow them.
    start: usize,
    before: usize,
    after: usize,
}

/// All insertions of one method, by rising pc, and the constants of the class.
#[derive(Debug)]
pub(crate) struct Insertions {
    sites: Vec<Site>,
    arena: Vec<u8>,
    /// What the method begins with.
    guard: Vec<u8>,
    /// What runs when an exception leaves the method.
    handler: Vec<u8>,
    /// The class of what is on the stack then, a constant.
    throwable: u16,
    extra_stack: u32,
    any_before: bool,
    constants: NewConstants,
}

impl Insertions {
    /// For a class with a pool of that count, in which these texts are.
    pub(crate) fn new(pool_count: u16, texts: Vec<(&'static str, u16)>) -> Self {
        Insertions {
            sites: Vec::new(),
            arena: Vec::new(),
            guard: Vec::new(),
            handler: Vec::new(),
            throwable: 0,
            extra_stack: 0,
            any_before: false,
            constants: NewConstants::new(pool_count, texts),
        }
    }

    /// Forgets the sites of the last method; the checkpoint is for refusing this one.
    #[inline]
    pub(crate) fn begin_method(&mut self) -> Checkpoint {
        self.sites.clear();
        self.arena.clear();
        self.guard.clear();
        self.handler.clear();
        self.extra_stack = 0;
        self.any_before = false;
        self.constants.checkpoint()
    }

    /// Takes back the constants that a refused method had asked for.
    pub(crate) fn roll_back(&mut self, to: &Checkpoint) {
        self.constants.roll_back(to);
    }

    pub(crate) fn constants(&self) -> &NewConstants {
        &self.constants
    }

    pub(crate) fn constants_mut(&mut self) -> &mut NewConstants {
        &mut self.constants
    }

    /// The number of instructions with insertions.
    pub(crate) fn sites(&self) -> usize {
        self.sites.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Site, &[u8], &[u8])> {
        self.sites.iter().map(|site| {
            let (before, rest) = self.arena[site.start..].split_at(site.before);
            (*site, before, &rest[..site.after])
        })
    }

    /// The length of what goes in front of the instruction at `pc`.
    #[inline]
    pub(crate) fn before_length(&self, pc: u16) -> u32 {
        if !self.any_before {
            return 0;
        }
        match self.sites.binary_search_by_key(&pc, |site| site.pc) {
            Ok(i) => self.sites[i].before as u32,
            Err(_) => 0,
        }
    }

    /// How much deeper than before the stack can get.
    pub(crate) fn extra_stack(&self) -> u32 {
        self.extra_stack
    }

    /// The bytecode that the method begins with.
    pub(crate) fn guard_bytes(&self) -> &[u8] {
        &self.guard
    }

    /// Has the method begin with a guard; returns its length.
    pub(crate) fn guard(&mut self, guard: &Guard) -> Result<u32, Refusal> {
        let [applies, result] = [self.constants.callee(&guard.applies)?, self.constants.callee(&guard.result)?];
        if [(applies.arguments, applies.result), (result.arguments, result.result)] != [(1, 1); 2] {
            return Err(Refusal::InvalidInsertion);
        }
        let call = |index: u16| {
            let [high, low] = index.to_be_bytes();
            [op::ALOAD_1, op::INVOKESTATIC, high, low]
        };
        self.guard.extend_from_slice(&call(applies.index));
        // Over the call and the return.
        self.guard.extend_from_slice(&[op::IFEQ, 0, 8]);
        self.guard.extend_from_slice(&call(result.index));
        self.guard.push(op::ARETURN);
        self.extra_stack = self.extra_stack.max(1);
        // A dozen bytes.
        Ok(self.guard.len() as u32)
    }

    /// The bytecode that runs when an exception leaves the method.
    pub(crate) fn handler_bytes(&self) -> &[u8] {
        &self.handler
    }

    /// The class of what that bytecode finds on the stack, a constant.
    pub(crate) fn throwable(&self) -> u16 {
        self.throwable
    }

    /// Has the method begin and end with calls; returns the lengths of what is at its beginning and of what runs when an exception
    /// leaves it.
    pub(crate) fn bracket(&mut self, bracket: &Bracket) -> Result<(u32, u32), Refusal> {
        let start = self.arena.len();
        self.encode(&[Op::PushInt(bracket.argument), Op::InvokeStatic(&bracket.begin)])?;
        self.guard.extend(self.arena.drain(start..));
        self.encode(&[Op::PushInt(bracket.argument), Op::InvokeStatic(&bracket.unwound)])?;
        self.handler.extend(self.arena.drain(start..));
        self.handler.push(op::ATHROW);
        // The exception, below the argument.
        self.extra_stack = self.extra_stack.max(2);
        self.throwable = self.constants.class_of(b"java/lang/Throwable")?;
        // Some bytes each.
        Ok((self.guard.len() as u32, self.handler.len() as u32))
    }

    /// Adds operations to the instruction at `pc`, which is the last one that has any or a later one.
    pub(crate) fn add(&mut self, pc: u16, before: bool, ops: &[Op<'_>]) -> Result<(), Refusal> {
        if ops.is_empty() {
            return Ok(());
        }
        // Insertions alone are too much already: no need to collect more of them.
        if self.arena.len() > 65_535 {
            return Err(Refusal::CodeTooLarge);
        }
        let mut site = match self.sites.pop_if(|site| site.pc == pc) {
            Some(site) => site,
            None => Site { pc, start: self.arena.len(), before: 0, after: 0 },
        };
        let length = self.arena.len();
        let done = self.encode(ops);
        let added = self.arena.len() - length;
        if before {
            self.arena[site.start + site.before..].rotate_right(added);
            site.before += added;
            self.any_before = true;
        } else {
            site.after += added;
        }
        self.sites.push(site);
        done
    }

    /// Appends the bytecode of `ops` to the arena.
    fn encode(&mut self, ops: &[Op<'_>]) -> Result<(), Refusal> {
        let mut depth: u32 = 0;
        let mut deepest = 0;
        // What the operations take that they have not put there is taken from below and must be put back.
        let mut borrowed: u32 = 0;
        for op in ops {
            let (takes, leaves) = self.encode_one(op)?;
            if takes > depth {
                borrowed += takes - depth;
                depth = takes;
            }
            depth = depth - takes + leaves;
            deepest = deepest.max(depth.saturating_sub(borrowed));
        }
        if depth != borrowed {
            return Err(Refusal::InvalidInsertion);
        }
        self.extra_stack = self.extra_stack.max(deepest);
        Ok(())
    }

    /// Appends one operation; returns the stack slots it takes and leaves.
    fn encode_one(&mut self, op: &Op<'_>) -> Result<(u32, u32), Refusal> {
        let (opcode, takes, leaves) = match op {
            Op::Dup => (op::DUP, 1, 2),
            Op::Dup2 => (op::DUP2, 2, 4),
            Op::Pop => (op::POP, 1, 0),
            Op::Pop2 => (op::POP2, 2, 0),
            Op::Swap => (op::SWAP, 2, 2),
            Op::Aload0 => (op::ALOAD_0, 0, 1),
            Op::Aload(local) => return Ok(self.local(op::ALOAD, *local, (0, 1))),
            Op::Iload(local) => return Ok(self.local(op::ILOAD, *local, (0, 1))),
            Op::Lload(local) => return Ok(self.local(op::LLOAD, *local, (0, 2))),
            Op::Astore(local) => return Ok(self.local(op::ASTORE, *local, (1, 0))),
            Op::ArrayLength => (op::ARRAYLENGTH, 1, 1),
            Op::PushInt(value) => {
                self.push_int(*value)?;
                return Ok((0, 1));
            }
            Op::InvokeStatic(method) => {
                let callee = self.constants.callee(method)?;
                let [high, low] = callee.index.to_be_bytes();
                self.arena.extend_from_slice(&[op::INVOKESTATIC, high, low]);
                return Ok((callee.arguments, callee.result));
            }
        };
        self.arena.push(opcode);
        Ok((takes, leaves))
    }

    fn local(&mut self, opcode: u8, local: u8, depths: (u32, u32)) -> (u32, u32) {
        self.arena.extend_from_slice(&[opcode, local]);
        depths
    }

    fn push_int(&mut self, value: i32) -> Result<(), Refusal> {
        if (-1..=5).contains(&value) {
            self.arena.push((i32::from(op::ICONST_0) + value) as u8);
        } else if let Ok(byte) = i8::try_from(value) {
            self.arena.extend_from_slice(&[op::BIPUSH, byte as u8]);
        } else if let Ok(short) = i16::try_from(value) {
            let [high, low] = short.to_be_bytes();
            self.arena.extend_from_slice(&[op::SIPUSH, high, low]);
        } else {
            match self.constants.int(value)?.to_be_bytes() {
                [0, low] => self.arena.extend_from_slice(&[op::LDC, low]),
                [high, low] => self.arena.extend_from_slice(&[op::LDC_W, high, low]),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rewrite::operation::StaticMethod;

    const COUNT: StaticMethod = StaticMethod { class: "H", name: "count", descriptor: "(II)V" };

    fn bytes_of(ops: &[Op<'_>]) -> Result<(Vec<u8>, u32), Refusal> {
        let mut insertions = Insertions::new(10, Vec::new());
        insertions.add(0, false, ops)?;
        Ok((insertions.arena.clone(), insertions.extra_stack))
    }

    #[test]
    fn ints_take_their_shortest_form() {
        for (value, bytes) in [
            (-1, vec![2]),
            (0, vec![3]),
            (5, vec![8]),
            (6, vec![16, 6]),
            (-128, vec![16, 128]),
            (128, vec![17, 0, 128]),
            (-32_768, vec![17, 128, 0]),
            (32_768, vec![18, 10]),
        ] {
            let (mut found, _) = bytes_of(&[Op::PushInt(value), Op::Pop]).unwrap();
            assert_eq!(found.pop(), Some(op::POP));
            assert_eq!(found, bytes, "{value}");
        }
        let mut insertions = Insertions::new(256, Vec::new());
        insertions.add(0, true, &[Op::PushInt(1 << 20), Op::Pop]).unwrap();
        assert_eq!(insertions.arena, [op::LDC_W, 1, 0, op::POP]);
    }

    #[test]
    fn depth_counts_above_what_was_there() {
        let site = [Op::Dup, Op::ArrayLength, Op::PushInt(7), Op::InvokeStatic(&COUNT)];
        assert_eq!(bytes_of(&site).unwrap().1, 2);
        assert_eq!(bytes_of(&[Op::Dup, Op::Pop]).unwrap().1, 1);
        assert_eq!(bytes_of(&[Op::Dup2, Op::Pop2]).unwrap().1, 2);
        assert_eq!(bytes_of(&[Op::Swap]).unwrap().1, 0);
    }

    #[test]
    fn locals_are_named_by_a_byte() {
        let ops = [Op::Aload(4), Op::Iload(7), Op::Pop, Op::Astore(255)];
        assert_eq!(bytes_of(&ops), Ok((vec![op::ALOAD, 4, op::ILOAD, 7, op::POP, op::ASTORE, 255], 2)));
        assert_eq!(bytes_of(&[Op::Lload(1), Op::Pop2]), Ok((vec![op::LLOAD, 1, op::POP2], 2)));
    }

    #[test]
    fn unbalanced_operations_are_refused() {
        for ops in [&[Op::Dup][..], &[Op::Pop], &[Op::PushInt(1), Op::InvokeStatic(&COUNT)]] {
            assert_eq!(bytes_of(ops), Err(Refusal::InvalidInsertion));
        }
    }

    #[test]
    fn calls_in_any_order_keep_front_and_back_apart() {
        let mut insertions = Insertions::new(10, Vec::new());
        insertions.add(3, false, &[Op::PushInt(3), Op::Pop]).unwrap();
        insertions.add(3, true, &[Op::PushInt(1), Op::Pop]).unwrap();
        insertions.add(3, false, &[Op::PushInt(4), Op::Pop]).unwrap();
        insertions.add(3, true, &[Op::PushInt(2), Op::Pop]).unwrap();
        let all: Vec<_> = insertions.iter().map(|(s, b, a)| (s.pc, b, a)).collect();
        let pop = op::POP;
        assert_eq!(all, [(3, &[4, pop, 5, pop][..], &[6, pop, 7, pop][..])]);
        assert_eq!(insertions.before_length(3), 4);
    }
}
