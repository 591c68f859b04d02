//! What is refused, and JVMs that end while they are recorded or asked.

use std::{fs, thread};

use ::attach::{Pid, Process, Request, Target};
use bci_tests::jdk::Jdk;
use bci_tests::process::wait_until;
use bci_tests::suite::Suite;
use bci_tests::{attach, martini};

use crate::program::{Program, read};

const NODES: u64 = 200_000;

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(end_of_the_jvm_ends_the_trace);
    suite.each_jdk_and(&[("start", "start"), ("stop", "stop")], jvm_ends_in_the_middle_of_a_request);
    suite.each_jdk(requests_wait_for_each_other);
    suite.any_jdk(nobody_waits_for_the_beginning);
    suite.each_jdk(wrong_requests_are_answered);
    suite.any_jdk(options_alone_start_a_recording);
}

fn end_of_the_jvm_ends_the_trace(jdk: &Jdk) {
    let mut program = Program::start(jdk, &["-Xmx256m"], &[]);
    let trace = tempfile::tempdir().expect("a folder");
    let file = trace.path().join("late.trcxml");
    let options = format!("heap=counts,locks=on,cpu=5ms,file={}", file.display());
    assert!(program.ask("start", &options).starts_with("ok\n"));
    program.make(NODES);
    program.finish();
    let found = read(&file);
    assert!(found.counted_nodes == NODES && found.is_covered(), "{found:?}");
}

fn jvm_ends_in_the_middle_of_a_request(jdk: &Jdk, request: &str) {
    let program = Program::start(jdk, &["-Xmx256m"], &[]);
    let folder = tempfile::tempdir().expect("a folder");
    let (file, reply) = (folder.path().join("late.trcxml"), folder.path().join("reply"));
    let options = format!("heap=counts,locks=on,juc=on,file={}", file.display());
    if request == "stop" {
        assert!(program.ask("start", &options).starts_with("ok\n"));
    }
    fs::write(&reply, "").expect("a file");
    let rest = if request == "start" { &*options } else { "" };
    let options = format!("{request};{};{rest}", reply.display());
    attach::load(program.running.pid(), &martini::built().agent, &options).expect("an answer of the JVM");
    // It was taken, and is under way.
    program.finish();
    read(&file);
}

/// Several commands want to end the recording at once: one does, and the others learn that, instead of an excuse.
fn requests_wait_for_each_other(jdk: &Jdk) {
    let program = Program::start(jdk, &["-Xmx256m"], &[]);
    let options = format!("heap=counts,file={}", program.trace().display());
    assert!(program.ask("start", &options).starts_with("ok\n"));
    let pid = program.running.pid();
    let stop = || {
        let target = Target::open(Process::find(Pid(pid))?)?;
        target.ask(martini::built().agent.to_str().expect("text"), Request::Stop, "")
    };
    let mut answers: Vec<String> = thread::scope(|scope| {
        let asking: Vec<_> = (0..4).map(|_| scope.spawn(stop)).collect();
        let answers = asking.into_iter().map(|thread| thread.join().expect("no panic"));
        answers.map(|answer| answer.map_or_else(|e| e.to_string(), |_| String::new())).collect()
    });
    answers.sort();
    let others = format!("JVM {pid}: this JVM is not being recorded");
    assert_eq!(answers, [String::new(), others.clone(), others.clone(), others]);
    program.finish();
}

/// A command that has waited long enough removes its file, and must not leave a recording behind.
fn nobody_waits_for_the_beginning(jdk: &Jdk) {
    let mut program = Program::start(jdk, &["-Xmx256m"], &[]);
    let folder = tempfile::tempdir().expect("a folder");
    let (file, reply) = (folder.path().join("late.trcxml"), folder.path().join("reply"));
    let options = format!("start;{};heap=counts,file={}", reply.display(), file.display());
    let is_over = |program: &Program| !program.ask("status", "").starts_with("busy another request");
    wait_until(|| {
        fs::write(&reply, "").expect("a file");
        attach::load(program.running.pid(), &martini::built().agent, &options).expect("an answer of the JVM");
        fs::remove_file(&reply).expect("it is there");
        wait_until(|| is_over(&program));
        let is_left = program.ask("status", "").starts_with("ok\nrecording yes");
        if is_left {
            // It was faster than the file could be removed.
            assert!(program.ask("stop", "").starts_with("ok\n"));
            fs::remove_file(&file).expect("the trace");
        }
        !is_left
    });
    assert!(!file.exists());
    let found = program.record("heap=counts", |program| program.make(NODES));
    assert_eq!(found.counted_nodes, NODES);
    assert!(program.finish().contains("martini: nothing is recorded: the command that asked for it"));
}

fn wrong_requests_are_answered(jdk: &Jdk) {
    let mut program = Program::start(jdk, &["-Xmx256m"], &[]);
    let trace = program.trace();
    // The VM closes an agent that refuses, and JDK 25 looks for a function in it at its end all the same: it has to stay.
    let load = |program: &Program, options: &str| {
        attach::load(program.running.pid(), &martini::built().agent, options).expect("an answer")
    };
    assert!(!load(&program, "status;relative;").contains("return code: 0"));
    assert!(!load(&program, "status;/nowhere/reply;").contains("return code: 0"));
    assert!(program.ask("start", "heap=nothing").starts_with("error option 'heap'"));
    assert!(program.ask("start", "file=/nowhere/x.trcxml").starts_with("error "));
    assert_eq!(program.ask("snapshot", ""), "error this JVM is not being recorded\n");
    assert!(!trace.exists());
    program.record("heap=vm", |program| program.make(NODES));
    let err = program.finish();
    assert!(err.contains("martini: cannot write the reply file relative: its path is not absolute"), "{err}");
    // Who waits no longer removes its file.
    assert!(!err.contains("/nowhere/reply"), "{err}");

    let program = Program::start(jdk, &["-Xmx256m"], &[("MARTINI_OFF", "1")]);
    assert!(program.ask("start", "heap=vm").starts_with("error this JVM was started with MARTINI_OFF=1"));
    program.finish();
}

fn options_alone_start_a_recording(jdk: &Jdk) {
    let mut program = Program::start(jdk, &["-Xmx256m"], &[]);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("late.trcxml");
    let options = format!("heap=counts,file={}", file.display());
    let answer = attach::load(program.running.pid(), &martini::built().agent, &options).expect("an answer of the JVM");
    assert!(answer.contains("return code: 0") || jdk.feature < 21, "{answer}");
    wait_until(|| program.ask("status", "").starts_with("ok\nrecording yes"));
    program.make(NODES);
    program.finish();
    assert_eq!(read(&file).counted_nodes, NODES);
}
