//! `martini stats` on the worked examples of `tests/traces` and on what old profilers leave.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{end, end_with_input, json, martini, run, text, trace, written};

fn stats_json(arguments: &[&str]) -> Value {
    json(&[&["stats"], arguments].concat())
}

/// A row of a JSON table as total, live, collected, total bytes, active bytes, average age, generations.
fn numbers(row: &Value) -> Value {
    let keys = ["total", "live", "collected", "total_bytes", "active_bytes", "average_age", "generations"];
    keys.iter().map(|key| row[key].clone()).collect()
}

fn row<'a>(json: &'a Value, table: &str, name: &str) -> &'a Value {
    let rows = json["traces"][0]["tables"][table].as_array().expect("the table is there");
    rows.iter().find(|row| row[table] == name).unwrap_or_else(|| panic!("no {name} in {rows:?}"))
}

#[test]
fn the_heap_example_has_the_statistics_that_the_format_document_expects() {
    let json = stats_json(&[&trace("heap.trcxml")]);
    assert_eq!(numbers(row(&json, "class", "demo.Cell")), json!([2, 1, 1, 32, 16, 1.0, 1]));
    assert_eq!(numbers(row(&json, "class", "byte[]")), json!([1, 1, 0, 1040, 1040, 0.0, 1]));
    assert_eq!(numbers(row(&json, "class", "java.lang.String")), json!([1, 1, 0, 24, 24, 0.0, 1]));
    assert_eq!(numbers(row(&json, "package", "demo")), json!([2, 1, 1, 32, 16, 1.0, 1]));
    assert_eq!(numbers(row(&json, "package", "")), json!([1, 1, 0, 1040, 1040, 0.0, 1]));
    let trace = &json["traces"][0];
    assert_eq!(numbers(&trace["sum"]), json!([4, 3, 1, 1096, 1080, 1.0 / 3.0, 2]));
    assert_eq!(trace["complete"], true);
    assert_eq!((&trace["allocations"], &trace["frees"], &trace["collections"]), (&json!(4), &json!(1), &json!(1)));
    assert_eq!(trace["agents"][0]["pid"], 4711);
    assert_eq!(trace["problems"], json!({ "undefined_ids": 0, "unknown_frees": 0, "reused_ids": 0 }));
}

#[test]
fn an_object_without_a_thread_has_a_row() {
    let unknown = text("heap.trcxml").replacen("objAlloc threadIdRef=\"1\"", "objAlloc", 1);
    let file = written(unknown);
    let json = stats_json(&["--by", "thread", file.path()]);
    let rows = json["traces"][0]["tables"]["thread"].as_array().unwrap();
    assert_eq!(rows.iter().filter(|row| row["thread"] == Value::Null).count(), 1);
}

#[test]
fn objects_that_threads_wait_for_are_not_allocations() {
    for (name, note) in
        [("threads", "1 object that threads wait for"), ("contention", "3 objects that threads wait for")]
    {
        let path = trace(&format!("{name}.trcxml"));
        let json = stats_json(&["--by", "class", &path]);
        let shown = &json["traces"][0];
        assert_eq!((&shown["allocations"], &shown["sum"]["total"]), (&json!(0), &json!(0)), "{name}");
        assert_eq!(shown["tables"]["class"], json!([]), "{name}");
        let out = run(&["stats", &path]).out;
        assert!(out.contains("recorded without the heap profiler; it has ") && out.contains(note), "{out}");
    }
}

#[test]
fn the_death_of_an_object_that_a_thread_waited_for_is_no_oddity() {
    let free = "<gcStart time=\"1767606500.605000000\"/>\n<objFree objIdRef=\"5\" time=\"1767606500.606000000\"/>\n\
                <gcFinish time=\"1767606500.607000000\"/>\n<runtimeShutdown";
    let freed = text("threads.trcxml").replace("<runtimeShutdown", free);
    let file = written(freed);
    let json = stats_json(&[file.path()]);
    let shown = &json["traces"][0];
    assert_eq!((&shown["frees"], &shown["problems"]["unknown_frees"]), (&json!(0), &json!(0)));
}

#[test]
fn generated_classes_are_one_row_without_their_addresses() {
    let generated = text("heap.trcxml")
        .replace("\"demo.Cell\"", "\"demo.Main$$Lambda$14/0x0000000800c03000\"")
        .replace("\"java.lang.String\" sourceName", "\"demo.Main$$Lambda/0x00007f1c2d300000\" sourceName")
        .replace("\"demo.Worker\"", "\"jdk.proxy2.$Proxy17\"");
    let file = written(generated);
    let path = file.path();
    let json = stats_json(&[path]);
    assert_eq!(numbers(row(&json, "class", "demo.Main$$Lambda")), json!([3, 2, 1, 56, 40, 0.5, 2]));
    let sites = json["traces"][0]["tables"]["site"].as_array().unwrap();
    assert!(sites.iter().any(|row| row["site"]["class"] == "jdk.proxy.$Proxy"), "{sites:?}");
    let out = run(&["stats", path]).out;
    // The first line names the file, by any letters.
    let (_, tables) = out.split_once('\n').unwrap();
    assert!(tables.contains("demo.Main$$Lambda\n") && !tables.contains("0x"), "{out}");
}

#[test]
fn the_dump_example_counts_objects_announced_late() {
    let json = stats_json(&["--by", "class", &trace("dump.trcxml")]);
    assert_eq!(numbers(row(&json, "class", "demo.Node")), json!([3, 2, 1, 72, 48, 1.0, 1]));
    assert_eq!(numbers(row(&json, "class", "demo.Registry")), json!([1, 1, 0, 16, 16, 0.0, 1]));
    assert_eq!(json["traces"][0]["tables"].as_object().unwrap().keys().collect::<Vec<_>>(), ["class"]);
}

#[test]
fn threads_and_sites_are_distinguished() {
    let json = stats_json(&["--by", "thread", &trace("heap.trcxml")]);
    let rows = json["traces"][0]["tables"]["thread"].as_array().unwrap();
    let names: Vec<&Value> = rows.iter().map(|row| &row["thread"]["name"]).collect();
    assert_eq!(names, ["main", "worker & co"]);
    let json = stats_json(&["--by", "site", "--filter", "demo.*", "--sort", "name", &trace("heap.trcxml")]);
    let site = &json["traces"][0]["tables"]["site"][0]["site"];
    let expected = json!({
        "class": "demo.Main", "method": "run", "signature": "()V", "source": "Main.java", "line": 14,
    });
    assert_eq!(site, &expected);
}

#[test]
fn rows_are_filtered_sorted_and_cut() {
    let names = |arguments: &[&str]| -> Vec<String> {
        let json = stats_json(&[&["--by", "class"], arguments, &[&trace("heap.trcxml")]].concat());
        let rows = json["traces"][0]["tables"]["class"].as_array().unwrap().iter();
        rows.map(|row| row["class"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&[]), ["byte[]", "java.lang.String", "demo.Cell"]);
    assert_eq!(names(&["--sort", "total"]), ["demo.Cell", "byte[]", "java.lang.String"]);
    assert_eq!(names(&["--sort", "age"]), ["demo.Cell", "byte[]", "java.lang.String"]);
    assert_eq!(names(&["--sort", "collected", "--top", "1"]), ["demo.Cell"]);
    assert_eq!(names(&["--sort", "name"]), ["byte[]", "demo.Cell", "java.lang.String"]);
    assert_eq!(names(&["--filter", "byte"]), ["byte[]"]);
    assert_eq!(names(&["--filter", "*String", "--filter", "demo.*"]), ["java.lang.String", "demo.Cell"]);
    let ended = run(&["stats", "--by", "class", "--top", "2", &trace("heap.trcxml")]);
    assert!(ended.out.contains("... and 1 more; --top 0 shows all"), "{}", ended.out);
}

#[test]
fn objects_are_selected_by_the_code_that_allocates_them() {
    let totals = |file: &str, flags: &[&str]| {
        let json = stats_json(&[&["--by", "class"], flags, &[&trace(file)]].concat());
        let trace = &json["traces"][0];
        let rows = trace["tables"]["class"].as_array().unwrap().iter();
        let rows = rows.map(|row| json!([row["class"], row["total"]])).collect::<Vec<_>>();
        (trace["sum"]["total"].as_u64().unwrap(), rows)
    };
    let worker = (1, vec![json!(["java.lang.String", 1])]);
    for pattern in ["demo.Worker", "demo.Worker.<init>", "*Worker"] {
        assert_eq!(totals("heap.trcxml", &["--in", pattern]), worker, "{pattern}");
    }
    let main = (3, vec![json!(["byte[]", 1]), json!(["demo.Cell", 2])]);
    assert_eq!(totals("heap.trcxml", &["--in", "demo.Main"]), main);
    assert_eq!(totals("heap.trcxml", &["--in", "demo.Main.run"]), main);
    assert_eq!(totals("heap.trcxml", &["--in", "demo.*"]).0, 4);
    assert_eq!(totals("heap.trcxml", &["--in", "demo.Main", "--filter", "byte"]), (1, vec![json!(["byte[]", 1])]));
    // What the JVM reported itself has no site.
    assert_eq!(totals("counts.trcxml", &["--in", "demo.Main.run"]).0, 200_004);
    let ended = run(&["stats", "--in", "demo.Main", &trace("counts.trcxml")]);
    assert!(ended.out.contains("\n200,004 objects (3.1 MiB) counted in 1.4 s\n"), "{}", ended.out);
    assert!(!ended.out.contains("(no site)") && !ended.out.contains("active size"), "{}", ended.out);
}

#[test]
fn a_flag_without_effect_is_noted() {
    for (flags, file, sentence) in [
        (&["--filter", "demo.*", "--filter", "nothing.*"][..], "heap.trcxml", "no class matches --filter 'nothing.*'"),
        (
            &["--caller", "demo.*"],
            "heap.trcxml",
            "--caller has no effect without call stacks; record them with martini run --stack 16",
        ),
        (&["--in", "demo.*", "--in", "nothing.*"], "heap.trcxml", "no allocating code matches --in 'nothing.*'"),
        (&["--in", "demo.Main.stop"], "counts.trcxml", "no allocating code matches --in 'demo.Main.stop'"),
        (
            &["--in", "demo.*"],
            "dump.trcxml",
            "--in has no effect without allocation sites; record them with martini run --allocsites",
        ),
        (
            &["--sort", "age"],
            "counts.trcxml",
            "--sort age has no effect: the trace has no deaths or ages; record them with martini run --sampled, or --heap events",
        ),
    ] {
        for form in [&[][..], &["--json"]] {
            let ended = run(&[&["stats"], flags, form, &[&trace(file)]].concat());
            let note = format!("martini: {}: {sentence}\n", trace(file));
            assert_eq!((ended.status, ended.err), (0, note), "{flags:?}");
        }
    }
}

#[test]
fn a_call_stack_gives_the_callers_line() {
    let stacked = text("heap.trcxml")
        .replace("<gcStart", "<stackDef stackId=\"3\" frames=\"18:7 8:21\"/>\n<gcStart")
        .replace("classIdRef=\"14\" methodIdRef=\"8\" lineNumber=\"22\"", "classIdRef=\"14\" stackIdRef=\"3\"")
        // The methods of the frames have to be known by then.
        .replace("<methodDef name=\"-init-\"", "<methodDef name=\"unused\"")
        .replace(
            "<classDef name=\"demo.Cell\"",
            concat!(
                "<classDef name=\"lib.Buffers\" sourceName=\"Buffers.java\" classId=\"30\" time=\"1767606400.2\"/>\n",
                "<methodDef name=\"make\" signature=\"()V\" methodId=\"18\" classIdRef=\"30\"/>\n",
                "<classDef name=\"demo.Cell\""
            ),
        );
    let file = written(stacked);
    let site = |arguments: &[&str]| {
        let path = file.path();
        let json = stats_json(&[&["--by", "site", "--filter", "byte"], arguments, &[path]].concat());
        let site = &json["traces"][0]["tables"]["site"][0]["site"];
        format!("{}.{}:{}", site["class"], site["method"], site["line"]).replace('"', "")
    };
    assert_eq!(site(&[]), "lib.Buffers.make:7");
    assert_eq!(site(&["--caller", "demo.*"]), "demo.Main.run:21");
    assert_eq!(site(&["--caller", "nobody.*"]), "lib.Buffers.make:7");
}

#[test]
fn a_trace_comes_through_a_pipe() {
    let ended = end_with_input(martini().args(["stats", "--json", "-"]), text("heap.trcxml").as_bytes());
    let json: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(json["traces"][0]["allocations"], 4);
}

#[test]
fn documents_of_one_file_have_ids_of_their_own() {
    let one = text("heap.trcxml");
    let file = written(format!("{one}{one}"));
    let json = stats_json(&[file.path()]);
    assert_eq!(json["traces"][0]["documents"], 2);
    assert_eq!(json["traces"][0]["problems"]["reused_ids"], 0);
    assert_eq!(numbers(row(&json, "class", "demo.Cell")), json!([4, 2, 2, 64, 32, 1.0, 1]));
}

#[test]
fn a_trace_of_the_old_agent_shows_its_calls_or_says_that_it_has_no_allocations() {
    let ended = run(&["stats", &trace("jvmpi.trcxml")]);
    assert_eq!(ended.status, 0);
    assert!(ended.out.contains("1 call of 1 method on 1 thread: 99.9 ms"), "{}", ended.out);
    let ended = run(&["stats", "--over-time", &trace("jvmpi.trcxml")]);
    assert_eq!(ended.status, 0);
    let note = "note: the trace has no allocations: it was recorded without the heap profiler; \
                it has 2 call events of methods";
    assert!(ended.out.contains(note), "{}", ended.out);
    assert!(ended.out.contains("Java Profiling Agent 1.000, pid 42 on old"), "{}", ended.out);
    assert!(ended.out.contains("note: the trace has no end tag"), "{}", ended.out);
}

#[test]
fn what_the_agent_could_not_see_is_noted() {
    let counts = "<martiniCount key=\"events.lost\" detail=\"no memory\" value=\"3\"/>\n\
                  <martiniCount key=\"classes.rewritten\" value=\"159\"/>\n\
                  <martiniCount key=\"future.key\" value=\"2\"/>\n\
                  <martiniCount key=\"agent.panics\" value=\"0\"/>\n<traceEnd";
    let file = written(text("heap.trcxml").replace("<traceEnd", counts));
    let ended = run(&["stats", file.path()]);
    let notes: Vec<&str> = ended.out.lines().filter(|line| line.starts_with("note:")).collect();
    assert_eq!(notes, ["note: 3 events were lost (no memory)", "note: the agent counted future.key: 2"]);
}

#[test]
fn colours_are_for_terminals() {
    let ended = end(martini().args(["stats", &trace("heap.trcxml")]));
    assert!(!ended.out.contains('\x1b'));
    let forced = end(martini().env("CLICOLOR_FORCE", "1").args(["stats", &trace("heap.trcxml")]));
    assert!(forced.out.contains('\x1b'));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = martini()
        .args(["stats", "--json", &trace("heap.trcxml")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    // The write may have come before the close; then all went well.
    assert!(matches!(output.status.code(), Some(0 | 141)), "{:?}", output.status);
}
