//! Each option that acts at the end, on request, or after a collection, with each collector: all of them work, and the JVM ends.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use bci_tests::jdk::{Collector, Jdk};
use bci_tests::process::wait_until;
use bci_tests::profiled::{Profiled, Started};
use bci_tests::read::TraceData;
use bci_tests::suite::Suite;
use trace::ids::ClassId;
use trace::model::Element;

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk_and_collector(counts);
    suite.each_jdk_and_collector(events);
    suite.each_jdk_and_collector(vm);
    suite.each_jdk_and_collector(sampled);
    suite.each_jdk_and_collector(threads_only);
    suite.each_jdk_and_collector(halted);
}

/// What a trace says of its moments.
#[derive(Debug, Default)]
struct Moments {
    classes: BTreeMap<ClassId, String>,
    /// Instances by class, of the last histogram.
    living: BTreeMap<String, u64>,
    /// Why each heap was dumped.
    dumps: Vec<String>,
    /// Threads that answered a data request, or were blocked at the end.
    infos: usize,
    /// What was lost.
    lost: Vec<String>,
}

impl TraceData for Moments {
    fn element(&mut self, element: &Element<'_>) {
        match element {
            Element::ClassDef(class) => drop(self.classes.insert(class.class_id, class.name.to_string())),
            Element::LiveCount(count) => {
                self.living.insert(self.classes[&count.class].clone(), count.instances);
            }
            Element::HeapDumpDef(def) => {
                let name = def.name.as_deref().expect("a name");
                self.dumps.push(name.split(' ').next().unwrap_or_default().to_owned());
            }
            Element::ThreadInfo(_) => self.infos += 1,
            Element::MartiniCount(count) if count.key == "events.lost" => {
                self.lost.push(count.detail.as_deref().unwrap_or_default().to_owned());
            }
            _ => {}
        }
    }
}

fn start(jdk: &Jdk, collector: Collector, options: &str) -> Started {
    let profiled = Profiled::on(jdk).options(options).flags(&["-Xmx128m", "-Xlog:jvmti=off"]).collector(collector);
    let mut program = profiled.any_status().main("lasting.Main").start();
    program.wait_for("ready");
    program
}

fn each_moment(jdk: &Jdk, collector: Collector, options: &str) -> Moments {
    let only_at_end = options.starts_with("heap=events") && jdk.keeps_garbage_of_dumps(collector);
    let dumps: &[&str] = if only_at_end { &["end"] } else { &["request", "gc", "end"] };
    let when = if only_at_end { "end" } else { "end+request+gc:1" };
    let mut program = start(jdk, collector, &format!("{options},dump={when}"));
    let trace = program.file.clone();
    let is_there = |text: &str| std::fs::read_to_string(&trace).is_ok_and(|found| found.contains(text));
    if !only_at_end {
        let request = format!("{}.dump", trace.display());
        std::fs::write(&request, "").expect("the folder is ours");
        wait_until(|| !Path::new(&request).exists());
        wait_until(|| is_there("name=\"request"));
    }
    let asked = Command::new("kill").arg("-QUIT").arg(program.pid().to_string()).status();
    assert!(asked.expect("kill is a command").success());
    wait_until(|| is_there("<threadInfo"));
    for _ in 0..2 {
        program.send("collect");
        program.wait_for("collect done");
    }
    if !only_at_end {
        wait_until(|| is_there("name=\"gc"));
    }
    program.send("exit");
    let ran = program.finish_and_read::<Moments>();
    assert_eq!(ran.status().code(), Some(7), "{}", ran.err());
    assert_eq!(ran.err(), "");
    let trace = ran.trace;
    assert_eq!(trace.dumps, dumps);
    assert!(trace.infos > 3, "{}", trace.infos);
    // A class of arrays, which no event reports, may be made while the heap is dumped.
    assert!(trace.lost.iter().all(|lost| lost == "heap dump: object of an unknown class"), "{:?}", trace.lost);
    trace
}

fn living(trace: &Moments) -> [Option<u64>; 3] {
    ["Kept", "Weak", "Dropped"].map(|class| trace.living.get(&format!("lasting.Main${class}")).copied())
}

const ONLY_KEPT: [Option<u64>; 3] = [Some(1000), None, None];

fn counts(jdk: &Jdk, collector: Collector) {
    let trace = each_moment(jdk, collector, "heap=counts,live=true,locks=on,juc=on");
    assert_eq!(living(&trace), ONLY_KEPT);
}

fn events(jdk: &Jdk, collector: Collector) {
    let trace = each_moment(jdk, collector, "heap=events,stack=4,live=true,locks=on,juc=on");
    assert_eq!(living(&trace), ONLY_KEPT);
}

fn vm(jdk: &Jdk, collector: Collector) {
    let trace = each_moment(jdk, collector, "heap=vm,live=true,locks=on,juc=on,dumpformat=xml");
    assert_eq!(living(&trace), ONLY_KEPT);
}

fn sampled(jdk: &Jdk, collector: Collector) {
    let trace = each_moment(jdk, collector, "sampled=256,live=true,locks=on,juc=on");
    assert_eq!(living(&trace), ONLY_KEPT);
}

fn threads_only(jdk: &Jdk, collector: Collector) {
    each_moment(jdk, collector, "heap=off,locks=on,juc=on");
}

/// No hook of the shutdown runs, so a concurrent collector cannot be asked for a collection any more. The histogram shows what can
/// be reached, weakly too, and the trace says so.
fn halted(jdk: &Jdk, collector: Collector) {
    let mut program = start(jdk, collector, "heap=counts,live=true");
    program.send("halt");
    let ran = program.finish_and_read::<Moments>();
    assert_eq!(ran.status().code(), Some(8), "{}", ran.err());
    let trace = ran.trace;
    match collector {
        Collector::Z | Collector::Shenandoah => {
            assert_eq!(living(&trace), [Some(1000), Some(500), None]);
            assert_eq!(trace.lost, ["collection before the histogram"]);
        }
        _ => {
            assert_eq!(living(&trace), ONLY_KEPT);
            assert_eq!(trace.lost, [""; 0]);
        }
    }
}
