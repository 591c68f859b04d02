//! Waits as paths of a call tree.

use rustc_hash::FxHashMap;

use super::paths::WaitKind;
use super::report::LockReport;
use crate::call_tree::{self, Granularity, Label, Node, Path, TreeOptions};
use crate::location::Location;
use crate::symbols::SiteIndex;
use crate::weighted::{WeightedStack, known};

impl LockReport {
    /// How often threads waited on each stack, and for how many nanoseconds; the class is that of the lock. In an order that does not
    /// depend on chance.
    pub fn waiting_stacks(&self, kind: WaitKind) -> Vec<WeightedStack<'_>> {
        let waits = self.paths.iter().filter(|(key, _)| key.kind == kind);
        let mut stacks: Vec<WeightedStack<'_>> = waits
            .map(|(key, waits)| {
                let sites: &[SiteIndex] = key.stack.map_or(&[], |stack| self.stacks.frames(stack));
                let frame = |&site: &SiteIndex| Label::frame(self.symbols.frame(site), Granularity::Line);
                WeightedStack {
                    thread: Some(self.threads.name(key.waiter, false).name),
                    class: key.class.map(|class| &*self.symbols.class_name(class).name),
                    frames: known(sites.iter().map(frame)),
                    count: waits.count,
                    weight: waits.nanos,
                }
            })
            .collect();
        stacks.sort_by(|a, b| (a.thread, a.class, &a.frames).cmp(&(b.thread, b.class, &b.frames)));
        stacks
    }

    /// How long threads waited below each frame, in nanoseconds, for locks whose class passes the filter. At the end of each path is the
    /// class of the lock. With a filter for code only stacks of which some frame passes it.
    pub fn tree(
        &self,
        options: &TreeOptions,
        kind: WaitKind,
        class_filter: impl Fn(&str) -> bool,
        code_filter: Option<&dyn Fn(&Location<'_>) -> bool>,
    ) -> Node<'_> {
        let mut paths = Vec::new();
        for (key, waits) in self.paths.iter().filter(|(key, _)| key.kind == kind) {
            let class = key.class.map_or("(unknown class)", |class| &self.symbols.class_name(class).name);
            let sites: &[SiteIndex] = key.stack.map_or(&[], |stack| self.stacks.frames(stack));
            let frames = || sites.iter().map(|&site| self.symbols.frame(site));
            if !class_filter(class) || code_filter.is_some_and(|filter| !frames().any(|(at, _)| filter(&at))) {
                continue;
            }
            let thread = Some(self.threads.name(key.waiter, false).name);
            let labels = options.labels(thread, class, frames(), sites.is_empty().then_some(Label::NoStack));
            paths.push(Path {
                labels,
                count: waits.count as f64,
                weight: waits.nanos as f64,
                share: None,
                counted: 0,
                ran: Vec::new(),
            });
        }
        call_tree::build(&paths, &FxHashMap::default(), options.cut, true)
    }
}
