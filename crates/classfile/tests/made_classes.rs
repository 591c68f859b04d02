//! Limits, tables and refusals, on classes made for each.

mod support;

use classfile::{
    ClassFile, CodeLayout, Insert, Instruction, Instrument, MethodView, Op, OpcodeSet, Refusal, StaticMethod,
    opcode as op,
};
use support::assembler::{Asm, Builder, Type};

const HOOK: StaticMethod = StaticMethod { class: "Hook", name: "hook", descriptor: "()V" };

/// Inserts at every instruction of one opcode.
struct At {
    opcode: u8,
    before: Vec<Op<'static>>,
    after: Vec<Op<'static>>,
}

impl At {
    /// Three bytes in front of each `nop` and six behind.
    fn nops() -> Self {
        let call = Op::InvokeStatic(&HOOK);
        At { opcode: op::NOP, before: vec![call], after: vec![call; 2] }
    }

    fn before(opcode: u8, ops: &[Op<'static>]) -> Self {
        At { opcode, before: ops.to_vec(), after: Vec::new() }
    }

    fn after(opcode: u8, ops: &[Op<'static>]) -> Self {
        At { opcode, before: Vec::new(), after: ops.to_vec() }
    }
}

impl Instrument for At {
    fn method(&mut self, _: &MethodView<'_>) -> bool {
        true
    }

    fn opcodes(&self) -> OpcodeSet {
        OpcodeSet::of(&[self.opcode])
    }

    fn instruction(&mut self, _: &MethodView<'_>, _: &Instruction<'_>, insert: &mut Insert<'_>) {
        insert.before(&self.before);
        insert.after(&self.after);
    }
}

/// Calls its hook in front of each `nop`, and looks for texts that classes have in common.
struct Sparing;

impl Instrument for Sparing {
    fn method(&mut self, _: &MethodView<'_>) -> bool {
        true
    }

    fn common_texts(&self) -> &'static [&'static str] {
        &["Code", "()V", "in no class"]
    }

    fn instruction(&mut self, _: &MethodView<'_>, instruction: &Instruction<'_>, insert: &mut Insert<'_>) {
        const HOOK: StaticMethod = StaticMethod { class: "Hook", name: "Code", descriptor: "()V" };
        if instruction.opcode() == op::NOP {
            insert.before(&[Op::InvokeStatic(&HOOK)]);
        }
    }
}

/// A class with one method `m()` of this code.
fn class_of(code: &[u8]) -> Vec<u8> {
    with_method(|_, asm| asm.emit(code))
}

fn with_method(fill: impl FnOnce(&mut Builder, &mut Asm)) -> Vec<u8> {
    let mut class = Builder::new("Made", 61, 0);
    let mut asm = Asm::new(1, 4);
    fill(&mut class, &mut asm);
    class.method("m", "()V", asm);
    class.finish()
}

/// The new class; nothing may be refused.
fn rewritten(class: &[u8], mut instrument: impl Instrument) -> Vec<u8> {
    let done = classfile::rewrite(class, &mut instrument).unwrap();
    assert_eq!(done.refused, []);
    done.bytes.expect("something is inserted")
}

/// The reason why the one method is refused; the class must be left alone.
fn refusal(class: &[u8], mut instrument: impl Instrument) -> Refusal {
    let done = classfile::rewrite(class, &mut instrument).unwrap();
    assert_eq!((done.bytes, done.inserted_sites), (None, 0));
    let [refused] = done.refused[..] else { panic!("{:?}", done.refused) };
    assert_eq!((refused.name, refused.descriptor), (&b"m"[..], &b"()V"[..]));
    refused.reason
}

/// The code of the first method.
fn code_of(class: &[u8]) -> Vec<u8> {
    ClassFile::parse(class).unwrap().methods().next().unwrap().code().unwrap().bytes().to_vec()
}

/// An attribute of the code of the first method.
fn attribute_of(class: &[u8], name: &str) -> Option<Vec<u8>> {
    let parsed = ClassFile::parse(class).unwrap();
    let code = parsed.methods().next().unwrap().code().unwrap();
    code.attributes().find(|a| a.name == name.as_bytes()).map(|a| a.data.to_vec())
}

fn words(words: &[u16]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

#[test]
fn nothing_to_insert_is_no_copy() {
    let class = class_of(&[op::RETURN]);
    let done = classfile::rewrite(&class, &mut At::nops()).unwrap();
    assert_eq!((done.bytes, done.inserted_sites), (None, 0));
    // A class that says nothing about its nops is the same.
    let class = class_of(&[op::NOP, op::RETURN]);
    let done = classfile::rewrite(&class, &mut At::before(op::NOP, &[])).unwrap();
    assert_eq!((done.bytes, done.inserted_sites, done.refused), (None, 0, vec![]));
}

#[test]
fn texts_that_the_class_has_are_not_appended() {
    let class = class_of(&[op::NOP, op::NOP, op::RETURN]);
    let new = rewritten(&class, Sparing);
    let (old, new) = (ClassFile::parse(&class).unwrap(), ClassFile::parse(&new).unwrap());
    // Utf8 and Class of the class, NameAndType, Methodref.
    assert_eq!(new.pool().count() - old.pool().count(), 4);
    let method = new.methods().next().unwrap();
    let called = method.code().unwrap().instructions().next().unwrap().member_operand().unwrap();
    assert_eq!((called.owner, called.name, called.descriptor), (&b"Hook"[..], &b"Code"[..], &b"()V"[..]));
}

#[test]
fn insertions_stand_in_front_and_behind() {
    let class = class_of(&[op::ICONST_0, op::NOP, op::POP, op::RETURN]);
    let new = rewritten(&class, At::nops());
    let parsed = ClassFile::parse(&new).unwrap();
    let hook = parsed.pool().count() - 1;
    let [high, low] = hook.to_be_bytes();
    let call = [op::INVOKESTATIC, high, low];
    let expected = [&[op::ICONST_0][..], &call, &[op::NOP], &call, &call, &[op::POP, op::RETURN]].concat();
    assert_eq!(code_of(&new), expected);
    let texts = |class| ClassFile::parse(class).unwrap().pool().texts().count();
    assert_eq!(texts(&new), texts(&class) + 3);
    // Utf8 and Class of the class, Utf8s of name and descriptor, NameAndType, Methodref.
    assert_eq!(hook + 1 - ClassFile::parse(&class).unwrap().pool().count(), 6);
    let method = parsed.methods().next().unwrap();
    let instruction = method.code().unwrap().instructions().nth(1).unwrap().member_operand().unwrap();
    assert_eq!(
        (instruction.owner, instruction.name, instruction.descriptor),
        (&b"Hook"[..], &b"hook"[..], &b"()V"[..])
    );
}

/// One method of two is refused: the other is rewritten, and the first stays byte for byte what it was.
#[test]
fn a_refused_method_stays_as_it_was() {
    let mut class = Builder::new("Made", 61, 0);
    for (name, last) in [("bad", 255), ("good", op::RETURN)] {
        let mut asm = Asm::new(0, 0);
        asm.emit(&[op::NOP, last]);
        class.method(name, "()V", asm);
    }
    let class = class.finish();
    let done = classfile::rewrite(&class, &mut At::nops()).unwrap();
    assert_eq!(done.inserted_sites, 1);
    assert_eq!(done.refused.len(), 1);
    assert_eq!((done.refused[0].name, done.refused[0].reason), (&b"bad"[..], Refusal::MalformedCode));
    let new = done.bytes.unwrap();
    assert_eq!(code_of(&new), [op::NOP, 255]);
    assert_eq!(ClassFile::parse(&new).unwrap().methods().nth(1).unwrap().code().unwrap().bytes().len(), 2 + 9);
}

#[test]
fn code_may_have_65535_bytes_and_no_more() {
    for (nops, reason) in [(65_534 - 9, None), (65_534 - 8, Some(Refusal::CodeTooLarge))] {
        // One nop is found by its wide neighbour: the rest are pops, which nothing is inserted at.
        let mut code = vec![op::POP; nops - 1];
        code.extend([op::NOP, op::RETURN]);
        let class = class_of(&code);
        match reason {
            None => assert_eq!(code_of(&rewritten(&class, At::nops())).len(), 65_535),
            Some(reason) => assert_eq!(refusal(&class, At::nops()), reason),
        }
    }
}

#[test]
fn the_stack_is_raised_by_the_deepest_insertion_up_to_its_limit() {
    let deep = [Op::PushInt(1), Op::PushInt(2), Op::Pop2, Op::Dup2, Op::Pop2];
    let make = |max_stack| {
        let mut class = Builder::new("Made", 61, 0);
        let mut asm = Asm::new(max_stack, 0);
        asm.emit(&[op::NOP, op::RETURN]);
        class.method("m", "()V", asm);
        class.finish()
    };
    let stack = |class: &[u8]| ClassFile::parse(class).unwrap().methods().next().unwrap().code().unwrap().max_stack();
    assert_eq!(stack(&rewritten(&make(7), At::before(op::NOP, &deep))), 9);
    assert_eq!(stack(&rewritten(&make(65_533), At::before(op::NOP, &deep))), 65_535);
    assert_eq!(refusal(&make(65_534), At::before(op::NOP, &deep)), Refusal::StackTooDeep);
}

#[test]
fn the_first_class_files_keep_their_short_fields() {
    let make = |max_stack| {
        let mut class = Builder::new("Made", 45, 0);
        let mut asm = Asm::new(max_stack, 3);
        asm.emit(&[op::NOP, op::RETURN]);
        class.method("m", "()V", asm);
        class.finish()
    };
    let push = [Op::PushInt(1), Op::Pop];
    let class = make(254);
    assert_eq!(ClassFile::parse(&class).unwrap().to_bytes(), class);
    let new = rewritten(&class, At::before(op::NOP, &push));
    let parsed = ClassFile::parse(&new).unwrap();
    let code = parsed.methods().next().unwrap().code().unwrap();
    assert_eq!((code.layout(), code.max_stack(), code.max_locals()), (CodeLayout::Short, 255, 3));
    assert_eq!(code.bytes(), [4, op::POP, op::NOP, op::RETURN]);
    assert_eq!(refusal(&make(255), At::before(op::NOP, &push)), Refusal::StackTooDeep);
}

#[test]
fn a_full_constant_pool_is_not_overrun() {
    // HOOK needs six constants.
    for (free, fits) in [(6, true), (5, false)] {
        let class = with_method(|class, asm| {
            asm.emit(&[op::NOP, op::RETURN]);
            // The method takes two for its own name and descriptor.
            while class.pool.count < 65_535 - 2 - free {
                class.pool.int(7);
            }
        });
        let count = |class: &[u8]| ClassFile::parse(class).unwrap().pool().count();
        assert_eq!(count(&class), 65_535 - free);
        if fits {
            assert_eq!(count(&rewritten(&class, At::nops())), 65_535);
        } else {
            assert_eq!(refusal(&class, At::nops()), Refusal::ConstantPoolFull);
        }
    }
}

#[test]
fn broken_code_is_refused_by_name() {
    let cases: [(&[u8], Refusal); 8] = [
        (&[op::NOP, 202], Refusal::MalformedCode),
        (&[op::NOP, op::SIPUSH, 0], Refusal::MalformedCode),
        (&[op::NOP, op::WIDE, op::NOP, 0, 0], Refusal::MalformedCode),
        (&[op::NOP, op::TABLESWITCH, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 8], Refusal::MalformedCode),
        (&[op::NOP, op::LOOKUPSWITCH, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255], Refusal::MalformedCode),
        (&[op::NOP, op::GOTO, 0, 100], Refusal::BadBranchTarget),
        (&[op::NOP, op::GOTO, 0, 3], Refusal::BadBranchTarget),
        (&[op::NOP, op::GOTO, 0, 1, op::GOTO_W, 255, 255, 255, 0], Refusal::BadBranchTarget),
    ];
    for (code, reason) in cases {
        assert_eq!(refusal(&class_of(code), At::nops()), reason, "{code:?}");
    }
}

#[test]
fn broken_tables_are_refused_by_name() {
    let with_attribute = |name: &str, data: &[u8]| {
        with_method(|class, asm| {
            let name = class.pool.utf8(name);
            asm.emit(&[op::NOP, op::SIPUSH, 0, 0, op::RETURN]);
            asm.attribute(name, data.to_vec());
        })
    };
    let cases: [(&str, &[u8], Refusal); 12] = [
        ("StackMapTable", &[0, 1], Refusal::MalformedStackMap),
        ("StackMapTable", &[0, 1, 2], Refusal::MalformedStackMap), // inside sipush
        ("StackMapTable", &[0, 1, 5], Refusal::MalformedStackMap), // the end of the code
        ("StackMapTable", &[0, 1, 200, 0, 0], Refusal::MalformedStackMap),
        ("StackMapTable", &[0, 1, 65, 9], Refusal::MalformedStackMap),
        ("StackMapTable", &[0, 1, 65, 8, 0, 2], Refusal::MalformedStackMap),
        ("StackMapTable", &[0, 1, 1, 0], Refusal::MalformedStackMap),
        ("LineNumberTable", &[0, 1, 0, 6, 0, 1], Refusal::MalformedDebugTable),
        ("LineNumberTable", &[0, 2, 0, 0, 0, 1], Refusal::MalformedDebugTable),
        ("LocalVariableTable", &[0, 1, 0, 0, 0, 6, 0, 1, 0, 1, 0, 0], Refusal::MalformedDebugTable),
        ("RuntimeVisibleTypeAnnotations", &[0, 1, 0x99], Refusal::MalformedTypeAnnotations),
        ("RuntimeInvisibleTypeAnnotations", &[0, 0, 0], Refusal::MalformedTypeAnnotations),
    ];
    for (name, data, reason) in cases {
        assert_eq!(refusal(&with_attribute(name, data), At::nops()), reason, "{name} {data:?}");
    }
    for (start, end, handler) in [(0, 4, 1), (2, 4, 1), (0, 2, 1), (0, 4, 2)] {
        let class = with_method(|_, asm| {
            let pcs: Vec<_> = [op::NOP, op::SIPUSH, 0, 0, op::RETURN]
                .into_iter()
                .map(|byte| {
                    let here = asm.here();
                    asm.emit(&[byte]);
                    here
                })
                .collect();
            asm.handler(pcs[start], pcs[end], pcs[handler], 0);
        });
        if (start, end, handler) == (0, 4, 1) {
            rewritten(&class, At::nops());
        } else {
            assert_eq!(refusal(&class, At::nops()), Refusal::MalformedExceptionTable);
        }
    }
}

#[test]
fn wrong_insertions_are_refused() {
    const BAD: StaticMethod = StaticMethod { class: "Hook", name: "hook", descriptor: "(Q)V" };
    let class = class_of(&[op::NOP, op::RETURN]);
    for wrong in [
        At::before(op::NOP, &[Op::Dup]),
        At::after(op::NOP, &[Op::PushInt(1)]),
        At::before(op::NOP, &[Op::InvokeStatic(&BAD)]),
        At::after(op::RETURN, &[Op::InvokeStatic(&HOOK)]),
    ] {
        assert_eq!(refusal(&class, wrong), Refusal::InvalidInsertion);
    }
    let class = class_of(&[op::WIDE, op::RET, 0, 1]);
    assert_eq!(refusal(&class, At::after(op::WIDE, &[Op::InvokeStatic(&HOOK)])), Refusal::InvalidInsertion);
}

#[test]
fn lines_and_variables_move_with_their_instructions() {
    let class = with_method(|class, asm| {
        let names = ["LineNumberTable", "LocalVariableTable", "LocalVariableTypeTable"].map(|n| class.pool.utf8(n));
        asm.emit(&[op::ICONST_0, op::NOP, op::POP, op::NOP, op::RETURN]);
        asm.attribute(names[0], words(&[3, 0, 10, 1, 11, 4, 12]));
        // Two variables: from the first nop to the second, and from pop to the end.
        let variables = words(&[2, 1, 2, 1, 1, 0, 2, 3, 1, 1, 1]);
        asm.attribute(names[1], variables.clone());
        asm.attribute(names[2], variables);
    });
    let new = rewritten(&class, At::nops());
    // Each nop gets 3 bytes in front and 6 behind: it stands at 4 and 15, pop at 11, return at 22.
    assert_eq!(attribute_of(&new, "LineNumberTable"), Some(words(&[3, 0, 10, 1, 11, 22, 12])));
    let variables = words(&[2, 1, 11, 1, 1, 0, 11, 12, 1, 1, 1]);
    assert_eq!(attribute_of(&new, "LocalVariableTable"), Some(variables.clone()));
    assert_eq!(attribute_of(&new, "LocalVariableTypeTable"), Some(variables));
    let parsed = ClassFile::parse(&new).unwrap();
    let lines = parsed.methods().next().unwrap().code().unwrap().lines();
    assert_eq!([0, 1, 10, 22, 23].map(|pc| lines.line(pc)), [10, 11, 11, 12, 12].map(Some));
}

/// Every target that a type annotation in code can have (JVMS table 4.7.20-B), and an annotation in an annotation.
#[test]
fn type_annotations_move_with_their_instructions() {
    let value = |target: &[u8]| {
        // Target, empty path, type 1, one pair: name 1, an array of an int, an enum and an annotation.
        let pair = [0, 1, b'[', 0, 3, b'I', 0, 1, b'e', 0, 1, 0, 1, b'@', 0, 1, 0, 0];
        [target, &[0, 0, 1, 0, 1], &pair].concat()
    };
    let annotations = |new: u8, nop: u8, after: u8| {
        let targets: [&[u8]; 14] = [
            &[0x40, 0, 2, 0, nop, 0, after - nop, 0, 1, 0, 0, 0, nop, 0, 2],
            &[0x41, 0, 0],
            &[0x42, 0, 3],
            &[0x43, 0, new],
            &[0x44, 0, new],
            &[0x45, 0, new],
            &[0x46, 0, new],
            &[0x47, 0, new, 1],
            &[0x48, 0, new, 2],
            &[0x4B, 0, new, 3],
            // An offset that names no instruction stays as it is.
            &[0x44, 255, 255],
            // These do not occur in code, but have a form.
            &[0x13],
            &[0x16, 7],
            &[0x17, 0, 7],
        ];
        [&[0, targets.len() as u8][..], &targets.map(value).concat()].concat()
    };
    let class = with_method(|class, asm| {
        let names = ["RuntimeVisibleTypeAnnotations", "RuntimeInvisibleTypeAnnotations"].map(|n| class.pool.utf8(n));
        asm.emit(&[op::NOP]);
        asm.with_index(op::NEW, class.object());
        asm.emit(&[op::POP, op::NOP, op::RETURN]);
        names.iter().for_each(|&name| asm.attribute(name, annotations(1, 0, 5)));
    });
    let before_new = rewritten(&class, At::before(op::NEW, &[Op::InvokeStatic(&HOOK)]));
    for name in ["RuntimeVisibleTypeAnnotations", "RuntimeInvisibleTypeAnnotations"] {
        // The annotation is of `new` itself, which is now at 4; the variable's range begins where branches go.
        assert_eq!(attribute_of(&before_new, name), Some(annotations(4, 0, 8)));
    }
}

#[test]
fn unknown_attributes_stay_and_known_useless_ones_go() {
    let class = with_method(|class, asm| {
        let names = ["Unknown", "StackMap", "CharacterRangeTable"].map(|name| class.pool.utf8(name));
        asm.emit(&[op::NOP, op::RETURN]);
        names.iter().for_each(|&name| asm.attribute(name, vec![0, 0]));
    });
    assert!(ClassFile::parse(&class).unwrap().to_bytes() == class);
    let new = rewritten(&class, At::nops());
    assert_eq!(attribute_of(&new, "Unknown"), Some(vec![0, 0]));
    assert_eq!(attribute_of(&new, "StackMap"), None);
    assert_eq!(attribute_of(&new, "CharacterRangeTable"), None);
}

/// Frames name the `new` instruction, not what is inserted in front of it; branches go in front of that.
#[test]
fn frames_of_uninitialized_objects_follow_the_new_instruction() {
    let class = with_method(|class, asm| {
        let top = asm.here();
        asm.with_index(op::NEW, class.object());
        let after = asm.here();
        asm.frame(after, &[], &[Type::Uninitialized(top)]);
        asm.emit(&[op::POP]);
        asm.branch(op::GOTO, top);
    });
    assert_eq!(attribute_of(&class, "StackMapTable"), Some(vec![0, 1, 64 + 3, 8, 0, 0]));
    let new = rewritten(&class, At::before(op::NEW, &[Op::InvokeStatic(&HOOK)]));
    assert_eq!(attribute_of(&new, "StackMapTable"), Some(vec![0, 1, 64 + 6, 8, 0, 3]));
    assert!(code_of(&new).ends_with(&[op::POP, op::GOTO, 255, 249]));
}

/// A frame of many locals, repeated by thousands of short ones, may not take gigabytes.
#[test]
fn frames_out_of_proportion_are_refused() {
    let class = with_method(|class, asm| {
        let name = class.pool.utf8("StackMapTable");
        let far = asm.label();
        asm.emit(&[op::ICONST_0]);
        asm.branch(op::IFEQ, far);
        asm.emit(&[op::NOP]);
        asm.emit(&[op::POP; 30_000]);
        asm.bind(far);
        asm.emit(&[op::RETURN]);
        // A full frame at the first pop, and one byte for each pop behind it and for the return.
        let mut table = words(&[30_001]);
        table.extend([255, 0, 5]);
        table.extend(words(&[60_000]));
        table.resize(table.len() + 60_000, 1);
        table.extend([0, 0]);
        table.resize(table.len() + 30_000, 0);
        asm.attribute(name, table);
    });
    rewritten(&class, At::after(op::NOP, &[Op::InvokeStatic(&HOOK)]));
    // Enough to put 32 KiB between the branch and its target, and so to need a relay.
    assert_eq!(refusal(&class, At::after(op::NOP, &[Op::InvokeStatic(&HOOK); 1_000])), Refusal::FramesTooLarge);
}
