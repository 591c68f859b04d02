//! Who keeps whom alive: the dominator tree, and what each object retains.
//!
//! An object is dominated by another if every path to it from the roots goes through that one. The tree is found by the Semi-NCA
//! algorithm (Georgiadis, 2005) without recursion: chains of millions of objects are common in heaps.

use super::{Graph, Lists, ObjectIndex, TooMany};

/// The dominator tree of a graph. Roots have no dominator.
#[derive(Debug)]
pub struct Dominators {
    /// The immediate dominator, [`TOP`] or [`UNREACHABLE`].
    dominator: Vec<ObjectIndex>,
    /// Bytes that die with an object; 0 for what is unreachable.
    retained: Vec<u64>,
    /// Reachable objects, each behind its dominator.
    order: Vec<ObjectIndex>,
    /// The objects that each object dominates immediately.
    children: Lists,
}

/// The dominator of objects that no single object dominates.
const TOP: ObjectIndex = ObjectIndex(u32::MAX - 1);
/// The dominator of what no root leads to.
const UNREACHABLE: ObjectIndex = ObjectIndex::NONE;

/// The number of what was not reached.
const NONE: u32 = u32::MAX;

/// Number of the imaginary object that refers to all roots.
const ROOT: u32 = 0;

/// The graph by preorder numbers: 0 is the imaginary root.
struct Search {
    /// The number of each object; [`NONE`] if it is not reachable.
    number: Vec<u32>,
    /// The object of each number; that of the imaginary root means nothing.
    object: Vec<ObjectIndex>,
    /// The number from which each was reached.
    parent: Vec<u32>,
}

impl Dominators {
    /// The dominators in a graph, held by its strong, soft and final references: weak and phantom ones keep nothing alive.
    ///
    /// # Errors
    /// There are more objects than the analysis can number.
    pub fn of(graph: &Graph) -> Result<Self, TooMany> {
        let search = Search::run(graph);
        let reached = search.object.len();
        let by_number = immediate_dominators(graph, &search);
        let Search { number, object, parent } = search;
        drop((number, parent));

        let objects = graph.len();
        let mut dominator = vec![UNREACHABLE; objects];
        let mut retained = vec![0_u64; objects];
        for &object in &object[1..] {
            retained[object.at()] = graph.shallow(object);
            dominator[object.at()] = TOP;
        }
        // A dominator has a smaller number than what it dominates.
        for number in (1..reached).rev() {
            let by = by_number[number];
            if by != ROOT {
                let by = object[by as usize];
                let own = object[number];
                dominator[own.at()] = by;
                retained[by.at()] = retained[by.at()].saturating_add(retained[own.at()]);
            }
        }
        drop(by_number);
        let mut order = object;
        order.remove(0);
        let held = |&object: &ObjectIndex| Some((dominator[object.at()], object)).filter(|&(by, _)| by != TOP);
        let children = Lists::of_pairs(objects, || order.iter().filter_map(held))?;
        Ok(Dominators { dominator, retained, order, children })
    }

    /// The object that keeps this one alive alone; `None` if no single object does.
    pub fn dominator(&self, object: ObjectIndex) -> Option<ObjectIndex> {
        Some(self.dominator[object.at()]).filter(|&by| by != TOP && by != UNREACHABLE)
    }

    /// The objects that this one dominates immediately.
    pub fn dominated(&self, object: ObjectIndex) -> &[ObjectIndex] {
        self.children.of(object)
    }

    /// Bytes that die with an object, its own included.
    pub fn retained(&self, object: ObjectIndex) -> u64 {
        self.retained[object.at()]
    }

    /// Is there a path from a root?
    pub fn is_reachable(&self, object: ObjectIndex) -> bool {
        self.dominator[object.at()] != UNREACHABLE
    }

    /// All reachable objects, each behind its dominator.
    pub fn reachable(&self) -> &[ObjectIndex] {
        &self.order
    }

    /// The objects without a dominator: roots, and objects that several roots hold.
    pub fn tops(&self) -> impl Iterator<Item = ObjectIndex> {
        self.order.iter().copied().filter(|object| self.dominator[object.at()] == TOP)
    }

    /// Goes through the tree, depth first.
    pub fn walk(&self, mut visit: impl FnMut(ObjectIndex, Step)) {
        let mut open: Vec<(ObjectIndex, usize)> = Vec::new();
        for top in self.tops() {
            visit(top, Step::Enter);
            open.push((top, 0));
            while let Some((object, next)) = open.last_mut() {
                let object = *object;
                match self.dominated(object).get(*next) {
                    Some(&child) => {
                        *next += 1;
                        visit(child, Step::Enter);
                        open.push((child, 0));
                    }
                    None => {
                        visit(object, Step::Leave);
                        open.pop();
                    }
                }
            }
        }
    }
}

/// Where a walk through the tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It comes to an object.
    Enter,
    /// It has been to all that the object dominates.
    Leave,
}

impl Search {
    /// Numbers what is reachable from the roots, depth first. Instead of a stack each object remembers where it was reached from and
    /// which reference comes next, so that depth costs nothing.
    fn run(graph: &Graph) -> Self {
        let objects = graph.len();
        let mut search = Search { number: vec![NONE; objects], object: vec![ObjectIndex::NONE], parent: vec![ROOT] };
        let mut next: Vec<u32> = vec![0];
        for root in graph.root_objects() {
            if search.number[root.at()] != NONE {
                continue;
            }
            let mut current = search.reach(root, ROOT);
            next.push(0);
            while current != ROOT {
                let object = search.object[current as usize];
                let cursor = next[current as usize];
                next[current as usize] += 1;
                match graph.held(object, cursor) {
                    Some(target) if search.number[target.at()] == NONE => {
                        current = search.reach(target, current);
                        next.push(0);
                    }
                    Some(_) => {}
                    None => current = search.parent[current as usize],
                }
            }
        }
        search
    }

    fn reach(&mut self, object: ObjectIndex, from: u32) -> u32 {
        let number = self.object.len() as u32;
        self.number[object.at()] = number;
        self.object.push(object);
        self.parent.push(from);
        number
    }
}

/// The immediate dominator of each number.
fn immediate_dominators(graph: &Graph, search: &Search) -> Vec<u32> {
    let reached = search.object.len();
    let mut dominator = search.parent.clone();
    let mut semi: Vec<u32> = (0..reached as u32).collect();
    // The smallest semidominator on the way up to `ancestor`, which path compression moves upwards.
    let mut label = semi.clone();
    let mut ancestor = search.parent.clone();
    let mut is_root = vec![false; reached];
    for root in graph.root_objects() {
        is_root[search.number[root.at()] as usize] = true;
    }
    let mut path = Vec::new();
    for number in (1..reached as u32).rev() {
        let at = number as usize;
        let mut least = search.parent[at];
        if is_root[at] {
            least = ROOT;
        } else {
            graph.for_each_holder(search.object[at], |holder| {
                let holder = search.number[holder.at()];
                if holder != NONE {
                    least = least.min(evaluate(holder, number, &mut ancestor, &mut label, &mut path));
                }
            });
        }
        semi[at] = least;
        label[at] = least;
    }
    for at in 1..reached {
        let mut by = dominator[at];
        while by > semi[at] {
            by = dominator[by as usize];
        }
        dominator[at] = by;
    }
    dominator
}

/// The smallest semidominator among the linked ancestors of a number and itself. Numbers above `last` are linked.
fn evaluate(from: u32, last: u32, ancestor: &mut [u32], label: &mut [u32], path: &mut Vec<u32>) -> u32 {
    let mut at = from;
    while ancestor[at as usize] > last {
        path.push(at);
        at = ancestor[at as usize];
    }
    // `at` is the topmost linked number; everything below now points to where it points.
    let top = ancestor[at as usize];
    let mut least = label[at as usize];
    while let Some(below) = path.pop() {
        least = least.min(label[below as usize]);
        label[below as usize] = least;
        ancestor[below as usize] = top;
    }
    label[from as usize]
}
