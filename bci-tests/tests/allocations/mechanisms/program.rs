//! What the program `mechanisms.Main` says it did, and the lines of its source at which bytecode allocates.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// One way to allocate, as performed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mechanism {
    /// Name, also of the thread that performed it: class and method of the program.
    pub(super) name: String,
    /// Rounds between the markers.
    pub(super) rounds: u64,
    /// Rounds before them.
    pub(super) rounds_before: u64,
    /// Bytes that the JVM accounted to the thread between the markers, without the markers themselves.
    pub(super) accounted: u64,
    /// Instances by class that a round makes.
    pub(super) makes: BTreeMap<String, u64>,
}

/// Shallow size of the two markers, each an object without fields, in every JVM of the tests.
const MARKERS: u64 = 32;

/// Reads the program's output.
///
/// # Panics
/// On anything that is not its output.
pub(super) fn printed(stdout: &str) -> Vec<Mechanism> {
    let mut mechanisms: Vec<Mechanism> = Vec::new();
    for line in stdout.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let number = |text: &str| text.parse::<u64>().unwrap_or_else(|_| panic!("mechanisms.Main printed {line:?}"));
        match fields[..] {
            ["mechanism", name, rounds, before, accounted] => mechanisms.push(Mechanism {
                name: name.to_owned(),
                rounds: number(rounds),
                rounds_before: number(before),
                accounted: number(accounted) - MARKERS,
                makes: BTreeMap::new(),
            }),
            ["makes", count, class] => {
                let mechanism = mechanisms.last_mut().expect("a mechanism comes first");
                mechanism.makes.insert(class.to_owned(), number(count));
            }
            ["done"] => {}
            _ => panic!("mechanisms.Main printed {line:?}"),
        }
    }
    mechanisms
}

/// A line of the program's source at which bytecode allocates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Site {
    /// The mechanism whose method the line is in.
    pub(super) mechanism: String,
    /// Its method as a trace names it.
    pub(super) method: String,
    /// Number of the line.
    pub(super) line: i64,
    /// What a round makes there, by class.
    pub(super) makes: BTreeMap<String, u64>,
}

/// All lines that end in `// site` and what they make, in methods that take the number of rounds.
pub(super) fn sites() -> Vec<Site> {
    let mut sites = Vec::new();
    for release in ["8", "11"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("java").join(release).join("mechanisms");
        for entry in fs::read_dir(&folder).expect("a source folder of this crate is readable").flatten() {
            let path = entry.path();
            let class = path.file_stem().and_then(|stem| stem.to_str()).expect("named after its class").to_owned();
            let text = fs::read_to_string(&path).expect("a source file of this crate is readable");
            sites.extend(sites_in(&class, &text));
        }
    }
    sites
}

fn sites_in(class: &str, text: &str) -> Vec<Site> {
    let mut method = String::new();
    let mut sites = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if let Some((head, _)) = line.split_once("(int n)") {
            method = head.rsplit(' ').next().unwrap_or_default().to_owned();
        }
        let Some((_, made)) = line.split_once("// site ") else { continue };
        let makes = made.split(", ").map(|made| match made.split_once(' ') {
            Some((count, class)) => (class.to_owned(), count.parse().expect("a number of instances")),
            None => (made.to_owned(), 1),
        });
        let mechanism = format!("{class}.{method}");
        sites.push(Site {
            method: format!("mechanisms.{mechanism}"),
            mechanism,
            line: index as i64 + 1,
            makes: makes.collect(),
        });
    }
    sites
}
