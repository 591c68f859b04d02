//! Every mechanism by which Java code allocates, many thousand times: interpreted, compiled by C1 and by C2.
//!
//! The truth is what the program knows it did, and what the JVM accounted to its threads. With `MARTINI_LONG` set,
//! everything is performed 200,000 times, also interpreted, and by recorded objects; with `MARTINI_EXACTNESS` naming a file, all that was
//! measured is appended to it, one line each.

mod known;
mod measure;
mod program;

use std::fs::OpenOptions;
use std::io::Write;

use bci_tests::jdk::Jdk;
use bci_tests::process;
use bci_tests::profiled::Heap;
use bci_tests::suite::Suite;

use known::{KNOWN, Known};
use measure::{Measured, Phase, What};

/// Bytes that the VM may make once on a thread, while it links what a mechanism needs: they weigh in short runs only.
const ALLOWANCE: u64 = 64 << 10;

pub(crate) fn tests(suite: &mut Suite) {
    use Phase::{C1, C2, C2WithoutEscapeAnalysis, Interpreted};
    let counts = [
        ("counts::interpreted", (Heap::Counts, Interpreted)),
        ("counts::c1", (Heap::Counts, C1)),
        ("counts::c2", (Heap::Counts, C2)),
        ("counts::c2_without_escape_analysis", (Heap::Counts, C2WithoutEscapeAnalysis)),
    ];
    let events = [
        ("events::interpreted", (Heap::Events, Interpreted)),
        ("events::c1", (Heap::Events, C1)),
        ("events::c2", (Heap::Events, C2)),
        ("events::c2_without_escape_analysis", (Heap::Events, C2WithoutEscapeAnalysis)),
    ];
    let vm = [
        ("vm::interpreted", (Heap::Vm, Interpreted)),
        ("vm::c1", (Heap::Vm, C1)),
        ("vm::c2", (Heap::Vm, C2)),
        ("vm::c2_without_escape_analysis", (Heap::Vm, C2WithoutEscapeAnalysis)),
    ];
    suite.each_jdk_and(&counts, every_mechanism_is_exact);
    suite.each_jdk_and(&events, every_mechanism_is_exact);
    // Up to JDK 16 the VM loses sight of a buffer beside which it has put an object (docs/limits.md).
    suite.jdks(17..).each_and(&vm, every_mechanism_is_exact);
}

fn is_exact(measured: &Measured, heap: Heap, phase: Phase) -> bool {
    let Measured { what, truth, seen, .. } = measured;
    let tolerance = (*truth / 1000).max(ALLOWANCE);
    match (what, heap) {
        // Sites count what is executed, whatever the JIT makes of it.
        (What::Bytes, Heap::Counts) if phase.removes_objects() => *seen + tolerance >= *truth,
        (What::Bytes, _) => seen.abs_diff(*truth) <= tolerance,
        // The JVM reports what C2 leaves; objects that nobody uses it removes even without escape analysis.
        (What::Class(_), Heap::Vm) if matches!(phase, Phase::C2 | Phase::C2WithoutEscapeAnalysis) => seen <= truth,
        _ => seen == truth,
    }
}

fn applies(known: &Known, mechanism: &str, heap: Heap, phase: Phase, jdk: &Jdk) -> bool {
    known.heap == heap
        && known.mechanism == mechanism
        && (known.phases.is_empty() || known.phases.contains(&phase))
        && known.jdks.contains(&jdk.feature)
}

fn every_mechanism_is_exact(jdk: &Jdk, (heap, phase): (Heap, Phase)) {
    let mut failures = Vec::new();
    let mut needed = [false; KNOWN.len()];
    let all = measure::measure(jdk, heap, phase);
    append(&all, jdk, heap, phase);
    for measured in all.iter().filter(|m| !is_exact(m, heap, phase)) {
        let Measured { mechanism, what, truth, seen } = measured;
        let percent = *seen as f64 * 100.0 / (*truth).max(1) as f64;
        let known = KNOWN.iter().position(|k| applies(k, mechanism, heap, phase, jdk));
        if let Some(known) = known.filter(|&known| KNOWN[known].percent.contains(&percent)) {
            needed[known] = true;
        } else {
            let why = known.map_or("for no known reason", |known| KNOWN[known].why);
            failures.push(format!("{mechanism} {what:?}: {truth}, seen {seen}, {percent:.3} %, {why}"));
        }
    }
    for (known, needed) in KNOWN.iter().zip(needed) {
        let shows = !known.is_small || process::is_long();
        if !needed && shows && applies(known, known.mechanism, heap, phase, jdk) {
            failures.push(format!("{} is exact: take it out of known.rs and docs/accuracy.md", known.mechanism));
        }
    }
    assert!(failures.is_empty(), "{} differences\n{}", failures.len(), failures.join("\n"));
}

/// Appends what was measured to the file that `MARTINI_EXACTNESS` names.
fn append(all: &[Measured], jdk: &Jdk, heap: Heap, phase: Phase) {
    let Some(path) = std::env::var_os("MARTINI_EXACTNESS") else { return };
    let mut lines = String::new();
    for Measured { mechanism, what, truth, seen } in all {
        let what = match what {
            What::Class(class) => class.clone(),
            What::Site(class, line) => format!("{class} at line {line}"),
            What::Bytes => "bytes".to_owned(),
        };
        lines += &format!("{heap:?}\t{phase:?}\t{}\t{mechanism}\t{what}\t{truth}\t{seen}\n", jdk.feature);
    }
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(lines.as_bytes())).expect("MARTINI_EXACTNESS names a writable file");
}
