//! Allocations by call stack: as a tree, as weighted stacks, and piece by piece.

use rustc_hash::FxHashMap;

use super::breakdown::Part;
use super::cells::{Cell, CellIndex, ThreadSubject};
use super::naming::SiteNames;
use super::report::AllocationReport;
use super::totals::Amount;
use crate::call_tree::{
    self, Granularity, Label, Node, Parts, Path, Source, SourceIndex, SourceKind, Spread, TreeOptions,
};
use crate::location::Location;
use crate::symbols::SiteIndex;
use crate::weighted::{Rounding, WeightedStack, known};

/// All samples of objects that live.
const LIVING: SourceIndex = SourceIndex(0);

/// Objects of one class that one thread allocated on one stack.
#[derive(Clone, Debug)]
pub struct Entry<'r> {
    /// The stack, innermost first, or the innermost frame alone: numbers of [`AllocationReport::frame`].
    pub frames: Vec<usize>,
    /// The JIT removed them, and their callers are not known.
    pub is_removed: bool,
    /// Sites are counted, and these objects are not: samples are all that is known of them.
    pub is_uncounted: bool,
    /// The frame that names the stack.
    pub named: Option<usize>,
    /// That is its innermost frame, and would be whoever calls it.
    pub is_always_named: bool,
    /// The class of the objects.
    pub class: &'r str,
    /// Who allocated them, if known.
    pub thread: Option<ThreadSubject<'r>>,
    /// What was allocated: objects and bytes.
    pub allocated: [f64; 2],
    /// The same in whole numbers: those of all pieces of a site add up to what the site has.
    pub rounded: Amount,
    /// What of it is alive at the end: objects and bytes.
    pub live: [f64; 2],
    /// What samples say, and of which [source](AllocationReport::source), where the numbers are estimates.
    pub share: Option<(SourceIndex, Spread)>,
    /// In which slices of time objects were allocated, and how many died in it.
    pub changes: Vec<(usize, [Amount; 2])>,
}

/// What lives of a cell, or a part of that.
struct Living {
    cell: Cell,
    amount: Amount,
    /// What samples say of it, where they say it.
    spread: Option<Spread>,
    /// No collection has met it yet, so nobody knows what becomes of it.
    is_new: bool,
}

/// Rounds the parts of each cell so that their sum is that of the cell.
#[derive(Default)]
struct PartRounding {
    cell: Option<CellIndex>,
    objects: Rounding,
    bytes: Rounding,
}

impl PartRounding {
    /// The next part, behind those of the same cell.
    fn next(&mut self, part: &Part<'_>) -> Amount {
        if self.cell != Some(part.index) {
            *self = PartRounding { cell: Some(part.index), ..PartRounding::default() };
        }
        Amount { objects: self.objects.next(part.objects()), bytes: self.bytes.next(part.bytes()) }
    }
}

impl AllocationReport {
    /// What was allocated below each frame, of all objects whose class name passes the filter: objects and their bytes. At the end of each
    /// path is the class of the objects. With a filter for code only stacks of which some frame passes it.
    pub fn tree(
        &self,
        options: &TreeOptions,
        class_filter: impl Fn(&str) -> bool,
        code_filter: Option<&dyn Fn(&Location<'_>) -> bool>,
    ) -> Node<'_> {
        let mut passes = self.code_passes(code_filter);
        let mut sources: FxHashMap<SourceIndex, Source> = FxHashMap::default();
        let (mut paths, mut is_whole) = (Vec::new(), self.breakdown.is_whole());
        for part in self.breakdown.parts(class_filter).filter(|part| part.totals.total() > 0) {
            if !passes(part.cell) {
                is_whole &= part.share.is_none();
                continue;
            }
            let share = self.breakdown.share(&part);
            if let Some((index, _)) = share
                && !sources.contains_key(&index)
            {
                sources.extend(self.breakdown.source(index).map(|source| (index, source)));
            }
            let counted = if part.share.is_some() { options.counted(part.cell.site.is_some()) } else { 0 };
            let instead = self.instead_of_callers(&part);
            paths.push(self.path(options, part.cell, instead, [part.objects(), part.bytes()], share, counted));
        }
        call_tree::build(&paths, &sources, options.cut, is_whole)
    }

    /// What lives of the objects that were allocated below each frame, likewise. Where samples say it, all of it has an error, and what
    /// was allocated since the last collection is a part of its own.
    pub fn live_tree(
        &self,
        options: &TreeOptions,
        class_filter: impl Fn(&str) -> bool,
        code_filter: Option<&dyn Fn(&Location<'_>) -> bool>,
    ) -> Node<'_> {
        let living = self.living();
        let mut whole = Spread::default();
        living.iter().filter_map(|living| living.spread.as_ref()).for_each(|spread| whole.add(spread));
        let mut passes = self.code_passes(code_filter);
        let living =
            living.iter().filter(|living| class_filter(self.cells().class(living.cell)) && passes(living.cell));
        let paths = living.map(|&Living { cell, amount, spread, is_new }| {
            let share = spread.map(|spread| (LIVING, spread));
            let instead = (!self.frames_of(&cell).1).then_some(Label::NoStack);
            let mut path = self.path(options, cell, instead, [amount.objects as f64, amount.bytes as f64], share, 0);
            if is_new {
                path.labels.insert(0, Label::SinceCollection);
            }
            path
        });
        let source = Source { weight: whole.weight, whole, kind: SourceKind::Sampled, most_removed: 0.0 };
        let sources = FxHashMap::from_iter([(LIVING, source)]);
        call_tree::build(&paths.collect::<Vec<_>>(), &sources, options.cut, true)
    }

    /// Whether some frame of a cell passes a filter.
    fn code_passes(&self, filter: Option<&dyn Fn(&Location<'_>) -> bool>) -> impl FnMut(Cell) -> bool {
        let mut known: FxHashMap<SiteIndex, bool> = FxHashMap::default();
        move |cell| {
            let Some(filter) = filter else { return true };
            let mut passes =
                |&site: &SiteIndex| *known.entry(site).or_insert_with(|| filter(&self.cells().location(site)));
            self.frames_of(&cell).0.iter().any(&mut passes)
        }
    }

    fn path(
        &self,
        options: &TreeOptions,
        cell: Cell,
        instead: Option<Label<'static>>,
        [count, weight]: [f64; 2],
        share: Option<(SourceIndex, Spread)>,
        counted: usize,
    ) -> Path<'_> {
        let (frames, _) = self.frames_of(&cell);
        let frames = frames.iter().map(|&site| self.cells().symbols().frame(site));
        let thread = cell.thread.map(|thread| self.cells().thread(thread).name);
        let labels = options.labels(thread, self.cells().class(cell), frames, instead);
        Path { labels, count, weight, share, counted, ran: Vec::new() }
    }

    /// What lives of each cell; of sampled objects those that were allocated since the last collection apart.
    fn living(&self) -> Vec<Living> {
        if self.sampled_living.is_empty() {
            let cells = self.cells().iter().filter(|(.., totals)| totals.live() > 0);
            return cells
                .map(|(_, cell, totals)| Living { cell, amount: totals.living.all.amount, spread: None, is_new: false })
                .collect();
        }
        let parts = self.sampled_living.iter().flat_map(|(&index, living)| {
            [(living.survived, false), (living.since_collection(), true)].map(|(known, is_new)| (index, known, is_new))
        });
        let living = parts.filter(|(_, known, _)| known.samples > 0).map(|(index, known, is_new)| {
            let spread = Spread { samples: known.samples, weight: known.amount.bytes as f64, variance: known.variance };
            Living { cell: self.cells().cell(index), amount: known.amount, spread: Some(spread), is_new }
        });
        living.collect()
    }

    /// What stands where the callers of a part would, if they are not known.
    fn instead_of_callers(&self, part: &Part<'_>) -> Option<Label<'static>> {
        match part.is_removed() {
            true => Some(Label::Removed),
            false => (!self.frames_of(&part.cell).1).then_some(Label::NoStack),
        }
    }

    /// The stack of a cell, innermost frame first, or where there is none the innermost frame alone; and whether it is a stack.
    fn frames_of<'a>(&'a self, cell: &'a Cell) -> (&'a [SiteIndex], bool) {
        match self.cells().stack_of(*cell) {
            [] => (cell.site.as_slice(), false),
            frames => (frames, true),
        }
    }

    /// What was allocated on each stack: objects and their bytes. Where samples spread a site over its callers, the sum over these is
    /// that of the site.
    pub fn allocated_stacks(&self) -> Vec<WeightedStack<'_>> {
        let mut rounding = PartRounding::default();
        let parts = self.breakdown.parts(|_| true).filter(|part| part.totals.total() > 0);
        let stacks = parts.map(|part| (part.is_removed(), self.weighted(part.cell, rounding.next(&part))));
        let stacks = stacks.map(|(is_removed, mut stack)| {
            stack.frames.extend(is_removed.then_some(Label::Removed));
            stack
        });
        stacks
            .filter(|stack| stack.count > 0 || stack.weight > 0 || stack.frames.last() != Some(&Label::Removed))
            .collect()
    }

    /// What lives at the end, by where it was allocated.
    pub fn live_stacks(&self) -> Vec<WeightedStack<'_>> {
        let stacks = self.living().into_iter().map(|living| {
            let mut stack = self.weighted(living.cell, living.amount);
            stack.frames.extend(living.is_new.then_some(Label::SinceCollection));
            stack
        });
        stacks.collect()
    }

    fn weighted(&self, cell: Cell, amount: Amount) -> WeightedStack<'_> {
        let frame = |&site| Label::frame(self.cells().symbols().frame(site), Granularity::Line);
        WeightedStack {
            thread: cell.thread.map(|thread| self.cells().thread(thread).name),
            class: Some(self.cells().class(cell)),
            frames: known(self.frames_of(&cell).0.iter().map(frame)),
            count: amount.objects,
            weight: amount.bytes,
        }
    }

    /// The place in the program that a frame is at.
    pub fn frame(&self, number: usize) -> Location<'_> {
        self.cells().location(SiteIndex::of_rank(number))
    }

    /// All pieces, of which no two have everything in common. `slices`: how many there are of time.
    pub fn entries(&self, names: &SiteNames, slices: usize) -> impl Iterator<Item = Entry<'_>> {
        let in_steps = self.is_in_steps();
        let mut rounding = PartRounding::default();
        self.breakdown.parts(|_| true).map(move |part| {
            let living = part.totals.living.all.amount;
            let recorder = self.recorder.as_ref();
            Entry {
                frames: self.frames_of(&part.cell).0.iter().map(|site| site.rank()).collect(),
                is_removed: part.is_removed(),
                is_uncounted: part.cell.is_uncounted,
                named: names.site(part.cell.site, part.cell.stack).map(SiteIndex::rank),
                is_always_named: names.always_name(part.cell.site, self.cells().symbols()),
                class: self.cells().class(part.cell),
                thread: part.cell.thread.map(|thread| self.cells().thread(thread)),
                allocated: [part.objects(), part.bytes()],
                rounded: rounding.next(&part),
                live: [living.objects, living.bytes].map(|number| number as f64 * part.ratio()),
                share: self.breakdown.share(&part),
                changes: recorder.map_or_else(Vec::new, |recorder| recorder.changes(in_steps, &part, slices)),
            }
        })
    }

    /// How far the bytes of a piece may be off with a confidence of 95 %; 0 if they are exact.
    pub fn error_of(&self, entry: &Entry<'_>) -> u64 {
        let mut parts = Parts::default();
        entry.share.iter().for_each(|(source, spread)| parts.add(*source, spread, entry.allocated[1]));
        parts.error(|index| self.source(index))
    }

    /// The whole of which samples say the parts.
    pub fn source(&self, source: SourceIndex) -> Option<Source> {
        self.breakdown.source(source)
    }
}
