//! A trace that was read, as rows of all tables.

use analysis::explain::TraceReport;

use crate::columns::Rows;
use crate::content::ContentId;
use crate::labels::{Labels, Resolved};
use crate::names::{Collision, Names};
use crate::rows;
use trace::date::Date;

/// A trace that was read, and whose it is.
pub struct Recording<'a> {
    /// What it says, read [by minute](analysis::explain::TraceStats::by_minute).
    pub report: &'a TraceReport,
    /// All of it could be read.
    pub is_read: bool,
    /// The id of its bytes, and how many they are.
    pub content: (ContentId, u64),
    /// What it is filed under.
    pub labels: &'a Labels,
}

/// All rows of a trace.
pub(crate) struct RunRows {
    pub(crate) content: ContentId,
    /// The id of the recording, whichever part of it a trace holds.
    pub(crate) recording: i64,
    pub(crate) date: Date,
    pub(crate) labels: Resolved,
    /// Those of the run itself.
    pub(crate) run: Rows,
    /// All others, also of names; none of them is empty.
    pub(crate) tables: Vec<Rows>,
}

impl Recording<'_> {
    pub(crate) fn rows(&self) -> Result<RunRows, Collision> {
        let facts = self.report.locks.facts();
        let labels = self.labels.resolve(facts.origins.first());
        let run = self.content.0.id;
        let recording = rows::run::recording_id(self.report);
        let mut names = Names::new();
        let mut tables = vec![
            rows::run::coverage(run, self.report, self.is_read),
            rows::allocations::allocated(run, &self.report.allocations, &mut names)?,
            rows::allocations::living(run, &self.report.allocations, &mut names)?,
            rows::jvm::collections(run, &self.report.collections),
            rows::locks::waits(run, &self.report.locks, &mut names)?,
            rows::cpu::samples(run, self.report, &mut names)?,
            rows::requests::requests(run, self.report),
            rows::jvm::class_loads(run, &self.report.warm_up, &mut names)?,
            rows::jvm::compilations(run, &self.report.warm_up),
        ];
        tables.extend([names.classes, names.frames, names.stacks]);
        tables.retain(|rows| !rows.is_empty());
        Ok(RunRows {
            content: self.content.0,
            recording,
            date: Date::of(rows::run::begin(self.report)),
            run: rows::run::run(self, recording, &labels),
            labels,
            tables: tables.into_iter().map(|rows| rows.sorted()).collect(),
        })
    }
}
