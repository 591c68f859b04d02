//! Threads that wait for each other: the trace has each wait once, with the owner, on every JDK.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use bci_tests::java;
use bci_tests::jdk::{self, Collector, Jdk};
use bci_tests::martini;
use bci_tests::process::{self, Running};
use bci_tests::schema::{self, Schema};
use bci_tests::waits::{Kind, Still, Usage, Wait, Waits};
use bci_tests::workdir::Workdir;
use trace::ids::ObjectId;
use trace::model::WaitEnd;

/// The class of the monitors that the program waits for.
const MONITOR: &str = "waits.Main$Monitor";

/// What the program itself says of one of its waits.
#[derive(Debug)]
struct Said {
    kind: String,
    thread: String,
    /// The owner, or what ended the wait.
    what: String,
    nanos: u64,
}

fn said(out: &str) -> Vec<Said> {
    let line = |line: &str| {
        let mut fields = line.split(' ').map(str::to_owned);
        let mut field = || fields.next().unwrap_or_else(|| panic!("a line is cut: {line}"));
        Said { kind: field(), thread: field(), what: field(), nanos: field().parse().expect("nanoseconds") }
    };
    out.lines().map(line).collect()
}

/// One run, and what was recorded of it.
struct Ran {
    dir: Workdir,
    said: Vec<Said>,
    trace: Waits,
}

#[track_caller]
fn run(jdk: &Jdk, flags: &[&str], options: &str, main: &str, args: &[&str]) -> Ran {
    let dir = Workdir::new();
    let file = dir.join("threads.trcxml");
    let options = options.replace("DIR", &dir.path().display().to_string());
    let agent = martini::built().agent_path(&format!("file={},{options}", file.display()));
    let ran = process::run(&mut java::with_agent(jdk, flags, Some(agent), main, args)).success();
    assert_eq!(ran.err(), "", "JDK {jdk}");
    schema::check(&file, Schema::Strict);
    schema::validate(&file);
    let trace = Waits::read(&file);
    for key in ["events.lost", "waits.withoutBegin", "waits.withoutEnd", "agent.panics"] {
        assert_eq!(trace.count(key), 0, "JDK {jdk}: {key}");
    }
    Ran { dir, said: said(&ran.out()), trace }
}

/// Every wait that the program says is in the trace, in that order, once, with that owner or end; what it measured is no
/// shorter than what the trace has, and mostly hardly longer.
#[track_caller]
fn compare(jdk: &Jdk, ran: &Ran, kind: Kind, words: &[&str]) {
    let counts = |said: &&Said| words.contains(&said.kind.as_str());
    let mut said: Vec<&Said> = ran.said.iter().filter(counts).collect();
    // The JVM has monitors of its own, and a pool a lock.
    let is_parked = ["lock", "park"].iter().any(|word| words.contains(word));
    let ours = |wait: &&Wait| wait.kind == kind && wait.parked == is_parked && (is_parked || wait.class == MONITOR);
    let mut found: Vec<&Wait> =
        ran.trace.counted().filter(ours).filter(|wait| said.iter().any(|s| s.thread == wait.thread)).collect();
    assert_eq!(found.len(), said.len(), "JDK {jdk}: {found:#?}\n{said:#?}");
    // The program says a wait when it is over.
    said.sort_by(|a, b| a.thread.cmp(&b.thread));
    found.sort_by(|a, b| a.thread.cmp(&b.thread));
    let mut beyond = Vec::new();
    for (said, found) in said.iter().zip(&found) {
        assert_eq!(said.thread, found.thread, "JDK {jdk}");
        match kind {
            Kind::Blocked => {
                let owner = Some(said.what.as_str()).filter(|&owner| owner != "nobody");
                assert_eq!(found.owner.as_deref(), owner, "JDK {jdk}: {found:?}");
            }
            Kind::Waited => {
                assert_eq!(found.reason.expect("it is over").as_str(), said.what, "JDK {jdk}: {found:?}");
                assert_eq!(found.waited_millis, found.nanos.expect("it is over") / 1_000_000, "JDK {jdk}: {found:?}");
            }
        }
        let nanos = found.nanos.unwrap_or_else(|| panic!("JDK {jdk}: {found:?} has no end"));
        assert!(nanos <= said.nanos, "JDK {jdk}: {found:?} took {nanos} ns, but the program measured {}", said.nanos);
        beyond.push(said.nanos - nanos);
    }
    // On a busy machine some thread is put aside for longer, in between.
    beyond.sort_unstable();
    let usual = beyond[beyond.len() / 4];
    assert!(usual < 1_000_000, "JDK {jdk}: the program measured {usual} ns more: {beyond:?}");
}

#[test]
fn monitors() {
    for jdk in jdk::each_feature() {
        let ran = run(jdk, &[], "locks=on,lockstack=32", "waits.Main", &["monitors"]);
        compare(jdk, &ran, Kind::Blocked, &["enter"]);
        compare(jdk, &ran, Kind::Waited, &["wait"]);
        // The owner was seen in memory, at that very moment. Who joins a thread may block on it for a moment, owned by that
        // thread itself, which has had its end event then and is in no list any more: JVMTI is asked.
        let others = ran.trace.waits.iter().filter(|wait| wait.kind == Kind::Blocked && wait.class != MONITOR).count();
        let (asked, unknown) = (ran.trace.count("owners.asked"), ran.trace.count("owners.unknown"));
        assert!(asked.max(unknown) <= others as u64, "JDK {jdk}: {asked} asked, {unknown} unknown, {others} others");
        let is_ours = |wait: &&Wait| wait.thread.starts_with("t-enter-") && wait.class == MONITOR;
        let entered: Vec<&Wait> = ran.trace.counted().filter(is_ours).collect();
        assert_eq!(entered.len(), 20, "JDK {jdk}");
        assert!(entered.is_sorted_by_key(|wait| wait.begin), "JDK {jdk}");
        let mut without = 0;
        for wait in entered {
            assert_eq!(wait.stack[0], "waits.Main.enter", "JDK {jdk}: {wait:?}");
            let is_right = wait.owner_stack.iter().any(|frame| frame == "waits.Main.hold");
            assert!(is_right || wait.owner_stack.is_empty(), "JDK {jdk}: {wait:?}");
            without += u64::from(wait.owner_stack.is_empty());
        }
        // Stacks may take a share of the time only; what was left out is told.
        let told = ran.trace.count("ownerStacks.skipped") + ran.trace.count("ownerStacks.stale");
        assert!(without <= told && without < 20, "JDK {jdk}: {without} without stack, {told} told");
        let limit = ran.trace.counted().find(|wait| wait.thread == "t-wait-timeout").map(|wait| wait.limit_millis);
        assert_eq!(limit, Some(30), "JDK {jdk}");
    }
}

/// Each collector keeps objects and their locks in its own way.
#[test]
fn monitors_with_each_collector() {
    for jdk in jdk::each_feature() {
        for collector in Collector::ALL.into_iter().filter(|&collector| jdk.supports(collector)) {
            let ran = run(jdk, collector.flags(), "locks=on", "waits.Main", &["monitors"]);
            compare(jdk, &ran, Kind::Blocked, &["enter"]);
            compare(jdk, &ran, Kind::Waited, &["wait"]);
        }
    }
}

/// The ways of locking that a JVM can be told to use.
#[test]
fn monitors_with_each_locking_mode() {
    for jdk in jdk::each_feature().into_iter().filter(|jdk| jdk.feature >= 21) {
        for mode in ["-XX:LockingMode=0", "-XX:LockingMode=1", "-XX:LockingMode=2"] {
            let flags = ["-XX:+UnlockExperimentalVMOptions", "-XX:+UnlockDiagnosticVMOptions", mode];
            let probe = process::run(&mut java::program(jdk, &flags, "waits.Main", &["parks"]));
            if !probe.status.success() || !probe.err().is_empty() || probe.out().contains("warning") {
                continue;
            }
            let ran = run(jdk, &flags, "locks=on", "waits.Main", &["monitors"]);
            compare(jdk, &ran, Kind::Blocked, &["enter"]);
        }
    }
}

#[test]
fn parks() {
    for jdk in jdk::each_feature() {
        let ran = run(jdk, &[], "juc=on,lockstack=8", "waits.Main", &["parks"]);
        compare(jdk, &ran, Kind::Blocked, &["lock"]);
        compare(jdk, &ran, Kind::Waited, &["park"]);
        for wait in ran.trace.counted() {
            assert!(wait.parked, "JDK {jdk}: {wait:?}");
            assert!(wait.stack.iter().any(|frame| frame.starts_with("waits.Main.")), "JDK {jdk}: {wait:?}");
        }
        let lock = ran.trace.counted().find(|wait| wait.thread == "t-lock-0").expect("it waited");
        assert_eq!(lock.stack[0], "java.util.concurrent.locks.ReentrantLock.lock", "JDK {jdk}");
        // Without juc nothing of it is there.
        let ran = run(jdk, &[], "locks=on", "waits.Main", &["parks"]);
        assert_eq!(ran.trace.counted().filter(|wait| wait.parked).count(), 0, "JDK {jdk}");
    }
}

/// The monitor is the object that the heap events tell of.
#[test]
fn ids_are_those_of_the_heap() {
    for jdk in jdk::each_feature() {
        for options in ["heap=events,locks=on", "heap=vm,juc=on", "heap=events,include=waits.*,juc=on"] {
            if jdk.feature < 17 && options.starts_with("heap=vm") {
                // The VM's event misses objects there (docs/agent.md), a monitor of the test's too.
                continue;
            }
            let ran = run(jdk, &[], options, "waits.Main", &["monitors"]);
            compare(jdk, &ran, Kind::Blocked, &["enter"]);
            let ours: Vec<&Wait> = ran.trace.counted().filter(|wait| wait.class.starts_with("waits.")).collect();
            assert!(ours.len() > 20 && ours.iter().all(|wait| wait.is_allocated), "JDK {jdk}, {options}: {ours:#?}");
        }
        for options in ["heap=counts,juc=on", "heap=events,juc=on"] {
            let ran = run(jdk, &[], options, "waits.Main", &["parks"]);
            compare(jdk, &ran, Kind::Blocked, &["lock"]);
        }
    }
}

/// The VM tells only the end of a wait for the initialisation of a class: it is counted, and no wait of the program.
#[test]
fn initialisation_of_classes() {
    for jdk in jdk::each_feature() {
        let ran = run(jdk, &[], "heap=events,locks=on", "waits.Main", &["classes"]);
        assert_eq!(ran.said.len(), 1, "JDK {jdk}");
        assert_eq!(ran.trace.count("monitors.classInit"), 1, "JDK {jdk}");
    }
}

/// The memory of objects and of their monitors is used again for others, which the trace tells apart.
#[test]
fn monitors_that_pass() {
    const NUMBER: usize = 200;
    const TIMES: usize = 6;
    // Monitors that nobody uses go as soon as may be.
    let flags = [
        "-XX:+IgnoreUnrecognizedVMOptions",
        "-XX:+UnlockDiagnosticVMOptions",
        "-XX:AsyncDeflationInterval=1",
        "-XX:GuaranteedAsyncDeflationInterval=1",
    ];
    for jdk in jdk::each_feature() {
        for collector in [Collector::Serial, Collector::G1] {
            let flags = [&flags, collector.flags()].concat();
            let ran = run(
                jdk,
                &flags,
                "locks=on,owners=off",
                "waits.Main",
                &["passing", &NUMBER.to_string(), &TIMES.to_string()],
            );
            let ours = ran.trace.counted().filter(|wait| wait.thread == "t-passing" && wait.class == MONITOR);
            let objects: Vec<ObjectId> = ours.map(|wait| wait.object).collect();
            assert_eq!(objects.len(), TIMES * NUMBER, "JDK {jdk}");
            let groups: Vec<&[ObjectId]> = objects.chunk_by(|one, other| one == other).collect();
            assert!(groups.iter().all(|group| group.len() == TIMES), "JDK {jdk}: {groups:?}");
            let distinct: HashSet<&ObjectId> = objects.iter().collect();
            assert_eq!(distinct.len(), NUMBER, "JDK {jdk}");
        }
    }
}

#[test]
fn ten_thousand_threads() {
    const NUMBER: usize = 10_000;
    for jdk in jdk::each_feature() {
        let ran = run(jdk, &["-Xmx512m"], "locks=on", "waits.Main", &["many", &NUMBER.to_string()]);
        let blocked: Vec<&Wait> =
            ran.trace.counted().filter(|w| w.kind == Kind::Blocked && w.class == MONITOR).collect();
        assert_eq!(blocked.len(), NUMBER, "JDK {jdk}");
        for wait in blocked {
            assert_eq!(wait.owner.as_deref(), Some("main"), "JDK {jdk}: {wait:?}");
            assert!(wait.nanos.is_some(), "JDK {jdk}: {wait:?}");
        }
    }
}

#[test]
fn a_hundred_thousand_virtual_threads() {
    const NUMBER: usize = 100_000;
    for jdk in jdk::each_feature().into_iter().filter(|jdk| jdk.feature >= 21) {
        // Before JDK 24 a blocked virtual thread keeps its carrier.
        let enters = if jdk.feature >= 24 { 500 } else { 6 };
        let flags = ["-Xmx1g", "-Djdk.virtualThreadScheduler.parallelism=8"];
        let args = [NUMBER.to_string(), enters.to_string()];
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let dir = Workdir::new();
        let file = dir.join("virtual.trcxml");
        let agent = martini::built().agent_path(&format!("file={},juc=on", file.display()));
        let ran = process::run(&mut java::with_agent(jdk, &flags, Some(agent), "waits.Virtual", &args)).success();
        assert_eq!((ran.out().trim(), ran.err().as_str()), ("done", ""), "JDK {jdk}");
        schema::validate(&file);
        let trace = Waits::read(&file);
        for (prefix, parked, number) in [("t-lock-", true, NUMBER), ("t-enter-", false, enters + 1)] {
            let belongs = |wait: &&Wait| {
                wait.thread.starts_with(prefix) && wait.kind == Kind::Blocked && (parked || wait.class == MONITOR)
            };
            let blocked: Vec<&Wait> = trace.counted().filter(belongs).filter(|wait| wait.parked == parked).collect();
            assert_eq!(blocked.len(), number, "JDK {jdk}: {prefix}");
            for wait in blocked {
                let owner = if wait.thread == "t-enter-owned" { "t-virtual-owner" } else { "main" };
                assert_eq!(wait.owner.as_deref(), Some(owner), "JDK {jdk}: {wait:?}");
                assert!(wait.nanos.is_some(), "JDK {jdk}: {wait:?}");
            }
        }
    }
}

/// Who is stuck stays in the trace, with the one that holds what it wants; a request in between shows it too.
#[test]
fn deadlock() {
    for jdk in jdk::each_feature() {
        let dir = Workdir::new();
        let file = dir.join("deadlock.trcxml");
        let agent = martini::built().agent_path(&format!("file={},juc=on", file.display()));
        let command = &mut java::with_agent(jdk, &[], Some(agent), "waits.Main", &["deadlock"]);
        let mut running = Running::start(command);
        running.wait_for("stuck");
        let asked = std::process::Command::new("kill").arg("-QUIT").arg(running.pid().to_string()).status();
        assert!(asked.expect("kill is a command").success());
        // The VM prints its own answer first, then asks the agent; VMDeath comes on another thread.
        wait_until(|| std::fs::read_to_string(&file).is_ok_and(|text| text.contains("<threadInfo")));
        running.finish().success();
        schema::check(&file, Schema::Strict);
        schema::validate(&file);
        let trace = Waits::read(&file);
        let still =
            |thread: &str, owner: &str, parked| Still { thread: thread.into(), owner: Some(owner.into()), parked };
        let mut found = trace.still.clone();
        found.sort_by(|a, b| a.thread.cmp(&b.thread));
        let expected = [
            still("t-dead-0", "t-dead-1", false),
            still("t-dead-1", "t-dead-0", false),
            still("t-dead-lock-0", "t-dead-lock-1", true),
            still("t-dead-lock-1", "t-dead-lock-0", true),
        ];
        assert_eq!(found, expected, "JDK {jdk}");
        for (owner, waiter) in [("t-dead-0", "t-dead-1"), ("t-dead-1", "t-dead-0")] {
            let usage = Usage { owner: Some(owner.into()), entry_count: 1, waiters: vec![waiter.into()] };
            assert!(trace.usages.contains(&usage), "JDK {jdk}: {:#?}", trace.usages);
            assert!(trace.infos.contains(&(waiter.into(), "BLOCKED".into())), "JDK {jdk}: {:#?}", trace.infos);
        }
        assert!(trace.infos.iter().any(|(name, _)| name == "main"), "JDK {jdk}: the request asks about all threads");
    }
}

#[track_caller]
fn wait_until(is_true: impl Fn() -> bool) {
    let begun = std::time::Instant::now();
    while !is_true() {
        assert!(begun.elapsed() < process::LIMIT, "it never comes");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// The lock log has the trace's contended locks, and nothing else.
#[test]
fn lock_log() {
    for jdk in jdk::each_feature() {
        let ran = run(jdk, &[], "juc=on,locklog=DIR/locks-%p.txt", "waits.Main", &["monitors"]);
        let blocked: Vec<&Wait> = ran.trace.waits.iter().filter(|wait| wait.kind == Kind::Blocked).collect();
        let log = std::fs::read_dir(ran.dir.path()).expect("the folder is there").flatten().map(|entry| entry.path());
        let log: Vec<PathBuf> = log.filter(|path| path.extension().is_some_and(|e| e == "txt")).collect();
        let text = std::fs::read_to_string(&log[0]).expect("the log is there");
        for (step, number) in [(" TRY [t-enter-", 20), (" LCK [t-enter-", 20)] {
            assert_eq!(text.lines().filter(|line| line.contains(step)).count(), number, "JDK {jdk}\n{text}");
        }
        // A thread of the JVM's own may still be blocked when the trace ends.
        let steps: usize = blocked.iter().map(|wait| if wait.nanos.is_some() { 2 } else { 1 }).sum();
        assert_eq!(text.lines().count(), 1 + steps, "JDK {jdk}\n{text}");
        let line = text.lines().find(|line| line.contains(" LCK [t-enter-7] ")).expect("it is there");
        assert!(line.contains(" Lwaits/Main;#enter Lwaits/Main;#lambda$contended$"), "JDK {jdk}: {line}");
        assert_eq!(line.matches(";#").count(), 3, "JDK {jdk}: {line}");
    }
}

/// Where memory is not read JVMTI tells the owner, as often as it may cost, and what it was not asked is counted.
#[test]
fn owners_by_jvmti() {
    for jdk in jdk::each_feature() {
        for (args, number) in [(&["monitors"][..], 26), (&["many", "1000"], 1000)] {
            let ran = run(jdk, &["-Xmx256m"], "locks=on,owners=jvmti", "waits.Main", args);
            let said: HashMap<&str, &str> =
                ran.said.iter().filter(|s| s.kind == "enter").map(|s| (s.thread.as_str(), s.what.as_str())).collect();
            let is_ours = |wait: &&Wait| wait.kind == Kind::Blocked && wait.class == MONITOR;
            let found: Vec<&Wait> = ran.trace.counted().filter(is_ours).collect();
            assert_eq!(found.len(), number, "JDK {jdk}, {args:?}");
            // The answer takes its time: of other threads the owner may be the next one by then.
            for wait in found.iter().filter(|wait| wait.thread.starts_with("t-enter-")) {
                if let Some(owner) = &wait.owner {
                    assert_eq!(Some(&owner.as_str()), said.get(wait.thread.as_str()), "JDK {jdk}: {wait:?}");
                }
            }
            assert!(found.iter().any(|wait| wait.owner.is_some()), "JDK {jdk}, {args:?}: no owner is told");
            let (asked, unknown) = (ran.trace.count("owners.asked"), ran.trace.count("owners.unknown"));
            assert!(number as u64 <= asked + unknown, "JDK {jdk}, {args:?}: {asked} asked, {unknown} unknown");
            // A thousand questions cost more than may be spent.
            assert!(number < 1000 || ran.trace.count("owners.notAsked") > 0, "JDK {jdk}: nothing was left out");
        }
    }
}

/// What ends a wait is told apart.
#[test]
fn ends_of_waits() {
    let ran = run(jdk::any(), &[], "locks=on", "waits.Main", &["monitors"]);
    let mut reasons: Vec<WaitEnd> = ran.trace.counted().filter_map(|wait| wait.reason).collect();
    reasons.sort_by_key(|reason| reason.as_str());
    assert_eq!(reasons, [WaitEnd::Interrupted, WaitEnd::Notified, WaitEnd::TimedOut]);
}
