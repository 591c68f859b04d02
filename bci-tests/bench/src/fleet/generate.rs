//! Makes a store of many JVM-days, as it is after `martini fleet compact`.
//!
//! A JVM-day is 24 pieces of an hour, as `--roll 1h` leaves them. Each has the rows of a real trace, of which one in ten is left out; its
//! numbers are multiplied by how busy that hour was (0.5 to 1.5) and once more each by itself (0.9 to 1.1). Each service runs one of the real
//! programs on several hosts; its second release starts half way.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::thread;

use fleet::Store;
use fleet::columns::{Rows, Value};
use fleet::parquet_file::{ROW_GROUP, RowWriter};
use fleet::schema::{Kind, Table};
use trace::date::Date;
use trace::time::Time;

use super::seeds::Seed;
use crate::random::Random;

/// Pieces of a JVM-day.
pub(super) const PIECES: u64 = 24;
const SERVICES: u64 = 20;
/// The most days; from there on there are more hosts.
const DAYS: u64 = 20;
const FIRST_DAY: u64 = 1_767_225_600;
const DAY: u64 = 86_400;
const MICROS: u64 = 1_000_000;
const THREADS: u64 = 2;

/// Columns that say how much there was of something.
const AMOUNTS: &[&str] = &[
    "accounted",
    "bytes",
    "cpu_nanos",
    "error",
    "longest_nanos",
    "n",
    "nanos",
    "objects",
    "own_nanos",
    "pause_nanos",
    "requests",
    "samples",
    "seen",
    "survived_bytes",
    "used_bytes",
    "waits",
    "weight",
];
/// Tables of which not all rows are in each piece.
const PARTIAL: &[&str] = &["alloc", "cpu", "live", "lock_wait"];

/// How a number of JVM-days is made up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) days: u64,
    pub(super) hosts: u64,
    /// Pieces differ as above; otherwise each has the rows of its trace as they are.
    pub(super) is_varied: bool,
}

impl Plan {
    /// At least so many JVM-days; up to as many as services there are, each service has a host.
    pub(super) fn of(jvm_days: u64) -> Plan {
        let days = jvm_days.div_ceil(SERVICES).clamp(1, DAYS);
        Plan { days, hosts: jvm_days.div_ceil(days), is_varied: true }
    }

    /// How many JVM-days it makes.
    pub(super) fn jvm_days(self) -> u64 {
        self.days * self.hosts
    }

    /// The hosts of a service.
    fn hosts_of(self, service: u64) -> impl Iterator<Item = u64> {
        (0..self.hosts).filter(move |host| host % SERVICES == service)
    }
}

/// Makes a store of the traces that another one has, each as a service.
pub(super) fn generate(seeds: &[String], from: &Path, store: &Path, plan: Plan) -> Result<(), String> {
    Store::open_or_create(store).map_err(|e| e.to_string())?;
    thread::scope(|scope| {
        let part = |thread: u64| {
            // Texts of rows are counted without a lock: each thread has its own.
            let seeds = seeds.iter().map(|seed| Seed::read(from, seed)).collect::<Result<Vec<_>, _>>()?;
            for service in (0..SERVICES.min(plan.hosts)).filter(|service| service % THREADS == thread) {
                let seed = &seeds[service as usize % seeds.len()];
                let generator = Generator { seed, service, store, plan };
                generator.names()?;
                (0..plan.days).try_for_each(|day| generator.day(day))?;
            }
            Ok(())
        };
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || part(thread))).collect();
        let ended = threads.into_iter().map(|thread| thread.join().map_err(|_| "a generator panicked".to_owned())?);
        ended.collect()
    })
}

/// A service and where its rows come from.
struct Generator<'s> {
    seed: &'s Seed,
    service: u64,
    store: &'s Path,
    plan: Plan,
}

/// A piece of a JVM-day.
struct Piece {
    run: i64,
    recording: i64,
    host: u64,
    busy: f64,
    /// From the time of the real trace, in microseconds.
    shift: i64,
}

impl Generator<'_> {
    fn release(&self, day: u64) -> &'static str {
        if 2 * day < self.plan.days { "1" } else { "2" }
    }

    /// The names, which are those of the real trace.
    fn names(&self) -> Result<(), String> {
        for (table, file) in &self.seed.names {
            for release in BTreeSet::from([self.release(0), self.release(self.plan.days - 1)]) {
                let folder =
                    self.store.join(table.name).join(format!("service=service-{}/release={release}", self.service));
                made(&folder)?;
                let place = folder.join("compact-00000001.parquet");
                fs::copy(file, &place).map_err(|e| format!("{}: {e}", place.display()))?;
            }
        }
        Ok(())
    }

    fn day(&self, day: u64) -> Result<(), String> {
        let mut random = Random::of(self.service << 32 | day);
        let begin = FIRST_DAY + day * DAY;
        let start = self.seed.rows.last().and_then(|(table, rows)| int(table, rows.first()?, "start_at")).unwrap_or(0);
        let hours = self.plan.hosts_of(self.service).flat_map(|host| (0..PIECES).map(move |hour| (host, hour)));
        let mut pieces: Vec<Piece> = hours
            .map(|(host, hour)| Piece {
                run: random.next() as i64,
                recording: random.next() as i64,
                host,
                busy: 0.5 + random.below(1_000) as f64 / 1_000.0,
                shift: ((begin + hour * DAY / PIECES) * MICROS) as i64 - (start - start % (60 * MICROS as i64)),
            })
            .collect();
        pieces.sort_by_key(|piece| piece.run);
        let folder = format!("dt={}/service=service-{}", Date::of(Time(begin * 1_000_000_000)), self.service);
        for (table, rows) in &self.seed.rows {
            let folder = self.store.join(table.name).join(&folder);
            made(&folder)?;
            let path = folder.join("compact-00000001.parquet");
            self.table(table, rows, &pieces, self.release(day), &mut random, &path)
                .map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(())
    }

    fn table(
        &self,
        table: &'static Table,
        seed: &[Vec<Value>],
        pieces: &[Piece],
        release: &str,
        random: &mut Random,
        path: &Path,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let mut writer = RowWriter::new(File::create(path)?, table)?;
        let mut rows = Rows::new(table);
        let is_amount: Vec<bool> = table.columns.iter().map(|column| AMOUNTS.contains(&column.name)).collect();
        let is_partial = self.plan.is_varied && PARTIAL.contains(&table.name);
        for piece in pieces {
            for row in seed {
                if is_partial && random.once_in(10) {
                    continue;
                }
                let factor = piece.busy * (0.9 + random.below(200) as f64 / 1_000.0);
                let factor = if self.plan.is_varied { factor } else { 1.0 };
                rows.push(row.iter().zip(table.columns).zip(&is_amount).map(|((value, column), is_amount)| {
                    match (column.name, value) {
                        ("run_id", _) => Value::Int(piece.run),
                        ("batch", _) => Value::Int(1),
                        ("run_check" | "recording_id", _) => Value::Int(piece.recording),
                        ("release", _) => release.into(),
                        ("host", _) => format!("host-{}", piece.host).into(),
                        (_, Value::Int(time)) if column.kind == Kind::Time => Value::Int(time + piece.shift),
                        (_, Value::Int(number)) if *is_amount => Value::Int((*number as f64 * factor) as i64),
                        (_, Value::Double(number)) if *is_amount => Value::Double(number * factor),
                        _ => value.clone(),
                    }
                }));
            }
            if rows.len() >= ROW_GROUP {
                writer.write(&std::mem::replace(&mut rows, Rows::new(table)))?;
            }
        }
        writer.write(&rows)?;
        writer.finish()?;
        Ok(())
    }
}

fn int(table: &Table, row: &[Value], column: &str) -> Option<i64> {
    let at = table.columns.iter().position(|known| known.name == column)?;
    match row.get(at) {
        Some(Value::Int(value)) => Some(*value),
        _ => None,
    }
}

fn made(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_has_the_days_that_were_asked_for() {
        for (jvm_days, days) in [(10, 1), (100, 5), (1_000, 20), (10_000, 20)] {
            let plan = Plan::of(jvm_days);
            assert_eq!((plan.jvm_days(), plan.days), (jvm_days, days));
            assert_eq!((0..SERVICES).map(|service| plan.hosts_of(service).count()).sum::<usize>() as u64, plan.hosts);
        }
    }
}
