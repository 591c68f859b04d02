//! `martini stats --over-time`, and `--from`, `--to` of the commands that read traces.

use serde_json::{Value, json};

use crate::support::{run, trace, trace_json};

fn over_time(arguments: &[&str]) -> Value {
    trace_json(&[&["stats", "--over-time"], arguments].concat())["over_time"].take()
}

fn of_slices(json: &Value, key: &str) -> Value {
    json["slices"].as_array().expect("there are slices").iter().map(|slice| slice[key].clone()).collect()
}

#[test]
fn counts_have_a_slice_for_each_time_of_writing() {
    let json = over_time(&[&trace("snapshots.trcxml")]);
    assert_eq!(of_slices(&json, "objects"), json!([5040, 9080, 9300, 600, 640, 2200, 190]));
    assert_eq!(of_slices(&json, "collections"), json!([0, 0, 0, 0, 1, 2, 0]));
    assert_eq!(of_slices(&json, "pause_nanos"), json!([0, 0, 0, 0, 12_500_000, 18_000_000, 0]));
    assert_eq!(of_slices(&json, "live_bytes"), json!([null, null, null, null, 552_000, null, null]));
    let begin = 1_767_606_400_120_000_000_u64;
    assert_eq!(json["slices"][1]["begin_nanos"], begin + 1_002_000_000);
    assert_eq!(json["slices"][1]["end_nanos"], begin + 2_004_000_000);
    let class = &json["class"][0];
    assert_eq!((&class["class"], &class["objects"]), (&json!("byte[]"), &json!([40, 80, 300, 600, 640, 2000, 90])));
    // The copies that the JDK makes are the callers', in their own time.
    let lines: Vec<(&Value, &Value)> =
        json["line"].as_array().unwrap().iter().map(|line| (&line["line"]["line"], &line["objects"])).collect();
    assert_eq!(lines[0], (&json!(41), &json!([0, 80, 300, 600, 640, 2000, 90])));
    assert_eq!(lines[1], (&json!(20), &json!([40, 0, 0, 0, 0, 0, 0])));
    let json = over_time(&["--by", "site", "--top", "1", "--filter", "demo.*", &trace("snapshots.trcxml")]);
    assert_eq!(of_slices(&json, "objects"), json!([5000, 9000, 9000, 0, 0, 200, 100]));
    assert_eq!((json["site"].as_array().unwrap().len(), &json["class"]), (1, &Value::Null));
}

#[test]
fn objects_have_slices_of_one_length() {
    let json = over_time(&[&trace("heap.trcxml")]);
    let slices = json["slices"].as_array().unwrap();
    let sum = |key: &str| slices.iter().map(|slice| slice[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!((sum("objects"), sum("bytes"), sum("collections"), sum("pause_nanos")), (4, 1096, 1, 10_000_000));
    assert_eq!(slices.last().unwrap()["live_bytes"], 1080);
    let length = |slice: &Value| slice["end_nanos"].as_u64().unwrap() - slice["begin_nanos"].as_u64().unwrap();
    assert!(slices[..slices.len() - 1].iter().all(|slice| length(slice) == 31_250_000));
}

#[test]
fn only_a_part_counts() {
    let sum = |arguments: &[&str]| {
        let sum = trace_json(&[&["stats"], arguments].concat())["sum"].take();
        (sum["total"].clone(), sum["live"].clone())
    };
    let heap = trace("heap.trcxml");
    assert_eq!(sum(&["--to", "0.9", &heap]), (json!(2), json!(1)));
    assert_eq!(sum(&["--from", "0.9", &heap]), (json!(2), json!(2)));
    // The collection comes later.
    assert_eq!(sum(&["--to", "0.5", &heap]), (json!(2), json!(2)));
    let counts = trace("snapshots.trcxml");
    assert_eq!(sum(&["--from", "2", "--to", "4.2", &counts]), (json!(9900), json!(0)));
    // The only walk of the heap was before.
    assert_eq!(sum(&["--from", "5.5", &counts]), (json!(2390), json!(0)));
    let ended = run(&["stats", "--from", "5.1", "--to", "5.2", &counts]);
    assert_eq!((ended.status, ended.out.as_str()), (2, ""));
    assert!(ended.err.contains("counts were written at 5.007 and 8.012 s"), "{}", ended.err);
    let ended = run(&["stats", "--by", "thread", "--to", "5", &counts]);
    assert!(ended.status == 2 && ended.err.contains("leave out --from and --to"), "{}", ended.err);
}

#[test]
fn a_part_that_is_none_is_refused_before_anything_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let timeline = folder.path().join("timeline.json");
    let timeline = timeline.to_str().unwrap();
    let contention = trace("contention.trcxml");
    let shown = |from: &str| run(&["threads", "--timeline", timeline, "--from", from, &contention]);
    assert_eq!(shown("0.2").status, 0);
    let written = std::fs::read(timeline).unwrap();
    assert!(written.ends_with(b"]}\n"), "{}", String::from_utf8_lossy(&written));
    let ended = shown("99");
    assert!(ended.status == 2 && ended.err.contains("past the end of the trace"), "{}", ended.err);
    assert_eq!(std::fs::read(timeline).unwrap(), written);
    for command in ["stats", "locks", "threads"] {
        for (arguments, sentence) in [
            (&["--from", "99"][..], "--from 99 is past the end of the trace"),
            (&["--from", "3", "--to", "2"], "--from 3 is not earlier than --to 2"),
        ] {
            let ended = run(&[&[command], arguments, &[&contention]].concat());
            assert!(ended.status == 2 && ended.err.contains(sentence), "{command}: {}", ended.err);
        }
    }
    for arguments in
        [&["--threads", "--from", "1", "x"][..], &["--over-time", "--sort", "live", "x"], &["--to", "-1", "x"]]
    {
        assert_eq!(run(&[&["stats"], arguments].concat()).status, 2, "{arguments:?}");
    }
}
