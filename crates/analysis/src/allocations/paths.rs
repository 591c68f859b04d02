//! Allocations as paths of a call tree.

use rustc_hash::FxHashMap;

use super::report::AllocationReport;
use crate::call_tree::{self, Direction, Grouping, Label, Node, Path, Source, SourceIndex, TreeOptions};
use crate::symbols::SiteIndex;

impl AllocationReport {
    /// What was allocated below each frame, of all objects whose class name passes the filter: objects and their bytes. At the end of each
    /// path is the class of the objects.
    pub fn tree(&self, options: &TreeOptions, class_filter: impl Fn(&str) -> bool) -> Node<'_> {
        let mut sources: FxHashMap<SourceIndex, Source> = FxHashMap::default();
        let mut paths = Vec::new();
        for part in self.parts(class_filter).filter(|part| part.cell.totals.total() > 0) {
            let class = Label::Class(self.class(part.cell.class));
            let mut labels = match options.grouping {
                Grouping::None => Vec::new(),
                Grouping::Thread => vec![Label::Thread(part.thread.map(|thread| self.thread(thread).name))],
                Grouping::Class => vec![class],
            };
            let frame = |&site: &SiteIndex| Label::frame(self.symbols.location(site), options.granularity);
            let stack = part.stack.map(|stack| self.stacks.frames(stack)).filter(|frames| !frames.is_empty());
            let mut frames: Vec<Label<'_>> = match stack {
                Some(frames) => frames.iter().map(frame).collect(),
                None => part.cell.site.iter().map(frame).chain([Label::NoStack]).collect(),
            };
            // Frames of one method, class or package that follow each other are one.
            frames.dedup();
            match options.direction {
                Direction::TopDown => {
                    labels.extend(frames.into_iter().rev());
                    labels.extend(Some(class).filter(|_| options.grouping != Grouping::Class));
                }
                Direction::BottomUp => {
                    labels.extend(Some(class).filter(|_| options.grouping != Grouping::Class));
                    labels.extend(frames);
                }
            }
            let share = part.share.map(|(sampled, whole)| {
                let source = SourceIndex(part.index.0);
                let weight = part.cell.totals.total_bytes() as f64;
                sources.entry(source).or_insert(Source { weight, whole: whole.bytes });
                (source, sampled.bytes)
            });
            paths.push(Path { labels, count: part.objects(), weight: part.bytes(), share });
        }
        call_tree::build(&paths, &sources, options.cut)
    }
}
