//! Stores of small traces.

mod kills;
mod sums;
mod together;

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use analysis::explain::{TraceReport, TraceStats};
use trace::reader::{Event, TraceReader};

use super::layout;
use super::{Added, Store, StoreError};
use crate::columns::{Rows, Value};
use crate::content::ContentId;
use crate::labels::Labels;
use crate::recording::Recording;
use crate::schema::{Partition, RUN, TABLES, Table};

/// A trace that was read.
struct Trace {
    report: TraceReport,
    content: (ContentId, u64),
}

impl Trace {
    fn of(text: &[u8]) -> Trace {
        let mut reader = TraceReader::new(Cursor::new(text.to_vec())).unwrap();
        let mut stats = TraceStats::by_minute();
        while let Some(event) = reader.next_event().unwrap() {
            match event {
                Event::Element { element, .. } => stats.element(&element),
                Event::DocumentEnd(_) => stats.end_document(),
                Event::DocumentStart { .. } => {}
            }
        }
        Trace { report: stats.finish(), content: (ContentId::of(text), text.len() as u64) }
    }

    /// One of the traces that tests of the command read.
    fn golden(name: &str) -> Trace {
        Trace::of(&golden(name))
    }

    fn recording<'a>(&'a self, labels: &'a Labels) -> Recording<'a> {
        Recording { report: &self.report, is_read: true, content: self.content, labels }
    }

    fn add(&self, store: &Store) -> Result<Added, StoreError> {
        store.add(&self.recording(&labels("shop")))
    }
}

fn golden(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/traces").join(name);
    let mut text = Vec::new();
    fs::File::open(path).unwrap().read_to_end(&mut text).unwrap();
    text
}

fn labels(service: &str) -> Labels {
    Labels { service: Some(service.to_owned()), release: Some("1.0".to_owned()), ..Labels::default() }
}

/// A recording of a minute and more that allocates so many objects of each class: small, but with rows in several tables.
fn small(pid: u64, objects: &[u64]) -> Vec<u8> {
    use std::fmt::Write;
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TRACE>\n\
         <node nodeId=\"n\" hostname=\"host\" ipaddress=\"\" timezone=\"0\" time=\"1767606400.000000000\"/>\n\
         <processCreate processId=\"p\" pid=\"{pid}\" nodeIdRef=\"n\" time=\"1767606400.000000000\"/>\n\
         <agentCreate agentId=\"a\" version=\"2.000\" processIdRef=\"p\" agentName=\"org.eclipse.tptp.jvmti\" \
         agentType=\"Profiler\" agentParameters=\"heap=events\" time=\"1767606400.000000000\"/>\n\
         <traceStart traceId=\"t\" agentIdRef=\"a\" time=\"1767606400.100000000\"/>\n\
         <threadStart threadId=\"1\" time=\"1767606400.200000000\" threadName=\"pool-1-thread-{pid}\" groupName=\"main\" \
         parentName=\"system\" objIdRef=\"0\"/>\n"
    );
    let mut object = 0;
    for (class, &objects) in (0..).zip(objects) {
        // Writing to a text cannot fail.
        let _ = writeln!(
            text,
            "<classDef name=\"shop.Class{class}\" sourceName=\"\" classId=\"{}\" time=\"1767606400.3\"/>\n\
             <methodDef name=\"run\" signature=\"()V\" methodId=\"{}\" classIdRef=\"{}\"/>",
            100 + class,
            200 + class,
            100 + class
        );
        for number in 0..objects {
            object += 1;
            let _ = writeln!(
                text,
                "<objAlloc threadIdRef=\"1\" isArray=\"0\" size=\"{}\" objId=\"{}\" classIdRef=\"{}\" methodIdRef=\"{}\" \
                 lineNumber=\"{}\" time=\"{}.5\"/>",
                16 * (number + 1),
                1000 + object,
                100 + class,
                200 + class,
                1 + number % 3,
                1_767_606_400 + 20 * number
            );
        }
    }
    let _ = writeln!(text, "<gcStart time=\"1767609990.1\"/>\n<gcFinish time=\"1767609990.3\"/>");
    let _ = writeln!(text, "<traceEnd time=\"1767609999.9\"/>\n</TRACE>");
    text.into_bytes()
}

/// A new store in a folder that goes with it.
fn store() -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(&folder.path().join("store")).unwrap();
    (folder, store)
}

/// All files below a folder that engines read, and what is in them.
fn files(store: &Store) -> BTreeMap<PathBuf, Vec<u8>> {
    fn walk(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match entry.is_dir() {
                true => walk(&entry, found),
                false => _ = found.insert(entry.clone(), fs::read(&entry).unwrap()),
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(&store.root, &mut found);
    let found = found.into_iter().map(|(path, bytes)| (path.strip_prefix(&store.root).unwrap().to_owned(), bytes));
    found.filter(|(path, _)| !path.starts_with(super::MARKER)).collect()
}

/// All rows of a table, with the part that each is in.
fn all_rows(store: &Store, table: &'static Table) -> Vec<(String, Vec<Value>)> {
    let mut found = Vec::new();
    for part in layout::parts(&store.root, table).unwrap() {
        for file in layout::files(&store.root, table, &part).unwrap() {
            let folder = part.folder().display().to_string();
            let mut take = |rows: Rows| {
                found.extend((0..rows.len()).map(|at| (folder.clone(), rows.row(at).collect())));
                Ok(())
            };
            store.read(&file.path, table, None, &mut take).unwrap();
        }
    }
    found
}

/// What a reader sees of a table: rows whose run is there with the same batch, which is not shown, and names once.
fn visible(store: &Store, table: &'static Table) -> Vec<String> {
    let mut batches: BTreeMap<i64, i64> = BTreeMap::new();
    let int = |value: &Value| if let Value::Int(value) = value { *value } else { panic!("{value:?}") };
    for (_, row) in all_rows(store, &RUN) {
        let batch = batches.entry(int(&row[0])).or_default();
        *batch = int(&row[1]).max(*batch);
    }
    let mut rows: Vec<String> = Vec::new();
    for (folder, mut row) in all_rows(store, table) {
        if table.partition == Partition::Day {
            if batches.get(&int(&row[0])) != Some(&int(&row[1])) {
                continue;
            }
            row[1] = Value::None;
        }
        rows.push(format!("{folder} {row:?}"));
    }
    rows.sort();
    if table.partition == Partition::Release {
        rows.dedup();
    }
    rows
}

/// What a reader sees of all tables.
fn all_visible(store: &Store) -> BTreeMap<&'static str, Vec<String>> {
    TABLES.iter().map(|table| (table.name, visible(store, table))).collect()
}
