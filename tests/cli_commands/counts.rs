//! `martini stats` on a trace of heap=counts, and the coverage under every table.

use serde_json::{Value, json};

use crate::support::{run, text, trace, trace_json, written};

fn stats(arguments: &[&str]) -> String {
    let ended = run(&[&["stats"], arguments, &[&trace("counts.trcxml")]].concat());
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    let (_, tables) = ended.out.split_once('\n').expect("the first line names the trace");
    tables.to_owned()
}

fn stats_json(arguments: &[&str]) -> Value {
    trace_json(&[&["stats"], arguments, &[&trace("counts.trcxml")]].concat())
}

#[test]
fn threads_stand_beside_what_the_jvm_accounts() {
    let (summary, tables) = (stats(&["--threads"]), stats(&["--by", "thread"]));
    assert_eq!(summary, tables);
    let expected = "
  objects   reported        JVM   percent  thread
  150,016    2.3 MiB  785.0 KiB  299.01 %  main
   50,000  781.2 KiB  781.8 KiB   99.93 %  worker
  more than 100 %: sites count every allocation they execute, even those the JIT removed

";
    assert!(summary.contains(expected), "{summary}");
}

#[test]
fn json_has_the_exact_numbers() {
    let json = stats_json(&["--by", "class"]);
    let cell = &json["tables"]["class"][0];
    assert_eq!(cell["class"], "demo.Cell");
    let keys = ["total", "total_bytes", "live", "active_bytes", "collected", "average_age", "estimated_bytes"];
    let numbers: Vec<&Value> = keys.iter().map(|key| &cell[key]).collect();
    assert_eq!(json!(numbers), json!([200_001, 3_200_016, 17, 272, null, null, 1_600_000]));
    let coverage = json!({
        "seen_percent": 99.967, "reported_bytes": 3_203_616, "accounted_bytes": 1_604_368, "missing_bytes": 528,
        "excess_bytes": 1_599_776, "unknown_threads": 0, "unknown_bytes": 0, "worst_thread": null, "why_unknown": null,
        "calibration": null, "uncounted": null,
    });
    assert_eq!(json["coverage"], coverage);
    let accounts = stats_json(&["--threads"]);
    let main = json!({
        "thread": { "name": "main", "group": "main", "id": 1 },
        "objects": 150_016, "bytes": 2_403_616, "vm_bytes": 803_840,
    });
    assert_eq!(accounts["tables"], json!({ "accounts": [main, accounts["tables"]["accounts"][1].clone()] }));
}

#[test]
fn an_unknown_coverage_is_shown_with_its_reason() {
    let counts = text("counts.trcxml");
    let count = |key: &str| format!("<martiniCount key=\"{key}\" detail=\"no such function\" value=\"1\"/>\n<traceEnd");
    for (text, reason) in [
        (
            counts.split("<traceEnd").next().unwrap().to_owned(),
            "the trace was cut off; of the threads with an account, ",
        ),
        (counts.replace("<traceEnd", &count("limit.reached")), "the trace was ended at its limit"),
        (counts.replace("<traceEnd", &count("coverage.filtered")), "filters leave classes out of the trace"),
        (counts.replace("<traceEnd", &count("coverage.unavailable")), "could not be used, no such function"),
        (counts.replace(" vmBytes=\"800528\"", ""), "the JVM gave no account of 1 thread; "),
        (text("heap.trcxml"), "the trace does not hold what the JVM accounted to its threads"),
    ] {
        let file = written(text);
        let ended = run(&["stats", file.path()]);
        let coverage: Vec<&str> = ended.out.lines().filter(|line| line.starts_with("coverage: ")).collect();
        assert_eq!(coverage.len(), 1, "{}", ended.out);
        assert!(coverage[0].starts_with("coverage: unknown: "), "{}", coverage[0]);
        assert!(coverage[0].contains(reason), "{}", coverage[0]);
    }
}

#[test]
fn counts_that_were_not_yet_written_are_no_other_profiler() {
    let counts = text("counts.trcxml");
    let is_count = |line: &&str| line.contains("Count ") && !line.contains("<martiniCount");
    let without = counts.lines().filter(|line| !is_count(line)).collect::<Vec<_>>().join("\n");
    let limited = without.replace("<traceEnd", "<martiniCount key=\"limit.reached\" value=\"4096\"/>\n<traceEnd");
    for (text, why) in [
        (
            without.split("<traceEnd").next().unwrap().to_owned(),
            "and the trace was cut off before; use a shorter every=",
        ),
        (limited, "it reached its limit before the first snapshot; use a larger limit="),
        (without, "no counted site was executed"),
    ] {
        let file = written(text);
        let out = run(&["stats", file.path()]).out;
        assert!(out.contains("note: the trace has no numbers: ") && out.contains(why), "{why}: {out}");
        assert!(!out.contains("without the heap profiler"), "{out}");
    }
}

/// How much the JVM reported is known of all classes together only.
#[test]
fn what_the_jvm_reported_is_not_said_of_some_classes() {
    assert!(
        stats(&["--filter", "demo.*"]).starts_with("200,001 objects (3.1 MiB) counted in 1.4 s; 17 (272 B) live at")
    );
}
