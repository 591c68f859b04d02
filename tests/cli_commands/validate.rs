//! `martini validate`: verdicts, places and exit codes.

use crate::support::{run, text, trace, trace_json, written};

fn validate(text: &str, arguments: &[&str]) -> (i32, String) {
    let file = written(text);
    let ended = run(&[&["validate"], arguments, &[file.path()]].concat());
    assert_eq!(ended.err, "");
    (ended.status, ended.out)
}

#[test]
fn the_worked_examples_are_valid() {
    let traces = ["heap", "threads", "dump", "counts"].map(|name| trace(&format!("{name}.trcxml")));
    let ended = run(&["validate", &traces[0], &traces[1], &traces[2], &traces[3]]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    assert_eq!(ended.out.lines().filter(|line| line.contains(": valid (")).count(), 4, "{}", ended.out);
}

#[test]
fn a_violation_is_shown_with_its_place_and_rule() {
    let broken = text("heap.trcxml").replace("objFree objIdRef=\"11\"", "objFree objIdRef=\"99\"");
    let (status, out) = validate(&broken, &[]);
    assert_eq!(status, 1);
    assert!(out.contains("not valid (1 violation in 36 elements, 1 document)"), "{out}");
    let at = broken.find("<objFree objIdRef=\"99\"").unwrap();
    assert!(
        out.contains(&format!("line 26, byte {at}:")) && out.contains("99") && out.contains("[freed-once]"),
        "{out}"
    );
}

#[test]
fn json_has_each_violation_with_its_byte() {
    let broken = text("heap.trcxml").replace("objFree objIdRef=\"11\"", "objFree objIdRef=\"99\"");
    let at = broken.find("<objFree objIdRef=\"99\"").unwrap();
    let (status, out) = validate(&broken, &["--json"]);
    assert_eq!(status, 1);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    let checked = &json["traces"][0];
    assert_eq!((&checked["valid"], &checked["elements"]), (&false.into(), &36.into()));
    assert_eq!((&checked["violation_count"], &checked["rules"]["freed-once"]), (&1.into(), &1.into()));
    let violation = &checked["violations"][0];
    assert_eq!((&violation["rule"], &violation["document"]), (&"freed-once".into(), &1.into()));
    assert_eq!((&violation["line"], &violation["byte"]), (&26.into(), &at.into()));
    assert_eq!(trace_json(&["validate", &trace("heap.trcxml")])["valid"], true);
}

#[test]
fn lenient_forgives_what_old_profilers_did() {
    let cut = text("heap.trcxml").replace("</TRACE>\n", "");
    assert_eq!(validate(&cut, &[]).0, 1);
    assert_eq!(validate(&cut, &["--strict"]).0, 1);
    let (status, out) = validate(&cut, &["--lenient"]);
    assert_eq!(status, 0);
    assert!(out.contains("valid (36 elements, 1 document, 1 without an end tag)"), "{out}");
    assert_eq!(run(&["validate", "--lenient", &trace("jvmpi.trcxml")]).status, 0);
    assert_eq!(run(&["validate", "--strict", "--lenient", &trace("heap.trcxml")]).status, 2);
}

#[test]
fn long_lists_are_cut_and_counted() {
    let frees = "<objFree objIdRef=\"77\" time=\"1767606401.004000000\"/>\n".repeat(5);
    let broken = text("heap.trcxml").replace("<gcFinish", &format!("{frees}<gcFinish"));
    let (status, out) = validate(&broken, &["--top", "2"]);
    assert_eq!(status, 1);
    assert!(out.contains("5 violations"), "{out}");
    assert_eq!(out.matches("[freed-once]").count(), 2);
    assert!(out.contains("... and 3 more; by rule: freed-once 5"), "{out}");
}

#[test]
fn one_bad_trace_among_good_ones_decides() {
    let ended = run(&["validate", &trace("jvmpi.trcxml"), &trace("heap.trcxml")]);
    assert_eq!(ended.status, 1);
    assert!(ended.out.contains("heap.trcxml: valid"), "{}", ended.out);
    let ended = run(&["validate", &trace("jvmpi.trcxml"), "/no/such/trace", &trace("heap.trcxml")]);
    assert_eq!(ended.status, 2);
    assert!(ended.err.contains("/no/such/trace") && ended.out.contains("heap.trcxml: valid"), "{ended:?}");
}

#[test]
fn what_an_importer_of_tptps_would_skip_is_said() {
    let counts = text("counts.trcxml");
    let (status, out) = validate(&counts, &[]);
    let first = counts.find("<allocCount").expect("a count");
    assert_eq!(status, 0, "{out}");
    assert!(out.contains("    5 allocCount, first at byte "), "{out}");
    let json = trace_json(&["validate", &trace("counts.trcxml")]);
    let skipped = &json["imported"]["skipped"];
    assert_eq!((&skipped["allocCount"]["count"], &skipped["allocCount"]["byte"]), (&5.into(), &first.into()));
    assert_eq!(json["imported"]["unresolved"], serde_json::Value::Null);
    let broken = text("jvmpi.trcxml").replacen("<methodDef ", "<methodDe ", 1);
    let (_, out) = validate(&broken, &["--lenient"]);
    assert!(out.contains("1 methodDe, first at byte ") && out.contains("it could not resolve "), "{out}");
}
