//! Archives of classes (CDS archive, AOT cache) under `warmup=on`: what is used of them is what the JVM itself logs, and why one is
//! refused is what was done to it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use analysis::warm_up::{ArchiveRow, Cause, ClassSource, WarmUpStats};
use bci_tests::jdk::{self, Collector, Jdk};
use bci_tests::process::{self, wait_until};
use bci_tests::profiled::{Profiled, is_safe_mode};
use bci_tests::read::TraceData;
use bci_tests::suite::Suite;
use bci_tests::workdir::Workdir;
use bci_tests::{java, martini};
use trace::model::{ArchiveRefusal, Element};

/// With what the program is recorded.
const OPTIONS: [(&str, &str); 2] = [("alone", "warmup=on,heap=vm"), ("all", "warmup=on,heap=counts,locks=on,cpu=10ms")];

pub(crate) fn tests(suite: &mut Suite) {
    if is_safe_mode() {
        return;
    }
    suite.versions(25..).each_and(&OPTIONS, a_cache_is_used);
    // Where fields are in the file is known of these.
    suite.versions(25..26).each(a_cache_is_refused);
    suite.versions(17..22).of(&[17, 21]).each(an_archive_is_refused);
    suite.each_jdk(classes_in_no_archive_are_those_of_the_jvms_log);
}

/// What a trace says of classes.
#[derive(Default)]
struct Read {
    stats: WarmUpStats,
    loaded: Vec<String>,
}

impl TraceData for Read {
    fn element(&mut self, element: &Element<'_>) {
        self.stats.element(element);
        if let Element::ClassLoad(load) = element {
            self.loaded.push(load.class.to_string());
        }
    }

    fn end(&mut self, _: bool) {
        self.stats.end_document();
    }
}

/// A folder with the programs in a jar: a JVM makes no archive of classes in folders.
struct Place {
    folder: Workdir,
    jar: PathBuf,
}

const HEAVY: &str = "archived.Classes";
const LIGHT: &str = "archived.Main";

impl Place {
    fn new() -> Place {
        let folder = Workdir::new();
        let jar = folder.join("archived.jar");
        let classes = std::env::split_paths(java::class_path()).find(|path| path.join("archived").is_dir());
        let mut tool = jdk::compiler().tool("jar");
        let classes = classes.expect("one folder has the program");
        process::run(tool.arg("-cf").arg(&jar).arg("-C").arg(classes).arg("archived")).success();
        Place { folder, jar }
    }

    /// The path of an archive.
    fn file(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    fn make(&self, jdk: &Jdk, flags: &[String], main: &[&str]) {
        let mut java = jdk.tool("java");
        process::run(java.args(flags).arg("-cp").arg(&self.jar).args(main)).success();
    }

    fn program<'j>(&self, jdk: &'j Jdk, archive: &str, main: &str) -> Profiled<'j> {
        Profiled::on(jdk).class_path(&self.jar).flags(&[archive]).main(main)
    }

    /// What a trace says of the archives that the flag of a JVM names.
    #[track_caller]
    fn fates(&self, jdk: &Jdk, archive: &str, change: impl Fn(Profiled<'_>) -> Profiled<'_>) -> Vec<ArchiveRow> {
        let ran = change(self.program(jdk, archive, LIGHT).options("warmup=on,heap=vm")).run_and_read::<Read>();
        let report = ran.trace.stats.finish();
        let is_used = report.archives().iter().any(|row| row.refusal.is_none());
        assert_eq!(is_used, report.archived_classes() > 0, "{:?}", report.archives());
        report.archives().to_vec()
    }
}

/// A line of the JVM's log: a class, and where it came from.
fn logged(log: &str) -> impl Iterator<Item = (&str, &str)> {
    log.lines().filter_map(|line| {
        let (class, source) = line.split_once(" source: ")?;
        Some((class.rsplit(' ').next()?, source.trim_end()))
    })
}

fn is_archived(source: &str) -> bool {
    source.starts_with("shared objects file")
}

fn log_flag(log: &Path) -> String {
    format!("-Xlog:class+load:file={}:none", log.display())
}

fn a_cache_is_used(jdk: &Jdk, options: &str) {
    let place = Place::new();
    let cache = place.file("classes.aot");
    place.make(jdk, &[format!("-XX:AOTCacheOutput={cache}")], &[HEAVY]);
    let flag = format!("-XX:AOTCache={cache}");
    let log = place.folder.join("loaded.log");
    let ran = place.program(jdk, &flag, HEAVY).options(options).flags(&[log_flag(&log)]).run_and_read::<Read>();
    let text = fs::read_to_string(&log).expect("the JVM's log");
    let shared = logged(&text).filter(|(_, source)| is_archived(source)).count() as u64;
    assert!(shared > 1000, "{shared}");
    let said = Command::new(&martini::built().command).arg("warmup").arg(&ran.file).output().expect("it starts");
    let said = String::from_utf8_lossy(&said.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains(&format!("archive: the JVM used \"{cache}\"")), "{said}");
    let report = ran.trace.stats.finish();
    assert_eq!(report.archives(), [ArchiveRow { file: cache, refusal: None, detail: String::new() }]);
    // The last ones are loaded while the JVM ends.
    let recorded = report.archived_classes();
    assert!(recorded <= shared && shared - recorded <= 10, "{recorded} of {shared}");
    // Those that were rewritten are not counted once more.
    let all = logged(&text).filter(|(_, source)| *source != "__VM_RedefineClasses__").count() as u64;
    assert!(report.loaded_classes().abs_diff(all) <= 30, "{} of {all}", report.loaded_classes());
}

fn classes_in_no_archive_are_those_of_the_jvms_log(jdk: &Jdk) {
    /// Threads that load at the same time write both logs in an order of their own.
    const AT_ONCE: usize = 8;
    let place = Place::new();
    let log = place.folder.join("loaded.log");
    let ran =
        place.program(jdk, "-Xshare:auto", HEAVY).options("warmup=on").flags(&[log_flag(&log)]).run_and_read::<Read>();
    let text = fs::read_to_string(&log).expect("the JVM's log");
    let all: Vec<&str> = logged(&text).filter(|(_, source)| !is_archived(source)).map(|(class, _)| class).collect();
    let recorded: BTreeSet<&str> = ran.trace.loaded.iter().map(String::as_str).collect();
    let first = all.iter().position(|class| recorded.contains(class)).unwrap_or_else(|| panic!("none of {all:?}"));
    let last = all.iter().rposition(|class| recorded.contains(class)).expect("the first one, at least");
    assert!(last > first + 500, "{recorded:?}");
    let missing: Vec<_> =
        all[first + AT_ONCE..last - AT_ONCE].iter().filter(|class| !recorded.contains(*class)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let logged: BTreeSet<&str> = all.iter().copied().collect();
    assert!(recorded.is_subset(&logged), "{:?}", recorded.difference(&logged).collect::<Vec<_>>());
    let report = ran.trace.stats.finish();
    let rows = report.loads();
    assert_eq!(rows.iter().map(|row| row.classes).sum::<u64>(), ran.trace.loaded.len() as u64);
    let jar = place.jar.display().to_string();
    let own = rows.iter().find(|row| row.source == ClassSource::File(&jar)).unwrap_or_else(|| panic!("{rows:#?}"));
    assert_eq!((own.classes, &own.packages[..]), (3, &[("archived", 3)][..]));
    assert!(rows.iter().any(|row| row.source == ClassSource::Generated), "{rows:#?}");
    // All together they cost no more than what the JVM counts for all.
    let cost: u64 = rows.iter().filter_map(|row| row.cost).map(|cost| cost.0).sum();
    let causes = report.causes();
    let counted: u64 = [Cause::Load, Cause::Link, Cause::Verify].map(|cause| causes.of(cause).0).iter().sum();
    assert!(cost > 0 && cost <= counted, "{cost} of {counted}");
}

/// The option for an agent that is told of classes as they are loaded.
fn other_agent() -> String {
    format!("-agentpath:{}", native_code::library(&martini::profile_folder()).display())
}

/// Writes the first bytes of a file, or those of another build of the JVM, into another one.
fn spoiled(place: &Place, archive: &str, name: &str, spoil: impl Fn(&mut Vec<u8>)) -> String {
    let mut bytes = fs::read(archive).expect("it was made");
    spoil(&mut bytes);
    let file = place.file(name);
    fs::write(&file, bytes).expect("written");
    file
}

fn cut(bytes: &mut Vec<u8>) {
    bytes.truncate(bytes.len() * 2 / 3);
}

/// The name of the build is another.
fn built_otherwise(bytes: &mut [u8]) {
    let at = bytes.windows(6).position(|part| part == b", buil").expect("its name");
    bytes[at] = b';';
}

#[track_caller]
fn is_refused(rows: &[ArchiveRow], file: &str, refusal: ArchiveRefusal, detail: &str) {
    let row = rows.iter().find(|row| row.file == file).unwrap_or_else(|| panic!("{file}: {rows:?}"));
    assert_eq!(row.refusal, Some(refusal), "{rows:?}");
    assert!(row.detail.contains(detail), "{row:?}");
}

fn a_cache_is_refused(jdk: &Jdk) {
    let place = Place::new();
    let cache = place.file("classes.aot");
    place.make(jdk, &[format!("-XX:AOTCacheOutput={cache}")], &[LIGHT]);
    let of = |cache: &str| format!("-XX:AOTCache={cache}");
    let flag = of(&cache);
    let refused = |flags: &[&str], refusal, detail: &str| {
        is_refused(&place.fates(jdk, &flag, |program| program.flags(flags)), &cache, refusal, detail);
    };
    refused(&["-XX:+UseCompactObjectHeaders"], ArchiveRefusal::Flag, "UseCompactObjectHeaders");
    if jdk.supports(Collector::Z) {
        refused(&["-XX:+UseZGC"], ArchiveRefusal::Flag, "UseCompressedOops");
    }
    refused(&["--add-opens=java.base/java.lang=ALL-UNNAMED"], ArchiveRefusal::Option, "--add-opens");
    refused(&[&other_agent()], ArchiveRefusal::Agent, "");
    refused(&["-XX:AOTMode=off"], ArchiveRefusal::Option, "-XX:AOTMode=off");
    let broken = |cache: &str, refusal, detail: &str| {
        is_refused(&place.fates(jdk, &of(cache), |program| program), cache, refusal, detail);
    };
    broken(&spoiled(&place, &cache, "cut.aot", cut), ArchiveRefusal::Truncated, "");
    broken(
        &spoiled(&place, &cache, "other.aot", |bytes| built_otherwise(bytes)),
        ArchiveRefusal::OtherJvm,
        &jdk.version,
    );
    broken(&place.file("none.aot"), ArchiveRefusal::Missing, "");
    broken(&place.jar.display().to_string(), ArchiveRefusal::NoArchive, "");
    assert_eq!(place.fates(jdk, &flag, |program| program)[0].refusal, None);
}

fn an_archive_is_refused(jdk: &Jdk) {
    let place = Place::new();
    let (base, top) = (place.file("base.jsa"), place.file("top.jsa"));
    let shared = |files: &str| format!("-XX:SharedArchiveFile={files}");
    place.make(jdk, &["-Xshare:dump".to_owned(), shared(&base)], &[]);
    place.make(jdk, &[shared(&base), format!("-XX:ArchiveClassesAtExit={top}")], &[LIGHT]);
    let both = shared(&format!("{base}:{top}"));
    let rows = place.fates(jdk, &both, |program| program);
    assert_eq!(rows.iter().map(|row| row.refusal).collect::<Vec<_>>(), [None, None]);
    // The one that has nothing of the class path is used.
    let other = place.folder.join("other.jar");
    fs::copy(&place.jar, &other).expect("copied");
    let is_refused_for = |refusals: &[ArchiveRefusal]| {
        let rows = place.fates(jdk, &both, |program| program.class_path(&other));
        assert_eq!((rows.len(), rows[0].refusal), (2, None), "{rows:?}");
        assert!(rows[1].refusal.is_some_and(|refusal| refusals.contains(&refusal)), "{rows:?}");
    };
    is_refused_for(&[ArchiveRefusal::ChangedJar]);
    let made = fs::metadata(&place.jar).and_then(|jar| jar.modified()).expect("a time");
    File::options().write(true).open(&other).and_then(|jar| jar.set_modified(made)).expect("ours");
    // The JVM may end before it is read.
    is_refused_for(&[ArchiveRefusal::ClassPath, ArchiveRefusal::Unknown]);
    let program = place.program(jdk, &both, LIGHT).class_path(&other).options("warmup=on,heap=vm").args(&["wait"]);
    let mut waiting = program.start();
    let trace = waiting.file.clone();
    wait_until(|| fs::read_to_string(&trace).is_ok_and(|text| text.contains("refusal=\"classPath\"")));
    waiting.send("");
    waiting.finish();
    let rows = place.fates(jdk, &both, |program| program.flags(&["-XX:-UseCompressedOops"]));
    is_refused(&rows, &base, ArchiveRefusal::Flag, "UseCompressedOops");
    is_refused(&rows, &top, ArchiveRefusal::Flag, "UseCompressedOops");
    let rows = place.fates(jdk, &both, |program| program.flags(&[other_agent()]));
    is_refused(&rows, &base, ArchiveRefusal::Agent, "");
    let broken = |file: &str, refusal, detail: &str| {
        is_refused(&place.fates(jdk, &shared(file), |program| program), file, refusal, detail);
    };
    broken(&spoiled(&place, &base, "cut.jsa", cut), ArchiveRefusal::Truncated, "");
    broken(
        &spoiled(&place, &base, "other-build.jsa", |bytes| built_otherwise(bytes)),
        ArchiveRefusal::OtherJvm,
        &jdk.version,
    );
    // Written anew.
    let bytes = fs::read(&place.jar).expect("the jar");
    fs::write(&place.jar, bytes).expect("written");
    let rows = place.fates(jdk, &both, |program| program);
    is_refused(&rows, &top, ArchiveRefusal::ChangedJar, "archived.jar");
}
