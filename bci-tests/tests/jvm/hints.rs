//! What `martini run` and `martini explain` propose to type next: it shows what was recorded, whatever that was.

use std::fs;
use std::path::Path;
use std::process::Command;

use bci_tests::java;
use bci_tests::jdk::Jdk;
use bci_tests::martini;
use bci_tests::process;
use bci_tests::suite::Suite;
use bci_tests::workdir::Workdir;

/// Options of `martini run`, and the commands that show what they record.
type Engine = (&'static [&'static str], &'static [&'static str]);

const ENGINES: [(&str, Engine); 13] = [
    ("counts", (&[], &["stats"])),
    ("live", (&["--live"], &["stats"])),
    ("events", (&["--heap", "events"], &["stats"])),
    ("vm", (&["--heap", "vm"], &["stats"])),
    ("sampled", (&["--sampled=16k"], &["stats"])),
    ("cpu", (&["--cpu=10ms"], &["stats"])),
    ("wall", (&["--wall=10ms"], &["stats --wall"])),
    ("locks", (&["--locks"], &["locks"])),
    ("juc", (&["--juc"], &["locks"])),
    ("ttsp", (&["--ttsp"], &["safepoints"])),
    ("dump", (&["--dump", "end"], &["stats", "heap"])),
    ("dump_in_trace", (&["--heap", "events", "--dump", "end", "--dumpformat", "xml"], &["stats", "heap"])),
    (
        "all",
        (
            &["--heap", "counts", "--cpu=10ms", "--wall=10ms", "--locks", "--ttsp", "--dump", "end"],
            &["stats", "stats --cpu", "stats --wall", "locks", "safepoints", "heap"],
        ),
    ),
];

pub(crate) fn tests(suite: &mut Suite) {
    suite.jdks(..).each_and(&ENGINES, each_hint_shows_what_was_recorded);
}

fn each_hint_shows_what_was_recorded(jdk: &Jdk, (options, shown): Engine) {
    let dir = Workdir::new();
    // Another recording of this name has left them.
    for number in 1..4 {
        fs::write(dir.join(&format!("t-{number}.hprof")), "JAVA PROFILE 1.0.2\0").expect("the folder is ours");
    }
    let mut run = command(&dir);
    run.arg("run").args(options).args(["--file", "t.trcxml", "--"]).arg(jdk.home.join("bin/java"));
    let ran = process::run(run.arg("-cp").arg(java::class_path()).arg("everything.Main")).success();
    let err = ran.err();
    let (_, more) = err.split_once("\nMore: ").unwrap_or_else(|| panic!("{err}"));
    let hints: Vec<String> = more.split(',').map(|hint| hint.trim().to_owned()).collect();
    let mut names: Vec<String> = hints.iter().map(|hint| without_file(hint, &dir)).collect();
    assert_eq!(names.remove(0), "explain", "{err}");
    assert_eq!(names, shown, "{err}");
    for hint in hints {
        let ended = typed(&hint, &dir);
        assert!(!ended.contains("the trace has no "), "{hint}: {ended}");
        let next = ended.lines().filter_map(|line| line.trim().strip_prefix("next: ")).map(str::to_owned);
        for next in next.filter(|next| !next.contains("martini run")).collect::<Vec<_>>() {
            typed(next.trim_end_matches('\\'), &dir);
        }
    }
}

fn command(dir: &Workdir) -> Command {
    let mut command = Command::new(&martini::built().command);
    command.current_dir(dir.path()).env("COLUMNS", "1000");
    command
}

/// The command of a hint and its flags, without the file that it is about.
fn without_file(hint: &str, dir: &Workdir) -> String {
    let words: Vec<&str> = hint.split(' ').collect();
    let ["martini", inner @ .., file] = &words[..] else { panic!("{hint}") };
    let file = Path::new(file);
    assert!(dir.path().join(file).is_file(), "{hint}");
    assert!(fs::metadata(dir.path().join(file)).expect("it is there").len() > 19, "{hint}: of another run");
    inner.join(" ")
}

/// What a hint prints, which ends well.
#[track_caller]
fn typed(hint: &str, dir: &Workdir) -> String {
    let words = hint.split_whitespace().skip(1).map(|word| word.trim_matches('\''));
    let ended = process::run(command(dir).args(words)).success();
    ended.out() + &ended.err()
}
