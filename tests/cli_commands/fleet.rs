//! `martini fleet`: what it adds, merges and removes, and what is left when it is killed.

mod bad_input;
mod kills;
mod seen;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{end, martini, recorded, run, trace, trace_json, written};

/// Traces of different JVMs.
fn traces(folder: &TempDir) -> Vec<PathBuf> {
    let trace = |number: u64| {
        let bytes = [("shop.Cart.add", 1600 * number), ("shop.Main.main", 320)];
        let path = recorded(folder, &format!("{number}.trcxml"), &bytes);
        let text = fs::read_to_string(&path).unwrap().replace("pid=\"4711\"", &format!("pid=\"{number}\""));
        fs::write(&path, text).unwrap();
        path
    };
    (1..=5).map(trace).collect()
}

/// All files of a store, and what is in them.
fn files(store: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![store.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true => folders.push(path),
                false => _ = found.insert(path.strip_prefix(store).unwrap().to_owned(), fs::read(&path).unwrap()),
            }
        }
    }
    found
}

#[test]
fn a_trace_is_added_once_and_goes_when_it_is_old() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let store = store.to_str().unwrap();
    let traces = traces(&folder);
    let add = |path: &Path| run(&["fleet", "add", store, path.to_str().unwrap(), "--service", "a/b", "--release", "7"]);
    let added = add(&traces[0]);
    assert_eq!((added.status, added.err.as_str()), (0, ""));
    assert!(added.out.contains(" of a/b, release 7, 2026-01-05: "), "{}", added.out);
    let first = files(Path::new(store));
    assert!(first.keys().any(|path| path.starts_with("run/dt=2026-01-05/service=a%2Fb")), "{:?}", first.keys());
    let again = add(&traces[0]);
    assert_eq!((again.status, again.out), (0, format!("{}: was added before\n", traces[0].display())));
    assert_eq!(files(Path::new(store)), first);
    assert_eq!(add(&traces[1]).status, 0);
    let merged = run(&["fleet", "compact", store]);
    assert!(merged.status == 0 && merged.out.starts_with("merged "), "{}{}", merged.out, merged.err);
    let kept = files(Path::new(store));
    assert!(run(&["fleet", "prune", store, "--older", "100000d"]).out.starts_with("removed 0 files from before "));
    assert_eq!(files(Path::new(store)), kept);
    // As long as the clock of this machine is later than that of the traces.
    let pruned = run(&["fleet", "prune", store, "--older", "1d"]);
    assert_eq!((pruned.status, pruned.err.as_str()), (0, ""));
    assert_eq!(files(Path::new(store)).len(), 1, "{}", pruned.out);
}

#[test]
fn what_cannot_be_added_is_said_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let store = store.to_str().unwrap();
    let (text, xml, whole) = (written("no trace"), written("<a><b/></a>"), &traces(&folder)[0]);
    let half = fs::read_to_string(whole).unwrap();
    let half = written(half.split("<traceEnd").next().unwrap());
    let whole = whole.to_str().unwrap();
    let refused = run(&["fleet", "add", store, text.path(), "/none", store, xml.path(), whole, half.path()]);
    assert_eq!(refused.status, 2, "{}", refused.err);
    assert_eq!(refused.out.lines().count(), 1, "the others are added: {}", refused.out);
    for sentence in [
        format!("martini: cannot read {}", text.path()),
        "martini: cannot read /none: ".to_owned(),
        format!("martini: {store} is not a regular file, which fleet add needs"),
        "another part of this recording is in the store, as run ".to_owned(),
    ] {
        assert!(refused.err.contains(&sentence), "{sentence}: {}", refused.err);
    }
    let old = run(&["fleet", "add", store, &trace("jvmpi.trcxml")]);
    assert!(
        old.err.contains("by its clock it began on 2007-03-20, years ago; it is filed under that day"),
        "{}",
        old.err
    );
    for (arguments, sentence) in [
        (&["compact", "/none"][..], "martini: there is no store /none; martini fleet add makes one\n"),
        (&["prune", store, "--older", "90"], "it is a number of days, such as 90d"),
        (
            &["add", "s3://a/store", whole],
            "martini: s3://a/store is a URL, and a store is a folder; keep one, and copy it there",
        ),
        (&["add", folder.path().to_str().unwrap(), whole], "is no fleet store: it has other files"),
    ] {
        let refused = run(&[&["fleet"], arguments].concat());
        assert!(refused.status == 2 && refused.err.contains(sentence), "{sentence}: {}", refused.err);
    }
}

#[test]
fn killed_processes_leave_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let traces = traces(&folder);
    let add = |store: &Path| {
        let mut command = martini();
        command.args(["fleet", "add"]).arg(store).args(&traces);
        command
    };
    let expected = folder.path().join("expected");
    assert_eq!(end(&mut add(&expected)).status, 0);
    for lines in 0..=traces.len() {
        let store = folder.path().join(lines.to_string());
        let mut child = add(&store).stdout(Stdio::piped()).spawn().unwrap();
        // Wherever it is then.
        BufReader::new(child.stdout.take().unwrap()).lines().take(lines).for_each(|line| drop(line.unwrap()));
        child.kill().unwrap();
        child.wait().unwrap();
        let ended = end(&mut add(&store));
        assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{lines}");
        assert_eq!(files(&store), files(&expected), "{lines}");
    }
    let together = folder.path().join("together");
    let children = [(); 3].map(|()| add(&together).stdout(Stdio::null()).spawn().unwrap());
    children.into_iter().for_each(|mut child| assert!(child.wait().unwrap().success()));
    assert_eq!(files(&together), files(&expected));
}

/// A store with a service for each of these traces.
fn store_of(folder: &TempDir, names: &[&str]) -> String {
    let store = folder.path().join("store").to_str().unwrap().to_owned();
    for name in names {
        let added = run(&["fleet", "add", &store, &trace(&format!("{name}.trcxml")), "--service", name]);
        assert_eq!(added.status, 0, "{name}: {}", added.err);
    }
    store
}

#[test]
fn questions_are_sql_for_either_engine() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_of(&folder, &["heap"]);
    let listed = run(&["fleet", "questions"]).out;
    assert!(listed.contains("\nlocks: Which locks cost most"), "{listed}");
    let sql = |engine: &str| run(&["fleet", "ask", "lines", &store, "--param", "top=7", "--sql", engine]).out;
    assert!(sql("duckdb").contains("read_parquet(") && sql("duckdb").ends_with("\nlimit 7;\n"), "{}", sql("duckdb"));
    assert!(sql("spark").contains("create or replace temporary view run_files (run_id bigint, "), "{}", sql("spark"));
    for (arguments, sentence) in [
        (&["none", &*store][..], "'none' is neither a question (martini fleet questions) nor a file"),
        (&["lines", &store, "--param", "x=1"], "the question has no parameter 'x'; it has service, "),
        (&["lines", &store, "--duckdb", "/none/duckdb"], "there is no /none/duckdb; install DuckDB"),
        (
            &["lines", &store, "--engine", "spark", "--spark", "/none/spark-sql"],
            "there is no /none/spark-sql; install Spark",
        ),
        (&["lines", &store, "--engine", "spark", "--spark", "false"], "false did not answer (status 1)"),
        (
            &["lines", &store, "--engine", "spark", "--spark", "true"],
            "true gave no answer: there is no answer in what it printed",
        ),
        (&["lines", &store, "--master", "local[2]"], "--master and --spark are for Spark; add --engine spark"),
        (&["lines", "/none"], "there is no store /none"),
    ] {
        let refused = run(&[&["fleet", "ask"], arguments].concat());
        assert!(refused.status == 2 && refused.err.contains(sentence), "{sentence}: {}", refused.err);
    }
}

/// The DuckDB that MARTINI_DUCKDB names; without one there is nobody to ask.
fn duckdb() -> Option<OsString> {
    let duckdb = std::env::var_os("MARTINI_DUCKDB").filter(|path| Path::new(path).is_file());
    if duckdb.is_none() {
        eprintln!("not asked: MARTINI_DUCKDB names no DuckDB");
    }
    duckdb
}

#[test]
fn a_store_that_changes_while_it_is_read_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_of(&folder, &["heap"]);
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    // Engines that add traces before they answer.
    let engine = |name: &str, traces: &str| {
        let text = format!(
            "#!/bin/sh\necho asked >> {0}/log\nn=$(wc -l < {0}/log)\n{1} fleet add {store} {traces} > /dev/null\n\
             printf 'martini answers\\nx\\n{{\"x\":1}}\\n'\n",
            folder.path().display(),
            martini().get_program().display(),
        );
        fs::write(path(name), text).unwrap();
        fs::set_permissions(path(name), fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(path("log"), "").unwrap();
        let asked = run(&["fleet", "ask", "lines", &store, "--duckdb", &path(name), "--format", "csv"]);
        (asked, fs::read_to_string(path("log")).unwrap().lines().count())
    };
    let (asked, times) = engine("once", &trace("cpu.trcxml"));
    assert_eq!((asked.status, asked.out.as_str(), times), (0, "x\n1\n", 2));
    for (number, name) in ["counts", "sampled", "threads"].into_iter().enumerate() {
        fs::copy(trace(&format!("{name}.trcxml")), path(&format!("{}.trcxml", number + 1))).unwrap();
    }
    let (asked, times) = engine("always", &path("$n.trcxml"));
    assert!(asked.status == 2 && asked.err.contains("ask again when nothing is added") && times == 3, "{}", asked.err);
}

#[test]
fn a_page_has_what_the_answer_was_on_each_day() {
    let Some(duckdb) = duckdb() else { return };
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let store = store.to_str().unwrap();
    for (day, bytes) in [(5, 1600), (6, 3200), (8, 800)] {
        let path = recorded(&folder, &format!("{day}.trcxml"), &[("shop.Cart.add", bytes), ("shop.Main.main", 320)]);
        let later = |text: String| text.replace("\"17676064", &format!("\"{}", 17_676_064 + (day - 5) * 864));
        fs::write(&path, later(fs::read_to_string(&path).unwrap())).unwrap();
        assert_eq!(run(&["fleet", "add", store, path.to_str().unwrap(), "--service", "it's"]).status, 0);
    }
    let page = folder.path().join("lines.html");
    let ask = |more: &[&str]| {
        let mut command = martini();
        command.args(["fleet", "ask", "lines", store, "--page", page.to_str().unwrap()]).args(more);
        end(command.arg("--duckdb").arg(&duckdb))
    };
    let written = ask(&["--param", "top=1"]);
    assert_eq!((written.status, written.err.as_str()), (0, ""));
    let text = fs::read_to_string(&page).unwrap();
    let (_, data) = text.split_once("id=\"data\">").unwrap();
    let data: Value = serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap();
    let fleet = &data["fleet"];
    assert_eq!((&fleet["rows"][0][2], &fleet["rows"][0][4]), (&json!("shop.Cart.add"), &json!(5600)));
    let days = json!(["2026-01-05", "2026-01-06", "2026-01-08"]);
    let trend = json!({ "measure": "bytes", "days": days, "left_out": 0, "rows": [[1600, 3200, 800]] });
    assert_eq!(fleet["trend"], trend);
    // Only of the days that are asked about; and only reports are written over.
    assert_eq!(ask(&["--param", "from=2026-01-06"]).status, 0);
    assert!(!fs::read_to_string(&page).unwrap().contains("\"2026-01-05\""));
    fs::write(&page, "mine").unwrap();
    let refused = ask(&[]);
    assert!(refused.status == 2 && refused.err.contains("name another file"), "{}", refused.err);
}

#[test]
fn answers_have_the_numbers_of_the_tables() {
    let Some(duckdb) = duckdb() else { return };
    let names = ["heap", "counts", "callers", "sampled", "cpu", "contention", "requests", "explain"];
    let folder = tempfile::tempdir().unwrap();
    let store = store_of(&folder, &names);
    let ask = |question: &str, parameters: &[&str]| -> Vec<Value> {
        let mut command = martini();
        command.args(["fleet", "ask", question, &store, "--format", "json", "--param", "top=100000"]);
        parameters.iter().for_each(|parameter| _ = command.args(["--param", parameter]));
        let ended = end(command.arg("--duckdb").arg(&duckdb));
        assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{question}");
        serde_json::from_str(&ended.out).unwrap()
    };
    let sum = |rows: &[Value], column: &str| rows.iter().filter_map(|row| row[column].as_u64()).sum::<u64>();
    for is_merged in [false, true] {
        for name in names {
            let (path, service) = (trace(&format!("{name}.trcxml")), format!("service={name}"));
            let stats = trace_json(&["stats", &path]);
            let number = |json: &Value| json.as_u64().unwrap_or(0);
            let (lines, classes) = (ask("lines", &[&service]), ask("classes", &[&service]));
            assert_eq!(sum(&lines, "bytes"), number(&stats["sum"]["total_bytes"]), "{name}");
            assert_eq!(sum(&classes, "objects"), number(&stats["sum"]["total"]), "{name}");
            assert_eq!(sum(&lines, "objects"), sum(&classes, "objects"), "{name}");
            let cpu = trace_json(&["stats", "--cpu", &path]);
            assert_eq!(sum(&ask("cpu", &[&service]), "nanos"), number(&cpu["nanos"]), "{name}");
            let locks = trace_json(&["locks", &path]);
            let locked = ask("locks", &[&service]);
            assert_eq!(sum(&locked, "nanos"), number(&locks["contended"]["total_nanos"]), "{name}");
        }
        let first = ask("first-requests", &[]);
        assert!(first.iter().any(|row| row["entry"] == "shop.Orders.handle"), "{first:?}");
        assert!(ask("growing", &[]).iter().any(|row| row["service"] == "explain"));
        assert!(ask("coverage", &[]).len() >= names.len() / 2 && !ask("collections", &[]).is_empty());
        assert!(!ask("shared", &["services=1"]).is_empty());
        if !is_merged {
            assert_eq!(run(&["fleet", "compact", &store]).status, 0);
        }
    }
}
