//! Files of dumps and of requests, and dumps without any memory for them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use bci_tests::jdk::{Collector, Jdk};
use bci_tests::process::wait_until;
use bci_tests::profiled::{Heap, Profiled};
use bci_tests::suite::Suite;

use crate::dump::Dump;
use crate::support::{dump_of, request, start};

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(a_dump_that_is_made_without_memory_does_not_keep_the_jvm);
    suite.any_jdk(what_has_the_name_of_a_dump_stays);
    suite.any_jdk(a_name_without_a_number_gets_one);
    suite.any_jdk(a_link_requests_nothing);
}

/// A path of 3,600 characters.
fn long_path(program: &Profiled) -> PathBuf {
    let mut folder = program.dir().to_owned();
    while folder.as_os_str().len() < 3_400 {
        folder.push("d".repeat(200));
    }
    fs::create_dir_all(&folder).expect("a folder of ours");
    folder.join("d".repeat(3_600 - folder.as_os_str().len() - 8) + "-%n.dmp")
}

/// The heap has so little room that a string for the path, or for that of the next dump, would be the first `OutOfMemoryError`: of
/// the thread that dumps.
fn a_dump_that_is_made_without_memory_does_not_keep_the_jvm(jdk: &Jdk) {
    let flags = ["-Xms60m", "-Xmx60m", "-Xmn2m", "-XX:-UseTLAB", "-Xlog:jvmti=off"];
    let profiled = Profiled::on(jdk).heap(Heap::Off).collector(Collector::Serial).flags(&flags);
    let pattern = long_path(&profiled).display().to_string();
    let profiled = profiled.option("dumpfile", &pattern).option("dump", "end+request+oom");
    let mut program = profiled.main("graph.Full").args(&["1500"]).start();
    program.wait_for("full");
    let dump = |number: &str| PathBuf::from(pattern.replace("%n", number));
    for number in ["1", "2"] {
        fs::write(format!("{}.dump", program.file.display()), "").expect("the trigger can be made");
        wait_until(|| dump(number).is_file());
    }
    program.send("");
    let ran = program.finish();
    assert_eq!(ran.err(), "");
    assert!(dump("3").is_file() && !dump("4").exists(), "the third at the end, none for an OutOfMemoryError");
    assert!(!Dump::read(&dump("1")).of_class("graph.Full$Link").is_empty());
}

fn what_has_the_name_of_a_dump_stays(jdk: &Jdk) {
    let program = start(Profiled::on(jdk).heap(Heap::Off).option("dump", "request"), Collector::G1, 1);
    let (first, second, nowhere) = (dump_of(&program.file, 1), dump_of(&program.file, 2), program.dir.join("nowhere"));
    fs::write(&first, "kept").expect("a folder of ours");
    symlink(&nowhere, &second).expect("a folder of ours");
    let third = request(&program, 3);
    let _ran = program.finish();
    assert_eq!(fs::read_to_string(&first).expect("it is there"), "kept");
    assert!(second.is_symlink() && !nowhere.exists());
    Dump::read(&third).class("graph.Main");
}

fn a_name_without_a_number_gets_one(jdk: &Jdk) {
    let profiled = Profiled::on(jdk).heap(Heap::Off);
    let file = profiled.dir().join("one.hprof");
    let profiled = profiled.option("dumpfile", file.display()).option("dump", "request+end");
    let program = start(profiled, Collector::G1, 1);
    fs::write(format!("{}.dump", program.file.display()), "").expect("the trigger can be made");
    wait_until(|| file.is_file());
    let _ran = program.finish();
    for dump in [file.clone(), file.with_file_name("one-2.hprof")] {
        Dump::read(&dump).class("graph.Main");
    }
}

fn a_link_requests_nothing(jdk: &Jdk) {
    let profiled = Profiled::on(jdk).heap(Heap::Off).option("dump", "request");
    let trigger = profiled.dir().join("app.trcxml.dump");
    let target = profiled.dir().join("target");
    fs::write(&target, "").expect("a folder of ours");
    symlink(&target, &trigger).expect("a folder of ours");
    let program = start(profiled, Collector::G1, 1);
    assert!(trigger.is_symlink() && target.is_file());
    fs::remove_file(&trigger).expect("it is ours");
    let dump = request(&program, 1);
    let ran = program.finish();
    assert!(dump.is_file() && target.is_file());
    let said = "is ignored: a request file must be a regular file owned by the JVM's user";
    assert_eq!(ran.err(), format!("martini: {} {said}\n", trigger.display()), "once");
}
