//! What `memory` runs, one entry each.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bci_tests::jdk::Jdk;

use super::sites::{self, CLASSES};
use crate::built::{self, Built};
use crate::launch::Launch;
use crate::variant::{Agent, Variant};

/// A program whose memory is looked at.
pub(crate) struct Case {
    /// How `--program` names it.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// Live objects that it keeps, if that is what it is for.
    pub(crate) objects: Option<u32>,
    main_class: &'static str,
    args: &'static [&'static str],
    /// The oldest feature release that it runs on.
    oldest: u32,
}

/// All of them. The two with objects come first: what one object takes is the difference between them.
pub(crate) const CASES: &[Case] = &[
    objects("objects-1m", "1 million live objects", 1_000_000, &["1000000"]),
    objects("objects-5m", "5 million live objects", 5_000_000, &["5000000"]),
    crowd("threads", "10,000 threads, 400 sites", &["alive", "10000", "1"]),
    crowd("passing", "10,000 threads, 100 at a time, 200,000 sites", &["passing", "10000", "500"]),
    crowd("sites", "1 thread, 200,000 sites", &["alive", "1", "500"]),
    crowd("threads-sites", "10,000 threads, 200,000 sites, 400 by each thread", &["alive", "10000", "500"]),
    crowd("busy", "1,000 threads that work for 20 s, 200,000 sites, one lock", &["busy", "1000", "500"]),
    Case { oldest: 21, ..crowd("virtual", "100,000 virtual threads, 400 sites", &["virtual", "100000", "1"]) },
    Case {
        oldest: 21,
        ..crowd("virtual-sites", "100,000 virtual threads, 200,000 sites, 400 by each", &["virtual", "100000", "500"])
    },
];

const fn objects(id: &'static str, title: &'static str, count: u32, args: &'static [&'static str]) -> Case {
    Case { id, title, objects: Some(count), main_class: "Living", args, oldest: 11 }
}

const fn crowd(id: &'static str, title: &'static str, args: &'static [&'static str]) -> Case {
    Case { id, title, objects: None, main_class: "Crowd", args, oldest: 11 }
}

/// A variant with the word that `--variant` takes for it.
pub(crate) struct Entry {
    pub(crate) id: &'static str,
    pub(crate) variant: Variant,
}

const fn entry(id: &'static str, name: &'static str, agent: Agent) -> Entry {
    Entry { id, variant: Variant::new(name, agent) }
}

/// The base of all differences; always run.
pub(crate) const BASE: Entry = entry("none", "no agent", Agent::None);

/// What is left on all day.
const SAMPLES: &str = "sampled=512k,cpu=10ms,wall=20ms,ttsp=on";
/// All that goes together.
const ALL: &str = "heap=counts,callers=16k,juc=on,sampled=512k,cpu=10ms,wall=20ms,ttsp=on";

/// All others.
pub(crate) const ENTRIES: &[Entry] = &[
    entry("floor", "floor: SetTag, ObjectFree", Agent::Floor("free")),
    entry("counts", "martini heap=counts", Agent::MartiniToDisk("heap=counts")),
    entry("vm", "martini heap=vm", Agent::MartiniToDisk("heap=vm")),
    entry("events", "martini heap=events", Agent::MartiniToDisk("heap=events")),
    entry("samples", "martini sampled, cpu, wall, ttsp", Agent::MartiniToDisk(SAMPLES)),
    entry("all", "martini counts, callers, locks, and these", Agent::MartiniToDisk(ALL)),
    entry("events-stack", "martini heap=events, stacks of 8", Agent::MartiniToDisk("heap=events,stack=8")),
];

/// The heap is touched before `main`, so that it is the same in all variants, and has no helper threads with memory of their own.
const HEAP: [&str; 5] = ["-Xms1g", "-Xmx1g", "-XX:+AlwaysPreTouch", "-XX:+UseSerialGC", "-Xss256k"];

impl Case {
    /// Why it cannot run on this JDK, if it cannot.
    pub(crate) fn unfit(&self, jdk: &Jdk) -> Option<String> {
        (jdk.feature < self.oldest).then(|| format!("JDK {jdk} has no virtual threads"))
    }

    /// The command line.
    pub(crate) fn command(&self, jdk: &Jdk, launch: &Launch, classes: &Path) -> Command {
        let mut command = jdk.tool("java");
        command.args(HEAP).args(&launch.options).arg("-cp").arg(classes).arg(self.main_class).args(self.args);
        command
    }

    /// What it prints as `alive` when it has done its work.
    pub(crate) fn alive(&self) -> Option<u64> {
        self.args.iter().find_map(|arg| arg.parse().ok())
    }
}

/// Compiles the programs together with the classes full of sites; returns their class path.
pub(crate) fn build(built: &Built) -> Result<PathBuf, String> {
    let sources = built.target.join("bench-sites");
    let classes = built.target.join("bench-java-crowd");
    let failed = |e: std::io::Error| format!("{}: {e}", sources.display());
    fs::create_dir_all(&sources).map_err(failed)?;
    let mut changed = !classes.join(format!("Sites{}.class", CLASSES - 1)).is_file();
    for (name, text) in sites::sources() {
        let file = sources.join(name);
        if fs::read_to_string(&file).is_ok_and(|old| old == text) {
            continue;
        }
        fs::write(&file, text).map_err(failed)?;
        changed = true;
    }
    if changed {
        built::compile(&[&sources], &[], &classes)?;
    }
    built::compile(&[&built::source_folder("crowd")], &[&classes], &classes)?;
    Ok(classes)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn cases_and_variants_can_be_told_apart() {
        let cases: HashSet<&str> = CASES.iter().map(|case| case.id).collect();
        let variants: HashSet<&str> = ENTRIES.iter().map(|entry| entry.id).collect();
        assert_eq!((cases.len(), variants.len()), (CASES.len(), ENTRIES.len()));
    }

    #[test]
    fn the_numbers_of_a_case_are_those_of_its_command_line() {
        for case in CASES {
            if let Some(objects) = case.objects {
                assert_eq!(case.alive(), Some(objects.into()), "{}", case.id);
            }
            if case.title.contains("200,000 sites") {
                assert_eq!(case.args[2], CLASSES.to_string(), "{}", case.id);
            }
        }
    }
}
