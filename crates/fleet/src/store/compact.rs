//! Merges the files of each part of a store: the same rows in fewer files.
//!
//! Merged rows have the next `batch`, and so has their run once the merged file of table `run` is there: until then the old rows count,
//! from then on the new ones.

use std::collections::VecDeque;
use std::path::PathBuf;

use rustc_hash::FxHashMap;

use super::error::StoreError;
use super::layout::{self, FileName, Part, TableFile};
use super::transaction::Transaction;
use super::{Store, next};
use crate::columns::{Rows, Value};
use crate::parquet_file::{ROW_GROUP, RowReader};
use crate::schema::{Partition, RUN, TABLES, Table};

/// What was merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compacted {
    /// How many files there were of what was merged.
    pub before: u64,
    /// How many there are instead.
    pub after: u64,
}

impl Store {
    /// Merges the files of each day and service, and those of the names of each release.
    ///
    /// # Errors
    /// The store cannot be read or written.
    pub fn compact(&self) -> Result<Compacted, StoreError> {
        let mut compacted = Compacted::default();
        let names = TABLES.iter().filter(|table| table.partition == Partition::Release);
        for table in [&&RUN].into_iter().chain(names) {
            for part in layout::parts(&self.root, table).map_err(StoreError::of(&self.root))? {
                // Others may write between two parts.
                let _lock = self.lock()?;
                let transaction = Transaction::begin(&self.root, &self.disk)?;
                let one = match table.partition {
                    Partition::Day => self.compact_day(&part, transaction)?,
                    Partition::Release => self.compact_names(table, &part, transaction)?,
                };
                compacted.before += one.before;
                compacted.after += one.after;
            }
        }
        Ok(compacted)
    }

    fn files(&self, table: &Table, part: &Part) -> Result<Vec<TableFile>, StoreError> {
        layout::files(&self.root, table, part).map_err(StoreError::of(&self.root))
    }

    fn compact_day(&self, part: &Part, mut transaction: Transaction<'_>) -> Result<Compacted, StoreError> {
        if self.files(&RUN, part)?.len() < 2 {
            return Ok(Compacted::default());
        }
        let batches = self.batches(part)?;
        // That of the runs is the last.
        let facts = TABLES.iter().copied().filter(|table| table.partition == Partition::Day && *table != &RUN);
        let tables = facts.chain([&RUN]).map(|table| Ok((table, self.files(table, part)?)));
        let tables = tables.collect::<Result<Vec<_>, StoreError>>()?;
        // Where somebody removed a file of runs, those of other tables may have a later batch.
        let found = tables.iter().flat_map(|(_, files)| files).map(|file| file.name.merged());
        let batch = found.chain(batches.values().copied()).max().unwrap_or(0) + 1;
        let (mut old, mut after): (Vec<PathBuf>, u64) = (Vec::new(), 0);
        for (table, files) in tables {
            if files.is_empty() {
                continue;
            }
            old.extend(files.iter().map(|file| file.path.clone()));
            let place = layout::folder(table, part).join(FileName::Merged(batch).text());
            let mut file = transaction.file(place, table)?;
            let mut merged = Rows::new(table);
            let mut runs = Runs::open(self, table, &files)?;
            while let Some(rows) = runs.next()? {
                let is_wanted = |at: usize| {
                    let (run, found) = (rows.ints("run_id")[at], rows.ints("batch")[at]);
                    run.is_some_and(|run| found.is_some() && batches.get(&run).copied() == found)
                };
                for at in (0..rows.len()).filter(|&at| is_wanted(at)) {
                    merged.push(with_batch(table, &rows, at, batch));
                }
                if merged.len() >= ROW_GROUP {
                    file.write(&std::mem::replace(&mut merged, Rows::new(table)))?;
                }
            }
            file.write(&merged)?;
            file.finish()?;
            after += 1;
        }
        transaction.commit(&old)?;
        Ok(Compacted { before: old.len() as u64, after })
    }

    /// The batch of each run of a part.
    fn batches(&self, part: &Part) -> Result<FxHashMap<i64, i64>, StoreError> {
        let mut batches: FxHashMap<i64, i64> = FxHashMap::default();
        for file in self.files(&RUN, part)? {
            self.read(&file.path, &RUN, Some(&["run_id", "batch"]), |rows| {
                for (run, batch) in rows.ints("run_id").iter().zip(rows.ints("batch")) {
                    if let (&Some(run), &Some(batch)) = (run, batch) {
                        batches.entry(run).and_modify(|known| *known = batch.max(*known)).or_insert(batch);
                    }
                }
                Ok(())
            })?;
        }
        Ok(batches)
    }

    /// Names are looked up whole by everybody who adds some, so they fit into memory.
    fn compact_names(
        &self,
        table: &'static Table,
        part: &Part,
        mut transaction: Transaction<'_>,
    ) -> Result<Compacted, StoreError> {
        let files = self.files(table, part)?;
        if files.len() < 2 {
            return Ok(Compacted::default());
        }
        let number = files.iter().map(|file| file.name.merged()).max();
        let mut all = Rows::new(table);
        for file in &files {
            self.read(&file.path, table, None, |rows| {
                (0..rows.len()).for_each(|at| all.push(rows.row(at)));
                Ok(())
            })?;
        }
        let place = layout::folder(table, part).join(FileName::Merged(number.unwrap_or(0) + 1).text());
        let mut file = transaction.file(place, table)?;
        file.write(&all.sorted())?;
        file.finish()?;
        let old: Vec<PathBuf> = files.into_iter().map(|file| file.path).collect();
        transaction.commit(&old)?;
        Ok(Compacted { before: old.len() as u64, after: 1 })
    }
}

fn with_batch(table: &Table, rows: &Rows, at: usize, batch: i64) -> impl Iterator<Item = Value> {
    let column = table.column("batch");
    let values = rows.row(at).enumerate();
    values.map(move |(number, value)| if Some(number) == column { Value::Int(batch) } else { value })
}

/// The rows of several files, in the order of their runs. A file with one run is open only while that is read.
struct Runs<'s> {
    store: &'s Store,
    table: &'static Table,
    singles: VecDeque<(i64, PathBuf)>,
    merged: Vec<Merged>,
    reading: Option<RowReader>,
}

/// A file with several runs, and what was read of it last.
struct Merged {
    reader: RowReader,
    rows: Rows,
    at: usize,
}

impl<'s> Runs<'s> {
    fn open(store: &'s Store, table: &'static Table, files: &[TableFile]) -> Result<Runs<'s>, StoreError> {
        let (mut singles, mut merged) = (Vec::new(), Vec::new());
        for file in files {
            match file.name {
                FileName::Single { run, .. } => singles.push((run, file.path.clone())),
                FileName::Merged(_) => {
                    let reader = store.open_file(&file.path, table)?;
                    merged.push(Merged { reader, rows: Rows::new(table), at: 0 });
                }
            }
        }
        singles.sort_unstable();
        Ok(Runs { store, table, singles: singles.into(), merged, reading: None })
    }

    /// The next rows, of one run; `None` behind the last.
    fn next(&mut self) -> Result<Option<Rows>, StoreError> {
        if let Some(rows) = self.reading.as_mut().map(|reader| next(reader, None)).transpose()?.flatten() {
            return Ok(Some(rows));
        }
        self.reading = None;
        let mut first: Option<(i64, usize)> = None;
        for (number, merged) in self.merged.iter_mut().enumerate() {
            let run = merged.run()?;
            first = run.map(|run| (run, number)).into_iter().chain(first).min();
        }
        match (first, self.singles.front()) {
            (Some((run, number)), single) if single.is_none_or(|(single, _)| run <= *single) => {
                Ok(Some(self.merged[number].take(self.table, run)))
            }
            (_, None) => Ok(None),
            (_, Some(_)) => {
                let Some((_, path)) = self.singles.pop_front() else { return Ok(None) };
                self.reading = Some(self.store.open_file(&path, self.table)?);
                self.next()
            }
        }
    }
}

impl Merged {
    /// The run of the next row.
    fn run(&mut self) -> Result<Option<i64>, StoreError> {
        while self.at == self.rows.len() {
            match next(&mut self.reader, None)? {
                Some(rows) => (self.rows, self.at) = (rows, 0),
                None => return Ok(None),
            }
        }
        Ok(Some(self.rows.ints("run_id")[self.at].unwrap_or(i64::MIN)))
    }

    /// The next rows of a run, as far as they were read.
    fn take(&mut self, table: &'static Table, run: i64) -> Rows {
        let mut taken = Rows::new(table);
        while self.at < self.rows.len() && self.rows.ints("run_id")[self.at].unwrap_or(i64::MIN) == run {
            taken.push(self.rows.row(self.at));
            self.at += 1;
        }
        taken
    }
}
