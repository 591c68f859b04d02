//! Removes what is old.

use std::path::Path;

use rustc_hash::FxHashSet;

use super::Store;
use super::error::StoreError;
use super::layout::{self, Part, encoded};
use super::transaction::Transaction;
use crate::columns::Value;
use crate::schema::{Partition, RUN, TABLES, Table};
use trace::date::Date;

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Store {
    /// Removes all days before one, and the names of releases of which no run is left. If it is killed, the next one goes on.
    ///
    /// # Errors
    /// The store cannot be read or written.
    pub fn prune(&self, first: Date) -> Result<Pruned, StoreError> {
        let _lock = self.lock()?;
        Transaction::begin(&self.root, &self.disk)?;
        let mut pruned = Pruned::default();
        // Without its run nothing counts.
        let days = TABLES.iter().filter(|table| table.partition == Partition::Day);
        for table in [&&RUN].into_iter().chain(days) {
            for part in self.parts(table)? {
                if matches!(part, Part::Day { date, .. } if date < first) {
                    self.remove_part(table, &part, &mut pruned)?;
                }
            }
        }
        let used = self.releases()?;
        for table in TABLES.iter().filter(|table| table.partition == Partition::Release) {
            for part in self.parts(table)? {
                if !used.contains(&part) {
                    self.remove_part(table, &part, &mut pruned)?;
                }
            }
        }
        Ok(pruned)
    }

    fn parts(&self, table: &Table) -> Result<Vec<Part>, StoreError> {
        layout::parts(&self.root, table).map_err(StoreError::of(&self.root))
    }

    /// The releases that have runs.
    fn releases(&self) -> Result<FxHashSet<Part>, StoreError> {
        let mut releases = FxHashSet::default();
        let column = RUN.column("release").unwrap_or_default();
        for part in self.parts(&RUN)? {
            let Part::Day { service, .. } = &part else { continue };
            for file in layout::files(&self.root, &RUN, &part).map_err(StoreError::of(&self.root))? {
                self.read(&file.path, &RUN, Some(&["release"]), |rows| {
                    for at in 0..rows.len() {
                        if let Some(Value::Text(release)) = rows.row(at).nth(column) {
                            let release = encoded(&release).unwrap_or_default();
                            releases.insert(Part::Release { service: service.clone(), release });
                        }
                    }
                    Ok(())
                })?;
            }
        }
        Ok(releases)
    }

    fn remove_part(&self, table: &Table, part: &Part, pruned: &mut Pruned) -> Result<(), StoreError> {
        for file in layout::files(&self.root, table, part).map_err(StoreError::of(&self.root))? {
            let path = self.root.join(&file.path);
            pruned.bytes += path.metadata().map_or(0, |metadata| metadata.len());
            pruned.files += 1;
            self.disk.remove(&path, &self.root.join(Path::new(table.name))).map_err(StoreError::of(&path))?;
        }
        Ok(())
    }
}
