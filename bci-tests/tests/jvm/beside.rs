//! Beside what else people load into a JVM: other agents, a debugger, archives of classes (the JDK's, an application's, the AOT cache of
//! JDK 25). The program prints what it prints alone, and its objects are all there.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use bci_tests::jdk::{self, Jdk};
use bci_tests::process::{Running, wait_until};
use bci_tests::profiled::{Heap, Profiled, Ran};
use bci_tests::read::TraceData;
use bci_tests::suite::Suite;
use bci_tests::workdir::Workdir;
use bci_tests::{java, jdwp, process, programs};
use trace::ids::ClassId;
use trace::model::Element;

pub(crate) fn tests(suite: &mut Suite) {
    for agent in AGENTS {
        let jar = programs::jars().map(|folder| folder.join(agent.jar)).filter(|jar| jar.is_file());
        let Some(jar) = jar else {
            suite.skip(format!("beside::agents::{}", agent.name), "MARTINI_REAL_PROGRAMS names no folder with its jar");
            continue;
        };
        // Each way beside each agent, on the oldest and the newest JDK in turn.
        for jdk in jdk::each_feature() {
            for (turn, (order, first, heap)) in [
                ("in_front", First::Other, Heap::Counts),
                ("in_front", First::Other, Heap::Events),
                ("behind", First::Martini, Heap::Counts),
                ("behind", First::Martini, Heap::Vm),
            ]
            .into_iter()
            .enumerate()
            {
                let name = format!("beside::agents::{}::jdk{}::{order}_{}", agent.name, jdk.feature, heap.name());
                let jar = jar.clone();
                suite.add_where(jdk::ends()[turn % 2].feature == jdk.feature, name, move || {
                    both_work(jdk, agent, jar, first, heap)
                });
            }
        }
    }
    for jdk in jdk::all() {
        let name = |what: &str| format!("beside::archives::{what}::jdk{}", jdk.version);
        if !jdk.home.join("lib/server/classes.jsa").is_file() {
            suite.skip(name("of_an_application"), "this runtime was linked without the JDK's archive");
            continue;
        }
        suite.add(name("of_an_application"), move || of_an_application(jdk));
        if jdk.feature >= 25 {
            suite.add(name("aot_cache"), move || aot_cache(jdk));
        }
    }
    let debugger = jdk::all().iter().find(|jdk| jdk.home.join("bin/jdb").is_file());
    // Each way beside a debugger, with the JDKs in turn.
    let mut turn = 0;
    for jdk in jdk::all() {
        let name = |heap: Heap| format!("beside::debugger::stops_and_continues::jdk{}::{}", jdk.version, heap.name());
        match debugger {
            Some(debugger) if jdwp::is_there(jdk) => {
                for (way, heap) in [Heap::Counts, Heap::Events, Heap::Vm].into_iter().enumerate() {
                    suite.add_where(way == turn % 3, name(heap), move || stops_and_continues(jdk, debugger, heap));
                }
                turn += 1;
            }
            Some(_) => suite.skip(name(Heap::Events), "this runtime was linked without the agent for debuggers"),
            None => suite.skip(name(Heap::Events), "no JDK here has a debugger"),
        }
    }
}

const CELL: &str = "endings.Main$Cell";

/// A small program of which the number of objects is known.
fn program<'a>(jdk: &'a Jdk, heap: Heap) -> Profiled<'a> {
    Profiled::on(jdk).heap(heap).options("juc=on,stack=8").main("endings.Main").args(&["return"])
}

/// What a trace says of the objects, and of its own completeness.
#[derive(Debug, Default)]
struct Seen {
    cell: Option<ClassId>,
    cells: u64,
    /// What was lost.
    lost: Vec<String>,
    mismatches: u64,
}

impl TraceData for Seen {
    fn element(&mut self, element: &Element<'_>) {
        match element {
            Element::ClassDef(class) if class.name == CELL => self.cell = Some(class.class_id),
            Element::ObjAlloc(object) if Some(object.class) == self.cell => self.cells += 1,
            // The last one of a site counts; here each comes once.
            Element::AllocCount(count) if Some(count.class) == self.cell => self.cells += count.instances,
            Element::MartiniCount(count) if count.key == "events.lost" => {
                self.lost.push(count.detail.as_deref().unwrap_or_default().to_owned());
            }
            Element::MartiniCount(count) if count.key == "stackCache.mismatches" => self.mismatches += count.value,
            _ => {}
        }
    }
}

/// That the program has printed what it prints alone, and that all its objects were seen.
#[track_caller]
fn assert_whole(ran: &Ran<Seen>) {
    assert_eq!(ran.out(), "1000 cells \u{e4}\n", "{}", ran.err());
    assert_eq!(ran.trace.cells, 1000);
    // Classes that another agent makes may be gone before the VM says which they were.
    assert!(ran.trace.lost.iter().all(|lost| lost == "site not found"), "{:?}", ran.trace.lost);
    assert_eq!(ran.trace.mismatches, 0);
}

/// One agent.
#[derive(Clone, Copy, Debug)]
struct Agent {
    name: &'static str,
    /// In the folder of the real programs.
    jar: &'static str,
    options: &'static str,
}

const AGENTS: [Agent; 3] = [
    Agent { name: "jacoco", jar: "org.jacoco.agent-0.8.14-runtime.jar", options: "=output=none" },
    Agent { name: "byte_buddy", jar: "byte-buddy-agent-1.17.8.jar", options: "" },
    Agent { name: "opentelemetry", jar: "opentelemetry-javaagent-2.20.1.jar", options: "" },
];

/// Which of the two the JVM starts first.
#[derive(Clone, Copy, Debug)]
enum First {
    Martini,
    Other,
}

fn both_work(jdk: &Jdk, agent: Agent, jar: PathBuf, first: First, heap: Heap) {
    let other = format!("-javaagent:{}{}", jar.display(), agent.options);
    let exporters = ["traces", "metrics", "logs"].map(|what| format!("-Dotel.{what}.exporter=none"));
    let alone = program(jdk, heap).flags(&exporters).flags(&["-Dotel.javaagent.logging=none"]);
    let both = match first {
        First::Martini => alone.flags_behind(&[other]),
        First::Other => alone.flags(&[other]),
    };
    // Millions of elements, some of them.
    let ran = both.no_schema().run_and_read::<Seen>();
    assert_whole(&ran);
}

const MODES: [Heap; 3] = [Heap::Counts, Heap::Events, Heap::Vm];

/// The program in a jar, since the JVM makes no archive of classes in folders.
pub(crate) fn jar(folder: &Path) -> PathBuf {
    let jar = folder.join("endings.jar");
    let classes = env::split_paths(java::class_path()).find(|path| path.join("endings").is_dir());
    let classes = classes.expect("one folder has the program");
    let mut command = jdk::compiler().tool("jar");
    process::run(command.arg("-cf").arg(&jar).arg("-C").arg(classes).arg("endings")).success();
    jar
}

/// Made without the agent, since HotSpot refuses to make one beside any, and used in each mode.
#[track_caller]
fn used_in_each_mode(jdk: &Jdk, make: &str, used: &str) {
    let folder = Workdir::new();
    let jar = jar(folder.path());
    let archive = folder.join("classes.archive");
    let flag = |name: &str| format!("-XX:{name}={}", archive.display());
    let _made = program(jdk, Heap::Off).class_path(&jar).flags(&[flag(make)]).without_agent().run();
    assert!(archive.is_file(), "the JVM has made it");
    for heap in MODES {
        let ran = program(jdk, heap).class_path(&jar).flags(&[flag(used)]).run_and_read::<Seen>();
        assert_whole(&ran);
    }
}

fn of_an_application(jdk: &Jdk) {
    used_in_each_mode(jdk, "ArchiveClassesAtExit", "SharedArchiveFile");
}

fn aot_cache(jdk: &Jdk) {
    used_in_each_mode(jdk, "AOTCacheOutput", "AOTCache");
}

/// All threads are suspended twice, the agent's own too.
fn stops_and_continues(jdk: &Jdk, debugger: &Jdk, heap: Heap) {
    // The port is free again when the debugged JVM takes it.
    let address = TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr()).expect("a free port").to_string();
    let every = if heap == Heap::Counts { "every=1" } else { "" };
    let profiled = Profiled::on(jdk).heap(heap).options(every).options("juc=on,stack=8").any_status().no_schema();
    let transport = format!("-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address={address}");
    let mut program = profiled.flags(&[transport]).main("endings.Main").args(&["never"]).start();
    program.wait_for("allocating");
    let mut jdb = Running::start(debugger.tool("jdb").args(["-attach", &address]));
    // The last thread that is listed.
    let last = "DestroyJavaVM";
    let mut ask = |command: &str, answers: &[&str]| {
        jdb.send(command);
        jdb.wait_for_any(answers)
    };
    for (command, answer) in [
        ("stop in endings.Main$Cell.<init>", "Breakpoint hit"),
        ("where all", last),
        ("threads", last),
        ("clear endings.Main$Cell.<init>", "Removed: breakpoint"),
    ] {
        ask(command, &[answer]);
    }
    // Other threads have come to the breakpoint too, and each stops all. The step is over before anything else is asked: its end stops all
    // once more.
    let mut answer = ask("next", &["Step completed", "Breakpoint hit"]);
    while answer.contains("Breakpoint hit") {
        answer = ask("cont", &["Step completed", "Breakpoint hit"]);
    }
    for (command, answer) in [
        ("resume", "All threads resumed"),
        ("suspend", "All threads suspended"),
        ("where all", last),
        ("threads", last),
        ("resume", "All threads resumed"),
    ] {
        ask(command, &[answer]);
    }
    // It may wait for an event of the program before it ends by itself.
    jdb.kill();
    jdb.finish();
    let bytes = || fs::metadata(&program.file).expect("the trace is there").len();
    let before = bytes();
    wait_until(|| bytes() > before);
    let sent = Command::new("kill").arg(program.pid().to_string()).status().expect("kill is a command");
    assert!(sent.success());
    assert_eq!(program.finish().status().code(), Some(128 + 15));
}
