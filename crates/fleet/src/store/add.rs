//! Adds a trace to a store: once, whoever does it and however often it is killed meanwhile.

use rustc_hash::FxHashMap;
use trace::time::Time;

use super::Store;
use super::error::StoreError;
use super::layout::{self, FileName, Part, encoded};
use super::transaction::Transaction;
use crate::columns::Rows;
use crate::content::ContentId;
use crate::names::{Collision, Known};
use crate::recording::{Recording, RunRows};
use crate::schema::{Partition, RUN};
use trace::date::Date;

/// What became of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Added {
    /// It was in the store before.
    Before,
    /// It is in the store now.
    Now {
        /// The id of its run.
        run: i64,
        /// Under which day.
        date: Date,
        /// Under which service.
        service: String,
        /// As which release of it.
        release: String,
        /// How many rows it has in all tables.
        rows: u64,
    },
}

impl Store {
    /// Whether a trace that begins at a time is in the store. Asked before it is read, since that takes long.
    ///
    /// # Errors
    /// The store cannot be read, or has another trace with this id.
    pub fn has(&self, content: ContentId, begin: Time) -> Result<bool, StoreError> {
        let _lock = self.lock()?;
        Transaction::begin(&self.root, &self.disk)?;
        self.find(content, None, Date::of(begin))
    }

    /// Adds a trace.
    ///
    /// # Errors
    /// The store cannot be read or written, another part of the recording is there, or an id stands for two names.
    pub fn add(&self, recording: &Recording<'_>) -> Result<Added, StoreError> {
        let rows = recording.rows()?;
        let [service, release] = [("service", &rows.labels.service), ("release", &rows.labels.release)]
            .map(|(what, name)| encoded(name).ok_or_else(|| StoreError::Label { what, name: name.clone() }));
        let (service, release) = (service?, release?);
        let _lock = self.lock()?;
        let mut transaction = Transaction::begin(&self.root, &self.disk)?;
        if self.find(rows.content, Some(rows.recording), rows.date)? {
            return Ok(Added::Before);
        }
        let name = FileName::Single { run: rows.content.id, recording: rows.recording };
        let mut sum = 0;
        let RunRows { date, run, tables, .. } = &rows;
        // That of the run is the last.
        for rows in tables.iter().chain([run]) {
            let part = layout::part_of(rows, *date, &service, &release);
            let new;
            let rows = match rows.table.partition {
                Partition::Day => rows,
                Partition::Release => {
                    new = self.unknown(rows, &part)?;
                    &new
                }
            };
            if !rows.is_empty() {
                let mut file = transaction.file(layout::folder(rows.table, &part).join(name.text()), rows.table)?;
                file.write(rows)?;
                file.finish()?;
                sum += rows.len() as u64;
            }
        }
        transaction.commit(&[])?;
        let RunRows { content, labels, date, .. } = rows;
        Ok(Added::Now { run: content.id, date, service: labels.service, release: labels.release, rows: sum })
    }

    /// Whether a run is in the store, among those of its day.
    fn find(&self, content: ContentId, recording: Option<i64>, date: Date) -> Result<bool, StoreError> {
        const WANTED: &[&str] = &["run_id", "run_check", "recording_id"];
        let is_of_day = |part: &Part| matches!(part, Part::Day { date: day, .. } if *day == date);
        let (mut is_there, mut other) = (false, None);
        for part in
            layout::parts(&self.root, &RUN).map_err(StoreError::of(&self.root))?.iter().filter(|part| is_of_day(part))
        {
            for file in layout::files(&self.root, &RUN, part).map_err(StoreError::of(&self.root))? {
                if let FileName::Single { run, recording: found } = file.name
                    && run != content.id
                {
                    other = other.or((Some(found) == recording).then_some(run));
                    continue;
                }
                self.read(&file.path, &RUN, Some(WANTED), |rows| {
                    for ((run, check), found) in
                        rows.ints("run_id").iter().zip(rows.ints("run_check")).zip(rows.ints("recording_id"))
                    {
                        if *run != Some(content.id) {
                            other = other.or(run.filter(|_| recording.is_some() && *found == recording));
                        } else if *check != Some(content.check) {
                            return Err(Collision { table: RUN.name, id: content.id }.into());
                        } else {
                            is_there = true;
                        }
                    }
                    Ok(())
                })?;
            }
        }
        match other {
            Some(run) if !is_there => Err(StoreError::OtherPart { run }),
            _ => Ok(is_there),
        }
    }

    /// Those rows of names that a part of the store does not have yet.
    fn unknown(&self, rows: &Rows, part: &Part) -> Result<Rows, StoreError> {
        let [id, check] = [0, 1].map(|at| rows.table.columns[at].name);
        let mut known = Known::default();
        let contents = |rows: &Rows| -> Vec<ContentId> {
            let ids = rows.ints(id).iter().zip(rows.ints(check));
            ids.filter_map(|(&id, &check)| Some(ContentId { id: id?, check: check? })).collect()
        };
        for file in layout::files(&self.root, rows.table, part).map_err(StoreError::of(&self.root))? {
            self.read(&file.path, rows.table, Some(&[id, check]), |found| {
                contents(&found).into_iter().try_for_each(|content| known.add(rows.table, content).map(drop))?;
                Ok(())
            })?;
        }
        let mut is_new: FxHashMap<i64, bool> = FxHashMap::default();
        let mut new = Rows::new(rows.table);
        for (at, content) in contents(rows).into_iter().enumerate() {
            let is_new = match is_new.get(&content.id) {
                Some(&is_new) => is_new,
                None => *is_new.entry(content.id).or_insert(known.add(rows.table, content)?),
            };
            if is_new {
                new.push(rows.row(at));
            }
        }
        Ok(new)
    }
}
