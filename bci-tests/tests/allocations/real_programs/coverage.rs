//! What is reported of real programs, unfiltered, against what the JVM accounts to their threads.

use std::fs;

use bci_tests::counted::Counted;
use bci_tests::jdk::Jdk;
use bci_tests::profiled::Heap;
use bci_tests::programs::{self, Program};
use bci_tests::say::say;
use bci_tests::suite::Suite;

/// Threads that allocate less are judged together with all others only.
const LARGE: u64 = 10_000_000;

/// One way to run a program: name, mode, flags, and what has to hold.
type Way = (&'static str, Heap, &'static [&'static str], Claim);

/// Without escape analysis the JIT removes nothing, so what is executed is what is allocated.
const WAYS: [Way; 4] = [
    ("counts", Heap::Counts, &[], Claim::AtLeast),
    ("counts_without_escape_analysis", Heap::Counts, &["-XX:-DoEscapeAnalysis"], Claim::Equal),
    ("events", Heap::Events, &[], Claim::Equal),
    ("vm", Heap::Vm, &[], Claim::Equal),
];

/// The covering set has each program and way on one JDK, so that every JDK has its turn.
pub(super) fn tests(suite: &mut Suite) {
    let programs = [
        (0, programs::javac()),
        (1, programs::ecj()),
        (2, programs::antlr4()),
        (3, programs::hsqldb()),
        (0, programs::ant()),
        (1, programs::groovy()),
        (2, programs::clojure()),
        (3, programs::rhino()),
        (0, programs::jflex()),
    ];
    for (first, program) in programs {
        for (turn, way) in WAYS.into_iter().enumerate() {
            let name = |jdk: &str| format!("real_programs::coverage::{jdk}::{}::{}", program.name, way.0);
            if let Some(reason) = program.missing() {
                suite.skip(name("any_jdk"), reason);
                continue;
            }
            let jdks = program.fitting();
            let turn = (first + turn) % jdks.len();
            for (index, jdk) in jdks.into_iter().enumerate() {
                let name = name(&format!("jdk{}", jdk.feature));
                suite.add_where(index == turn, name, move || check(program, jdk, way));
            }
        }
    }
}

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

/// The share that need not be reported. `docs/accuracy.md` has it by program.
fn unseen(program: Program, heap: Heap, jdk: &Jdk) -> f64 {
    match heap {
        // What the VM makes itself, most of it while it links classes, so that it weighs in short runs.
        Heap::Counts if !program.has_work() => 0.025,
        // Up to JDK 16 the VM loses sight of a buffer beside which it has put an object.
        Heap::Vm if jdk.feature < 17 => 0.06,
        Heap::Events if jdk.feature < 17 => 0.002,
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
fn check(program: Program, jdk: &Jdk, (_, heap, flags, claim): Way) {
    // Every object in the trace makes it large enough as it is.
    let program = if heap == Heap::Counts && program.has_work() { program.working() } else { program };
    let unseen = unseen(program, heap, jdk);
    let profiled = super::held(program, jdk).heap(heap).flags(flags).no_schema();
    let folder = profiled.dir().join("run");
    fs::create_dir(&folder).expect("the folder is ours");
    let mut running = profiled.in_folder(&folder).start();
    running.wait_for("held");
    let ran = running.finish_and_read::<Counted>();

    let mut wrong = Vec::new();
    let mut large = 0;
    let (mut reported, mut accounted) = (0, 0);
    for (name, account) in &ran.trace.threads {
        let of_thread = account.vm_bytes.unwrap_or_else(|| panic!("the JVM does not account to {name}"));
        reported += account.bytes;
        accounted += of_thread;
        if of_thread > LARGE {
            large += 1;
            if !claim.holds(account.bytes, of_thread, unseen) {
                wrong.push((name.as_str(), account.bytes, of_thread));
            }
        }
    }
    assert!(large > 0, "no thread allocated {LARGE} bytes");
    if !claim.holds(reported, accounted, unseen) {
        wrong.push(("all threads", reported, accounted));
    }
    let percent = reported as f64 * 100.0 / accounted as f64;
    say(&format!("{} on JDK {jdk}, heap={} {flags:?}: {percent:.3} % of {accounted} bytes", program.name, heap.name()));
    assert!(wrong.is_empty(), "reported and accounted bytes\n{wrong:#?}");
}
