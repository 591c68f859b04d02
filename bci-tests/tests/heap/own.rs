//! Martini's own dumps: the same histogram as the JVM's, and what no JVM knows, sites and ages.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use analysis::heap_dump::{Graph, ObjectIndex};
use bci_tests::jdk::{self, Jdk};
use bci_tests::process::{self, Running};
use bci_tests::workdir::Workdir;
use bci_tests::{java, martini};
use serde_json::Value;

use crate::histogram::{by_jvm, compare};
use crate::{HSQLDB, command, read};

/// A program with the agent that dumps when it is asked to.
pub(crate) struct Followed {
    pub(crate) running: Running,
    pub(crate) trace: PathBuf,
    dumps: u32,
}

impl Followed {
    /// The options of the agent for a trace in a folder.
    pub(crate) fn options(dir: &Path, heap: &str) -> String {
        format!("{heap},dump=request,file={}", dir.join("app.trcxml").display())
    }

    /// Starts it and waits until its heap is built.
    #[track_caller]
    pub(crate) fn start(java: &mut Command, dir: &Path) -> Self {
        let mut running = Running::start(java);
        running.wait_for("held");
        Followed { running, trace: dir.join("app.trcxml"), dumps: 0 }
    }

    /// Has the heap dumped.
    #[track_caller]
    pub(crate) fn dump(&mut self) -> PathBuf {
        self.dumps += 1;
        let dump = self.trace.with_file_name(format!("app-{}.hprof", self.dumps));
        std::fs::write(format!("{}.dump", self.trace.display()), "").expect("the trigger can be made");
        let begin = Instant::now();
        while !dump.is_file() {
            assert!(begin.elapsed() < Duration::from_secs(60), "no dump after a minute: {}", dump.display());
            std::thread::sleep(Duration::from_millis(20));
        }
        dump
    }
}

/// What `martini heap --json` says of a file.
#[track_caller]
pub(crate) fn told(file: &Path, arguments: &[&str]) -> Value {
    let mut command = Command::new(&martini::built().command);
    let told = process::run(command.args(["heap", "--json"]).args(arguments).arg(file)).success();
    let told: Value = serde_json::from_slice(&told.stdout).expect("JSON");
    told["dumps"][0].clone()
}

/// Dumps, and compares with the JVM's histograms before and after, where those agree: the agent lives in the same heap, and
/// what it does for a dump leaves a few objects.
#[track_caller]
fn check_histogram(jdk: &Jdk, followed: &mut Followed, place: &str) -> analysis::heap_dump::load::Loaded {
    let pid = followed.running.pid();
    // What the first of each leaves behind is there from now on.
    by_jvm(jdk, pid);
    followed.dump();
    let before = by_jvm(jdk, pid);
    let file = followed.dump();
    let mut after = by_jvm(jdk, pid);
    let (_, loaded) = read(&file);
    let classes = after.len();
    after.retain(|class, count| before.get(class) == Some(count));
    assert!((classes - after.len()) * 50 < classes, "{place}: {} of {classes} classes are the same", after.len());
    compare(place, after, &loaded.graph);
    loaded
}

fn of_class<'a>(graph: &'a Graph, class: &'a str) -> impl Iterator<Item = ObjectIndex> + 'a {
    graph.objects().filter(move |&object| graph.class_name(object) == class)
}

#[test]
fn a_dump_of_followed_objects_has_exact_sizes_ages_and_sites() {
    for jdk in jdk::each_feature() {
        let dir = Workdir::new();
        let agent = martini::built().agent_path(&Followed::options(dir.path(), "heap=events,stack=8"));
        let mut java = java::with_agent(jdk, &["-Xmx256m", "-XX:+UseSerialGC"], Some(agent), "held.Main", &["5000"]);
        let mut followed = Followed::start(&mut java, dir.path());
        let loaded = check_histogram(jdk, &mut followed, &format!("held.Main on JDK {jdk}"));
        followed.running.finish().success();
        // The trace knows the dumps, and that they are elsewhere.
        let of_trace = told(&followed.trace, &["--show", "suspects"]);
        assert_eq!((of_trace["dumps"].as_array().map(Vec::len), of_trace.get("objects")), (Some(2), None), "{jdk}");
        assert!(of_trace["notes"][0].as_str().is_some_and(|note| note.contains("app-1.hprof")), "{of_trace:#}");
        let graph = &loaded.graph;
        let links: Vec<ObjectIndex> = of_class(graph, "held.Main$Link").collect();
        assert_eq!(links.len(), 5000);
        for &link in &links {
            let frames: Vec<&str> =
                graph.site(link).expect("it was followed").iter().map(|frame| method(frame)).collect();
            assert_eq!(frames, ["held.Main.build", "held.Main.main"], "{jdk}");
            // The program collects twice; not every JVM tells of the collections of dumps and histograms.
            assert!(graph.age(link) >= Some(2) && graph.age(link) == graph.age(links[0]), "{:?}", graph.age(link));
        }
        let local = of_class(graph, "held.Main$Local").next().expect("there is one");
        assert_eq!(graph.site(local).map(|frames| frames.len()), Some(1));
        // What was there before the agent could look has neither.
        let early = of_class(graph, "java.lang.ThreadGroup").next().expect("there is one");
        assert_eq!((graph.site(early), graph.age(early)), (None, None), "{jdk}");
    }
}

/// `demo.Main.run(Main.java:7)` without what is in brackets.
fn method(frame: &str) -> &str {
    frame.split('(').next().unwrap_or(frame)
}

#[test]
fn a_dump_of_followed_objects_of_a_real_program_has_exact_sizes() {
    let jdk = jdk::any();
    let dir = Workdir::new();
    let agent = martini::built().agent_path(&Followed::options(dir.path(), "heap=vm,stack=4"));
    let flags = [agent.to_str().expect("the path is text")];
    let Some(mut java) = command(&HSQLDB, jdk, &flags, &["hold.Main"], dir.path()) else { return };
    let mut followed = Followed::start(&mut java, dir.path());
    check_histogram(jdk, &mut followed, &format!("HSQLDB on JDK {jdk}"));
    followed.running.finish().success();
}

#[test]
fn a_dump_in_a_trace_has_sizes_ages_sites_and_holders() {
    for jdk in jdk::each_feature() {
        let dir = Workdir::new();
        let trace = dir.join("app.trcxml");
        let options = format!("heap=events,stack=8,dump=end,dumpformat=xml,file={}", trace.display());
        let agent = martini::built().agent_path(&options);
        let mut java = java::with_agent(jdk, &["-Xmx256m", "-XX:+UseSerialGC"], Some(agent), "held.Main", &["5000"]);
        let mut running = Running::start(&mut java);
        running.wait_for("held");
        running.finish().success();
        let told = told(&trace, &["--class", "held.Main$Link"]);
        let class = &told["classes"][0];
        assert_eq!(class["instances"], 5000, "{jdk}");
        let site = &class["sites"][0];
        assert!(site["at"].as_str().is_some_and(|at| method(at) == "held.Main.build"), "{jdk}: {site:#}");
        assert_eq!((&site["instances"], &site["generations"]), (&5000.into(), &1.into()), "{jdk}");
        // The head of the chain holds all of it, and hangs on the class.
        let (head, shallow) = (&class["largest"][0], class["shallow"].as_u64());
        assert_eq!(head["retained"].as_u64(), shallow, "{jdk}");
        let by: Vec<&str> =
            class["referred_by"].as_array().expect("an array").iter().filter_map(|row| row["class"].as_str()).collect();
        assert_eq!(by, ["held.Main$Link", "java.lang.Class"], "{jdk}");
        assert_eq!(class["referred_by"][0]["references"], 4999, "{jdk}");
    }
}
