//! The moments at which a heap is dumped, and heaps that are deep.

use std::path::{Path, PathBuf};
use std::process::Command;

use bci_tests::jdk::{self, Jdk};
use bci_tests::process::{Running, run};
use bci_tests::say::say;
use bci_tests::workdir::Workdir;
use bci_tests::{java, martini, schema};
use trace::model::Element;
use trace::reader::{Event, TraceReader};

use super::support::Dump;
use super::{request, wait_for_file};

/// The program that waits for the moment, with the agent; the trace and the first dump; and the folder of these.
fn moments(jdk: &Jdk, heap: &str, when: &str) -> (Running, PathBuf, PathBuf, Workdir) {
    let dir = Workdir::new();
    let (trace, file) = (dir.join("app.trcxml"), dir.join("app-1.hprof"));
    let agent = martini::built().agent_path(&format!("heap={heap},file={},dump={when}", trace.display()));
    let flags = ["-Xms64m", "-Xmx64m", "-XX:+UseSerialGC", "-Xlog:jvmti=off"];
    let mut program = Running::start(&mut java::with_agent(jdk, &flags, Some(agent), "graph.Moments", &[]));
    program.wait_for("ready");
    (program, trace, file, dir)
}

/// Reasons of the dumps in a trace.
fn reasons(trace: &Path) -> Vec<String> {
    let mut reasons = Vec::new();
    let mut reader = TraceReader::open(trace).expect("a trace");
    while let Some(event) = reader.next_event().expect("it can be read") {
        if let Event::Element { element: Element::HeapDumpDef(def), .. } = event {
            let name = def.name.expect("a name");
            reasons.push(name.split(' ').next().unwrap_or_default().to_owned());
        }
    }
    reasons
}

#[test]
fn the_first_time_that_the_heap_is_full_it_is_dumped_as_it_is() {
    for jdk in jdk::each_feature() {
        for heap in ["off", "counts", "vm"] {
            if heap != "counts" && jdk.feature != jdk::any().feature {
                continue;
            }
            say(&format!("dump at OutOfMemoryError: JDK {jdk}, heap={heap}"));
            let (mut program, trace, file, dir) = moments(jdk, heap, "oom");
            program.tell("fill");
            program.wait_for("fill done");
            // The thread that ran out of memory has waited for it.
            assert!(file.is_file(), "JDK {jdk}, heap={heap}");
            program.tell("fill");
            program.wait_for("fill done");
            let finished = program.finish().success();
            assert!(finished.stderr.is_empty(), "{}", finished.err());
            assert!(!dir.join("app-2.hprof").exists(), "only the first time");
            let dump = Dump::read(&file);
            let held = dump.of_class("graph.Moments$Held").len();
            assert!((300..700).contains(&held), "{held} times 100,000 bytes in 64 MiB on JDK {jdk}, heap={heap}");
            assert_eq!(reasons(&trace), ["oom"]);
            schema::validate(&trace);
        }
    }
}

#[test]
fn after_the_nth_collection_the_heap_is_dumped_once() {
    for jdk in jdk::each_feature() {
        let (mut program, trace, file, dir) = moments(jdk, "vm", "gc:3");
        for number in 1..=5 {
            program.tell("collect");
            program.wait_for("collect done");
            if number == 3 {
                wait_for_file(&file);
            }
            assert_eq!(file.is_file(), number >= 3, "JDK {jdk}, collection {number}");
        }
        program.finish().success();
        assert!(!dir.join("app-2.hprof").exists());
        let dump = Dump::read(&file);
        let main = dump.class("graph.Moments");
        assert_eq!(dump.static_number(main, "collections"), 3, "JDK {jdk}");
        // Not every JVM tells of the one with which the dump begins.
        assert!((3..=4).contains(&dump.martini.collections), "JDK {jdk}: {}", dump.martini.collections);
        assert_eq!(reasons(&trace), ["gc"]);
        schema::validate(&trace);
    }
}

#[test]
fn classes_that_come_meanwhile_do_not_disturb_a_dump() {
    for jdk in jdk::each_feature() {
        say(&format!("dump beside classes that are loaded: JDK {jdk}"));
        let (mut program, trace, file, _dir) = moments(jdk, "vm", "gc:1");
        program.tell("load");
        program.wait_for("load done");
        program.tell("collect");
        program.wait_for("collect done");
        wait_for_file(&file);
        let finished = program.finish().success();
        assert!(finished.stderr.is_empty(), "JDK {jdk}: {}", finished.err());
        let dump = Dump::read(&file);
        assert_eq!(dump.static_number(dump.class("graph.Moments"), "collections"), 1);
        schema::validate(&trace);
    }
}

/// On one JDK: reading takes most of the time, and there one JDK's dump is like another's.
fn a_chain_of_a_million_nodes_has_its_path(heap: &str) {
    const CHAIN: usize = 1_000_000;
    let jdk = jdk::any();
    say(&format!("a chain of {CHAIN}: JDK {jdk}, heap={heap}"));
    let dir = Workdir::new();
    let (trace, file) = (dir.join("app.trcxml"), dir.join("app-1.hprof"));
    let agent = martini::built().agent_path(&format!("heap={heap},file={},dump=request", trace.display()));
    let flags = ["-Xmx512m".to_owned(), format!("-Dgraph.chain={CHAIN}")];
    let flags = flags.each_ref().map(String::as_str);
    let mut program = Running::start(&mut java::with_agent(jdk, &flags, Some(agent), "graph.Main", &["wait"]));
    program.wait_for("built");
    request(&trace, &file);
    program.finish().success();
    let dump = Dump::read(&file);
    let mut node = dump.static_reference(dump.class("graph.Main"), "chain");
    let mut deepest = node;
    let mut length = 0;
    while node != 0 {
        length += 1;
        deepest = node;
        node = dump.reference(node, "first");
    }
    assert_eq!(length, CHAIN, "JDK {jdk}, heap={heap}");
    let mut command = Command::new(&martini::built().command);
    let object = format!("{deepest:#x}");
    let told = run(command.arg("heap").arg(&file).args(["--object", &object, "--paths", "1", "--json"])).success();
    let json: serde_json::Value = serde_json::from_slice(&told.stdout).expect("it is JSON");
    let path = &json["dumps"][0]["object"]["paths"][0];
    let steps = path["steps"].as_array().or(path.as_array()).expect("a path");
    // A root, the class or its loader's lists, and all nodes.
    assert!((CHAIN..CHAIN + 10).contains(&steps.len()), "{} steps on JDK {jdk}", steps.len());
}

#[test]
fn a_chain_of_a_million_nodes_that_nobody_follows_has_its_path() {
    a_chain_of_a_million_nodes_has_its_path("off");
}

#[test]
fn a_chain_of_a_million_followed_nodes_has_its_path() {
    a_chain_of_a_million_nodes_has_its_path("vm");
}
