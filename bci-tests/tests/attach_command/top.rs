//! `martini top` on a terminal of 110 columns, whose keys are pressed by tmux.

use std::path::Path;
use std::process::Command;

use bci_tests::jdk::Jdk;
use bci_tests::martini;
use bci_tests::process::wait_until;
use bci_tests::suite::Suite;

use crate::{Busy, assert_valid, end};

pub(crate) fn tests(suite: &mut Suite) {
    suite.any_jdk(needs_a_terminal);
    if Command::new("tmux").arg("-V").output().is_ok() {
        suite.each_jdk(shows_a_jvm_and_lets_it_go);
        suite.any_jdk(follows_a_trace_that_grows);
    } else {
        suite.skip("top::shows_a_jvm_and_lets_it_go".to_owned(), "no tmux");
    }
}

/// A server of its own, with one window.
struct Tmux<'a> {
    socket: String,
    folder: &'a Path,
}

impl<'a> Tmux<'a> {
    /// Runs the command in that folder, and says how it ended.
    fn top(folder: &'a Path, arguments: &[&str]) -> Self {
        let tmux = Tmux { socket: folder.join("tmux").to_string_lossy().into_owned(), folder };
        let command = martini::built().command.to_string_lossy().into_owned();
        let script = format!("'{command}' top {}; echo ended with $?; sleep 600", arguments.join(" "));
        tmux.run(&["-f", "/dev/null", "new-session", "-d", "-x", "110", "-y", "30", &script]);
        tmux
    }

    #[track_caller]
    fn run(&self, arguments: &[&str]) -> String {
        let mut tmux = Command::new("tmux");
        tmux.current_dir(self.folder).env("LC_ALL", "C.UTF-8").args(["-S", &self.socket]).args(arguments);
        end(&mut tmux).success().out
    }

    fn press(&self, key: &str) {
        self.run(&["send-keys", key]);
    }

    /// Waits until there is a screen with all these.
    #[track_caller]
    fn wait_for(&self, words: &[&str]) {
        let mut screen = String::new();
        wait_until(|| {
            screen = self.run(&["capture-pane", "-p"]);
            words.iter().all(|words| screen.contains(words))
        });
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-S", &self.socket, "kill-server"]).output();
    }
}

fn needs_a_terminal(jdk: &'static Jdk) {
    let busy = Busy::on(jdk, &[]);
    busy.martini("top", &[]).refused("needs a terminal");
    busy.end();
}

fn shows_a_jvm_and_lets_it_go(jdk: &'static Jdk) {
    let busy = Busy::on(jdk, &[]);
    let pid = busy.pid().to_string();
    let tmux = Tmux::top(busy.folder.path(), &[&pid]);
    tmux.wait_for(&["[1 lines]", "*allocates", "iB/s", "busy.Main.allocate(Main.java:24)"]);
    assert!(busy.martini("status", &[]).out.starts_with("recording  yes\n"));
    tmux.press("Tab");
    tmux.wait_for(&["[2 classes]", "byte[]"]);
    tmux.press("3");
    tmux.wait_for(&["[3 cpu]", " %", "busy.Main."]);
    tmux.press("5");
    tmux.wait_for(&["[5 threads]", "main"]);
    for key in ["/", "x", "y", "z"] {
        tmux.press(key);
    }
    tmux.wait_for(&["/xyz_", "Esc shows all"]);
    tmux.press("Escape");
    tmux.wait_for(&["main"]);
    tmux.press("Space");
    tmux.wait_for(&["paused"]);
    tmux.press("h");
    tmux.wait_for(&["this help"]);
    tmux.press("q");
    tmux.wait_for(&["ended with 0"]);
    assert_eq!(busy.martini("status", &[]).out, "recording  no\n");
    drop(tmux);
    busy.end();
}

fn follows_a_trace_that_grows(jdk: &'static Jdk) {
    let busy = Busy::on(jdk, &[]);
    let trace = busy.trace(busy.pid(), 1);
    busy.martini("attach", &["--detach"]).success();
    {
        let name = trace.file_name().and_then(|name| name.to_str()).expect("text");
        let tmux = Tmux::top(busy.folder.path(), &[name, "--refresh", "200ms"]);
        tmux.wait_for(&[name, "busy.Main.allocate(Main.java:24)"]);
        busy.martini("stop", &["--quiet"]).success();
        tmux.wait_for(&["ended  "]);
        tmux.press("C-c");
        tmux.wait_for(&["ended with 0"]);
    }
    assert_valid(&trace);
    // What is recorded already is shown, and goes on.
    busy.martini("attach", &["--detach", "--locks"]).success();
    let pid = busy.pid().to_string();
    let tmux = Tmux::top(busy.folder.path(), &[&pid]);
    tmux.press("4");
    tmux.wait_for(&["[4 locks]"]);
    tmux.press("q");
    tmux.wait_for(&["ended with 0"]);
    assert!(busy.martini("status", &[]).out.starts_with("recording  yes\n"));
    busy.martini("stop", &["--quiet"]).success();
    drop(tmux);
    busy.end();
}
