//! Runs the code that `random_class` makes, before and after rewriting.

use std::collections::HashMap;

use classfile::{ClassFile, Code, Constant, ConstantPool, opcode as op};

/// A step of a run: the pc, and whether it went on to the next instruction by completing.
pub(crate) type Step = (u16, bool);

/// What a run did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// What it returned; nothing if a division by zero ended it.
    pub(crate) result: Option<i32>,
    /// The numbers that inserted calls were given.
    pub(crate) calls: Vec<i32>,
    pub(crate) steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug)]
enum Value {
    Int(i32),
    /// An array by its length; any other object has none.
    Object(i32),
    Address(usize),
}

impl Value {
    fn int(self) -> i32 {
        match self {
            Value::Int(value) => value,
            other => panic!("{other:?} is no int"),
        }
    }
}

/// Runs `static int run(int, int)` of a class.
pub(crate) fn run(class: &[u8], arguments: [i32; 2]) -> Run {
    let class = ClassFile::parse(class).expect("a class");
    let method = class.methods().find(|m| m.name() == b"run").expect("a method to run");
    let code = method.code().expect("code");
    let lengths: HashMap<usize, usize> = code.instructions().map(|i| (usize::from(i.pc()), i.bytes().len())).collect();
    let mut machine = Machine { pool: class.pool(), code: &code, stack: Vec::new(), locals: [Value::Int(0); 8] };
    machine.locals[0] = Value::Int(arguments[0]);
    machine.locals[1] = Value::Int(arguments[1]);
    let mut done = Run { result: None, calls: Vec::new(), steps: Vec::new() };
    let mut pc = 0;
    loop {
        assert!(machine.stack.len() <= usize::from(code.max_stack()), "the stack is deeper than it may be");
        let next = pc + lengths.get(&pc).unwrap_or_else(|| panic!("no instruction at {pc}"));
        let (then, completed) = match machine.step(pc, next, &mut done.calls) {
            Then::Next => (next, true),
            Then::Jump(to) => (to, false),
            Then::Throw => match machine.handler(pc) {
                Some(handler) => (handler, false),
                None => {
                    done.steps.push((pc as u16, false));
                    return done;
                }
            },
            Then::Return(result) => {
                done.result = Some(result);
                done.steps.push((pc as u16, false));
                return done;
            }
        };
        done.steps.push((pc as u16, completed));
        pc = then;
    }
}

enum Then {
    Next,
    Jump(usize),
    Throw,
    Return(i32),
}

struct Machine<'m, 'a> {
    pool: &'m ConstantPool<'a>,
    code: &'m Code<'m, 'a>,
    stack: Vec<Value>,
    locals: [Value; 8],
}

impl Machine<'_, '_> {
    fn pop(&mut self) -> Value {
        self.stack.pop().expect("a value on the stack")
    }

    fn push_int(&mut self, value: i32) {
        self.stack.push(Value::Int(value));
    }

    fn handler(&mut self, pc: usize) -> Option<usize> {
        let covers = |h: &classfile::ExceptionHandler| (usize::from(h.start)..usize::from(h.end)).contains(&pc);
        let handler = self.code.exception_handlers().find(covers);
        self.stack.clear();
        self.stack.push(Value::Object(0));
        handler.map(|h| usize::from(h.handler))
    }

    fn step(&mut self, pc: usize, next: usize, calls: &mut Vec<i32>) -> Then {
        let bytes = self.code.bytes();
        let u8_at = |at: usize| bytes[pc + at];
        let i16_at = |at: usize| i16::from_be_bytes([u8_at(at), u8_at(at + 1)]);
        let i32_at = |at: usize| i32::from_be_bytes(*bytes[at..].first_chunk().unwrap());
        let jump = |distance: i32| Then::Jump((pc as i32 + distance) as usize);
        match bytes[pc] {
            op::NOP => {}
            op::ATHROW => return Then::Throw,
            value @ op::ICONST_M1..=8 => self.push_int(i32::from(value) - 3),
            op::BIPUSH => self.push_int(i32::from(u8_at(1) as i8)),
            op::SIPUSH => self.push_int(i32::from(i16_at(1))),
            op::LDC => self.load_constant(u16::from(u8_at(1))),
            op::LDC_W => self.load_constant(i16_at(1) as u16),
            op::ILOAD => self.stack.push(self.locals[usize::from(u8_at(1))]),
            op::ISTORE | op::ASTORE => self.locals[usize::from(u8_at(1))] = self.pop(),
            op::POP => drop(self.pop()),
            op::POP2 => drop((self.pop(), self.pop())),
            op::DUP => self.stack.extend_from_within(self.stack.len() - 1..),
            op::DUP2 => self.stack.extend_from_within(self.stack.len() - 2..),
            op::SWAP => {
                let top = self.stack.len() - 1;
                self.stack.swap(top, top - 1);
            }
            arithmetic @ (op::IADD | 100 | 104 | 108 | 126 | 130) => {
                let (b, a) = (self.pop().int(), self.pop().int());
                if arithmetic == 108 && b == 0 {
                    return Then::Throw;
                }
                self.push_int(match arithmetic {
                    op::IADD => a.wrapping_add(b),
                    100 => a.wrapping_sub(b),
                    104 => a.wrapping_mul(b),
                    108 => a.wrapping_div(b),
                    126 => a & b,
                    _ => a ^ b,
                });
            }
            op::IINC => self.increment(u8_at(1), i32::from(u8_at(2) as i8)),
            opcode @ op::IFEQ..=158 => {
                if compare(opcode - op::IFEQ, self.pop().int(), 0) {
                    return jump(i32::from(i16_at(1)));
                }
            }
            opcode @ 159..=164 => {
                let (b, a) = (self.pop().int(), self.pop().int());
                if compare(opcode - 159, a, b) {
                    return jump(i32::from(i16_at(1)));
                }
            }
            op::GOTO => return jump(i32::from(i16_at(1))),
            op::GOTO_W => return jump(i32_at(pc + 1)),
            opcode @ (op::JSR | op::JSR_W) => {
                self.stack.push(Value::Address(next));
                return jump(if opcode == op::JSR { i32::from(i16_at(1)) } else { i32_at(pc + 1) });
            }
            op::RET => return self.ret(u8_at(1)),
            op::TABLESWITCH => {
                let at = (pc + 4) & !3;
                let (low, high) = (i32_at(at + 4), i32_at(at + 8));
                let key = self.pop().int();
                let case = if (low..=high).contains(&key) { at + 12 + (key - low) as usize * 4 } else { at };
                return jump(i32_at(case));
            }
            op::LOOKUPSWITCH => {
                let at = (pc + 4) & !3;
                let key = self.pop().int();
                let mut cases = (0..i32_at(at + 4) as usize).map(|i| at + 8 + i * 8);
                let case = cases.find(|&case| i32_at(case) == key);
                return jump(i32_at(case.map_or(at, |case| case + 4)));
            }
            op::IRETURN => return Then::Return(self.pop().int()),
            op::INVOKESTATIC => calls.push(self.pop().int()),
            op::NEW => self.stack.push(Value::Object(0)),
            op::NEWARRAY => {
                let length = self.pop().int();
                self.stack.push(Value::Object(length));
            }
            op::ARRAYLENGTH => match self.pop() {
                Value::Object(length) => self.push_int(length),
                other => panic!("{other:?} is no array"),
            },
            op::WIDE => match u8_at(1) {
                op::ILOAD => self.stack.push(self.locals[i16_at(2) as usize]),
                op::IINC => self.increment(u8_at(3), i32::from(i16_at(4))),
                op::RET => return self.ret(u8_at(3)),
                other => panic!("wide {other} is not made"),
            },
            other => panic!("opcode {other} is not made"),
        }
        Then::Next
    }

    fn increment(&mut self, local: u8, by: i32) {
        let local = &mut self.locals[usize::from(local)];
        *local = Value::Int(local.int().wrapping_add(by));
    }

    fn load_constant(&mut self, index: u16) {
        match self.pool.get(index) {
            Some(Constant::Integer(value)) => self.push_int(value),
            other => panic!("{other:?} is no int"),
        }
    }

    fn ret(&self, local: u8) -> Then {
        match self.locals[usize::from(local)] {
            Value::Address(to) => Then::Jump(to),
            other => panic!("{other:?} is no address"),
        }
    }
}

fn compare(condition: u8, a: i32, b: i32) -> bool {
    match condition {
        0 => a == b,
        1 => a != b,
        2 => a < b,
        3 => a >= b,
        4 => a > b,
        _ => a <= b,
    }
}
