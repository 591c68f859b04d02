//! Bytes that nobody made with good intent, or that someone cut: an answer, never a panic.

mod support;

use classfile::ClassFile;
use proptest::prelude::*;
use support::random_class::{RandomSites, Shape, make};
use support::sites::Sites;

/// Reads and rewrites; what comes out must be a class again.
fn digest(bytes: &[u8]) {
    let Ok(class) = ClassFile::parse(bytes) else {
        assert!(classfile::rewrite(bytes, &mut Sites::all()).is_err());
        return;
    };
    let _ = (class.to_bytes(), class.source_file(), class.interfaces().count());
    for method in class.methods() {
        if let Some(code) = method.code() {
            let lines = code.lines();
            for instruction in code.instructions() {
                let _ = (instruction.class_operand(), instruction.member_operand(), lines.line(instruction.pc()));
            }
        }
    }
    for repeat in [1, 500] {
        let done =
            classfile::rewrite(bytes, &mut RandomSites { seed: 1, one_in: 30, repeat, bracket: Some(7) }).unwrap();
        if let Some(new) = done.bytes {
            ClassFile::parse(&new).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_classes_are_digested(
        seed in 0u64..50,
        major in prop_oneof![Just(45u16), Just(61)],
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let mut class = make(seed, Shape { blocks: 6, statements: 5, version: (major, 0) }).expect("short enough");
        for (at, byte) in changes {
            let at = at.index(class.len());
            class[at] = byte;
        }
        if let Some(cut) = cut {
            class.truncate(cut.index(class.len()));
        }
        digest(&class);
    }

    #[test]
    fn any_bytes_are_digested(head in any::<bool>(), mut bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        if head {
            bytes.splice(0..0, [0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 61, 0]);
        }
        digest(&bytes);
    }
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    let message = |bytes: &[u8]| ClassFile::parse(bytes).unwrap_err().to_string();
    let class = make(1, Shape { blocks: 1, statements: 1, version: (61, 0) }).expect("short enough");
    let changed = |at: usize, byte: u8| {
        let mut class = class.clone();
        class[at] = byte;
        message(&class)
    };
    assert_eq!(message(b"PK"), "not a class file: the first four bytes are not CAFEBABE");
    assert_eq!(message(&class[..9]), "class file is truncated: the structure at byte 8 runs past the end");
    assert_eq!(changed(10, 2), "class file has a constant of unknown tag 2 at byte 10");
    let longer = [&class[..], &[0]].concat();
    assert_eq!(message(&longer), format!("class file has trailing bytes at byte {}", class.len()));
    let mut empty_pool = class.clone();
    empty_pool[8..10].fill(0);
    assert_eq!(message(&empty_pool), "class file has a constant pool whose count does not match its entries");
    let this_class = pool_end(&class) + 2;
    assert_eq!(
        changed(this_class, 255),
        format!("class file refers at byte {this_class} to constant 65282, which is not a Class (this_class)")
    );
}

/// Where access flags begin: they are the only 0x0021 in a made class that a Class index of 2 follows.
fn pool_end(class: &[u8]) -> usize {
    class.windows(4).rposition(|w| w == [0, 0x21, 0, 2]).expect("access flags and this_class")
}
