//! What Martini shows of callers, against what they make: of a tree of 40 methods that call three sites in the JDK
//! (`bci-tests/java/11/callers/Main.java`), and of callers whose objects the JIT removes (`Removed.java` beside it).

use std::collections::BTreeMap;

use analysis::allocations::{AllocationReport, AllocationStats, By, Location, Naming, Subject};
use analysis::call_tree::TreeOptions;
use trace::model::Element;

use crate::jdk::Jdk;
use crate::profiled::{Heap, Profiled};
use crate::read::TraceData;

/// What one method makes at one site.
#[derive(Clone, Debug)]
pub struct Share {
    /// The method, and the class of what it makes.
    pub name: String,
    /// Of the bytes of the site: what it makes.
    pub made: f64,
    /// What is shown.
    pub found: f64,
    /// How far that may be off, as stated: two standard errors and more.
    pub error: f64,
}

impl Share {
    /// How many of the stated errors it is off.
    pub fn off(&self) -> f64 {
        (self.found - self.made).abs() / self.error
    }
}

/// The statistics that the command's tables are made of.
#[derive(Default)]
struct Shown(AllocationStats);

impl TraceData for Shown {
    fn element(&mut self, element: &Element<'_>) {
        self.0.element(element);
    }
}

impl Shown {
    fn report(mut self) -> AllocationReport {
        self.0.end_document();
        self.0.finish()
    }
}

/// The sites of which the JIT removes much: the program's name of the callers, and the class of the objects.
const REMOVED: [(&str, &str); 3] =
    [("Ints", "java.util.OptionalInt"), ("Longs", "java.util.OptionalLong"), ("Doubles", "java.util.OptionalDouble")];

/// Runs the program of whose objects the JIT removes some, so many of each class, and returns what is shown of each caller that has a sample,
/// and of what was removed. The truth is what the JVM accounts to the thread while a caller runs.
///
/// # Panics
/// If what is shown of a class is not in all what the program executes.
pub fn removed(jdk: &Jdk, objects: u64) -> Vec<Share> {
    let profiled = Profiled::on(jdk).heap(Heap::Counts).option("callers", "64k").main("callers.Removed");
    let mut ran = profiled.args(&[objects.to_string()]).run_and_read::<Shown>();
    let (out, report) = (ran.out(), std::mem::take(&mut ran.trace).report());
    let names = report.site_names(&Naming::Own(vec!["callers.*".parse().expect("a pattern")]));
    let mut shares = Vec::new();
    for (program, class) in REMOVED {
        let callers = out.lines().filter_map(|line| line.strip_prefix(program)?.trim().split_once(' '));
        let callers: BTreeMap<String, [u64; 2]> = callers
            .map(|(caller, numbers)| {
                let numbers: Vec<u64> = numbers.split(' ').map(|number| number.parse().expect("a number")).collect();
                (format!("callers.Removed${program}.{caller}"), [numbers[0], numbers[1]])
            })
            .collect();
        let [executed, allocated] = [0, 1].map(|at| callers.values().map(|numbers| numbers[at]).sum::<u64>());
        let rows = report.rows_named(By::Method, &names, |name| name == class);
        let shown: u64 = rows.iter().map(|row| row.totals.total_bytes()).sum();
        assert!(shown.abs_diff(executed) < 100, "{class}: {executed} bytes executed, {shown} shown");
        // The class makes one for itself, which no sample divides.
        for row in rows.iter().filter(|row| row.error.is_some()) {
            let name = row.subject.to_string();
            let made = match row.subject {
                Subject::Removed(_) => executed - allocated,
                _ => callers.get(&name).map_or_else(|| panic!("{name} of {class}"), |numbers| numbers[1]),
            };
            let share = |bytes: u64| bytes as f64 / executed as f64;
            let error = share(row.error.unwrap_or_default());
            let found = share(row.totals.total_bytes());
            shares.push(Share { name: format!("{name} {class}"), made: share(made), found, error });
        }
    }
    shares
}

/// The classes of the arrays, the bytes of an element, and the method in the JDK that makes them.
const SITES: [(&str, u64, &str); 3] = [
    ("double[]", 8, "java.util.Arrays.copyOf"),
    ("long[]", 8, "java.util.BitSet.initWords"),
    ("char[]", 2, "java.io.CharArrayWriter.-init-"),
];
/// Bytes in front of the elements.
const HEADER: u64 = 16;
/// The first letters of the methods of each level of the tree, and how many letters their names have.
const LEVELS: [(&str, usize); 3] = [("a", 2), ("b", 3), ("c", 4)];

/// Runs the program, which makes so many times 380 KB, and returns the share of each method at each site that it calls, itself or by others.
///
/// # Panics
/// If the numbers of a site are not exactly those of the program.
pub fn run(jdk: &Jdk, times: u64) -> Vec<Share> {
    let profiled = Profiled::on(jdk).heap(Heap::Counts).option("callers", "512k").main("callers.Tree");
    let mut ran = profiled.args(&[times.to_string()]).run_and_read::<Shown>();
    let (made, report) = (ran.out(), std::mem::take(&mut ran.trace).report());
    SITES
        .iter()
        .flat_map(|&(class, element, method)| shares(class, method, &Made::of(&made, class, element), &report))
        .collect()
}

/// What the program says it made at one site.
#[derive(Default)]
struct Made {
    instances: u64,
    bytes: u64,
    /// By the digits of the method's name.
    by_method: BTreeMap<String, u64>,
}

impl Made {
    fn of(out: &str, class: &str, element: u64) -> Self {
        let mut made = Self::default();
        for line in out.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [method, of, times, length] = words[..] else { panic!("{line}") };
            if of == class {
                let number = |word: &str| word.parse::<u64>().expect("a number");
                let bytes = number(times) * (HEADER + number(length) * element).next_multiple_of(8);
                made.instances += number(times);
                made.bytes += bytes;
                made.by_method.insert(method[1..].to_owned(), bytes);
            }
        }
        made
    }
}

fn shares(class: &str, method: &str, made: &Made, report: &AllocationReport) -> Vec<Share> {
    let (mut instances, mut bytes) = (0, 0);
    for row in report.rows(By::Site, |name| name == class) {
        let Subject::Site { at: Some(at), .. } = row.subject else { continue };
        if format!("{}.{}", at.class, at.method) == method {
            (instances, bytes) = (instances + row.totals.total(), bytes + row.totals.total_bytes());
        }
    }
    assert_eq!((instances, bytes), (made.instances, made.bytes), "{class} at {method}");
    let options = TreeOptions { cut: 0.0, ..TreeOptions::default() };
    let methods = LEVELS.iter().flat_map(|&(letter, length)| {
        let digits = made.by_method.keys().map(move |digits| &digits[..length - 1]);
        let names: std::collections::BTreeSet<&str> = digits.collect();
        names.into_iter().map(move |digits| (letter, digits))
    });
    methods
        .map(|(letter, digits)| {
            let name = format!("{letter}{digits}");
            let is_it = |at: &Location<'_>| at.class == "callers.Tree" && at.method == name;
            let shown = report.tree(&options, |name| name == class, Some(&is_it));
            let by_it =
                made.by_method.iter().filter(|(of, _)| of.starts_with(digits)).map(|(_, bytes)| bytes).sum::<u64>();
            let share = |bytes: u64| bytes as f64 / made.bytes as f64;
            let [made, found, error] = [by_it, shown.weight, shown.error].map(share);
            Share { name: format!("{name} {class}"), made, found, error }
        })
        .collect()
}
