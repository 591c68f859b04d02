//! One run of the program under the agent, and what its trace says of each mechanism.

use bci_tests::counted::{Counted, Markers};
use bci_tests::histogram::family;
use bci_tests::jdk::Jdk;
use bci_tests::process;
use bci_tests::profiled::{Heap, Profiled};
use bci_tests::read::{self, Judged};
use std::process::Command;
use std::thread;

use super::program::{self, Mechanism, Site};

const MARKERS: Markers = Markers { begin: "mechanisms.Main$Begin", end: "mechanisms.Main$End" };

/// How the JVM runs the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing is compiled.
    Interpreted,
    /// The fast compiler compiles everything.
    C1,
    /// The optimising compiler compiles everything.
    C2,
    /// The same, but it leaves every object in the heap; and exceptions that it throws again and again are preallocated.
    C2WithoutEscapeAnalysis,
}

impl Phase {
    /// Rounds of each mechanism.
    fn rounds(self, heap: Heap) -> u64 {
        if self == Self::Interpreted && !process::is_long() { rounds(heap) / 10 } else { rounds(heap) }
    }

    /// The flags of the JVM. Compilations are waited for, and begin as early as the number of rounds asks for.
    fn flags(self, heap: Heap) -> Vec<String> {
        let scaling = format!("-XX:CompileThresholdScaling={}", rounds(heap) as f64 / 200_000.0);
        let flags = match self {
            Self::Interpreted => &["-Xint"][..],
            Self::C1 => &["-Xbatch", &scaling, "-XX:TieredStopAtLevel=1"],
            Self::C2 => &["-Xbatch", &scaling, "-XX:-TieredCompilation", "-XX:-OmitStackTraceInFastThrow"],
            Self::C2WithoutEscapeAnalysis => &["-Xbatch", &scaling, "-XX:-TieredCompilation", "-XX:-DoEscapeAnalysis"],
        };
        flags.iter().map(|&flag| flag.to_owned()).collect()
    }

    /// Whether the JVM may leave out allocations that the program performs.
    pub(super) fn removes_objects(self) -> bool {
        self == Self::C2
    }
}

/// Rounds of each mechanism where code is compiled. Recorded objects take room on the disk, counted ones do not.
fn rounds(heap: Heap) -> u64 {
    if heap == Heap::Counts || process::is_long() { 200_000 } else { 10_000 }
}

/// A number that the program knows, beside what the trace says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Measured {
    pub(super) mechanism: String,
    pub(super) what: What,
    pub(super) truth: u64,
    pub(super) seen: u64,
}

/// What was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Instances of a class.
    Class(String),
    /// Instances of a class at a line of the program.
    Site(String, i64),
    /// All bytes of the mechanism's thread.
    Bytes,
}

/// Runs the program with so many rounds.
fn run(jdk: &Jdk, heap: Heap, phase: Phase, rounds: u64) -> (Vec<Mechanism>, Counted) {
    let lifetimes = if heap == Heap::Counts { "" } else { "lifetimes=false" };
    let profiled = Profiled::on(jdk).heap(heap).options(lifetimes).flags(&["-Xmx1g"]).flags(&phase.flags(heap));
    // Read while it is written: 200,000 rounds make 8 GB.
    let pipe = profiled.dir().join("mechanisms.trcxml");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo is a command");
    assert!(made.success(), "{} cannot be made", pipe.display());
    let profiled = profiled.file(&pipe).trace_unread().main("mechanisms.Main").args(&[rounds.to_string()]);
    let reader = thread::spawn(move || read::trace(&pipe, Counted::between(MARKERS), Judged::NotJudged));
    let ran = profiled.run();
    let mechanisms = program::printed(&ran.out());
    assert!(mechanisms.len() > 100, "only {} mechanisms", mechanisms.len());
    let counted = reader.join().expect("the trace can be read");
    assert!(counted.complete, "the trace has no end");
    (mechanisms, counted)
}

/// All that can be compared in one run.
pub(super) fn measure(jdk: &Jdk, heap: Heap, phase: Phase) -> Vec<Measured> {
    let (mechanisms, counted) = run(jdk, heap, phase, phase.rounds(heap));
    match heap {
        Heap::Counts => {
            // Counts have no windows, so what the program does before its windows is taken from another run.
            let (none, before) = run(jdk, heap, phase, 0);
            assert_eq!(none.len(), mechanisms.len());
            let mut measured = at_sites(&mechanisms, &counted);
            measured.extend(of_classes(&mechanisms, &counted, &before));
            measured.extend(of_threads(&mechanisms, &counted));
            measured
        }
        Heap::Events | Heap::Vm | Heap::Off => {
            mechanisms.iter().flat_map(|mechanism| in_window(mechanism, &counted)).collect()
        }
    }
}

fn at_sites(mechanisms: &[Mechanism], counted: &Counted) -> Vec<Measured> {
    let sites = program::sites();
    let performed = |site: &Site| mechanisms.iter().find(|m| m.name == site.mechanism);
    let mut measured = Vec::new();
    for site in &sites {
        let mechanism = performed(site).unwrap_or_else(|| panic!("{} was not performed", site.mechanism));
        for (class, per_round) in &site.makes {
            let found = counted.sites.iter().filter(|(found, _)| {
                found.class == *class && found.method == site.method && found.line == site.line && !found.from_vm
            });
            measured.push(Measured {
                mechanism: mechanism.name.clone(),
                what: What::Site(class.clone(), site.line),
                truth: (mechanism.rounds + mechanism.rounds_before) * per_round,
                seen: found.map(|(_, sum)| sum.instances).sum(),
            });
        }
    }
    assert!(measured.len() > 60, "only {} sites", measured.len());
    measured
}

/// The classes of the program itself, which nobody else makes.
fn of_classes(mechanisms: &[Mechanism], counted: &Counted, before: &Counted) -> Vec<Measured> {
    let total = |counted: &Counted, class: &str| -> u64 {
        let same = counted.sites.iter().filter(|(site, _)| family(&site.class) == class);
        same.map(|(_, sum)| sum.instances).sum()
    };
    let mut measured: Vec<Measured> = Vec::new();
    for mechanism in mechanisms {
        for (class, per_round) in mechanism.makes.iter().filter(|(class, _)| class.starts_with("mechanisms.")) {
            let truth = mechanism.rounds * per_round;
            // A class that several mechanisms make is compared once, for all of them.
            match measured.iter_mut().find(|m| m.what == What::Class(class.clone())) {
                Some(known) => known.truth += truth,
                None => measured.push(Measured {
                    mechanism: mechanism.name.clone(),
                    what: What::Class(class.clone()),
                    truth,
                    seen: total(counted, class).saturating_sub(total(before, class)),
                }),
            }
        }
    }
    measured
}

fn of_threads(mechanisms: &[Mechanism], counted: &Counted) -> Vec<Measured> {
    let of_thread = |mechanism: &Mechanism| {
        let account = counted.threads.get(&mechanism.name);
        let account = account.unwrap_or_else(|| panic!("no account of thread {}", mechanism.name));
        Measured {
            mechanism: mechanism.name.clone(),
            what: What::Bytes,
            truth: account.vm_bytes.expect("the JVM accounts"),
            seen: account.bytes,
        }
    };
    mechanisms.iter().map(of_thread).collect()
}

/// Bytes of all objects, and instances of the program's own classes: of others the VM may make some beside.
fn in_window(mechanism: &Mechanism, counted: &Counted) -> Vec<Measured> {
    let window = counted.windows.get(&mechanism.name);
    let window = window.unwrap_or_else(|| panic!("the trace has no window of thread {}", mechanism.name));
    let of_class = |(class, per_round): (&String, &u64)| Measured {
        mechanism: mechanism.name.clone(),
        what: What::Class(class.clone()),
        truth: mechanism.rounds * per_round,
        seen: window.iter().filter(|(name, _)| family(name) == class).map(|(_, sum)| sum.instances).sum(),
    };
    let bytes = Measured {
        mechanism: mechanism.name.clone(),
        what: What::Bytes,
        truth: mechanism.accounted,
        seen: window.values().map(|sum| sum.bytes).sum(),
    };
    let own = mechanism.makes.iter().filter(|(class, _)| class.starts_with("mechanisms."));
    own.map(of_class).chain([bytes]).collect()
}
