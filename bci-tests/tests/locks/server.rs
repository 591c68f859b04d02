//! A real server under load: with `juc=on` no request fails, no event is lost, and the report names the lock that the JVM itself
//! says threads were blocked on most.
//!
//! A load lasts one second, or as many as `MARTINI_SERVER_SECONDS` says.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use bci_tests::jdk::{self, Jdk};
use bci_tests::martini;
use bci_tests::process;
use bci_tests::profiled::{Profiled, Ran, is_safe_mode};
use bci_tests::read::TraceData;
use bci_tests::say::say;
use bci_tests::suite::Suite;
use bci_tests::tomcat::{self, ENOUGH, Load, load};
use bci_tests::waits::{Kind, Waits};
use serde_json::Value;
use trace::time::Time;

use crate::support::nothing_is_lost;

pub(crate) fn tests(suite: &mut Suite) {
    let jars = tomcat::jars();
    for feature in jdk::features() {
        let name = format!("server::no_request_fails_and_no_wait_is_missed::jdk{feature}");
        match (&jars, jdk::of(feature)) {
            (None, _) => suite.skip(name, "MARTINI_REAL_PROGRAMS names no folder with Tomcat's jars"),
            (_, None) => suite.skip(name, &format!("no JDK {feature}")),
            (Some(_), Some(jdk)) => {
                suite.add_where(jdk.is_end(), name, || no_request_fails_and_no_wait_is_missed(jdk));
                let name = format!("server::every_engine_writes_into_one_trace::jdk{feature}");
                if is_safe_mode() {
                    suite.skip(name, "samples of threads need what safe mode leaves alone");
                } else {
                    suite.add_where(jdk.is_end(), name, || every_engine_writes_into_one_trace(jdk));
                }
            }
        }
    }
}

/// How often each of Tomcat's threads was blocked on a monitor.
type Blocked = BTreeMap<String, u64>;

/// What the JVM says of that, from when until when.
struct Counted {
    blocked: Blocked,
    since: Time,
    until: Time,
}

impl Counted {
    /// The second count that the server printed, less the first.
    fn read(out: &str) -> Self {
        let (mut counts, mut count, mut times) = (Vec::new(), Blocked::new(), Vec::new());
        for line in out.lines() {
            if let Some((number, thread)) = line.strip_prefix("blocked ").and_then(|rest| rest.split_once(' ')) {
                count.insert(thread.to_owned(), number.parse().expect("a number"));
            } else if let Some(millis) = line.strip_prefix("at ") {
                counts.push(std::mem::take(&mut count));
                times.push(Time(millis.parse::<u64>().expect("milliseconds") * 1_000_000));
            }
        }
        assert_eq!(counts.len(), 2, "{out}");
        let before = |thread: &String| counts[0].get(thread).copied().unwrap_or(0);
        let blocked = counts[1].iter().map(|(thread, number)| (thread.clone(), number - before(thread))).collect();
        Self { blocked, since: times[0], until: times[1] }
    }
}

/// Starts the server, loads it, and stops it.
#[track_caller]
fn serve<T: TraceData>(profiled: Profiled<'_>, seconds: u64) -> (Load, Counted, Ran<T>) {
    let folder = profiled.dir().join("server");
    fs::create_dir(&folder).expect("the folder is ours");
    let profiled = profiled.flags(&["-Xmx256m"]).jars(tomcat::class_path()).main("Server").args(&[&folder]);
    let mut running = profiled.start();
    running.wait_for("ready");
    let port = fs::read_to_string(folder.join("port")).expect("written before").parse().expect("a port");
    // Until most classes are initialised.
    let warm = load(port, 1);
    running.send("count");
    running.wait_for("counted");
    let mut sum = load(port, seconds);
    sum.failed.extend(warm.failed);
    running.send("count");
    running.wait_for("counted");
    let ran = running.finish_and_read::<T>();
    let out = ran.out();
    assert!(out.ends_with("stopped\n"), "{out}");
    (sum, Counted::read(&out), ran)
}

fn no_request_fails_and_no_wait_is_missed(jdk: &Jdk) {
    let seconds = std::env::var("MARTINI_SERVER_SECONDS").map_or(1, |text| text.parse().expect("seconds"));
    let (bare, ..) = serve::<()>(Profiled::on(jdk).without_agent(), seconds);
    assert_eq!(bare.failed, [""; 0], "without agent");
    let (with, counted, ran) = serve::<Waits>(Profiled::on(jdk).options("juc=on"), seconds);
    assert_eq!(with.failed, [""; 0]);
    assert!(with.answered > ENOUGH, "{} answers", with.answered);
    check(jdk, &ran, &counted, &bare, &with);
}

fn check(jdk: &Jdk, ran: &Ran<Waits>, counted: &Counted, bare: &Load, with: &Load) {
    let trace = &ran.trace;
    nothing_is_lost(trace);
    // Each time that the JVM counted for one of Tomcat's threads is in the trace, and no other time.
    let Counted { blocked, since, until } = counted;
    assert_eq!(blocked.len(), 32, "{blocked:?}");
    let mut found: Blocked = blocked.keys().map(|thread| (thread.clone(), 0)).collect();
    let is_meant = |begin: &Time| since <= begin && begin <= until;
    let monitors = trace.waits.iter().filter(|wait| wait.kind == Kind::Blocked && !wait.parked);
    for wait in monitors.filter(|wait| is_meant(&wait.begin)) {
        if let Some(number) = found.get_mut(&wait.thread) {
            *number += 1;
        }
    }
    // The JVM also counts those that wait until a class is initialised, but reports nowhere when they begin.
    let more = |thread: &String| blocked[thread].checked_sub(found[thread]);
    let more: Option<u64> = blocked.keys().map(more).sum();
    let class_init = trace.count("monitors.classInit");
    let is_explained = more.is_some_and(|more| more <= class_init);
    let other = || {
        let both = blocked.iter().map(|(thread, number)| (thread, *number, found[thread]));
        both.filter(|(_, number, found)| number != found).collect::<Vec<_>>()
    };
    assert!(is_explained, "thread, times by the JVM and by the trace: {:?}; {class_init} for classes", other());
    assert!(found.values().sum::<u64>() > 0, "nobody was blocked");

    let mut sums: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for wait in trace.waits.iter().filter(|wait| wait.kind == Kind::Blocked) {
        let sum = sums.entry(&wait.class).or_default();
        *sum = (sum.0 + 1, sum.1 + wait.nanos.unwrap_or(0));
    }
    let (most, (times, nanos)) = sums.into_iter().max_by_key(|(_, (_, nanos))| *nanos).expect("threads were blocked");
    let mut command = Command::new(&martini::built().command);
    let report = process::run(command.arg("locks").arg("--json").arg(&ran.file)).success();
    let report: Value = serde_json::from_slice(&report.stdout).expect("JSON");
    let class = &report["traces"][0]["tables"]["class"][0];
    assert_eq!((class["class"].as_str(), class["count"].as_u64()), (Some(most), Some(times)), "{class}");
    let first = &report["traces"][0]["tables"]["site"][0];
    say(&format!(
        "JDK {jdk}: {} answers without agent, {} with; {} waits in {} MiB; blocked {times} times for {} ms on {most}, first {}; \
         owner stacks skipped {}, owners unknown {}",
        bare.answered,
        with.answered,
        trace.waits.len(),
        fs::metadata(&ran.file).map_or(0, |data| data.len() >> 20),
        nanos / 1_000_000,
        first["site"],
        trace.count("ownerStacks.skipped"),
        trace.count("owners.unknown"),
    ));
}

/// Counts, callers, locks, samples of threads and of objects, and safepoints, of a server under load: no request fails, and each
/// command finds its part of the trace.
fn every_engine_writes_into_one_trace(jdk: &Jdk) {
    let options = "heap=counts,callers=64k,juc=on,cpu=10ms,wall=20ms,sampled=512k,ttsp=on";
    let (load, _, ran) = serve::<Waits>(Profiled::on(jdk).options(options), 2);
    assert_eq!(load.failed, [""; 0]);
    assert!(load.answered > ENOUGH, "{} answers", load.answered);
    let json = |words: &[&str]| -> Value {
        let mut command = Command::new(&martini::built().command);
        let output = process::run(command.args(words).arg("--json").arg(&ran.file)).success();
        let mut value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        value["traces"][0].take()
    };
    // A late thread that ends before it is written is counted and left out.
    let counts = json(&["stats"])["counts"].take();
    let lost = counts.as_array().expect("a list").iter().filter(|count| {
        let is = |key: &str, text: &str| count[key].as_str().is_some_and(|value| value.starts_with(text));
        let is_loss = ["events.lost", "waits.without", "agent.panics"].iter().any(|text| is("key", text));
        is_loss && count["value"] != 0 && !is("detail", "late threads")
    });
    assert_eq!(lost.collect::<Vec<_>>(), Vec::<&Value>::new());
    let rows = |words: &[&str], table: &str| json(words)["tables"][table].as_array().map_or(0, Vec::len);
    assert!(rows(&["stats"], "line") > 10);
    assert!(rows(&["stats", "--cpu", "--by", "line"], "line") > 10);
    assert!(rows(&["stats", "--wall", "--by", "thread"], "thread") > 10);
    assert!(rows(&["locks"], "class") > 0);
    assert_eq!(json(&["validate"])["violation_count"], 0);
    assert!(json(&["safepoints"])["safepoints"].as_u64().is_some_and(|count| count > 0));
    for words in
        [&["tree"][..], &["tree", "--cpu"], &["tree", "--wall"], &["tree", "--live"], &["threads"], &["explain"]]
    {
        assert!(json(words).is_object(), "{words:?}");
    }
    // What is on a processor is in the samples, or named as lost.
    let conservation = json(&["stats", "--cpu"])["conservation"].take();
    let nanos = |key: &str| conservation[key].as_u64().expect("nanoseconds") as f64;
    let share = (nanos("found_nanos") + nanos("lost_nanos")) / nanos("clock_nanos");
    assert!((0.95..1.05).contains(&share), "{conservation}");
    say(&format!("JDK {jdk}: {} answers; of the CPU clocks {share:.4} in samples: {conservation}", load.answered));
}
