//! Calls of execution traces, on a trace whose calls are known and that has the faults of real ones.

use serde_json::{Value, json};

use crate::support::{run, trace, trace_json};

fn stats(arguments: &[&str]) -> Value {
    trace_json(&[&["stats"], arguments, &[&trace("calls.trcxml")]].concat())
}

fn method<'v>(table: &'v Value, name: &str) -> &'v Value {
    table.as_array().expect("a table").iter().find(|row| row["method"]["method"] == name).expect("the row is there")
}

#[test]
fn an_execution_trace_shows_its_calls() {
    let all = stats(&[]);
    assert_eq!((&all["of"], &all["documents_in_file"], &all["calls"]), (&json!("calls"), &json!(2), &json!(392)));
    let methods = &all["tables"]["method"];
    let step = method(methods, "step");
    assert_eq!(
        (&step["calls"], &step["base_nanos"], &step["min_nanos"]),
        (&json!(250), &json!(12_500_000), &Value::Null)
    );
    // Three calls, two of them inside another: 0.5 ms each, without 13 us of the profiler's.
    let sum = method(methods, "sum");
    assert_eq!(
        [&sum["calls"], &sum["base_nanos"], &sum["cumulative_nanos"], &sum["min_nanos"], &sum["max_nanos"]],
        [&json!(81), &json!(39_447_000), &json!(39_447_000), &json!(487_000), &json!(1_461_000)]
    );
    let base = |table: &str| {
        let rows = all["tables"][table].as_array().expect("a table");
        rows.iter().map(|row| row["base_nanos"].as_u64().expect("a number")).sum::<u64>()
    };
    for table in ["method", "class", "package", "thread"] {
        assert_eq!(json!(base(table)), all["base_nanos"], "{table}");
    }
    let problems = &all["problems"];
    for (problem, number) in [
        ("events_back_in_time", 4),
        ("negative_calls", 4),
        ("exits_without_entry", 1),
        ("exits_with_wrong_method", 1),
        ("calls_ended_by_caller", 1),
        ("calls_open_at_end", 2),
        ("undefined_ids", 1),
        ("exits_of_other_methods", 0),
        ("calls_merged_into_caller", 0),
    ] {
        assert_eq!(problems[problem], number, "{problem}");
    }
    let [reported, taken] = ["overhead_nanos", "overhead_taken_off_nanos"].map(|key| all[key].as_u64().unwrap());
    assert!(taken > 0 && taken < reported, "{taken} of {reported}");
}

#[test]
fn documents_are_shown_one_by_one_or_together() {
    let [all, first, second] = [&[][..], &["--document", "1"], &["--document", "2"]].map(stats);
    let number = |of: &Value, key: &str| of[key].as_u64().unwrap();
    for key in ["calls", "base_nanos"] {
        assert_eq!(number(&first, key) + number(&second, key), number(&all, key), "{key}");
    }
    assert_eq!((&second["agents"][0]["pid"], &second["complete"]), (&json!(2300), &json!(true)));
    let ended = run(&["stats", "--document", "3", &trace("calls.trcxml")]);
    assert_eq!((ended.status, ended.out.as_str()), (2, ""));
    assert!(ended.err.contains("there is no document 3; the trace has 2 documents"), "{}", ended.err);
}

#[test]
fn calls_are_sorted_and_selected() {
    let first = |flags: &[&str]| {
        stats(&[flags, &["--by", "method"]].concat())["tables"]["method"][0]["method"]["method"].clone()
    };
    assert_eq!(first(&[]), "price");
    assert_eq!(first(&["--sort", "calls"]), "step");
    assert_eq!(first(&["--sort", "cumulative"]), "total");
    let threads = |flags: &[&str]| {
        let table = stats(&[flags, &["--by", "thread"]].concat())["tables"]["thread"].take();
        table.as_array().expect("a table").iter().map(|row| row["thread"]["name"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(threads(&["--filter", "demo.Worker"]), ["worker-1"]);
    assert_eq!(threads(&["--in", "demo.Batch"]), ["batch"]);
    for (flags, sentence) in [
        (&["--by", "line"][..], "calls have no such rows; use --by method, class, package or thread"),
        (&["--from", "1"], "calls are shown of the whole trace; leave out --from and --to"),
    ] {
        let ended = run(&[&["stats"], flags, &[&trace("calls.trcxml")]].concat());
        assert!(ended.status == 2 && ended.err.contains(sentence), "{flags:?}: {}", ended.err);
    }
    let ended = run(&["stats", "--in", "nowhere.*", &trace("calls.trcxml")]);
    assert!(ended.err.contains("no call matches --in"), "{}", ended.err);
    let ended = run(&["stats", "--calls", &trace("heap.trcxml")]);
    assert!(ended.out.contains("note: the trace has no calls of methods"), "{}", ended.out);
}

#[test]
fn the_tree_has_calls_and_base_and_cumulative_time() {
    let tree = |flags: &[&str]| {
        let mut tree =
            trace_json(&[&["tree", "--cut", "0", "--frames", "method"], flags, &[&trace("calls.trcxml")]].concat());
        serde_json::from_value::<Vec<Value>>(tree["nodes"].take()).expect("nodes")
    };
    let whole = stats(&[])["base_nanos"].clone();
    for flags in [&[][..], &["--bottom-up"], &["--by", "thread"], &["--bottom-up", "--by", "thread"]] {
        let nodes = tree(flags);
        assert_eq!((&nodes[0]["count"], &nodes[0]["weight"]), (&json!(392), &whole), "{flags:?}");
    }
    let nodes = tree(&["--document", "2"]);
    let numbers = |at: usize| ["depth", "name", "count", "own", "weight"].map(|key| nodes[at][key].clone());
    assert_eq!(numbers(1), [json!(1), json!("demo.Batch.main"), json!(1), json!(3_000_000), json!(15_500_000)]);
    assert_eq!(numbers(2), [json!(2), json!("demo.Batch.step"), json!(250), json!(12_500_000), json!(12_500_000)]);
    let ended = run(&["tree", "--filter", "byte[]", &trace("calls.trcxml")]);
    assert!(ended.status == 2 && ended.err.contains("calls have no object class"), "{}", ended.err);
}

#[test]
fn the_most_costly_methods_are_explained_with_their_path() {
    let explained = trace_json(&["explain", &trace("calls.trcxml")]);
    let first = &explained["findings"][0];
    let named = |at: &Value| format!("{}.{}", at["class"].as_str().unwrap(), at["method"].as_str().unwrap());
    assert_eq!((&first["kind"], named(&first["at"])), (&json!("calls"), "demo.shop.Prices.price".to_owned()));
    let path: Vec<String> = first["path"].as_array().expect("a path").iter().map(named).collect();
    assert_eq!(path, ["demo.Main.main", "demo.Main.run", "demo.shop.Order.total", "demo.shop.Prices.price"]);
    assert!(first["path_base_nanos"].as_u64() < first["base_nanos"].as_u64(), "{first}");
    assert!(first["next"].as_str().unwrap().contains("--calls --in demo.shop.Prices.price"), "{first}");
}
