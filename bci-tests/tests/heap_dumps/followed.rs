//! Martini's own dumps of followed objects: the same histogram as the JVM's, and what no JVM knows, sites and ages.

use analysis::heap_dump::load::Loaded;
use analysis::heap_dump::{Graph, ObjectIndex};
use bci_tests::jdk::{self, Jdk};
use bci_tests::profiled::{Heap, Profiled, Started};
use bci_tests::programs;
use bci_tests::suite::Suite;

use crate::histogram::{by_jvm, compare};
use crate::support::{read, report, request};

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(a_dump_has_exact_sizes_ages_and_sites);
    suite.each_jdk(a_dump_in_a_trace_has_sizes_ages_sites_and_holders);
    let (program, jdk) = (programs::hsqldb(), jdk::any());
    let name = format!("followed::a_dump_of_a_real_program_has_exact_sizes::jdk{}::hsqldb", jdk.feature);
    match program.missing() {
        Some(reason) => suite.skip(name, reason),
        None => suite.add(name, move || {
            let profiled = program.behind(&["hold.Main"], jdk).heap(Heap::Vm).options("stack=4,dump=request");
            let folder = profiled.dir().to_owned();
            let mut running = profiled.flags(&["-Xmx512m"]).in_folder(&folder).no_schema().start();
            running.wait_for("held");
            check_histogram(jdk, &running);
            running.finish();
        }),
    }
}

/// Dumps, and compares with the JVM's histograms before and after, where those agree: the agent lives in the same heap, and
/// what it does for a dump leaves a few objects.
#[track_caller]
fn check_histogram(jdk: &Jdk, program: &Started) -> Loaded {
    let pid = program.pid();
    // What the first of each leaves behind is there from now on.
    by_jvm(jdk, pid);
    request(program, 1);
    let before = by_jvm(jdk, pid);
    let file = request(program, 2);
    let mut after = by_jvm(jdk, pid);
    let (_, loaded) = read(&file);
    let classes = after.len();
    after.retain(|class, count| before.get(class) == Some(count));
    assert!((classes - after.len()) * 50 < classes, "{} of {classes} classes are the same", after.len());
    compare(after, &loaded.graph);
    loaded
}

fn of_class<'a>(graph: &'a Graph, class: &'a str) -> impl Iterator<Item = ObjectIndex> + 'a {
    graph.objects().filter(move |&object| graph.class_name(object) == class)
}

/// A program that holds a chain of 5000 links, with each object followed.
#[track_caller]
fn chain(jdk: &Jdk, options: &str) -> Started {
    let profiled = Profiled::on(jdk).heap(Heap::Events).option("stack", 8).options(options).no_schema();
    let flags = ["-Xmx256m", "-XX:+UseSerialGC"];
    let mut program = profiled.flags(&flags).main("held.Main").args(&["5000"]).start();
    program.wait_for("held");
    program
}

fn a_dump_has_exact_sizes_ages_and_sites(jdk: &Jdk) {
    let program = chain(jdk, "dump=request");
    let loaded = check_histogram(jdk, &program);
    let ran = program.finish();
    // The trace knows the dumps, and that they are elsewhere.
    let of_trace = report(&ran.file, &["--show", "suspects"]);
    assert_eq!((of_trace["dumps"].as_array().map(Vec::len), of_trace.get("objects")), (Some(2), None));
    assert!(of_trace["notes"][0].as_str().is_some_and(|note| note.contains("app-1.hprof")), "{of_trace:#}");
    let graph = &loaded.graph;
    let links: Vec<ObjectIndex> = of_class(graph, "held.Main$Link").collect();
    assert_eq!(links.len(), 5000);
    for &link in &links {
        let frames: Vec<&str> = graph.site(link).expect("it was followed").iter().map(|frame| method(frame)).collect();
        assert_eq!(frames, ["held.Main.build", "held.Main.main"]);
        // The program collects twice; not every JVM reports the collections of dumps and histograms.
        assert!(graph.age(link) >= Some(2) && graph.age(link) == graph.age(links[0]), "{:?}", graph.age(link));
    }
    let local = of_class(graph, "held.Main$Local").next().expect("there is one");
    assert_eq!(graph.site(local).map(|frames| frames.len()), Some(1));
    // What was there before the agent could look has neither.
    let early = of_class(graph, "java.lang.ThreadGroup").next().expect("there is one");
    assert_eq!((graph.site(early), graph.age(early)), (None, None));
}

/// `demo.Main.run(Main.java:7)` without what is in brackets.
fn method(frame: &str) -> &str {
    frame.split('(').next().unwrap_or(frame)
}

fn a_dump_in_a_trace_has_sizes_ages_sites_and_holders(jdk: &Jdk) {
    let ran = chain(jdk, "dump=end,dumpformat=xml").finish();
    let report = report(&ran.file, &["--class", "held.Main$Link"]);
    let class = &report["classes"][0];
    assert_eq!(class["instances"], 5000);
    let site = &class["sites"][0];
    assert!(site["at"].as_str().is_some_and(|at| method(at) == "held.Main.build"), "{site:#}");
    assert_eq!((&site["instances"], &site["generations"]), (&5000.into(), &1.into()));
    // The head of the chain holds all of it, and hangs on the class.
    let (head, shallow) = (&class["largest"][0], class["shallow_bytes"].as_u64());
    assert_eq!(head["retained_bytes"].as_u64(), shallow);
    let referring = class["referred_by"].as_array().expect("an array");
    let by: Vec<&str> = referring.iter().filter_map(|row| row["class"].as_str()).collect();
    assert_eq!(by, ["held.Main$Link", "java.lang.Class"]);
    assert_eq!(class["referred_by"][0]["references"], 4999);
}
