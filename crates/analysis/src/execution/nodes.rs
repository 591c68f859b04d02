//! The tree of calls, as a list of nodes: a path as deep as the program's recursion needs no recursion here.

use rustc_hash::FxHashMap;
use trace::time::Nanos;

use super::subject::add;
use crate::symbols::{SiteIndex, ThreadIndex};

/// More paths than this are not told apart.
const MOST_NODES: usize = 1_000_000;

/// Number of a node. A node's caller has a smaller one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct NodeIndex(u32);

impl NodeIndex {
    pub(super) fn rank(self) -> usize {
        self.0 as usize
    }

    /// There are fewer than 2^32: a million, and one of each thread.
    pub(super) fn of_rank(rank: usize) -> NodeIndex {
        NodeIndex(rank as u32)
    }
}

/// What a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A thread, above the methods that it calls.
    Thread(ThreadIndex),
    /// A method, called from a node.
    Method(SiteIndex, NodeIndex),
}

/// A node.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallNode {
    pub(super) what: What,
    pub(super) calls: u64,
    pub(super) base: Nanos,
    pub(super) cumulative: Nanos,
}

/// All nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    nodes: Vec<CallNode>,
    methods: FxHashMap<(NodeIndex, SiteIndex), NodeIndex>,
    threads: FxHashMap<ThreadIndex, NodeIndex>,
}

impl Nodes {
    /// The nodes by their numbers.
    pub(super) fn all(&self) -> &[CallNode] {
        &self.nodes
    }

    /// The node of a thread.
    pub(super) fn thread(&mut self, thread: ThreadIndex) -> NodeIndex {
        let nodes = &mut self.nodes;
        *self.threads.entry(thread).or_insert_with(|| new(nodes, What::Thread(thread)))
    }

    /// The node of a method that is called from a node; that node itself, and `true`, if there is no room for another.
    pub(super) fn called(&mut self, caller: NodeIndex, site: SiteIndex) -> (NodeIndex, bool) {
        if let Some(&known) = self.methods.get(&(caller, site)) {
            return (known, false);
        }
        if self.methods.len() >= MOST_NODES {
            return (caller, true);
        }
        let node = new(&mut self.nodes, What::Method(site, caller));
        self.methods.insert((caller, site), node);
        (node, false)
    }

    /// Adds calls.
    pub(super) fn add(&mut self, node: NodeIndex, calls: u64, base: Nanos, cumulative: Nanos) {
        let node = &mut self.nodes[node.rank()];
        node.calls = node.calls.saturating_add(calls);
        add(&mut node.base, base);
        add(&mut node.cumulative, cumulative);
    }

    /// Adds the time of what a thread called first.
    pub(super) fn add_to_thread(&mut self, thread: ThreadIndex, cumulative: Nanos) {
        let node = self.thread(thread);
        self.add(node, 0, Nanos(0), cumulative);
    }
}

fn new(nodes: &mut Vec<CallNode>, what: What) -> NodeIndex {
    let index = NodeIndex::of_rank(nodes.len());
    nodes.push(CallNode { what, calls: 0, base: Nanos(0), cumulative: Nanos(0) });
    index
}
