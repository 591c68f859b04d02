//! Allocations as paths of a call tree.

use rustc_hash::FxHashMap;

use super::report::AllocationReport;
use crate::call_tree::{self, Node, Path, Source, SourceIndex, TreeOptions};
use crate::location::Location;
use crate::symbols::SiteIndex;

impl AllocationReport {
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
            let stack = part.stack.map(|stack| self.stacks.frames(stack)).filter(|frames| !frames.is_empty());
            let sites = stack.unwrap_or(part.cell.site.as_slice());
            if let Some(filter) = code_filter {
                let mut passes =
                    |&site: &SiteIndex| *passes.entry(site).or_insert_with(|| filter(&self.symbols.location(site)));
                if !sites.iter().any(&mut passes) {
                    is_whole &= part.share.is_none();
                    continue;
                }
            }
            let share = part.share.map(|(sampled, whole)| {
                let source = SourceIndex(part.index.0);
                let weight = part.cell.totals.total_bytes() as f64;
                sources.entry(source).or_insert(Source { weight, whole: whole.bytes, is_exact: true });
                (source, sampled.bytes)
            });
            let frames = sites.iter().map(|&site| (self.symbols.location(site), self.symbols.module(site)));
            let thread = part.thread.map(|thread| self.thread(thread).name);
            let labels = options.labels(thread, self.class(part.cell.class), frames, stack.is_some());
            paths.push(Path {
                labels,
                count: part.objects(),
                weight: part.bytes(),
                share,
                counted: options.counted(part.cell.site.is_some()),
                ran: Vec::new(),
            });
        }
        call_tree::build(&paths, &sources, options.cut, is_whole)
    }
}
