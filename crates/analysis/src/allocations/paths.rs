//! Allocations as paths of a call tree.

use rustc_hash::FxHashMap;

use super::parts::Cell;
use super::report::AllocationReport;
use crate::call_tree::{self, Node, Path, Source, SourceIndex, Spread, TreeOptions};
use crate::location::Location;
use crate::symbols::SiteIndex;

/// All samples of objects that live.
const LIVING: SourceIndex = SourceIndex(0);

impl AllocationReport {
    /// What lives of the objects that were allocated below each frame, likewise. Where samples say it, all of it has an error.
    pub fn live_tree(
        &self,
        options: &TreeOptions,
        class_filter: impl Fn(&str) -> bool,
        code_filter: Option<&dyn Fn(&Location<'_>) -> bool>,
    ) -> Node<'_> {
        let mut whole = Spread::default();
        let mut paths = Vec::new();
        let living = self.living_cells();
        living.iter().filter_map(|(.., spread)| spread.as_ref()).for_each(|spread| whole.add(spread));
        let living = living
            .into_iter()
            .map(|(cell, objects, bytes, spread)| (cell, objects, bytes, spread.map(|spread| (LIVING, spread))));
        for (cell, objects, bytes, share) in living.filter(|(cell, ..)| class_filter(self.class(cell.class))) {
            let (sites, is_stack) = self.sites(cell, cell.stack);
            let frames = || sites.iter().map(|&site| self.symbols.frame(site));
            if code_filter.is_some_and(|filter| !frames().any(|(at, _)| filter(&at))) {
                continue;
            }
            let thread = cell.thread.map(|thread| self.thread(thread).name);
            let labels = options.labels(thread, self.class(cell.class), frames(), is_stack);
            paths.push(Path {
                labels,
                count: objects as f64,
                weight: bytes as f64,
                share,
                counted: 0,
                ran: Vec::new(),
            });
        }
        let source = Source { weight: whole.weight, whole, is_exact: false };
        call_tree::build(&paths, &FxHashMap::from_iter([(LIVING, source)]), options.cut, true)
    }

    /// The objects and bytes of each cell that live, and what samples say of them, where they say it.
    pub(super) fn living_cells(&self) -> Vec<(&Cell, u64, u64, Option<Spread>)> {
        if self.living.is_empty() {
            let cells = self.cells.iter().filter(|cell| cell.totals.live() > 0);
            return cells.map(|cell| (cell, cell.totals.live(), cell.totals.live_bytes(), None)).collect();
        }
        let living = self.living.iter().map(|(index, living)| {
            let spread = Spread { samples: living.samples, weight: living.bytes as f64, variance: living.variance };
            (&self.cells[index.0 as usize], living.objects, living.bytes, Some(spread))
        });
        living.collect()
    }

    /// What was allocated below each frame, of all objects whose class name passes the filter: objects and their bytes. At the end of each
    /// path is the class of the objects. With a filter for code only stacks of which some frame passes it.
    pub fn tree(
        &self,
        options: &TreeOptions,
        class_filter: impl Fn(&str) -> bool,
        code_filter: Option<&dyn Fn(&Location<'_>) -> bool>,
    ) -> Node<'_> {
        let mut passes: FxHashMap<SiteIndex, bool> = FxHashMap::default();
        let mut sources: FxHashMap<SourceIndex, Source> = FxHashMap::default();
        let (mut paths, mut is_whole) = (Vec::new(), self.restricted.is_empty());
        for part in self.parts(class_filter).filter(|part| part.cell.totals.total() > 0) {
            let (sites, is_stack) = self.sites(part.cell, part.stack);
            if let Some(filter) = code_filter {
                let mut passes =
                    |&site: &SiteIndex| *passes.entry(site).or_insert_with(|| filter(&self.symbols.location(site)));
                if !sites.iter().any(&mut passes) {
                    is_whole &= part.share.is_none();
                    continue;
                }
            }
            let share = self.share(&part);
            if let Some((index, _)) = share
                && !sources.contains_key(&index)
            {
                sources.extend(self.whole(index).map(|whole| (index, whole)));
            }
            let frames = sites.iter().map(|&site| self.symbols.frame(site));
            let thread = part.thread.map(|thread| self.thread(thread).name);
            let labels = options.labels(thread, self.class(part.cell.class), frames, is_stack);
            paths.push(Path {
                labels,
                count: part.objects(),
                weight: part.bytes(),
                share,
                counted: if part.share.is_some() { options.counted(part.cell.site.is_some()) } else { 0 },
                ran: Vec::new(),
            });
        }
        call_tree::build(&paths, &sources, options.cut, is_whole)
    }
}
