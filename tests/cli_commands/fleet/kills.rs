//! Processes that write to one store, two at a time, and are killed at random moments of their lives.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::seen::{Seen, seen};
use crate::support::{end, martini, text};

const KILLS: usize = 100;
/// So often two are killed before a store is brought to its end.
const ROUNDS: usize = 3;
const SEED: u64 = 42;

/// Traces that together have rows in all tables.
const TRACES: [&str; 9] = ["heap", "counts", "callers", "sampled", "cpu", "contention", "requests", "explain", "start"];

/// What a process does to a store.
#[derive(Clone, Copy)]
enum Change {
    /// Adds all traces, from this one on.
    Add(usize),
    Compact,
}

impl Change {
    fn start(self, store: &Path, traces: &[PathBuf]) -> Command {
        let mut command = martini();
        match self {
            Change::Add(first) => {
                let (last, begin) = traces.split_at(first);
                command.args(["fleet", "add", "--service", "shop", "--release", "1"]).arg(store).args(begin).args(last)
            }
            Change::Compact => command.args(["fleet", "compact"]).arg(store),
        };
        command
    }
}

/// Numbers below an end, always the same ones.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

#[test]
fn the_rows_are_those_of_a_run_without_kills() {
    // In memory where that is possible: what is killed has not waited for a disk most of its life.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let traces: Vec<PathBuf> = (1..).zip(TRACES).map(|(pid, name)| trace(folder.path(), pid, name)).collect();
    let expected = folder.path().join("expected");
    let whole = |change: Change, store: &Path| {
        let begin = Instant::now();
        let ended = end(&mut change.start(store, &traces));
        assert_eq!((ended.status, ended.err.as_str()), (0, ""));
        begin.elapsed()
    };
    let adding = whole(Change::Add(0), &expected);
    let rows = seen(&expected);
    let tables: BTreeSet<_> = rows.values().flatten().filter_map(|row| row.split('/').next()).collect();
    assert_eq!(tables.len(), 13, "rows in all tables: {tables:?}");
    let merging = whole(Change::Compact, &expected);
    assert!(seen(&expected) == rows && rows.len() == TRACES.len() + 1);
    let (mut draw, mut kills) = (Draw(SEED), 0);
    for number in 0.. {
        let store = folder.path().join(number.to_string());
        for _ in 0..ROUNDS {
            let two = [(); 2].map(|()| {
                let first = draw.below(TRACES.len() as u64) as usize;
                let is_merge = draw.below(3) == 0;
                let (change, usual) = if is_merge { (Change::Compact, merging) } else { (Change::Add(first), adding) };
                (change, usual * draw.below(1_000) as u32 / 1_000)
            });
            kills += killed(two, &store, &traces);
            check_runs(&seen(&store), &rows);
        }
        whole(Change::Add(0), &store);
        assert!(seen(&store) == rows, "store {number}, after an add");
        whole(Change::Compact, &store);
        assert!(seen(&store) == rows, "store {number}, merged");
        fs::remove_dir_all(&store).unwrap();
        if kills >= KILLS {
            break;
        }
    }
}

/// Runs two processes at a time, and kills each after its time. How many were not over before.
fn killed(two: [(Change, Duration); 2], store: &Path, traces: &[PathBuf]) -> usize {
    thread::scope(|scope| {
        let threads = two.map(|(change, after)| {
            scope.spawn(move || {
                let mut command = change.start(store, traces);
                let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
                thread::sleep(after);
                child.kill().unwrap();
                child.wait().unwrap().signal().is_some()
            })
        });
        threads.map(|thread| usize::from(thread.join().unwrap())).iter().sum()
    })
}

/// A run is there with all its rows, or not at all.
fn check_runs(seen: &Seen, expected: &Seen) {
    for (run, rows) in seen {
        match run {
            Some(run) => assert!(Some(rows) == expected.get(&Some(*run)), "run {run}"),
            None => assert!(rows.iter().all(|name| expected[&None].binary_search(name).is_ok()), "names"),
        }
    }
}

/// A trace of a JVM of its own.
fn trace(folder: &Path, pid: u32, name: &str) -> PathBuf {
    let text = text(&format!("{name}.trcxml"));
    let (head, rest) = text.split_once("pid=\"").expect("a process");
    let (_, rest) = rest.split_once('"').expect("its number");
    let path = folder.join(format!("{name}.trcxml"));
    fs::write(&path, format!("{head}pid=\"{pid}\"{rest}")).unwrap();
    path
}
