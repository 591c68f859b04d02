//! Rows of real traces, as `martini fleet add` writes them, that JVM-days are drawn from.

use std::fs;
use std::path::{Path, PathBuf};

use fleet::columns::{Rows, Value};
use fleet::parquet_file::RowReader;
use fleet::schema::{Partition, TABLES, Table};

/// What a store has of one trace.
pub(super) struct Seed {
    /// Its rows, by table: those of the run are the last.
    pub(super) rows: Vec<(&'static Table, Vec<Vec<Value>>)>,
    /// Its files of names.
    pub(super) names: Vec<(&'static Table, PathBuf)>,
}

impl Seed {
    /// Reads what a store has of a service, of which it has one trace.
    pub(super) fn read(store: &Path, service: &str) -> Result<Seed, String> {
        let mut seed = Seed { rows: Vec::new(), names: Vec::new() };
        let service = format!("service={service}");
        let (run, others): (Vec<_>, Vec<_>) = TABLES.iter().copied().partition(|table| table.name == "run");
        for table in others.into_iter().chain(run) {
            for file in files(&store.join(table.name))?.into_iter().filter(|file| is_of(file, &service)) {
                match table.partition {
                    Partition::Day => seed.rows.push((table, rows(&file, table)?)),
                    Partition::Release => seed.names.push((table, file)),
                }
            }
        }
        Ok(seed)
    }

    /// How many rows there are, without names.
    pub(super) fn len(&self) -> usize {
        self.rows.iter().map(|(_, rows)| rows.len()).sum()
    }
}

fn is_of(file: &Path, service: &str) -> bool {
    file.components().any(|part| part.as_os_str() == service)
}

fn rows(file: &Path, table: &'static Table) -> Result<Vec<Vec<Value>>, String> {
    let failed = |error| format!("{}: {error}", file.display());
    let mut reader = RowReader::open(file, table).map_err(failed)?;
    let mut found = Vec::new();
    while let Some(rows) = reader.next(None).map_err(failed)? {
        found.extend((0..rows.len()).map(|at| Rows::row(&rows, at).collect()));
    }
    Ok(found)
}

/// All files below a folder; none if it is not there.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.map_err(|e| format!("{}: {e}", folder.display()))?.path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    Ok(found)
}

/// The bytes of all files below a folder.
pub(super) fn bytes(folder: &Path) -> Result<u64, String> {
    let size = |path: &PathBuf| fs::metadata(path).map_or(0, |metadata| metadata.len());
    Ok(files(folder)?.iter().map(size).sum())
}
