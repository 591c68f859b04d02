//! Filters: they take names as tables and Java code spell them, and one that matches nothing says so.

use std::process::Command;

use bci_tests::counted::Counted;
use bci_tests::jdk::Jdk;
use bci_tests::profiled::{Heap, Profiled};
use bci_tests::recorded::Recorded;
use bci_tests::suite::Suite;
use bci_tests::{martini, process};

/// Patterns, and whether a class is among those that each is for.
type Pattern = (&'static str, fn(&str) -> bool);

const PATTERNS: [(&str, Pattern); 5] = [
    ("array", ("byte[]", |class| class == "byte[]" || class == "byte[][]")),
    ("arrays", ("*[]", |class| class.ends_with("[]"))),
    ("short", ("j.l.Object[]", |class| class.starts_with("java.lang.Object[]"))),
    ("inner", ("java.util.HashMap.Node", |class| class.trim_end_matches("[]") == "java.util.HashMap$Node")),
    ("short_inner", ("e.Main.Kept", |class| class.trim_end_matches("[]") == "everything.Main$Kept")),
];

pub(crate) fn tests(suite: &mut Suite) {
    suite.each_jdk_and(&PATTERNS, names_are_taken_as_they_are_shown);
    suite.each_jdk(each_pattern_that_matches_nothing_is_named);
    suite.any_jdk(somebody_is_told_while_the_program_runs);
}

fn names_are_taken_as_they_are_shown(jdk: &Jdk, (pattern, is_meant): Pattern) {
    let recording = |heap| Profiled::on(jdk).heap(heap).option("include", pattern).main("everything.Main");
    let all = Profiled::on(jdk).heap(Heap::Events).main("everything.Main").run_and_read::<Recorded>();
    assert!(all.trace.by_class().keys().any(|class| is_meant(class)), "the program makes none");
    let events = recording(Heap::Events).run_and_read::<Recorded>();
    let events = events.trace.by_class();
    assert!(!events.is_empty() && events.keys().all(|class| is_meant(class)), "{events:?}");
    let counts = recording(Heap::Counts).run_and_read::<Counted>();
    let counts: Vec<&str> = counts.trace.sites.keys().map(|site| site.class.as_str()).collect();
    assert!(!counts.is_empty() && counts.iter().all(|class| is_meant(class)), "{counts:?}");
}

fn each_pattern_that_matches_nothing_is_named(jdk: &Jdk) {
    for heap in [Heap::Counts, Heap::Events] {
        let options = "include=no.such.*,exclude=Nothing,include=byte[],include=int[][][][]";
        let ran = Profiled::on(jdk).heap(heap).options(options).main("everything.Main").run_and_read::<Counted>();
        let unmatched: Vec<_> = ran.trace.counts.iter().filter(|((key, _), _)| key == "filters.unmatched").collect();
        let detail = "no.such.*, Nothing, int[][][][]".to_owned();
        assert_eq!(unmatched, [(&("filters.unmatched".to_owned(), detail), &3)]);
        let stats = process::run(Command::new(&martini::built().command).arg("stats").arg(&ran.file)).success();
        let shown = stats.out().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            shown.contains("3 filter patterns matched nothing that was recorded (no.such.*, Nothing, int"),
            "{shown}"
        );
    }
}

fn somebody_is_told_while_the_program_runs(jdk: &Jdk) {
    let program =
        Profiled::on(jdk).heap(Heap::Counts).option("include", "no.such.*").main("graph.Main").args(&["wait"]);
    let mut started = program.through(&["sh", "-c", "exec \"$@\" 2>&1", "sh"]).start();
    started.wait_for_any(&["no object of a class that matches include=no.such.* was seen"]);
    started.finish();
}
