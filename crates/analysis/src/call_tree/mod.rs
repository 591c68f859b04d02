//! Call trees: what was allocated, or waited for, below each frame.
//!
//! A tree is made of paths, each with a weight. Where samples spread the exact weight of a source over several paths, a node's share of
//! that source is a ratio of samples, and has an error.

mod spread;

use rustc_hash::FxHashMap;

use crate::location::Location;
use crate::own_code::{OwnCode, is_jdk};
pub(crate) use spread::Spread;

/// Deeper frames than this are counted for the last one: a stack of a hostile trace may have any number.
const DEEPEST: usize = 600;

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

    /// The way from the root to what a thread did on a stack: the frames and their modules, innermost first, and at their innermost end the class of the
    /// objects, or of the lock.
    pub(crate) fn labels<'a>(
        &self,
        thread: Option<&'a str>,
        class: &'a str,
        frames: impl DoubleEndedIterator<Item = (Location<'a>, &'a str)>,
        has_stack: bool,
    ) -> Vec<Label<'a>> {
        let class = Label::Class(class);
        let innermost = Some(class).filter(|_| self.grouping != Grouping::Class);
        let group = match self.grouping {
            Grouping::None => None,
            Grouping::Thread => Some(Label::Thread(thread)),
            Grouping::Class => Some(class),
        };
        let frames = frames.map(|frame| Label::frame(frame, self.granularity));
        let no_stack = Some(Label::NoStack).filter(|_| !has_stack);
        let mut labels: Vec<Label<'a>> = Vec::new();
        match self.direction {
            Direction::TopDown => labels.extend(group.into_iter().chain(no_stack).chain(frames.rev()).chain(innermost)),
            Direction::BottomUp => labels.extend(group.into_iter().chain(innermost).chain(frames).chain(no_stack)),
        }
        // Frames of one method, class or package that follow each other are one.
        labels.dedup();
        labels
    }
}

/// What a node stands for. Its `Display` is the text that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Label<'a> {
    /// A line of a method.
    Line(Location<'a>),
    /// A method; its name as the trace spells it.
    Method {
        /// The class that declares it.
        class: &'a str,
        /// Its name.
        name: &'a str,
    },
    /// All code of a class.
    Code(&'a str),
    /// All code of a package.
    Package(&'a str),
    /// All code of a module; of unnamed ones if it is empty.
    Module(&'a str),
    /// A class of objects, or of locks.
    Class(&'a str),
    /// A thread; `None` if it is not known.
    Thread(Option<&'a str>),
    /// No stack is known of what is below.
    NoStack,
}

impl std::fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Label::Line(at) => at.fmt(f),
            Label::Method { class, name } => write!(f, "{class}.{}", trace::names::jvm_method_name(name)),
            Label::Package("") => f.write_str("(default package)"),
            Label::Module("") => f.write_str("(unnamed)"),
            Label::Class("") => f.write_str("(unnamed class)"),
            Label::Thread(Some("")) => f.write_str("(unnamed thread)"),
            Label::Thread(None) => f.write_str("(no thread)"),
            Label::NoStack => f.write_str("(no stack)"),
            Label::Code(name)
            | Label::Package(name)
            | Label::Module(name)
            | Label::Class(name)
            | Label::Thread(Some(name)) => f.write_str(name),
        }
    }
}

impl Label<'_> {
    /// Whether it is code of the JDK.
    pub fn is_jdk(&self) -> bool {
        match self {
            Label::Line(at) => is_jdk(at.class),
            Label::Method { class, .. } | Label::Code(class) => is_jdk(class),
            // Modules of the JDK are called as packages are.
            Label::Package(name) | Label::Module(name) => is_jdk(&format!("{name}.*")),
            Label::Class(_) | Label::Thread(_) | Label::NoStack => false,
        }
    }

    /// Of which known package it is code, such as `java` or `org.springframework`; `None` if it may be the user's own, or is no code.
    pub fn known_package(&self, own: &OwnCode) -> Option<&'static str> {
        match self {
            Label::Line(at) => own.known_package(at.class),
            Label::Method { class, .. } | Label::Code(class) => own.known_package(class),
            Label::Package(name) | Label::Module(name) => own.known_package(&format!("{name}.*")),
            Label::Class(_) | Label::Thread(_) | Label::NoStack => None,
        }
    }
}

impl<'a> Label<'a> {
    /// A frame, with those that are one with it.
    pub(crate) fn frame((at, module): (Location<'a>, &'a str), granularity: Granularity) -> Label<'a> {
        match granularity {
            Granularity::Line => Label::Line(at),
            Granularity::Method => Label::Method { class: at.class, name: at.method },
            Granularity::Class => Label::Code(at.class),
            Granularity::Package => Label::Package(trace::names::package(at.class)),
            Granularity::Module => Label::Module(module),
        }
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
}

/// A source whose weight is exact and spread over paths by samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SourceIndex(pub(crate) u32);

/// What is known of a source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source {
    /// Its exact weight.
    pub(crate) weight: f64,
    /// All of its samples.
    pub(crate) whole: Spread,
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

/// The standard error of what paths weigh together, squared.
fn variance<'p>(
    shares: impl Iterator<Item = &'p (SourceIndex, Spread)>,
    sources: &FxHashMap<SourceIndex, Source>,
) -> f64 {
    let mut parts: FxHashMap<SourceIndex, Spread> = FxHashMap::default();
    for (source, spread) in shares {
        parts.entry(*source).or_default().add(spread);
    }
    let known = parts.iter().filter_map(|(index, part)| Some((sources.get(index)?, part)));
    known.map(|(source, part)| source.weight.powi(2) * source.whole.variance_of_share(part)).sum()
}

fn node<'a>(label: Option<Label<'a>>, paths: &[&Path<'a>], depth: usize, whole: &Sources<'_>) -> Node<'a> {
    let weight: f64 = paths.iter().map(|path| path.weight).sum();
    let count: f64 = paths.iter().map(|path| path.count).sum();
    let sampled = paths.iter().filter(|path| !whole.is_whole || depth > path.counted);
    let variance = variance(sampled.filter_map(|path| path.share.as_ref()), whole.sources);
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
        if weight >= whole.least {
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
        error: error(variance).min(weight.round() as u64),
        own: own.round() as u64,
        children,
        left_out,
        left_out_weight: left_out_weight.round() as u64,
    }
}

/// What a number may be off with a confidence of 95 %, by its standard error squared.
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
        let sources = FxHashMap::from_iter([(SourceIndex(0), Source { weight: 1000.0, whole })]);
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
