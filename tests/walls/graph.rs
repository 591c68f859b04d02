//! Which of the modules beside each other use which, and the cycles among them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;

use super::tree::{Id, Tree};

/// The children of one module, on request with the module's own file, as far as it defines or uses anything itself.
pub(crate) struct Graph {
    /// Where a module first names another, by their names.
    edges: BTreeMap<String, BTreeMap<String, String>>,
}

impl Graph {
    pub(crate) fn of_children(tree: &Tree, parent: Id, with_own_file: bool) -> Graph {
        let mut graph = Graph { edges: BTreeMap::new() };
        for child in tree.modules[parent].children.keys() {
            graph.edges.insert(child.clone(), BTreeMap::new());
        }
        for within in (0..tree.modules.len()).filter(|within| with_own_file || *within != parent) {
            let Some(from) = node(tree, parent, within) else { continue };
            // What the parent only passes on is no use of its own.
            for named in tree.modules[within].named.iter().filter(|named| within != parent || !named.by.is_public()) {
                let meaning = tree.meaning(within, named);
                let below = meaning.modules.iter().filter(|id| **id != parent);
                let parents = meaning.ends.iter().filter(|id| with_own_file && **id == parent);
                for to in below.chain(parents).filter_map(|id| node(tree, parent, *id)).filter(|to| *to != from) {
                    let place = format!("{}:{}", tree.modules[within].file, named.line);
                    graph.edges.entry(to.clone()).or_default();
                    graph.edges.entry(from.clone()).or_default().entry(to).or_insert(place);
                }
            }
        }
        graph
    }

    /// Whether `from` names `to`, and where.
    pub(crate) fn edge(&self, from: &str, to: &str) -> Option<&str> {
        self.edges.get(from)?.get(to).map(String::as_str)
    }

    /// A shortest cycle through each module that is part of one, each cycle once.
    pub(crate) fn cycles(&self) -> Vec<String> {
        let cycles: BTreeSet<Vec<&str>> =
            self.edges.keys().filter_map(|node| self.cycle_through(node)).map(from_the_least).collect();
        cycles.iter().map(|cycle| self.shown(cycle)).collect()
    }

    fn cycle_through<'a>(&'a self, start: &'a str) -> Option<Vec<&'a str>> {
        let mut came_from: BTreeMap<&str, &str> = BTreeMap::new();
        let mut queue = VecDeque::from([start]);
        while let Some(at) = queue.pop_front() {
            for next in self.edges[at].keys() {
                if next == start {
                    let mut cycle: Vec<&str> =
                        std::iter::successors(Some(at), |node| came_from.get(node).copied()).collect();
                    cycle.reverse();
                    return Some(cycle);
                }
                if !came_from.contains_key(next.as_str()) {
                    came_from.insert(next, at);
                    queue.push_back(next);
                }
            }
        }
        None
    }

    fn shown(&self, cycle: &[&str]) -> String {
        let mut text = cycle[0].to_owned();
        for (index, from) in cycle.iter().enumerate() {
            let to = cycle[(index + 1) % cycle.len()];
            let place = &self.edges[*from][to];
            let _ = write!(text, " -> {to} ({place})");
        }
        text
    }

    /// The modules by layers, the lowest first: each uses only those of lower layers, or of its own cycle.
    pub(crate) fn layers(&self) -> Vec<Vec<&str>> {
        let reach: BTreeMap<&str, BTreeSet<&str>> =
            self.edges.keys().map(|node| (node.as_str(), self.reachable(node))).collect();
        let mut layers: Vec<Vec<&str>> = Vec::new();
        let mut placed: BTreeSet<&str> = BTreeSet::new();
        while placed.len() < self.edges.len() {
            let is_next = |node: &str| {
                let is_of_the_cycle = |other: &str| other == node || reach[other].contains(node);
                !placed.contains(node)
                    && reach[node].iter().all(|other| placed.contains(other) || is_of_the_cycle(other))
            };
            let layer: Vec<&str> = self.edges.keys().map(String::as_str).filter(|node| is_next(node)).collect();
            placed.extend(&layer);
            layers.push(layer);
        }
        layers
    }

    fn reachable<'a>(&'a self, start: &str) -> BTreeSet<&'a str> {
        let mut reached = BTreeSet::new();
        let mut open: Vec<&str> = self.edges[start].keys().map(String::as_str).collect();
        while let Some(at) = open.pop() {
            if reached.insert(at) {
                open.extend(self.edges[at].keys().map(String::as_str));
            }
        }
        reached
    }
}

/// The node that module `id` belongs to: the child of `parent` that holds it, or the parent's own file.
fn node(tree: &Tree, parent: Id, id: Id) -> Option<String> {
    if id == parent {
        return Some(tree.modules[id].file.clone());
    }
    tree.upwards(id)
        .find(|above| tree.modules[*above].parent == Some(parent))
        .map(|child| tree.modules[child].name.clone())
}

fn from_the_least(mut cycle: Vec<&str>) -> Vec<&str> {
    let least = (0..cycle.len()).min_by_key(|at| cycle[*at]).unwrap_or(0);
    cycle.rotate_left(least);
    cycle
}
