//! The moments at which a heap is dumped, and heaps that are deep.

use bci_tests::jdk::{self, Collector, Jdk};
use bci_tests::process::wait_until;
use bci_tests::profiled::{Heap, Profiled, Started};
use bci_tests::read::TraceData;
use bci_tests::suite::Suite;
use trace::model::Element;

use crate::dump::Dump;
use crate::support::{dump_of, report, request, start};

pub(crate) fn tests(suite: &mut Suite) {
    suite.any_jdk(a_chain_of_a_million_nodes_that_nobody_follows_has_its_path);
    suite.any_jdk(a_chain_of_a_million_followed_nodes_has_its_path);
    let on_one = jdk::any().feature;
    suite.each_jdk_and(&[("counts", Heap::Counts)], the_first_time_that_the_heap_is_full_it_is_dumped_as_it_is);
    let others = [("off", Heap::Off), ("vm", Heap::Vm)];
    suite.jdks(on_one..=on_one).each_and(&others, the_first_time_that_the_heap_is_full_it_is_dumped_as_it_is);
    suite.each_jdk(after_the_nth_collection_the_heap_is_dumped_once);
    suite.each_jdk(what_the_collection_of_a_dump_finds_dead_was_alive_before);
    suite.each_jdk(classes_that_are_loaded_meanwhile_do_not_disturb_a_dump);
}

/// The program that waits for the moment, with the agent.
#[track_caller]
fn moments(jdk: &Jdk, heap: Heap, when: &str) -> Started {
    let profiled = Profiled::on(jdk).heap(heap).option("dump", when).main("graph.Moments");
    let mut program = profiled.flags(&["-Xms64m", "-Xmx64m", "-XX:+UseSerialGC", "-Xlog:jvmti=off"]).start();
    program.wait_for("ready");
    program
}

/// Reasons of the dumps in a trace.
#[derive(Default)]
struct Reasons(Vec<String>);

impl TraceData for Reasons {
    fn element(&mut self, element: &Element<'_>) {
        if let Element::HeapDumpDef(def) = element {
            let name = def.name.as_deref().expect("a name");
            self.0.push(name.split(' ').next().unwrap_or_default().to_owned());
        }
    }
}

fn the_first_time_that_the_heap_is_full_it_is_dumped_as_it_is(jdk: &Jdk, heap: Heap) {
    let mut program = moments(jdk, heap, "oom");
    program.send("fill");
    program.wait_for("fill done");
    // The thread that ran out of memory has waited for it.
    let file = dump_of(&program.file, 1);
    assert!(file.is_file());
    program.send("fill");
    program.wait_for("fill done");
    let ran = program.finish_and_read::<Reasons>();
    assert_eq!(ran.err(), "");
    assert!(!dump_of(&ran.file, 2).exists(), "only the first time");
    let held = Dump::read(&file).of_class("graph.Moments$Held").len();
    assert!((300..700).contains(&held), "{held} times 100,000 bytes in 64 MiB");
    assert_eq!(ran.trace.0, ["oom"]);
}

/// Of the collection with which the VM begins a dump some collectors send no event; what dies in it has been used since the last one.
fn what_the_collection_of_a_dump_finds_dead_was_alive_before(jdk: &Jdk) {
    for (number, collector) in
        [(1, Collector::Serial), (3, Collector::Serial), (2, Collector::Parallel), (2, Collector::G1)]
    {
        let profiled = Profiled::on(jdk).heap(Heap::Events).options("locks=on").option("dump", format!("gc:{number}"));
        // The trace is valid: nothing refers to an object after its death.
        let ran = profiled.flags(&[&["-Xmx64m"], collector.flags()].concat()).main("graph.Waits").run();
        assert!(dump_of(&ran.file, 1).is_file());
    }
}

fn after_the_nth_collection_the_heap_is_dumped_once(jdk: &Jdk) {
    let mut program = moments(jdk, Heap::Vm, "gc:3");
    let file = dump_of(&program.file, 1);
    for number in 1..=5 {
        program.send("collect");
        program.wait_for("collect done");
        if number == 3 {
            wait_until(|| file.is_file());
        }
        assert_eq!(file.is_file(), number >= 3, "collection {number}");
    }
    let ran = program.finish_and_read::<Reasons>();
    assert!(!dump_of(&ran.file, 2).exists());
    let dump = Dump::read(&file);
    let main = dump.class("graph.Moments");
    assert_eq!(dump.static_number(main, "collections"), 3);
    // Not every JVM reports the one with which the dump begins.
    assert!((3..=4).contains(&dump.martini.collections), "{}", dump.martini.collections);
    assert_eq!(ran.trace.0, ["gc"]);
}

fn classes_that_are_loaded_meanwhile_do_not_disturb_a_dump(jdk: &Jdk) {
    let mut program = moments(jdk, Heap::Vm, "gc:1");
    let file = dump_of(&program.file, 1);
    program.send("load");
    program.wait_for("load done");
    program.send("collect");
    program.wait_for("collect done");
    wait_until(|| file.is_file());
    let ran = program.finish();
    assert_eq!(ran.err(), "");
    let dump = Dump::read(&file);
    assert_eq!(dump.static_number(dump.class("graph.Moments"), "collections"), 1);
}

/// On one JDK: reading takes most of the time, and there one JDK's dump is like another's.
#[track_caller]
fn a_chain_of_a_million_nodes_has_its_path(jdk: &Jdk, heap: Heap) {
    const CHAIN: usize = 1_000_000;
    let profiled = Profiled::on(jdk).heap(heap).option("dump", "request").no_schema();
    let program = start(profiled, Collector::G1, CHAIN as u64);
    let file = request(&program, 1);
    let _ran = program.finish();
    let dump = Dump::read(&file);
    let mut node = dump.static_reference(dump.class("graph.Main"), "chain");
    let mut deepest = node;
    let mut length = 0;
    while node != 0 {
        length += 1;
        deepest = node;
        node = dump.reference(node, "first");
    }
    assert_eq!(length, CHAIN);
    let report = report(&file, &["--object", &format!("{deepest:#x}"), "--paths", "1"]);
    let path = &report["object"]["paths"][0];
    let steps = path["steps"].as_array().or(path.as_array()).expect("a path");
    // A root, the class or its loader's lists, and all nodes.
    assert!((CHAIN..CHAIN + 10).contains(&steps.len()), "{} steps", steps.len());
}

fn a_chain_of_a_million_nodes_that_nobody_follows_has_its_path(jdk: &Jdk) {
    a_chain_of_a_million_nodes_has_its_path(jdk, Heap::Off);
}

fn a_chain_of_a_million_followed_nodes_has_its_path(jdk: &Jdk) {
    a_chain_of_a_million_nodes_has_its_path(jdk, Heap::Vm);
}
