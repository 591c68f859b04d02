//! What is added up: objects that have everything in common, and the parts over which samples spread them.

use super::live::CellIndex;
use super::shares::Sampled;
use super::totals::ObjectTotals;
use crate::stacks::StackIndex;
use crate::symbols::{ClassIndex, SiteIndex, ThreadIndex};

/// Objects that share class, thread, site and stack.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub(super) class: ClassIndex,
    pub(super) thread: Option<ThreadIndex>,
    /// The innermost frame.
    pub(super) site: Option<SiteIndex>,
    /// Of single objects.
    pub(super) stack: Option<StackIndex>,
    pub(super) totals: ObjectTotals,
}

/// The part of a cell that was allocated on one stack; the whole cell, unless samples spread it over several.
pub(super) struct Part<'r> {
    pub(super) index: CellIndex,
    pub(super) cell: &'r Cell,
    pub(super) stack: Option<StackIndex>,
    pub(super) thread: Option<ThreadIndex>,
    /// What samples say of the part, and of the whole cell.
    pub(super) share: Option<(&'r Sampled, &'r Sampled)>,
}

impl Part<'_> {
    /// How many objects.
    pub(super) fn objects(&self) -> f64 {
        let ratio = self.share.map_or(1.0, |(part, whole)| {
            // A sample stands for one object at least, unless the trace is hostile.
            if whole.instances > 0.0 { part.instances / whole.instances } else { 0.0 }
        });
        self.cell.totals.total() as f64 * ratio
    }

    /// Their bytes.
    pub(super) fn bytes(&self) -> f64 {
        self.cell.totals.total_bytes() as f64 * self.ratio()
    }

    /// Which part of the cell's bytes it has, from 0 to 1.
    pub(super) fn ratio(&self) -> f64 {
        self.share.map_or(1.0, |(part, whole)| part.bytes.weight / whole.bytes.weight)
    }
}
