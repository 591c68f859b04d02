//! The stacks of a profile as a tree, of which light nodes are left out.

use rustc_hash::FxHashMap;

use super::names::FrameIndex;

/// Deeper frames are counted for the last one: a stack of a hostile trace may have any number.
const DEEPEST: usize = 600;

/// What is added up: bytes and objects allocated, bytes and objects alive; or time.
pub(super) type Values = [f64; 4];

/// Number of a node; those above it have smaller ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct NodeIndex(pub(super) u32);

/// The node that has all.
pub(super) const ROOT: NodeIndex = NodeIndex(0);

/// All stacks, of one trace or of several, which then share what is light.
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// What is below a node, trace by trace.
    weights: Vec<Values>,
    traces: usize,
    index: FxHashMap<(NodeIndex, FrameIndex), NodeIndex>,
}

struct Node {
    parent: NodeIndex,
    frame: Option<FrameIndex>,
}

impl Tree {
    pub(super) fn new(traces: usize) -> Tree {
        Tree {
            nodes: vec![Node { parent: ROOT, frame: None }],
            weights: vec![Values::default(); traces],
            traces,
            index: FxHashMap::default(),
        }
    }

    /// Of how many traces it is.
    pub(super) fn traces(&self) -> usize {
        self.traces
    }

    /// Adds to a stack of a trace, whose outermost frame comes first; gives back its innermost node.
    pub(super) fn add(&mut self, trace: usize, frames: impl Iterator<Item = FrameIndex>, values: &Values) -> NodeIndex {
        let mut at = ROOT;
        self.weigh(at, trace, values);
        for frame in frames.take(DEEPEST) {
            let new = NodeIndex(self.nodes.len() as u32);
            at = *self.index.entry((at, frame)).or_insert_with(|| {
                self.nodes.push(Node { parent: at, frame: Some(frame) });
                self.weights.resize(self.weights.len() + self.traces, Values::default());
                new
            });
            self.weigh(at, trace, values);
        }
        at
    }

    /// What is below a node, by trace.
    fn weights(&self, node: NodeIndex) -> &[Values] {
        let begin = node.0 as usize * self.traces;
        &self.weights[begin..begin + self.traces]
    }

    /// What a node stands for, and what is above it.
    pub(super) fn node(&self, node: NodeIndex) -> (NodeIndex, Option<FrameIndex>) {
        let Node { parent, frame } = self.nodes[node.0 as usize];
        (parent, frame)
    }

    /// Whether values are a smaller part of all than this, each of them, in each trace.
    pub(super) fn is_light(&self, values: &[Values], cut: f64) -> bool {
        let pairs = values.iter().flatten().zip(self.weights(ROOT).iter().flatten());
        !pairs.into_iter().any(|(value, whole)| *value > 0.0 && *value >= whole * cut)
    }

    /// The node itself, or the next one above that is not light.
    pub(super) fn heavy(&self, mut node: NodeIndex, cut: f64) -> NodeIndex {
        while node != ROOT && self.is_light(self.weights(node), cut) {
            node = self.node(node).0;
        }
        node
    }

    fn weigh(&mut self, node: NodeIndex, trace: usize, values: &Values) {
        let sums = &mut self.weights[node.0 as usize * self.traces + trace];
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn light_nodes_are_found_by_the_largest_of_their_values() {
        let mut tree = Tree::new(1);
        let mut add = |frames: &[u32], bytes: f64, objects: f64| {
            tree.add(0, frames.iter().map(|&frame| FrameIndex(frame)), &[bytes, objects, 0.0, 0.0])
        };
        let heavy = add(&[1, 2], 90.0, 1.0);
        let light = add(&[1, 3], 1.0, 1.0);
        let many = add(&[1, 4], 1.0, 90.0);
        let above = tree.node(heavy).0;
        assert_eq!([heavy, light, many].map(|node| tree.heavy(node, 0.05)), [heavy, above, many]);
        assert_eq!(tree.heavy(light, 0.0), light);
        assert_eq!(tree.weights(ROOT), [[92.0, 92.0, 0.0, 0.0]]);
        let deep = tree.add(0, (0..5000).map(FrameIndex), &[1.0; 4]);
        assert_eq!(deep.0 as usize, 5 + DEEPEST - 1);
    }

    #[test]
    fn what_is_heavy_in_one_of_two_traces_is_kept_of_both() {
        let mut tree = Tree::new(2);
        let mut add = |trace: usize, frame: u32, bytes: f64| {
            tree.add(trace, [FrameIndex(frame)].into_iter(), &[bytes, 0.0, 0.0, 0.0])
        };
        let (before, after) = (add(0, 1, 1.0), add(1, 1, 500.0));
        let rare = add(0, 2, 1.0);
        add(0, 3, 998.0);
        assert_eq!(before, after);
        assert_eq!([before, rare].map(|node| tree.heavy(node, 0.05)), [before, ROOT]);
    }
}
