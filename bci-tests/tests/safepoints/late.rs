//! A thread that is late for safepoints is named, by the line where it was; nobody is named if nobody is late.

use std::fs;

use analysis::safepoints::{LateBy, LateSubject};
use bci_tests::jdk::Jdk;
use bci_tests::martini::workspace;
use bci_tests::profiled::is_safe_mode;
use bci_tests::suite::Suite;

use crate::{program, run};

pub(crate) fn tests(suite: &mut Suite) {
    let kinds = [("loop", "loop"), ("copy", "copy"), ("fault", "fault")];
    suite.each_jdk_and(&kinds, who_is_late_is_named);
    suite.each_jdk(nobody_is_named_if_nobody_is_late);
    suite.each_jdk(in_safe_mode_stops_are_counted_and_nobody_is_named);
}

/// The line of the program that ends in this comment.
fn line(of: &str) -> u32 {
    let source = workspace().join("bci-tests/java/11/late/Main.java");
    let text = fs::read_to_string(source).expect("the program's source");
    let at = text.lines().position(|line| line.ends_with(&format!("// line of {of}"))).expect("its line");
    at as u32 + 1
}

fn who_is_late_is_named(jdk: &Jdk, what: &str) {
    let (_, report) = run(program(jdk, what));
    let slow = report.slow();
    assert!(slow.count > 0, "{report:?}");
    if is_safe_mode() {
        return;
    }
    // On a busy machine others are late now and then, and a thread without a processor does not answer.
    let mut rows = report.late(LateBy::Line, Vec::new());
    // The main thread fills two arrays first, which takes long then, too.
    rows.retain(|row| matches!(row.subject, LateSubject::Line(at) if at.method != "main"));
    let Some(LateSubject::Line(at)) = rows.first().map(|row| row.subject) else { panic!("{report:#?}") };
    let found = (at.class, at.method, at.source, at.line);
    assert_eq!(found, ("late.Main", what, "Main.java", Some(line(what))), "{rows:#?}");
    let all: u64 = rows.iter().map(|row| row.time.0).sum();
    assert!(rows[0].time.0 * 2 > all, "{slow:?} {rows:#?}");
    let threads = report.late(LateBy::Thread, Vec::new());
    let late = threads.iter().find(|row| row.subject != LateSubject::Thread("main"));
    assert_eq!(late.map(|row| &row.subject), Some(&LateSubject::Thread("t-late")), "{threads:#?}");
}

fn nobody_is_named_if_nobody_is_late(jdk: &Jdk) {
    let (_, report) = run(program(jdk, "none"));
    assert!(report.sums().count > 0);
    // The thread that asks for the stops may be late for those of the JVM's own.
    let rows = report.late(LateBy::Thread, Vec::new());
    assert!(rows.iter().all(|row| row.subject == LateSubject::Thread("main")), "{rows:#?}");
    assert!(report.slow().count > 0 || rows.is_empty(), "{rows:#?}");
}

fn in_safe_mode_stops_are_counted_and_nobody_is_named(jdk: &Jdk) {
    let (_, report) = run(program(jdk, "loop").options("internals=off"));
    assert!(report.slow().count > 0, "{report:?}");
    assert_eq!(report.unseen(), report.slow().sync);
}
