//! What goes wrong around a store: nothing is lost or counted twice, and one sentence says what happened.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::seen::{Seen, seen};
use super::{files, traces};
use crate::support::{Ended, end, martini, run};

/// A store, and traces that it does not have yet.
struct Place {
    _folder: TempDir,
    store: PathBuf,
    traces: Vec<PathBuf>,
}

impl Place {
    /// With the first traces added, each in files of its own.
    fn with(added: usize) -> Place {
        let folder = tempfile::tempdir().unwrap();
        let traces = traces(&folder);
        let place = Place { store: folder.path().join("store"), traces, _folder: folder };
        for trace in &place.traces[..added] {
            let ended = place.add(trace);
            assert_eq!((ended.status, ended.err.as_str()), (0, ""));
        }
        place
    }

    fn add(&self, trace: &Path) -> Ended {
        end(martini().args(["fleet", "add", "--service", "shop"]).arg(&self.store).arg(trace))
    }

    fn compact(&self) -> Ended {
        run(&["fleet", "compact", self.store.to_str().unwrap()])
    }

    /// Adds a trace that is changed.
    fn add_changed(&self, change: impl Fn(String) -> String) -> Ended {
        let path = self.store.with_file_name("changed.trcxml");
        fs::write(&path, change(fs::read_to_string(&self.traces[4]).unwrap())).unwrap();
        self.add(&path)
    }

    /// The folder of the only day and service, in a table.
    fn day(&self, table: &str) -> PathBuf {
        self.store.join(table).join("dt=2026-01-05/service=shop")
    }

    /// The first file of a folder.
    fn file_in(folder: &Path) -> PathBuf {
        let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files.swap_remove(0)
    }
}

#[track_caller]
fn assert_says(ended: &Ended, status: i32, sentence: &str) {
    assert!(ended.status == status && ended.err.contains(sentence), "{sentence}: {} {}", ended.status, ended.err);
    assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
}

#[test]
fn half_a_trace_is_added_and_said_to_be_no_whole() {
    let place = Place::with(0);
    let half = |text: String| text.split("<traceEnd").next().unwrap().to_owned();
    assert_says(&place.add_changed(half), 0, "the trace was cut off, as when the JVM is killed");
    let rows = seen(&place.store);
    let is_whole = rows.values().flatten().filter_map(|row| row.split_once("is_whole=").map(|(_, rest)| &rest[..1]));
    assert_eq!(is_whole.collect::<Vec<_>>(), ["0"]);
}

#[test]
fn a_trace_of_another_version_is_added_with_what_is_known() {
    let place = Place::with(0);
    let newer =
        |text: String| text.replace("version=\"2", "version=\"9").replace("<traceEnd", "<quantum n=\"1\"/>\n<traceEnd");
    assert_says(&place.add_changed(newer), 0, "a newer release, or another program, wrote the trace");
    assert_eq!(seen(&place.store).len(), 2);
}

#[test]
fn a_clock_that_is_ahead_is_named() {
    let place = Place::with(0);
    let ahead = place.add_changed(|text| text.replace("\"17676064", "\"41676064"));
    assert_says(&ahead, 0, "by its clock it began on 2102-01-25, in the future; it is filed under that day");
    assert!(place.store.join("run/dt=2102-01-25").is_dir());
}

/// Where no file may be longer, the disk is full as far as a writer can tell.
#[test]
fn a_full_disk_leaves_the_store_as_it_was() {
    let place = Place::with(2);
    let limited = |kilobytes: u32, arguments: &[&str], paths: &[&Path]| {
        let mut command = Command::new("bash");
        command.arg("-c").arg(format!("trap '' XFSZ; ulimit -f {kilobytes}; exec \"$0\" \"$@\""));
        end(command.arg(env!("CARGO_BIN_EXE_martini")).arg("fleet").args(arguments).args(paths))
    };
    let mut failed = 0;
    for (arguments, paths) in [
        (&["add", "--service", "shop"][..], &[&*place.store, &*place.traces[2]][..]),
        (&["compact"][..], &[&*place.store][..]),
    ] {
        let before = files(&place.store);
        for kilobytes in 1.. {
            let ended = limited(kilobytes, arguments, paths);
            if ended.status == 0 {
                break;
            }
            assert_says(&ended, 2, "File too large");
            assert_eq!(files(&place.store), before, "{kilobytes}");
            failed += 1;
        }
    }
    assert!(failed >= 2, "each failed before it was done");
    let undisturbed = Place::with(3);
    assert_eq!(undisturbed.compact().status, 0);
    assert_eq!(files(&place.store), files(&undisturbed.store));
}

#[test]
fn a_damaged_file_is_named_and_nothing_is_changed() {
    let place = Place::with(2);
    let names = place.store.join("class/service=shop/release=unknown");
    for (table, folder) in [("alloc", place.day("alloc")), ("run", place.day("run")), ("class", names)] {
        let file = Place::file_in(&folder);
        let whole = fs::read(&file).unwrap();
        fs::write(&file, &whole[..whole.len() / 2]).unwrap();
        let before = files(&place.store);
        // Who adds reads the names that are there, who merges all else.
        let ended = if table == "class" { place.add(&place.traces[2]) } else { place.compact() };
        assert_says(&ended, 2, &format!("{} is damaged: ", file.display()));
        assert_eq!(files(&place.store), before, "{table}");
        fs::write(&file, whole).unwrap();
    }
    assert_eq!((place.add(&place.traces[2]).status, place.compact().status), (0, 0));
}

#[test]
fn a_day_of_one_table_that_is_removed_by_hand_takes_nothing_else_with_it() {
    let place = Place::with(3);
    let before = seen(&place.store);
    fs::remove_dir_all(place.day("alloc").parent().unwrap()).unwrap();
    let without: Seen = before
        .into_iter()
        .map(|(run, rows)| (run, rows.into_iter().filter(|row| !row.starts_with("alloc/")).collect()))
        .collect();
    assert_eq!(seen(&place.store), without);
    let again = place.add(&place.traces[0]);
    assert_eq!((again.status, again.out.ends_with(": was added before\n")), (0, true), "{}", again.out);
    assert_eq!(place.compact().status, 0);
    assert_eq!(seen(&place.store), without);
    // With the day of its runs gone too they are added again, whole.
    fs::remove_dir_all(place.day("run").parent().unwrap()).unwrap();
    place.traces[..3].iter().for_each(|trace| assert_eq!(place.add(trace).status, 0));
    assert_eq!(seen(&place.store), seen(&Place::with(3).store));
}

/// As it is while somebody writes: all files of a run are at their places but that of the run itself.
#[test]
fn a_reader_during_a_write_sees_what_was_there_before() {
    let [before, after] = [2, 3].map(Place::with);
    let expected = seen(&before.store);
    for (path, bytes) in files(&after.store) {
        let place = before.store.join(&path);
        if !place.exists() && !path.starts_with("run") {
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(place, bytes).unwrap();
        }
    }
    let facts = |seen: Seen| seen.into_iter().filter(|(run, _)| run.is_some()).collect::<Vec<_>>();
    assert_eq!(facts(seen(&before.store)), facts(expected));
    assert_eq!(before.add(&before.traces[2]).status, 0);
    assert_eq!(files(&before.store), files(&after.store));
}
