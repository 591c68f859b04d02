//! Readers that nobody here wrote take our dumps without complaint, and count in them what they count in the JVM's own dump of
//! the same moment.
//!
//! The program stands still while one dump of ours is made between two of the JVM's. What is the same in these two must be the
//! same in ours. What is not (the JVM's own threads continue, and somebody asks for the dumps) is left out, and printed.

mod netbeans;
mod own;
mod slurp;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use bci_tests::jdk::{Collector, Jdk};
use bci_tests::profiled::{Profiled, Ran};
use bci_tests::say::say;
use bci_tests::suite::Suite;

use crate::dump::Dump;
use crate::support::{dumped_by_the_jvm, request, start};

pub(crate) fn tests(suite: &mut Suite) {
    let options = [
        ("events", "heap=events,stack=4"),
        ("vm_without_contents", "heap=vm,stack=4,dumpcontents=zero"),
        ("counts", "heap=counts"),
        ("off", "heap=off"),
    ];
    suite.each_jdk_and(&options, they_count_in_our_dumps_what_the_jvm_has);
    suite.any_jdk(they_see_that_a_dump_is_damaged);
    for (name, found) in [("hprof_slurp", hprof_slurp().is_some()), ("netbeans", netbeans().is_some())] {
        if !found {
            suite.skip(format!("readers::{name}"), "MARTINI_HEAP_READERS names no folder with it");
        }
    }
}

/// What a reader counts in a dump: of each class its instances and, as far as it counts them, their bytes and references;
/// roots by kind.
type Counts = BTreeMap<String, Vec<u64>>;

/// A reader of dumps.
trait Reader: Send + Sync {
    fn name(&self) -> &'static str;

    /// What it counts in each dump; else what it complains of.
    fn count(&self, dumps: &[PathBuf]) -> Result<Vec<Counts>, String>;
}

fn folder() -> Option<PathBuf> {
    env::var_os("MARTINI_HEAP_READERS").map(PathBuf::from)
}

fn hprof_slurp() -> Option<&'static slurp::Slurp> {
    static READER: OnceLock<Option<slurp::Slurp>> = OnceLock::new();
    READER.get_or_init(|| slurp::Slurp::find(&folder()?)).as_ref()
}

fn netbeans() -> Option<&'static netbeans::NetBeans> {
    static READER: OnceLock<Option<netbeans::NetBeans>> = OnceLock::new();
    READER.get_or_init(|| netbeans::NetBeans::find(&folder()?)).as_ref()
}

/// The readers of other people that are here.
fn readers() -> Vec<&'static dyn Reader> {
    let slurp = hprof_slurp().map(|reader| reader as &dyn Reader);
    let netbeans = netbeans().map(|reader| reader as &dyn Reader);
    slurp.into_iter().chain(netbeans).collect()
}

/// How many instances of a class a reader of other people counts in a dump; `None` if there is no such reader here.
#[track_caller]
pub(crate) fn instances_by_another_reader(dump: &Path, class: &str) -> Option<u64> {
    let counted = hprof_slurp()?.count(&[dump.to_owned()]).expect("the reader does not complain");
    Some(counted[0].get(&format!("class {class}")).map_or(0, |numbers| numbers[0]))
}

fn add(counts: &mut Counts, what: String, numbers: &[u64]) {
    let sums = counts.entry(what).or_insert_with(|| vec![0; numbers.len()]);
    sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
}

/// Three dumps of the same moment: by the JVM, ours, by the JVM again.
struct Moment {
    ran: Ran,
    dumps: [PathBuf; 3],
}

impl Moment {
    #[track_caller]
    fn of(jdk: &Jdk, options: &str) -> Moment {
        let profiled = Profiled::on(jdk).options(options).option("dump", "request").no_schema();
        let program = start(profiled, Collector::G1, 20_000);
        let file = |name: &str| program.dir.join(name);
        // The first of each kind makes what the JVM needs for it, and lets it drop what it can.
        dumped_by_the_jvm(jdk, program.pid(), &file("first.hprof"));
        request(&program, 1);
        let before = file("before.hprof");
        dumped_by_the_jvm(jdk, program.pid(), &before);
        let ours = request(&program, 2);
        let after = file("after.hprof");
        dumped_by_the_jvm(jdk, program.pid(), &after);
        Moment { ran: program.finish(), dumps: [before, ours, after] }
    }
}

/// While it makes our dump, and only then, the JVM itself holds the bytes of the path: one root more, by the names that readers
/// give it.
const PATH_ROOTS: [&str; 2] = ["root JNI local", "root JniLocal [B of java.lang.Thread, frame None"];

/// What is wrong in our dump, by the two of the JVM; and what these do not agree on.
fn compare(moment: &[Counts]) -> (Vec<String>, Vec<String>) {
    let [before, ours, after] = moment else { panic!("three dumps are counted") };
    let mut ours = ours.clone();
    for root in PATH_ROOTS {
        ours.entry(root.to_owned()).and_modify(|number| number[0] -= 1);
    }
    ours.retain(|_, numbers| numbers[0] > 0 || numbers.len() > 1);
    let (mut wrong, mut unsteady) = (Vec::new(), Vec::new());
    let all: BTreeSet<&String> = [before, &ours, after].into_iter().flat_map(BTreeMap::keys).collect();
    for what in all {
        let numbers = [before, &ours, after].map(|counts| counts.get(what));
        let line = format!("{what}: {numbers:?}");
        if numbers[0] != numbers[2] {
            unsteady.push(line);
        } else if numbers[0] != numbers[1] {
            wrong.push(line);
        }
    }
    (wrong, unsteady)
}

fn they_count_in_our_dumps_what_the_jvm_has(jdk: &Jdk, options: &str) {
    let moment = Moment::of(jdk, options);
    for reader in readers().into_iter().chain([&own::Own as &dyn Reader]) {
        let name = reader.name();
        let counted = reader.count(&moment.dumps).unwrap_or_else(|complaint| panic!("{name} complains: {complaint}"));
        let (wrong, unsteady) = compare(&counted);
        assert!(wrong.is_empty(), "{name}: by the JVM, by us, by the JVM: {wrong:#?}");
        if !unsteady.is_empty() {
            say(&format!("{name} on JDK {jdk}, {options}: the JVM's own two dumps do not agree on {unsteady:?}"));
        }
        // The program stands still, and a dump of ours leaves nothing behind.
        let stands = |what: &String| ["graph.", PATH_ROOTS[0], PATH_ROOTS[1]].iter().any(|name| what.contains(name));
        assert!(unsteady.len() * 50 < counted[0].len() && !unsteady.iter().any(stands), "{name}: {unsteady:#?}");
    }
}

/// Else nothing would have been shown by the readers.
fn they_see_that_a_dump_is_damaged(jdk: &Jdk) {
    let moment = Moment::of(jdk, "heap=vm,stack=4");
    let place = &moment.ran.dir;
    let [before, ours, after] = &moment.dumps;
    let whole = fs::read(ours).expect("our dump is there");
    let dump = Dump::read(ours);

    let half = place.join("half.hprof");
    fs::write(&half, &whole[..whole.len() / 2]).expect("a folder of ours");
    // One object gets the class of another.
    const INSTANCE: u8 = 0x21;
    let mut record = vec![INSTANCE];
    record.extend(dump.only("graph.Main$BySoft").to_be_bytes());
    let at = whole.windows(record.len()).position(|bytes| bytes == record).expect("the object has its record");
    let mut changed = whole.clone();
    let class = at + record.len() + size_of::<u32>();
    changed[class..][..8].copy_from_slice(&dump.class("graph.Main$ByWeak").to_be_bytes());
    let other = place.join("other.hprof");
    fs::write(&other, changed).expect("a folder of ours");

    for reader in readers() {
        let counted = reader.count(&moment.dumps).expect("the dump is whole");
        assert_eq!(compare(&counted).0, [""; 0], "{}", reader.name());
        for damaged in [&half, &other] {
            match reader.count(&[before.clone(), damaged.clone(), after.clone()]) {
                Ok(counted) => {
                    let (wrong, _) = compare(&counted);
                    assert!(!wrong.is_empty(), "{} sees nothing in {}", reader.name(), damaged.display());
                }
                Err(complaint) => assert_eq!(damaged, &half, "{} cannot read it: {complaint}", reader.name()),
            }
        }
    }
}
