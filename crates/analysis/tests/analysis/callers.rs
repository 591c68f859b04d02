//! What samples say of callers: the exact total of each site is spread over its stacks.

use std::collections::BTreeMap;

use analysis::allocations::{AllocationReport, AllocationStats, By, Naming, Scope};
use analysis::call_tree::{Direction, Grouping, Label, Node, TreeOptions};
use proptest::prelude::*;
use trace::ids::{ClassId, MethodId, ObjectId, StackId, ThreadId};
use trace::model::{AllocCount, AllocSample, ArrayCode, Element, Frame, ObjAlloc};
use trace::time::{Nanos, Time};

use crate::made;

/// Classes of frames, and methods of the same numbers: the JDK's, a library's, and the user's own.
const CODE: [&str; 4] = ["java.util.Arrays", "com.google.common.Lists", "shop.Cart", "shop.Main"];
/// Classes of objects.
const OBJECTS: [&str; 2] = ["byte[]", "shop.Item"];
/// What the JIT removed.
const REMOVED: &str = "(removed by the JIT, caller unknown)";
/// Frames of stacks by their places in `CODE`, innermost first; the number of a stack is its place here, and 1.
const STACKS: [&[usize]; 5] = [&[0, 2, 3], &[0, 3], &[0, 1], &[2, 3], &[0]];

fn frame(code: usize) -> Frame {
    Frame { method: MethodId(code as u64 + 1), line: code as u32 + 10 }
}

fn define(stats: &mut AllocationStats) {
    // Its samples belong to its counts.
    stats.element(&made::agent("heap=counts,callers=512k"));
    for (id, &name) in (1..).zip(CODE.iter().chain(&OBJECTS)) {
        stats.element(&made::class(id, name));
    }
    for id in 1..=CODE.len() as u64 {
        stats.element(&made::method(id, id, "run"));
    }
    for (id, frames) in (1..).zip(STACKS) {
        let frames = frames.iter().map(|&code| (frame(code).method.0, frame(code).line));
        stats.element(&Element::StackDef(made::stack(id, frames)));
    }
    stats.element(&made::thread(1, "worker", None));
}

fn class(object: usize) -> ClassId {
    ClassId((CODE.len() + object + 1) as u64)
}

fn count(object: usize, code: usize, instances: u64, bytes: u64) -> Element<'static> {
    Element::AllocCount(AllocCount {
        is_array: ArrayCode::OBJECT,
        class: class(object),
        method: Some(frame(code).method),
        line: Some(frame(code).line.into()),
        instances,
        bytes,
        source: None,
        allocated_bytes: None,
        time: Time(1),
    })
}

fn sample(object: usize, stack: usize, samples: u64, bytes: u64) -> Element<'static> {
    let site = frame(STACKS[stack][0]);
    Element::AllocSample(AllocSample {
        is_array: ArrayCode::OBJECT,
        class: class(object),
        method: Some(site.method),
        line: Some(site.line.into()),
        stack: Some(StackId(stack as u64 + 1)),
        thread: Some(ThreadId(1)),
        samples,
        instances: bytes,
        bytes,
        error: ((bytes * bytes) as f64 / samples as f64).sqrt() as u64,
        time: Time(1),
    })
}

fn report(elements: impl IntoIterator<Item = Element<'static>>) -> AllocationReport {
    let mut stats = AllocationStats::new();
    define(&mut stats);
    elements.into_iter().for_each(|element| stats.element(&element));
    stats.end_document();
    stats.finish()
}

/// Bytes and their error by the line of a naming.
fn lines(report: &AllocationReport, naming: &Naming) -> BTreeMap<String, (u64, Option<u64>)> {
    let rows = report.rows_named(By::Line, &report.site_names(naming), |_| true);
    rows.iter().map(|row| (row.subject.to_string(), (row.totals.total_bytes(), row.error))).collect()
}

#[test]
fn what_the_jdk_allocates_is_the_callers() {
    let report = report([
        count(0, 0, 1000, 1_000_000),
        sample(0, 0, 75, 750_000),
        sample(0, 1, 25, 250_000),
        // A site that no sample found.
        count(1, 2, 1, 24),
    ]);
    let own = lines(&report, &Naming::Own(vec![]));
    // What is counted at the user's own line is exact. The others have the errors of their own samples.
    let expected =
        [("shop.Cart.run(line 12)", (750_024, Some(193_648))), ("shop.Main.run(line 13)", (250_000, Some(115_326)))];
    assert_eq!(own, expected.map(|(line, bytes)| (line.to_owned(), bytes)).into());
    let innermost = lines(&report, &Naming::Innermost);
    let expected = [("java.util.Arrays.run(line 10)", (1_000_000, None)), ("shop.Cart.run(line 12)", (24, None))];
    assert_eq!(innermost, expected.map(|(line, bytes)| (line.to_owned(), bytes)).into());
    let names = report.site_names(&Naming::Own(vec![]));
    let lines = report.lines(&names, |class| class == "byte[]");
    let cart = lines.iter().find(|line| line.row.totals.total_bytes() == 750_000).unwrap();
    assert_eq!((cart.inside[0].class, cart.inside[0].bytes), ("byte[]", 750_000));
    assert_eq!(cart.inside[0].at.unwrap().class, "java.util.Arrays");
}

/// `Array.newInstance` is counted where it is called, but hidden classes that call it are not rewritten.
#[test]
fn a_sample_is_of_the_innermost_frame_that_is_counted() {
    let of_main = |stack: u64, bytes| {
        let Element::AllocSample(sample) = sample(0, stack as usize, 1, bytes) else { unreachable!() };
        Element::AllocSample(AllocSample { method: Some(frame(3).method), line: Some(13), ..sample })
    };
    let report = report([count(0, 0, 10, 1000), of_main(0, 600), of_main(1, 200)]);
    let own = lines(&report, &Naming::Own(vec![]));
    assert_eq!(own["shop.Cart.run(line 12)"].0 + own["shop.Main.run(line 13)"].0, 1000);
    assert_eq!(own["shop.Cart.run(line 12)"].0, 750);
    assert_eq!(report.sum(|_| true).estimated_bytes(), Some(800));
}

/// Counts at 10, 20 and 30, of which the second counts; samples of the first two.
#[test]
fn a_site_without_a_sample_in_the_window_has_the_callers_of_the_rest_of_the_trace() {
    let at = |time: u64, element| match element {
        Element::AllocCount(count) => Element::AllocCount(AllocCount { time: Time(time), ..count }),
        Element::AllocSample(sample) => Element::AllocSample(AllocSample { time: Time(time), ..sample }),
        element => element,
    };
    let of = |to: u64, has_sample: bool| {
        let mut stats = AllocationStats::of(&Scope { from: Nanos(10), to: Some(Nanos(to)), over_time: false });
        define(&mut stats);
        for (time, bytes) in [(10, 5_000), (20, 6_000), (30, 9_000)] {
            stats.element(&at(time, count(0, 0, bytes / 10, bytes)));
            stats.element(&at(time, count(1, 0, bytes, bytes)));
            if time == 10 {
                stats.element(&at(time, sample(0, 0, 75, 3_750)));
                stats.element(&at(time, sample(0, 1, 25, 1_250)));
            }
            if time == 20 {
                stats.element(&at(time, sample(1, 1, 4, 1_000)));
                if has_sample {
                    stats.element(&at(time, sample(0, 1, 26, 2_250)));
                }
            }
        }
        stats.end_document();
        stats.finish()
    };
    let report = of(20, false);
    assert!(report.is_spread_from_outside());
    let rows = report.rows_named(By::Line, &report.site_names(&Naming::Own(vec![])), |class| class == "byte[]");
    let line = |line: &str| rows.iter().find(|row| row.subject.to_string() == line).unwrap();
    let (cart, main) = (line("shop.Cart.run(line 12)"), line("shop.Main.run(line 13)"));
    assert_eq!((cart.totals.total_bytes(), cart.totals.total()), (750, 75));
    // No better than in the whole trace.
    assert_eq!((main.totals.total_bytes(), main.error), (250, Some(87)));
    // What the JIT let be allocated in this time is not known by samples of another.
    assert_eq!(cart.totals.estimated_bytes(), Some(0));
    // A sample of this time is better than many of another.
    let report = of(20, true);
    assert!(!report.is_spread_from_outside());
    let own = lines(&report, &Naming::Own(vec![]));
    assert_eq!(own.keys().collect::<Vec<_>>(), ["shop.Main.run(line 13)"]);
}

#[test]
fn what_is_left_of_a_site_is_what_passes() {
    let mut report = report([
        count(0, 0, 1000, 1_000_000),
        sample(0, 0, 75, 750_000),
        sample(0, 1, 25, 250_000),
        count(1, 2, 1, 24),
    ]);
    let names = report.site_names(&Naming::Own(vec![]));
    report.retain_sites(&names, |at| at.class == "shop.Main");
    assert_eq!(report.sum(|_| true).total_bytes(), 250_000);
    let rows = report.rows(By::Class, |_| true);
    assert_eq!((rows.len(), rows[0].totals.total(), rows[0].totals.total_bytes()), (1, 250, 250_000));
}

#[test]
fn a_tree_goes_from_the_thread_to_the_object_or_back() {
    let report = report([
        count(0, 0, 1000, 1_000_000),
        sample(0, 0, 75, 750_000),
        sample(0, 1, 25, 250_000),
        count(1, 0, 1, 24),
    ]);
    let options = TreeOptions { grouping: Grouping::Thread, cut: 0.0, ..TreeOptions::default() };
    let root = report.tree(&options, |_| true, None);
    assert_eq!((root.weight, root.count, root.error), (1_000_024, 1001, 0));
    let label = |node: &Node<'_>| node.label.unwrap().to_string();
    let worker = &root.children[0];
    assert_eq!((label(worker), worker.weight), ("worker".to_owned(), 1_000_000));
    assert_eq!(label(&root.children[1]), "(no thread)");
    let main = &worker.children[0];
    assert_eq!((label(main), main.children.len(), main.own), ("shop.Main.run(line 13)".to_owned(), 2, 0));
    let cart = &main.children[0];
    assert_eq!((label(cart), cart.weight, cart.error), ("shop.Cart.run(line 12)".to_owned(), 750_000, 193_648));
    assert_eq!(cart.children[0].children[0].label, Some(Label::Class("byte[]")));
    let bottom_up = TreeOptions { direction: Direction::BottomUp, ..TreeOptions::default() };
    let root = report.tree(&bottom_up, |class| class == "byte[]", None);
    assert_eq!((label(&root.children[0]), root.children[0].error), ("byte[]".to_owned(), 0));
    assert_eq!(root.children[0].children[0].error, 0);
    assert!(root.children[0].children[0].children[0].error > 0);
    let callers: Vec<String> = root.children[0].children[0].children.iter().map(label).collect();
    assert_eq!(callers, ["shop.Cart.run(line 12)", "shop.Main.run(line 13)"]);
}

#[test]
fn with_single_objects_the_lines_are_exact() {
    let alloc = |id: u64, stack: u64, size| {
        Element::ObjAlloc(ObjAlloc {
            thread: Some(ThreadId(1)),
            is_array: None,
            size,
            obj_id: ObjectId(id),
            class: class(0),
            method: None,
            line: None,
            stack: Some(StackId(stack)),
            time: Time(id),
        })
    };
    let report = report([alloc(1, 1, 16), alloc(2, 1, 24), alloc(3, 2, 100), alloc(4, 99, 8)]);
    let own = lines(&report, &Naming::Own(vec!["*Main".parse().unwrap()]));
    let expected = [("shop.Main.run(line 13)", (140, None)), ("(no site)", (8, None))];
    assert_eq!(own, expected.map(|(line, bytes)| (line.to_owned(), bytes)).into());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_byte_is_lost_and_each_is_where_its_stack_says(
        counts in proptest::collection::btree_map((0..2_usize, 0..4_usize), 1_u64..1_000_000_000, 0..8),
        samples in proptest::collection::btree_map((0..2_usize, 0..5_usize), (1_u64..100, 1_u64..1_000_000), 0..10),
    ) {
        let sites = counts.iter().map(|(&(object, code), &bytes)| count(object, code, 1 + bytes / 16, bytes));
        let found = samples.iter().map(|(&(object, stack), &(number, bytes))| sample(object, stack, number, bytes));
        let report = report(sites.chain(found));
        let line = |code: usize| format!("{}.run(line {})", CODE[code], code + 10);
        let own_of = |stack: usize| [2, 3, 1, 2, 0][stack];
        let mut expected: BTreeMap<String, f64> = BTreeMap::new();
        for (&(object, code), &bytes) in &counts {
            let is_of = |of: usize, stack: usize| {
                let counted = STACKS[stack].iter().find(|&&code| counts.contains_key(&(of, code)));
                of == object && counted == Some(&code)
            };
            let of_site = || samples.iter().filter(|((of, stack), _)| is_of(*of, *stack));
            let whole: u64 = of_site().map(|(_, (_, sampled))| sampled).sum();
            let error = |number: u64, sampled: u64| ((sampled * sampled) as f64 / number as f64).sqrt().floor();
            let variance: f64 = of_site().map(|(_, &(number, sampled))| error(number, sampled).powi(2)).sum();
            let missing = bytes.saturating_sub(whole) as f64;
            let is_removed = whole > 0 && missing.powi(2) > 9.0 * variance * (bytes as f64 / whole as f64).max(1.0);
            if is_removed {
                // The user's own line is counted without callers.
                *expected.entry(if code < 2 { REMOVED.to_owned() } else { line(code) }).or_default() += missing;
            }
            let scale = if is_removed { 1.0 } else { bytes as f64 / whole as f64 };
            let mut add = |code: usize, bytes: f64| *expected.entry(line(code)).or_default() += bytes;
            if whole == 0 {
                add(code, bytes as f64);
            }
            of_site().for_each(|((_, stack), (_, sampled))| {
                // A site of the user's own names itself.
                add(if code < 2 { own_of(*stack) } else { code }, *sampled as f64 * scale);
            });
        }
        // What is not counted is known by samples only.
        let mut total: u64 = counts.values().sum();
        for (&(object, stack), &(_, sampled)) in &samples {
            if STACKS[stack].iter().all(|&code| !counts.contains_key(&(object, code))) {
                *expected.entry(line(own_of(stack))).or_default() += sampled as f64;
                total += sampled;
            }
        }
        prop_assert!(expected.values().sum::<f64>() - total as f64 <= 1.0);
        let own = lines(&report, &Naming::Own(vec![]));
        prop_assert_eq!(own.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (line, (bytes, error)) in &own {
            prop_assert!((*bytes as f64 - expected[line]).abs() <= 1.0, "{} {} {}", line, bytes, expected[line]);
            prop_assert!(error.unwrap_or(0) <= total);
        }
        for options in [Direction::TopDown, Direction::BottomUp].map(|direction| TreeOptions { direction, ..TreeOptions::default() }) {
            prop_assert_eq!(report.tree(&options, |_| true, None).weight, total);
        }
        prop_assert_eq!(report.sum(|_| true).total_bytes(), total);
    }
}
