//! `sampled=SIZE`: what the JVM's sampler estimates against what the programs made, and which of the sampled objects live.

use std::collections::BTreeMap;

use bci_tests::counted::{Counted, Sampled};
use bci_tests::jdk::{Collector, Jdk};
use bci_tests::profiled::{Heap, Profiled, Ran, is_safe_mode};
use bci_tests::suite::Suite;

/// Bytes that each thread makes of each size, and that are sampled on average once in an interval.
const BYTES: u64 = 64 << 20;
/// Up to 24 it is not always known what they count of a thread's buffer.
const BIAS: f64 = 0.01;

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk_and(&[("64k", "64k"), ("512k", "512k")], stand_for_what_was_made_of_each_size);
    suite.each_jdk_and_collector(a_leak_is_seen_alive_with_its_age);
    suite.each_jdk(backtraces_are_sampled);
    suite.each_jdk(beside_counters_samples_are_those_of_callers);
    suite.each_jdk_and(
        &[
            ("locks", "locks=on,juc=on"),
            ("live", "live=true"),
            ("filtered", "include=lasting.*"),
            ("safe", "internals=off"),
        ],
        work_beside_other_options,
    );
    suite.each_jdk(come_from_thousands_of_threads);
    suite.each_jdk(another_agent_may_have_the_sampler);
}

/// Whether an estimate is that of so many bytes, within six standard errors.
#[track_caller]
fn assert_stands_for(what: &str, found: Sampled, made: u64) {
    let most = 6.0 * (found.variance as f64).sqrt() + made as f64 * BIAS;
    assert!((found.bytes.abs_diff(made) as f64) <= most, "{what}: {found:?}, and {made} bytes were made");
}

fn sum<'s>(sampled: impl Iterator<Item = &'s Sampled>) -> Sampled {
    sampled.fold(Sampled::default(), |sum, one| Sampled {
        samples: sum.samples + one.samples,
        bytes: sum.bytes + one.bytes,
        variance: sum.variance + one.variance,
    })
}

/// What was sampled in a method.
fn made_in(trace: &Counted, method: &str) -> Sampled {
    sum(trace.by_stack.iter().filter(|((site, _), _)| site.method == method).map(|(_, sampled)| sampled))
}

fn stand_for_what_was_made_of_each_size(jdk: &Jdk, interval: &str) {
    let profiled = Profiled::on(jdk).option("sampled", interval).flags(&["-Xmx512m"]);
    let ran = profiled.main("sampled.Sizes").args(&[&BYTES.to_string()]).run_and_read::<Counted>();
    let trace = &ran.trace;
    let out = ran.out();
    let made = out.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let mut methods = 0;
    for line in made {
        let (method, [objects, size]) = (line[0], [1, 2].map(|n| line[n].parse::<u64>().expect("a number")));
        assert_stands_for(method, made_in(trace, &format!("sampled.Sizes.{method}")), objects * size);
        methods += 1;
    }
    assert_eq!(methods, 6);
    // The JVM's own account of each thread, to which readers scale.
    for thread in ["sizes 0", "sizes 1"] {
        let account = &trace.threads[thread];
        let exact = account.vm_bytes.expect("the JVM accounts it");
        assert!(exact > 5 * BYTES, "{account:?}");
        let variance = sum(trace.by_stack.values()).variance;
        assert_stands_for(thread, Sampled { samples: 0, bytes: account.bytes, variance }, exact);
    }
    assert_eq!(trace.counts[&("coverage.reported".into(), "sampled".into())], trace.reported);
    assert_eq!(trace.count("sampled.count"), sum(trace.by_stack.values()).samples);
    assert_eq!((trace.count("sampled.merged"), trace.count("classes.rewritten")), (0, 0));
}

/// Bytes by age of what lives of a method's objects.
fn living(trace: &Counted, method: &str) -> BTreeMap<u64, Sampled> {
    let method = format!("sampled.Leak.{method}");
    let of_method = trace.living.iter().filter(|((site, _), _)| site.method == method);
    of_method.map(|((_, age), sampled)| (*age, *sampled)).collect()
}

fn a_leak_is_seen_alive_with_its_age(jdk: &Jdk, collector: Collector) {
    const OBJECTS: u64 = 100_000;
    let profiled = Profiled::on(jdk).option("sampled", "16k").flags(&["-Xmx640m"]).collector(collector);
    let ran = profiled.main("sampled.Leak").args(&[&OBJECTS.to_string()]).run_and_read::<Counted>();
    let trace = &ran.trace;
    assert!(trace.looks >= 1);
    for (method, kept, age) in [("early", OBJECTS, 5), ("late", OBJECTS, 2), ("half", OBJECTS / 2, 2)] {
        let living = living(trace, method);
        assert_stands_for(method, sum(living.values()), kept * 1000);
        // There may be more collections than the program asked for; an age is rounded down to a power of two from eight on.
        assert!(*living.keys().next().expect("some live") >= age, "{method}: {living:?}");
    }
    let churned = living(trace, "churn");
    // The last one is kept.
    assert!(sum(churned.values()).samples <= 1, "{churned:?}");
    assert_eq!(trace.count("sampled.unfollowed"), 0);
    assert_eq!(trace.sum("events.lost"), 0, "{:?}", trace.counts);
}

fn backtraces_are_sampled(jdk: &Jdk) {
    let profiled = Profiled::on(jdk).option("sampled", "32k").main("sampled.Throws").args(&["100000"]);
    let trace = profiled.run_and_read::<Counted>().trace;
    let main = &trace.threads["main"];
    let found = sum(trace.by_stack.values());
    assert_stands_for("main", Sampled { bytes: main.bytes, ..found }, main.vm_bytes.expect("accounted"));
    let backtraces = trace.by_stack.iter().filter(|((site, _), _)| site.method.starts_with("java.lang.Throwable."));
    let backtraces = sum(backtraces.map(|(_, sampled)| sampled));
    // Each of fifty frames and more.
    assert!(backtraces.bytes > 100_000 * 50 * 8, "{backtraces:?}");
}

/// There is one set of samples, whoever asked for them: that of the finer interval.
fn beside_counters_samples_are_those_of_callers(jdk: &Jdk) {
    let run = |options: &str, main: &str, argument: &str| {
        let profiled = Profiled::on(jdk).heap(Heap::Counts).options(options);
        profiled.main(main).args(&[argument]).run_and_read::<Counted>().trace
    };
    let trace = run("sampled=1m,callers=16k", "sampled.Leak", "50000");
    // Where samples cost too much it has become longer, up to sixteen times.
    let intervals = (trace.count("callers.interval"), trace.count("sampled.interval"));
    assert!(intervals.0 == intervals.1 && (16 << 10..1 << 20).contains(&intervals.0), "{intervals:?}");
    for (method, kept) in [("early", 50_000), ("late", 50_000), ("half", 25_000)] {
        assert_stands_for(method, sum(living(&trace, method).values()), kept * 1000);
        assert_stands_for(method, made_in(&trace, &format!("sampled.Leak.{method}")), 50_000_000);
    }
    assert!(trace.counts.contains_key(&("coverage.reported".into(), "counts".into())));
    // A backtrace is counted as one object, and so are its samples.
    let trace = run("sampled=32k", "sampled.Throws", "100000");
    let is_backtrace =
        |method: &str, class: &str| method == "java.lang.Throwable.fillInStackTrace" && class == "java.lang.Object[]";
    let sites = trace.sites.iter().filter(|(site, _)| is_backtrace(&site.method, &site.class));
    let counted: u64 = sites.map(|(_, sum)| sum.bytes).sum();
    let sampled = trace.by_stack.iter().filter(|((site, _), _)| is_backtrace(&site.method, &site.class));
    let sampled = sum(sampled.map(|(_, sampled)| sampled));
    assert!(counted > 100_000 * 50 * 8, "{counted}");
    assert_stands_for("backtraces", sampled, counted);
    let others = sum(trace
        .by_stack
        .iter()
        .filter(|((site, _), _)| site.method.starts_with("java.lang.Throwable."))
        .map(|(_, s)| s));
    // Some other object of these methods may be sampled, too.
    assert!(others.bytes - sampled.bytes <= sampled.bytes / 100, "{others:?} {sampled:?}");
}

fn work_beside_other_options(jdk: &Jdk, options: &str) {
    // The finest interval that there is: it becomes longer by itself.
    let profiled = Profiled::on(jdk).options(options).option("sampled", "1").any_status();
    let mut program = profiled.flags(&["-Xmx128m"]).main("lasting.Main").start();
    program.wait_for("ready");
    program.send("collect");
    program.wait_for("collect done");
    program.send("exit");
    let ran: Ran<Counted> = program.finish_and_read();
    assert_eq!((ran.status().code(), ran.err().as_str()), (Some(7), ""));
    let trace = &ran.trace;
    assert!(trace.count("sampled.count") > 100, "{:?}", trace.counts);
    assert_eq!(trace.counts.contains_key(&("coverage.filtered".into(), String::new())), options.starts_with("include"));
    // Made since the last collection of the program; the histogram collects once more.
    let dropped = trace.living.iter().filter(|((site, age), _)| {
        let (class, method) = (site.class.as_str(), site.method.as_str());
        *age == 0 && (class == "lasting.Main$Dropped" || method == "lasting.Main$Dropped.-init-")
    });
    let dropped = sum(dropped.map(|(_, sampled)| sampled));
    assert_eq!(dropped.samples > 0, !options.starts_with("live"), "{:?}", trace.living);
    assert!(!trace.living.is_empty());
}

fn come_from_thousands_of_threads(jdk: &Jdk) {
    const THREADS: u64 = 2000;
    // Rare enough for the interval to stay as it is.
    let profiled = Profiled::on(jdk).option("sampled", "64k").flags(&["-Xmx512m"]).main("sampled.Threads");
    let trace = profiled.args(&[&THREADS.to_string(), "50000"]).run_and_read::<Counted>().trace;
    let found = made_in(&trace, "sampled.Threads.allocate");
    let made = THREADS * 50_000;
    if jdk.feature < 25 {
        // Their buffers are taken away by collections, and the JVM counts what is left of them. In safe mode that is not known.
        let (least, most) = if is_safe_mode() { (made / 4, made * 4) } else { (made * 3 / 5, made * 7 / 5) };
        assert!((least..most).contains(&found.bytes), "{found:?}");
        assert_eq!(trace.count("sampled.early") > 0, !is_safe_mode(), "{:?}", trace.counts);
    } else {
        assert_stands_for("threads", found, made);
        assert_eq!(trace.count("sampled.early"), 0);
    }
    let accounts = trace.threads.iter().filter(|(name, _)| name.starts_with("thread "));
    assert_eq!(accounts.filter(|(_, account)| account.vm_bytes >= Some(50_000)).count() as u64, THREADS);
}

/// Only one agent can have the VM sample. The other records its locks all the same, and says so.
fn another_agent_may_have_the_sampler(jdk: &Jdk) {
    let profiled = Profiled::on(jdk).option("sampled", "64k").option("locks", "on");
    let other = profiled.dir().join("libother.so");
    std::fs::copy(&bci_tests::martini::built().agent, &other).expect("the folder is ours");
    let trace = profiled.dir().join("other.trcxml");
    let first = format!("-agentpath:{}=heap=vm,file={}", other.display(), trace.display());
    let ran = profiled.flags(&[&first]).main("sampled.Threads").args(&["4", "50000"]).run_and_read::<Counted>();
    assert!(ran.err().contains("martini: cannot sample allocations: "), "{}", ran.err());
    assert!(ran.trace.by_stack.is_empty() && ran.trace.count("sampled.count") == 0);
}
