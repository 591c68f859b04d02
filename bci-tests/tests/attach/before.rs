//! What was there before a recording that begins late, and that its trace is otherwise like that of one that began with the JVM.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use bci_tests::jdk::Jdk;
use bci_tests::read::{self, Judged, TraceData};
use bci_tests::suite::Suite;
use bci_tests::{attach, martini};
use trace::ids::{ClassId, MethodId};
use trace::model::Element;

use crate::program::{NODE, Program};

const NODES: u64 = 100_000;
const KEPT: u64 = 1_000_000;
/// The agent's own objects and those that the JVM makes to load it; and those of its archive that it counts, and shows to no agent.
const OTHERS: u64 = 3_000;
/// Elements that a recording has if something happens in it that need not.
const BY_CHANCE: [&str; 12] = [
    "gcStart",
    "gcFinish",
    "objFree",
    "threadEnd",
    "functionDef",
    "monWait",
    "monWaited",
    "monStillOwned",
    "threadSleep",
    "threadSlept",
    "threadInfo",
    "monitorUsage",
];
/// Threads that the JVM shows in its own list and to no agent.
const HIDDEN: [&str; 5] = ["C1 CompilerThread", "C2 CompilerThread", "Sweeper", "Service Thread", "Monitor Deflation"];

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(what_was_there_before_is_in_numbers);
    suite.each_jdk_and(&OPTIONS, a_late_trace_is_like_one_from_the_start);
}

const OPTIONS: [(&str, &str); 3] = [
    ("counts", "heap=counts,stack=0,include=attach.*"),
    ("events", "heap=events,stack=8,include=attach.*"),
    ("locks", "heap=off,locks=on,cpu=5ms"),
];

fn what_was_there_before_is_in_numbers(jdk: &Jdk) {
    // Nothing is made in it while it is looked at.
    let mut program = Program::start_main(jdk, "lasting.Main", &["-Xmx256m"]);
    program.command("keep", "keep done");
    let pid = program.running.pid();
    let (objects, bytes) = attach::living_objects(pid).expect("an answer of the JVM");
    let threads = attach::threads(pid).expect("an answer of the JVM");
    let threads: Vec<_> = threads.iter().filter(|name| !HIDDEN.iter().any(|hidden| name.starts_with(hidden))).collect();
    let trace = program.trace();
    let options = format!("heap=counts,live=true,file={}", trace.display());
    assert!(program.ask("start", &options).starts_with("ok\n"));
    assert!(program.ask("stop", "").starts_with("ok\n"));
    let before = read::trace(&trace, Before::default(), Judged::Valid);
    assert_eq!(before.threads, threads.len() as u64, "{threads:?}");
    assert!(objects > KEPT && bytes > KEPT * 16, "{objects}, {bytes}");
    assert!(before.objects.abs_diff(objects) < OTHERS, "{objects}, {before:?}");
    assert!(before.bytes.abs_diff(bytes) < bytes / 50, "{bytes}, {before:?}");
}

/// What was there before, as the trace says.
#[derive(Debug, Default)]
struct Before {
    threads: u64,
    objects: u64,
    bytes: u64,
}

impl TraceData for Before {
    fn element(&mut self, element: &Element<'_>) {
        let Element::MartiniCount(count) = element else { return };
        match &*count.key {
            "before.threads" => self.threads = count.value,
            "before.objects" => self.objects = count.value,
            "before.bytes" => self.bytes = count.value,
            _ => {}
        }
    }
}

fn a_late_trace_is_like_one_from_the_start(jdk: &Jdk, options: &str) {
    let agent = martini::built().agent_path(&format!("{options},file=app.trcxml"));
    let from_start = recorded(Program::start(jdk, &["-Xmx256m", agent.to_str().expect("text")], &[]));

    let program = Program::start(jdk, &["-Xmx256m"], &[]);
    let options_late = format!("{options},file={}", program.trace().display());
    assert!(program.ask("start", &options_late).starts_with("ok\n"));
    let late = recorded(program);

    assert_eq!(late.sites, from_start.sites);
    assert_eq!(late.sites.values().sum::<u64>(), if options.starts_with("heap=off") { 0 } else { NODES });
    assert_eq!(late.kinds, from_start.kinds);
}

/// What the trace says of a program that is recorded already, once it has done its work.
fn recorded(mut program: Program) -> Sites {
    program.make(NODES);
    // The first wait has ended when the second one begins.
    program.contend();
    program.contend();
    assert!(program.ask("stop", "").starts_with("ok\n"));
    let sites = read::trace(&program.trace(), Sites::default(), Judged::Valid);
    program.finish();
    sites
}

/// The sites of nodes, with the number of nodes, and which elements there are.
#[derive(Debug, Default)]
struct Sites {
    classes: HashMap<ClassId, String>,
    methods: HashMap<MethodId, String>,
    sites: BTreeMap<(String, Option<i64>), u64>,
    /// Elements, of those that a recording has whatever happens in it.
    kinds: BTreeSet<String>,
}

impl Sites {
    fn site(&mut self, class: ClassId, method: Option<MethodId>, line: Option<i64>) -> Option<&mut u64> {
        let is_node = self.classes.get(&class).is_some_and(|name| name == NODE);
        let method = method.and_then(|method| self.methods.get(&method)).cloned().unwrap_or_default();
        is_node.then(|| self.sites.entry((method, line)).or_default())
    }
}

impl TraceData for Sites {
    fn element(&mut self, element: &Element<'_>) {
        match element {
            Element::ClassDef(class) => drop(self.classes.insert(class.class_id, class.name.to_string())),
            Element::MethodDef(method) => drop(self.methods.insert(method.method_id, method.name.to_string())),
            Element::ObjAlloc(object) => {
                if let Some(nodes) = self.site(object.class, object.method, object.line) {
                    *nodes += 1;
                }
            }
            Element::AllocCount(count) => {
                if let Some(nodes) = self.site(count.class, count.method, count.line) {
                    // Each element has all so far.
                    *nodes = count.instances;
                }
            }
            _ => {}
        }
        if !BY_CHANCE.contains(&element.name()) {
            self.kinds.insert(element.name().to_owned());
        }
    }
}
