//! The pieces of a profile: what is added up in the page. There are only so many.

use std::slice;

use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};

use super::names::{FrameIndex, Names};
use super::tree::{NodeIndex, ROOT, Tree, Values};

/// More pieces are not written.
const MOST_CELLS: usize = 40_000;
/// More numbers of when are not.
const MOST_CHANGES: usize = 400_000;
/// Stands for a thread that is not kept apart.
pub(super) const OTHER_THREADS: i64 = -2;

/// What pieces are kept apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// Which of the traces.
    pub(super) trace: usize,
    pub(super) node: NodeIndex,
    /// Further frames were left out.
    pub(super) is_folded: bool,
    /// Number of the class's name, or -1.
    pub(super) class: i64,
    /// The same of the thread's.
    pub(super) thread: i64,
    /// The frame that names the stack.
    pub(super) named: Option<FrameIndex>,
    /// The innermost one.
    pub(super) innermost: Option<FrameIndex>,
    /// Of which whole samples say that it is a part.
    pub(super) source: Option<u32>,
}

/// Samples: how many, what they stand for, and its variance.
pub(super) type Known = [f64; 3];

/// A piece.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    pub(super) values: Values,
    pub(super) known: Known,
    /// By slice of time, in their order.
    changes: Vec<(u32, Values)>,
}

/// All pieces, in the order in which they were found.
pub(super) struct Cells {
    index: FxHashMap<Key, usize>,
    cells: Vec<(Key, Cell)>,
}

/// What was written, with the number of the piece for each that was added.
pub(super) struct Written {
    pub(super) json: Map<String, Value>,
    /// By the numbers that [`Cells::add`] gave.
    pub(super) numbers: Vec<u32>,
}

impl Cells {
    pub(super) fn new() -> Cells {
        Cells { index: FxHashMap::default(), cells: Vec::new() }
    }

    /// Adds to a piece; gives back its number.
    pub(super) fn add(&mut self, key: Key, values: &Values, known: &Known, changes: &[(u32, Values)]) -> usize {
        let new = self.cells.len();
        let at = *self.index.entry(key).or_insert(new);
        if at == new {
            self.cells.push((key, Cell::default()));
        }
        let cell = &mut self.cells[at].1;
        add(&mut cell.values, values);
        add(&mut cell.known, known);
        if cell.changes.is_empty() {
            cell.changes.extend_from_slice(changes);
        } else if !changes.is_empty() {
            cell.changes.extend_from_slice(changes);
            cell.changes.sort_by_key(|(slice, _)| *slice);
            cell.changes.dedup_by(|(slice, values), (before, sum)| {
                let is_same = slice == before;
                if is_same {
                    add(sum, values);
                }
                is_same
            });
        }
        at
    }

    /// What all traces have where a piece is: they lose the same.
    fn together(&self, traces: usize) -> FxHashMap<Key, Vec<Values>> {
        let mut sums: FxHashMap<Key, Vec<Values>> = FxHashMap::default();
        for (key, cell) in &self.cells {
            let sum = sums.entry(place(key)).or_insert_with(|| vec![Values::default(); traces]);
            add(&mut sum[key.trace], &cell.values);
        }
        sums
    }

    fn is_small(&self) -> bool {
        let changes = self.cells.iter().map(|(_, cell)| cell.changes.len()).sum::<usize>();
        self.cells.len() <= MOST_CELLS && changes <= MOST_CHANGES
    }

    /// Writes all pieces and the nodes that they need. If there are too many, light ones lose first their threads, then their lines and classes, and more
    /// and more of them are light.
    pub(super) fn write(mut self, tree: &Tree, cut: f64, names: &mut Names) -> Written {
        let other = names.other("(other)");
        let other_class = names.number(Some("(other)"));
        let mut numbers: Vec<u32> = (0..self.cells.len() as u32).collect();
        let (mut cut, mut step) = (cut.max(1e-6), 0);
        while !self.is_small() && cut < 1.0 {
            let mut folded = Cells::new();
            let together = (tree.traces() > 1).then(|| self.together(tree.traces()));
            let places: Vec<u32> = self
                .cells
                .iter()
                .map(|(key, cell)| {
                    let node = tree.heavy(key.node, cut);
                    let unfolded = key;
                    let mut key = Key { node, is_folded: key.is_folded || node != key.node, ..*key };
                    let values = together.as_ref().map_or(slice::from_ref(&cell.values), |all| &all[&place(unfolded)]);
                    if tree.is_light(values, cut) {
                        key.thread = OTHER_THREADS;
                        if step > 0 {
                            key = Key {
                                named: key.named.map(|_| other),
                                innermost: key.innermost.map(|_| other),
                                class: if key.class >= 0 { other_class } else { key.class },
                                ..key
                            };
                        }
                    }
                    folded.add(key, &cell.values, &cell.known, &cell.changes) as u32
                })
                .collect();
            numbers.iter_mut().for_each(|number| *number = places[*number as usize]);
            self = folded;
            if step > 0 {
                cut *= 1.5;
            }
            step += 1;
        }
        let mut json = self.json(tree, other, names);
        json.insert("cut".to_owned(), json!(cut));
        Written { json, numbers }
    }

    fn json(&self, tree: &Tree, other: FrameIndex, names: &mut Names) -> Map<String, Value> {
        let mut nodes = Nodes::new(other);
        // Nodes have smaller numbers than those below them.
        let mut needed: Vec<NodeIndex> = self.cells.iter().map(|(key, _)| key.node).collect();
        needed.sort_unstable();
        needed.dedup();
        needed.iter().for_each(|&node| {
            nodes.enter(node, tree);
        });
        let frame = |frame: Option<FrameIndex>| frame.map_or(-1, |frame| i64::from(frame.0));
        let places: Vec<u32> = self.cells.iter().map(|(key, _)| nodes.of(key)).collect();
        let mut json = Map::new();
        let mut column = |name: &str, values: Vec<Value>| json.insert(name.to_owned(), values.into());
        if tree.traces() > 1 {
            column("side", self.cells.iter().map(|(key, _)| key.trace.into()).collect());
        }
        column("node", places.into_iter().map(Value::from).collect());
        column("class", self.cells.iter().map(|(key, _)| names.keep(key.class).into()).collect());
        column("thread", self.cells.iter().map(|(key, _)| names.keep(key.thread).into()).collect());
        column("named", self.cells.iter().map(|(key, _)| frame(key.named).into()).collect());
        column("innermost", self.cells.iter().map(|(key, _)| frame(key.innermost).into()).collect());
        column("source", self.cells.iter().map(|(key, _)| key.source.map_or(-1, i64::from).into()).collect());
        let values = |at: usize| self.cells.iter().map(|(_, cell)| number(cell.values[at])).collect::<Vec<_>>();
        json.insert("values".to_owned(), json!([values(0), values(1), values(2), values(3)]));
        if self.cells.iter().any(|(key, _)| key.source.is_some()) {
            let known = |at: usize| self.cells.iter().map(|(_, cell)| number(cell.known[at])).collect::<Vec<_>>();
            json.insert("known".to_owned(), json!([known(0), known(1), known(2)]));
        }
        let changes = || self.cells.iter().flat_map(|(_, cell)| &cell.changes);
        let change = |at: usize| changes().map(|(_, values)| number(values[at])).collect::<Vec<_>>();
        json.insert(
            "changes".to_owned(),
            json!({
                "count": self.cells.iter().map(|(_, cell)| cell.changes.len()).collect::<Vec<_>>(),
                "slice": changes().map(|(slice, _)| *slice).collect::<Vec<_>>(),
                "values": [change(0), change(1), change(2), change(3)],
            }),
        );
        json.insert("nodes".to_owned(), json!({ "parent": nodes.parents, "frame": nodes.frames }));
        json
    }
}

/// Nodes that are written, with new numbers.
struct Nodes {
    other: FrameIndex,
    numbers: FxHashMap<NodeIndex, u32>,
    /// The node below for what is left out.
    folded: FxHashMap<NodeIndex, u32>,
    parents: Vec<u32>,
    frames: Vec<i64>,
}

impl Nodes {
    fn new(other: FrameIndex) -> Nodes {
        let numbers = FxHashMap::from_iter([(ROOT, 0)]);
        Nodes { other, numbers, folded: FxHashMap::default(), parents: vec![0], frames: vec![-1] }
    }

    fn push(&mut self, parent: u32, frame: i64) -> u32 {
        self.parents.push(parent);
        self.frames.push(frame);
        self.parents.len() as u32 - 1
    }

    fn enter(&mut self, node: NodeIndex, tree: &Tree) -> u32 {
        let mut path = Vec::new();
        let mut at = node;
        while !self.numbers.contains_key(&at) {
            path.push(at);
            at = tree.node(at).0;
        }
        let mut parent = self.numbers[&at];
        for node in path.into_iter().rev() {
            let frame = tree.node(node).1.map_or(-1, |frame| i64::from(frame.0));
            parent = self.push(parent, frame);
            self.numbers.insert(node, parent);
        }
        parent
    }

    fn of(&mut self, key: &Key) -> u32 {
        let node = self.numbers[&key.node];
        if !key.is_folded {
            return node;
        }
        if let Some(&known) = self.folded.get(&key.node) {
            return known;
        }
        let new = self.push(node, i64::from(self.other.0));
        self.folded.insert(key.node, new);
        new
    }
}

/// A piece without what differs from trace to trace.
fn place(key: &Key) -> Key {
    Key { trace: 0, source: None, ..*key }
}

fn add<const N: usize>(sums: &mut [f64; N], values: &[f64; N]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
}

/// A number, as short as it can be written without its loss being seen.
pub(super) fn number(value: f64) -> Value {
    let rounded = (value * 100.0).round() / 100.0;
    match value {
        value if (value.fract() == 0.0 || value.abs() >= 1e6) && value.abs() < 9e15 => (value.round() as i64).into(),
        value if value.abs() >= 9e15 => value.into(),
        _ => rounded.into(),
    }
}

#[cfg(test)]
mod tests {
    use analysis::own_code::OwnCode;

    use super::*;

    #[test]
    fn a_piece_that_is_heavy_in_one_of_two_traces_keeps_its_thread_in_both() {
        let mut names = Names::new(OwnCode::default());
        let frame = names.other("run");
        let mut tree = Tree::new(2);
        let mut cells = Cells::new();
        let mut add = |trace: usize, thread: i64, bytes: f64| {
            let values = [bytes, 0.0, 0.0, 0.0];
            let node = tree.add(trace, [frame].into_iter(), &values);
            let named = Some(frame);
            let key = Key { trace, node, is_folded: false, class: -1, thread, named, innermost: named, source: None };
            cells.add(key, &values, &Known::default(), &[]);
        };
        let threads = MOST_CELLS as i64;
        (0..threads).for_each(|thread| add(0, thread, 1.0));
        add(1, 7, 1e6);
        let json = cells.write(&tree, 1e-3, &mut names).json;
        // Others are one: of the first trace.
        assert_eq!(json["thread"], json!([OTHER_THREADS, 7, 7]));
        assert_eq!(json["side"], json!([0, 0, 1]));
        assert_eq!(json["values"][0], json!([threads - 1, 1, 1_000_000]));
    }
}
