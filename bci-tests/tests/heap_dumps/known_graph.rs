//! Martini's dumps of a program whose graph of objects is known: every reference, value and root, the same histogram as the JVM's,
//! the trace's ids, allocation stacks and ages.

use std::collections::{BTreeMap, HashMap};

use bci_tests::histogram::{Histogram, Which};
use bci_tests::jdk::{Collector, Jdk};
use bci_tests::profiled::{Heap, Profiled};
use bci_tests::read::TraceData;
use bci_tests::recorded::Recorded;
use bci_tests::suite::Suite;
use hprof::RootKind;
use trace::ids::{ClassId, ObjectId};
use trace::model::Element;

use crate::dump::Dump;
use crate::support::{dump_of, request, start};

const CHAIN: u64 = 20_000;

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk_and_collector(a_dump_holds_the_graph_that_the_program_built);
    suite.each_jdk(a_dump_of_followed_objects_has_ids_stacks_and_ages_and_no_contents_if_so_asked);
    let zgc = [("zgc::on_request", Collector::Z, "request"), ("zgc::at_the_end", Collector::Z, "end")];
    suite.jdks(..).each_with(&zgc, followed_objects_are_found_where_the_collector_moves_them_meanwhile);
    let shenandoah = [
        ("shenandoah::on_request", Collector::Shenandoah, "request"),
        ("shenandoah::at_the_end", Collector::Shenandoah, "end"),
    ];
    // On JDK 11 the VM's own event misses some hundred nodes (docs/limits.md).
    suite.jdks(17..).each_with(&shenandoah, followed_objects_are_found_where_the_collector_moves_them_meanwhile);
    suite.each_jdk_and(&[("counts", Heap::Counts), ("vm", Heap::Vm)], roots_and_references_stand_in_the_trace);
}

/// What the program has made of its objects.
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

fn a_dump_holds_the_graph_that_the_program_built(jdk: &Jdk, collector: Collector) {
    let program = start(Profiled::on(jdk).heap(Heap::Counts).option("dump", "request"), collector, CHAIN);
    let file = request(&program, 1);
    let jvm = Histogram::of(jdk, program.pid(), Which::Living);
    let _ran = program.finish();
    let dump = Dump::read(&file);
    check_graph(&dump, true);
    check_histogram(&dump, &jvm);
}

/// The class of each object in a trace, and how many collections came before it.
#[derive(Default)]
struct Births {
    objects: HashMap<u64, u64>,
    collections: u64,
    /// Of the first dump: its id, and how many collections came before it.
    dump: Option<(u64, u64)>,
}

impl TraceData for Births {
    fn element(&mut self, element: &Element<'_>) {
        match element {
            Element::ObjAlloc(alloc) if self.dump.is_none() => {
                self.objects.insert(alloc.obj_id.0, self.collections);
            }
            Element::GcFinish(_) => self.collections += 1,
            Element::HeapDumpDef(def) if self.dump.is_none() => self.dump = Some((def.dump_id.0, self.collections)),
            _ => {}
        }
    }
}

fn a_dump_of_followed_objects_has_ids_stacks_and_ages_and_no_contents_if_so_asked(jdk: &Jdk) {
    let profiled = Profiled::on(jdk).heap(Heap::Vm).options("stack=4,dump=request,dumpcontents=zero").no_schema();
    let program = start(profiled, Collector::G1, CHAIN);
    let file = request(&program, 1);
    let ran = program.finish_and_read::<Births>();
    let births = &ran.trace;
    let dump = Dump::read(&file);
    check_graph(&dump, false);
    assert!(dump.all_contents_are_zero());

    assert_eq!(births.dump, Some((dump.martini.dump_id, dump.martini.collections)));
    let nodes = dump.of_class("graph.Main$Node");
    assert_eq!(nodes.len() as u64, CHAIN);
    // On JDK 11 the VM's own event misses some hundred nodes (docs/limits.md), which have no id.
    let has_holes = jdk.feature < 17;
    let with_ids = nodes.iter().copied().filter(|&node| !has_holes || node < dump.martini.end.0);
    assert!(with_ids.clone().count() as u64 > CHAIN / 2);
    for node in with_ids {
        let born = births.objects.get(&node).expect("the trace has the object");
        let age = dump.martini.collections - born;
        assert_eq!(dump.martini.age(hprof::ObjectId(node)), Some(age), "object {node}");
        let stack = dump.allocation_stack(node);
        assert_eq!(stack.first().map(String::as_str), Some("graph.Main.main"), "object {node}");
    }
}

/// At its end the JVM has stopped a concurrent collector, for which nobody must wait then.
fn followed_objects_are_found_where_the_collector_moves_them_meanwhile(jdk: &Jdk, collector: Collector, when: &str) {
    let profiled = Profiled::on(jdk).heap(Heap::Vm).option("dump", when).no_schema();
    let program = start(profiled, collector, CHAIN);
    if when == "request" {
        request(&program, 1);
    }
    let ran = program.finish_and_read::<Births>();
    let dump = Dump::read(&dump_of(&ran.file, 1));
    if when == "request" {
        check_graph(&dump, true);
    }
    let nodes = dump.of_class("graph.Main$Node");
    assert_eq!(nodes.len() as u64, CHAIN);
    let missing = nodes.iter().filter(|node| !ran.trace.objects.contains_key(node)).count();
    assert_eq!(missing, 0, "nodes that the trace does not have");
}

/// The objects of a trace, and how many references lead from objects of one class to objects of another in its one dump.
#[derive(Default)]
struct Graph {
    recorded: Recorded,
    classes: HashMap<ClassId, String>,
    objects: HashMap<ObjectId, ClassId>,
    references: HashMap<(String, String), u64>,
}

impl TraceData for Graph {
    fn element(&mut self, element: &Element<'_>) {
        self.recorded.element(element);
        match element {
            Element::ClassDef(def) => drop(self.classes.insert(def.class_id, def.name.to_string())),
            Element::ObjAlloc(alloc) => drop(self.objects.insert(alloc.obj_id, alloc.class)),
            Element::ObjectReference(reference) => {
                let name = |object| self.classes[&self.objects[&object]].clone();
                *self.references.entry((name(reference.owner), name(reference.object))).or_default() += 1;
            }
            _ => {}
        }
    }
}

fn roots_and_references_stand_in_the_trace(jdk: &Jdk, heap: Heap) {
    let profiled = Profiled::on(jdk).heap(heap).options("dump=end,dumpformat=xml").no_schema();
    let trace = start(profiled, Collector::G1, CHAIN).finish_and_read::<Graph>().trace;
    assert_eq!(trace.recorded.living_by_class()["graph.Main$Node"], CHAIN);
    let count = |owner: &str, referred: &str| {
        trace.references.get(&(owner.to_owned(), referred.to_owned())).copied().unwrap_or_default()
    };
    // Each node but the first refers to the one before.
    assert_eq!(count("graph.Main$Node", "graph.Main$Node"), CHAIN - 1);
    assert_eq!(count("graph.Main$Node", "graph.Main$ByArray[]"), CHAIN / 1000);
    assert_eq!(count("graph.Main$ByArray[]", "graph.Main$ByArray"), CHAIN / 1000);
    assert_eq!(count("java.lang.Class", "graph.Main$Node"), 1);
    assert_eq!(count("java.lang.Object[]", "graph.Main$ByInnerArray"), 2);
    assert_eq!(count("java.lang.ref.WeakReference", "graph.Main$ByWeak"), 1);
    // Classes are objects: their superclasses, loaders (of `Leaked` and of its array), statics.
    assert_eq!(count("java.lang.Class", "java.net.URLClassLoader"), 2);
    assert_eq!(count("java.lang.Class", "graph.Leaked[]"), 1);
    assert!(count("java.lang.Class", "java.lang.Class") > 300, "superclasses");
}
