//! The rows of a store add up to what the tables of `analysis` say.

use std::collections::{BTreeMap, BTreeSet};

use analysis::allocations::{AllocationReport, By, Naming, Row, Subject};
use proptest::prelude::*;

use super::*;
use crate::schema::{ALLOC, CLASS, COMPILE, CPU, FRAME, GC, LIVE, LOCK_WAIT, REQUEST, STACK};

/// A table of a store, by the names of its columns.
struct Stored {
    table: &'static Table,
    rows: Vec<Vec<Value>>,
}

impl Stored {
    fn of(store: &Store, table: &'static Table) -> Stored {
        Stored { table, rows: all_rows(store, table).into_iter().map(|(_, row)| row).collect() }
    }

    fn cell<'r>(&self, row: &'r [Value], column: &str) -> &'r Value {
        &row[self.table.column(column).unwrap_or_else(|| panic!("{column}"))]
    }

    fn int(&self, row: &[Value], column: &str) -> Option<i64> {
        match self.cell(row, column) {
            Value::Int(value) => Some(*value),
            Value::None => None,
            other => panic!("{column}: {other:?}"),
        }
    }

    fn text(&self, row: &[Value], column: &str) -> String {
        if let Value::Text(text) = self.cell(row, column) { text.to_string() } else { String::new() }
    }

    fn sum(&self, column: &str, is_in: impl Fn(&[Value]) -> bool) -> u64 {
        self.rows.iter().filter(|row| is_in(row)).filter_map(|row| self.int(row, column)).sum::<i64>() as u64
    }
}

/// Objects and bytes by class, and of what is not counted.
type ByClass = BTreeMap<(bool, String), (u64, u64)>;

fn by_class(rows: &[Row<'_>], numbers: impl Fn(&Row<'_>) -> (u64, u64)) -> ByClass {
    let key = |row: &Row<'_>| match row.subject {
        Subject::Class(class) => (false, class.to_owned()),
        Subject::Uncounted(Some(class)) => (true, class.to_owned()),
        other => panic!("{other:?}"),
    };
    rows.iter().map(|row| (key(row), numbers(row))).filter(|(_, numbers)| *numbers != (0, 0)).collect()
}

fn stored(store: &Store, table: &'static Table) -> ByClass {
    let (classes, found) = (Stored::of(store, &CLASS), Stored::of(store, table));
    let names: BTreeMap<Option<i64>, String> =
        classes.rows.iter().map(|row| (classes.int(row, "class_id"), classes.text(row, "name"))).collect();
    let mut sums = ByClass::new();
    for row in &found.rows {
        let class = names[&found.int(row, "class_id")].clone();
        let is_uncounted = table.column("kind").is_some() && found.text(row, "kind") == "uncounted";
        let sum = sums.entry((is_uncounted, class)).or_default();
        sum.0 += found.int(row, "objects").unwrap() as u64;
        sum.1 += found.int(row, "bytes").unwrap() as u64;
    }
    sums
}

fn check_allocations(store: &Store, report: &AllocationReport) {
    let rows = report.rows(By::Class, |_| true);
    assert_eq!(stored(store, &ALLOC), by_class(&rows, |row| (row.totals.total(), row.totals.total_bytes())));
    let live = by_class(&rows, |row| (row.totals.live(), row.totals.live_bytes()));
    assert_eq!(stored(store, &LIVE), live);
    // Lines are known to the rounding of their parts.
    let names = report.site_names(&Naming::Own(Vec::new()));
    let alloc = Stored::of(store, &ALLOC);
    let frames = Stored::of(store, &FRAME);
    for row in report.rows_named(By::Line, &names, |_| true) {
        let Subject::Line(Some(at)) = row.subject else { continue };
        let is_line = |frame: &&Vec<Value>| {
            let line = frames.int(frame, "line");
            frames.text(frame, "class") == at.class
                && frames.text(frame, "method") == trace::names::jvm_method_name(at.method)
                && line == at.line.map(i64::from)
        };
        let ids: BTreeSet<_> = frames.rows.iter().filter(is_line).map(|frame| frames.int(frame, "frame_id")).collect();
        let of_line = |row: &[Value]| ids.contains(&alloc.int(row, "line_id"));
        let (bytes, parts) = (alloc.sum("bytes", of_line), alloc.rows.iter().filter(|row| of_line(row)).count() as u64);
        assert!(bytes.abs_diff(row.totals.total_bytes()) <= parts, "{at}: {bytes} {}", row.totals.total_bytes());
    }
}

fn check(store: &Store, report: &TraceReport) {
    check_allocations(store, &report.allocations);
    let gc = Stored::of(store, &GC);
    assert_eq!(gc.sum("pause_nanos", |_| true), report.collections.pauses().0);
    let locks = Stored::of(store, &LOCK_WAIT);
    let is_contended = |row: &[Value]| locks.int(row, "is_contended") == Some(1);
    let sums = report.locks.sums();
    assert_eq!(locks.sum("waits", is_contended), sums.contended.count);
    assert_eq!(locks.sum("nanos", is_contended), sums.contended.total.0);
    assert_eq!(locks.sum("nanos", |row| !is_contended(row)), sums.waited.total.0);
    let cpu = Stored::of(store, &CPU);
    for (clock, samples) in [("cpu", Some(&report.cpu)), ("wall", report.wall.as_ref())] {
        let of_clock = |row: &[Value]| cpu.text(row, "clock") == clock;
        let (count, time) = samples.map_or_else(Default::default, |samples| samples.sum());
        assert_eq!((cpu.sum("samples", of_clock), cpu.sum("nanos", of_clock)), (count, time.0));
    }
    let requests = Stored::of(store, &REQUEST);
    let is_sum = |row: &[Value]| requests.int(row, "number").is_none();
    let entries = report.requests.entries();
    assert_eq!(requests.sum("requests", is_sum), entries.iter().map(|entry| entry.sums.requests).sum::<u64>());
    assert_eq!(requests.sum("nanos", is_sum), entries.iter().map(|entry| entry.sums.took.0).sum::<u64>());
    let compiled = Stored::of(store, &COMPILE);
    let methods = report.warm_up.methods();
    assert_eq!(compiled.sum("nanos", |_| true), methods.iter().map(|(_, method)| method.time.0).sum::<u64>());
    check_names(store);
}

/// Each id has its name, once.
fn check_names(store: &Store) {
    let ids = |table: &'static Table, column: &str| -> Vec<Option<i64>> {
        let found = Stored::of(store, table);
        found.rows.iter().map(|row| found.int(row, column)).filter(Option::is_some).collect()
    };
    let set = |ids: Vec<Option<i64>>| -> BTreeSet<Option<i64>> { ids.into_iter().collect() };
    let (classes, frames) = (ids(&CLASS, "class_id"), ids(&FRAME, "frame_id"));
    let stacks = set(ids(&STACK, "stack_id"));
    for (named, known) in [(&classes, set(classes.clone())), (&frames, set(frames.clone()))] {
        assert_eq!(named.len(), known.len());
    }
    let (classes, frames) = (set(classes), set(frames));
    assert!(set(ids(&STACK, "frame_id")).is_subset(&frames));
    for table in TABLES.iter().filter(|table| table.partition == Partition::Day) {
        for column in table.columns.iter().filter(|column| column.name.ends_with("_id")) {
            let known = match column.name {
                "class_id" => &classes,
                "line_id" | "owner_line_id" => &frames,
                "stack_id" | "owner_stack_id" => &stacks,
                _ => continue,
            };
            assert!(set(ids(table, column.name)).is_subset(known), "{}.{}", table.name, column.name);
        }
    }
}

#[test]
fn rows_add_up_to_what_the_tables_say() {
    for name in [
        "callers",
        "contention",
        "counts",
        "cpu",
        "explain",
        "heap",
        "jvmpi",
        "requests",
        "sampled",
        "snapshots",
        "start",
        "threads",
        "times",
        "waits",
    ] {
        let (_folder, store) = store();
        let trace = Trace::golden(&format!("{name}.trcxml"));
        assert!(matches!(trace.add(&store).unwrap(), Added::Now { rows, .. } if rows > 0), "{name}");
        check(&store, &trace.report);
    }
}

#[test]
fn what_is_sampled_is_never_exact() {
    for (name, is_exact) in [("sampled", [false, false]), ("callers", [true, false]), ("heap", [true, true])] {
        let (_folder, store) = store();
        Trace::golden(&format!("{name}.trcxml")).add(&store).unwrap();
        let alloc = Stored::of(&store, &ALLOC);
        let counted = |row: &&Vec<Value>| alloc.text(row, "kind") != "uncounted";
        let all = |column: &str| alloc.rows.iter().filter(counted).all(|row| alloc.int(row, column) == Some(1));
        assert_eq!(["is_exact", "is_line_exact"].map(all), is_exact, "{name}");
        let has_error = |row: &Vec<Value>| matches!(alloc.cell(row, "error"), Value::Double(error) if *error > 0.0);
        assert_eq!(alloc.rows.iter().any(has_error), name != "heap", "{name}");
    }
}

#[test]
fn what_happens_is_in_its_minute() {
    let (_folder, store) = store();
    Trace::of(&small(1, &[10])).add(&store).unwrap();
    let alloc = Stored::of(&store, &ALLOC);
    let mut minutes: BTreeMap<i64, i64> = BTreeMap::new();
    for row in &alloc.rows {
        *minutes.entry(alloc.int(row, "minute").unwrap()).or_default() += alloc.int(row, "objects").unwrap();
    }
    // An object each 20 seconds, the first ones 40 seconds after a full minute.
    let minute = |number: i64| (1_767_606_360 + 60 * number) * 1_000_000;
    assert_eq!(minutes, BTreeMap::from([(minute(0), 1), (minute(1), 3), (minute(2), 3), (minute(3), 3)]));
    assert!(alloc.rows.iter().all(|row| alloc.text(row, "thread_group") == "pool-1-thread-*"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn rows_of_any_trace_add_up(objects in proptest::collection::vec(0_u64..40, 0..6)) {
        let (_folder, store) = store();
        let trace = Trace::of(&small(1, &objects));
        trace.add(&store).unwrap();
        check(&store, &trace.report);
    }
}
