//! What a reader sees of a store, by the rule of its reference page and with nothing of Martini's own.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use parquet::file::reader::SerializedFileReader;
use parquet::record::Field;

/// A row, as its columns.
type Row = Vec<(String, Field)>;

/// All rows that count, sorted, as text: those of each run, and under `None` the names, each once.
pub(super) type Seen = BTreeMap<Option<i64>, Vec<String>>;

/// Reads all files of a store to which nobody writes.
pub(super) fn seen(store: &Path) -> Seen {
    let mut batches: BTreeMap<i64, i64> = BTreeMap::new();
    for (_, row) in rows(&store.join("run")) {
        let batch = batches.entry(int(&row, "run_id").expect("an id")).or_default();
        *batch = int(&row, "batch").expect("a batch").max(*batch);
    }
    let mut seen = Seen::new();
    let tables = folders(store).into_iter().filter(|table| !name(table).starts_with('_'));
    for (folder, row) in tables.flat_map(|table| rows(&table)) {
        let run = int(&row, "run_id");
        if run.is_some_and(|run| batches.get(&run).copied() != int(&row, "batch")) {
            continue;
        }
        let folder = folder.strip_prefix(store).expect("it is in the store").display();
        let cells =
            row.iter().filter(|(column, _)| column != "batch").map(|(column, value)| format!("{column}={value}"));
        seen.entry(run).or_default().push(format!("{folder} {}", cells.collect::<Vec<_>>().join(" ")));
    }
    seen.values_mut().for_each(|rows| rows.sort());
    seen.entry(None).or_default().dedup();
    seen
}

/// The rows of a table, with the folder that each is in.
fn rows(table: &Path) -> Vec<(PathBuf, Row)> {
    let parts = folders(table).into_iter().flat_map(|outer| folders(&outer));
    let files = parts.flat_map(|part| fs::read_dir(part).unwrap().map(|entry| entry.unwrap().path()));
    let rows = files.flat_map(|path| {
        let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        let rows = reader.into_iter().map(move |row| row.unwrap().into_columns());
        rows.map(move |row| (path.parent().unwrap().to_owned(), row))
    });
    rows.collect()
}

/// The folders in one; none if it is not there.
fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_dir()).collect()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn int(row: &Row, column: &str) -> Option<i64> {
    row.iter().find_map(|(name, value)| match value {
        Field::Long(value) if name == column => Some(*value),
        _ => None,
    })
}
