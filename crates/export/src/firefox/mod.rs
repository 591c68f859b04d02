//! The format of the Firefox Profiler: its processed profile, in a version that it upgrades.
//!
//! CPU samples, waits and collections stand at their times; what was allocated stands at the end of the trace, for a trace with
//! counts does not say when. Times are milliseconds from the beginning of the trace, exact to the nanosecond.

mod tables;
mod thread;

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Value, json};
use trace::file::Kind;
use trace::time::{Nanos, Time};

use crate::recorder::constants::Constants;
use crate::recorder::{Event, Recording};
use thread::Rows;

/// What `meta.preprocessedProfileVersion` says.
const VERSION: u32 = 55;

/// What a file begins with.
const BEGINNING: &str = "{\"meta\":{\"importedFrom\":\"martini ";

/// Files of this format that are ours.
pub const FIREFOX: Kind = Kind { name: "Firefox profile", is_begun_by: |head| head.starts_with(BEGINNING.as_bytes()) };

/// The number of the thread that has what no thread of the trace has: collections.
const JVM: u64 = 0;

const NANOS_PER_MILLI: f64 = 1e6;

fn millis(nanos: Nanos) -> f64 {
    nanos.0 as f64 / NANOS_PER_MILLI
}

/// Writes a profile. `name` is what the file is called by.
///
/// # Errors
/// It cannot be written.
pub fn firefox(recording: &Recording, name: &str, out: &mut impl Write) -> io::Result<()> {
    let constants = Constants::of(recording);
    let rows = rows(recording);
    let text = |value: &Value| serde_json::to_string(value).map_err(io::Error::from);
    let meta = text(&meta(recording, name, &rows))?;
    write!(out, "{BEGINNING}{}\",{},\"libs\":[],\"threads\":[", env!("CARGO_PKG_VERSION"), &meta[1..])?;
    for (at, (&number, rows)) in rows.iter().enumerate() {
        let comma = if at > 0 { "," } else { "" };
        write!(out, "{comma}{}", text(&thread::json(recording, &constants, number, rows, name))?)?;
    }
    writeln!(out, "],\"pages\":[],\"profilerOverhead\":[],\"counters\":[]}}")
}

/// What each thread has; those that have nothing are left out.
fn rows(recording: &Recording) -> BTreeMap<u64, Rows<'_>> {
    let mut all: BTreeMap<u64, Rows<'_>> = BTreeMap::new();
    all.entry(JVM).or_default();
    for event in &recording.events {
        match event {
            Event::ThreadStart { .. }
            | Event::ThreadEnd { .. }
            | Event::Initialiser(_)
            | Event::Request(_)
            | Event::Compilation(_)
            | Event::ClassLoad { .. } => {}
            Event::Wait(wait) => all.entry(wait.thread).or_default().waits.push(wait),
            &Event::Sample { thread, time, cpu, stack } => {
                all.entry(thread).or_default().samples.push((time, cpu, stack));
            }
            &Event::Collection { since, until, used } => {
                all.entry(JVM).or_default().collections.push((since, until, used));
            }
        }
    }
    for allocation in &recording.allocations {
        all.entry(allocation.thread).or_default().allocations.push(allocation);
    }
    for event in &recording.events {
        let (Event::ThreadStart { thread, time } | Event::ThreadEnd { thread, time }) = *event else { continue };
        if let Some(rows) = all.get_mut(&thread) {
            let place = if matches!(event, Event::ThreadStart { .. }) { &mut rows.start } else { &mut rows.end };
            *place = Some(time);
        }
    }
    all.values_mut().for_each(Rows::sort);
    all
}

fn meta(recording: &Recording, name: &str, rows: &BTreeMap<u64, Rows<'_>>) -> Value {
    let samples: Vec<Nanos> = rows.values().flat_map(|rows| &rows.samples).map(|&(_, cpu, _)| cpu).collect();
    let sum = Nanos(samples.iter().fold(0, |sum, cpu| sum.saturating_add(cpu.0)));
    let interval = if sum.0 == 0 { 1.0 } else { millis(sum) / samples.len() as f64 };
    let visible: Vec<usize> = (0..).zip(rows.values()).filter(|(_, rows)| !rows.is_empty()).map(|(at, _)| at).collect();
    let busiest = (0..).zip(rows.values()).max_by_key(|(at, rows)| (rows.weight(), std::cmp::Reverse(*at)));
    json!({
        "interval": interval,
        "startTime": millis(recording.begin.since(Time(0))),
        "preprocessedProfileVersion": VERSION,
        "version": 24,
        "processType": 0,
        "product": name,
        "debug": false,
        "symbolicated": true,
        "usesOnlyOneStackType": true,
        "doesNotUseFrameImplementation": true,
        "sourceCodeIsNotOnSearchfox": true,
        "extensions": { "length": 0, "baseURL": [], "id": [], "name": [] },
        "sampleUnits": { "time": "ms", "eventDelay": "ms", "threadCPUDelta": "ns" },
        "categories": tables::categories(),
        "markerSchema": thread::schemas(),
        "initialVisibleThreads": visible,
        "initialSelectedThreads": busiest.map(|(at, _): (usize, _)| at).into_iter().collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use analysis::call_tree::Label;
    use analysis::weighted::WeightedStack;
    use trace::ids::{ObjectId, ThreadId};
    use trace::model::{Element, MonContendedEnter, TraceEnd, TraceStart};

    use super::*;
    use crate::profiles::Profiles;
    use crate::recorder::Recorder;

    fn written(recording: &Recording) -> Value {
        let mut out = Vec::new();
        firefox(recording, "a \"name\"", &mut out).unwrap();
        assert!((FIREFOX.is_begun_by)(&out[..64]));
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn what_was_allocated_is_at_the_end_and_a_wait_without_end_lasts_until_then() {
        let mut recorder = Recorder::new();
        let (trace_id, agent_id) = ("t".into(), "a".into());
        recorder.element(&Element::TraceStart(TraceStart { trace_id, agent_id, time: Time(1000) }));
        let (owner, owner_object, stack, owner_stack, parked, look_interval) = Default::default();
        let (thread, object, time) = (ThreadId(1), ObjectId(2), Time(1100));
        let enter =
            MonContendedEnter { thread, time, object, owner, owner_object, stack, owner_stack, parked, look_interval };
        recorder.element(&Element::MonContendedEnter(enter));
        recorder.element(&Element::TraceEnd(TraceEnd { time: Time(1201) }));
        recorder.end_document();
        let frames = vec![Label::Code("in\"\u{1}"), Label::Code("out")];
        let stack = WeightedStack { thread: None, class: Some("X"), frames, count: 1, weight: 300 };
        let profile =
            written(&recorder.finish(&Profiles { allocated: vec![stack.clone(), stack], ..Profiles::default() }));
        let (jvm, other) = (&profile["threads"][0], &profile["threads"][1]);
        let allocations = &jvm["nativeAllocations"];
        assert_eq!((&allocations["weight"], &allocations["stack"]), (&json!([300, 300]), &json!([2, 2])));
        assert_eq!(allocations["time"], json!([0.000201, 0.000201]));
        assert_eq!(jvm["stackTable"]["prefix"], json!([null, 0, 1]));
        let texts: Vec<&Value> = (0..3).map(|at| &jvm["stringArray"][at]).collect();
        assert_eq!(texts, [&json!("out"), &json!("in\"\u{1}"), &json!("X")]);
        let markers = &other["markers"];
        assert_eq!((&markers["startTime"], &markers["endTime"]), (&json!([0.0001]), &json!([0.000201])));
        assert_eq!(profile["meta"]["initialVisibleThreads"], json!([0, 1]));
    }

    #[test]
    fn a_trace_with_nothing_gives_a_profile_of_one_thread() {
        let profile = written(&Recording::default());
        assert_eq!(profile["threads"].as_array().map(Vec::len), Some(1));
        assert_eq!(profile["meta"]["interval"], json!(1.0));
    }
}
