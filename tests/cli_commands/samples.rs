//! Samples of CPU time and of objects, on traces whose numbers are known.

use std::fs::File;

use serde_json::Value;

use crate::support::{end, martini, run, text, trace, trace_json, written};

#[test]
fn tables_of_samples_are_exact_as_json() {
    let path = trace("cpu.trcxml");
    let all = trace_json(&["stats", &path]);
    assert_eq!((&all["of"], &all["samples"], &all["nanos"]), (&"cpu".into(), &340.into(), &3_450_000_000_u64.into()));
    let conservation = &all["conservation"];
    assert_eq!(conservation["clock_nanos"], 3_483_000_000_u64);
    assert_eq!((&conservation["lost_nanos"], &conservation["why_unknown"]), (&200_000_000.into(), &Value::Null));
    assert_eq!(conservation["lost"][0]["reason"], "frame not walkable");
    for by in ["line", "method", "class", "package", "module", "thread", "carrier", "function", "kind"] {
        let rows = trace_json(&["stats", "--cpu", "--by", by, &path])["tables"][by].take();
        let sum: u64 = rows.as_array().unwrap().iter().map(|row| row["nanos"].as_u64().unwrap()).sum();
        assert_eq!(sum, 3_450_000_000, "{by}");
    }
    let part = trace_json(&["stats", "--cpu", "--from", "1", "--to", "2", &path]);
    assert_eq!(part["conservation"]["why_unknown"], "window");
    assert!(part["nanos"].as_u64().unwrap() < 2_000_000_000);
    let wall = trace_json(&["stats", "--wall", &path]);
    assert_eq!((&wall["of"], &wall["samples"]), (&"wall".into(), &80.into()));
}

/// What comes through a pipe cannot be read again.
#[test]
fn a_trace_without_objects_is_read_once() {
    for (command, name, of) in [
        ("stats", "cpu.trcxml", "340 samples: 3.45 s of CPU time"),
        ("tree", "cpu.trcxml", "CPU time, top down: 340 samples"),
        ("tree", "contention.trcxml", "Waits for locks, top down: 7 waits"),
    ] {
        let input = File::open(trace(name)).expect("the trace is there");
        let piped = end(martini().args([command, "-"]).stdin(input));
        assert!(piped.status == 0 && piped.out.contains(of), "{command} {name}: {}", piped.out);
        assert_eq!(run(&[command, &trace(name)]).out.replace(&trace(name), "-"), piped.out);
    }
}

#[test]
fn a_tree_of_samples_is_one_of_stacks_that_pass_the_filter() {
    let path = trace("cpu.trcxml");
    let of = |flags: &[&str]| trace_json(&[&["tree", "--cpu"], flags, &[&path]].concat())["nodes"].take();
    assert_eq!(of(&[])[0]["weight"], 3_450_000_000_u64);
    let parse = of(&["--in", "demo.Worker.parse"]);
    assert_eq!((&parse[0]["weight"], &parse[1]["ran"]["int"]), (&600_000_000.into(), &600_000_000.into()));
    assert!(parse[0]["error"].as_u64().unwrap() > 0);
    let threads = of(&["--by", "thread", "--cut", "0"]);
    assert!(threads.as_array().unwrap().iter().any(|node| node["kind"] == "thread" && node["name"] == "order-1"));
    let out = run(&["tree", "--cpu", "--folded", "--frames", "method", &path]).out;
    assert!(
        out.contains("demo.Worker.run;demo.Worker.price;java.util.HashMap.get;java.util.HashMap.hash 1000000000\n")
    );
}

#[test]
fn what_samples_do_not_have_is_said() {
    let path = trace("cpu.trcxml");
    for (flags, part) in [
        (&["stats", "--cpu", "--by", "site"][..], "samples have no allocation sites"),
        (&["tree", "--cpu", "--by", "class"], "samples have no object class"),
        (&["tree", "--locks", "--by", "carrier"], "carrier threads are known only for samples"),
    ] {
        let ended = run(&[flags, &[&path]].concat());
        assert!(ended.status == 2 && ended.err.contains(part), "{flags:?}: {}", ended.err);
    }
    let none = run(&["stats", "--cpu", &trace("heap.trcxml")]);
    assert!(none.out.contains("record them with martini run --cpu"), "{}", none.out);
    let none = run(&["tree", "--live", &trace("callers.trcxml")]);
    assert!(none.out.contains("record them with martini run --sampled"), "{}", none.out);
    let sorted = run(&["stats", "--cpu", "--sort", "age", &path]);
    assert!(sorted.err.contains("--sort total does"), "{}", sorted.err);
}

#[test]
fn sampled_objects_are_scaled_to_the_accounts() {
    let path = trace("sampled.trcxml");
    let all = trace_json(&["stats", &path]);
    assert_eq!(all["sampled_objects"], 402);
    let calibration = &all["coverage"]["calibration"];
    // Each cell is rounded for itself.
    let [sum, accounted] =
        [&all["sum"]["total_bytes"], &calibration["accounted_bytes"]].map(|sum| sum.as_u64().unwrap());
    assert!(sum.abs_diff(accounted) <= 3, "{sum} {accounted}");
    assert_eq!(all["coverage"]["why_unknown"], "objects were sampled, not counted");
    let findings = trace_json(&["explain", &path])["findings"].take();
    let growth = findings.as_array().unwrap().iter().find(|finding| finding["kind"] == "growth").expect("it leaks");
    assert_eq!((&growth["at"]["class"], &growth["classes"][0]["samples"]), (&"demo.Cache".into(), &33.into()));
    assert_eq!(growth["classes"][0]["oldest"], 7);
    let live = trace_json(&["tree", "--live", &path])["nodes"].take();
    assert_eq!(live[0]["weight"], all["sum"]["active_bytes"]);
    let new = live.as_array().unwrap().iter().find(|node| node["kind"] == "since_collection").expect("some is new");
    let [new, active, survived] = [&new["weight"], &all["sum"]["active_bytes"], &all["sum"]["survived_bytes"]];
    assert_eq!(new.as_u64(), active.as_u64().zip(survived.as_u64()).map(|(active, survived)| active - survived));
    // 38 of the 42 samples of this line live.
    let lines = trace_json(&["stats", "--by", "line", &path])["tables"]["line"].take();
    let line = lines.as_array().unwrap().iter().find(|line| line["line"]["line"] == 14).expect("it allocates");
    let [allocated, lives] = ["total_bytes", "active_bytes"].map(|key| line[key].as_f64().unwrap());
    assert!((lives - allocated * 38.0 / 42.0).abs() <= 8.0, "{lives} of {allocated}");
}

#[test]
fn sampled_objects_have_slices_that_are_scaled_too() {
    let path = trace("sampled.trcxml");
    let all = trace_json(&["stats", "--over-time", &path]);
    let slices = all["over_time"]["slices"].as_array().unwrap();
    assert_eq!(slices.len(), 3);
    let sum: u64 = slices.iter().map(|slice| slice["bytes"].as_u64().unwrap()).sum();
    let total = all["sum"]["total_bytes"].as_u64().unwrap();
    assert!(sum.abs_diff(total) <= 9, "{sum} {total}");
    let live: Vec<Option<u64>> = slices.iter().map(|slice| slice["live_bytes"].as_u64()).collect();
    assert_eq!(live[..2], [None, None]);
    let lives = all["sum"]["active_bytes"].as_u64().unwrap();
    assert!(live[2].is_some_and(|last| last.abs_diff(lives) <= 9), "{live:?} {lives}");
}

#[test]
fn an_interval_that_was_widened_is_in_the_summary() {
    let (asked, longer) = (r#"key="sampled.interval" value="524288""#, r#"key="sampled.interval" value="2097152""#);
    let said = |text: String| run(&["stats", written(text).path()]).out;
    assert!(!said(text("sampled.trcxml")).contains("as asked"));
    let page = said(text("sampled.trcxml").replace(asked, longer));
    assert!(page.contains("; sampled once per 2.0 MiB at the least, not 512.0 KiB as asked\n"), "{page}");
}
