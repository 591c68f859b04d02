//! The numbers of each slice of time: of the whole trace, and of the rows of a table.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;
use trace::time::Nanos;

use super::amount::Amount;
use super::live::CellIndex;
use super::naming::SiteNames;
use super::over_time::{OverTime, Slice, Sum};
use super::report::{AllocationReport, By, Row};
use super::subject::Subject;
use crate::window::Position;

/// A row of a table, slice by slice.
#[derive(Clone, Debug, PartialEq)]
pub struct RowOverTime<'a> {
    /// Its numbers in all. If its bytes have an error, those of the slices are estimates too: each slice is spread by its own samples, if
    /// it has some of the site.
    pub row: Row<'a>,
    /// What was allocated in each slice.
    pub allocated: Vec<Amount>,
    /// What was alive at the end of each slice; `None` of counts and samples.
    pub live: Option<Vec<Amount>>,
}

impl AllocationReport {
    /// What was allocated and alive when, of all objects whose class name passes the filter, and the collections; `None` if it was not
    /// [asked for](super::Scope::over_time).
    pub fn over_time(&self, class_filter: impl Fn(&str) -> bool) -> Option<OverTime> {
        let recorder = self.recorder.as_ref()?;
        let in_steps = self.is_in_steps();
        let borders = recorder.borders(in_steps, self.clock.part().1);
        if borders.is_empty() {
            return Some(OverTime { slices: Vec::new(), in_steps });
        }
        let mut sum = Sum::of(borders.len());
        self.pieces_of_all(|_| true, &class_filter).for_each(|part| sum.add(recorder, in_steps, &part));
        let passes = |index: CellIndex| {
            let cell = &self.cells[index.0 as usize];
            class_filter(self.class(cell.class)) && (!self.is_selected || cell.totals.total() > 0)
        };
        let live: Vec<Option<Amount>> = match in_steps {
            // What is alive is known by class only.
            true if self.is_selected && self.is_counted() => vec![None; borders.len()],
            true => recorder.found_alive(&borders, passes),
            false => sum.live().into_iter().map(Some).collect(),
        };
        let knows_collections = recorder.knows_collections(in_steps);
        let amounts = sum.allocated().into_iter().zip(live);
        let slices = borders.iter().zip(amounts).map(|(&(begin, end), (allocated, live))| Slice {
            begin,
            end,
            allocated,
            live,
            used_bytes: None,
            collections: knows_collections.then_some(0),
            pauses: knows_collections.then_some(Nanos(0)),
        });
        let mut over_time = OverTime { slices: slices.collect(), in_steps };
        let is_in_part = |time| self.clock.position(time) == Position::Inside;
        recorder.add_collections(in_steps, &mut over_time.slices, is_in_part);
        Some(over_time)
    }

    /// The rows of a table, the largest first and no more than some, slice by slice; none if it was not asked for.
    pub fn rows_over_time(
        &self,
        by: By,
        names: &SiteNames,
        class_filter: impl Fn(&str) -> bool,
        top: usize,
    ) -> Vec<RowOverTime<'_>> {
        let Some(recorder) = &self.recorder else { return Vec::new() };
        let mut rows = self.rows_named(by, names, &class_filter);
        rows.retain(|row| row.totals.total() > 0);
        rows.sort_by(|a, b| {
            let bytes = |row: &Row<'_>| Reverse(row.totals.total_bytes());
            bytes(a).cmp(&bytes(b)).then_with(|| a.subject.cmp(&b.subject))
        });
        rows.truncate(top);
        let (in_steps, slices) = (self.is_in_steps(), recorder.borders(self.is_in_steps(), self.clock.part().1).len());
        let mut sums: FxHashMap<Subject<'_>, Sum> = rows.iter().map(|row| (row.subject, Sum::of(slices))).collect();
        for part in self.pieces_of_all(self.is_whole(by, names), class_filter) {
            if let Some(sum) = sums.get_mut(&self.subject(by, names, &part)) {
                sum.add(recorder, in_steps, &part);
            }
        }
        let rows = rows.into_iter().filter_map(|row| {
            let sum = sums.get(&row.subject)?;
            Some(RowOverTime { row, allocated: sum.allocated(), live: (!in_steps).then(|| sum.live()) })
        });
        rows.collect()
    }
}
