//! `heap=counts` with 200,000 sites, 10,000 threads that live at once and 100,000 virtual threads: exact numbers still,
//! and memory for what is used, not for every site on every thread.

use bci_tests::counted::Counted;
use bci_tests::jdk::Jdk;
use bci_tests::profiled::{Heap, Profiled, Ran};
use bci_tests::say::say;
use bci_tests::suite::Suite;

const CLASSES: u64 = 50;
const SITES_PER_CLASS: u64 = 4_000;
const THREADS: u64 = 10_000;
const VIRTUAL_THREADS: u64 = 100_000;

/// Objects that each thread makes, in one go.
const ROUNDS: u64 = 25;

/// An array of counters for each thread would take 16 GB.
const COUNTERS_AT_MOST: u64 = 256 << 20;

/// What the agent may add to the most memory that the JVM ever had: counters, names, and the classes with their hooks.
const MEMORY_AT_MOST: u64 = 1 << 30;

pub(crate) fn tests(suite: &mut Suite) {
    suite.jdks(..).large().each(many_sites_threads_and_virtual_threads);
}

fn program(jdk: &Jdk) -> Profiled<'_> {
    let virtual_threads = if jdk.feature >= 21 { VIRTUAL_THREADS } else { 0 };
    let args = [CLASSES, SITES_PER_CLASS, THREADS, virtual_threads].map(|n| n.to_string());
    Profiled::on(jdk).flags(&["-XX:+UseSerialGC", "-Xms512m", "-Xmx512m"]).main("many.Main").args(&args)
}

/// The most memory that the JVM had, in bytes.
fn memory<T>(ran: &Ran<T>) -> u64 {
    ran.out().trim().parse::<u64>().expect("it prints a number") << 10
}

fn many_sites_threads_and_virtual_threads(jdk: &Jdk) {
    let without = memory(&program(jdk).without_agent().run());
    let ran = program(jdk).heap(Heap::Counts).no_schema().run_and_read::<Counted>();
    let (with, trace) = (memory(&ran), &ran.trace);

    let of = |class: &str| {
        let sites = trace.sites.iter().filter(|(site, _)| site.class == class && !site.from_vm);
        sites.fold((0, 0), |(sites, objects), (_, sum)| (sites + 1, objects + sum.instances))
    };
    let sites = CLASSES * SITES_PER_CLASS;
    assert_eq!(of("many.Main$Sited"), (sites, 2 * sites));
    assert_eq!(of("many.Main$OfThread"), (1, THREADS * ROUNDS));
    let threads = trace.threads.keys().filter(|name| name.starts_with("many-")).count();
    assert_eq!(threads as u64, THREADS);
    if jdk.feature >= 21 {
        assert_eq!(of("many.Main$OfVirtualThread"), (1, VIRTUAL_THREADS * ROUNDS * 2));
    }

    let counters = trace.count("counters.bytes");
    assert!(counters <= COUNTERS_AT_MOST, "counters took {counters} bytes");
    let added = with.saturating_sub(without);
    assert!(added <= MEMORY_AT_MOST, "{without} bytes of memory became {with}");
    say(&format!("JDK {jdk}: counters {counters} bytes; memory {without}, with the agent {with}"));
}
