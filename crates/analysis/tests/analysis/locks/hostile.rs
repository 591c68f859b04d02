//! Traces and lock logs that were damaged or made up to hurt: threads and monitors may be odd, but the tables agree with each
//! other, and a timeline is always JSON.

use analysis::locks::{LockBy, LockReport, LockStats, Selection};
use analysis::timeline::Timeline;
use proptest::prelude::*;
use trace::locklog::{LockLogReader, LogItem};

use crate::made;

const EXAMPLE: &str = include_str!("../../../../../tests/traces/contention.trcxml");
const LOG: &str = include_str!("../../../../../tests/traces/locks-2011.log");

fn read(bytes: &[u8]) -> (LockReport, Vec<u8>) {
    let mut json = Vec::new();
    let mut timeline = Timeline::new(&mut json);
    let mut stats = LockStats::new(Selection::default(), Some(&mut timeline));
    made::read(bytes, |element| match element {
        Some(element) => stats.element(element),
        None => stats.end_document(),
    });
    let report = stats.finish();
    timeline.finish().unwrap();
    (report, json)
}

fn read_log(bytes: &[u8]) -> (LockReport, Vec<u8>) {
    let mut json = Vec::new();
    let mut timeline = Timeline::new(&mut json);
    let mut stats = LockStats::new(Selection::default(), Some(&mut timeline));
    let mut reader = LockLogReader::new(bytes);
    loop {
        match reader.next_item() {
            Ok(Some(LogItem::Start(clock))) => stats.log_start(clock),
            Ok(Some(LogItem::Event(event))) => stats.log_event(&event),
            Ok(None) => break,
            Err(_) => {}
        }
    }
    stats.end_document();
    let report = stats.finish();
    timeline.finish().unwrap();
    (report, json)
}

/// Every wait is in exactly one row of every table and on the timeline, and every row has a name.
fn check((report, timeline): &(LockReport, Vec<u8>)) {
    let [blocked, waiting, parked, sleeping] = report.stalls();
    let all = blocked.count + waiting.count + parked.count;
    for by in [LockBy::Monitor, LockBy::Class, LockBy::Site, LockBy::Waiter] {
        for pools in [false, true] {
            let rows = report.rows(by, pools);
            let sum: u64 = rows.iter().map(|row| row.contended.count() + row.waited.count()).sum();
            assert!(sum == all || by == LockBy::Monitor && report.is_log(), "{by:?}: {sum} {all}");
            assert!(rows.iter().all(|row| !row.subject.to_string().is_empty()));
        }
    }
    let contended: u64 = report.rows(LockBy::Site, false).iter().map(|row| row.contended.count()).sum();
    let pairs = report.rows(LockBy::Pair, false);
    assert_eq!(pairs.iter().map(|row| row.contended.count()).sum::<u64>(), contended);
    let threads = report.threads(false, |_| true);
    assert_eq!(threads.iter().map(|row| row.members).sum::<u64>(), report.thread_count());
    for row in &threads {
        assert!(row.stalled() <= row.alive());
    }
    for deadlock in report.deadlocks() {
        assert!(deadlock.members.len() > 1);
    }
    let timeline: serde_json::Value = serde_json::from_slice(timeline).unwrap();
    let events = timeline["traceEvents"].as_array().unwrap();
    let stalls = events.iter().filter(|event| event["ph"] == "X" && event["name"] != "alive").count();
    assert_eq!(stalls as u64, all + sleeping.count);
}

#[test]
fn the_examples_are_whole() {
    let example = read(EXAMPLE.as_bytes());
    check(&example);
    assert_eq!(example.0.deadlocks().len(), 1);
    let log = read_log(LOG.as_bytes());
    check(&log);
    assert_eq!(log.0.stalls()[0].count, 4);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_text_is_counted_as_far_as_it_makes_sense(
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..40),
        cut in any::<prop::sample::Index>(),
    ) {
        for (text, read) in [(EXAMPLE, read as fn(&[u8]) -> _), (LOG, read_log)] {
            let bytes = made::damaged(text, &edits, cut);
            check(&read(&bytes));
        }
    }

    #[test]
    fn numbers_of_any_size_are_taken(
        numbers in proptest::collection::vec(numbers(), 1..300),
    ) {
        let mut numbers = numbers.iter().copied().cycle();
        let text = made::with_numbers(EXAMPLE, &mut numbers, ["isArray", "parked"], &['"', '.']);
        check(&read(text.as_bytes()));
        let mut log = String::new();
        for line in LOG.lines().skip(1) {
            let (_, rest) = line.split_once(' ').unwrap();
            log.push_str(&format!("{} {rest}\n", numbers.next().unwrap()));
        }
        check(&read_log(log.as_bytes()));
    }
}

fn numbers() -> impl Strategy<Value = u64> {
    prop_oneof![0_u64..9, any::<u64>(), Just(u64::MAX), Just(18_446_744_073)]
}
