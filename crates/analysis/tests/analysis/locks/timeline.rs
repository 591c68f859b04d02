//! The timeline is what the Trace Event Format asks for: each kind of event has its fields, slices of a track lie within each
//! other or apart, and arrows begin and end in slices.

use std::collections::{HashMap, HashSet};

use analysis::locks::LockStats;
use analysis::timeline::Timeline;
use proptest::prelude::*;
use serde_json::Value;

use super::{Story, elements, story};

fn timeline(story: &Story) -> Vec<Value> {
    let mut json = Vec::new();
    let mut timeline = Timeline::new(&mut json);
    let mut stats = LockStats::new(story.selection(), Some(&mut timeline));
    elements(story).iter().for_each(|element| stats.element(element));
    stats.end_document();
    stats.finish();
    assert_eq!(timeline.finish().expect("memory takes it"), 0);
    let document: Value = serde_json::from_slice(&json).expect("it is JSON");
    assert_eq!(document["displayTimeUnit"], "ms");
    document["traceEvents"].as_array().expect("a list").clone()
}

/// A time in nanoseconds; the format has microseconds.
fn nanos(event: &Value, key: &str) -> u64 {
    let micros = event[key].as_f64().unwrap_or_else(|| panic!("no {key}: {event}"));
    assert!(micros >= 0.0, "{event}");
    (micros * 1000.0).round() as u64
}

fn track(event: &Value) -> (u64, u64) {
    let number = |key: &str| event[key].as_u64().unwrap_or_else(|| panic!("no {key}: {event}"));
    (number("pid"), number("tid"))
}

fn check(events: &[Value]) {
    let mut named = HashSet::new();
    let mut slices: HashMap<_, Vec<(u64, u64)>> = HashMap::new();
    let mut arrows: HashMap<u64, Vec<&Value>> = HashMap::new();
    for event in events {
        assert!(event["name"].as_str().is_some_and(|name| !name.is_empty()), "{event}");
        match event["ph"].as_str().expect("a phase") {
            "M" => {
                assert_eq!(event["name"], "thread_name");
                assert!(event["args"]["name"].is_string(), "{event}");
                assert!(named.insert(track(event)), "two names: {event}");
            }
            "X" => {
                assert!(event["cat"].is_string() && event["args"].is_object(), "{event}");
                let since = nanos(event, "ts");
                slices.entry(track(event)).or_default().push((since, since + nanos(event, "dur")));
            }
            "s" | "f" => {
                assert!(event["cat"].is_string(), "{event}");
                arrows.entry(event["id"].as_u64().expect("an id")).or_default().push(event);
            }
            other => panic!("phase {other}: {event}"),
        }
    }
    for (track, slices) in &mut slices {
        assert!(named.contains(track), "{track:?} has no name");
        // What begins together lies within the longer one.
        slices.sort_by_key(|&(since, until)| (since, u64::MAX - until));
        let mut open: Vec<(u64, u64)> = Vec::new();
        for &(since, until) in slices.iter() {
            while open.last().is_some_and(|&(_, end)| end <= since) {
                open.pop();
            }
            assert!(open.last().is_none_or(|&(_, end)| until <= end), "{track:?}: {since} to {until} in {open:?}");
            open.push((since, until));
        }
    }
    for (id, ends) in &arrows {
        let [begin, end] = ends.as_slice() else { panic!("arrow {id} has {} ends", ends.len()) };
        assert_eq!((&begin["ph"], &end["ph"]), (&Value::from("s"), &Value::from("f")));
        assert_eq!(end["bp"], "e");
        assert_eq!((&begin["name"], &begin["cat"]), (&end["name"], &end["cat"]));
        for event in [begin, end] {
            let at = nanos(event, "ts");
            let is_in = |&(since, until): &(u64, u64)| since <= at && at <= until;
            assert!(slices.get(&track(event)).is_some_and(|s| s.iter().any(is_in)), "in no slice: {event}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_timeline_is_one_that_viewers_take(story in story(30)) {
        check(&timeline(&story));
    }
}

/// The check itself finds what is wrong.
#[test]
#[should_panic(expected = "to 30 in")]
fn slices_that_overlap_are_found() {
    let slice = |ts: f64, dur: f64| serde_json::json!({ "ph": "X", "name": "x", "cat": "c", "pid": 1, "tid": 1, "ts": ts, "dur": dur, "args": {} });
    let name = serde_json::json!({ "ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": { "name": "t" } });
    check(&[name, slice(0.0, 0.02), slice(0.01, 0.02)]);
}
