//! One run of the program under the agent, and what its trace says of each mechanism.

use bci_tests::counted::{Counted, Markers};
use bci_tests::histogram::family;
use bci_tests::jdk::Jdk;
use bci_tests::workdir::Workdir;
use bci_tests::{java, martini, process};
use std::process::Command;
use std::thread;

use crate::program::{self, Mechanism, Site};

const MARKERS: Markers = Markers { begin: "mechanisms.Main$Begin", end: "mechanisms.Main$End" };

/// How the JVM runs the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
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
    pub(crate) fn rounds(self, mode: Mode) -> u64 {
        match (mode, self) {
            (_, Self::Interpreted) if !process::is_full() => mode.rounds() / 10,
            _ => mode.rounds(),
        }
    }

    /// The flags of the JVM. Compilations are waited for, and begin as early as the number of rounds asks for.
    fn flags(self, mode: Mode) -> Vec<String> {
        let scaling = format!("-XX:CompileThresholdScaling={}", mode.rounds() as f64 / 200_000.0);
        let flags = match self {
            Self::Interpreted => &["-Xint"][..],
            Self::C1 => &["-Xbatch", &scaling, "-XX:TieredStopAtLevel=1"],
            Self::C2 => &["-Xbatch", &scaling, "-XX:-TieredCompilation", "-XX:-OmitStackTraceInFastThrow"],
            Self::C2WithoutEscapeAnalysis => &["-Xbatch", &scaling, "-XX:-TieredCompilation", "-XX:-DoEscapeAnalysis"],
        };
        flags.iter().map(|&flag| flag.to_owned()).collect()
    }

    /// Whether the JVM may leave out allocations that the program performs.
    pub(crate) fn removes_objects(self) -> bool {
        self == Self::C2
    }
}

/// What the agent reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Sums per site.
    Counts,
    /// Every object, seen by rewritten code.
    Events,
    /// Every object, told by the JVM.
    Vm,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Self::Counts => "counts",
            Self::Events => "events",
            Self::Vm => "vm",
        }
    }

    /// Rounds of each mechanism where code is compiled. Recorded objects take room on the disk, counted ones do not.
    fn rounds(self) -> u64 {
        if self == Self::Counts || process::is_full() { 200_000 } else { 10_000 }
    }
}

/// A number that the program knows, beside what the trace says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Measured {
    pub(crate) mechanism: String,
    pub(crate) what: What,
    pub(crate) truth: u64,
    pub(crate) seen: u64,
}

/// What was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Instances of a class.
    Class(String),
    /// Instances of a class at a line of the program.
    Site(String, i64),
    /// All bytes of the mechanism's thread.
    Bytes,
}

/// Runs the program with so many rounds.
fn run(jdk: &Jdk, mode: Mode, phase: Phase, rounds: u64) -> (Vec<Mechanism>, Counted) {
    let dir = Workdir::new();
    // Read while it is written: 200,000 rounds make 8 GB.
    let pipe = dir.join("mechanisms.trcxml");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo is a command");
    assert!(made.success(), "{} cannot be made", pipe.display());
    let lifetimes = if mode == Mode::Counts { "" } else { ",lifetimes=false" };
    let options = format!("heap={},file={}{lifetimes}", mode.name(), pipe.display());
    let agent = martini::built().agent_path(&options);
    let flags = phase.flags(mode);
    let flags: Vec<&str> = ["-Xmx1g"].into_iter().chain(flags.iter().map(String::as_str)).collect();
    let rounds = rounds.to_string();
    let reader = thread::spawn(move || Counted::read(&pipe, MARKERS));
    let ran = process::run(&mut java::with_agent(jdk, &flags, Some(agent), "mechanisms.Main", &[&rounds])).success();
    let mechanisms = program::printed(&ran.out());
    assert!(mechanisms.len() > 100, "only {} mechanisms", mechanisms.len());
    let counted = reader.join().expect("the trace can be read");
    assert!(counted.complete, "the trace has no end");
    (mechanisms, counted)
}

/// All that can be compared in one run.
pub(crate) fn measure(jdk: &Jdk, mode: Mode, phase: Phase) -> Vec<Measured> {
    let (mechanisms, counted) = run(jdk, mode, phase, phase.rounds(mode));
    match mode {
        Mode::Counts => {
            // Counts have no windows, so what the program does before its windows is taken from another run.
            let (none, before) = run(jdk, mode, phase, 0);
            assert_eq!(none.len(), mechanisms.len());
            let mut measured = at_sites(&mechanisms, &counted);
            measured.extend(of_classes(&mechanisms, &counted, &before));
            measured.extend(of_threads(&mechanisms, &counted));
            measured
        }
        Mode::Events | Mode::Vm => mechanisms.iter().flat_map(|mechanism| in_window(mechanism, &counted)).collect(),
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
