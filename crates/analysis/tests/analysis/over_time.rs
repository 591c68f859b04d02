//! What happens when, and parts of traces, against a recount that keeps everything.

use std::collections::BTreeMap;

use analysis::allocations::{
    AllocationReport, AllocationStats, Amount, By, CountedPart, Naming, PartOfTrace, RowOverTime, Scope, Slice,
};
use proptest::prelude::*;
use trace::ids::{ClassId, MethodId, ObjectId, StackId};
use trace::model::{
    AllocCount, AllocSample, ArrayCode, Element, GcFinish, GcStart, LiveCount, ObjAlloc, ObjFree, RuntimeShutdown,
};
use trace::time::{Nanos, Time};

use crate::made;

/// When traces begin.
const BEGIN: u64 = 1_000_000;

/// A thousandth of a second, the unit of the times below.
const MILLI: u64 = 1_000_000;

fn time(millis: u64) -> Time {
    Time(BEGIN + millis * MILLI)
}

fn begin(scope: &Scope) -> AllocationStats {
    let mut stats = AllocationStats::of(scope);
    stats.element(&Element::RuntimeShutdown(RuntimeShutdown { thread: None, time: time(0) }));
    for (id, name) in [(1, "a.A"), (2, "a.B"), (3, "java.util.Arrays")] {
        stats.element(&made::class(id, name));
        stats.element(&made::method(id, id, "run"));
    }
    for id in 1..=2 {
        stats.element(&Element::StackDef(made::stack(id, [(3, 7), (id, 20)])));
    }
    stats
}

fn finish(mut stats: AllocationStats, end: u64) -> AllocationReport {
    stats.element(&Element::RuntimeShutdown(RuntimeShutdown { thread: None, time: time(end) }));
    stats.end_document();
    stats.finish()
}

fn slices(report: &AllocationReport) -> Vec<Slice> {
    report.over_time(|_| true).expect("it was asked for").slices
}

fn rows(report: &AllocationReport, by: By, naming: &Naming) -> BTreeMap<String, Vec<Amount>> {
    let rows = report.rows_over_time(by, &report.site_names(naming), |_| true, usize::MAX);
    rows.into_iter().map(|RowOverTime { row, allocated, .. }| (row.subject.to_string(), allocated)).collect()
}

fn sum(amounts: impl IntoIterator<Item = Amount>) -> (u64, u64) {
    amounts.into_iter().fold((0, 0), |(objects, bytes), amount| (objects + amount.objects, bytes + amount.bytes))
}

/// An object of a class: its bytes, when it is allocated, and how much later it dies.
type Object = (u64, u64, u64, Option<u64>);

fn object() -> impl Strategy<Value = Object> {
    (1_u64..3, 8_u64..200, 0_u64..500, proptest::option::of(0_u64..300))
}

proptest! {
    #[test]
    fn objects_fall_into_the_slices_in_which_they_are_allocated_and_live(
        objects in proptest::collection::vec(object(), 0..60),
        collections in proptest::collection::vec((0_u64..900, 0_u64..20), 0..10),
        from in prop_oneof![Just(0_u64), 1_u64..400],
        to in proptest::option::of(1_u64..900),
    ) {
        let end = 1000;
        let to = to.map(|to| from + to);
        let scope = Scope { from: Nanos(from * MILLI), to: to.map(|to| Nanos(to * MILLI)), over_time: true };
        let mut stats = begin(&scope);
        let mut events = Vec::new();
        for (id, &(class, size, at, dies)) in (1..).zip(&objects) {
            events.push((at, 0, Element::ObjAlloc(ObjAlloc {
                thread: None,
                is_array: None,
                size,
                obj_id: ObjectId(id),
                class: ClassId(class),
                method: None,
                line: None,
                stack: None,
                time: time(at),
            })));
            if let Some(later) = dies {
                let free = ObjFree { object: ObjectId(id), time: time(at + later), thread: None };
                events.push((at + later, 1, Element::ObjFree(free)));
            }
        }
        events.sort_by_key(|&(at, order, _)| (at, order));
        events.iter().for_each(|(.., event)| stats.element(event));
        for &(at, pause) in &collections {
            stats.element(&Element::GcStart(GcStart { time: time(at), thread: None }));
            let time = time(at + pause);
            let finish = GcFinish { time, used_objects: None, used_space: Some(at), total_space: None };
            stats.element(&Element::GcFinish(finish));
        }
        let report = finish(stats, end);
        let last = to.unwrap_or(u64::MAX).min(end);
        let inside = |at: u64| from <= at && to.is_none_or(|to| at < to);
        let dead = |object: &Object, at: u64| object.3.is_some_and(|later| object.2 + later < at);

        // The part that counts.
        for (id, name) in [(1, "a.A"), (2, "a.B")] {
            let totals = report.sum(|class| class == name);
            let own = || objects.iter().filter(|object| object.0 == id && inside(object.2));
            prop_assert_eq!(totals.total(), own().count() as u64);
            prop_assert_eq!(totals.total_bytes(), own().map(|object| object.1).sum::<u64>());
            // What dies at the end of the part is alive there; nothing dies behind the whole.
            let until = to.unwrap_or(u64::MAX);
            let live = || own().filter(|object| !dead(object, until));
            prop_assert_eq!(totals.live_bytes(), live().map(|object| object.1).sum::<u64>());
            let age = |object: &Object| collections.iter().filter(|(at, pause)| at + pause > object.2 && inside(at + pause)).count();
            let ages: Vec<usize> = live().map(age).collect();
            let average = ages.iter().sum::<usize>() as f64 / ages.len() as f64;
            prop_assert_eq!(totals.average_age(), (!ages.is_empty()).then_some(average));
        }
        prop_assert_eq!(report.facts().collections, collections.iter().filter(|(at, pause)| inside(at + pause)).count() as u64);

        // Its slices.
        let slices = slices(&report);
        prop_assert_eq!((slices[0].begin, slices[slices.len() - 1].end), (time(from), time(last.max(from))));
        let is_in = |slice: &Slice, at: Time| slice.begin <= at && (at < slice.end || slice.end == time(last) && at == slice.end);
        for slice in &slices {
            let allocated = objects.iter().filter(|object| inside(object.2) && is_in(slice, time(object.2)));
            let allocated: Vec<u64> = allocated.map(|object| object.1).collect();
            prop_assert_eq!(slice.allocated, Amount { objects: allocated.len() as u64, bytes: allocated.iter().sum() });
            // At the end of the last slice everything has happened that counts.
            let has_happened = |at: u64| (at < from || inside(at)) && (time(at) < slice.end || slice.end == time(last));
            let live = objects.iter().filter(|object| {
                has_happened(object.2) && !object.3.is_some_and(|later| has_happened(object.2 + later))
            });
            prop_assert_eq!(slice.live.unwrap().bytes, live.map(|object| object.1).sum::<u64>());
            let ended = || collections.iter().filter(|(at, pause)| inside(at + pause) && is_in(slice, time(at + pause)));
            prop_assert_eq!(slice.collections, Some(ended().count() as u64));
            prop_assert_eq!(slice.pauses, Some(Nanos(ended().map(|(_, pause)| pause * MILLI).sum())));
            prop_assert_eq!(slice.used_bytes, ended().max_by_key(|(at, pause)| at + pause).map(|(at, _)| *at));
        }
        for (name, allocated) in rows(&report, By::Class, &Naming::Innermost) {
            let totals = report.sum(|class| class == name);
            prop_assert_eq!(sum(allocated), (totals.total(), totals.total_bytes()));
        }
    }

    #[test]
    fn counts_fall_into_the_intervals_between_the_times_of_writing(
        // How much later counts are written again, and how much each of three sites has more by then.
        snapshots in proptest::collection::vec((1_u64..50, [0_u64..3, 0_u64..3, 0_u64..3]), 1..200),
        from in prop_oneof![Just(0_u64), 1_u64..400],
        to in proptest::option::of(1_u64..900),
    ) {
        let to = to.map(|to| from + to);
        let scope = Scope { from: Nanos(from * MILLI), to: to.map(|to| Nanos(to * MILLI)), over_time: true };
        let mut stats = begin(&scope);
        let (mut now, mut counts, mut sampled) = (0, [0; 3], [0; 2]);
        // From when to when, and how much more.
        let mut intervals: Vec<(u64, u64, [u64; 3])> = Vec::new();
        for (later, more) in &snapshots {
            let mut is_written = false;
            for (site, more) in more.iter().enumerate().filter(|(_, more)| **more > 0) {
                counts[site] += more;
                is_written = true;
                stats.element(&Element::AllocCount(AllocCount {
                    is_array: ArrayCode::OBJECT,
                    class: ClassId(1),
                    method: Some(MethodId(if site == 0 { 3 } else { 1 })),
                    line: Some([7, 20, 21][site]),
                    instances: counts[site],
                    bytes: counts[site] * 100,
                    source: None,
                    allocated_bytes: None,
                    time: time(now + later),
                }));
            }
            // All of the first site is sampled, on two stacks in turns.
            let stack = intervals.len() % 2;
            sampled[stack] += more[0];
            if more[0] > 0 {
                stats.element(&Element::AllocSample(AllocSample {
                    is_array: ArrayCode::OBJECT,
                    class: ClassId(1),
                    method: Some(MethodId(3)),
                    line: Some(7),
                    stack: Some(StackId(stack as u64 + 1)),
                    thread: None,
                    samples: sampled[stack],
                    instances: sampled[stack],
                    bytes: sampled[stack] * 100,
                    error: 100,
                    time: time(now + later),
                }));
            }
            // Where nothing is written nobody knows of the time.
            if is_written {
                let since = intervals.last().map_or(0, |&(_, until, _)| until);
                intervals.push((since, now + later, *more));
            }
            now += later;
        }
        let report = finish(stats, now + 30);
        prop_assume!(!intervals.is_empty());
        let counted: Vec<_> = intervals.iter().filter(|(since, until, _)| {
            let middle = (since + until) * MILLI / 2;
            from * MILLI <= middle && to.is_none_or(|to| middle < to * MILLI)
        }).collect();
        let all: u64 = counted.iter().flat_map(|(.., more)| more).sum();
        let totals = report.sum(|_| true);
        prop_assert_eq!((totals.total(), totals.total_bytes()), (all, all * 100));

        let over_time = report.over_time(|_| true).unwrap();
        prop_assert!(over_time.in_steps);
        let slices = over_time.slices;
        if let (Some(first), Some(last)) = (counted.first(), counted.last()) {
            prop_assert_eq!((slices[0].begin, slices[slices.len() - 1].end), (time(first.0), time(last.1)));
            let part = PartOfTrace { from: Nanos(first.0 * MILLI), to: Nanos(last.1 * MILLI) };
            let expected = (from > 0 || to.is_some()).then_some(CountedPart::Between(part));
            prop_assert_eq!(report.counted_part(), expected);
        } else {
            prop_assert!(slices.is_empty());
            let Some(CountedPart::Nothing(Some(near))) = report.counted_part() else { panic!("{:?}", report.counted_part()) };
            prop_assert!(intervals.iter().any(|interval| near.from.0 == interval.0 * MILLI && near.to.0 == interval.1 * MILLI));
        }
        prop_assert!(slices.len() == counted.len() || (32..=64).contains(&slices.len()) && slices.len() < counted.len());
        let lines = rows(&report, By::Line, &Naming::Own(vec![]));
        for (at, slice) in slices.iter().enumerate() {
            let inside = || counted.iter().filter(|(since, until, _)| slice.begin <= time(*since) && time(*until) <= slice.end);
            let objects = inside().flat_map(|(.., more)| more).sum();
            prop_assert_eq!(slice.allocated, Amount { objects, bytes: objects * 100 });
            prop_assert_eq!((slice.live, slice.collections, slice.pauses), (None, None, None));
            // All that is sampled is the caller's, in its own time.
            let of_lines = sum(lines.values().map(|allocated| allocated[at]));
            prop_assert!(of_lines.1.abs_diff(objects * 100) <= 2, "{} {}", of_lines.1, objects * 100);
        }
    }
}

fn count(at: u64, objects: u64) -> Element<'static> {
    Element::AllocCount(AllocCount {
        is_array: ArrayCode::OBJECT,
        class: ClassId(1),
        method: Some(MethodId(3)),
        line: Some(7),
        instances: objects,
        bytes: objects * 100,
        source: None,
        allocated_bytes: None,
        time: time(at),
    })
}

fn sample(at: u64, stack: u64, objects: u64) -> Element<'static> {
    Element::AllocSample(AllocSample {
        is_array: ArrayCode::OBJECT,
        class: ClassId(1),
        method: Some(MethodId(3)),
        line: Some(7),
        stack: Some(StackId(stack)),
        thread: None,
        samples: objects,
        instances: objects,
        bytes: objects * 100,
        error: objects * 100,
        time: time(at),
    })
}

#[test]
fn each_slice_is_spread_by_its_own_samples() {
    // The second caller's thread ends between two snapshots; what it did belongs to the later one.
    let elements = [count(1000, 10), sample(1000, 1, 5), sample(1500, 2, 5), count(2000, 40), count(3000, 44)];
    let mut stats = begin(&Scope { over_time: true, ..Scope::default() });
    elements.iter().for_each(|element| stats.element(element));
    let report = finish(stats, 3000);
    let lines = rows(&report, By::Line, &Naming::Own(vec![]));
    let objects = |line: &str| lines[line].iter().map(|amount| amount.objects).collect::<Vec<_>>();
    assert_eq!(objects("a.A.run(line 20)"), [10, 0, 2]);
    // In the last slice there is no sample, so that the two share it as in all.
    assert_eq!(objects("a.B.run(line 20)"), [0, 30, 2]);
}

#[test]
fn a_part_has_its_own_samples_and_walks() {
    let live = |at: u64, objects: u64| {
        let (is_array, class, time) = (ArrayCode::OBJECT, ClassId(2), time(at));
        Element::LiveCount(LiveCount { is_array, class, instances: objects, bytes: objects * 8, time })
    };
    let elements =
        [count(1000, 10), sample(1000, 1, 5), live(1000, 3), sample(1500, 2, 5), count(2000, 40), live(2500, 4)];
    let report = |from: u64, to: Option<u64>| {
        let scope = Scope { from: Nanos(from * MILLI), to: to.map(|to| Nanos(to * MILLI)), over_time: true };
        let mut stats = begin(&scope);
        elements.iter().for_each(|element| stats.element(element));
        finish(stats, 3000)
    };
    let second = report(900, Some(2100));
    let rows = second.rows_named(By::Line, &second.site_names(&Naming::Own(vec![])), |_| true);
    let rows: Vec<_> = rows.iter().map(|row| (row.subject.to_string(), row.totals.total())).collect();
    assert_eq!(rows, [("a.B.run(line 20)".to_owned(), 30)]);
    assert_eq!(second.sum(|_| true).live(), 3);
    assert_eq!(second.facts().end, Some(time(2000)));
    assert_eq!(second.coverage(true).seen(), None);
    let first = report(0, Some(1400));
    assert_eq!((first.sum(|_| true).total(), first.sum(|_| true).live()), (10, 3));
    let early = report(0, Some(900));
    assert_eq!((early.sum(|_| true).total(), early.facts().live_counts), (10, 0));
    let whole = report(0, None);
    let live: Vec<Option<Amount>> = slices(&whole).iter().map(|slice| slice.live).collect();
    assert_eq!(live, [Some(Amount { objects: 3, bytes: 24 }), None]);
}

#[test]
fn what_was_not_asked_for_is_not_there() {
    let report = finish(begin(&Scope::default()), 10);
    assert_eq!((report.over_time(|_| true), report.part_of_trace()), (None, None));
    assert_eq!(report.length(), Nanos(10 * MILLI));
    let report = finish(begin(&Scope { over_time: true, ..Scope::default() }), 10);
    assert_eq!(slices(&report).iter().map(|slice| slice.allocated.objects).sum::<u64>(), 0);
}
