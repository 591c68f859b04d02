//! JVMs that write an archive of classes (CDS, AOT cache) or the list for one: it is what it is without agent, and one line says that this
//! JVM is not profiled. From JDK 13 on HotSpot starts no agent beside a CDS archive that it writes; there `martini run` leaves it out.

use std::fs;
use std::path::Path;
use std::process::Command;

use bci_tests::jdk::Jdk;
use bci_tests::martini;
use bci_tests::process::{self, Finished};
use bci_tests::suite::Suite;
use bci_tests::workdir::Workdir;

use crate::beside::jar;

pub(crate) fn tests(suite: &mut Suite) {
    suite.versions(25..).each_and(&WAYS, an_aot_cache);
    suite.versions(25..).each(an_aot_cache_in_two_steps);
    suite.each_jdk(a_list_of_classes);
    suite.each_jdk(a_static_archive);
    suite.versions(13..).each(an_archive_made_at_the_exit);
    suite.versions(19..).each(an_archive_that_is_renewed);
}

/// Where the JVM gets agent and flags from.
#[derive(Clone, Copy, Debug)]
enum From {
    CommandLine,
    Variable,
    ArgumentFile,
    FlagsFile,
}

const WAYS: [(&str, From); 4] = [
    ("typed", From::CommandLine),
    ("variable", From::Variable),
    ("argument_file", From::ArgumentFile),
    ("flags_file", From::FlagsFile),
];

const NOT_PROFILED: &str = "not profiled";

/// A folder with a program in a jar.
struct Place {
    folder: Workdir,
}

impl Place {
    fn new() -> Place {
        let folder = Workdir::new();
        jar(folder.path());
        Place { folder }
    }

    fn java(&self, jdk: &Jdk) -> Command {
        let mut java = jdk.tool("java");
        java.current_dir(self.folder.path());
        java
    }

    /// `martini run java`.
    fn martini(&self, jdk: &Jdk) -> Command {
        let mut command = Command::new(&martini::built().command);
        command.current_dir(self.folder.path()).args(["run", "--file", "t.trcxml"]).arg(jdk.home.join("bin/java"));
        command
    }

    /// With heap and locks, which both made HotSpot crash.
    fn agent(&self) -> std::ffi::OsString {
        martini::built().agent_path("heap=counts,locks=on,juc=on,file=t.trcxml")
    }

    fn has(&self, name: &str) -> bool {
        self.folder.join(name).exists()
    }

    /// How many classes a JVM with this flag takes out of an archive.
    fn shared_classes(&self, jdk: &Jdk, flag: &str) -> usize {
        let mut java = self.java(jdk);
        let ran = process::run(java.args([flag, "-Xlog:class+load"]).args(PROGRAM)).success();
        ran.out().lines().filter(|line| line.contains("shared objects file")).count()
    }

    fn remove(&self, name: &str) {
        fs::remove_file(self.folder.join(name)).expect("it is there");
    }
}

const PROGRAM: [&str; 4] = ["-cp", "endings.jar", "endings.Main", "return"];

#[track_caller]
fn runs_unprofiled(place: &Place, command: &mut Command) {
    let ran = process::run(command).success();
    assert_eq!(ran.err().matches(NOT_PROFILED).count(), 1, "{}", ran.err());
    assert!(!place.has("t.trcxml"));
}

fn contains(file: &Path, text: &[u8]) -> bool {
    fs::read(file).expect("it is there").windows(text.len()).any(|part| part == text)
}

fn an_aot_cache(jdk: &Jdk, from: From) {
    let place = Place::new();
    let flag = "-XX:AOTCacheOutput=classes.aot";
    process::run(place.java(jdk).arg(flag).args(PROGRAM)).success();
    let without = place.shared_classes(jdk, "-XX:AOTCache=classes.aot");
    place.remove("classes.aot");
    let mut java = place.java(jdk);
    match from {
        From::CommandLine => java.arg(place.agent()).arg(flag),
        From::Variable => java.env("JAVA_TOOL_OPTIONS", place.agent()).arg(flag),
        From::ArgumentFile => {
            fs::write(place.folder.join("words"), flag).expect("a file");
            java.env("JDK_JAVA_OPTIONS", "@words").arg(place.agent())
        }
        From::FlagsFile => {
            fs::write(place.folder.join("flags"), "AOTCacheOutput=classes.aot").expect("a file");
            java.arg("-XX:Flags=flags").arg(place.agent())
        }
    };
    runs_unprofiled(&place, java.args(PROGRAM));
    assert_eq!(place.shared_classes(jdk, "-XX:AOTCache=classes.aot"), without);
    assert!(!contains(&place.folder.join("classes.aot"), b"java/lang/Martini"));
}

fn an_aot_cache_in_two_steps(jdk: &Jdk) {
    let place = Place::new();
    let record = ["-XX:AOTMode=record", "-XX:AOTConfiguration=classes.conf"];
    runs_unprofiled(&place, place.java(jdk).arg(place.agent()).args(record).args(PROGRAM));
    let create = ["-XX:AOTMode=create", "-XX:AOTConfiguration=classes.conf", "-XX:AOTCache=classes.aot"];
    runs_unprofiled(&place, place.martini(jdk).args(create).args(&PROGRAM[..2]));
    assert!(place.shared_classes(jdk, "-XX:AOTCache=classes.aot") > 500);
}

fn a_list_of_classes(jdk: &Jdk) {
    let place = Place::new();
    // Of all classes, whether there is an archive or not.
    let flags = ["-Xshare:off", "-XX:DumpLoadedClassList=classes.txt"];
    let list = || fs::read_to_string(place.folder.join("classes.txt")).expect("it is there");
    process::run(place.java(jdk).args(flags).args(PROGRAM)).success();
    let without = list();
    place.remove("classes.txt");
    runs_unprofiled(&place, place.java(jdk).arg(place.agent()).args(flags).args(PROGRAM));
    assert_eq!(list().lines().count(), without.lines().count());
    assert!(!list().contains("Martini"));
}

fn a_static_archive(jdk: &Jdk) {
    let place = Place::new();
    let flags = ["-Xshare:dump", "-XX:SharedArchiveFile=base.jsa"];
    // Older JVMs call the agent.
    let mut command = if jdk.feature < 13 { place.java(jdk) } else { place.martini(jdk) };
    if jdk.feature < 13 {
        command.arg(place.agent());
    }
    runs_unprofiled(&place, command.args(flags));
    assert!(place.shared_classes(jdk, "-XX:SharedArchiveFile=base.jsa") > 300);
    assert!(!contains(&place.folder.join("base.jsa"), b"java/lang/Martini"));
}

/// The archive that others lie on: a runtime that was linked has none of its own.
fn base(place: &Place, jdk: &Jdk) {
    process::run(place.java(jdk).args(["-Xshare:dump", "-XX:SharedArchiveFile=base.jsa"])).success();
}

fn an_archive_made_at_the_exit(jdk: &Jdk) {
    let place = Place::new();
    base(&place, jdk);
    let flags = ["-XX:SharedArchiveFile=base.jsa", "-XX:ArchiveClassesAtExit=top.jsa"];
    fs::write(place.folder.join("words"), flags.join("\n")).expect("a file");
    runs_unprofiled(&place, place.martini(jdk).arg("@words").args(PROGRAM));
    let used = "-XX:SharedArchiveFile=base.jsa:top.jsa";
    let with = place.shared_classes(jdk, used);
    place.remove("top.jsa");
    process::run(place.java(jdk).arg("@words").args(PROGRAM)).success();
    assert_eq!(with, place.shared_classes(jdk, used));
    is_profiled(&place, process::run(place.martini(jdk).arg(used).args(PROGRAM)));
}

#[track_caller]
fn is_profiled(place: &Place, ran: Finished) {
    let ran = ran.success();
    assert_eq!(ran.out(), "1000 cells \u{e4}\n", "{}", ran.err());
    assert!(ran.err().contains("endings.Main") && !ran.err().contains(NOT_PROFILED), "{}", ran.err());
    place.remove("t.trcxml");
}

/// An archive that the JVM makes anew where it does not fit is used, and not made.
fn an_archive_that_is_renewed(jdk: &Jdk) {
    let place = Place::new();
    let flags = ["-XX:+AutoCreateSharedArchive", "-XX:SharedArchiveFile=auto.jsa"];
    is_profiled(&place, process::run(place.martini(jdk).args(flags).args(PROGRAM)));
    assert!(!place.has("auto.jsa"));
    // A runtime without an archive of its own makes none.
    process::run(place.java(jdk).args(flags).args(PROGRAM)).success();
    is_profiled(&place, process::run(place.martini(jdk).args(flags).args(PROGRAM)));
}
