//! The calls as a tree of labels, and as stacks.

use rustc_hash::FxHashMap;
use trace::time::Nanos;

use super::nodes::{NodeIndex, What};
use super::report::ExecutionReport;
use crate::call_tree::{DEEPEST, Direction, Granularity, Grouping, Label, Node, RanWeights, TreeOptions};
use crate::symbols::ThreadIndex;
use crate::weighted::WeightedStack;

/// A call of a node: where it was made, and how far up its callers are known, if not to the end.
type Call = (NodeIndex, Option<NodeIndex>);

/// The nodes of a report, with the way down.
struct Way<'a, 'o> {
    report: &'a ExecutionReport,
    options: &'o TreeOptions,
    /// Lighter nodes are left out.
    least: u64,
    /// For each node the first that it calls ...
    first: Vec<Option<NodeIndex>>,
    /// ... and the next that its caller calls.
    next: Vec<Option<NodeIndex>>,
}

impl ExecutionReport {
    /// The tree of calls. Top down a node has the calls that were made there, their cumulative time in nanoseconds, and the base time of
    /// them as its own; bottom up, the calls and base time of a method, and of these the part that each caller asked for.
    pub fn tree(&self, options: &TreeOptions) -> Node<'_> {
        let count = self.books.nodes.all().len();
        let mut way = Way { report: self, options, least: 0, first: vec![None; count], next: vec![None; count] };
        way.link();
        let (calls, base) = self.books.nodes.all().iter().fold((0_u64, 0_u64), |(calls, base), node| {
            (calls.saturating_add(node.calls), base.saturating_add(node.base.0))
        });
        way.least = (base as f64 * options.cut) as u64;
        let mut root = match options.direction {
            Direction::TopDown => {
                let weight = |same: &Vec<NodeIndex>| way.cumulative(same);
                way.by_thread(way.threads(), |&at| at, weight, |label, same, depth| way.down(label, same, depth))
            }
            Direction::BottomUp => {
                let made = |&(made, _): &Call| made;
                way.by_thread(
                    way.innermost(),
                    made,
                    |same| way.base(same),
                    |label, same, depth| way.up(label, same, depth),
                )
            }
        };
        root.count = calls;
        root
    }

    /// The stacks of calls, each with the calls that were made of its innermost method, and their base time in nanoseconds.
    pub fn called_stacks(&self) -> Vec<WeightedStack<'_>> {
        let nodes = self.books.nodes.all();
        let options = TreeOptions::default();
        let way = Way { report: self, options: &options, least: 0, first: Vec::new(), next: Vec::new() };
        let depths = self.depths();
        let mut stacks: Vec<WeightedStack<'_>> = Vec::new();
        let mut place: Vec<Option<usize>> = Vec::with_capacity(nodes.len());
        for (rank, node) in nodes.iter().enumerate() {
            let What::Method(_, caller) = node.what else {
                place.push(None);
                continue;
            };
            // What is deeper counts for the last that is not.
            let at = if depths[rank] > DEEPEST { place[caller.rank()] } else { None };
            let at = at.unwrap_or_else(|| {
                let (thread, frames) = way.stack(rank);
                stacks.push(WeightedStack { thread, class: None, frames, count: 0, weight: 0 });
                stacks.len() - 1
            });
            stacks[at].count = stacks[at].count.saturating_add(node.calls);
            stacks[at].weight = stacks[at].weight.saturating_add(node.base.0);
            place.push(Some(at));
        }
        stacks.retain(|stack| stack.count > 0 || stack.weight > 0);
        stacks
    }

    /// The thread of each node.
    fn thread_of_each(&self) -> Vec<ThreadIndex> {
        let mut threads: Vec<ThreadIndex> = Vec::new();
        for node in self.books.nodes.all() {
            threads.push(match node.what {
                What::Thread(thread) => thread,
                What::Method(_, caller) => threads[caller.rank()],
            });
        }
        threads
    }

    /// How many methods each node is below its thread.
    fn depths(&self) -> Vec<usize> {
        let mut depths: Vec<usize> = Vec::new();
        for node in self.books.nodes.all() {
            depths.push(match node.what {
                What::Thread(_) => 0,
                What::Method(_, caller) => depths[caller.rank()] + 1,
            });
        }
        depths
    }
}

impl<'a> Way<'a, '_> {
    /// Finds the way down. What is above no call that counts is left out.
    fn link(&mut self) {
        let nodes = self.report.books.nodes.all();
        let mut counts: Vec<bool> = nodes.iter().map(|node| node.calls > 0 || node.base > Nanos(0)).collect();
        for (rank, node) in nodes.iter().enumerate().rev() {
            if let What::Method(_, caller) = node.what
                && counts[rank]
            {
                counts[caller.rank()] = true;
                self.next[rank] = self.first[caller.rank()].replace(NodeIndex::of_rank(rank));
            }
        }
    }

    /// The nodes of threads, or what they call.
    fn threads(&self) -> Vec<NodeIndex> {
        let nodes = self.report.books.nodes.all();
        let is_thread = |rank: &usize| matches!(nodes[*rank].what, What::Thread(_)) && self.first[*rank].is_some();
        (0..nodes.len()).filter(is_thread).map(NodeIndex::of_rank).collect()
    }

    /// All calls, each at its innermost method.
    fn innermost(&self) -> Vec<Call> {
        let nodes = self.report.books.nodes.all();
        let counts = |rank: &usize| nodes[*rank].calls > 0 || nodes[*rank].base > Nanos(0);
        (0..nodes.len()).filter(counts).map(|rank| (NodeIndex::of_rank(rank), Some(NodeIndex::of_rank(rank)))).collect()
    }

    fn children(&self, node: NodeIndex) -> impl Iterator<Item = NodeIndex> {
        std::iter::successors(self.first[node.rank()], |child| self.next[child.rank()])
    }

    /// A root with a node for each thread below it, if these are told apart; otherwise one of all.
    fn by_thread<T>(
        &self,
        items: Vec<T>,
        node: impl Fn(&T) -> NodeIndex,
        weight: impl Fn(&Vec<T>) -> u64,
        make: impl Fn(Option<Label<'a>>, Vec<T>, usize) -> Node<'a>,
    ) -> Node<'a> {
        if self.options.grouping != Grouping::Thread {
            return make(None, items, 0);
        }
        let threads = self.report.thread_of_each();
        let mut below: FxHashMap<Label<'a>, Vec<T>> = FxHashMap::default();
        for item in items {
            let thread = self.report.symbols.thread_name(threads[node(&item).rank()]);
            below.entry(Label::Thread(Some(&thread.name))).or_default().push(item);
        }
        let mut root = empty();
        self.add_children(&mut root, below, weight, |label, same| make(Some(label), same, 1));
        root.weight = root.children.iter().fold(root.left_out_weight, |sum, child| sum.saturating_add(child.weight));
        root
    }

    /// What a node is called; `None` for threads.
    fn label(&self, node: NodeIndex) -> Option<Label<'a>> {
        match self.report.books.nodes.all()[node.rank()].what {
            What::Method(site, _) => Some(Label::frame(self.report.symbols.frame(site), self.options.granularity)),
            What::Thread(_) => None,
        }
    }

    fn cumulative(&self, same: &[NodeIndex]) -> u64 {
        let nodes = self.report.books.nodes.all();
        same.iter().fold(0, |sum, at| sum.saturating_add(nodes[at.rank()].cumulative.0))
    }

    fn base(&self, same: &[Call]) -> u64 {
        let nodes = self.report.books.nodes.all();
        same.iter().fold(0, |sum, (made, _)| sum.saturating_add(nodes[made.rank()].base.0))
    }

    fn caller(&self, node: NodeIndex) -> Option<NodeIndex> {
        match self.report.books.nodes.all()[node.rank()].what {
            What::Method(_, caller) => Some(caller),
            What::Thread(_) => None,
        }
    }

    /// The thread of a node, and the methods above it, the innermost first.
    fn stack(&self, rank: usize) -> (Option<&'a str>, Vec<Label<'a>>) {
        let report = self.report;
        let (mut frames, mut at) = (Vec::new(), NodeIndex::of_rank(rank));
        loop {
            match report.books.nodes.all()[at.rank()].what {
                What::Method(site, caller) => {
                    frames.push(Label::frame(report.symbols.frame(site), Granularity::Line));
                    at = caller;
                }
                What::Thread(thread) => return (Some(&report.symbols.thread_name(thread).name), frames),
            }
        }
    }

    /// A node of those that have its label, and what they call.
    fn down(&self, label: Option<Label<'a>>, same: Vec<NodeIndex>, depth: usize) -> Node<'a> {
        let nodes = self.report.books.nodes.all();
        let mut node = Node { label, weight: self.cumulative(&same), ..empty() };
        let mut below: FxHashMap<Label<'a>, Vec<NodeIndex>> = FxHashMap::default();
        let mut rest = same;
        while let Some(at) = rest.pop() {
            node.count = node.count.saturating_add(nodes[at.rank()].calls);
            node.own = node.own.saturating_add(nodes[at.rank()].base.0);
            for child in self.children(at) {
                match self.label(child).filter(|child| Some(*child) != label && depth < DEEPEST) {
                    Some(label) => below.entry(label).or_default().push(child),
                    None => rest.push(child),
                }
            }
        }
        let weight = |same: &Vec<NodeIndex>| self.cumulative(same);
        self.add_children(&mut node, below, weight, |label, same| self.down(Some(label), same, depth + 1));
        node
    }

    /// A node of the calls that go through it, and who asked for them.
    fn up(&self, label: Option<Label<'a>>, same: Vec<Call>, depth: usize) -> Node<'a> {
        let nodes = self.report.books.nodes.all();
        let mut node = Node { label, weight: self.base(&same), ..empty() };
        let mut below: FxHashMap<Label<'a>, Vec<Call>> = FxHashMap::default();
        for (made, mut at) in same {
            node.count = node.count.saturating_add(nodes[made.rank()].calls);
            while let Some(next) = at.filter(|&next| label.is_some() && self.label(next) == label) {
                at = self.caller(next);
            }
            match at.filter(|_| depth < DEEPEST).and_then(|next| Some((next, self.label(next)?))) {
                Some((next, label)) => below.entry(label).or_default().push((made, Some(next))),
                None => node.own = node.own.saturating_add(nodes[made.rank()].base.0),
            }
        }
        let weight = |same: &Vec<Call>| self.base(same);
        self.add_children(&mut node, below, weight, |label, same| self.up(Some(label), same, depth + 1));
        node
    }

    /// Adds what is below a node, the heaviest first, without what is too light.
    fn add_children<T>(
        &self,
        node: &mut Node<'a>,
        below: FxHashMap<Label<'a>, T>,
        weight: impl Fn(&T) -> u64,
        make: impl Fn(Label<'a>, T) -> Node<'a>,
    ) {
        for (label, same) in below {
            let weight = weight(&same);
            if weight >= self.least {
                node.children.push(make(label, same));
            } else {
                node.left_out += 1;
                node.left_out_weight = node.left_out_weight.saturating_add(weight);
            }
        }
        node.children.sort_by(|a, b| (b.weight, b.count).cmp(&(a.weight, a.count)).then_with(|| a.label.cmp(&b.label)));
    }
}

fn empty<'a>() -> Node<'a> {
    Node {
        label: None,
        count: 0,
        weight: 0,
        error: 0,
        own: 0,
        ran: RanWeights::default(),
        children: Vec::new(),
        left_out: 0,
        left_out_weight: 0,
    }
}
