//! Guards at the head of a method: their code, and the frame behind them.

mod support;

use classfile::{
    ClassFile, Guard, Insert, Instruction, Instrument, MethodView, Op, OpcodeSet, Refusal, StaticMethod, opcode as op,
};
use support::assembler::{Asm, Builder, Label, Type};

const APPLIES: StaticMethod = StaticMethod { class: "G", name: "applies", descriptor: "(Ljava/lang/String;)Z" };
const RESULT: StaticMethod =
    StaticMethod { class: "G", name: "find", descriptor: "(Ljava/lang/String;)Ljava/lang/Class;" };
const LENGTH: u16 = 12;

/// Guards each method, and inserts so much in front of each `nop`.
struct Guarding {
    result: StaticMethod,
    nops: usize,
}

impl Guarding {
    const PLAIN: Guarding = Guarding { result: RESULT, nops: 0 };
}

impl Instrument for Guarding {
    fn method(&mut self, _: &MethodView<'_>) -> bool {
        true
    }

    fn opcodes(&self) -> OpcodeSet {
        OpcodeSet::of(if self.nops > 0 { &[op::NOP] } else { &[] })
    }

    fn guard(&self, _: &MethodView<'_>) -> Option<Guard> {
        Some(Guard { applies: APPLIES, result: self.result })
    }

    fn instruction(&mut self, _: &MethodView<'_>, _: &Instruction<'_>, insert: &mut Insert<'_>) {
        insert.before(&vec![[Op::PushInt(1), Op::Pop]; self.nops].concat());
    }
}

/// A class with one method `m`, as of an instance with a reference argument.
fn class(major: u16, fill: impl FnOnce(&mut Asm, Label)) -> Vec<u8> {
    let mut class = Builder::new("Made", major, 0);
    let mut asm = Asm::new(0, 2);
    asm.initial = vec![Type::Object(class.object()); 2];
    let start = asm.here();
    fill(&mut asm, start);
    class.method("m", "(Ljava/lang/Object;Ljava/lang/Object;)V", asm);
    class.finish()
}

/// Code and frames, if there are some, of the method behind a guard.
fn guarded(class: &[u8], mut instrument: Guarding) -> (Vec<u8>, Option<Vec<u8>>) {
    let done = classfile::rewrite(class, &mut instrument).unwrap();
    assert_eq!(done.refused, []);
    let bytes = done.bytes.expect("it has a guard");
    let parsed = ClassFile::parse(&bytes).unwrap();
    let code = parsed.methods().next().unwrap().code().unwrap();
    assert_eq!(code.max_stack(), 1);
    let calls: Vec<_> = code.instructions().filter_map(|instruction| instruction.member_operand()).take(2).collect();
    assert_eq!(calls.iter().map(|call| call.name).collect::<Vec<_>>(), [&b"applies"[..], b"find"]);
    let (guard, rest) = code.bytes().split_at(LENGTH.into());
    assert!(matches!(
        *guard,
        [op::ALOAD_1, op::INVOKESTATIC, _, _, op::IFEQ, 0, 8, op::ALOAD_1, op::INVOKESTATIC, _, _, op::ARETURN]
    ));
    let frames = code.attributes().find(|attribute| attribute.name == b"StackMapTable");
    (rest.to_vec(), frames.map(|attribute| attribute.data.to_vec()))
}

#[test]
fn the_method_begins_with_a_frame_of_its_own() {
    let plain = |asm: &mut Asm, _| asm.emit(&[op::RETURN]);
    assert_eq!(guarded(&class(61, plain), Guarding::PLAIN), (vec![op::RETURN], Some(vec![0, 1, 12])));
    assert_eq!(guarded(&class(49, plain), Guarding::PLAIN), (vec![op::RETURN], None));
    // Its next frame is told from there on.
    let later = class(61, |asm, _| {
        asm.emit(&[op::NOP, op::NOP]);
        let later = asm.here();
        asm.frame(later, &asm.initial.clone(), &[]);
        asm.branch(op::GOTO, later);
    });
    assert_eq!(guarded(&later, Guarding::PLAIN).1, Some(vec![0, 2, 12, 1]));
}

#[test]
fn a_loop_to_the_beginning_passes_the_guard_by() {
    let endless = class(61, |asm, start| {
        asm.frame(start, &asm.initial.clone(), &[]);
        asm.branch(op::GOTO, start);
    });
    assert_eq!(guarded(&endless, Guarding::PLAIN), (vec![op::GOTO, 0, 0], Some(vec![0, 1, 12])));
}

#[test]
fn relays_stand_behind_the_guard() {
    let far = class(61, |asm, start| {
        let end = asm.label();
        asm.frame(start, &asm.initial.clone(), &[]);
        asm.emit(&[3]); // iconst_0
        asm.branch(op::IFEQ, end);
        asm.emit(&[op::POP; 32_700]);
        asm.emit(&[op::NOP; 30]);
        asm.bind(end);
        asm.frame(end, &asm.initial.clone(), &[]);
        asm.emit(&[op::RETURN]);
    });
    let (rest, frames) = guarded(&far, Guarding { result: RESULT, nops: 1 });
    // A jump over the relay, and the relay.
    assert_eq!(rest[..6], [op::GOTO_W, 0, 0, 0, 10, op::GOTO_W]);
    let frames = frames.expect("they are written in full");
    // Behind the guard, at the relay, where the method begins, and at its end.
    assert_eq!(frames[..5], [0, 4, 255, 0, LENGTH as u8]);
}

#[test]
fn a_guard_takes_the_argument_and_returns_a_reference() {
    let plain = class(61, |asm, _| asm.emit(&[op::RETURN]));
    let result = StaticMethod { descriptor: "()Ljava/lang/Class;", ..RESULT };
    let done = classfile::rewrite(&plain, &mut Guarding { result, nops: 0 }).unwrap();
    assert_eq!((done.bytes, done.refused[0].reason), (None, Refusal::InvalidInsertion));
}
