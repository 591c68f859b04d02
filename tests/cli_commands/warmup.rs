//! `martini warmup` on a trace whose start is known.

use serde_json::json;

use crate::support::{run, trace, trace_json};

#[test]
fn the_axis_adds_up_to_the_counters_of_the_jvm() {
    let json = trace_json(&["warmup", &trace("start.trcxml")]);
    assert_eq!(json["counters"]["java.ci.totalTime"], json!(120_000_000));
    let intervals = json["intervals"].as_array().expect("intervals");
    let sum = |key: &str| intervals.iter().filter_map(|row| row[key].as_u64()).sum::<u64>();
    assert_eq!((sum("compile_nanos"), sum("initialise_nanos")), (120_000_000, 1_530_000_000));
    assert_eq!((sum("load_nanos"), sum("verify_nanos"), sum("collect_nanos")), (8_000_000, 2_000_000, 6_000_000));
    assert_eq!(sum("classes"), 75 + 440);
    assert_eq!((&intervals[0]["from_nanos"], &intervals[0]["classes"]), (&json!(null), &json!(460)));
    assert_eq!(intervals[1]["code"]["interpreted_nanos"], json!(400_000_000));
    assert_eq!(json["code"]["c2_nanos"], json!(100_000_000));
}

#[test]
fn initialisers_have_their_own_time_and_who_caused_them() {
    let json = trace_json(&["warmup", &trace("start.trcxml")]);
    let rows = json["initialisers"].as_array().expect("initialisers");
    let [rules, tables, late] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((&rules["class"], &rules["own_nanos"]), (&json!("shop.Rules"), &json!(1_100_000_000)));
    assert_eq!(rules["caused_by"]["line"], json!(41));
    assert_eq!((&tables["class"], &tables["total_nanos"]), (&json!("shop.Tables"), &json!(400_000_000)));
    assert_eq!((&tables["caused_by"]["class"], &late["lost"]), (&json!("shop.Rules"), &json!("noThread")));
}

#[test]
fn explain_names_the_initialiser_and_who_caused_it() {
    let said = run(&["explain", &trace("start.trcxml")]).out;
    assert!(said.contains("the static initialiser of shop.Rules ran for 1.50 s"), "{said}");
    assert!(said.contains("shop.Controller.handle(") && said.contains("warmup"), "{said}");
}

#[test]
fn a_trace_without_a_start_says_how_to_record_one() {
    let ended = run(&["warmup", &trace("heap.trcxml")]);
    assert_eq!(ended.status, 0);
    assert!(ended.out.contains("martini run --warmup"), "{}", ended.out);
}
