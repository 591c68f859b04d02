//! `martini attach` and the commands beside it, on JVMs that run already: the program is left as it was, and a trace of it is there.

mod agreement;
mod apart;
mod killed;
mod planted;
mod refused;
mod rolling;
mod server;
mod spark;
mod top;
mod watched;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use bci_tests::java;
use bci_tests::jdk::Jdk;
use bci_tests::martini;
use bci_tests::process::{self, Running};
use bci_tests::read::{self, Judged};
use bci_tests::suite::Suite;
use bci_tests::workdir::Workdir;

fn main() -> ExitCode {
    Suite::run(&[
        apart::tests,
        killed::tests,
        planted::tests,
        refused::tests,
        rolling::tests,
        server::tests,
        spark::tests,
        top::tests,
        watched::tests,
    ])
}

/// Records with every engine.
const ALL_ENGINES: [&str; 8] =
    ["--heap=counts", "--callers=64k", "--sampled", "--cpu", "--wall", "--locks", "--juc", "--ttsp"];

/// A program that works until it is ended, and a folder for what is recorded of it.
struct Busy {
    program: Running,
    folder: Workdir,
}

/// What a command left.
struct Ended {
    status: Option<i32>,
    out: String,
    err: String,
}

impl Busy {
    fn on(jdk: &Jdk, flags: &[&str]) -> Busy {
        Busy::start(&mut java::program(jdk, &[&["-Xmx128m"], flags].concat(), "busy.Main", &[]))
    }

    fn start(command: &mut Command) -> Busy {
        let mut program = Running::start(command);
        program.wait_for("up");
        Busy { program, folder: Workdir::new() }
    }

    fn pid(&self) -> u32 {
        self.program.pid()
    }

    /// A command about it, in its folder.
    fn command(&self, name: &str, arguments: &[&str]) -> Command {
        about(self.folder.path(), name, self.pid(), arguments)
    }

    fn martini(&self, name: &str, arguments: &[&str]) -> Ended {
        end(&mut self.command(name, arguments))
    }

    /// The trace by its usual name, or the next one.
    fn trace(&self, pid: u32, number: u32) -> PathBuf {
        let number = if number > 1 { format!("-{number}") } else { String::new() };
        self.folder.join(&format!("martini-{pid}{number}.trcxml"))
    }

    /// The program ends as it does without us: what it printed to standard error.
    #[track_caller]
    fn end(self) -> String {
        let finished = self.program.finish().success();
        assert_eq!(finished.out(), "up\nover\n");
        finished.err()
    }
}

/// A command about a process, in a folder.
fn about(folder: &Path, name: &str, pid: u32, arguments: &[&str]) -> Command {
    let mut command = Command::new(&martini::built().command);
    command.env_remove("MARTINI_AGENT").env_remove("MARTINI_OFF").env("COLUMNS", "1000");
    command.current_dir(folder).arg(name).arg(pid.to_string()).args(arguments);
    command
}

/// A command about a file.
fn about_file(name: &str, file: &Path, arguments: &[&str]) -> Ended {
    end(Command::new(&martini::built().command).arg(name).arg(file).args(arguments))
}

fn end(command: &mut Command) -> Ended {
    let finished = process::run(command);
    Ended { status: finished.status.code(), out: finished.out(), err: finished.err() }
}

impl Ended {
    #[track_caller]
    fn success(self) -> Self {
        assert_eq!(self.status, Some(0), "{}\n{}", self.out, self.err);
        self
    }

    /// It was refused, in a sentence with these words.
    #[track_caller]
    fn refused(self, words: &str) {
        assert_eq!(self.status, Some(2), "{}\n{}", self.out, self.err);
        assert!(self.err.contains(words), "{}", self.err);
    }
}

/// Nothing is wrong in a trace, and it has an end.
#[track_caller]
fn assert_valid(trace: &Path) {
    read::trace(trace, (), Judged::Valid);
}

/// Sends a signal, by its name, to a process that nobody has waited for yet.
#[track_caller]
fn send_signal(pid: u32, signal: &str) {
    let sent = Command::new("kill").args(["-s", signal, &pid.to_string()]).status();
    assert!(sent.expect("kill starts").success());
}

/// What is left of ours in a folder for temporary files.
fn leftovers(tmp: &Path) -> Vec<String> {
    let names = std::fs::read_dir(tmp).expect("the folder is there").flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names
        .filter(|name| ["martini-files-", "martini-agent-", "martini-reply-"].iter().any(|ours| name.starts_with(ours)))
        .collect()
}
