//! The agent in a real JVM, once in every mode, on the one JDK that is found first. Everything beyond that is in the package `bci-tests`.

use std::collections::HashMap;
use std::process::ExitCode;

use analysis::heap_dump::load;
use bci_tests::counted::Counted;
use bci_tests::jdk::Jdk;
use bci_tests::martini;
use bci_tests::profiled::{Heap, Profiled, Ran, Started};
use bci_tests::read::TraceData;
use bci_tests::recorded::Recorded;
use bci_tests::suite::Suite;
use bci_tests::waits::{Kind, Waits};
use bci_tests::windows;
use hprof::read::DumpFile;
use trace::ids::ClassId;
use trace::model::Element;

/// Objects of each kind that `removed.Main` makes.
const MANY: u64 = 200_000;

/// Nodes that `graph.Main` holds.
const CHAIN: u64 = 20_000;

/// Threads of `waits.Main` that wait for a monitor, as often as they do.
const BLOCKED: usize = 26;

fn main() -> ExitCode {
    martini::use_command(env!("CARGO_BIN_EXE_martini"));
    Suite::run(&[|suite| {
        suite.any_jdk(events_with_sites_and_stacks);
        suite.any_jdk(events_without_lifetimes);
        suite.any_jdk(events_filtered);
        suite.any_jdk(events_zipped);
        suite.any_jdk(events_up_to_a_limit);
        suite.any_jdk(counts);
        suite.any_jdk(counts_with_callers);
        suite.any_jdk(counts_with_live_objects);
        suite.any_jdk(vm);
        suite.any_jdk(off_with_a_dump_at_the_end);
        suite.any_jdk(events_with_a_dump_in_the_trace);
        suite.any_jdk(locks);
        suite.any_jdk(juc_with_a_lock_log);
    }])
}

/// The trace has, between the program's markers, what the program made.
#[track_caller]
fn has_the_shapes(profiled: Profiled<'_>, is_reported: impl Fn(&str) -> bool) -> Ran<Recorded> {
    let ran = profiled.heap(Heap::Events).main("shapes.Main").args(&["400", "100"]).run_and_read::<Recorded>();
    let mut windows = windows::printed(&ran.out());
    assert!(windows.len() >= 90, "only {} windows", windows.len());
    for window in &mut windows {
        window.expected.retain(|class, _| is_reported(class));
    }
    let differences = windows::differences(&windows, &ran.trace);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    ran
}

fn events_with_sites_and_stacks(jdk: &Jdk) {
    let profiled = Profiled::on(jdk).options("allocsites=true,stack=4").both_schemas();
    let trace = has_the_shapes(profiled, |_| true).trace;
    assert!(trace.objects.iter().any(|object| object.has_site && object.freed.is_some()));
}

fn events_without_lifetimes(jdk: &Jdk) {
    let trace = has_the_shapes(Profiled::on(jdk).option("lifetimes", "false"), |_| true).trace;
    assert!(trace.objects.iter().all(|object| object.freed.is_none()));
}

fn events_filtered(jdk: &Jdk) {
    let is_reported = |class: &str| class.starts_with("shapes.");
    let trace = has_the_shapes(Profiled::on(jdk).options("include=shapes.*,exclude=*"), is_reported).trace;
    assert!(trace.by_class().into_keys().all(is_reported));
}

fn events_zipped(jdk: &Jdk) {
    has_the_shapes(Profiled::on(jdk).option("format", "zip").no_schema(), |_| true);
}

fn events_up_to_a_limit(jdk: &Jdk) {
    let profiled = Profiled::on(jdk).heap(Heap::Events).option("limit", "200k").main("accounts.Main");
    let ran = profiled.run_and_read::<Recorded>();
    assert!(ran.err().contains("has reached its limit of"), "{}", ran.err());
    assert!(ran.file.metadata().expect("the trace is there").len() <= 200 << 10);
}

/// Instances at the sites of a class.
fn counted(trace: &Counted, class: &str) -> u64 {
    let of_class = trace.sites.iter().filter(|(site, _)| site.class == class);
    of_class.map(|(_, sum)| sum.instances).sum()
}

fn removed(jdk: &Jdk, heap: Heap) -> Profiled<'_> {
    Profiled::on(jdk).heap(heap).main("removed.Main")
}

fn counts(jdk: &Jdk) {
    let trace = removed(jdk, Heap::Counts).run_and_read::<Counted>().trace;
    assert_eq!(counted(&trace, "removed.Main$Plain"), MANY);
    assert_eq!(counted(&trace, "removed.Main$Many"), MANY);
    assert_eq!(trace.objects.instances, 0);
}

fn counts_with_callers(jdk: &Jdk) {
    let trace = removed(jdk, Heap::Counts).option("callers", "1k").run_and_read::<Counted>().trace;
    assert_eq!(counted(&trace, "removed.Main$Plain"), MANY);
    assert!(trace.estimates.values().any(|&bytes| bytes > 1_000_000));
}

fn vm(jdk: &Jdk) {
    let trace = removed(jdk, Heap::Vm).run_and_read::<Counted>().trace;
    assert!(trace.objects.instances > MANY);
    // Up to JDK 16 the VM's own event has a hole.
    let (reported, accounted) = (trace.sum("coverage.reported") as f64, trace.sum("coverage.accounted") as f64);
    let least = if jdk.feature < 17 { 0.9 } else { 0.999 };
    assert!((least..=1.001).contains(&(reported / accounted)), "{reported} of {accounted} bytes");
}

/// The program that holds a chain of nodes until its standard input ends.
#[track_caller]
fn graph(profiled: Profiled<'_>) -> Started {
    let mut program = profiled.flags(&[format!("-Dgraph.chain={CHAIN}")]).main("graph.Main").args(&["wait"]).start();
    program.wait_for("built");
    program
}

/// What a trace counts as live at its end, and what refers to what.
#[derive(Default)]
struct AtTheEnd {
    classes: HashMap<ClassId, String>,
    live: HashMap<String, u64>,
    references: u64,
    objects: u64,
}

impl TraceData for AtTheEnd {
    fn element(&mut self, element: &Element<'_>) {
        match element {
            Element::ClassDef(class) => drop(self.classes.insert(class.class_id, class.name.to_string())),
            Element::LiveCount(count) => {
                *self.live.entry(self.classes[&count.class].clone()).or_default() += count.instances;
            }
            Element::ObjectReference(_) => self.references += 1,
            Element::ObjAlloc(_) => self.objects += 1,
            _ => {}
        }
    }
}

fn counts_with_live_objects(jdk: &Jdk) {
    let trace = graph(Profiled::on(jdk).heap(Heap::Counts).option("live", "true")).finish_and_read::<AtTheEnd>().trace;
    assert_eq!(trace.live.get("graph.Main$Node"), Some(&CHAIN));
}

fn off_with_a_dump_at_the_end(jdk: &Jdk) {
    let ran = graph(Profiled::on(jdk).heap(Heap::Off).option("dump", "end")).finish_and_read::<AtTheEnd>();
    assert_eq!(ran.trace.objects, 0);
    let dump = DumpFile::open(&ran.dir.join("app-1.hprof")).expect("there is a dump");
    let graph = load::load(&dump, &mut |_, _| {}).expect("it can be read").graph;
    let nodes = graph.objects().filter(|&object| graph.class_name(object) == "graph.Main$Node").count();
    assert_eq!(nodes as u64, CHAIN);
}

fn events_with_a_dump_in_the_trace(jdk: &Jdk) {
    let profiled = Profiled::on(jdk).heap(Heap::Events).options("dump=end,dumpformat=xml").no_schema();
    let trace = graph(profiled).finish_and_read::<AtTheEnd>().trace;
    assert!(trace.references >= CHAIN, "{} references", trace.references);
}

fn waits(profiled: Profiled<'_>, what: &str) -> Ran<Waits> {
    let ran = profiled.main("waits.Main").args(&[what]).run_and_read::<Waits>();
    for key in ["events.lost", "waits.withoutBegin", "waits.withoutEnd", "agent.panics"] {
        assert_eq!(ran.trace.count(key), 0, "{key}");
    }
    ran
}

fn locks(jdk: &Jdk) {
    let trace = waits(Profiled::on(jdk).option("locks", "on"), "monitors").trace;
    let is_ours = |class: &str| class == "waits.Main$Monitor";
    let blocked: Vec<_> = trace.counted().filter(|w| w.kind == Kind::Blocked && is_ours(&w.class)).collect();
    assert_eq!(blocked.len(), BLOCKED);
    assert!(blocked.iter().all(|wait| wait.owner.is_some() && wait.nanos.is_some()), "{blocked:#?}");
}

fn juc_with_a_lock_log(jdk: &Jdk) {
    let profiled = Profiled::on(jdk);
    let log = profiled.dir().join("locks.txt");
    let ran = waits(profiled.option("juc", "on").option("locklog", log.display()), "parks");
    assert!(ran.trace.counted().any(|wait| wait.parked && wait.kind == Kind::Blocked && wait.owner.is_some()));
    let text = std::fs::read_to_string(&log).expect("there is a log");
    assert!(text.lines().any(|line| line.contains(" LCK [t-lock-0] ")), "{text}");
}
