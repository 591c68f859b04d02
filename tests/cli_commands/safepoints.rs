//! `martini safepoints` on a trace whose late threads are known.

use serde_json::json;

use crate::support::{run, trace, trace_json};

const MILLI: u64 = 1_000_000;

#[test]
fn json_has_exact_numbers() {
    let json = trace_json(&["safepoints", &trace("safepoints.trcxml")]);
    assert_eq!((&json["safepoints"], &json["slow"], &json["unseen_nanos"]), (&json!(16), &json!(3), &json!(1_300_000)));
    assert_eq!((&json["sync_nanos"], &json["total_nanos"]), (&json!(95_100_000), &json!(157_700_000)));
    let first = &json["operations"][0];
    assert_eq!((&first["operation"], &first["safepoints"]), (&json!("G1CollectForAllocation"), &json!(12)));
    assert_eq!(first["longest_sync_nanos"], json!(80 * MILLI));
    let rows: Vec<_> = json["late_lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            (
                row["at"]["method"].as_str().unwrap_or_default().to_owned(),
                row["nanos"].as_u64().unwrap() / MILLI,
                row["delayed"].as_u64(),
            )
        })
        .collect();
    // At 40 ms both were late, so each has half of what passed since 3 ms; the last look stands for the rest.
    let expected = [("grow", 60, Some(2)), ("checksum", 21, Some(1)), ("", 10, Some(1))];
    assert_eq!(rows, expected.map(|(method, nanos, delayed)| (method.to_owned(), nanos, delayed)));
    assert_eq!(json["late_lines"][0]["inside"][0]["in"], json!("__memmove_avx_unaligned_erms (libc.so.6)"));
    assert_eq!(json["late_threads"][0]["name"], json!("main"));
}

#[test]
fn only_one_table_is_shown_if_one_is_wanted() {
    let json = trace_json(&["safepoints", "--by", "thread", &trace("safepoints.trcxml")]);
    assert_eq!((json.get("late_lines"), json["late_threads"].as_array().map(Vec::len)), (None, Some(2)));
    let text = run(&["safepoints", "--by", "thread", "--top", "1", &trace("safepoints.trcxml")]).out;
    assert!(text.contains("late thread\n") && !text.contains("late at\n"), "{text}");
    assert!(text.contains("... and 1 more"), "{text}");
}

#[test]
fn a_trace_without_safepoints_says_so() {
    let ended = run(&["safepoints", &trace("heap.trcxml")]);
    assert_eq!(ended.status, 0);
    assert!(ended.out.contains("note: the trace has no safepoints"), "{}", ended.out);
}

#[test]
fn explain_names_who_makes_all_others_wait() {
    let finding = &trace_json(&["explain", &trace("safepoints.trcxml")])["findings"][0];
    assert_eq!((&finding["kind"], &finding["worst"]["at"]["method"]), (&json!("late"), &json!("grow")));
}
