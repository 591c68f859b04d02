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

/// All stacks.
pub(super) struct Tree {
    nodes: Vec<Node>,
    index: FxHashMap<(NodeIndex, FrameIndex), NodeIndex>,
}

struct Node {
    parent: NodeIndex,
    frame: Option<FrameIndex>,
    weight: Values,
}

impl Tree {
    pub(super) fn new() -> Tree {
        Tree { nodes: vec![Node { parent: ROOT, frame: None, weight: Values::default() }], index: FxHashMap::default() }
    }

    /// Adds to a stack, whose outermost frame comes first; gives back its innermost node.
    pub(super) fn add(&mut self, frames: impl Iterator<Item = FrameIndex>, values: &Values) -> NodeIndex {
        let mut at = ROOT;
        self.weigh(at, values);
        for frame in frames.take(DEEPEST) {
            let new = NodeIndex(self.nodes.len() as u32);
            at = *self.index.entry((at, frame)).or_insert_with(|| {
                self.nodes.push(Node { parent: at, frame: Some(frame), weight: Values::default() });
                new
            });
            self.weigh(at, values);
        }
        at
    }

    /// What is below a node.
    pub(super) fn weight(&self, node: NodeIndex) -> &Values {
        &self.nodes[node.0 as usize].weight
    }

    /// What a node stands for, and what is above it.
    pub(super) fn node(&self, node: NodeIndex) -> (NodeIndex, Option<FrameIndex>) {
        let Node { parent, frame, .. } = self.nodes[node.0 as usize];
        (parent, frame)
    }

    /// Whether values are a smaller part of all than this, each of them.
    pub(super) fn is_light(&self, values: &Values, cut: f64) -> bool {
        let whole = self.weight(ROOT);
        !values.iter().zip(whole).any(|(value, whole)| *value > 0.0 && *value >= whole * cut)
    }

    /// The node itself, or the next one above that is not light.
    pub(super) fn heavy(&self, mut node: NodeIndex, cut: f64) -> NodeIndex {
        while node != ROOT && self.is_light(self.weight(node), cut) {
            node = self.node(node).0;
        }
        node
    }

    fn weigh(&mut self, node: NodeIndex, values: &Values) {
        let sums = &mut self.nodes[node.0 as usize].weight;
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn light_nodes_are_found_by_the_largest_of_their_values() {
        let mut tree = Tree::new();
        let mut add = |frames: &[u32], bytes: f64, objects: f64| {
            tree.add(frames.iter().map(|&frame| FrameIndex(frame)), &[bytes, objects, 0.0, 0.0])
        };
        let heavy = add(&[1, 2], 90.0, 1.0);
        let light = add(&[1, 3], 1.0, 1.0);
        let many = add(&[1, 4], 1.0, 90.0);
        let above = tree.node(heavy).0;
        assert_eq!([heavy, light, many].map(|node| tree.heavy(node, 0.05)), [heavy, above, many]);
        assert_eq!(tree.heavy(light, 0.0), light);
        assert_eq!(tree.weight(ROOT), &[92.0, 92.0, 0.0, 0.0]);
        let deep = tree.add((0..5000).map(FrameIndex), &[1.0; 4]);
        assert_eq!(deep.0 as usize, 5 + DEEPEST - 1);
    }
}
