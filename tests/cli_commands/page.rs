//! What the reading commands print on 80 columns of names that are too long for it, as it is kept in `tests/pages`.

use std::path::PathBuf;

use crate::support::{Ended, end, martini, text};

/// Names that frameworks have.
const LONG: [(&str, &str); 5] = [
    ("demo.Cell", "org.springframework.beans.factory.support.DefaultListableBeanFactory"),
    ("demo.Cache", "com.fasterxml.jackson.databind.introspect.AnnotatedMethodCollectorAndMemberResolver"),
    ("demo.Worker", "io.netty.util.internal.shaded.org.jctools.queues.MpscUnboundedArrayQueueConsumerWorker"),
    ("demo.Node", "org.hibernate.persister.entity.SingleTableEntityPersister$NaturalIdentifierCacheEntry"),
    ("worker-1", "http-nio-0.0.0.0-8443-exec-1 of the connector of the administration console, waiting"),
];

fn shown(folder: &tempfile::TempDir, trace: &str, arguments: &[&str], columns: Option<&str>) -> Ended {
    let long = LONG.iter().fold(text(trace), |text, (name, long)| text.replace(name, long));
    std::fs::write(folder.path().join(trace), long).expect("the folder can be written to");
    let mut command = martini();
    command.env_remove("COLUMNS").envs(columns.map(|columns| ("COLUMNS", columns)));
    end(command.current_dir(folder.path()).args(arguments).arg(trace))
}

#[test]
fn nothing_is_wider_than_80_columns() {
    let folder = tempfile::tempdir().unwrap();
    for (page, trace, arguments) in [
        ("stats", "heap.trcxml", &["stats"][..]),
        ("counts", "counts.trcxml", &["stats"]),
        ("explain", "explain.trcxml", &["explain"]),
        ("explain-deadlock", "contention.trcxml", &["explain"]),
        ("explain-nothing", "counts.trcxml", &["explain"]),
        ("over-time", "heap.trcxml", &["stats", "--over-time"]),
        ("counts-over-time", "snapshots.trcxml", &["stats", "--over-time"]),
        ("part", "snapshots.trcxml", &["stats", "--from", "2", "--to", "4.2"]),
        ("callers", "callers.trcxml", &["stats"]),
        ("line", "heap.trcxml", &["stats", "--by", "line"]),
        ("method", "callers.trcxml", &["stats", "--by", "method"]),
        ("threads-in", "callers.trcxml", &["stats", "--by", "thread", "--in", "demo.*"]),
        ("tree", "callers.trcxml", &["tree"]),
        ("tree-bottom-up", "callers.trcxml", &["tree", "--bottom-up", "--filter", "byte[]"]),
        ("tree-by-thread", "callers.trcxml", &["tree", "--by", "thread", "--frames", "method", "--in", "demo.Main"]),
        ("tree-locks", "contention.trcxml", &["tree", "--locks", "--by", "class"]),
        ("cpu", "cpu.trcxml", &["stats"]),
        ("cpu-method", "cpu.trcxml", &["stats", "--cpu", "--by", "method", "--in", "demo.Main", "--from", "0.5"]),
        ("cpu-thread", "cpu.trcxml", &["stats", "--cpu", "--by", "thread"]),
        ("cpu-function", "cpu.trcxml", &["stats", "--cpu", "--by", "function"]),
        ("tree-cpu", "cpu.trcxml", &["tree"]),
        ("tree-cpu-bottom-up", "cpu.trcxml", &["tree", "--cpu", "--bottom-up", "--frames", "method"]),
        ("tree-wall", "cpu.trcxml", &["tree", "--wall", "--by", "carrier"]),
        ("calls", "calls.trcxml", &["stats"]),
        ("explain-calls", "calls.trcxml", &["explain"]),
        ("threads-calls", "calls.trcxml", &["threads"]),
        ("calls-method", "calls.trcxml", &["stats", "--by", "method", "--sort", "calls", "--document", "1"]),
        ("tree-calls", "calls.trcxml", &["tree", "--calls"]),
        ("tree-calls-bottom-up", "calls.trcxml", &["tree", "--calls", "--bottom-up", "--frames", "method"]),
        ("explain-cpu", "cpu.trcxml", &["explain"]),
        ("threads-cpu", "cpu.trcxml", &["threads"]),
        ("sampled", "sampled.trcxml", &["stats"]),
        ("tree-live", "sampled.trcxml", &["tree", "--live"]),
        ("explain-sampled", "sampled.trcxml", &["explain"]),
        ("threads", "contention.trcxml", &["threads"]),
        ("times", "times.trcxml", &["threads"]),
        ("locks", "contention.trcxml", &["locks", "--stacks"]),
        ("waits", "contention.trcxml", &["locks", "--waits"]),
        ("other-waits", "waits.trcxml", &["locks"]),
        ("lock-names", "waits.trcxml", &["locks", "--waits", "--idle", "--by", "monitor"]),
        ("safepoints", "safepoints.trcxml", &["safepoints", "--stacks"]),
        ("warmup", "start.trcxml", &["warmup"]),
        ("warmup-stacks", "start.trcxml", &["warmup", "--stacks", "--top", "1"]),
        ("explain-start", "start.trcxml", &["explain"]),
        ("requests", "requests.trcxml", &["requests"]),
        ("request", "requests.trcxml", &["requests", "--request", "shop.Orders.handle:1"]),
        ("explain-requests", "requests.trcxml", &["explain"]),
        ("explain-late", "safepoints.trcxml", &["explain"]),
        ("heap", "dump.trcxml", &["heap", "--show", "histogram,suspects,dominators"]),
        ("object", "dump.trcxml", &["heap", "--object", "22"]),
        ("class", "dump.trcxml", &["heap", "--class", LONG[3].1]),
    ] {
        let ended = shown(&folder, trace, arguments, None);
        assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{page}");
        for line in ended.out.lines() {
            assert!(line.chars().count() <= 80, "{page}: {line}");
        }
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/pages").join(format!("{page}.txt"));
        if std::env::var_os("MARTINI_UPDATE").is_some_and(|value| value == "1") {
            std::fs::write(&path, &ended.out).expect("the page can be written");
        }
        let kept = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(ended.out, kept, "write it again: MARTINI_UPDATE=1 cargo test -p martini --test cli_commands page");
    }
}

#[test]
fn names_are_in_full_where_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let site = format!("{0} at demo.Main.run(Main.java:15)\n", LONG[0].1);
    for (arguments, columns) in [(&["stats", "--wide"][..], None), (&["stats"], Some("200"))] {
        let ended = shown(&folder, "heap.trcxml", arguments, columns);
        assert!(ended.out.contains(&format!(" 1  {site}")), "{columns:?}: {}", ended.out);
    }
    let narrow = shown(&folder, "heap.trcxml", &["stats"], Some("none"));
    assert!(!narrow.out.contains(&site), "{}", narrow.out);
}
