//! A dump made by hand, with what only Martini's have: sizes, sites, ages, waste and holders as computed by hand. And the same dump
//! damaged in every way.

use crate::small_dump::{FIRST_ADDRESS, KINDS, Spool, class, exercise, read, small_dump};
use analysis::heap_dump::waste::{BoxRow, CollectionRow};
use analysis::heap_dump::{Dominators, DumpId, Excluded, RootKind, Strength, difference, histogram, sites};
use proptest::prelude::*;

/// The small dump with other names of two classes, as long as their own.
fn renamed(node: &str, main: &str) -> Vec<u8> {
    let mut bytes = small_dump();
    for (name, other) in [("demo/Node", node), ("demo/Main", main)] {
        assert_eq!(name.len(), other.len());
        let places: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(name.as_bytes())).collect();
        for at in places {
            bytes[at..at + name.len()].copy_from_slice(other.as_bytes());
        }
    }
    bytes
}

#[test]
fn hidden_classes_of_two_dumps_are_compared_by_what_made_them() {
    let mut spool = Spool::new();
    let rows = [("app/N+0x7", "app/N+0x8"), ("app/N+0xa", "app/N+0xb")].map(|(node, main)| {
        let (loaded, _) = read(&spool.dump(&renamed(node, main)));
        let graph = &loaded.graph;
        let site = graph.site(graph.object(DumpId(30)).expect("a node")).expect("its line");
        assert_eq!(site[0], "app.N.main(Main.java:30)");
        histogram(graph, &Dominators::of(graph).unwrap())
    });
    assert_eq!(rows[0].iter().filter(|row| row.class == "app.N").count(), 1);
    let [before, after] = rows;
    assert_eq!(difference(before, after), []);
}

#[test]
fn everything_in_it_is_as_computed_by_hand() {
    let mut spool = Spool::new();
    let file = spool.dump(&small_dump());
    let (loaded, waste) = read(&file);
    let graph = &loaded.graph;
    let dominators = Dominators::of(graph).unwrap();
    assert_eq!(graph.problems(), &Default::default());
    assert_eq!(graph.len(), 14 + 18 + 6 + 1);
    let object = |id| graph.object(DumpId(id)).expect("it is there");

    // Strings of 24 bytes; their arrays have headers of 16.
    let sizes = [10, 14, 17, 19, 21, 30, FIRST_ADDRESS + 0x8000].map(|id| graph.shallow(object(id)));
    assert_eq!(sizes, [24, 24, 24, 16 + 10 * 4, 16, 16, 16 + 3 * 4 + 4]);
    let strings = &waste.strings;
    assert_eq!((strings.strings, strings.distinct, strings.bytes), (4, 2, 4 * 24 + 3 * 24));
    assert_eq!(strings.wasted, 3 * 24 + 2 * 24 - 2 * 24);
    assert_eq!((strings.duplicates.len(), strings.duplicates[0].strings), (1, 3));
    let mut collections = waste.collections.clone();
    collections.sort_by(|a, b| a.class.cmp(&b.class));
    let row = |class: &str, instances, empty_bytes, sparse, sparse_bytes| CollectionRow {
        class: class.into(),
        instances,
        empty: 1,
        empty_bytes,
        sparse,
        sparse_bytes,
    };
    assert_eq!(collections, [row("java.util.ArrayList", 2, 24 + 56, 1, 9 * 4), row("java.util.HashMap", 1, 24, 0, 0)]);
    let integers = BoxRow { class: "java.lang.Integer".into(), instances: 3, bytes: 48, distinct: 2, wasted: 16 };
    assert_eq!(waste.boxes, [integers]);

    // Ages: by the id. What has an address was not followed.
    let ages = [5, 49 - 19, 50, 52, FIRST_ADDRESS + 0x8000, class(1).0].map(|id| graph.age(object(id)));
    assert_eq!(ages, [Some(3), Some(3), Some(1), Some(1), None, None]);
    let add = ["java.util.ArrayList.add(Main.java:3)", "demo.Main.make(Main.java:20)", "demo.Main.main(Main.java:30)"];
    assert_eq!(graph.site(object(10)), Some(&add.map(str::to_owned)[..]));
    assert_eq!(graph.site(object(5)), None);
    let mut nodes = sites(graph, &dominators, graph.objects().filter(|&o| graph.class_name(o) == "demo.Node"));
    let row = nodes.pop().expect("one line made them");
    assert_eq!((nodes.len(), row.named_by, &row.frames[..]), (0, 0, &add.map(str::to_owned)[2..]));
    // Two of the six are in a circle that nothing holds, one only a weak reference leads to.
    assert_eq!((row.instances, row.unreachable, row.shallow), (6, 3, 96));
    assert_eq!((row.ages.generations(), row.ages.average(), row.ages.oldest()), (2, Some(2.0), Some(3)));
    // Two lines in the JDK's class: the program's own names both.
    let lists = sites(graph, &dominators, graph.objects().filter(|&o| graph.class_name(o) == "java.util.ArrayList"));
    assert_eq!((lists.len(), lists[0].named_by), (1, 1));

    // Roots: of every kind, and those that belong to a thread know it.
    let roots = graph.roots_of(object(5));
    assert_eq!(roots.iter().map(|root| root.kind).collect::<Vec<_>>(), KINDS);
    let is_the_vms =
        |kind| matches!(kind, RootKind::JniGlobal | RootKind::StickyClass | RootKind::MonitorUsed | RootKind::Unknown);
    assert!(roots.iter().all(|root| root.thread == (!is_the_vms(root.kind)).then(|| object(5))), "{roots:?}");

    // Holders.
    assert_eq!(dominators.retained(object(30)), 3 * 16);
    assert_eq!(dominators.dominator(object(31)), Some(object(30)));
    assert_eq!(dominators.dominator(object(30)), None, "a local variable holds it beside the class");
    assert_eq!(dominators.dominator(object(12)), None, "the thread holds it beside the class");
    let referent = graph.referent(object(24)).expect("it is not cleared");
    assert_eq!((referent.target, referent.strength), (object(52), Strength::Weak));
    let path = graph.paths(object(14), Excluded::default(), 1).pop().expect("it is held");
    assert_eq!(path.iter().map(|&step| graph.id(step).0).collect::<Vec<_>>(), [class(12).0, 6, 10, 14]);
}

#[test]
fn cut_off_at_any_byte_it_is_an_error_or_less_of_the_same() {
    let whole = small_dump();
    let mut spool = Spool::new();
    for cut in 0..whole.len() {
        exercise(&spool.dump(&whole[..cut]));
    }
    exercise(&spool.dump(&whole));
}

#[test]
fn absurd_numbers_anywhere_do_no_harm() {
    let whole = small_dump();
    let mut spool = Spool::new();
    for at in (19..whole.len() - 8).step_by(3) {
        for number in [u64::MAX, 0, 0x7FFF_FFFF_FFFF_FFFF, 0x0000_0001_FFFF_FFFF] {
            let mut bytes = whole.clone();
            bytes[at..at + 8].copy_from_slice(&number.to_be_bytes());
            exercise(&spool.dump(&bytes));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn flipped_bits_and_moved_pieces_do_no_harm(
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8_u32), 0..8),
        moved in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 1..40_usize), 0..3),
    ) {
        let mut bytes = small_dump();
        for (from, to, length) in moved {
            let from = from.index(bytes.len());
            let piece = bytes[from..(from + length).min(bytes.len())].to_vec();
            let to = to.index(bytes.len());
            let end = (to + piece.len()).min(bytes.len());
            bytes[to..end].copy_from_slice(&piece[..end - to]);
        }
        for (at, bit) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
        }
        exercise(&Spool::new().dump(&bytes));
    }
}
