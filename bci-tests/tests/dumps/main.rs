//! Heap dumps of a program whose graph of objects is known: every reference, value and root, the same histogram as the JVM's,
//! the trace's ids, allocation stacks and ages.

mod readers;
mod support;
mod times;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};

use bci_tests::histogram::{Histogram, Which};
use bci_tests::jdk::{self, Collector, Jdk};
use bci_tests::process::Running;
use bci_tests::recorded::Recorded;
use bci_tests::say::say;
use bci_tests::workdir::Workdir;
use bci_tests::{java, martini, schema};
use hprof::RootKind;
use trace::model::Element;
use trace::reader::{Event, TraceReader};

use support::Dump;

const CHAIN: u64 = 20_000;

/// Starts the program with the agent, and waits until its graph is built.
fn start(jdk: &Jdk, collector: Collector, options: &str) -> Running {
    let agent = martini::built().agent_path(options);
    let flags = [&["-Xmx512m", "-Dgraph.chain=20000"], collector.flags()].concat();
    let mut program = Running::start(&mut java::with_agent(jdk, &flags, Some(agent), "graph.Main", &["wait"]));
    program.wait_for("built");
    program
}

/// Asks for a dump and waits until it is there.
fn request(trace: &Path, dump: &Path) {
    let trigger = format!("{}.dump", trace.display());
    std::fs::write(&trigger, "").expect("the trigger can be made");
    wait_for_file(dump);
    assert!(!Path::new(&trigger).exists(), "the trigger is taken away");
}

fn wait_for_file(file: &Path) {
    let begin = Instant::now();
    while !file.is_file() {
        assert!(begin.elapsed() < Duration::from_secs(60), "not there after a minute: {}", file.display());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What the program says of its objects.
fn check_graph(dump: &Dump, full: bool) {
    let value = |number: i64| if full { number } else { 0 };
    let main = dump.class("graph.Main");
    let mut node = dump.static_reference(main, "chain");
    for expected in (0..CHAIN as i64).rev() {
        assert_eq!(dump.class_name_of(node), "graph.Main$Node");
        assert_eq!(dump.number(node, "number"), value(expected));
        assert_eq!(dump.number(node, "own") as i32, value(-expected) as i32);
        assert_eq!(dump.number(node, "mark"), value(1));
        assert_eq!(dump.number(node, "last"), 0);
        let second = dump.reference(node, "second");
        assert_eq!(second != 0, expected % 1000 == 0, "node {expected}");
        if second != 0 {
            let [element] = dump.elements(second)[..] else { panic!("an array of one") };
            assert_eq!(dump.class_name_of(element), "graph.Main$ByArray");
        }
        node = dump.reference(node, "first");
    }
    assert_eq!(node, 0, "the chain ends");

    let circle = dump.static_reference(main, "circle");
    let inner = dump.elements(circle)[1];
    assert_eq!(dump.elements(circle)[0], circle);
    assert_eq!(dump.elements(inner), [circle]);
    let rows = dump.elements(dump.static_reference(main, "rows"));
    let lengths: Vec<usize> = rows.iter().map(|&row| dump.elements(row).len()).collect();
    assert_eq!(lengths, [1, 2]);
    let inners: Vec<u64> = rows.iter().flat_map(|&row| dump.elements(row)).copied().filter(|&id| id != 0).collect();
    assert!(inners.len() == 2 && inners.iter().all(|&id| dump.class_name_of(id) == "graph.Main$ByInnerArray"));
    let bytes = if full { [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 255] } else { [0; 9] };
    assert_eq!(dump.contents(dump.static_reference(main, "numbers"))[..9], bytes);
    for (field, class) in [("soft", "BySoft"), ("weak", "ByWeak"), ("phantom", "ByPhantom")] {
        let referent = dump.reference(dump.static_reference(main, field), "referent");
        assert_eq!(dump.class_name_of(referent), format!("graph.Main${class}"));
    }
    let leaked = dump.static_reference(main, "loaded");
    let loader = dump.loader_of(leaked);
    assert_eq!(dump.class_name_of(loader), "java.net.URLClassLoader");
    let value_class = dump.owners(dump.only("graph.Main$ByThreadLocal"));
    assert!(value_class.iter().any(|&owner| dump.class_name_of(owner) == "java.lang.ThreadLocal$ThreadLocalMap$Entry"));

    let holder = dump.only("graph.Main$ByThread");
    let thread = dump.roots_of(holder).into_iter().find(|root| root.kind == RootKind::ThreadObject);
    let thread = thread.and_then(|root| root.thread).expect("the thread is a root");
    for class in ["ByLocal", "ByMonitor"] {
        let roots = dump.roots_of(dump.only(&format!("graph.Main${class}")));
        let on_stack = |root: &hprof::read::Root| root.kind == RootKind::JavaFrame && root.thread == Some(thread);
        assert!(roots.iter().any(on_stack), "{class}: {roots:?}");
    }
    let kinds = dump.root_kinds();
    for kind in [RootKind::JniGlobal, RootKind::StickyClass, RootKind::ThreadObject, RootKind::JavaFrame] {
        assert!(kinds.contains(&kind), "{kind:?} among {kinds:?}");
    }
}

fn check_histogram(dump: &Dump, jvm: &Histogram) {
    let ours: BTreeMap<String, u64> = dump.histogram();
    let of_program = |class: &str| class.starts_with("graph.") || class.starts_with("[Lgraph.");
    let mut compared = 0;
    for (class, (instances, _)) in jvm.classes.iter().filter(|(class, _)| of_program(class)) {
        assert_eq!(ours.get(class), Some(instances), "{class}");
        compared += 1;
    }
    assert!(compared >= 12, "{compared} classes");
    // Between the two the JVM drops what its own threads clean up, and makes what jmap needs.
    let (all, jvms) = (ours.values().sum::<u64>(), jvm.classes.values().map(|(n, _)| n).sum::<u64>());
    assert!(all.abs_diff(jvms) * 20 < jvms, "{all} objects, the JVM has {jvms}");
}

#[test]
fn a_dump_holds_the_graph_that_the_program_built() {
    for jdk in jdk::each_feature() {
        for collector in [Collector::G1, Collector::Serial, Collector::Parallel, Collector::Z] {
            if !jdk.supports(collector) || collector != Collector::G1 && jdk.feature != 17 {
                continue;
            }
            say(&format!("dump of a known graph: JDK {jdk}, {collector:?}"));
            let dir = Workdir::new();
            let (trace, file) = (dir.join("app.trcxml"), dir.join("app-1.hprof"));
            let program = start(jdk, collector, &format!("heap=counts,file={},dump=request", trace.display()));
            request(&trace, &file);
            let jvm = Histogram::of(jdk, program.pid(), Which::Living);
            program.finish().success();
            let dump = Dump::read(&file);
            check_graph(&dump, true);
            check_histogram(&dump, &jvm);
            schema::validate(&trace);
        }
    }
}

#[test]
fn a_dump_of_followed_objects_has_ids_stacks_and_ages_and_no_contents_if_so_asked() {
    for jdk in jdk::each_feature() {
        let dir = Workdir::new();
        let (trace, file) = (dir.join("app.trcxml"), dir.join("app-1.hprof"));
        let options = format!("heap=vm,stack=4,file={},dump=request,dumpcontents=zero", trace.display());
        let program = start(jdk, Collector::G1, &options);
        request(&trace, &file);
        program.finish().success();
        schema::validate(&trace);
        let dump = Dump::read(&file);
        check_graph(&dump, false);
        assert!(dump.all_contents_are_zero());

        let mut recorded = HashMap::new();
        let mut collections = 0;
        let mut reader = TraceReader::open(&trace).expect("a trace");
        while let Some(event) = reader.next_event().expect("it can be read") {
            match event {
                Event::Element { element: Element::ObjAlloc(alloc), .. } => {
                    recorded.insert(alloc.obj_id.0, (alloc.class, collections));
                }
                Event::Element { element: Element::GcFinish(_), .. } => collections += 1,
                Event::Element { element: Element::HeapDumpDef(def), .. } => {
                    assert_eq!(def.dump_id.0, dump.martini.dump_id);
                    break;
                }
                _ => {}
            }
        }
        assert_eq!(dump.martini.collections, collections, "{jdk}");
        let nodes = dump.of_class("graph.Main$Node");
        assert_eq!(nodes.len() as u64, CHAIN);
        for &node in &nodes {
            let (_, born) = recorded.get(&node).expect("the trace has the object");
            assert_eq!(dump.martini.age(hprof::ObjectId(node)), Some(collections - born), "{jdk}: object {node}");
            let stack = dump.allocation_stack(node);
            assert_eq!(stack.first().map(String::as_str), Some("graph.Main.main"), "{jdk}: object {node}");
        }
    }
}

/// At its end the JVM has stopped a concurrent collector, for which nobody must wait then.
#[test]
fn followed_objects_are_found_where_the_collector_moves_them_beside_the_program() {
    for jdk in jdk::each_feature().into_iter().filter(|jdk| jdk.supports(Collector::Z)) {
        for when in ["request", "end"] {
            say(&format!("dump of followed objects: JDK {jdk}, Z, {when}"));
            let dir = Workdir::new();
            let (trace, file) = (dir.join("app.trcxml"), dir.join("app-1.hprof"));
            let program = start(jdk, Collector::Z, &format!("heap=vm,file={},dump={when}", trace.display()));
            if when == "request" {
                request(&trace, &file);
            }
            program.finish().success();
            let dump = Dump::read(&file);
            if when == "request" {
                check_graph(&dump, true);
            }
            let mut recorded = HashSet::new();
            let mut reader = TraceReader::open(&trace).expect("a trace");
            while let Some(event) = reader.next_event().expect("it can be read") {
                if let Event::Element { element: Element::ObjAlloc(alloc), .. } = event {
                    recorded.insert(alloc.obj_id.0);
                }
            }
            let nodes = dump.of_class("graph.Main$Node");
            assert_eq!(nodes.len() as u64, CHAIN, "JDK {jdk}, {when}");
            assert!(nodes.iter().all(|node| recorded.contains(node)), "JDK {jdk}, {when}");
        }
    }
}

#[test]
fn roots_and_references_stand_in_the_trace() {
    for jdk in jdk::each_feature() {
        for heap in ["counts", "vm"] {
            let dir = Workdir::new();
            let trace = dir.join("app.trcxml");
            let options = format!("heap={heap},file={},dump=end,dumpformat=xml", trace.display());
            let program = start(jdk, Collector::G1, &options);
            program.finish().success();
            schema::validate(&trace);
            let recorded = Recorded::read(&trace);
            assert_eq!(recorded.living_by_class()["graph.Main$Node"], CHAIN, "{jdk}, {heap}");
            let names = support::references_by_class(&trace);
            let count = |owner: &str, referred: &str| {
                names.get(&(owner.to_owned(), referred.to_owned())).copied().unwrap_or_default()
            };
            // Each node but the first refers to the one before.
            assert_eq!(count("graph.Main$Node", "graph.Main$Node"), CHAIN - 1, "{jdk}, {heap}");
            assert_eq!(count("graph.Main$Node", "graph.Main$ByArray[]"), CHAIN / 1000, "{jdk}, {heap}");
            assert_eq!(count("graph.Main$ByArray[]", "graph.Main$ByArray"), CHAIN / 1000, "{jdk}, {heap}");
            assert_eq!(count("java.lang.Class", "graph.Main$Node"), 1, "{jdk}, {heap}");
            assert_eq!(count("java.lang.Object[]", "graph.Main$ByInnerArray"), 2, "{jdk}, {heap}");
            assert_eq!(count("java.lang.ref.WeakReference", "graph.Main$ByWeak"), 1, "{jdk}, {heap}");
            // Classes are objects: their superclasses, loaders (of `Leaked` and of its array), statics.
            assert_eq!(count("java.lang.Class", "java.net.URLClassLoader"), 2, "{jdk}, {heap}");
            assert_eq!(count("java.lang.Class", "graph.Leaked[]"), 1, "{jdk}, {heap}");
            assert!(count("java.lang.Class", "java.lang.Class") > 300, "{jdk}, {heap}: superclasses");
        }
    }
}
