//! Recordings in pieces: each is a whole trace of its own, whatever ends the recording.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bci_tests::java;
use bci_tests::jdk::Jdk;
use bci_tests::martini;
use bci_tests::process::{Running, wait_until};
use bci_tests::suite::Suite;
use bci_tests::workdir::Workdir;

use crate::{Busy, about_file, assert_valid, end, send_signal};

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk(a_jvm_is_recorded_from_its_start_in_pieces);
    suite.any_jdk(a_running_jvm_is_recorded_until_somebody_asks_for_the_end);
    suite.any_jdk(a_killed_jvm_leaves_its_last_piece);
    suite.any_jdk(what_does_not_fit_is_refused);
}

/// The pieces in a folder that are finished, oldest first.
fn pieces(folder: &Path) -> Vec<PathBuf> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut pieces: Vec<PathBuf> = names.filter(|path| !is_hidden(path)).collect();
    pieces.sort();
    pieces
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

/// Nothing is left in the folder but pieces that are whole, each from where the one before ended.
#[track_caller]
fn assert_whole(folder: &Path) {
    let all = fs::read_dir(folder).expect("the folder is there").flatten().count();
    let pieces = pieces(folder);
    assert_eq!(pieces.len(), all, "a piece is not finished");
    for (number, piece) in pieces.iter().enumerate() {
        assert_valid(piece);
        // The last one may have been ended before anything happened.
        if number + 1 == pieces.len() {
            continue;
        }
        let stats = about_file("stats", piece, &[]).success();
        assert!(stats.out.contains("busy.Main.allocate(Main.java:24)"), "{}: {}", piece.display(), stats.out);
    }
}

fn a_jvm_is_recorded_from_its_start_in_pieces(jdk: &'static Jdk) {
    let folder = Workdir::new();
    let traces = folder.join("traces");
    let java = java::program(jdk, &["-Xmx128m"], "busy.Main", &[]);
    let mut command = Command::new(&martini::built().command);
    command.env_remove("MARTINI_AGENT").env("OTEL_SERVICE_NAME", "busy");
    command.args(["run", "--sampled=64k", "--cpu", "--roll", "1s", "--release", "1.2", "--to"]).arg(&traces);
    command.arg(java.get_program()).args(java.get_args()).current_dir(folder.path());
    let mut program = Running::start(&mut command);
    program.wait_for("up");
    wait_until(|| pieces(&traces).len() >= 2);
    let finished = program.finish().success();
    assert_eq!(finished.out(), "up\nover\n");
    assert!(!finished.err().contains("has been loaded dynamically"), "{}", finished.err());
    let count = pieces(&traces).len();
    assert!(finished.err().contains(&format!("{count} traces written to ")), "{}", finished.err());
    assert_whole(&traces);
    let last = fs::read_to_string(pieces(&traces).last().expect("there are some")).expect("text");
    for label in ["<option key=\"service\" value=\"busy\"/>", "<option key=\"release\" value=\"1.2\"/>"] {
        assert!(last.contains(label), "{label}");
    }
}

fn a_running_jvm_is_recorded_until_somebody_asks_for_the_end(jdk: &'static Jdk) {
    let busy = Busy::on(jdk, &[]);
    let traces = busy.folder.join("traces");
    let mut attach =
        busy.command("attach", &["--sampled=64k", "--roll", "1s", "--to", "traces"]).spawn().expect("it starts");
    wait_until(|| pieces(&traces).len() >= 2);
    send_signal(attach.id(), "INT");
    assert!(attach.wait().expect("it ends").success());
    assert_whole(&traces);
    // The same folder again, in which the oldest have to go: the newest is there, whatever its size.
    let mut again = busy.command("attach", &["--sampled=64k", "--roll", "1s", "--to", "traces", "--keep", "1k"]);
    let mut again = again.spawn().expect("it starts");
    let before = pieces(&traces);
    wait_until(|| pieces(&traces).first().is_some_and(|first| !before.contains(first)));
    send_signal(again.id(), "TERM");
    assert!(again.wait().expect("it ends").success());
    let left = pieces(&traces);
    assert_eq!(left.len(), 1, "{left:?}");
    assert_valid(&left[0]);
    busy.end();
}

fn a_killed_jvm_leaves_its_last_piece(jdk: &'static Jdk) {
    let mut busy = Busy::on(jdk, &[]);
    let traces = busy.folder.join("traces");
    let mut attach =
        busy.command("attach", &["--sampled=64k", "--roll", "10m", "--to", "traces"]).spawn().expect("it starts");
    let hidden =
        || fs::read_dir(&traces).into_iter().flatten().flatten().map(|entry| entry.path()).find(|path| is_hidden(path));
    wait_until(|| hidden().is_some_and(|path| fs::metadata(path).is_ok_and(|file| file.len() > 0)));
    busy.program.kill();
    assert!(attach.wait().expect("it ends").success());
    assert_eq!((pieces(&traces).len(), hidden()), (1, None));
}

fn what_does_not_fit_is_refused(jdk: &'static Jdk) {
    let busy = Busy::on(jdk, &[]);
    busy.martini("attach", &["--roll", "1s", "--file", "a.trcxml"]).refused("name a folder with --to");
    busy.martini("attach", &["--roll", "1s", "--duration", "1s"]).refused("cannot be used with");
    fs::write(busy.folder.join("file"), "").expect("a file");
    busy.martini("attach", &["--roll", "1s", "--to", "file"]).refused("traces cannot be gathered in file");
    let run = end(Command::new(&martini::built().command).args(["run", "--roll", "1s", "sh", "-c", "true"]));
    run.refused("--roll is for a JVM that this command starts itself");
    busy.end();
}
