//! `heap=counts` with 200,000 sites, 10,000 threads that live at once and 100,000 virtual threads: exact numbers still,
//! and memory for what is used, not for every site on every thread.

use bci_tests::counted::{Counted, Markers};
use bci_tests::jdk::{self, Jdk};
use bci_tests::say::say;
use bci_tests::workdir::Workdir;
use bci_tests::{java, martini, process};

const CLASSES: u64 = 50;
const SITES_PER_CLASS: u64 = 4_000;
const THREADS: u64 = 10_000;
const VIRTUAL_THREADS: u64 = 100_000;

/// Objects that each thread makes, in one go.
const ROUNDS: u64 = 25;

const NO_MARKERS: Markers = Markers { begin: "", end: "" };

/// An array of counters for each thread would take 16 GB.
const COUNTERS_AT_MOST: u64 = 256 << 20;

/// What the agent may add to the most memory that the JVM ever had: counters, names, and the classes with their hooks.
const MEMORY_AT_MOST: u64 = 1 << 30;

/// The most memory that the JVM had, in bytes, and the trace.
fn run(jdk: &Jdk, dir: &Workdir, options: Option<&str>) -> (u64, Option<Counted>) {
    let file = dir.join("many.trcxml");
    let agent = options.map(|o| martini::built().agent_path(&format!("{o},file={}", file.display())));
    let virtual_threads = if jdk.feature >= 21 { VIRTUAL_THREADS } else { 0 };
    let args = [CLASSES, SITES_PER_CLASS, THREADS, virtual_threads].map(|n| n.to_string());
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let flags = ["-XX:+UseSerialGC", "-Xms512m", "-Xmx512m"];
    let with_trace = agent.is_some();
    let ran = process::run(&mut java::with_agent(jdk, &flags, agent, "many.Main", &args)).success();
    let kibibytes: u64 = ran.out().trim().parse().expect("it prints a number");
    (kibibytes << 10, with_trace.then(|| Counted::read(&file, NO_MARKERS)))
}

#[test]
fn many_sites_threads_and_virtual_threads() {
    // The oldest and the newest: each takes a while to make so many threads.
    let jdks = jdk::each_feature();
    let ends = [jdks.first(), jdks.last().filter(|_| jdks.len() > 1)];
    for jdk in ends.into_iter().flatten() {
        let place = format!("JDK {jdk}");
        let dir = Workdir::new();
        let (without, _) = run(jdk, &dir, None);
        let (with, trace) = run(jdk, &dir, Some("heap=counts"));
        let trace = trace.expect("asked for");
        assert!(trace.complete, "{place}");

        let of = |class: &str| {
            let sites = trace.sites.iter().filter(|(site, _)| site.class == class && !site.from_vm);
            sites.fold((0, 0), |(sites, objects), (_, sum)| (sites + 1, objects + sum.instances))
        };
        let sites = CLASSES * SITES_PER_CLASS;
        assert_eq!(of("many.Main$Sited"), (sites, 2 * sites), "{place}");
        assert_eq!(of("many.Main$OfThread"), (1, THREADS * ROUNDS), "{place}");
        let threads = trace.threads.keys().filter(|name| name.starts_with("many-")).count();
        assert_eq!(threads as u64, THREADS, "{place}");
        if jdk.feature >= 21 {
            assert_eq!(of("many.Main$OfVirtualThread"), (1, VIRTUAL_THREADS * ROUNDS * 2), "{place}");
        }

        let counters = trace.count("counters.bytes");
        assert!(counters <= COUNTERS_AT_MOST, "{place}: counters took {counters} bytes");
        let added = with.saturating_sub(without);
        assert!(added <= MEMORY_AT_MOST, "{place}: {without} bytes of memory became {with}");
        say(&format!("{place}: counters {counters} bytes; memory {without}, with the agent {with}"));
    }
}
