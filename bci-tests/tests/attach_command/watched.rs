//! Recordings that are watched until they end, and recordings that are left alone.

use std::io::Read;
use std::process::{Child, Command, Stdio};

use bci_tests::jdk::{self, Jdk};
use bci_tests::jdwp;
use bci_tests::martini;
use bci_tests::process::wait_until;
use bci_tests::suite::Suite;

use crate::{Busy, about_file, assert_valid, end, send_signal};

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(by_default_for_two_seconds);
    suite.each_jdk(left_alone_and_ended_by_another_command);
    suite.each_jdk(counts_are_announced_with_their_price);
    suite.each_jdk(the_heap_is_dumped_with_and_without_a_recording);
    suite.each_jdk(the_interval_of_samples_can_be_changed);
    suite.any_jdk(a_snapshot_is_read_while_the_recording_goes_on);
    suite.any_jdk(the_agent_looks_for_the_doctor);
    match jdk::all().iter().find(|jdk| jdwp::is_there(jdk)) {
        Some(jdk) => suite.on(jdk, the_doctor_names_other_agents),
        None => suite.skip("watched::the_doctor_names_other_agents".into(), "no JDK here has an agent for debuggers"),
    }
    suite.any_jdk(a_report_of_a_jvm_that_runs);
    suite.any_jdk(ctrl_c_ends_the_recording);
    suite.any_jdk(a_killed_command_leaves_a_recording_that_can_be_ended);
    suite.any_jdk(the_end_of_the_jvm_is_an_end);
}

fn by_default_for_two_seconds(jdk: &'static Jdk) {
    let busy = Busy::on(jdk, &[]);
    let pid = busy.pid();
    let doctor = busy.martini("doctor", &[]).success().out;
    for words in
        [format!("yes   Java: {}\n", jdk.version), "yes   answers: ".to_owned(), "yes   C library: ".to_owned()]
    {
        assert!(doctor.contains(&words), "{words}: {doctor}");
    }
    assert!(doctor.contains("note  engines: not checked"), "{doctor}");
    let attached = busy.martini("attach", &["--duration", "2s"]).success();
    let trace = busy.trace(pid, 1);
    assert!(attached.err.contains(&format!("recording JVM {pid} to {}", trace.display())), "{}", attached.err);
    // The summary: allocations and CPU time.
    for words in ["busy.Main.allocate(Main.java:24)", "busy.Main.add(", "samples: "] {
        assert!(attached.err.contains(words), "{words}: {}", attached.err);
    }
    // On a busy machine the threads wait for a processor rather than for each other, so that the lock is no finding.
    let locks = about_file("locks", &trace, &[]).success().out;
    assert!(locks.contains("busy.Main.add(Main.java:"), "{locks}");
    assert_valid(&trace);
    let says = attached.err.contains("JEP 451");
    let warning = busy.end();
    // The JVM warns once, and that is announced.
    assert_eq!(says, jdk.feature >= 21, "{}", attached.err);
    assert_eq!(warning.contains("has been loaded dynamically"), jdk.feature >= 21, "{warning}");
}

fn the_agent_looks_for_the_doctor(jdk: &'static Jdk) {
    let busy = Busy::on(jdk, &[]);
    for arguments in [&["--load"][..], &[]] {
        let doctor = busy.martini("doctor", arguments).success().out;
        for words in
            ["yes   capabilities for --locks: can_generate_monitor_events", "yes   return addresses: layout known"]
        {
            assert!(doctor.contains(words), "{words}: {doctor}");
        }
    }
    busy.martini("attach", &["--duration", "1s"]).success();
    busy.end();
}

fn a_snapshot_is_read_while_the_recording_goes_on(jdk: &'static Jdk) {
    let busy = Busy::on(jdk, &[]);
    busy.martini("attach", &["--detach", "--heap", "counts"]).success();
    let trace = busy.trace(busy.pid(), 1);
    let counted = || {
        let json = about_file("stats", &trace, &["--json"]).success().out;
        let stats: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        stats["traces"][0]["sum"]["total"].as_u64().unwrap_or_else(|| panic!("{json}"))
    };
    let mut before = 0;
    for _ in 0..2 {
        // The program may not have come to its next objects yet.
        wait_until(|| {
            busy.martini("snapshot", &[]).success();
            counted() > before
        });
        before = counted();
    }
    busy.martini("stop", &[]).success();
    assert!(counted() >= before);
    assert_valid(&trace);
    busy.end();
}

fn the_doctor_names_other_agents(jdk: &'static Jdk) {
    // Nobody connects to it.
    let debugger = format!("{},quiet=y", jdwp::OPTION);
    let busy = Busy::on(jdk, &[&debugger]);
    let doctor = || busy.martini("doctor", &[]).success().out;
    let before = doctor();
    for words in ["note  other agents: a debugger", "yes   room: ", " timers: ", " loading: "] {
        assert!(before.contains(words), "{words}: {before}");
    }
    assert!(!before.contains("Martini's agent: "), "{before}");
    busy.martini("attach", &["--duration", "500ms"]).success();
    let afterwards = doctor();
    assert!(afterwards.contains("note  Martini's agent: already loaded"), "{afterwards}");
    busy.end();
}

fn left_alone_and_ended_by_another_command(jdk: &'static Jdk) {
    let busy = Busy::on(jdk, &[]);
    let pid = busy.pid();
    assert_eq!(busy.martini("status", &[]).success().out, "recording  no\nagent      not loaded\n");
    let attached = busy.martini("attach", &["--detach", "--cpu", "--locks"]).success();
    assert!(attached.err.contains(&format!("martini stop {pid} to end it")), "{}", attached.err);
    let status = busy.martini("status", &[]).success().out;
    let trace = busy.trace(pid, 1);
    assert!(status.starts_with("recording  yes\n"), "{status}");
    assert!(status.contains(&trace.display().to_string()) && status.contains("cpu=10ms"), "{status}");
    let user = end(Command::new("id").arg("-un")).success().out;
    let agent = || {
        let jvms = end(Command::new(&martini::built().command).arg("ps")).success().out;
        let rows = jvms.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let row = rows.into_iter().find(|row| row[0] == pid.to_string()).expect("it runs");
        assert_eq!([row[1], row[2], row[3], row[5]], [user.trim_end(), &jdk.version, "-", "busy.Main"], "{jvms}");
        row[4].to_owned()
    };
    assert_eq!(agent(), "records");
    busy.martini("attach", &["--duration", "1s"]).refused(&format!("JVM {pid}: "));
    let stopped = busy.martini("stop", &[]).success();
    assert_eq!(agent(), "loaded");
    assert!(stopped.err.contains("More: martini explain"), "{}", stopped.err);
    assert_valid(&trace);
    assert!(busy.martini("status", &[]).success().out.starts_with("recording  no\n"));
    busy.martini("stop", &[]).refused("this JVM is not being recorded");
    // Once more, in the same JVM, with other options.
    busy.martini("attach", &["--duration", "500ms", "--sampled"]).success();
    assert_valid(&busy.trace(pid, 2));
    busy.end();
}

fn counts_are_announced_with_their_price(jdk: &'static Jdk) {
    let busy = Busy::on(jdk, &[]);
    let attached = busy.martini("attach", &["--duration", "2s", "--heap", "counts"]).success();
    let price = "--heap counts rewrites all loaded classes";
    assert!(attached.err.starts_with(&format!("martini: {price}")), "{}", attached.err);
    assert_eq!(attached.err.contains("JDK-8324241"), jdk.feature < 23, "{}", attached.err);
    assert!(attached.err.contains("busy.Main.allocate(Main.java:24)"), "{}", attached.err);
    assert_valid(&busy.trace(busy.pid(), 1));
    busy.end();
}

fn the_heap_is_dumped_with_and_without_a_recording(jdk: &'static Jdk) {
    let busy = Busy::on(jdk, &[]);
    let own = busy.folder.join("own.hprof");
    let dumped = busy.martini("dump", &["own.hprof"]).success();
    assert_eq!(dumped.out, format!("{}\n", own.display()));
    let read = about_file("heap", &own, &[]).success();
    assert!(read.out.contains("byte[]"), "{}", read.out);
    busy.martini("dump", &["own.hprof"]).refused("already exists");
    busy.martini("attach", &["--detach", "--sampled", "--dump", "request"]).success();
    busy.martini("dump", &[]).success();
    busy.martini("stop", &["--quiet"]).success();
    let files = std::fs::read_dir(busy.folder.path()).expect("the folder is there").flatten();
    let dumps = files.filter(|file| file.path().extension().is_some_and(|name| name == "hprof"));
    assert_eq!(dumps.count(), 2);
    busy.end();
}

fn the_interval_of_samples_can_be_changed(jdk: &'static Jdk) {
    let busy = Busy::on(jdk, &[]);
    busy.martini("set", &["--sampled", "64k"]).refused("does not have the agent");
    let sampled = |size: Option<&str>| {
        busy.martini("attach", &["--detach", "--sampled=512m"]).success();
        if let Some(size) = size {
            busy.martini("set", &["--callers", size]).refused("this recording was started without callers");
            busy.martini("set", &["--sampled", "off"]).refused("sampled needs a size here");
            busy.martini("set", &["--sampled", size]).success();
            let status = busy.martini("status", &[]).success().out;
            assert!(status.contains(&format!("changed    sampled={size}\n")), "{status}");
        }
        std::thread::sleep(std::time::Duration::from_secs(2));
        let stopped = busy.martini("stop", &[]).success();
        let (_, found) = stopped.err.split_once("estimated from ").unwrap_or(("", "0 "));
        let digits = found.split(' ').next().expect("a word").replace(',', "");
        digits.parse::<u64>().unwrap_or_else(|_| panic!("{}", stopped.err))
    };
    let (coarse, fine) = (sampled(None), sampled(Some("64k")));
    assert!(fine > 20 * (coarse + 1), "{fine} {coarse}");
    assert_valid(&busy.trace(busy.pid(), 2));
    busy.end();
}

fn a_report_of_a_jvm_that_runs(jdk: &'static Jdk) {
    let busy = Busy::on(jdk, &[]);
    let pid = busy.pid();
    let reported = busy.martini("report", &["--duration", "1s", "--sampled", "--cpu"]).success();
    assert!(reported.out.contains(&format!("/martini-{pid}.html (")), "{}", reported.out);
    assert_valid(&busy.trace(pid, 1));
    let page = std::fs::read_to_string(busy.folder.join(&format!("martini-{pid}.html"))).expect("it is there");
    assert!(page.contains("busy.Main") && page.ends_with("</html>\n"), "{} bytes", page.len());
    // Of a trace nothing more is recorded.
    let trace = busy.trace(pid, 1);
    about_file("report", &trace, &["--duration", "1s"]).refused("is a trace, not a JVM");
    busy.end();
}

/// Starts to watch, and waits until the recording has begun.
fn watch(busy: &Busy) -> Child {
    let child = busy.command("attach", &[]).stderr(Stdio::piped()).spawn().expect("the command starts");
    wait_until(|| busy.martini("status", &[]).out.starts_with("recording  yes\n"));
    child
}

fn ctrl_c_ends_the_recording(jdk: &'static Jdk) {
    for signal in ["INT", "TERM"] {
        let busy = Busy::on(jdk, &[]);
        let mut child = watch(&busy);
        send_signal(child.id(), signal);
        let mut err = String::new();
        child.stderr.take().expect("asked for").read_to_string(&mut err).expect("text");
        assert_eq!(child.wait().expect("it ends").code(), Some(0), "{err}");
        assert!(err.contains("More: martini explain"), "{err}");
        assert_valid(&busy.trace(busy.pid(), 1));
        busy.end();
    }
}

fn a_killed_command_leaves_a_recording_that_can_be_ended(jdk: &'static Jdk) {
    let busy = Busy::on(jdk, &[]);
    let mut child = watch(&busy);
    child.kill().expect("it is ours");
    child.wait().expect("it ends");
    assert!(busy.martini("status", &[]).success().out.starts_with("recording  yes\n"));
    busy.martini("detach", &["--quiet"]).success();
    assert_valid(&busy.trace(busy.pid(), 1));
    busy.end();
}

fn the_end_of_the_jvm_is_an_end(jdk: &'static Jdk) {
    let busy = Busy::on(jdk, &[]);
    let mut child = watch(&busy);
    let trace = busy.trace(busy.pid(), 1);
    let folder = busy.folder;
    let finished = busy.program.finish().success();
    assert_eq!(finished.out(), "up\nover\n");
    let mut err = String::new();
    child.stderr.take().expect("asked for").read_to_string(&mut err).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(0), "{err}");
    assert!(err.contains("martini: the JVM exited") && err.contains("More: martini explain"), "{err}");
    assert_valid(&trace);
    drop(folder);
}
