//! Time to safepoint: totals of each operation, and who was late.

use analysis::safepoints::{LateBy, LateRow, LateSubject, SafepointReport, SafepointStats};
use proptest::prelude::*;
use trace::ids::{FunctionId, StackId, ThreadId};
use trace::model::{Element, LateThread, Safepoint, SafepointCount};
use trace::time::{Nanos, Time};

use crate::made;

/// Classes of frames, and methods and stacks of the same numbers: each stack is called by the last of them.
const CODE: [&str; 3] = ["java.lang.System", "shop.Cart", "shop.Main"];

fn define(stats: &mut SafepointStats) {
    for (id, name) in (1..).zip(CODE) {
        stats.element(&made::class(id, name));
        stats.element(&made::method(id, id, "run"));
    }
    for id in 1..=3 {
        stats.element(&Element::StackDef(made::stack(id, (id..=3).map(|method| (method, method as u32 * 10)))));
        stats.element(&made::thread(id, format!("worker-{id}"), None));
    }
    stats.element(&made::function(1, "memcpy", "libc.so.6"));
}

fn count(operation: &'static str, count: u64, sync: u64, total: u64) -> Element<'static> {
    let operation = Some(operation.into());
    Element::SafepointCount(SafepointCount { operation, count, sync: Nanos(sync), total: Nanos(total), time: Time(0) })
}

fn stop(operation: &'static str, sync: u64) -> Element<'static> {
    let (operation, total) = (Some(operation.into()), Some(Nanos(sync + 1)));
    Element::Safepoint(Safepoint { operation, time: Time(0), sync: Nanos(sync), total })
}

/// A thread, with the stack of some number, or none.
fn late(thread: u64, late: u64, stack: Option<u64>) -> Element<'static> {
    Element::LateThread(LateThread {
        thread: ThreadId(thread),
        time: Time(late),
        late: Nanos(late),
        stack: stack.map(StackId),
        function: (stack == Some(1)).then_some(FunctionId(1)),
        lost: stack.is_none().then(|| "noAnswer".into()),
    })
}

fn read(elements: &[Element<'_>]) -> SafepointReport {
    let mut stats = SafepointStats::new();
    define(&mut stats);
    elements.iter().for_each(|element| stats.element(element));
    stats.end_document();
    stats.finish()
}

fn line<'a>(rows: &'a [LateRow<'_>], class: &str) -> &'a LateRow<'a> {
    let is_of = |row: &&LateRow<'_>| matches!(row.subject, LateSubject::Line(at) if at.class == class);
    rows.iter().find(is_of).expect("a row of that class")
}

#[test]
fn counts_are_cumulative_and_documents_add_up() {
    let mut stats = SafepointStats::new();
    for _ in 0..2 {
        stats.element(&count("Cleanup", 1, 10, 100));
        stats.element(&count("G1CollectFull", 2, 30, 900));
        stats.element(&count("Cleanup", 3, 40, 300));
        stats.end_document();
    }
    let report = stats.finish();
    let all: Vec<_> = report.operations().iter().map(|one| (one.name, one.all.count, one.all.sync.0)).collect();
    assert_eq!(all, [(Some("Cleanup"), 6, 80), (Some("G1CollectFull"), 4, 60)]);
    assert_eq!((report.sums().count, report.sums().sync.0, report.sums().total.0), (10, 140, 2400));
    assert_eq!(report.slow().count, 0);
}

#[test]
fn a_stop_is_divided_among_the_threads_that_were_late() {
    let report = read(&[
        stop("Cleanup", 100),
        // Alone until 40; both until 60; the first one again until the end.
        late(1, 40, Some(1)),
        late(1, 60, Some(1)),
        late(2, 60, Some(2)),
        late(1, 80, Some(1)),
        stop("G1CollectFull", 50),
        late(2, 30, Some(2)),
        // Of no stop: it was over by then.
        late(3, 51, Some(3)),
        stop("Cleanup", 7),
        stop("Cleanup", 30),
        late(3, 10, None),
    ]);
    let rows = report.late(LateBy::Line, Vec::new());
    // Both first stacks have a frame of the user's own code in shop.Cart: the innermost is named.
    let cart = line(&rows, "shop.Cart");
    assert_eq!((cart.time.0, cart.stops, cart.longest.0), (150, 2, 100));
    let inside: Vec<_> = cart.inside.iter().map(|(inside, time)| (inside.to_string(), time.0)).collect();
    assert_eq!(inside[0], ("memcpy (libc.so.6)".to_owned(), 90));
    assert_eq!(inside[1].1, 60);
    assert_eq!(cart.stack.len(), 3, "{:?}", cart.stack);
    assert_eq!(rows[1].subject, LateSubject::Lost("noAnswer"));
    assert_eq!(rows[1].subject.to_string(), "(stack lost: the thread did not run in time)");
    assert_eq!((rows[1].time.0, report.unseen().0, report.unmatched()), (30, 7, 1));
    let threads = report.late(LateBy::Thread, Vec::new());
    let threads: Vec<_> = threads.iter().map(|row| (row.subject.to_string(), row.time.0, row.longest.0)).collect();
    assert_eq!(
        threads,
        [("worker-1".to_owned(), 90, 90), ("worker-2".to_owned(), 60, 50), ("worker-3".to_owned(), 30, 30)]
    );
    let slow = report.slow();
    assert_eq!((slow.count, slow.sync.0, slow.longest.0), (4, 187, 100));
}

proptest! {
    #[test]
    fn all_parts_together_are_the_time_to_safepoint(
        stops in prop::collection::vec((0_u64..1000, prop::collection::vec((1_u64..4, 0_u64..1100, 0_u64..5), 0..9)), 0..9),
    ) {
        let mut elements = Vec::new();
        for (sync, found) in &stops {
            elements.push(stop("Cleanup", *sync));
            elements.extend(found.iter().map(|&(thread, time, stack)| late(thread, time, Some(stack).filter(|&stack| stack > 0))));
        }
        let report = read(&elements);
        let slow: u64 = stops.iter().map(|(sync, _)| sync).sum();
        prop_assert_eq!(report.slow().sync.0, slow);
        for by in [LateBy::Line, LateBy::Thread] {
            let rows = report.late(by, Vec::new());
            prop_assert_eq!(rows.iter().map(|row| row.time.0).sum::<u64>() + report.unseen().0, slow);
            for row in rows {
                prop_assert!(row.longest <= row.time && row.stops <= stops.len() as u64);
                prop_assert_eq!(row.inside.iter().map(|(_, time)| time.0).sum::<u64>(), row.time.0);
            }
        }
    }
}
