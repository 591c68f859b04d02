//! A dump at each moment while threads collect and allocate all the time: with each collector, in each mode of `heap`. Each dump is
//! there, a reader of other people counts in it what ours does, and the ids in it are those of the trace.

use std::collections::HashMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{fs, iter};

use bci_tests::jdk::{Collector, Jdk};
use bci_tests::process::wait_until;
use bci_tests::profiled::{Heap, Profiled};
use bci_tests::read::TraceData;
use bci_tests::suite::Suite;
use hprof::RootKind;
use trace::ids::ClassId;
use trace::model::Element;

use crate::dump::Dump;
use crate::readers::instances_by_another_reader;
use crate::support::{dump_of, request};

const CLASS: &str = "graph.Restless$Known";
const KNOWN: i64 = 5_000;
/// In their order.
const MOMENTS: [&str; 4] = ["gc", "request", "oom", "end"];

pub(crate) fn tests(suite: &mut Suite) {
    let modes = [("events", Heap::Events), ("vm", Heap::Vm), ("counts", Heap::Counts), ("off", Heap::Off)];
    let with_each = |collector: Collector| {
        // A test has its name as long as the process runs.
        let name = |mode| -> &'static str { format!("{}::{mode}", collector.name()).leak() };
        modes.map(|(mode, heap)| (name(mode), collector, heap))
    };
    let ways: Vec<_> = Collector::ALL.into_iter().flat_map(with_each).collect();
    suite.jdks(..).each_with(&ways, each_moment_has_its_dump);
    let concurrent = [Collector::Z, Collector::Shenandoah].map(|collector| (collector.name(), collector, ()));
    suite.jdks(..).each_with(&concurrent, a_dump_in_the_trace_is_whole);
}

/// What a trace says of its dumps, and of the objects whose number is known.
#[derive(Default)]
struct Said {
    classes: HashMap<ClassId, bool>,
    /// Ids, in the order of the trace.
    known: Vec<u64>,
    /// Names of dumps, and what they lack.
    dumps: Vec<(String, String)>,
    /// References to known objects in the first dump.
    references: usize,
}

impl TraceData for Said {
    fn element(&mut self, element: &Element<'_>) {
        match element {
            Element::ClassDef(def) => drop(self.classes.insert(def.class_id, def.name == CLASS)),
            Element::ObjAlloc(alloc) if self.classes.get(&alloc.class) == Some(&true) => {
                self.known.push(alloc.obj_id.0);
            }
            Element::HeapDumpDef(def) => {
                let [name, without_ids] = [&def.name, &def.without_ids];
                let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
                self.dumps.push((text(name.as_deref()), text(without_ids.as_deref())));
            }
            Element::ObjectReference(reference) if self.known.binary_search(&reference.object.0).is_ok() => {
                self.references += 1;
            }
            _ => {}
        }
    }
}

fn restless<'a>(jdk: &'a Jdk, collector: Collector, heap: Heap) -> Profiled<'a> {
    let flags = ["-Xms96m", "-Xmx96m", "-Xlog:jvmti=off"];
    Profiled::on(jdk).heap(heap).collector(collector).flags(&flags).no_schema().main("graph.Restless")
}

fn each_moment_has_its_dump(jdk: &Jdk, collector: Collector, heap: Heap) {
    let only_at_ends = heap == Heap::Events && jdk.keeps_garbage_of_dumps(collector);
    let mut program = restless(jdk, collector, heap).option("dump", "gc:3+request+oom+end").start();
    program.wait_for("ready");
    if !only_at_ends {
        let first = dump_of(&program.file, 1);
        wait_until(|| first.is_file());
        request(&program, 2);
    }
    program.send("fill");
    program.wait_for("fill done");
    let ran = program.finish_and_read::<Said>();
    let is_said = ran.err().starts_with("martini: no heap dumps before the program ends: with this JDK's ZGC");
    assert!(if only_at_ends { is_said } else { ran.err().is_empty() }, "{}", ran.err());

    let moments = &MOMENTS[if only_at_ends { 2 } else { 0 }..];
    let files: Vec<PathBuf> = (1..).take(moments.len()).map(|number| dump_of(&ran.file, number)).collect();
    let names: Vec<&str> = ran.trace.dumps.iter().map(|(name, _)| name.as_str()).collect();
    let expected: Vec<String> =
        iter::zip(moments, &files).map(|(moment, file)| format!("{moment} {}", file.display())).collect();
    assert_eq!(names, expected);
    let follows = matches!(heap, Heap::Events | Heap::Vm);
    for (file, (name, without_ids)) in iter::zip(&files, &ran.trace.dumps) {
        let dump = Dump::read(file);
        assert_eq!(&dump.martini.without_ids, without_ids, "{name}");
        assert!(!without_ids.starts_with("all"), "{name}: {without_ids}");
        // On JDK 11 the VM does not report all objects (docs/limits.md): those have no id.
        let has_holes = heap == Heap::Vm && jdk.feature < 17;
        check(&dump, name, follows.then_some(&ran.trace.known), has_holes);
        if let Some(instances) = instances_by_another_reader(file, CLASS) {
            assert_eq!(instances, KNOWN as u64, "{name}");
        }
        assert_eq!(fs::metadata(file).expect("it is there").permissions().mode() & 0o777, 0o600, "{name}");
    }
    assert_eq!(left_over(ran.dir.path()), [""; 0]);
}

/// The known objects are in a dump, each with its id in the trace if that has them. They were allocated in the order of their
/// numbers, by one thread.
fn check(dump: &Dump, name: &str, ids: Option<&Vec<u64>>, has_holes: bool) {
    let mut known: Vec<(i64, u64)> =
        dump.of_class(CLASS).into_iter().map(|object| (dump.number(object, "number"), object)).collect();
    known.sort_unstable();
    assert!(known.iter().map(|(number, _)| *number).eq(0..KNOWN), "{name}: {} objects", known.len());
    if let Some(ids) = ids {
        let end = dump.martini.end.0;
        let without: Vec<i64> = known.iter().filter(|known| known.1 >= end).map(|known| known.0).collect();
        assert!(has_holes || without.is_empty(), "{name}: no ids ({}): {without:?}", dump.martini.without_ids);
        let with_ids = known.iter().map(|(_, object)| object).filter(|&&id| id < end);
        assert!(with_ids.eq(ids), "{name}: other ids than in the trace");
    }
    let globals = known.iter().flat_map(|&(_, object)| dump.roots_of(object));
    assert_eq!(globals.filter(|root| root.kind == RootKind::JniGlobal).count(), 0, "{name}: nobody holds them so");
}

/// What was made for a dump and is there no more after it.
fn left_over(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).expect("it is there").flatten();
    files.map(|file| file.file_name().to_string_lossy().into_owned()).filter(|name| name.starts_with('.')).collect()
}

fn a_dump_in_the_trace_is_whole(jdk: &Jdk, collector: Collector, (): ()) {
    let mut program = restless(jdk, collector, Heap::Vm).options("dump=end,dumpformat=xml").start();
    program.wait_for("ready");
    let ran = program.finish_and_read::<Said>();
    assert_eq!(ran.err(), "");
    let [(name, without_ids)] = &ran.trace.dumps[..] else { panic!("not one dump: {:?}", ran.trace.dumps) };
    assert_eq!(name, "end");
    assert!(!without_ids.starts_with("all"), "{without_ids}");
    assert_eq!((ran.trace.known.len() as i64, ran.trace.references as i64), (KNOWN, KNOWN), "one array refers to them");
    assert_eq!(left_over(ran.dir.path()), [""; 0]);
}
