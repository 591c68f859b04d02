//! Classes that no compiler makes, rewritten all over and run on real JVMs: they must verify and give what they gave.

use std::collections::BTreeMap;
use std::fs;

use bci_tests::jdk::Jdk;
use bci_tests::process;
use bci_tests::suite::Suite;
use bci_tests::workdir::Workdir;
use classfile::{ClassFile, Refusal, opcode as op};

use super::Tools;
use super::support::assembler::{Asm, Builder, Type};
use super::support::random_class::{RandomSites, Shape, make};

pub(super) fn tests(suite: &mut Suite) {
    suite.each_jdk(random_classes_verify_and_run_as_they_did);
    suite.each_jdk(uninitialized_objects_in_frames_verify);
    suite.each_jdk(far_conditional_branches_verify_in_every_place);
}

/// What the JVM says to each class of a folder, and how often the probe was called.
fn run(jdk: &Jdk, classes: &BTreeMap<String, Vec<u8>>) -> (Vec<String>, u64) {
    let folder = Workdir::new();
    for (name, bytes) in classes {
        fs::write(folder.join(name), bytes).unwrap();
    }
    let mut java = Tools::get().verifying_jvm(jdk, None);
    let out = process::run(java.arg("RunMade").arg(folder.path())).success().out();
    let mut lines: Vec<String> = out.lines().map(str::to_owned).collect();
    let calls = lines.pop().and_then(|line| line.strip_prefix("news ")?.parse().ok());
    (lines, calls.expect("RunMade ends with the number of calls"))
}

/// Rewrites each class in several ways, those that become too long left out, and runs all; returns the length of the longest code.
fn assert_same_results(jdk: &Jdk, originals: &BTreeMap<String, Vec<u8>>, ways: impl Fn(u64) -> RandomSites) -> usize {
    let mut rewritten = BTreeMap::new();
    let mut longest = 0;
    for (name, class) in originals {
        for way in 0..6 {
            let done = classfile::rewrite(class, &mut ways(way)).unwrap();
            if let [refused] = done.refused[..] {
                assert_eq!(refused.reason, Refusal::CodeTooLarge, "{name}");
                continue;
            }
            let new = done.bytes.expect("something is inserted");
            let parsed = ClassFile::parse(&new).unwrap();
            let lengths = parsed.methods().map(|m| m.code().unwrap().bytes().len());
            longest = longest.max(lengths.max().unwrap());
            rewritten.insert(format!("{name}~{way}"), new);
        }
    }
    let (before, none) = run(jdk, originals);
    assert_eq!((before.len(), none), (originals.len() * 5, 0), "each class runs as it is: {before:?}");
    let (after, calls) = run(jdk, &rewritten);
    let mut expected = Vec::new();
    for (group, name) in before.chunks(5).zip(originals.keys()) {
        for new in (0..6).map(|way| format!("{name}~{way}")).filter(|new| rewritten.contains_key(new)) {
            expected.extend(group.iter().map(|line| line.replacen(name, &new, 1)));
        }
    }
    assert_eq!(after, expected);
    assert!(calls > 0);
    longest
}

fn sites(seed: u64, one_in: u32, repeat: usize) -> RandomSites {
    RandomSites { seed, one_in, repeat, bracket: seed.is_multiple_of(2).then_some(1) }
}

/// Random code of every age: short branches, then so much inserted that they have to be widened.
fn random_classes_verify_and_run_as_they_did(jdk: &Jdk) {
    let mut classes = BTreeMap::new();
    for (version, first) in [((45, 3), 1000), ((49, 0), 2000), ((50, 0), 3000), ((52, 0), 4000), ((55, 0), 5000)] {
        for seed in first..first + 20 {
            let made = make(seed, Shape { blocks: 30, statements: 12, version }).expect("short enough");
            classes.insert(format!("Made{seed}.class"), made);
        }
    }
    let short = assert_same_results(jdk, &classes, |way| sites(way, 1 + way as u32 * 3, 1));
    let long = assert_same_results(jdk, &classes, |way| sites(way, 20, 120));
    assert!(short < 32_768 && long > 40_000, "{short} {long}");
}

/// Frames that name a `new` instruction, or an object whose constructor has not run yet.
fn uninitialized_objects_in_frames_verify(jdk: &Jdk) {
    let mut class = Builder::new("Fresh", 55, 0);
    let object = class.object();
    let constructor = class.pool.method("java/lang/Object", "<init>", "()V");
    let own = class.pool.method("Fresh", "<init>", "(I)V");
    let this = class.pool.class("Fresh");

    let mut asm = Asm::new(4, 2);
    asm.initial = vec![Type::UninitializedThis, Type::Int];
    let then = asm.label();
    asm.emit(&[op::ILOAD, 1]);
    asm.branch(op::IFEQ, then);
    asm.emit(&[op::NOP]);
    asm.bind(then);
    asm.frame(then, &[Type::UninitializedThis, Type::Int], &[]);
    asm.emit(&[op::ALOAD_0]);
    asm.with_index(op::INVOKESPECIAL, constructor);
    asm.emit(&[op::RETURN]);
    class.method("<init>", "(I)V", asm);

    let mut asm = Asm::new(6, 2);
    asm.initial = vec![Type::Int; 2];
    let (outer, inner) = (asm.here(), asm.label());
    asm.with_index(op::NEW, object);
    asm.emit(&[op::DUP]);
    asm.bind(inner);
    asm.with_index(op::NEW, this);
    asm.emit(&[op::DUP, op::ILOAD, 1, op::ILOAD, 0]);
    let then = asm.label();
    asm.branch(op::IFEQ, then);
    asm.emit(&[op::IINC, 1, 5]);
    asm.bind(then);
    let stack = [outer, outer, inner, inner].map(Type::Uninitialized);
    asm.frame(then, &[Type::Int; 2], &[stack[0], stack[1], stack[2], stack[3], Type::Int]);
    asm.with_index(op::INVOKESPECIAL, own);
    asm.emit(&[op::POP]);
    asm.with_index(op::INVOKESPECIAL, constructor);
    asm.emit(&[op::POP, op::ILOAD, 1, op::IRETURN]);
    class.method("run", "(II)I", asm);

    let classes = BTreeMap::from([("Fresh.class".to_owned(), class.finish())]);
    assert_same_results(jdk, &classes, |way| sites(way, 1 + way as u32 % 2, 1 + way as usize * 20));
}

/// Conditional branches over some 30 KiB, which insertions make longer than 16 bits can say.
fn far_conditional_branches_verify_in_every_place(jdk: &Jdk) {
    let mut classes = BTreeMap::new();
    for major in [49, 55] {
        for (name, lead) in [("At", 0), ("Behind", 3_000), ("FarBehind", 6_000)] {
            let name = format!("{name}{major}");
            classes.insert(format!("{name}.class"), far_branches(&name, major, lead));
        }
    }
    // The code gets a quarter longer, or a half.
    let longest = assert_same_results(jdk, &classes, |way| sites(way, 48, 1 + way as usize % 2));
    assert!(longest > 48_000, "{longest}");
}

/// A loop over 28,000 `nop`s that begins behind `lead` more: a branch out at its top and one back at its end, in a
/// `try` whose handler needs a local that the targets do not have, and the same in a constructor around `super()`.
fn far_branches(name: &str, major: u16, lead: usize) -> Vec<u8> {
    let has_frames = major >= 50;
    let mut class = Builder::new(name, major, 0);
    let constructor = class.pool.method("java/lang/Object", "<init>", "()V");
    let own = class.pool.method(name, "<init>", "(IJLjava/lang/String;[[DFLjava/lang/Object;)V");
    let this = class.pool.class(name);
    let throwable = class.pool.class("java/lang/Throwable");

    // Its initial frame has a type of each sort, and its relay at the head comes before super().
    let mut asm = Asm::new(4, 9);
    let far = asm.label();
    asm.emit(&[op::ILOAD, 1]);
    asm.branch(op::IFEQ, far);
    asm.emit(&[op::ALOAD_0]);
    asm.with_index(op::INVOKESPECIAL, constructor);
    asm.emit(&vec![op::NOP; 28_000]);
    asm.emit(&[op::RETURN]);
    asm.bind(far);
    if has_frames {
        // Nothing to compare with, so that the frame is written in full.
        asm.initial = vec![Type::Int; 9];
        asm.frame(far, &[Type::UninitializedThis, Type::Int], &[]);
    }
    asm.emit(&[op::ALOAD_0]);
    asm.with_index(op::INVOKESPECIAL, constructor);
    asm.emit(&[op::RETURN]);
    class.method("<init>", "(IJLjava/lang/String;[[DFLjava/lang/Object;)V", asm);

    let mut asm = Asm::new(12, 4);
    asm.initial = vec![Type::Int; 2];
    asm.emit(&vec![op::NOP; lead]);
    let (top, leave, handler) = (asm.here(), asm.label(), asm.label());
    let frame = |asm: &mut Asm, at, locals: &[Type], stack: &[Type]| {
        if has_frames {
            asm.frame(at, locals, stack);
        }
    };
    frame(&mut asm, top, &[Type::Int; 2], &[]);
    asm.emit(&[op::ILOAD, 0]);
    asm.branch(158, leave); // ifle
    asm.emit(&[op::IINC, 0, 0xFF, op::ILOAD, 1, op::ISTORE, 2]);
    let start = asm.here();
    asm.emit(&[op::IINC, 2, 3]);
    let inside = asm.here();
    frame(&mut asm, inside, &[Type::Int; 3], &[]);
    asm.emit(&vec![op::NOP; 28_000]);
    asm.emit(&[op::ILOAD, 2, op::ISTORE, 1, op::BIPUSH, 12, op::ILOAD, 0, op::BIPUSH, 9, 100, 108, op::POP]);
    asm.emit(&[op::ILOAD, 0]);
    asm.branch(op::IFEQ + 1, top); // ifne
    let end = asm.here();
    asm.branch(op::GOTO, leave);
    asm.bind(handler);
    frame(&mut asm, handler, &[Type::Int; 3], &[Type::Object(throwable)]);
    asm.emit(&[op::POP, op::IINC, 2, 100, op::ILOAD, 2, op::ISTORE, 1]);
    asm.branch(op::GOTO, top);
    asm.bind(leave);
    frame(&mut asm, leave, &[Type::Int; 2], &[]);
    asm.with_index(op::NEW, this);
    asm.emit(&[op::DUP, op::ILOAD, 1, 9, 1, 1, 11, 1]); // lconst_0, aconst_null twice, fconst_0, aconst_null
    asm.with_index(op::INVOKESPECIAL, own);
    asm.emit(&[op::POP, op::ILOAD, 1, op::IRETURN]);
    asm.handler(start, end, handler, 0);
    class.method("run", "(II)I", asm);
    class.finish()
}
