//! Programs that nobody here wrote. With every object recorded they print and write what they do without the agent, and what lives at
//! the end is what the JVM's own heap histogram shows; reported bytes are those that the JVM accounts to their threads; and
//! `martini run` alone names a line outside the JDK for nearly all that they allocate.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bci_tests::counted::Counted;
use bci_tests::histogram::{Histogram, Which, family};
use bci_tests::jdk::Jdk;
use bci_tests::profiled::{Heap, Profiled, Ran};
use bci_tests::programs::{self, Program};
use bci_tests::read::TraceData;
use bci_tests::recorded::Recorded;
use bci_tests::say::say;
use bci_tests::suite::Suite;
use bci_tests::{martini, process};
use serde_json::Value;

pub(crate) fn tests(suite: &mut Suite) {
    // On the oldest or the newest JDK, in turn.
    let programs = [
        programs::javac(),
        programs::ecj(),
        programs::antlr4(),
        programs::hsqldb(),
        programs::ant(),
        programs::jflex(),
        programs::groovy(),
        programs::clojure(),
        programs::rhino(),
        programs::beanshell(),
    ];
    for (turn, program) in programs.into_iter().enumerate() {
        let name = |jdk: &str| format!("real_programs::are_left_alone::{jdk}::{}", program.name);
        if let Some(reason) = program.missing() {
            suite.skip(name("any_jdk"), reason);
            continue;
        }
        let jdks = program.fitting();
        let mut ends = vec![jdks[0], jdks[jdks.len() - 1]];
        ends.dedup_by_key(|jdk| &jdk.home);
        for (end, jdk) in ends.iter().copied().enumerate() {
            let covers = end == turn % ends.len();
            suite.add_where(covers, name(&format!("jdk{}", jdk.feature)), move || is_left_alone(program, jdk));
        }
    }
    // The covering set has each program with counts and in one other way, so that every JDK has its turn.
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
    for (number, (first, program)) in programs.into_iter().enumerate() {
        for (turn, way) in WAYS.into_iter().enumerate() {
            let name = |jdk: &str| format!("real_programs::coverage::{jdk}::{}::{}", program.name, way.0);
            if let Some(reason) = program.missing() {
                suite.skip(name("any_jdk"), reason);
                continue;
            }
            let jdks = program.fitting();
            let is_chosen = turn == 0 || turn == 1 + number % (WAYS.len() - 1);
            let place = (first + turn) % jdks.len();
            for (index, jdk) in jdks.into_iter().enumerate() {
                let name = name(&format!("jdk{}", jdk.feature));
                suite.add_where(is_chosen && index == place, name, move || check(program, jdk, way));
            }
        }
    }
    // Programs that work for more than a moment, each on one JDK, so that every JDK has its turn.
    let programs = [programs::ecj(), programs::hsqldb(), programs::jflex(), programs::clojure(), programs::rhino()];
    for (turn, program) in programs.into_iter().enumerate() {
        let name = |jdk: &str| format!("real_programs::own_code::{jdk}::{}", program.name);
        if let Some(reason) = program.missing() {
            suite.skip(name("any_jdk"), reason);
            continue;
        }
        let jdks = program.fitting();
        let jdk = jdks[turn % jdks.len()];
        suite.add(name(&format!("jdk{}", jdk.feature)), move || nearly_all_has_a_line_outside_the_jdk(program, jdk));
    }
}

/// The program, by a main class that holds the JVM at its end.
fn held(program: Program, jdk: &Jdk) -> Profiled<'_> {
    program.behind(&["hold.Main"], jdk).flags(&["-Xmx1g"])
}

/// Runs it to its end in a folder, and looks at the heap of the JVM just before that if it is asked to.
#[track_caller]
fn run<T: TraceData>(profiled: Profiled<'_>, folder: &Path, look_on: Option<&Jdk>) -> (Ran<T>, Option<Histogram>) {
    fs::create_dir(folder).expect("the folder is ours");
    let mut running = profiled.in_folder(folder).any_status().start();
    running.wait_for("held");
    let seen = look_on.map(|jdk| Histogram::of(jdk, running.pid(), Which::Living));
    running.send("");
    (running.finish_and_read(), seen)
}

#[track_caller]
fn is_left_alone(program: Program, jdk: &Jdk) {
    // Both runs see the same folder, and find it empty.
    let profiled = held(program, jdk).heap(Heap::Events).both_schemas();
    let folder = profiled.dir().join("run");
    let (without, _) = run::<()>(held(program, jdk).without_agent(), &folder, None);
    let bare = without.dir.join("bare");
    fs::rename(&folder, &bare).expect("the folder is ours");
    let (with, living) = run::<Recorded>(profiled, &folder, Some(jdk));

    assert!(without.status().success(), "it fails without the agent\n{}\n{}", without.out(), without.err());
    assert_eq!(with.status(), without.status(), "{}", with.err());
    assert_eq!((program.normalise)(&with.out()), (program.normalise)(&without.out()), "standard output");
    assert_eq!(with.err(), without.err(), "standard error");
    let (files, bare_files) = (contents(&folder), contents(&bare));
    assert_eq!(files.keys().collect::<Vec<_>>(), bare_files.keys().collect::<Vec<_>>(), "files");
    for (name, bytes) in &files {
        assert!(*bytes == bare_files[name], "{} differs", name.display());
    }

    let trace = &with.trace;
    assert!(trace.objects.len() > 50_000, "only {} objects", trace.objects.len());
    let differences = differences(&living.expect("looked at above"), trace, program.packages);
    assert!(differences.is_empty(), "live objects\n{}", differences.join("\n"));
}

/// Every file below a folder.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).expect("the folder is ours") {
            let path = entry.expect("the folder is ours").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("found below it").to_owned();
                files.insert(name, fs::read(&path).expect("the program wrote it"));
            }
        }
    }
    files
}

/// Packages of the class library. What it keeps is not compared: it was there before the first event.
const LIBRARY: [&str; 5] = ["java.", "javax.", "jdk.", "sun.", "com.sun."];

/// Each difference, over the classes of the program: all but those of the class library, and those of `packages`.
///
/// Arrays are left out: those that HotSpot's intrinsics make are not recorded.
fn differences(counted: &Histogram, trace: &Recorded, packages: &[&str]) -> Vec<String> {
    let own = |class: &str| {
        let begins_with = |prefixes: &[&str]| prefixes.iter().any(|prefix| class.starts_with(prefix));
        let array = class.starts_with('[') || class.ends_with("[]");
        !array && (!begins_with(&LIBRARY) || begins_with(packages))
    };
    let mut recorded: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for object in trace.objects.iter().filter(|object| object.freed.is_none()) {
        let sum = recorded.entry(family(&trace.names[object.class])).or_default();
        sum.0 += 1;
        sum.1 += object.size;
    }
    let names = recorded.keys().copied().chain(counted.classes.keys().map(String::as_str));
    let names: BTreeSet<&str> = names.filter(|class| own(class)).collect();
    assert!(names.len() >= 5, "only {} classes of the program are alive", names.len());
    let mut differences = Vec::new();
    for class in names {
        let counted = counted.classes.get(class).copied().unwrap_or_default();
        let found = recorded.get(class).copied().unwrap_or_default();
        if found != counted {
            differences.push(format!("{class}: jmap counts {counted:?} (instances, bytes), the trace {found:?}"));
        }
    }
    differences
}

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

/// What the bytes that are reported are to the bytes that are accounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    /// They are the same.
    Equal,
    /// They may be more: what the JIT removed is counted too.
    AtLeast,
}

/// A difference that is none: a thread of the VM's own that is there at VMInit uses up the buffer it has by then; and a thread that goes
/// on may count so much between its account and its counters, which are read one after the other.
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
        let is_seen = missing <= SLACK || share(missing) <= unseen;
        is_seen && (self == Self::AtLeast || excess <= SLACK || share(excess) <= 0.001)
    }
}

#[track_caller]
fn check(program: Program, jdk: &Jdk, (_, heap, flags, claim): Way) {
    // Every object in the trace makes it large enough as it is.
    let program = if heap == Heap::Counts && program.has_work() { program.working() } else { program };
    let unseen = unseen(program, heap, jdk);
    let profiled = held(program, jdk).heap(heap).flags(flags).no_schema();
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

/// What `martini run` asks for by itself.
const CALLERS: &str = "16k";

#[track_caller]
fn nearly_all_has_a_line_outside_the_jdk(program: Program, jdk: &Jdk) {
    let profiled = program.working().behind(&["hold.Main"], jdk).heap(Heap::Counts).option("callers", CALLERS);
    // Some write files.
    let folder = profiled.dir().join("run");
    fs::create_dir(&folder).expect("the folder is ours");
    let mut running = profiled.in_folder(&folder).any_status().start();
    running.wait_for("held");
    running.send("");
    let ran = running.finish_and_read::<()>();
    let mut stats = Command::new(&martini::built().command);
    let out = process::run(stats.args(["stats", "--by", "line", "--json"]).arg(&ran.file)).success().stdout;
    let json: Value = serde_json::from_slice(&out).expect("JSON");
    let trace = &json["traces"][0];
    let bytes = |value: &Value| value.as_f64().expect("a number");
    let (named, all) = (bytes(&trace["outside_jdk_bytes"]), bytes(&trace["sum"]["total_bytes"]));
    // What the JIT removed has no caller that anybody knows.
    let lines = trace["tables"]["line"].as_array().expect("a table");
    let removed = lines.iter().filter(|line| line["removed_by_jit"] == true).map(|line| bytes(&line["total_bytes"]));
    let removed: f64 = removed.sum();
    assert!(named >= 0.9 * (all - removed), "{named} of {all}, {removed} removed");
}
