//! `martini requests` on a trace whose requests are known.

use serde_json::{Value, json};

use crate::support::{run, text, trace, trace_json};

/// How long each part of a request took.
fn parts(request: &Value) -> Vec<(String, u64)> {
    let parts = request["parts"].as_array().expect("parts").iter();
    parts
        .map(|part| (part["part"].as_str().expect("a name").to_owned(), part["nanos"].as_u64().expect("nanos")))
        .collect()
}

fn entry<'j>(json: &'j Value, method: &str) -> &'j Value {
    let entries = json["entries"].as_array().expect("entries");
    entries.iter().find(|entry| entry["entry"] == method).expect("the entry point")
}

#[test]
fn each_requests_parts_add_up_to_its_time() {
    let json = trace_json(&["requests", &trace("requests.trcxml")]);
    let orders = entry(&json, "shop.Orders.handle");
    assert_eq!(
        (&orders["requests"], &orders["failures"], &orders["kind"]),
        (&json!(1010), &json!(1), &json!("servlet"))
    );
    // It is in the trace by itself.
    assert_eq!(orders["max_nanos"], json!(2_400_000_000_u64));
    let divided = orders["divided"].as_array().expect("requests");
    let numbers: Vec<_> = divided.iter().map(|request| request["number"].as_u64().expect("a number")).collect();
    assert_eq!(numbers, [1, 10, 100, 1000, 57, 58]);
    for request in divided {
        let sum: u64 = parts(request).iter().map(|(_, nanos)| nanos).sum();
        assert_eq!(request["nanos"], json!(sum), "{request}");
    }
}

#[test]
fn the_first_request_is_explained() {
    let json = trace_json(&["requests", &trace("requests.trcxml"), "--request", "shop.Orders.handle:1"]);
    let [entry] = &json["entries"].as_array().expect("entries")[..] else { panic!("{json}") };
    let [first] = &entry["divided"].as_array().expect("requests")[..] else { panic!("{entry}") };
    let parts = parts(first);
    let part = |name: &str| parts.iter().find(|(part, _)| part == name).map(|(_, nanos)| *nanos);
    assert_eq!(part("initialisers"), Some(1_500_000_000));
    assert_eq!(
        (part("monitors"), part("collections"), part("safepoints")),
        (Some(250_000_000), Some(20_000_000), Some(5_000_000))
    );
    // 34 samples outside of initialisers, of all CPU time that is not theirs.
    assert_eq!((part("loading"), part("exceptions")), (Some(120_000_000), Some(20_000_000)));
    assert_eq!((part("interpreted"), part("compiled")), (Some(160_000_000), Some(40_000_000)));
    let [rules, tables] = &first["initialisers"].as_array().expect("initialisers")[..] else { panic!("{first}") };
    assert_eq!((&rules["class"], &rules["own_nanos"]), (&json!("shop.Rules"), &json!(1_100_000_000)));
    assert_eq!((&rules["caused_by"]["line"], &tables["caused_by"]["class"]), (&json!(41), &json!("shop.Rules")));
    let wait = &first["waits"][0];
    assert_eq!((&wait["class"], &wait["owner"]), (&json!("shop.Cache"), &json!("http-2")));
    assert_eq!((&wait["at"]["line"], &wait["owner_at"]["line"]), (&json!(17), &json!(60)));
}

#[test]
fn what_was_not_recorded_is_said_to_be_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("requests.trcxml");
    let recorded = "requests=on,warmup=on,locks=on,juc=on,cpu=10ms,ttsp=on";
    let without: String = text("requests.trcxml")
        .replace(recorded, "requests=on,cpu=10ms")
        .lines()
        .filter(|line| !line.starts_with("<classInit") && !line.starts_with("<mon"))
        .flat_map(|line| [line, "\n"])
        .collect();
    std::fs::write(&path, without).expect("it can be written");
    let path = path.to_str().expect("a path");
    let json = trace_json(&["requests", path]);
    let first = &entry(&json, "shop.Orders.handle")["divided"][0];
    let not_recorded = first["not_recorded"].as_array().expect("parts");
    assert!(not_recorded.contains(&json!("initialisers")) && not_recorded.contains(&json!("monitors")), "{first}");
    assert!(parts(first).iter().all(|(part, _)| part != "initialisers"));
    let said = run(&["requests", path]).out;
    assert!(said.contains("static initialisers (not recorded)") && said.contains("waits (not recorded)"), "{said}");
    let said = run(&["requests", path, "--request", "57"]).out;
    assert!(said.contains("not recorded: initialisers, monitors, locks") && said.contains("ready"), "{said}");
}

#[test]
fn a_part_of_the_time_and_of_the_entry_points_can_be_chosen() {
    let json =
        trace_json(&["requests", &trace("requests.trcxml"), "--entry", "*handle", "--from", "4.5", "--slowest", "1"]);
    let [entry] = &json["entries"].as_array().expect("entries")[..] else { panic!("{json}") };
    assert_eq!(entry["requests"], json!(1009));
    let numbers: Vec<_> = entry["divided"].as_array().expect("requests").iter().map(|row| &row["number"]).collect();
    assert_eq!(numbers, [&json!(10), &json!(100), &json!(1000), &json!(57)]);
}

#[test]
fn explain_names_a_slow_first_request_and_the_request_of_an_initialiser() {
    let said = run(&["explain", &trace("requests.trcxml")]).out;
    assert!(
        said.contains(
            "the first request of shop.Orders.handle took 114 times the median: 1.50 s (62 %) of 2.40 s in static"
        ),
        "{said}"
    );
    assert!(said.contains("in request 1 of shop.Orders.handle"), "{said}");
    // Four milliseconds are no matter.
    assert!(!said.contains("shop.Health.check"), "{said}");
    let json = trace_json(&["explain", &trace("requests.trcxml")]);
    let findings = json["findings"].as_array().expect("findings");
    let request = findings.iter().find(|finding| finding["kind"] == "request").expect("the request");
    assert_eq!((&request["entry"], &request["number"]), (&json!("shop.Orders.handle"), &json!(1)));
}

#[test]
fn requests_that_are_not_there_are_said_so() {
    let ended = run(&["requests", &trace("requests.trcxml"), "--request", "56"]);
    assert!(ended.status != 0 && ended.err.contains("request 56 is not in the trace"), "{ended:?}");
    let ended = run(&["requests", &trace("heap.trcxml")]);
    assert_eq!(ended.status, 0);
    assert!(ended.out.contains("martini run --requests"), "{}", ended.out);
}

#[test]
fn requests_that_go_on_elsewhere_are_said_to() {
    let json = trace_json(&["requests", &trace("requests.trcxml"), "--request", "shop.Orders.handle:58"]);
    let [entry] = &json["entries"].as_array().expect("entries")[..] else { panic!("{json}") };
    assert_eq!(
        (&entry["handovers"], &entry["requests"], &entry["divided"][0]["handed_over"]),
        (&json!(312), &json!(1010), &json!(true))
    );
    let notes = |json: &Value| -> Vec<String> {
        let notes = json["notes"].as_array().expect("notes").iter().map(|note| note.as_str().expect("text").to_owned());
        notes.filter(|note| note.contains("other threads")).collect()
    };
    let [note] = &notes(&json)[..] else { panic!("{json}") };
    assert!(note.starts_with("handed over (startAsync): 312 of 1,010 requests of shop.Orders.handle; "), "{note}");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("webflux.trcxml");
    let of_webflux =
        text("requests.trcxml").replace("kind=\"servlet\"", "kind=\"webflux\"").replace("handovers=", "other=");
    std::fs::write(&path, of_webflux).expect("it can be written");
    let json = trace_json(&["requests", path.to_str().expect("a path")]);
    let [note] = &notes(&json)[..] else { panic!("{json}") };
    assert!(note.starts_with("webflux: a request is the call of the handler; "), "{note}");
}
