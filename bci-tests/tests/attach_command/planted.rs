//! Planted problems: what `explain` says of a recording by attaching with the defaults, and `threads PID` without one.

use bci_tests::java;
use bci_tests::jdk::Jdk;
use bci_tests::process::{Running, wait_until};
use bci_tests::suite::Suite;
use serde_json::Value;

use crate::{Busy, about_file, agreement, assert_valid, send_signal};

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(a_deadlock_before_attaching);
    suite.each_jdk(a_pool_behind_one_owner);
    suite.each_jdk(a_semaphore_without_permits);
    suite.each_jdk(a_leak_in_a_registry_of_listeners);
    suite.each_jdk(a_leak_in_a_thread_local);
    suite.each_jdk(the_holder_of_a_leak_is_named);
    suite.each_jdk(a_lock_beside_an_idle_pool);
    suite.each_jdk(a_read_write_lock_beside_a_busier_monitor);
    suite.each_jdk(a_thread_that_is_late_for_safepoints);
    suite.each_jdk(a_leak_of_classes);
    suite.each_jdk(a_slow_first_request_and_one_behind_a_monitor);
    suite.each_jdk(a_program_without_a_problem);
    suite.jdks(21..).each(virtual_threads_are_in_a_dump_without_a_recording);
}

/// The first release where `attach` records locks of `java.util.concurrent`; before, it looks at parked threads.
const FIRST_RECORDED: u32 = 23;

fn planted(jdk: &Jdk, problem: &str) -> Busy {
    Busy::start(&mut java::program(jdk, &["-Xmx128m"], "planted.Main", &[problem]))
}

/// What `explain` finds in a recording of two seconds with the defaults.
fn explained(program: &Busy) -> Vec<Value> {
    program.martini("attach", &["--duration", "2s"]).success();
    findings(&about_file("explain", &program.trace(program.pid(), 1), &["--json"]).success().out)
}

fn findings(json: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(json).expect("JSON");
    document["traces"][0]["findings"].as_array().unwrap_or_else(|| panic!("{document}")).clone()
}

/// What a dump shows in a moment.
fn dumped(program: &Busy) -> Value {
    serde_json::from_str(&program.martini("threads", &["--json"]).success().out).expect("JSON")
}

/// The findings of a kind.
fn of_kind<'f>(findings: &'f [Value], kind: &str) -> Vec<&'f Value> {
    findings.iter().filter(|finding| finding["kind"] == kind).collect()
}

fn a_deadlock_before_attaching(jdk: &'static Jdk) {
    let program = planted(jdk, "deadlock");
    let dump = dumped(&program);
    let members = |deadlock: &Value| {
        let threads = deadlock["threads"].as_array().unwrap_or_else(|| panic!("{deadlock}"));
        let member = |thread: &Value| format!("{} in {}", thread["name"], thread["at"]["method"]);
        threads.iter().map(member).collect::<Vec<_>>()
    };
    let expected = ["\"debit\" in \"transfer\"", "\"credit\" in \"transfer\""];
    assert_eq!(members(&dump["deadlocks"][0]), expected, "{dump}");
    let text = program.martini("threads", &[]).success().out;
    assert!(text.contains("deadlock: debit and credit wait for each other\n"), "{text}");
    let findings = explained(&program);
    let deadlocks = of_kind(&findings, "deadlock");
    assert_eq!(deadlocks.len(), 1, "{findings:#?}");
    assert_eq!(members(deadlocks[0]), expected);
    assert_eq!(deadlocks[0]["before_recording"], true);
    assert_eq!(of_kind(&findings, "stuck").len(), 0, "{findings:#?}");
    let threads = about_file("threads", &program.trace(program.pid(), 1), &[]).success().out;
    assert!(threads.contains("deadlock: debit and credit wait for each other\n"), "{threads}");
    program.end();
}

fn a_pool_behind_one_owner(jdk: &'static Jdk) {
    let program = planted(jdk, "owner");
    let findings = explained(&program);
    let dump = dumped(&program);
    for stuck in [of_kind(&findings, "stuck"), dump["stuck"].as_array().expect("a list").iter().collect()] {
        assert_eq!(stuck.len(), 1, "{stuck:#?}");
        assert_eq!(stuck[0]["owner"]["name"], "worker-1");
        assert_eq!(stuck[0]["owner_at"]["method"], "await");
        assert_eq!(stuck[0]["waiters"].as_array().map(Vec::len), Some(9), "{stuck:#?}");
        assert_eq!(stuck[0]["at"]["method"], "borrow");
    }
    // Nothing says the same once more.
    assert!(of_kind(&findings, "lock").is_empty(), "{findings:#?}");
    let text = about_file("explain", &program.trace(program.pid(), 1), &[]).success().out;
    assert!(text.contains("stuck: 9 threads wait for worker-1, since before the recording"), "{text}");
    program.end();
}

fn a_semaphore_without_permits(jdk: &'static Jdk) {
    let program = planted(jdk, "semaphore");
    let findings = explained(&program);
    let stuck = of_kind(&findings, "stuck");
    assert_eq!(stuck.len(), 1, "{findings:#?}");
    assert_eq!(stuck[0]["waiters"].as_array().map(Vec::len), Some(8));
    assert_eq!(stuck[0]["at"]["method"], "admit");
    assert!(stuck[0]["class"].as_str().is_some_and(|class| class.starts_with("java.util.concurrent.Semaphore")));
    program.end();
}

fn a_leak_in_a_registry_of_listeners(jdk: &'static Jdk) {
    leak_is_named(jdk, "listeners", "register");
}

fn a_leak_in_a_thread_local(jdk: &'static Jdk) {
    leak_is_named(jdk, "threadlocal", "serve");
}

/// A leak with ten times as much garbage is the first thing that grows, and nothing else does.
fn leak_is_named(jdk: &Jdk, problem: &str, method: &str) {
    let mut program = planted(jdk, problem);
    program.martini("attach", &["--detach"]).success();
    program.program.send("go");
    program.program.wait_for("collected");
    program.martini("stop", &[]).success();
    let json = about_file("explain", &program.trace(program.pid(), 1), &["--json"]).success().out;
    let findings = findings(&json);
    let growth = of_kind(&findings, "growth");
    assert_eq!(growth.len(), 1, "{findings:#?}");
    assert_eq!(growth[0]["at"]["method"], method, "{findings:#?}");
    assert!(growth[0]["share"].as_f64().is_some_and(|share| share > 0.5), "{findings:#?}");
    agreement::views_agree(&program.trace(program.pid(), 1), growth[0]);
    // What it prints at the end is not that of a program without a task.
    program.program.finish().success();
}

fn the_holder_of_a_leak_is_named(jdk: &'static Jdk) {
    let program = planted(jdk, "listeners");
    let (program, growth) = growth_with_leaks(program);
    assert!(growth.lines().next().is_some_and(|head| head.contains("planted.Main.register(")), "{growth}");
    let held = growth.lines().find(|line| line.trim().starts_with("held by (")).unwrap_or_else(|| panic!("{growth}"));
    for part in ["16 of 16 objects looked at) root: ", "class planted.Main > static LISTENERS java.util.ArrayList"] {
        assert!(held.contains(part), "{part}: {growth}");
    }
    program.program.finish().success();
}

/// What the class of each loader keeps piles up, at the line of its initialiser. The next command names who keeps the loaders.
fn a_leak_of_classes(jdk: &'static Jdk) {
    let (program, growth) = growth_with_leaks(planted(jdk, "classes"));
    let line = "planted.Application.<clinit>(";
    assert!(growth.lines().next().is_some_and(|head| head.contains(line)), "{growth}");
    let dump = program.folder.join(&format!("martini-{}-1.hprof", program.pid()));
    let next = format!("martini-{}-1.hprof --show suspects", program.pid());
    assert!(growth.contains(&next), "{next}: {growth}");
    let suspects = about_file("heap", &dump, &["--show", "suspects", "--top", "1"]).success().out;
    for part in ["class planted.Deployments\n", "static DEPLOYED  java.util.ArrayList"] {
        assert!(suspects.contains(part), "{part}: {suspects}");
    }
    program.program.finish().success();
}

/// What `attach --leaks` says of the first thing that grows.
fn growth_with_leaks(mut program: Busy) -> (Busy, String) {
    let attached = Running::start(&mut program.command("attach", &["--leaks"]));
    wait_until(|| program.martini("status", &[]).status == Some(0));
    program.program.send("go");
    program.program.wait_for("collected");
    send_signal(attached.pid(), "INT");
    let attached = attached.finish().success().err();
    let (_, growth) = attached.split_once("\ngrowth: ").unwrap_or_else(|| panic!("{attached}"));
    (program, growth.to_owned())
}

/// The first finding is that lock, by what it costs: who waits, who owns it, and where both are. Nobody is stuck, and nothing grows.
fn lock_is_named(jdk: &Jdk, findings: &[Value], class: &str, owner: &str, [waiter, holder]: [&str; 2]) {
    let lock = &findings[0];
    assert_eq!(lock["kind"], "lock", "{findings:#?}");
    for kind in ["deadlock", "stuck", "growth", "churn"] {
        assert!(of_kind(findings, kind).is_empty(), "{findings:#?}");
    }
    assert!(lock["class"].as_str().is_some_and(|found| found.starts_with(class)), "{findings:#?}");
    assert_eq!(lock["owner"]["thread"]["name"], owner, "{lock:#}");
    assert_eq!(
        (&lock["waiters"][0]["at"]["method"], &lock["owners"][0]["at"]["method"]),
        (&waiter.into(), &holder.into())
    );
    // More than one thread waits on average.
    assert!(lock["share"].as_f64().is_some_and(|share| share > 1.0), "{lock:#}");
    let is_estimate = !lock["error_nanos"].is_null();
    assert_eq!(is_estimate, jdk.feature < FIRST_RECORDED, "{lock:#}");
    assert_eq!(lock["looks"].as_u64().is_some_and(|looks| looks >= 10), is_estimate, "{lock:#}");
}

fn a_lock_beside_an_idle_pool(jdk: &'static Jdk) {
    let program = planted(jdk, "lock");
    let findings = explained(&program);
    assert_eq!(of_kind(&findings, "lock").len(), 1, "{findings:#?}");
    let class = "java.util.concurrent.locks.ReentrantLock";
    lock_is_named(jdk, &findings, class, "order-*", ["reserve", "reserve"]);
    let trace = program.trace(program.pid(), 1);
    assert_valid(&trace);
    let locks = about_file("locks", &trace, &[]).success().out;
    let is_estimate = locks.contains("waits for locks of java.util.concurrent are estimates: ");
    assert_eq!(is_estimate, jdk.feature < FIRST_RECORDED, "{locks}");
    program.end();
}

fn a_read_write_lock_beside_a_busier_monitor(jdk: &'static Jdk) {
    let program = planted(jdk, "readwrite");
    let findings = explained(&program);
    let class = "java.util.concurrent.locks.ReentrantReadWriteLock";
    lock_is_named(jdk, &findings, class, "refresh", ["read", "refresh"]);
    let text = about_file("explain", &program.trace(program.pid(), 1), &[]).success().out;
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("ReentrantReadWriteLock$ReadLock.lock ("), "{text}");
    program.end();
}

fn a_thread_that_is_late_for_safepoints(jdk: &'static Jdk) {
    let flags =
        ["-Xmx128m", "-XX:-UseCountedLoopSafepoints", "-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"];
    let program = Busy::start(&mut java::program(jdk, &flags, "planted.Main", &["late"]));
    program.martini("attach", &["--ttsp", "--duration", "2s"]).success();
    let trace = program.trace(program.pid(), 1);
    let findings = findings(&about_file("explain", &trace, &["--json"]).success().out);
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert_eq!((&findings[0]["kind"], &findings[0]["worst"]["at"]["method"]), (&"late".into(), &"simulate".into()));
    let safepoints = about_file("safepoints", &trace, &[]).success().out;
    assert!(safepoints.contains("planted.Late.simulate(Late.java:"), "{safepoints}");
    program.end();
}

/// What `requests` says of the first and the tenth request: what each spent its time on, at which line, and who held the monitor.
fn a_slow_first_request_and_one_behind_a_monitor(jdk: &'static Jdk) {
    let mut program = Busy::start(&mut java::program(jdk, &["-Xmx128m"], "planted.Requests", &[]));
    program.martini("attach", &["--request", "planted.Requests.serve", "--detach"]).success();
    program.program.send("go");
    program.program.wait_for("served");
    program.martini("stop", &[]).success();
    let trace = program.trace(program.pid(), 1);
    assert_valid(&trace);
    let json = about_file("requests", &trace, &["--json"]).success().out;
    let document: Value = serde_json::from_str(&json).expect("JSON");
    let entry = &document["traces"][0]["entries"][0];
    assert_eq!((&entry["entry"], &entry["requests"]), (&"planted.Requests.serve".into(), &100.into()), "{document:#}");
    let divided = entry["divided"].as_array().unwrap_or_else(|| panic!("{document:#}"));
    for request in divided {
        let parts = request["parts"].as_array().unwrap_or_else(|| panic!("{request:#}"));
        let sum: u64 = parts.iter().filter_map(|part| part["nanos"].as_u64()).sum();
        assert_eq!(request["nanos"].as_u64(), Some(sum), "{request:#}");
    }
    let numbered = |number: u64| {
        let found = divided.iter().find(|request| request["number"] == number);
        found.unwrap_or_else(|| panic!("{number}: {document:#}"))
    };
    let (first, tenth) = (numbered(1), numbered(10));
    let initialiser = &first["initialisers"][0];
    assert_eq!(initialiser["class"], "planted.Requests$Tariff", "{first:#}");
    assert_eq!(initialiser["caused_by"]["method"], "tariff", "{first:#}");
    assert!(initialiser["own_nanos"].as_u64().is_some_and(|nanos| nanos > 200_000_000), "{first:#}");
    let waits = tenth["waits"].as_array().unwrap_or_else(|| panic!("{tenth:#}"));
    let wait = waits.iter().find(|wait| wait["part"] == "monitors").unwrap_or_else(|| panic!("{tenth:#}"));
    assert_eq!((&wait["owner"], &wait["at"]["method"]), (&"holder".into(), &"serve".into()), "{tenth:#}");
    let findings = findings(&about_file("explain", &trace, &["--json"]).success().out);
    let slow = of_kind(&findings, "request");
    assert_eq!((slow.len(), &slow[0]["number"]), (1, &1.into()), "{findings:#?}");
    program.program.finish().success();
}

fn a_program_without_a_problem(jdk: &'static Jdk) {
    let program = planted(jdk, "healthy");
    let findings = explained(&program);
    for kind in ["deadlock", "stuck", "growth", "churn", "lock"] {
        assert!(of_kind(&findings, kind).is_empty(), "{findings:#?}");
    }
    let dump = dumped(&program);
    assert_eq!((&dump["deadlocks"], &dump["stuck"]), (&Value::Array(vec![]), &Value::Array(vec![])), "{dump}");
    program.end();
}

fn virtual_threads_are_in_a_dump_without_a_recording(jdk: &'static Jdk) {
    let program = Busy::start(&mut java::program(jdk, &["-Xmx128m"], "planted.Virtual", &[]));
    let dump = dumped(&program);
    let is_parked = |thread: &&Value| {
        let stack = thread["stack"].as_array().into_iter().flatten().filter_map(Value::as_str);
        thread["virtual"] == true && stack.into_iter().any(|frame| frame.starts_with("planted.Virtual.park("))
    };
    let threads = dump["threads"].as_array().expect("a list");
    assert_eq!(threads.iter().filter(is_parked).count(), 50, "{dump}");
    assert_eq!(dump["notes"], Value::Array(vec![]));
    let text = program.martini("threads", &[]).success().out;
    assert!(text.contains("50 virtual threads"), "{text}");
    program.end();
}
