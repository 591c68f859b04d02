//! Random code, random insertions: an interpreter compares what runs, and in which order, before and after.

mod support;

use classfile::{ClassFile, Refusal};
use proptest::prelude::*;
use support::interpreter::run;
use support::random_class::{RandomSites, Shape, make};

/// Rewrites and compares; returns the length of the new code, or nothing if there was none.
fn check(seed: u64, shape: Shape, mut sites: RandomSites) -> Option<usize> {
    let class = make(seed, shape)?;
    assert!(ClassFile::parse(&class).unwrap().to_bytes() == class, "written as it was read");
    let rewritten = classfile::rewrite(&class, &mut sites).unwrap();
    if let [refused] = rewritten.refused[..] {
        assert_eq!(refused.reason, Refusal::CodeTooLarge);
        assert_eq!(rewritten.bytes, None);
        return None;
    }
    let new = rewritten.bytes?;
    let parsed = ClassFile::parse(&class).unwrap();
    let code = parsed.methods().next().unwrap().code().unwrap();
    for arguments in [[0, 1], [1, 0], [7, -1], [40, 12345], [200, i32::MIN]] {
        let before = run(&class, arguments);
        let after = run(&new, arguments);
        assert_eq!(after.result, before.result);
        let mut calls = Vec::from_iter(sites.bracket);
        for &(pc, completed) in &before.steps {
            let [front, behind] = sites.at(pc, code.bytes()[usize::from(pc)]);
            calls.extend(front);
            if completed {
                calls.extend(behind);
            }
        }
        calls.extend(sites.bracket.filter(|_| before.result.is_none()));
        assert!(after.calls == calls, "every insertion runs with its instruction, and none without");
    }
    Some(ClassFile::parse(&new).unwrap().methods().next().unwrap().code().unwrap().bytes().len())
}

/// Among them the first, with short fields in front of the code.
fn version() -> impl Strategy<Value = (u16, u16)> {
    prop_oneof![Just((45, 0)), Just((45, 3)), Just((49, 0)), Just((50, 0)), Just((61, 0)), Just((69, 65_535))]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rewritten_code_does_what_it_did_and_makes_its_calls(
        seed: u64,
        blocks in 1usize..60,
        statements in 1u32..20,
        version in version(),
        one_in in prop_oneof![Just(1u32), 2u32..40],
        repeat in prop_oneof![Just(1usize), 2usize..40, 40usize..400],
        bracket in prop::option::of(any::<i32>()),
    ) {
        check(seed, Shape { blocks, statements, version }, RandomSites { seed, one_in, repeat, bracket });
    }
}

/// The same where branches have to be widened: most of these methods end between 32 and 64 KiB.
#[test]
fn long_methods_do_what_they_did() {
    for version in [(49, 0), (61, 0)] {
        let mut long = 0;
        for seed in 0..150 {
            let shape = Shape { blocks: 30, statements: 12, version };
            let sites = RandomSites { seed, one_in: 20, repeat: 120, bracket: (seed % 2 == 0).then_some(7) };
            long += usize::from(check(seed, shape, sites).is_some_and(|length| length > 40_000));
        }
        assert!(long > 30, "{long} methods of version {version:?} were long");
    }
}
