//! Class loaders that know a list of classes and no others: rewritten code of their classes runs and counts exactly, and no loader is
//! asked anything but what it is asked without the agent.

use std::collections::BTreeMap;

use bci_tests::attach;
use bci_tests::java;
use bci_tests::jdk::Jdk;
use bci_tests::process::Running;
use bci_tests::profiled::{Heap, Profiled};
use bci_tests::read::{self, Judged, TraceData};
use bci_tests::suite::Suite;
use trace::ids::{ClassId, MethodId};
use trace::model::Element;

const MAIN: &str = "loaders.Main";
const ROUNDS: u64 = 1_000;
/// Plugins of ordinary classes.
const PLUGINS: u64 = 9;

const MODES: [(&str, &str); 5] = [
    ("counts", "heap=counts"),
    ("events", "heap=events"),
    ("filtered", "heap=events,include=loaders.*"),
    ("locks", "heap=counts,locks=on,juc=on"),
    ("callers", "heap=counts,callers=16k"),
];

/// Ends the JVM when it is asked for a class that only an agent would ask for.
const SEALED_LOADER: &[&str] = &["-Djava.system.class.loader=loaders.Sealed"];
const SEALED_MAIN: &str = "loaders.SealedMain";

const SEALED: [(&str, &str); 3] = [
    ("counts", "heap=counts,callers=16k"),
    ("events", "heap=events"),
    ("others", "heap=off,locks=on,juc=on,cpu=10ms,wall=10ms,ttsp=on,sampled=16k,live=true"),
];

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk_and(&MODES, strict_loaders_are_asked_nothing);
    suite.each_jdk_and(&MODES, strict_loaders_are_asked_nothing_by_who_attaches);
    suite.each_jdk_and(&SEALED, a_system_loader_is_asked_nothing);
    suite.each_jdk_and(&SEALED, a_system_loader_is_asked_nothing_by_who_attaches);
}

/// Objects of the program's classes, and classes that were left alone.
#[derive(Debug, Default)]
struct Found {
    names: BTreeMap<ClassId, String>,
    counted: BTreeMap<(ClassId, Option<MethodId>, Option<i64>), u64>,
    objects: BTreeMap<ClassId, u64>,
    left: u64,
}

impl TraceData for Found {
    fn element(&mut self, element: &Element<'_>) {
        match element {
            Element::ClassDef(class) => drop(self.names.insert(class.class_id, class.name.to_string())),
            Element::AllocCount(count) => {
                self.counted.insert((count.class, count.method, count.line), count.instances);
            }
            Element::ObjAlloc(object) => *self.objects.entry(object.class).or_default() += 1,
            Element::MartiniCount(count)
                if count.detail.as_deref().is_some_and(|d| d.contains("loaders.Unreached")) =>
            {
                self.left += count.value;
            }
            _ => {}
        }
    }
}

impl Found {
    fn of(&self, name: &str) -> u64 {
        let is_it = |class: &ClassId| self.names[class].starts_with(name);
        let counted = self.counted.iter().filter(|((class, ..), _)| is_it(class)).map(|(_, number)| number);
        let objects = self.objects.iter().filter(|(class, _)| is_it(class)).map(|(_, number)| number);
        counted.chain(objects).sum()
    }
}

/// What the program prints without agent, with its trace's place.
fn undisturbed(jdk: &Jdk, flags: &[&str]) -> String {
    let mut running = Running::start(&mut java::program(jdk, flags, MAIN, &[]));
    running.wait_for("ready");
    running.send(&ROUNDS.to_string());
    running.finish().success().out()
}

/// The JIT removes no object that is counted, so that events and counts are the same.
const REMOVED: &[&str] = &["-XX:-DoEscapeAnalysis", "-Xint"];

fn strict_loaders_are_asked_nothing(jdk: &Jdk, options: &str) {
    let heap = if options.starts_with("heap=counts") { Heap::Counts } else { Heap::Events };
    let further = options.split_once(',').map_or("", |(_, further)| further);
    let mut running = Profiled::on(jdk).heap(heap).options(further).flags(REMOVED).main(MAIN).start();
    running.send(&ROUNDS.to_string());
    let ran = running.finish_and_read::<Found>();
    assert_eq!(ran.out(), undisturbed(jdk, REMOVED));
    assert_eq!(ran.err(), "");
    assert_eq!(["Plugin", "Plugin[]"].map(|name| exactly(&ran.trace, name)), [PLUGINS * ROUNDS; 2]);
    if heap == Heap::Counts {
        assert_eq!(ran.trace.of("loaders.Plain"), ROUNDS);
        assert_eq!(ran.trace.of("loaders.Left"), if has_unreached(jdk) { ROUNDS } else { 0 });
    } else {
        assert_eq!(ran.trace.left, u64::from(has_unreached(jdk)));
    }
}

/// Whether the program has a loader that cannot be asked: a hidden class, which `heap=events` does not rewrite, and no attached agent.
fn has_unreached(jdk: &Jdk) -> bool {
    jdk.feature >= 17
}

fn exactly(found: &Found, name: &str) -> u64 {
    let name = format!("loaders.{name}");
    let both = found.of(&name);
    // `Plugin` begins `Plugin[]`.
    if name.ends_with(']') { both } else { both - found.of(&format!("{name}[]")) }
}

fn strict_loaders_are_asked_nothing_by_who_attaches(jdk: &Jdk, options: &str) {
    let mut program = attach::Program::start_main(jdk, MAIN, REMOVED, &[]);
    // Twice, so that what the first recording leaves is no help.
    for _ in 0..2 {
        let trace = program.trace();
        let started = format!("ok\ntrace {}\n", trace.display());
        let answer = program.ask("start", &format!("{options},file={}", trace.display()));
        assert!(answer.starts_with(&started), "{answer}");
        program.running.send(&ROUNDS.to_string());
        program.running.wait_for("done");
        assert_eq!(program.ask("stop", ""), started);
        let found = read::trace(&trace, Found::default(), Judged::Valid);
        std::fs::remove_file(trace).expect("it is there");
        if options != "heap=events" {
            assert_eq!(["Plugin", "Plugin[]"].map(|name| exactly(&found, name)), [PLUGINS * ROUNDS; 2]);
        }
        // Events need hooks in classes that make arrays alone.
        assert_eq!(found.left > 0, has_unreached(jdk) && options.starts_with("heap=counts"));
    }
    let finished = program.running.finish().success();
    let sum = |line: &&str| line.starts_with("sum") || *line == "done";
    let (out, alone) = (finished.out(), undisturbed(jdk, REMOVED));
    assert_eq!(
        out.lines().filter(|l| !sum(l)).collect::<Vec<_>>(),
        alone.lines().filter(|l| !sum(l)).collect::<Vec<_>>()
    );
}

fn a_system_loader_is_asked_nothing(jdk: &Jdk, options: &str) {
    let mut bare = Running::start(&mut java::program(jdk, SEALED_LOADER, SEALED_MAIN, &[]));
    bare.send("q");
    let bare = bare.finish().success();
    let heap = [Heap::Counts, Heap::Events, Heap::Off]
        .into_iter()
        .find(|heap| options.starts_with(&format!("heap={}", heap.name())));
    let further = options.split_once(',').map_or("", |(_, further)| further);
    let profiled = Profiled::on(jdk).heap(heap.expect("one of them")).options(further).flags(SEALED_LOADER);
    let mut running = profiled.main(SEALED_MAIN).start();
    running.send("q");
    let ran = running.finish();
    assert_eq!((ran.out(), ran.err()), (bare.out(), bare.err()));
}

fn a_system_loader_is_asked_nothing_by_who_attaches(jdk: &Jdk, options: &str) {
    let mut bare = Running::start(&mut java::program(jdk, SEALED_LOADER, SEALED_MAIN, &[]));
    bare.send("q");
    let bare = bare.finish().success().out();
    let mut program = attach::Program::start_main(jdk, SEALED_MAIN, SEALED_LOADER, &[]);
    let trace = program.trace();
    let started = format!("ok\ntrace {}\n", trace.display());
    let answer = program.ask("start", &format!("{options},file={}", trace.display()));
    assert!(answer.starts_with(&started), "{answer}");
    assert_eq!(program.ask("stop", ""), started);
    program.running.send("q");
    let out = program.running.finish().success().out();
    assert_eq!(out, bare);
}
