//! Allocations by call stack.

use super::parts::Cell;
use super::report::AllocationReport;
use crate::call_tree::{Granularity, Label};
use crate::stacks::StackIndex;
use crate::symbols::ThreadIndex;
use crate::weighted::{Rounding, WeightedStack, known};

impl AllocationReport {
    /// What was allocated on each stack: objects and their bytes. Where samples spread a site over its callers, the sum over these is
    /// that of the site.
    pub fn allocated_stacks(&self) -> Vec<WeightedStack<'_>> {
        let mut stacks = Vec::new();
        let (mut last, mut objects, mut bytes) = (None, Rounding::default(), Rounding::default());
        for part in self.parts(|_| true).filter(|part| part.cell.totals.total() > 0) {
            if last.replace(part.index) != Some(part.index) {
                (objects, bytes) = Default::default();
            }
            let (count, weight) = (objects.next(part.objects()), bytes.next(part.bytes()));
            stacks.push(self.weighted(part.cell, part.stack, part.thread, count, weight));
        }
        stacks
    }

    /// What lives at the end, by where it was allocated.
    pub fn live_stacks(&self) -> Vec<WeightedStack<'_>> {
        let living = self.living_cells().into_iter();
        living.map(|(cell, count, weight, _)| self.weighted(cell, cell.stack, cell.thread, count, weight)).collect()
    }

    fn weighted<'a>(
        &'a self,
        cell: &Cell,
        stack: Option<StackIndex>,
        thread: Option<ThreadIndex>,
        count: u64,
        weight: u64,
    ) -> WeightedStack<'a> {
        let frame = |&site| Label::frame(self.symbols.frame(site), Granularity::Line);
        WeightedStack {
            thread: thread.map(|thread| self.thread(thread).name),
            class: Some(self.class(cell.class)),
            frames: known(self.sites(cell, stack).0.iter().map(frame)),
            count,
            weight,
        }
    }
}
