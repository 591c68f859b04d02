//! Every mechanism by which Java code allocates, many thousand times: interpreted, compiled by C1 and by C2.
//!
//! The truth is what the program knows it did, and what the JVM accounted to its threads. With `MARTINI_FULL` set,
//! everything is performed 200,000 times, also interpreted, and by recorded objects; with `MARTINI_EXACTNESS` naming a file, all that was
//! measured is appended to it, one line each.

mod known;
mod measure;
mod program;

use std::fs::OpenOptions;
use std::io::Write;

use bci_tests::jdk::{self, Jdk};
use bci_tests::process;

use known::{KNOWN, Known};
use measure::{Measured, Mode, Phase, What};

/// Bytes that the VM may make once on a thread, while it links what a mechanism needs: they weigh in short runs only.
const ALLOWANCE: u64 = 64 << 10;

fn is_exact(measured: &Measured, mode: Mode, phase: Phase) -> bool {
    let Measured { what, truth, seen, .. } = measured;
    let tolerance = (*truth / 1000).max(ALLOWANCE);
    match (what, mode) {
        // Sites count what is executed, whatever the JIT makes of it.
        (What::Bytes, Mode::Counts) if phase.removes_objects() => *seen + tolerance >= *truth,
        (What::Bytes, _) => seen.abs_diff(*truth) <= tolerance,
        // The JVM tells of what C2 leaves; objects that nobody uses it removes even without escape analysis.
        (What::Class(_), Mode::Vm) if matches!(phase, Phase::C2 | Phase::C2WithoutEscapeAnalysis) => seen <= truth,
        _ => seen == truth,
    }
}

fn applies(known: &Known, mechanism: &str, mode: Mode, phase: Phase, jdk: &Jdk) -> bool {
    known.mode == mode
        && known.mechanism == mechanism
        && (known.phases.is_empty() || known.phases.contains(&phase))
        && known.jdks.contains(&jdk.feature)
}

#[track_caller]
fn check(mode: Mode, phase: Phase) {
    let mut failures = Vec::new();
    let mut needed = [false; KNOWN.len()];
    let mut jdks = jdk::each_feature();
    // Up to JDK 16 the VM loses sight of a buffer beside which it has put an object (docs/agent.md).
    jdks.retain(|jdk| mode != Mode::Vm || jdk.feature >= 17);
    for jdk in &jdks {
        let all = measure::measure(jdk, mode, phase);
        append(&all, jdk, mode, phase);
        for measured in all.iter().filter(|m| !is_exact(m, mode, phase)) {
            let Measured { mechanism, what, truth, seen } = measured;
            let percent = *seen as f64 * 100.0 / (*truth).max(1) as f64;
            let known = KNOWN.iter().position(|k| applies(k, mechanism, mode, phase, jdk));
            if let Some(known) = known.filter(|&known| KNOWN[known].percent.contains(&percent)) {
                needed[known] = true;
            } else {
                let why = known.map_or("for no known reason", |known| KNOWN[known].why);
                let seen = format!("{truth}, seen {seen}, {percent:.3} %, {why}");
                failures.push(format!("JDK {}: {mechanism} {what:?}: {seen}", jdk.feature));
            }
        }
    }
    for (known, needed) in KNOWN.iter().zip(needed) {
        let shows = !known.is_small || process::is_full();
        if !needed && shows && jdks.iter().any(|jdk| applies(known, known.mechanism, mode, phase, jdk)) {
            failures.push(format!("{} is exact: take it out of known.rs and docs/exactness.md", known.mechanism));
        }
    }
    assert!(failures.is_empty(), "{} differences\n{}", failures.len(), failures.join("\n"));
}

/// Appends what was measured to the file that `MARTINI_EXACTNESS` names.
fn append(all: &[Measured], jdk: &Jdk, mode: Mode, phase: Phase) {
    let Some(path) = std::env::var_os("MARTINI_EXACTNESS") else { return };
    let mut lines = String::new();
    for Measured { mechanism, what, truth, seen } in all {
        let what = match what {
            What::Class(class) => class.clone(),
            What::Site(class, line) => format!("{class} at line {line}"),
            What::Bytes => "bytes".to_owned(),
        };
        lines += &format!("{mode:?}\t{phase:?}\t{}\t{mechanism}\t{what}\t{truth}\t{seen}\n", jdk.feature);
    }
    let file = OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(lines.as_bytes())).expect("MARTINI_EXACTNESS names a writable file");
}

macro_rules! tests {
    ($($mode:ident $all:ident)+) => {
        $(
            mod $all {
                use super::*;

                #[test]
                fn interpreted() {
                    check(Mode::$mode, Phase::Interpreted);
                }

                #[test]
                fn c1() {
                    check(Mode::$mode, Phase::C1);
                }

                #[test]
                fn c2() {
                    check(Mode::$mode, Phase::C2);
                }

                #[test]
                fn c2_without_escape_analysis() {
                    check(Mode::$mode, Phase::C2WithoutEscapeAnalysis);
                }
            }
        )+
    };
}

tests! { Counts counts Events events Vm vm }
