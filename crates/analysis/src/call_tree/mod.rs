//! Call trees: what was allocated, waited for, or took a processor's time, below each frame.
//!
//! A tree is made of paths, each with a weight. Where samples spread the exact weight of a source over several paths, a node's share of
//! that source is a ratio of samples, and has an error.

mod label;
mod ran;
mod source;
mod spread;

use rustc_hash::FxHashMap;

use crate::location::Location;
pub use label::Label;
pub(crate) use label::{REMOVED, library_name};
pub use ran::{Ran, RanWeights};
pub(crate) use source::Parts;
pub use source::{Source, SourceIndex, SourceKind};
pub use spread::Spread;

/// Deeper frames than this are counted for the last one: a stack of a hostile trace may have any number.
pub(crate) const DEEPEST: usize = 600;

/// Which way a tree grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// From the beginning of a thread to the frame that acts.
    #[default]
    TopDown,
    /// From the frame that acts to its callers.
    BottomUp,
}

/// What is in front of the frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// Nothing.
    #[default]
    None,
    /// The thread.
    Thread,
    /// The class of the objects, or of the locks.
    Class,
}

/// Which frames are one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Granularity {
    /// Those of one line.
    #[default]
    Line,
    /// Those of one method.
    Method,
    /// Those of one class.
    Class,
    /// Those of one package.
    Package,
    /// Those of one module.
    Module,
}

/// How a tree is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeOptions {
    /// Which way it grows.
    pub direction: Direction,
    /// What is in front of the frames.
    pub grouping: Grouping,
    /// Which frames are one.
    pub granularity: Granularity,
    /// Nodes with less than this part of the whole, from 0 to 1, are left out.
    pub cut: f64,
}

impl Default for TreeOptions {
    fn default() -> Self {
        TreeOptions {
            direction: Direction::default(),
            grouping: Grouping::default(),
            granularity: Granularity::default(),
            cut: 0.01,
        }
    }
}

impl TreeOptions {
    /// How many labels from the root on are known of what is counted by class and innermost frame.
    pub(crate) fn counted(&self, has_site: bool) -> usize {
        match (self.direction, self.grouping) {
            (_, Grouping::Thread) | (Direction::TopDown, Grouping::None) => 0,
            (Direction::TopDown, Grouping::Class) => 1,
            (Direction::BottomUp, _) => 1 + usize::from(has_site),
        }
    }

    /// The way from the root to the innermost of what ran, with `group` in front; and how each ran. `ran` begins with the innermost.
    pub(crate) fn path<'a>(
        &self,
        group: Option<Label<'a>>,
        mut ran: Vec<(Label<'a>, Option<Ran>)>,
    ) -> (Vec<Label<'a>>, Vec<Option<Ran>>) {
        // Frames of one method, class or package that follow each other are one.
        ran.dedup_by_key(|(label, _)| *label);
        if self.direction == Direction::TopDown {
            ran.reverse();
        }
        group.map(|group| (group, None)).into_iter().chain(ran).unzip()
    }

    /// The way from the root to what a thread did on a stack: the frames and their modules, innermost first, and at their innermost end the class of the
    /// objects, or of the lock.
    /// `instead`: what stands where the callers would, if they are not known.
    pub(crate) fn labels<'a>(
        &self,
        thread: Option<&'a str>,
        class: &'a str,
        frames: impl DoubleEndedIterator<Item = (Location<'a>, &'a str)>,
        instead: Option<Label<'a>>,
    ) -> Vec<Label<'a>> {
        let class = Label::Class(class);
        let innermost = Some(class).filter(|_| self.grouping != Grouping::Class);
        let group = match self.grouping {
            Grouping::None => None,
            Grouping::Thread => Some(Label::Thread(thread)),
            Grouping::Class => Some(class),
        };
        let frames = frames.map(|frame| Label::frame(frame, self.granularity));
        let mut labels: Vec<Label<'a>> = Vec::new();
        match self.direction {
            Direction::TopDown => labels.extend(group.into_iter().chain(instead).chain(frames.rev()).chain(innermost)),
            Direction::BottomUp => labels.extend(group.into_iter().chain(innermost).chain(frames).chain(instead)),
        }
        // Frames of one method, class or package that follow each other are one.
        labels.dedup();
        labels
    }
}

/// A node of a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Node<'a> {
    /// What it stands for; `None` for the root.
    pub label: Option<Label<'a>>,
    /// Objects, or waits, of it and all below.
    pub count: u64,
    /// Their bytes, or nanoseconds.
    pub weight: u64,
    /// How far the weight may be off with a confidence of 95 %; 0 if it is exact.
    pub error: u64,
    /// The weight that ends here.
    pub own: u64,
    /// How much of the weight ran how, of code of which that is known.
    pub ran: RanWeights,
    /// What is called from here, or calls it: the heaviest first.
    pub children: Vec<Node<'a>>,
    /// Further children, which are too light.
    pub left_out: u64,
    /// The weight of these.
    pub left_out_weight: u64,
}

/// One way through a tree.
#[derive(Clone, Debug)]
pub(crate) struct Path<'a> {
    /// From the root on.
    pub(crate) labels: Vec<Label<'a>>,
    pub(crate) count: f64,
    pub(crate) weight: f64,
    /// The source that is spread over several paths, and what samples say of this one.
    pub(crate) share: Option<(SourceIndex, Spread)>,
    /// So many labels from the root on are known without samples.
    pub(crate) counted: usize,
    /// How the code of each label ran, as far as that is known.
    pub(crate) ran: Vec<Option<Ran>>,
}

/// Makes a tree of paths. `is_whole`: all paths of each source are there, so that the root is exact, and below it what is counted.
pub(crate) fn build<'a>(
    paths: &[Path<'a>],
    sources: &FxHashMap<SourceIndex, Source>,
    cut: f64,
    is_whole: bool,
) -> Node<'a> {
    let whole: f64 = paths.iter().map(|path| path.weight).sum();
    let all: Vec<&Path<'a>> = paths.iter().collect();
    node(None, &all, 0, &Sources { sources, least: whole * cut, is_whole })
}

/// What holds for all nodes of a tree.
struct Sources<'s> {
    sources: &'s FxHashMap<SourceIndex, Source>,
    /// Lighter nodes are left out.
    least: f64,
    is_whole: bool,
}

fn node<'a>(label: Option<Label<'a>>, paths: &[&Path<'a>], depth: usize, whole: &Sources<'_>) -> Node<'a> {
    let weight: f64 = paths.iter().map(|path| path.weight).sum();
    let count: f64 = paths.iter().map(|path| path.count).sum();
    let kind = |index: &SourceIndex| whole.sources.get(index).map_or(SourceKind::Exact, |source| source.kind);
    let mut parts = Parts::default();
    for path in paths {
        let is_sampled = !whole.is_whole || depth > path.counted;
        if let Some((source, spread)) = &path.share
            && (is_sampled || kind(source) == SourceKind::Sampled)
        {
            parts.add(*source, spread, path.weight);
        }
    }
    let mut ran = RanWeights::default();
    if let Some(at) = depth.checked_sub(1) {
        for path in paths {
            path.ran.get(at).copied().flatten().into_iter().for_each(|how| ran.add(how, path.weight));
        }
    }
    let mut below: FxHashMap<Label<'a>, Vec<&Path<'a>>> = FxHashMap::default();
    let mut own = 0.0;
    for &path in paths {
        match path.labels.get(depth).filter(|_| depth < DEEPEST) {
            Some(&label) => below.entry(label).or_default().push(path),
            None => own += path.weight,
        }
    }
    let mut children = Vec::new();
    let (mut left_out, mut left_out_weight) = (0, 0.0);
    for (label, paths) in below {
        let weight: f64 = paths.iter().map(|path| path.weight).sum();
        if label == Label::Removed && weight <= 0.0 {
            // It is there for the error of what is above.
        } else if weight >= whole.least {
            children.push(node(Some(label), &paths, depth + 1, whole));
        } else {
            left_out += 1;
            left_out_weight += weight;
        }
    }
    children.sort_by(|a, b| b.weight.cmp(&a.weight).then_with(|| a.label.cmp(&b.label)));
    Node {
        label,
        count: count.round() as u64,
        weight: weight.round() as u64,
        error: parts.error(|index| whole.sources.get(&index).copied()),
        own: own.round() as u64,
        ran,
        children,
        left_out,
        left_out_weight: left_out_weight.round() as u64,
    }
}

/// How far a number may be off with a confidence of 95 %, by its standard error squared: twice the standard error, as of a normal
/// distribution. In the unit of the number.
pub(crate) fn error(variance: f64) -> u64 {
    (2.0 * variance.sqrt()).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(labels: &[&'static str], weight: f64) -> Path<'static> {
        Path {
            labels: labels.iter().map(|&name| Label::Code(name)).collect(),
            count: 1.0,
            weight,
            share: None,
            counted: 0,
            ran: Vec::new(),
        }
    }

    fn text(node: &Node<'_>, depth: usize, out: &mut String) {
        let label = node.label.map_or_else(|| "all".to_owned(), |label| label.to_string());
        out.push_str(&format!("{:depth$}{label} {} {} {}", "", node.count, node.weight, node.own));
        if node.left_out > 0 {
            out.push_str(&format!(" ({} more: {})", node.left_out, node.left_out_weight));
        }
        out.push('\n');
        node.children.iter().for_each(|child| text(child, depth + 1, out));
    }

    #[test]
    fn a_node_has_all_that_is_below_and_light_ones_are_left_out() {
        let paths = [
            path(&["main", "a", "x"], 60.0),
            path(&["main", "a", "y"], 30.0),
            path(&["main", "a"], 5.0),
            path(&["main", "b"], 4.0),
            path(&["other"], 1.0),
        ];
        let mut found = String::new();
        text(&build(&paths, &FxHashMap::default(), 0.05, true), 0, &mut found);
        let expected = "all 5 100 0 (1 more: 1)
 main 4 99 0 (1 more: 4)
  a 3 95 5
   x 1 60 60
   y 1 30 30
";
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_spread_by_samples_has_an_error_and_the_whole_has_none() {
        let sample = |labels: &[&'static str], samples: u64| {
            let spread = Spread { samples, weight: samples as f64, variance: samples as f64 };
            Path { share: Some((SourceIndex(0), spread)), ..path(labels, 10.0 * samples as f64) }
        };
        let paths = [sample(&["a", "x"], 75), sample(&["a", "y"], 25), path(&["b"], 500.0)];
        let whole = Spread { samples: 100, weight: 100.0, variance: 100.0 };
        let sources = FxHashMap::from_iter([(
            SourceIndex(0),
            Source { weight: 1000.0, whole, kind: SourceKind::Exact, most_removed: 0.0 },
        )]);
        let root = build(&paths, &sources, 0.0, true);
        assert_eq!((root.weight, root.error), (1500, 0));
        assert_eq!(build(&paths[..2], &sources, 0.0, false).error, 19);
        let [a, b] = &root.children[..] else { panic!("{root:?}") };
        // Twice the square root of p (1 - p) / n.
        assert_eq!((a.children[0].weight, a.children[0].error), (750, 87));
        assert_eq!((a.children[1].weight, a.children[1].error), (250, 87));
        // That all samples are below does not prove that nothing is elsewhere.
        assert_eq!((a.weight, a.error, b.error), (1000, 19, 0));
    }

    #[test]
    fn a_stack_of_any_depth_ends() {
        let deep = path(&["a"; 5000], 1.0);
        let (mut root, mut depth) = (&build(&[deep], &FxHashMap::default(), 0.0, true), 0);
        while let Some(child) = root.children.first() {
            (root, depth) = (child, depth + 1);
        }
        assert_eq!((depth, root.own), (DEEPEST, 1));
    }
}
