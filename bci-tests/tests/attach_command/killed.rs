//! The command is ended at any moment, in any way: the JVM goes on, its trace can be read, and nothing is left behind.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use bci_tests::jdk::Jdk;
use bci_tests::process::wait_until;
use bci_tests::read::{self, Judged};
use bci_tests::suite::Suite;

use crate::{Busy, send_signal};

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(killed_at_any_moment);
    suite.any_jdk(stopped_at_any_moment);
}

/// Milliseconds from the start of the command, which begins in about 100, records for 300, and then stops and reads the trace.
const MOMENTS: [u64; 8] = [0, 10, 20, 50, 100, 250, 400, 500];

fn killed_at_any_moment(jdk: &'static Jdk) {
    end_at_moments(jdk, "KILL");
}

fn stopped_at_any_moment(jdk: &'static Jdk) {
    ["INT", "TERM"].iter().for_each(|signal| end_at_moments(jdk, signal));
}

fn end_at_moments(jdk: &'static Jdk, signal: &str) {
    let earlier = crate::leftovers(Path::new("/tmp"));
    let busy = Busy::on(jdk, &["-XX:+IgnoreUnrecognizedVMOptions", "-XX:+EnableDynamicAgentLoading"]);
    let mut commands = Vec::new();
    for (number, moment) in MOMENTS.into_iter().enumerate() {
        let file = format!("{number}.trcxml");
        let options = ["--heap", "counts", "--locks", "--duration", "300ms", "--file", &file];
        let mut child =
            busy.command("attach", &options).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        commands.push(child.id());
        std::thread::sleep(Duration::from_millis(moment));
        send_signal(child.id(), signal);
        child.wait().expect("it ends");
        // One that was killed leaves a recording, which another command ends. If it is about to begin, that command waits.
        let stopped = busy.martini("stop", &["--quiet"]);
        assert!(matches!(stopped.status, Some(0 | 2)), "{moment} ms: {}", stopped.err);
        assert_eq!(busy.martini("status", &[]).success().out.lines().next(), Some("recording  no"), "{moment} ms");
        let trace = busy.folder.join(&file);
        if trace.exists() {
            read::trace(&trace, (), Judged::Valid);
        }
    }
    // It is recorded as if nothing had happened.
    busy.martini("attach", &["--duration", "300ms", "--heap", "counts", "--file", "last.trcxml"]).success();
    crate::assert_valid(&busy.folder.join("last.trcxml"));
    // Other tests have files of their own there.
    let is_theirs =
        |name: &String| !earlier.contains(name) && commands.iter().any(|pid| name.contains(&format!("-{pid}-")));
    wait_until(|| !crate::leftovers(Path::new("/tmp")).iter().any(is_theirs));
    assert_eq!(busy.end(), "");
}
