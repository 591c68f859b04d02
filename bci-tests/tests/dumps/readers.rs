//! Readers that nobody here wrote take our dumps without complaint, and count in them what they count in the JVM's own dump of
//! the same moment.
//!
//! The program stands still while one dump of ours is made between two of the JVM's. What is the same in these two must be the
//! same in ours. What is not (the JVM's own threads go on, and somebody asks for the dumps) is left out, and said.

mod netbeans;
mod own;
mod slurp;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use bci_tests::jdk::{self, Collector, Jdk};
use bci_tests::process;
use bci_tests::say::say;
use bci_tests::workdir::Workdir;

use super::support::Dump;
use super::{request, start};

/// What a reader counts in a dump: of each class its instances and, as far as it tells them, their bytes and references;
/// roots by kind.
type Counts = BTreeMap<String, Vec<u64>>;

/// A reader of dumps.
trait Reader: Send + Sync {
    fn name(&self) -> &'static str;

    /// What it counts in each dump; else what it complains of.
    fn count(&self, dumps: &[PathBuf]) -> Result<Vec<Counts>, String>;
}

/// The readers of other people that are here; of others it is said what is missing.
fn readers() -> &'static [Box<dyn Reader>] {
    static READERS: OnceLock<Vec<Box<dyn Reader>>> = OnceLock::new();
    READERS.get_or_init(|| {
        let mut readers: Vec<Box<dyn Reader>> = Vec::new();
        let folder = env::var_os("MARTINI_HEAP_READERS").map(PathBuf::from);
        let missing =
            |what: &str| say(&format!("dumps are not read by {what}, which MARTINI_HEAP_READERS does not name"));
        match folder.as_deref().and_then(slurp::Slurp::find) {
            Some(reader) => readers.push(Box::new(reader)),
            None => missing("hprof-slurp"),
        }
        match folder.as_deref().and_then(netbeans::NetBeans::find) {
            Some(reader) => readers.push(Box::new(reader)),
            None => missing("NetBeans' library"),
        }
        readers
    })
}

fn add(counts: &mut Counts, what: String, numbers: &[u64]) {
    let sums = counts.entry(what).or_insert_with(|| vec![0; numbers.len()]);
    sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
}

/// Three dumps of the same moment: by the JVM, ours, by the JVM again.
struct Moment {
    what: String,
    dumps: [PathBuf; 3],
}

impl Moment {
    fn of(jdk: &Jdk, options: &str, place: &Path) -> Moment {
        let what = format!("JDK {jdk}, {options}");
        say(&format!("dumps for other readers: {what}"));
        fs::create_dir(place).expect("a folder of ours");
        let file = |name: &str| place.join(name);
        let (trace, dumps) = (file("app.trcxml"), ["before.hprof", "app-2.hprof", "after.hprof"].map(file));
        let program = start(jdk, Collector::G1, &format!("{options},file={},dump=request", trace.display()));
        // The first of each kind makes what the JVM needs for it, and lets it drop what it can.
        dumped_by_the_jvm(jdk, program.pid(), &file("first.hprof"));
        request(&trace, &file("app-1.hprof"));
        dumped_by_the_jvm(jdk, program.pid(), &dumps[0]);
        request(&trace, &dumps[1]);
        dumped_by_the_jvm(jdk, program.pid(), &dumps[2]);
        program.finish().success();
        Moment { what, dumps }
    }
}

fn dumped_by_the_jvm(jdk: &Jdk, pid: u32, file: &Path) {
    process::run(jdk.tool("jcmd").arg(pid.to_string()).arg("GC.heap_dump").arg(file)).success();
    assert!(file.is_file(), "the JVM has dumped its heap");
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
        let told = format!("{what}: {numbers:?}");
        if numbers[0] != numbers[2] {
            unsteady.push(told);
        } else if numbers[0] != numbers[1] {
            wrong.push(told);
        }
    }
    (wrong, unsteady)
}

#[test]
fn readers_of_other_people_count_in_our_dumps_what_the_jvm_has() {
    let place = Workdir::new();
    let mut moments = Vec::new();
    for jdk in jdk::each_feature() {
        for options in ["heap=events,stack=4", "heap=vm,stack=4,dumpcontents=zero", "heap=counts", "heap=off"] {
            moments.push(Moment::of(jdk, options, &place.join(&moments.len().to_string())));
        }
    }
    let dumps: Vec<PathBuf> = moments.iter().flat_map(|moment| moment.dumps.clone()).collect();
    let ours: Box<dyn Reader> = Box::new(own::Own);
    for reader in readers().iter().chain([&ours]) {
        let counted =
            reader.count(&dumps).unwrap_or_else(|complaint| panic!("{} complains: {complaint}", reader.name()));
        for (moment, counted) in moments.iter().zip(counted.chunks_exact(3)) {
            let of = format!("by {} on {}", reader.name(), moment.what);
            let (wrong, unsteady) = compare(counted);
            assert!(wrong.is_empty(), "{of}, by the JVM, by us, by the JVM: {wrong:#?}");
            if !unsteady.is_empty() {
                say(&format!("{of} the JVM's own two dumps do not agree on {unsteady:?}"));
            }
            // The program stands still, and a dump of ours leaves nothing behind.
            let stands =
                |what: &String| ["graph.", PATH_ROOTS[0], PATH_ROOTS[1]].iter().any(|name| what.contains(name));
            assert!(unsteady.len() * 50 < counted[0].len() && !unsteady.iter().any(stands), "{of}: {unsteady:#?}");
        }
    }
}

/// Else nothing would have been shown by the readers.
#[test]
fn readers_of_other_people_see_that_a_dump_is_damaged() {
    let place = Workdir::new();
    let moment = Moment::of(jdk::any(), "heap=vm,stack=4", &place.join("moment"));
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
