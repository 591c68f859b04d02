//! What stands out in a trace, and what does not: each threshold from both sides.

use analysis::allocations::{Location, Naming};
use analysis::explain::{Churn, Contention, Explanation, Finding, Growth, TraceReport, TraceStats, Waited, explain};
use analysis::locks::{LockBy, WaitProblems};
use trace::ids::{ClassId, MethodId, ObjectId, StackId, ThreadId};
use trace::model::{
    AllocCount, AllocSample, ArrayCode, ClassDef, Element, Flag, Frame, Frames, GcFinish, GcStart, LockName,
    MartiniCount, MethodDef, MonContendedEnter, MonContendedEntered, ObjAlloc, ObjFree, StackDef, ThreadCount,
    ThreadStart, TraceEnd, TraceStart,
};
use trace::time::{Nanos, Time};

const SECOND: u64 = 1_000_000_000;
const MB: u64 = 1_000_000;

/// Classes with a method of the same number each; constructors are `-init-`.
const CODE: [(&str, &str); 4] =
    [("java.util.Arrays", "copyOf"), ("shop.Cart", "add"), ("shop.Main", "run"), ("shop.Item", "-init-")];
const ARRAYS: u64 = 1;
const CART: u64 = 2;
const MAIN: u64 = 3;
const ITEM_INIT: u64 = 4;
/// The class of `shop.Item`, and of byte arrays.
const ITEM: ClassId = ClassId(4);
const BYTES: ClassId = ClassId(5);

/// A trace, element by element.
struct Trace(TraceStats<'static>);

impl Trace {
    fn new() -> Self {
        let mut trace = Trace(TraceStats::new());
        let (trace_id, agent_id) = ("1".into(), "1".into());
        trace.add(Element::TraceStart(TraceStart { trace_id, agent_id, time: Time(0) }));
        for (id, (name, method)) in (1..).zip(CODE.into_iter().chain([("byte[]", "-clinit-")])) {
            let (class_id, time) = (ClassId(id), Time(0));
            let source_name = Some("Shop.java".into());
            trace.add(Element::ClassDef(ClassDef {
                thread: None,
                name: name.into(),
                source_name,
                class_id,
                object: None,
                module: None,
                time,
            }));
            trace.add(Element::MethodDef(MethodDef {
                name: method.into(),
                signature: "()V".into(),
                start_line: None,
                end_line: None,
                method_id: MethodId(id),
                class: class_id,
            }));
        }
        for thread in 1..=3 {
            trace.add(Element::ThreadStart(ThreadStart {
                thread_id: ThreadId(thread),
                time: Time(0),
                thread_name: format!("worker-{thread}").into(),
                group_name: "main".into(),
                parent_name: "system".into(),
                object: None,
                kind: None,
            }));
        }
        trace
    }

    fn add(&mut self, element: Element<'_>) {
        self.0.element(&element);
    }

    fn stack(&mut self, id: u64, frames: &[u64]) {
        let frames: Vec<Frame> = frames.iter().map(|&method| Frame { method: MethodId(method), line: 10 }).collect();
        self.add(Element::StackDef(StackDef { stack_id: StackId(id), frames: Frames(frames.into()), types: None }));
    }

    /// What a method has allocated, by counting.
    fn count(&mut self, method: u64, instances: u64, bytes: u64) {
        self.add(Element::AllocCount(AllocCount {
            is_array: ArrayCode::OBJECT,
            class: BYTES,
            method: Some(MethodId(method)),
            line: Some(10),
            instances,
            bytes,
            source: None,
            allocated_bytes: None,
            time: Time(1),
        }));
    }

    /// Samples of a stack whose innermost frame is that method.
    fn sample(&mut self, method: u64, stack: u64, samples: u64, bytes: u64) {
        self.add(Element::AllocSample(AllocSample {
            is_array: ArrayCode::OBJECT,
            class: BYTES,
            method: Some(MethodId(method)),
            line: Some(10),
            stack: Some(StackId(stack)),
            thread: Some(ThreadId(1)),
            samples,
            instances: samples,
            bytes,
            error: (bytes as f64 / (samples as f64).sqrt()) as u64,
            time: Time(1),
        }));
    }

    fn allocate(&mut self, id: u64, class: ClassId, stack: u64, size: u64, time: u64) {
        self.add(Element::ObjAlloc(ObjAlloc {
            thread: Some(ThreadId(1)),
            is_array: None,
            size,
            obj_id: ObjectId(id),
            class,
            method: None,
            line: None,
            stack: Some(StackId(stack)),
            time: Time(time),
        }));
    }

    /// A collection that takes a while, frees objects and leaves something.
    fn collect(&mut self, time: u64, pause: u64, freed: impl IntoIterator<Item = u64>, used_space: Option<u64>) {
        self.add(Element::GcStart(GcStart { time: Time(time), thread: None }));
        for id in freed {
            self.add(Element::ObjFree(ObjFree { object: ObjectId(id), time: Time(time), thread: None }));
        }
        let time = Time(time + pause);
        self.add(Element::GcFinish(GcFinish { time, used_objects: None, used_space, total_space: None }));
    }

    /// Thread 1 waits for an object that thread 2 owns.
    fn wait(&mut self, from: u64, to: u64) {
        self.wait_for(7, 1, from, to);
    }

    /// The same for any object, on a stack.
    fn wait_for(&mut self, object: u64, stack: u64, from: u64, to: u64) {
        self.wait_seen(object, stack, from, to, None);
    }

    /// The same, seen by looks so far apart if they are given.
    fn wait_seen(&mut self, object: u64, stack: u64, from: u64, to: u64, look_interval: Option<Nanos>) {
        let (thread, object) = (ThreadId(1), ObjectId(object));
        self.add(Element::MonContendedEnter(MonContendedEnter {
            thread,
            object,
            owner: Some(ThreadId(2)),
            parked: None,
            owner_object: None,
            time: Time(from),
            stack: Some(StackId(stack)),
            owner_stack: Some(StackId(2)),
            look_interval,
        }));
        self.add(Element::MonContendedEntered(MonContendedEntered { thread, object, parked: None, time: Time(to) }));
    }

    fn end(mut self, time: u64) -> TraceReport {
        self.add(Element::TraceEnd(TraceEnd { time: Time(time) }));
        self.0.end_document();
        self.0.finish()
    }
}

fn findings<T>(report: &TraceReport, show: impl Fn(&Explanation<'_>) -> T) -> T {
    let TraceReport { allocations, locks, cpu, collections, .. } = report;
    show(&explain(allocations, locks, cpu, collections, &Naming::Own(vec![])))
}

/// The lines that churn, each with its bytes.
fn churning(trace: Trace, seconds: u64) -> Vec<(String, u64)> {
    findings(&trace.end(seconds * SECOND), |explanation| {
        let churn = explanation.findings.iter().map(|finding| match finding {
            Finding::Churn(Churn { at, bytes, .. }) => (at.to_string(), *bytes),
            other => panic!("{other:?}"),
        });
        churn.collect()
    })
}

/// 200 MB that `shop.Cart.add` has `Arrays.copyOf` make.
fn copies(samples: u64) -> Trace {
    let mut trace = Trace::new();
    trace.stack(1, &[ARRAYS, CART, MAIN]);
    trace.count(ARRAYS, 2_000, 200 * MB);
    trace.sample(ARRAYS, 1, samples, 200 * MB);
    trace
}

#[test]
fn churn_is_named_by_the_own_line() {
    let report = copies(1_000).end(SECOND);
    findings(&report, |explanation| {
        let [Finding::Churn(churn)] = &explanation.findings[..] else { panic!("{explanation:?}") };
        assert_eq!((churn.at.to_string().as_str(), churn.is_own), ("shop.Cart.add(Shop.java:10)", true));
        assert_eq!((churn.bytes, churn.share, churn.rate), (200 * MB, 1.0, Some(200 * MB)));
        let inside = churn.inside.unwrap();
        assert_eq!((inside.class, inside.at.map(|at| at.class)), ("byte[]", Some("java.util.Arrays")));
        assert_eq!((explanation.rate(), explanation.pause_share()), (Some(200 * MB), None));
    });
    // Without stacks there is only the JDK's line.
    let mut trace = Trace::new();
    trace.count(ARRAYS, 2_000, 200 * MB);
    findings(&trace.end(SECOND), |explanation| {
        let [Finding::Churn(churn)] = &explanation.findings[..] else { panic!("{explanation:?}") };
        assert_eq!((churn.at.class, churn.is_own), ("java.util.Arrays", false));
    });
}

#[test]
fn what_costs_nothing_is_no_churn() {
    assert_eq!(churning(copies(1_000), 3).len(), 1);
    assert_eq!(churning(copies(1_000), 5), [], "less than 50 MB a second");
    let mut trace = Trace::new();
    trace.count(CART, 15, 200 * MB);
    assert_eq!(churning(trace, 1), [], "few objects");
    let mut trace = Trace::new();
    trace.count(CART, 2_000, 10 * MB);
    assert_eq!(churning(trace, 0), [], "little in all, in no time");
    let mut trace = Trace::new();
    trace.count(CART, 2_000, 90 * MB);
    trace.count(MAIN, 2_000, 910 * MB);
    assert_eq!(churning(trace, 1), [("shop.Main.run(Shop.java:10)".to_owned(), 910 * MB)], "a small part");
}

#[test]
fn collections_that_take_long_make_churn_matter() {
    for (number, pause, found) in [(3, SECOND / 5, 1), (3, SECOND / 7, 0), (2, SECOND / 2, 0)] {
        let mut trace = copies(1_000);
        for time in 1..=number {
            trace.collect(time * SECOND, pause, [], None);
        }
        assert_eq!(churning(trace, 10).len(), found, "{number} of {pause} ns");
    }
}

#[test]
fn what_may_be_an_error_or_alive_is_no_churn() {
    // Half of 60 MB, give or take nearly as much.
    for (samples, found) in [(4, 0), (4_000, 1)] {
        let mut trace = Trace::new();
        trace.stack(1, &[ARRAYS, CART]);
        trace.stack(2, &[ARRAYS, MAIN]);
        trace.count(ARRAYS, 2_000, 120 * MB);
        trace.sample(ARRAYS, 1, samples, 60 * MB);
        trace.sample(ARRAYS, 2, samples, 60 * MB);
        let lines = churning(trace, 1);
        assert_eq!(lines.len(), 2 * found, "{samples}: {lines:?}");
    }
    for (used, found) in [(140, 1), (160, 0)] {
        let mut trace = copies(100_000);
        trace.collect(1, 1, [], Some(used * MB));
        assert_eq!(churning(trace, 1).len(), found, "{used} MB are alive");
    }
}

#[test]
fn what_the_jit_has_removed_is_no_churn() {
    // A sampler saw a tenth of what was executed.
    for (seen, found) in [(20, 0), (200, 1)] {
        let mut trace = Trace::new();
        trace.stack(1, &[CART, MAIN]);
        trace.add(Element::MartiniCount(MartiniCount { key: "callers.interval".into(), detail: None, value: 65_536 }));
        trace.count(CART, 2_000, 200 * MB);
        trace.sample(CART, 1, 1_000, seen * MB);
        let lines = churning(trace, 1);
        assert_eq!(lines.iter().map(|(_, bytes)| *bytes).sum::<u64>(), found * 200 * MB, "{lines:?}");
    }
    // Without a sampler the JVM's account says how much at least.
    for (vm_bytes, found) in [(20, 0), (200, 1)] {
        let mut trace = Trace::new();
        trace.count(CART, 2_000, 200 * MB);
        trace.add(Element::ThreadCount(ThreadCount {
            thread: ThreadId(1),
            instances: 2_000,
            bytes: 200 * MB,
            vm_bytes: Some(vm_bytes * MB),
            time: Time(1),
        }));
        assert_eq!(churning(trace, 1).len(), found, "{vm_bytes}");
    }
}

/// Items with an array each, a hundred before each of five collections; of these the last `kept` live.
fn items(kept: u64) -> TraceReport {
    items_and(kept, 0, 2_000, 100)
}

/// The same with so much garbage that no collection has seen, arrays of a size, and as many items before each
/// collection.
fn items_and(kept: u64, garbage: u64, size: u64, each: u64) -> TraceReport {
    let mut trace = Trace::new();
    trace.stack(1, &[CART, MAIN]);
    trace.stack(2, &[ITEM_INIT, CART, MAIN]);
    // Without any death it is not known that deaths were recorded.
    trace.allocate(9_999, BYTES, 1, 16, 0);
    trace.collect(0, 1, [9_999], None);
    for id in 0..500 {
        trace.allocate(2 * id, ITEM, 1, 24, (id + 1) * 1_000);
        trace.allocate(2 * id + 1, BYTES, 2, size, (id + 1) * 1_000);
        if id % each == each - 1 {
            let dropped =
                (id.saturating_sub(each - 1 + kept)..(id + 1).saturating_sub(kept)).flat_map(|id| [2 * id, 2 * id + 1]);
            trace.collect((id + 1) * 1_000 + 1, 1, dropped, None);
        }
    }
    for id in 0..garbage {
        trace.allocate(100_000 + id, BYTES, 1, MB, 600_000);
    }
    trace.end(SECOND)
}

#[test]
fn what_piles_up_is_named_by_the_line_that_makes_the_object() {
    findings(&items(500), |explanation| {
        let [Finding::Growth(Growth { at: Some(at), bytes, share, classes })] = &explanation.findings[..] else {
            panic!("{explanation:?}")
        };
        assert_eq!((at.to_string().as_str(), *bytes, *share), ("shop.Cart.add(Shop.java:10)", 500 * 2_024, 1.0));
        let classes: Vec<_> = classes.iter().map(|class| (class.class, class.live, class.generations)).collect();
        assert_eq!(classes, [("byte[]", 500, 5), ("shop.Item", 500, 5)]);
    });
}

#[test]
fn garbage_that_no_collection_has_seen_hides_nothing_that_piles_up() {
    findings(&items_and(500, 100, 2_000, 100), |explanation| {
        let [Finding::Growth(Growth { bytes, share, .. })] = &explanation.findings[..] else {
            panic!("{explanation:?}")
        };
        assert_eq!((*bytes, *share), (500 * 2_024, 1.0));
    });
}

#[test]
fn small_objects_pile_up_too_if_most_collections_left_some() {
    for (each, found) in [(50, 1), (125, 0)] {
        findings(&items_and(500, 0, 16, each), |explanation| {
            assert_eq!(explanation.findings.len(), found, "{each}: {explanation:?}");
        });
    }
}

#[test]
fn a_cache_with_a_bound_does_not_grow() {
    findings(&items(300), |explanation| assert!(explanation.findings.is_empty(), "{explanation:?}"));
}

#[test]
fn a_heap_that_fills_is_reported_where_objects_are_only_counted() {
    for (step, is_found) in [(10 * MB, true), (MB, false)] {
        let mut trace = Trace::new();
        trace.count(CART, 100, MB);
        for number in 1..=9 {
            trace.collect(number * 1_000, 1, [], Some(number * step));
        }
        findings(&trace.end(SECOND), |explanation| {
            assert_eq!(matches!(explanation.findings[..], [Finding::Rise(_)]), is_found, "{explanation:?}");
        });
    }
}

#[test]
fn a_lock_is_named_with_both_places_if_it_costs_enough() {
    let waiting = |times: u64, nanos: u64, seconds: u64| {
        let mut trace = Trace::new();
        trace.stack(1, &[CART, MAIN]);
        trace.stack(2, &[ARRAYS, MAIN]);
        for time in 1..=times {
            trace.wait(time * 2 * nanos, (time * 2 + 1) * nanos);
        }
        trace.end(seconds * SECOND)
    };
    findings(&waiting(10, SECOND / 20, 2), |explanation| {
        let [
            Finding::Contention(Contention {
                waited: Waited { waits: 10, total },
                locks: 1,
                share,
                waiters,
                owners,
                owner,
                longest: Some(longest),
                ..
            }),
        ] = &explanation.findings[..]
        else {
            panic!("{explanation:?}")
        };
        assert_eq!((total.0, *share), (SECOND / 2, 0.25));
        let place = |at: &Location<'_>| format!("{}.{}", at.class, at.method);
        let places = [place(&waiters[0].place.at), place(&owners[0].place.at)];
        assert_eq!(places, ["shop.Cart.add", "shop.Main.run"]);
        assert_eq!(owners[0].place.calls.as_ref().map(place).as_deref(), Some("java.util.Arrays.copyOf"));
        assert_eq!((longest.length.0, longest.waiter.name), (SECOND / 20, "worker-1"));
        let stacks = [&longest.stack, &longest.owner_stack].map(|stack| stack.iter().map(place).collect::<Vec<_>>());
        assert_eq!(stacks, [["shop.Cart.add", "shop.Main.run"], ["java.util.Arrays.copyOf", "shop.Main.run"]]);
        assert_eq!(owner.map(|(thread, held)| (thread.name, held)), Some(("worker-*", *total)));
        assert_eq!((explanation.contended, explanation.allocated), (Some(*total), None));
    });
    for (times, nanos, seconds, why) in [
        (10, SECOND / 101, 1, "less than a tenth of a second"),
        (10, SECOND / 20, 11, "less than a twentieth of the time"),
        (9, SECOND / 20, 1, "few waits, and none is long"),
    ] {
        findings(&waiting(times, nanos, seconds), |explanation| {
            assert!(explanation.findings.is_empty() && explanation.has_waits, "{why}: {explanation:?}");
        });
    }
    findings(&waiting(1, SECOND, 3), |explanation| assert_eq!(explanation.findings.len(), 1, "one that is long"));
}

#[test]
fn what_costs_most_stands_first() {
    for (wait, first) in [(SECOND / 5, "lock"), (SECOND / 15, "churn")] {
        // 1 GB in 2 s is a tenth of a processor's time.
        let mut trace = Trace::new();
        trace.stack(1, &[CART]);
        trace.stack(2, &[MAIN]);
        trace.count(CART, 2_000, 1_000 * MB);
        for time in 0..20 {
            trace.wait(time * SECOND / 10, time * SECOND / 10 + wait / 10);
        }
        findings(&trace.end(2 * SECOND), |explanation| {
            let kinds: Vec<_> = explanation
                .findings
                .iter()
                .map(|finding| match finding {
                    Finding::Churn(_) => "churn",
                    Finding::Contention(_) => "lock",
                    other => panic!("{other:?}"),
                })
                .collect();
            assert_eq!((kinds.len(), kinds[0]), (2, first), "{explanation:?}");
            let costs: Vec<_> = explanation.findings.iter().map(|finding| explanation.cost(finding)).collect();
            assert!(costs[0] > costs[1] && costs[1] > Some(0.05), "{costs:?}");
        });
    }
}

#[test]
fn few_samples_are_no_finding() {
    for (samples, found) in [(9, 0), (10, 1)] {
        let mut trace = Trace::new();
        trace.stack(1, &[ARRAYS, CART]);
        trace.stack(2, &[ARRAYS, MAIN]);
        trace.count(ARRAYS, 2_000, 4_000 * MB);
        trace.sample(ARRAYS, 1, samples, 2_000 * MB);
        trace.sample(ARRAYS, 2, 10, 2_000 * MB);
        let lines = churning(trace, 1);
        assert_eq!(lines.len(), 1 + found, "{samples}: {lines:?}");
    }
}

#[test]
fn a_lock_is_not_mixed_with_others_of_its_class() {
    let mut trace = Trace::new();
    trace.stack(1, &[CART, MAIN]);
    trace.stack(2, &[MAIN]);
    for time in 0..40 {
        // The other one is contended as often, and never for long.
        let begin = time * SECOND / 20;
        trace.wait_for(7, 1, begin, begin + SECOND / 50);
        trace.wait_for(8, 2, begin + SECOND / 40, begin + SECOND / 40 + 1_000);
    }
    findings(&trace.end(2 * SECOND), |explanation| {
        let [Finding::Contention(contention)] = &explanation.findings[..] else { panic!("{explanation:?}") };
        assert_eq!(contention.single.map(|lock| lock.object), Some(ObjectId(7)));
        let all = Waited { waits: 40, total: trace::time::Nanos(40 * SECOND / 50) };
        assert_eq!((contention.waited, contention.with_owners_place()), (all, all));
        assert_eq!((contention.waiters.len(), contention.waiters[0].waited), (1, all));
    });
}

/// Of a second, with looks each 10 ms: 300 ms in so many waits.
#[test]
fn waits_that_looks_saw_are_estimates_and_count_if_they_exceed_their_error() {
    for (waits, error_millis) in [(1, 20), (10, 62), (30, 108)] {
        let mut trace = Trace::new();
        trace.stack(1, &[CART]);
        trace.stack(2, &[MAIN]);
        let length = 300_000_000 / waits;
        for wait in 0..waits {
            let from = wait * 3 * length;
            trace.wait_seen(7, 1, from, from + length, Some(Nanos(10_000_000)));
        }
        let report = trace.end(SECOND);
        let estimate = report.locks.estimate().unwrap();
        let found = (estimate.waits, estimate.looks, estimate.total.0, estimate.error.0.div_ceil(1_000_000));
        assert_eq!(found, (waits, 30, 300_000_000, error_millis));
        findings(&report, |explanation| match &explanation.findings[..] {
            // A single short wait is no finding, however well it is known.
            [] => assert_eq!(waits, 1),
            [Finding::Contention(Contention { estimate: Some(found), .. })] => assert_eq!(*found, estimate),
            other => panic!("{other:?}"),
        });
    }
    // Nine looks say nothing.
    let mut trace = Trace::new();
    for wait in 0..9 {
        trace.wait_seen(7, 1, wait * 20_000_000, wait * 20_000_000 + 10_000_000, Some(Nanos(10_000_000)));
    }
    findings(&trace.end(SECOND), |explanation| {
        assert_eq!((explanation.findings.len(), explanation.contended), (0, None));
    });
}

/// A look finds out later than the thread itself that a wait is over.
#[test]
fn what_a_thread_does_before_a_look_ends_its_wait_is_not_lost() {
    let mut trace = Trace::new();
    let thread = ThreadId(1);
    let enter = |object, time, parked, look_interval| {
        let (owner, owner_object, stack, owner_stack) = Default::default();
        let (object, time) = (ObjectId(object), Time(time));
        Element::MonContendedEnter(MonContendedEnter {
            thread,
            time,
            object,
            owner,
            owner_object,
            stack,
            owner_stack,
            parked,
            look_interval,
        })
    };
    let entered = |object, time, parked| {
        Element::MonContendedEntered(MonContendedEntered { thread, object: ObjectId(object), time: Time(time), parked })
    };
    let interval = Some(Nanos(10));
    // Parked from 100 to 130, as looks saw it; blocked from 125 to 150.
    trace.add(enter(7, 100, Some(Flag::Yes), interval));
    trace.add(enter(8, 125, None, None));
    trace.add(entered(7, 130, Some(Flag::Yes)));
    trace.add(entered(8, 150, None));
    // Blocked until 210; a look has seen it parked before that.
    trace.add(enter(8, 200, None, None));
    trace.add(enter(7, 205, Some(Flag::Yes), interval));
    trace.add(entered(8, 210, None));
    trace.add(entered(7, 220, Some(Flag::Yes)));
    let report = trace.end(SECOND).locks;
    let mut rows: Vec<_> = report.rows(LockBy::Monitor, false);
    rows.sort_by_key(|row| row.estimate.is_some());
    let lengths: Vec<_> = rows.iter().map(|row| (row.contended.count(), row.contended.total().0)).collect();
    assert_eq!(lengths, [(2, 25 + 10), (2, 30 + 15)]);
    assert_eq!(report.problems(), WaitProblems::default());
    let [blocked, _, parked, _] = report.stalls().map(|stalls| stalls.total.0);
    assert_eq!((blocked, parked), (25 + 10, 25 + 10));
}

#[test]
fn threads_that_are_stuck_stand_first() {
    // Whoever waits for the end of the JVM is not stuck.
    for (seconds, holder, is_found) in
        [(3, None, true), (1, None, false), (3, Some("shop.Cart"), true), (3, Some("java.lang.Shutdown"), false)]
    {
        let mut trace = Trace::new();
        trace.stack(1, &[CART]);
        if let Some(holder) = holder {
            trace.add(crate::made::class(90, holder));
            let (object, class, time) = (ObjectId(7), ClassId(90), Time(0));
            trace.add(Element::LockName(LockName { object, class, field: None, time }));
        }
        let enter = |thread, object, owner, time| {
            let (thread, object) = (ThreadId(thread), ObjectId(object));
            let (owner, time) = (Some(ThreadId(owner)), Time(time));
            Element::MonContendedEnter(MonContendedEnter {
                thread,
                object,
                owner,
                parked: None,
                owner_object: None,
                time,
                stack: Some(StackId(1)),
                owner_stack: None,
                look_interval: None,
            })
        };
        trace.add(enter(1, 7, 2, SECOND / 2));
        findings(&trace.end(seconds * SECOND), |explanation| {
            let is_stuck = matches!(&explanation.findings[..], [Finding::Stuck(stuck), Finding::Contention(_)] if stuck.threads == 1);
            assert_eq!(is_stuck, is_found, "{explanation:?}");
        });
    }
}
