//! Rewrites arbitrary bytes. The first byte says where and how much is inserted, the rest is the class.
//!
//! Whatever comes out must be a class again, with the same methods, each with the same instructions in the
//! same order when the inserted ones are left out of the count.
#![no_main]

use classfile::{ClassFile, Insert, Instruction, Instrument, MethodView, Op, StaticMethod};
use libfuzzer_sys::fuzz_target;

const HOOK: StaticMethod = StaticMethod {
    class: "Hook",
    name: "hook",
    descriptor: "(I)V",
};

struct Everywhere {
    mode: u8,
    ops: Vec<Op<'static>>,
}

impl Everywhere {
    fn new(mode: u8) -> Self {
        // Long insertions make short code pass 32 KiB, where branches have to be widened.
        let repeat = [1, 40, 400, 3_000][usize::from(mode & 3)];
        let ops = [Op::PushInt(100_000), Op::InvokeStatic(&HOOK)].repeat(repeat);
        Everywhere { mode, ops }
    }
}

impl Instrument for Everywhere {
    fn method(&mut self, method: &MethodView<'_>) -> bool {
        let _ = method.line(7);
        true
    }

    fn instruction(&mut self, method: &MethodView<'_>, i: &Instruction<'_>, insert: &mut Insert<'_>) {
        let _ = (i.class_operand(), i.member_operand(), i.array_kind(), i.dimensions());
        let _ = method.line(i.pc());
        // Few sites for long insertions, else nothing fits into 64 KiB.
        let rare = u8::try_from(i.pc()).unwrap_or(255) ^ self.mode;
        match self.mode & 0x1C {
            0x00 => insert.before(&self.ops),
            0x04 if rare & 3 == 1 => insert.before(&self.ops),
            0x08 if rare & 7 == 2 => insert.after(&self.ops),
            0x0C if rare & 15 == 3 => insert.before(&self.ops),
            0x10 if rare & 31 == 4 => insert.after(&self.ops),
            0x14 if rare & 31 == 5 => insert.before(&self.ops),
            0x18 if i.opcode() == 187 => insert.after(&self.ops),
            0x1C if i.opcode() == 177 => insert.before(&self.ops),
            _ => {}
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&mode, class)) = data.split_first() else {
        return;
    };
    let Ok(before) = ClassFile::parse(class) else {
        return;
    };
    let _ = before.to_bytes();
    let _ = (before.source_file(), before.interfaces().count());
    let rewritten = classfile::rewrite(class, &mut Everywhere::new(mode)).expect("it was parsed before");
    let Some(bytes) = rewritten.bytes else {
        assert_eq!(rewritten.inserted_sites, 0);
        return;
    };
    assert!(rewritten.inserted_sites > 0);
    let after = ClassFile::parse(&bytes).expect("a rewritten class is a class");
    assert_eq!(before.methods().count(), after.methods().count());
    for (old, new) in before.methods().zip(after.methods()) {
        assert_eq!((old.name(), old.descriptor()), (new.name(), new.descriptor()));
        let (Some(old), Some(new)) = (old.code(), new.code()) else {
            continue;
        };
        if old.instructions().map(|i| i.bytes().len()).sum::<usize>() == old.bytes().len() {
            let read: usize = new.instructions().map(|i| i.bytes().len()).sum();
            assert_eq!(read, new.bytes().len(), "the new code can be read to its end");
        }
    }
});
