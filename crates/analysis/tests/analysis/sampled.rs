//! Sampled objects where nothing is counted: they are scaled to what the JVM accounts to threads.

use analysis::allocations::{AllocationReport, AllocationStats, By, Naming, Scope, Subject};
use analysis::call_tree::{Label, TreeOptions};
use analysis::coverage::WhyUnknown;
use proptest::prelude::*;
use trace::ids::{ClassId, MethodId, StackId, ThreadId};
use trace::model::{AllocSample, ArrayCode, Element, LiveSample, ThreadCount, TraceEnd};
use trace::time::{Nanos, Time};

use crate::made;

/// Classes of frames and of objects, and methods of the same numbers.
const CODE: [&str; 4] = ["java.util.Arrays", "shop.Cart", "shop.Main", "byte[]"];
/// Frames of stacks by their places in `CODE`, innermost first.
const STACKS: [&[usize]; 2] = [&[0, 1, 2], &[2]];

fn define(stats: &mut AllocationStats) {
    for (id, name) in (1..).zip(CODE) {
        stats.element(&made::class(id, name));
        stats.element(&made::method(id, id, "run"));
    }
    for (id, frames) in (1..).zip(STACKS) {
        let stack = made::stack(id, frames.iter().map(|&code| (code as u64 + 1, code as u32 + 10)));
        stats.element(&Element::StackDef(stack));
    }
    for id in 1..=3 {
        stats.element(&made::thread(id, format!("worker-{id}"), None));
    }
}

/// Samples on a stack and a thread until a time: how many, and the bytes they stand for, an object being 100 of them.
#[derive(Clone, Copy, Debug)]
struct Sampled {
    stack: u64,
    thread: Option<u64>,
    samples: u64,
    bytes: u64,
    time: u64,
}

impl Sampled {
    fn element(self) -> Element<'static> {
        let frames = STACKS[self.stack as usize - 1];
        Element::AllocSample(AllocSample {
            is_array: ArrayCode::BYTE,
            class: ClassId(4),
            method: Some(MethodId(frames[0] as u64 + 1)),
            line: Some(frames[0] as i64 + 10),
            stack: Some(StackId(self.stack)),
            thread: self.thread.map(ThreadId),
            samples: self.samples,
            instances: self.bytes / 100,
            bytes: self.bytes,
            error: ((self.bytes as f64).powi(2) / self.samples.max(1) as f64).sqrt() as u64,
            time: Time(self.time),
        })
    }
}

fn lives(age: u64, samples: u64, time: u64) -> Element<'static> {
    Element::LiveSample(LiveSample {
        is_array: ArrayCode::BYTE,
        class: ClassId(4),
        method: Some(MethodId(1)),
        line: Some(10),
        stack: Some(StackId(1)),
        thread: Some(ThreadId(1)),
        age,
        samples,
        instances: samples * 10,
        bytes: samples * 1000,
        error: samples * 100,
        time: Time(time),
    })
}

/// The same of a thread that has ended.
fn lives_of_ended(age: u64, samples: u64, time: u64) -> Element<'static> {
    match lives(age, samples, time) {
        Element::LiveSample(sample) => Element::LiveSample(LiveSample { thread: None, ..sample }),
        other => other,
    }
}

fn account(thread: u64, vm_bytes: Option<u64>) -> Element<'static> {
    let thread = ThreadId(thread);
    Element::ThreadCount(ThreadCount { thread, instances: 0, bytes: 0, vm_bytes, time: Time(900) })
}

fn report(elements: &[Element<'_>], scope: &Scope) -> AllocationReport {
    let mut stats = AllocationStats::of(scope);
    define(&mut stats);
    elements.iter().for_each(|element| stats.element(element));
    stats.element(&Element::TraceEnd(TraceEnd { time: Time(1000) }));
    stats.end_document();
    stats.finish()
}

fn sampled(stack: u64, thread: u64, samples: u64, bytes: u64) -> Element<'static> {
    Sampled { stack, thread: Some(thread), samples, bytes, time: 500 }.element()
}

#[test]
fn a_threads_samples_are_scaled_to_its_account() {
    let elements = [
        sampled(1, 1, 150, 150_000),
        sampled(2, 1, 50, 50_000),
        sampled(2, 2, 10, 10_000),
        account(1, Some(190_000)),
        account(2, Some(12_000)),
        account(3, Some(700)),
    ];
    let report = report(&elements, &Scope::default());
    assert!(report.is_sampled() && !report.is_counted() && report.has_objects());
    let (sum, error) = report.sum_and_error(|_| true);
    assert_eq!((sum.total_bytes(), sum.total(), error), (202_700, 2_027, None));
    let names = report.site_names(&Naming::Own(Vec::new()));
    let lines = report.rows_named(By::Line, &names, |_| true);
    let of = |class: &str| {
        let row = lines.iter().find(|row| matches!(row.subject, Subject::Line(Some(at)) if at.class == class)).unwrap();
        (row.totals.total_bytes(), row.error.unwrap())
    };
    let ((cart, cart_error), (main, _)) = (of("shop.Cart"), of("shop.Main"));
    assert_eq!((cart, main), (142_500, 47_500 + 12_700));
    // Twice the error of a share of three quarters by 200 samples.
    assert!((11_000..12_500).contains(&cart_error), "{cart_error}");
    let coverage = report.coverage(true);
    assert_eq!(coverage.why_unknown, Some(WhyUnknown::Sampled));
    let calibration = coverage.calibration.unwrap();
    assert_eq!((calibration.samples, calibration.accounted, calibration.unsampled), (210, 202_700, 0));
    assert_eq!(calibration.scales, Some((0.95, 0.95)), "a thread of few samples says nothing");
    let root = report.tree(&TreeOptions::default(), |_| true, None);
    assert_eq!((root.weight, root.error), (202_700, 0));
    assert!(root.children.iter().any(|node| node.error > 0));
}

#[test]
fn threads_of_few_samples_are_scaled_together() {
    // One thread in three has a sample, on the one stack or the other, and each makes the same.
    const THREADS: u64 = 900;
    let mut elements = vec![sampled(1, 1, 200, 200_000), account(1, Some(100_000))];
    for id in 10..10 + THREADS {
        elements.push(made::thread(id, format!("short-{id}"), None));
        if id % 3 == 0 {
            elements.push(sampled(1 + u64::from(id % 9 == 0), id, 1, 4_000));
        }
        elements.push(account(id, Some(1_000)));
    }
    let report = report(&elements, &Scope::default());
    let (sum, error) = report.sum_and_error(|_| true);
    assert_eq!((sum.total_bytes(), error), (100_000 + 1_000 * THREADS, None));
    let names = report.site_names(&Naming::Innermost);
    let methods = report.rows_named(By::Method, &names, |_| true);
    let mut bytes: Vec<u64> = methods.iter().map(|row| row.totals.total_bytes()).collect();
    bytes.sort_unstable();
    assert_eq!(bytes, [300_000, 100_000 + 600_000]);
    let calibration = report.coverage(true).calibration.unwrap();
    assert_eq!((calibration.unsampled, calibration.scales), (0, Some((0.5, 0.75))));
    // Without any sample nothing says where it was made.
    let alone =
        self::report(&[sampled(1, 1, 200, 200_000), account(1, Some(100_000)), account(2, Some(7))], &Scope::default());
    let calibration = alone.coverage(true).calibration.unwrap();
    assert_eq!((alone.sum(|_| true).total_bytes(), calibration.unsampled), (100_000, 7));
}

#[test]
fn without_accounts_samples_stand_for_themselves() {
    let elements = [sampled(1, 1, 100, 100_000), sampled(2, 2, 25, 25_000), account(1, None)];
    let whole = report(&elements, &Scope::default());
    let (sum, error) = whole.sum_and_error(|_| true);
    assert_eq!(sum.total_bytes(), 125_000);
    // Twice the square root of 100,000² / 100 + 25,000² / 25.
    assert!(error.unwrap().abs_diff(22_360) < 10, "{error:?}");
    let root = whole.tree(&TreeOptions::default(), |_| true, None);
    assert!(root.error.abs_diff(22_360) < 10, "{}", root.error);
    // A part of the time is not scaled either: accounts are of the whole.
    let scope = Scope { from: Nanos(100), to: Some(Nanos(700)), over_time: false };
    let late = Sampled { stack: 1, thread: Some(1), samples: 300, bytes: 300_000, time: 800 }.element();
    let part = report(&[sampled(1, 1, 100, 100_000), late, account(1, Some(5))], &scope);
    assert_eq!(part.sum(|_| true).total_bytes(), 100_000);
    assert_eq!(part.coverage(true).why_unknown, Some(WhyUnknown::Window));
}

#[test]
fn the_last_look_says_what_lives_and_how_old_it_is() {
    let elements = [
        sampled(1, 1, 150, 150_000),
        account(1, Some(150_000)),
        lives(0, 5, 400),
        lives(0, 2, 800),
        lives(1, 3, 800),
        lives(7, 1, 800),
        lives(9, 9, 300),
    ];
    let report = report(&elements, &Scope::default());
    let sum = report.sum(|_| true);
    assert_eq!((sum.live(), sum.live_bytes(), sum.survived_bytes()), (60, 6_000, 4_000));
    assert_eq!((sum.live_samples(), sum.generations(), sum.oldest()), (6, 3, Some(7)));
    assert_eq!(sum.average_age(), Some(10.0 / 6.0));
    // Twice the square root of 200² + 300² + 100².
    assert_eq!(sum.live_error(), 748);
    let root = report.live_tree(&TreeOptions::default(), |_| true, None);
    assert_eq!((root.count, root.weight, root.error), (60, 6_000, 748));
    // What no collection has met is apart.
    let parts: Vec<_> = root.children.iter().map(|node| (node.label, node.count, node.weight)).collect();
    assert_eq!(parts.len(), 2, "{parts:?}");
    let is_new = |label| label == Some(Label::SinceCollection);
    assert!(parts.iter().any(|&(label, count, weight)| is_new(label) && (count, weight) == (20, 2_000)), "{parts:?}");
    assert!(parts.iter().any(|&(label, count, weight)| !is_new(label) && (count, weight) == (40, 4_000)), "{parts:?}");
    let stacks = report.live_stacks();
    let new = stacks.iter().filter(|stack| stack.frames.last() == Some(&Label::SinceCollection));
    assert_eq!(new.map(|stack| stack.weight).sum::<u64>(), 2_000);
    assert_eq!(report.live_tree(&TreeOptions::default(), |class| class == "nothing", None).weight, 0);
}

#[test]
fn what_lives_of_an_ended_thread_is_scaled_as_what_it_allocated() {
    let elements = [sampled(1, 1, 150, 150_000), account(1, Some(75_000)), lives_of_ended(1, 150, 800)];
    let report = report(&elements, &Scope::default());
    let sum = report.sum(|_| true);
    assert_eq!((sum.total_bytes(), sum.live_bytes(), sum.survived_bytes()), (75_000, 75_000, 75_000));
    assert_eq!(report.live_tree(&TreeOptions::default(), |_| true, None).weight, 75_000);
}

#[test]
fn objects_leak_if_their_ages_are_spread() {
    let growing = |ages: &mut dyn Iterator<Item = u64>| {
        let mut elements = vec![sampled(1, 1, 150, 150_000)];
        elements.extend(ages.map(|age| lives(age, 1, 800)));
        report(&elements, &Scope::default()).sum(|_| true).is_growing()
    };
    assert!(growing(&mut (0..40)));
    assert!(growing(&mut (0..40).map(|sample| sample * 25)), "few of many are sampled");
    assert!(!growing(&mut (0..40).map(|sample| 990 + sample % 3)), "what a program loads when it starts stays");
    assert!(!growing(&mut (0..5)), "chance");
}

fn any_samples() -> impl Strategy<Value = Vec<Sampled>> {
    let one = (1_u64..3, proptest::option::of(1_u64..4), 0_u64..200, 0_u64..1_000_000_000, 0_u64..1000);
    let one = one.prop_map(|(stack, thread, samples, bytes, time)| Sampled { stack, thread, samples, bytes, time });
    proptest::collection::vec(one, 0..40)
}

proptest! {
    #[test]
    fn sums_are_equal_in_every_grouping(
        samples in any_samples(),
        accounts in proptest::collection::vec(proptest::option::of(0_u64..1_000_000_000), 3),
    ) {
        let mut elements: Vec<Element<'_>> = samples.iter().map(|sample| sample.element()).collect();
        elements.extend((1..).zip(&accounts).map(|(thread, &bytes)| account(thread, bytes)));
        let report = report(&elements, &Scope::default());
        let sum = report.sum(|_| true);
        for by in [By::Package, By::Class, By::Site, By::Line, By::Method, By::Module, By::Thread] {
            for naming in [Naming::Innermost, Naming::Own(Vec::new())] {
                let rows = report.rows_named(by, &report.site_names(&naming), |_| true);
                let of_rows = |number: fn(&analysis::allocations::ObjectTotals) -> u64| -> u64 {
                    rows.iter().map(|row| number(&row.totals)).sum()
                };
                prop_assert_eq!(of_rows(|totals| totals.total_bytes()), sum.total_bytes(), "{:?}", by);
                prop_assert_eq!(of_rows(|totals| totals.total()), sum.total(), "{:?}", by);
            }
        }
        let root = report.tree(&TreeOptions { cut: 0.0, ..TreeOptions::default() }, |_| true, None);
        prop_assert_eq!(root.weight, sum.total_bytes());
    }
}
