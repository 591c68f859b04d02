//! `martini threads` and `martini locks` on traces and lock logs whose waits are known.

use serde_json::{Value, json};

use crate::support::{run, text, trace, trace_json, written};

fn locks(arguments: &[&str]) -> String {
    let ended = run(&[&["locks"], arguments].concat());
    assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{arguments:?}");
    ended.out
}

fn read_json(command: &str, arguments: &[&str]) -> Value {
    trace_json(&[&[command], arguments].concat())
}

const MILLI: u64 = 1_000_000;

/// Count, sum and longest of a row in milliseconds.
fn numbers(row: &Value) -> (u64, u64, u64) {
    let of = |key: &str| row[key].as_u64().unwrap();
    (of("count"), of("total_nanos") / MILLI, of("max_nanos") / MILLI)
}

#[test]
fn every_wait_is_in_the_row_where_it_belongs() {
    let json = read_json("locks", &[&trace("contention.trcxml")]);
    let rows = |table: &str| json["tables"][table].as_array().unwrap().clone();
    let monitors: Vec<_> = rows("monitor").iter().map(|row| (row["object"].as_u64(), numbers(row))).collect();
    assert_eq!(monitors, [(Some(40), (4, 405, 200)), (Some(41), (2, 250, 200)), (Some(42), (1, 20, 20))]);
    let classes: Vec<_> = rows("class").iter().map(numbers).collect();
    assert_eq!(classes, [(6, 655, 200), (1, 20, 20)]);
    let sites: Vec<_> = rows("site").iter().map(|row| (row["site"]["line"].as_u64().unwrap(), numbers(row))).collect();
    // The park is at the line that locks, not in LockSupport.
    assert_eq!(sites, [(12, (4, 550, 200)), (40, (1, 100, 100)), (33, (1, 20, 20)), (30, (1, 5, 5))]);
    let holders: Vec<_> = rows("holder").iter().map(|row| (row["site"]["line"].as_u64(), numbers(row))).collect();
    assert_eq!(holders, [(Some(40), (3, 500, 200)), (Some(12), (1, 100, 100))]);
    let waiters: Vec<_> = rows("waiter").iter().map(|row| (row["waiter"]["name"].clone(), numbers(row))).collect();
    let expected =
        [(json!("worker-1"), (3, 320, 200)), (json!("worker-2"), (2, 300, 200)), (json!("main"), (2, 55, 50))];
    assert_eq!(waiters, expected);
    let pair = &rows("pair")[0];
    assert_eq!((&pair["waiter"]["name"], &pair["owner"]["name"]), (&json!("worker-1"), &json!("worker-2")));
    let longest = &rows("site")[0]["longest"];
    assert_eq!((&longest["waiter"]["name"], &longest["owner"]["name"]), (&json!("worker-2"), &json!("main")));
    assert_eq!(longest["owner_stack"][0]["method"], "load");
}

#[test]
fn deadlocks_are_in_the_json() {
    let json = read_json("locks", &[&trace("contention.trcxml")]);
    assert_eq!(json["deadlocks"].as_array().unwrap().len(), 1);
    let threads = json["deadlocks"][0]["threads"].as_array().unwrap();
    let names: Vec<_> = threads.iter().map(|thread| (&thread["thread"]["name"], &thread["owner"]["name"])).collect();
    assert_eq!(names, [(&json!("worker-1"), &json!("worker-2")), (&json!("worker-2"), &json!("worker-1"))]);
    assert_eq!(threads[0]["stack"][0]["line"], 12);
    assert_eq!(json["still_blocked"][0]["thread"]["name"], "main");
    assert_eq!(json["still_blocked_more"], 0);
}

#[test]
fn other_waits_are_counted_apart() {
    // The fight for the monitor after the wait counts as blocked, not as waiting.
    let json = read_json("threads", &["--thread", "main", &trace("contention.trcxml")]);
    let main = &json["threads"][0];
    assert_eq!(main["waiting"], json!({ "count": 1, "total_nanos": 200 * MILLI, "max_nanos": 200 * MILLI }));
    assert_eq!(main["blocked"], json!({ "count": 2, "total_nanos": 55 * MILLI, "max_nanos": 50 * MILLI }));
    assert_eq!(main["running_nanos"], 745 * MILLI);
}

/// Who sleeps waits for nobody, and where the trace does not say what a thread had of the processors that is not guessed.
#[test]
fn sleep_and_processors_are_distinguished() {
    let sorted = read_json("threads", &["--sort", "cpu", &trace("times.trcxml")]);
    let names = sorted["threads"].as_array().unwrap().iter().map(|row| row["thread"]["name"].as_str().unwrap());
    assert_eq!(names.collect::<Vec<_>>(), ["worker-2", "main", "worker-1", "request"]);
    let row = |arguments: &[&str]| {
        let json = read_json("threads", &[arguments, &[&trace("times.trcxml")]].concat());
        json["threads"][0].clone()
    };
    let numbers = |row: &Value| ["cpu_nanos", "queued_nanos", "elsewhere_nanos"].map(|key| row[key].as_u64());
    let worker = row(&["--thread", "worker-1"]);
    assert_eq!(worker["sleeping"], json!({ "count": 1, "total_nanos": 400 * MILLI, "max_nanos": 400 * MILLI }));
    assert_eq!(numbers(&worker), [30, 10, 260].map(|millis| Some(millis * MILLI)));
    // Those of a pool are added up, and one that is not known leaves the sum unknown.
    assert_eq!(numbers(&row(&["--thread", "worker-*", "--pools"])), [730, 110, 260].map(|millis| Some(millis * MILLI)));
    assert_eq!(numbers(&row(&["--thread", "main"])), [Some(50 * MILLI), None, None]);
    // Of a part of the trace it is not known.
    assert_eq!(numbers(&row(&["--thread", "worker-1", "--from", "0.3"])), [None; 3]);
    let locks = locks(&["--waits", &trace("times.trcxml")]);
    assert!(!locks.contains("400 ms"), "{locks}");
}

#[test]
fn pools_are_added_up() {
    let json = read_json("threads", &["--pools", &trace("contention.trcxml")]);
    let rows: Vec<_> =
        json["threads"].as_array().unwrap().iter().map(|row| (&row["thread"]["name"], &row["members"])).collect();
    assert_eq!(rows, [(&json!("worker-*"), &json!(2)), (&json!("main"), &json!(1))]);
    assert_eq!(json["threads"][0]["alive_nanos"], 1800 * MILLI);
    let json = read_json("locks", &["--pools", "--by", "pair", &trace("contention.trcxml")]);
    let first = &json["tables"]["pair"][0];
    assert_eq!((&first["waiter"]["name"], &first["owner"]["name"]), (&json!("worker-*"), &json!("main")));
    assert_eq!(numbers(first), (2, 300, 200));
}

#[test]
fn a_part_of_the_trace_is_cut_out() {
    let of = |arguments: &[&str]| {
        let json = read_json("locks", &[arguments, &["--by", "class", &trace("contention.trcxml")]].concat());
        json["tables"]["class"].as_array().unwrap().iter().map(numbers).collect::<Vec<_>>()
    };
    // From 0.26 s to 0.40 s: 40 ms of one wait and 140 ms of another.
    assert_eq!(of(&["--from", "0.26", "--to", "0.4"]), [(2, 180, 140)]);
    assert_eq!(of(&["--thread", "worker-2"]), [(2, 300, 200)]);
    assert_eq!(of(&["--filter", "java.*"]), [(1, 20, 20)]);
}

#[test]
fn what_a_flag_does_not_do_is_said() {
    for command in ["locks", "threads"] {
        let ended = run(&[command, "--caller", "demo.*", &trace("threads.trcxml")]);
        let sentence = "--caller has no effect without call stacks; record them with martini run --lockstack 8\n";
        assert!(ended.status == 0 && ended.err.ends_with(sentence), "{}", ended.err);
    }
    for form in [&[][..], &["--json"]] {
        let ended = run(&[&["locks", "--filter", "nothing.*"], form, &[&trace("contention.trcxml")]].concat());
        let sentence = ": no thread waited for a lock that matches --filter\n";
        assert!(ended.status == 0 && ended.err.ends_with(sentence), "{}", ended.err);
        assert_eq!(ended.out.contains("\nNo lock that matches --filter was contended.\n"), form.is_empty());
    }
}

#[test]
fn rows_are_sorted_and_cut() {
    let objects = |arguments: &[&str]| {
        let json = read_json("locks", &[arguments, &["--by", "monitor", &trace("contention.trcxml")]].concat());
        let rows = json["tables"]["monitor"].as_array().unwrap().clone();
        rows.iter().map(|row| row["object"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(objects(&["--sort", "mean"]), [41, 40, 42]);
    assert_eq!(objects(&["--sort", "p50"]), [40, 41, 42]);
    assert_eq!(objects(&["--sort", "name", "--top", "1"]), [40]);
    let out = locks(&["--by", "monitor", "--top", "1", &trace("contention.trcxml")]);
    assert!(out.contains("... and 2 rows more with 3 waits for 270 ms; --top 0 shows all"), "{out}");
    let out = run(&["threads", "--top", "1", &trace("contention.trcxml")]).out;
    assert!(out.contains("... and 2 threads more: 355 ms blocked, 200 ms waiting, 0 s parked, 0 s sleeping"), "{out}");
}

#[test]
fn the_graph_shows_the_deadlock_in_red() {
    let out = locks(&["--graph", &trace("contention.trcxml")]);
    assert!(out.starts_with("digraph \"who blocks whom\" {\n") && out.ends_with("}\n"), "{out}");
    let edge = "\"worker-2\" -> \"worker-1\" [label=\"100 ms in 1 wait\\ndemo.Cache\", penwidth=3.5, color=red, fontcolor=red];";
    assert!(out.contains(edge), "{out}");
    assert!(out.contains("\"worker-2\" -> \"main\" [label=\"200 ms in 1 wait\\ndemo.Cache\", penwidth=6.0];"), "{out}");
}

#[test]
fn a_timeline_takes_the_place_of_a_timeline_only() {
    let folder = tempfile::tempdir().unwrap();
    let (kept, link) = (folder.path().join("keep.txt"), folder.path().join("link.json"));
    std::fs::write(&kept, "to be kept").unwrap();
    std::os::unix::fs::symlink(&kept, &link).unwrap();
    for (file, part) in [(&kept, "is not a Martini timeline; choose another --timeline"), (&link, "symbolic link")] {
        let ended = run(&["threads", "--timeline", file.to_str().unwrap(), &trace("contention.trcxml")]);
        assert_eq!((ended.status, ended.out.as_str()), (2, ""));
        assert!(ended.err.starts_with("martini: ") && ended.err.contains(part), "{}", ended.err);
        assert_eq!(std::fs::read_to_string(&kept).unwrap(), "to be kept");
    }
    let file = folder.path().join("t.json");
    for _ in 0..2 {
        assert_eq!(run(&["threads", "--timeline", file.to_str().unwrap(), &trace("contention.trcxml")]).status, 0);
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    }
}

#[test]
fn a_timeline_is_what_trace_viewers_load() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.json");
    let ended = run(&["threads", "--timeline", file.to_str().unwrap(), &trace("contention.trcxml")]);
    assert_eq!((ended.status, ended.err.as_str()), (0, ""));
    let timeline: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let events = timeline["traceEvents"].as_array().unwrap();
    let track = |name: &str| {
        let named = events.iter().find(|event| event["ph"] == "M" && event["args"]["name"] == name).unwrap();
        named["tid"].clone()
    };
    let slices: Vec<_> = events
        .iter()
        .filter(|event| event["ph"] == "X" && event["tid"] == track("worker-1") && event["cat"] != "thread")
        .map(|event| (event["name"].as_str().unwrap(), event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap()))
        .collect();
    let expected = [
        ("blocked: demo.Cache", 200_000.0, 100_000.0),
        ("parked: java.util.concurrent.locks.ReentrantLock$NonfairSync", 500_000.0, 20_000.0),
        ("blocked: demo.Cache", 800_000.0, 200_000.0),
    ];
    assert_eq!(slices, expected);
    // An arrow leads from the owner to who waits.
    let arrow = |phase: &str| events.iter().find(|event| event["ph"] == phase && event["id"] == 1).unwrap();
    assert_eq!((&arrow("s")["tid"], &arrow("f")["tid"]), (&track("main"), &track("worker-1")));
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let ended = run(&["threads", "--timeline", "/no/such/folder/t.json", &trace("contention.trcxml")]);
    assert_eq!(ended.status, 2);
    assert!(ended.err.starts_with("martini: cannot write the timeline to /no/such/folder/t.json: "), "{}", ended.err);
}

#[test]
fn a_lock_log_of_2011_is_analysed() {
    let json = read_json("locks", &[&trace("locks-2011.log")]);
    assert_eq!((&json["kind"], &json["log_start"]), (&json!("lock log"), &json!("2011/03/14 15:09:26.535")));
    let rows = |table: &str| json["tables"][table].as_array().unwrap().clone();
    let sites: Vec<_> =
        rows("site").iter().map(|row| (row["site"]["method"].as_str().unwrap().to_owned(), numbers(row))).collect();
    let expected = [("put", (1, 5, 5)), ("get", (2, 4, 3)), ("<init>", (1, 0, 0))];
    assert_eq!(sites, expected.map(|(method, numbers)| (method.to_owned(), numbers)));
    let waiters: Vec<_> =
        rows("waiter").iter().map(|row| (row["waiter"]["name"].as_str().unwrap().to_owned(), numbers(row))).collect();
    let expected = [("worker [2] of 2", (2, 5, 5)), ("worker 1", (2, 4, 3))];
    assert_eq!(waiters, expected.map(|(name, numbers)| (name.to_owned(), numbers)));
    assert_eq!(json["still_blocked"][0]["thread"]["name"], "worker [2] of 2");
    let out = locks(&[&trace("locks-2011.log")]);
    assert!(out.contains("(lock log of 2011/03/14 15:09:26.535, "), "{out}");
    assert!(out.contains("  demo.Cache.put\n"), "{out}");
}

#[test]
fn a_lock_log_cut_anywhere_is_read_up_to_there() {
    let log = text("locks-2011.log");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.log");
    for cut in (24..log.len()).step_by(41) {
        std::fs::write(&path, &log[..cut]).unwrap();
        for command in ["locks", "threads"] {
            let ended = run(&[command, path.to_str().unwrap()]);
            assert_eq!((ended.status, ended.err.as_str()), (0, ""), "cut at {cut}");
            let is_cut = !log[..cut].ends_with('\n');
            assert_eq!(ended.out.contains("note: the log ends inside a line"), is_cut, "cut at {cut}: {}", ended.out);
        }
    }
    // From the middle, too: the first line is broken, and one end has no beginning.
    std::fs::write(&path, &log[log.find("LCK").unwrap()..]).unwrap();
    let ended = run(&["locks", path.to_str().unwrap()]);
    assert_eq!(ended.status, 2);
    std::fs::write(&path, &log[log.find("4000000 LCK").unwrap()..]).unwrap();
    let out = locks(&[path.to_str().unwrap()]);
    assert!(out.contains("note: 2 waits have an end but no beginning"), "{out}");
}

#[test]
fn threads_of_one_name_are_noted() {
    let log = "2011/03/14 15:09:26.535\n1 TRY [w] La;#b\n2 TRY [w] La;#b\n4 LCK [w] La;#b\n9 LCK [w] La;#b\n";
    let file = written(log);
    let json = read_json("locks", &[file.path()]);
    assert_eq!(json["tables"]["site"][0]["total_nanos"], 3 + 7);
    assert_eq!(json["problems"]["shared_names"], 1);
}

#[test]
fn old_traces_have_no_owner() {
    let old = text("threads.trcxml").replace(" threadOwner=\"1\"", "");
    let file = written(old);
    let out = locks(&[file.path()]);
    assert!(out.contains("worker-1 <- (unknown) (demo.Queue)"), "{out}");
    let out = locks(&[&trace("threads.trcxml")]);
    assert!(out.contains("worker-1 <- main (demo.Queue)"), "{out}");
}

#[test]
fn traces_without_waits_say_so() {
    for command in ["locks", "threads"] {
        let ended = run(&[command, &trace("heap.trcxml")]);
        assert_eq!((ended.status, ended.err.as_str()), (0, ""));
        assert!(ended.out.contains("note: no thread waited in this trace"), "{}", ended.out);
    }
}

#[test]
fn what_is_neither_trace_nor_log_is_refused() {
    for (contents, part) in [
        ("", "the trace is empty"),
        ("hello\n", "is not an XML trace"),
        ("12 monkeys\n", "is neither a trace nor a lock log: line 1"),
        ("<html/>", "is XML, but not a trace"),
    ] {
        let file = written(contents);
        for command in ["locks", "threads"] {
            let ended = run(&[command, file.path()]);
            assert_eq!((ended.status, ended.out.as_str()), (2, ""), "{contents}");
            assert!(ended.err.contains(part) && ended.err.lines().count() == 1, "{contents}: {}", ended.err);
        }
    }
    for arguments in [
        &["locks"][..],
        &["locks", "--by", "colour", "x"],
        &["locks", "--graph", "--json", "x"],
        &["threads", "--from", "-1", "x"],
        &["threads", "--from", "NaN", "x"],
        &["threads", "--timeline", "t.json", "a", "b"],
    ] {
        let ended = run(arguments);
        assert_eq!((ended.status, ended.out.as_str()), (2, ""), "{arguments:?}");
    }
}

#[test]
fn waits_that_cost_more_than_the_locks_are_shown() {
    let tables = |arguments: &[&str]| locks(&[arguments, &[&trace("waits.trcxml")]].concat());
    let out = tables(&[]);
    let (_, waits) = out.split_once("Other waits, longer than those for locks\n").expect("they are there");
    assert!(waits.contains(" 1.18 s ") && waits.contains("Worker.java:20") && !waits.contains("getTask"), "{out}");
    let left_out = "left out: 10 waits for 1.80 s by idle threads (pools, timers); --waits --idle includes them\n";
    assert!(waits.ends_with(&format!("  {left_out}\n")), "{out}");
    // Where the locks cost more, one line is enough.
    let out = locks(&[&trace("contention.trcxml")]);
    assert!(out.contains("\n  other waits: 1 wait for 200 ms; --waits shows them\n"), "{out}");
    let idle = tables(&["--waits", "--idle", "--by", "site"]);
    assert!(idle.contains("TimerThread.mainLoop") && !idle.contains("left out"), "{idle}");
    assert!(tables(&["--waits"]).contains(left_out));
    assert_eq!(run(&["locks", "--idle", &trace("waits.trcxml")]).status, 2);
}

#[test]
fn the_json_has_idle_threads_and_other_waits_apart() {
    let json = read_json("locks", &[&trace("waits.trcxml")]);
    assert_eq!(numbers(&json["contended"]), (3, 100, 50));
    assert_eq!(numbers(&json["with_owner_stack"]), (2, 70, 50));
    assert_eq!(numbers(&json["waited"]), (4, 1880, 700));
    assert_eq!(numbers(&json["idle"]), (10, 1800, 900));
    let sites = json["wait_tables"]["site"].as_array().unwrap();
    assert_eq!(sites.iter().map(numbers).collect::<Vec<_>>(), [(3, 1180, 600), (1, 700, 700)]);
    assert_eq!(numbers(&json["tables"]["site"][0]), (3, 100, 50));
    let json = read_json("locks", &["--waits", "--idle", &trace("waits.trcxml")]);
    assert_eq!(numbers(&json["waited"]), (14, 3680, 900));
    assert_eq!((json["idle"]["count"].as_u64(), json["wait_tables"].is_null()), (Some(0), true));
}

#[test]
fn the_share_of_waits_with_owner_stacks_is_below_the_table() {
    let out = locks(&["--by", "holder", &trace("waits.trcxml")]);
    assert!(out.contains("\n  owner stacks known for 2 of 3 waits (66 %), 70.0 ms of 100 ms\n"), "{out}");
    let without = text("waits.trcxml").replace(" ownerStackIdRef=\"51\"", "");
    let file = written(without);
    let out = locks(&["--by", "holder", file.path()]);
    assert!(out.contains("\n  owner stacks known for 0 of 3 waits (0 %), 0 s of 100 ms\n"), "{out}");
}

#[test]
fn locks_are_called_by_the_field_in_which_they_lie() {
    let out = locks(&["--waits", "--idle", "--by", "monitor", &trace("waits.trcxml")]);
    for name in ["  demo.Worker.slots (Semaphore) @71\n", "  demo.Cache.class @73\n", "$ConditionObject @72\n"] {
        assert!(out.contains(name), "{name}: {out}");
    }
    let json = read_json("locks", &[&trace("waits.trcxml")]);
    assert_eq!(json["tables"]["monitor"][0]["name"], "demo.Worker.cache");
    let of_waits = json["wait_tables"]["monitor"].as_array().unwrap();
    assert_eq!((&of_waits[0]["name"], &of_waits[1]["name"]), (&json!("demo.Worker.slots"), &Value::Null));
    // A name comes at the end of a trace, behind the deadlock that it is about.
    let name =
        "<lockName objIdRef=\"41\" classIdRef=\"11\" field=\"cache\" time=\"1767606601.000000000\"/>\n<traceEnd ";
    let file = written(text("contention.trcxml").replace("<traceEnd ", name));
    let out = locks(&[file.path()]);
    assert!(out.contains("blocked for 200 ms for demo.Worker.cache (Cache) @41, owned by worker-2"), "{out}");
    let json = read_json("locks", &[file.path()]);
    assert_eq!(json["still_blocked"][0]["name"], "demo.Worker.cache");
}
