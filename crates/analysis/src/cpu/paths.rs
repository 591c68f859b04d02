//! Samples as paths of a call tree.

use rustc_hash::FxHashMap;

use super::report::CpuReport;
use super::samples::CellKey;
use super::subject::CpuSubject;
use crate::call_tree::{
    self, Granularity, Grouping, Label, Node, Path, Ran, Source, SourceIndex, SourceKind, TreeOptions,
};
use crate::weighted::{WeightedStack, known};

/// All samples are spread over the tree together.
const ALL: SourceIndex = SourceIndex(0);

impl CpuReport {
    /// How long threads ran below each frame, in nanoseconds, or lived there. On top of the Java frames stand the native function and the
    /// kernel; threads of the VM's, and what has no stack, have roots of their own. Threads are the virtual ones where some are, or with `carriers`
    /// those that carried them.
    pub fn tree(&self, options: &TreeOptions, carriers: bool) -> Node<'_> {
        let whole = self.whole().spread();
        let sources = FxHashMap::from_iter([(
            ALL,
            Source { weight: whole.weight, whole, kind: SourceKind::Exact, most_removed: 0.0 },
        )]);
        let path = |(key, weight): &(CellKey, super::samples::Weight)| {
            let thread = key.virtual_thread.filter(|_| !carriers).unwrap_or(key.thread);
            let group = match options.grouping {
                Grouping::Thread => Some(Label::Thread(Some(self.thread(thread).name))),
                Grouping::None | Grouping::Class => None,
            };
            let (labels, ran) = options.path(group, self.labels(key, options.granularity));
            let spread = weight.spread();
            Path {
                labels,
                count: spread.samples as f64,
                weight: spread.weight,
                share: Some((ALL, spread)),
                counted: 0,
                ran,
            }
        };
        let paths: Vec<Path<'_>> = self.cells.iter().map(path).collect();
        call_tree::build(&paths, &sources, options.cut, !self.is_selected)
    }

    /// What was sampled on each stack: samples, and for how many nanoseconds they stand. Threads are the virtual ones where some are.
    pub fn sampled_stacks(&self) -> Vec<WeightedStack<'_>> {
        let stack = |(key, weight): &(CellKey, super::samples::Weight)| WeightedStack {
            thread: Some(self.thread(key.virtual_thread.unwrap_or(key.thread)).name),
            class: None,
            frames: known(self.labels(key, Granularity::Line).into_iter().map(|(label, _)| label)),
            count: weight.samples,
            weight: weight.time.0,
        };
        self.cells.iter().map(stack).collect()
    }

    /// What ran, innermost first, and how.
    pub(super) fn labels(&self, key: &CellKey, granularity: Granularity) -> Vec<(Label<'_>, Option<Ran>)> {
        let state = CpuReport::waiting(key.state).map(Label::State);
        let kernel = key.is_kernel.then_some(Label::Kernel);
        let function = key.function.map(|function| {
            let (name, library) = self.samples.function_name(function);
            match granularity {
                Granularity::Line | Granularity::Method => Label::Function { name, library },
                Granularity::Class | Granularity::Package | Granularity::Module => Label::Library(library),
            }
        });
        let mut labels: Vec<(Label<'_>, Option<Ran>)> =
            [state, kernel, function].into_iter().flatten().map(|label| (label, None)).collect();
        let types = key.stack.map_or(&[][..], |stack| self.stacks.types_of(stack));
        let sites = self.frames(key);
        labels.extend(
            sites
                .iter()
                .enumerate()
                .map(|(at, &site)| (Label::frame(self.symbols.frame(site), granularity), types.get(at).copied())),
        );
        if sites.is_empty() {
            let root = match self.without_frames(key) {
                CpuSubject::Lost(reason) => Label::Lost(reason),
                CpuSubject::VmThreads(name) => Label::VmThreads(name),
                CpuSubject::NativeThreads(name) => Label::NativeThreads(name),
                _ => Label::NoStack,
            };
            labels.push((root, None));
        }
        labels
    }
}
