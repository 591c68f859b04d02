//! A trace that takes nothing: nobody reads the pipe, as when a network file system does not answer. The program does not wait for
//! ever, and the trace of a pipe that is read after all is valid to its end.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::JoinHandle;

use bci_tests::jdk::{Collector, Jdk};
use bci_tests::profiled::{Profiled, Ran};
use bci_tests::read::{self, Judged};
use bci_tests::recorded::Recorded;
use bci_tests::schema::{self, Schema};
use bci_tests::suite::Suite;
use bci_tests::waits::Waits;
use bci_tests::workdir::Workdir;
use bci_tests::{martini, process};

/// `O_NONBLOCK` of Linux.
const O_NONBLOCK: i32 = 0o4000;

/// Everything that goes into the trace by itself, in little room.
const ALL: &str = "heap=events,locks=on,juc=on,stack=4,buffer=1m";

const MODES: [(&str, &str); 8] = [
    ("all", ALL),
    ("filtered", "heap=events,include=stalls.*,buffer=1m"),
    ("vm", "heap=vm,buffer=1m"),
    ("counts", "heap=counts,every=1"),
    ("live", "heap=counts,live=true"),
    ("locks", "heap=off,locks=on,juc=on,buffer=1m"),
    ("dump", "heap=events,dump=end,dumpformat=xml,buffer=1m"),
    ("zip", "heap=events,format=zip,buffer=1m"),
];

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk_and(&MODES, nobody_reads);
    suite.any_jdk(nobody_reads_and_the_program_is_terminated);
    suite.each_jdk_and_collector(the_reader_comes_back);
    suite.any_jdk(nobody_opens);
    suite.each_jdk(the_reader_goes);
    suite.each_jdk(nobody_reads_the_lock_log);
}

/// A named pipe that takes nothing more, and that somebody has opened for reading.
struct FullPipe {
    path: PathBuf,
    reader: File,
    filled: u64,
}

impl FullPipe {
    fn new(folder: &Path) -> Self {
        let path = folder.join("pipe");
        make_pipe(&path);
        let mut both = OpenOptions::new().read(true).write(true).custom_flags(O_NONBLOCK).open(&path).expect("a pipe");
        let reader = File::open(&path).expect("it is open already");
        let mut filled = 0;
        while let Ok(written) = both.write(&[b' '; 4096]) {
            filled += written as u64;
        }
        Self { path, reader, filled }
    }

    /// Reads all that comes, into a file.
    fn read_into(self, copy: PathBuf) -> JoinHandle<()> {
        std::thread::spawn(move || {
            let Self { mut reader, filled, .. } = self;
            io::copy(&mut (&mut reader).take(filled), &mut io::sink()).expect("a pipe");
            io::copy(&mut reader, &mut File::create(copy).expect("the folder is ours")).expect("a pipe");
        })
    }
}

fn make_pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().expect("mkfifo is a command");
    assert!(made.success());
}

fn program<'a>(jdk: &'a Jdk, options: &str, trace: &Path) -> Profiled<'a> {
    Profiled::on(jdk).options(options).file(trace).trace_unread().main("stalls.Main")
}

/// What the agent said of a pipe.
fn said_of(pipe: &Path, ran: &Ran) -> Vec<String> {
    let pipe = pipe.to_string_lossy();
    let err = ran.err();
    err.lines().filter(|line| line.starts_with("martini: ") && line.contains(&*pipe)).map(str::to_owned).collect()
}

/// The program does all it has to do, and ends.
fn nobody_reads(jdk: &Jdk, options: &str) {
    let dir = Workdir::new();
    let pipe = FullPipe::new(dir.path());
    let mut running = program(jdk, options, &pipe.path).start();
    for command in ["work", "release"] {
        running.send(command);
    }
    let ran = running.finish();
    assert_eq!(ran.out(), "ready\nwork done\nrelease done\nover\n");
    let said = said_of(&pipe.path, &ran);
    assert!(said.len() <= 2 && said.last().is_some_and(|last| last.contains("ends early")), "{said:?}");
}

fn nobody_reads_and_the_program_is_terminated(jdk: &Jdk) {
    let dir = Workdir::new();
    let pipe = FullPipe::new(dir.path());
    let mut running = program(jdk, ALL, &pipe.path).any_status().start();
    running.send("work");
    running.wait_for("work done");
    running.send("stay");
    let sent = Command::new("kill").arg(running.pid().to_string()).status().expect("kill is a command");
    assert!(sent.success());
    assert_eq!(running.finish().status().code(), Some(128 + 15));
}

/// What could not be written is counted, and the rest is whole.
fn the_reader_comes_back(jdk: &Jdk, collector: Collector) {
    let dir = Workdir::new();
    let pipe = FullPipe::new(dir.path());
    let mut running = program(jdk, ALL, &pipe.path).collector(collector).start();
    for command in ["work", "release"] {
        running.send(command);
        running.wait_for(&format!("{command} done"));
    }
    let copy = dir.join("copy.trcxml");
    let path = pipe.path.clone();
    let reader = pipe.read_into(copy.clone());
    // Once the writer has caught up, objects are reported again.
    process::wait_until(|| {
        running.send("more");
        running.wait_for("more done");
        fs::read(&copy).is_ok_and(|text| String::from_utf8_lossy(&text).contains("stalls.Main$More"))
    });
    running.send("last");
    let ran = running.finish();
    assert!(ran.out().ends_with("last done\nover\n"), "{}", ran.out());
    reader.join().expect("the pipe is read");
    let said = said_of(&path, &ran);
    assert!(said.len() == 1 && said[0].contains("events are dropped"), "{said:?}");

    schema::check(&copy, Schema::Strict);
    let trace = read::trace(&copy, Recorded::default(), Judged::Valid);
    assert_eq!(trace.of_class("stalls.Main$Last").count(), 1000);
    let dropped = |what: &str| {
        let found = trace.counts.iter().find(|(key, detail, _)| key == "events.dropped" && detail == what);
        found.map_or(0, |(.., number)| *number)
    };
    let made = 60 * 4 * 2000;
    let reported = trace.of_class("stalls.Main$Early").count() as u64;
    assert!(reported > 0 && reported + dropped("objects") >= made, "{reported} {:?}", trace.counts);
    assert!(dropped("waits") > 0 && dropped("ends of threads") > 0, "{:?}", trace.counts);
    // Neither threads that seem blocked although they continued, nor ends of waits that have no beginning.
    let waits = read::trace(&copy, Waits::default(), Judged::Valid);
    assert!(waits.counts.iter().all(|(key, number)| !key.starts_with("waits.") || *number == 0), "{:?}", waits.counts);
    let stats =
        process::run(Command::new(&martini::built().command).args(["stats", "--wide"]).arg(&copy)).success().out();
    assert!(stats.contains("coverage: unknown: events were left out"), "{stats}");
}

/// The program does not wait for ever before it starts.
fn nobody_opens(jdk: &Jdk) {
    let dir = Workdir::new();
    let pipe = dir.join("pipe");
    make_pipe(&pipe);
    let ran = program(jdk, "heap=vm", &pipe).run();
    assert_eq!(ran.out(), "ready\nover\n");
    let said = said_of(&pipe, &ran);
    assert!(said.len() == 1 && said[0].contains("no reader opened it"), "{said:?}");
}

/// The trace ends with its reader, the program does not.
fn the_reader_goes(jdk: &Jdk) {
    let dir = Workdir::new();
    let pipe = FullPipe::new(dir.path());
    let mut running = program(jdk, ALL, &pipe.path).start();
    running.wait_for("ready");
    drop(pipe.reader);
    running.send("work");
    let ran = running.finish();
    assert_eq!(ran.out(), "ready\nwork done\nover\n");
    let said = said_of(&pipe.path, &ran);
    assert!(said.len() == 1 && said[0].contains("cannot write to the trace"), "{said:?}");
}

/// The trace is whole, and so is the program.
fn nobody_reads_the_lock_log(jdk: &Jdk) {
    let dir = Workdir::new();
    let pipe = FullPipe::new(dir.path());
    let options = format!("heap=off,locks=on,juc=on,locklog={}", pipe.path.display());
    let mut running = Profiled::on(jdk).options(&options).main("stalls.Main").start();
    for command in ["work", "work", "release"] {
        running.send(command);
    }
    let ran = running.finish();
    assert!(ran.out().ends_with("over\n"), "{}", ran.out());
    let said = said_of(&pipe.path, &ran);
    assert!(said.len() == 1 && said[0].contains("the lock log") && said[0].contains("ends early"), "{said:?}");
}
