//! Recordings in pieces: each is a whole trace of its own, whatever ends the recording.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

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
    suite.any_jdk(pieces_are_pushed_without_names_and_again_if_the_server_did_not_take_them);
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

/// A server that takes what it is sent, but for the first time. Its address, and how often it took something.
fn server() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("it has one").to_string();
    let taken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&taken);
    thread::spawn(move || {
        for (number, stream) in listener.incoming().flatten().enumerate() {
            let mut reader = BufReader::new(&stream);
            let (mut length, mut line) = (0, String::new());
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                let lower = line.to_lowercase();
                length = lower
                    .strip_prefix("content-length: ")
                    .map_or(length, |text| text.trim().parse().expect("a number"));
                line.clear();
            }
            io::copy(&mut reader.take(length), &mut io::sink()).expect("a body");
            let status = if number == 0 { "503 Service Unavailable" } else { "200 OK" };
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            (&stream).write_all(answer.as_bytes()).expect("somebody waits for the answer");
            count.fetch_add(usize::from(number > 0), Ordering::Relaxed);
        }
    });
    (address, taken)
}

fn pieces_are_pushed_without_names_and_again_if_the_server_did_not_take_them(jdk: &'static Jdk) {
    let busy = Busy::on(jdk, &[]);
    let (address, taken) = server();
    let to = format!("otlp:http://{address}");
    let attached = |more: &[&str]| {
        let arguments = [&["--sampled=64k", "--roll", "1s", "--redact", "busy.*", "--to", &to], more].concat();
        let mut command = busy.command("attach", &arguments);
        command.env("MARTINI_REDACT_KEY", "key").stderr(Stdio::piped()).spawn().expect("it starts")
    };
    let ended = |attach: Child| {
        send_signal(attach.id(), "INT");
        let output = attach.wait_with_output().expect("it ends");
        assert!(output.status.success());
        String::from_utf8(output.stderr).expect("text")
    };
    let attach = attached(&["--to", "traces"]);
    wait_until(|| taken.load(Ordering::Relaxed) >= 2);
    let said = ended(attach);
    let traces = pieces(&busy.folder.join("traces"));
    assert!(said.contains("answered 503: ; trying again"), "{said}");
    assert!(
        said.contains(&format!("{} traces pushed to http://{address}/v1development/profiles", traces.len())),
        "{said}"
    );
    for piece in &traces {
        assert_valid(piece);
        let text = fs::read_to_string(piece).expect("text");
        assert!(
            !text.contains("busy.") && !text.contains("busy/") && !text.contains("\"allocate\""),
            "{}",
            piece.display()
        );
    }
    let before = taken.load(Ordering::Relaxed);
    let attach = attached(&[]);
    wait_until(|| taken.load(Ordering::Relaxed) > before);
    let said = ended(attach);
    assert!(said.contains(" pushed to ") && !said.contains("not pushed"), "{said}");
    busy.end();
}

fn what_does_not_fit_is_refused(jdk: &'static Jdk) {
    let busy = Busy::on(jdk, &[]);
    busy.martini("attach", &["--roll", "1s", "--file", "a.trcxml"]).refused("name a folder with --to");
    busy.martini("attach", &["--roll", "1s", "--duration", "1s"]).refused("cannot be used with");
    fs::write(busy.folder.join("file"), "").expect("a file");
    busy.martini("attach", &["--roll", "1s", "--to", "file"]).refused("traces cannot be gathered in file");
    busy.martini("attach", &["--roll", "1s", "--to", "otlp:host"]).refused("is no URL");
    busy.martini("attach", &["--roll", "1s", "--to", "a", "--to", "b"]).refused("--to names several folders");
    busy.martini("attach", &["--roll", "1s", "--redact", "*"]).refused("is not the beginning of names");
    busy.martini("attach", &["--redact", "a.*", "--duration", "1s"]).refused("traces of --roll");
    let run = end(Command::new(&martini::built().command).args(["run", "--roll", "1s", "sh", "-c", "true"]));
    run.refused("--roll is for a JVM that this command starts itself");
    busy.end();
}
