//! What is reported of real programs, unfiltered, against what the JVM accounts to their threads.

use std::fs;

use bci_tests::counted::{Counted, Markers};
use bci_tests::jdk::Jdk;
use bci_tests::martini;
use bci_tests::process;
use bci_tests::say::say;
use bci_tests::workdir::Workdir;

use crate::programs::{self, Program};
use crate::{command, fitting, run};

/// Threads that allocate less are judged together with all others only.
const LARGE: u64 = 10_000_000;

/// The programs have no windows.
const NO_MARKERS: Markers = Markers { begin: "", end: "" };

/// What the bytes that are reported are to the bytes that are accounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    /// They are the same.
    Equal,
    /// They may be more: what the JIT removed is counted too.
    AtLeast,
}

/// A difference that is none: a thread of the VM's own that is there at VMInit uses up the buffer it has by then.
const SLACK: u64 = 64 << 10;

/// The share that need not be reported. `docs/exactness.md` has it by program.
fn unseen(program: &Program, mode: &str, jdk: &Jdk) -> f64 {
    match mode {
        // What the VM makes itself, most of it while it links classes, so that it weighs in short runs.
        "counts" if program.work.is_empty() => 0.025,
        // Up to JDK 16 the VM loses sight of a buffer beside which it has put an object.
        "vm" if jdk.feature < 17 => 0.06,
        "events" if jdk.feature < 17 => 0.002,
        _ => 0.001,
    }
}

impl Claim {
    fn holds(self, reported: u64, accounted: u64, unseen: f64) -> bool {
        let missing = accounted.saturating_sub(reported);
        let excess = reported.saturating_sub(accounted);
        let share = |bytes: u64| bytes as f64 / accounted as f64;
        (missing <= SLACK || share(missing) <= unseen) && (self == Self::AtLeast || share(excess) <= 0.001)
    }
}

#[track_caller]
fn check(program: &Program, jdk: &Jdk, mode: &str, flags: &[&str], claim: Claim) {
    let place = format!("{} on JDK {jdk}, heap={mode} {flags:?}", program.name);
    let dir = Workdir::new();
    let (folder, file) = (dir.join("run"), dir.join("trace.trcxml"));
    fs::create_dir(&folder).expect("the folder is ours");
    let agent = martini::built().agent_path(&format!("heap={mode},file={}", file.display()));
    let (ran, _) = run(&mut command(program, jdk, flags, Some(agent), &folder), jdk, false);
    assert!(ran.status.success(), "{place}\n{}\n{}", ran.out(), ran.err());

    let unseen = unseen(program, mode, jdk);
    let trace = Counted::read(&file, NO_MARKERS);
    assert!(trace.complete, "{place}");
    let mut wrong = Vec::new();
    let mut large = 0;
    let (mut reported, mut accounted) = (0, 0);
    for (name, account) in &trace.threads {
        let told = account.vm_bytes.unwrap_or_else(|| panic!("{place}: the JVM does not account to {name}"));
        reported += account.bytes;
        accounted += told;
        if told > LARGE {
            large += 1;
            if !claim.holds(account.bytes, told, unseen) {
                wrong.push((name.as_str(), account.bytes, told));
            }
        }
    }
    assert!(large > 0, "{place}: no thread allocated {LARGE} bytes");
    if !claim.holds(reported, accounted, unseen) {
        wrong.push(("all threads", reported, accounted));
    }
    say(&format!("{place}: {:.3} % of {accounted} bytes", reported as f64 * 100.0 / accounted as f64));
    assert!(wrong.is_empty(), "{place}: reported and accounted bytes\n{wrong:#?}");
}

/// Each program on one JDK, so that every JDK has its turn; on all of them where `MARTINI_FULL` is set.
#[track_caller]
fn on_one_jdk(turn: usize, mut program: Program, mode: &str, flags: &[&str], claim: Claim) {
    // Every object in the trace makes it large enough as it is.
    if mode == "counts" && !program.work.is_empty() {
        program.args = program.work;
    }
    let program = &program;
    let jdks = fitting(program);
    let (first, count) = if process::is_full() { (0, jdks.len()) } else { (turn % jdks.len().max(1), 1) };
    for jdk in jdks.iter().skip(first).take(count) {
        check(program, jdk, mode, flags, claim);
    }
}

/// Without escape analysis the JIT removes nothing, so what is executed is what is allocated.
const ALL_STAYS: &[&str] = &["-XX:-DoEscapeAnalysis"];

macro_rules! tests {
    ($($name:ident $turn:literal)+) => {
        $(
            mod $name {
                use super::*;

                #[test]
                fn counts() {
                    on_one_jdk($turn, programs::$name(), "counts", &[], Claim::AtLeast);
                }

                #[test]
                fn counts_without_escape_analysis() {
                    on_one_jdk($turn + 1, programs::$name(), "counts", ALL_STAYS, Claim::Equal);
                }

                #[test]
                fn events() {
                    on_one_jdk($turn + 2, programs::$name(), "events", &[], Claim::Equal);
                }

                #[test]
                fn vm() {
                    on_one_jdk($turn + 3, programs::$name(), "vm", &[], Claim::Equal);
                }
            }
        )+
    };
}

tests! { javac 0 ecj 1 antlr4 2 hsqldb 3 ant 0 groovy 1 clojure 2 rhino 3 jflex 0 }
