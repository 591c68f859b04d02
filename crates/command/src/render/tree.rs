//! Call trees, as text and in JSON. Text has a node for each line, with what is below it. What is called from one place only stands below its caller without
//! further indentation, and in runs of frames that are nobody's own only the first and the last are shown.

use std::io::{self, Write};

use analysis::allocations::Location;
use analysis::call_tree::{Label, Node, Ran};
use analysis::own_code::OwnCode;
use owo_colors::OwoColorize;
use serde_json::{Value, json};
use trace::names;

use crate::render::human::{count, counted, printable, tenths};
use crate::render::page::{Page, shorten_packages};
use crate::render::view::location;

/// Runs of known frames that are longer lose what is in the middle.
const LONGEST_RUN: usize = 3;

/// At most so many packages of such a run are named.
const MOST_PACKAGES: usize = 3;

/// A name gets so many columns at least.
const NAME_ROOM: usize = 32;

/// Which numbers nodes have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Columns {
    /// A weight, and its error if there is one.
    Weight,
    /// Cumulative time, base time, and calls.
    Calls,
    /// Base time, and calls.
    CallsBottomUp,
}

/// How a tree is shown.
pub(crate) struct Style<'a> {
    /// The numbers of nodes.
    pub(crate) columns: Columns,
    /// A weight as text.
    pub(crate) amount: fn(u64) -> String,
    /// The heading of weights.
    pub(crate) heading: &'static str,
    /// What stands in front of the class at the end of a path.
    pub(crate) leaf: &'static str,
    /// Whose code is not shortened.
    pub(crate) own: &'a OwnCode,
    /// Show all frames of a run.
    pub(crate) all_frames: bool,
    /// Nodes on a path.
    pub(crate) depth: usize,
    /// Less than this part of the whole is not worth a line.
    pub(crate) cut: f64,
}

/// A line of the text.
struct Entry {
    /// The numbers from the share on; `None` if they are those of the line above.
    numbers: Option<Vec<String>>,
    guide: String,
    label: Name,
    /// It may be the user's own code.
    is_own: bool,
    /// How it ran, in brackets.
    mark: String,
    /// What is below is not shown.
    goes_on: bool,
}

/// A name, and a shorter one where there is no room.
struct Name {
    long: String,
    short: Option<String>,
}

impl From<String> for Name {
    fn from(long: String) -> Self {
        Name { long, short: None }
    }
}

impl Name {
    /// A line of a method; for short without the file that its class names already.
    fn of_line(at: &Location<'_>) -> Self {
        let class = at.class.rsplit('.').next().unwrap_or_default().split('$').next().unwrap_or_default();
        let is_named = at.source.split_once('.').is_some_and(|(file, _)| file == class);
        let method = names::jvm_method_name(at.method);
        let short = at.line.filter(|_| is_named).map(|line| printable(&format!("{}.{method}:{line}", at.class)));
        Name { long: printable(&at.to_string()), short }
    }

    /// The one that fits.
    fn fitting(&self, indent: usize, page: &Page<'_>) -> String {
        let fits = |name: &str| {
            let room = page.width().beside(indent);
            shorten_packages(name, room).chars().count() <= room
        };
        match &self.short {
            Some(short) if !fits(&self.long) => page.fit(indent, short),
            _ => page.fit(indent, &self.long),
        }
    }
}

/// What a chain of nodes is shown as.
enum Item<'n, 'a> {
    Node(&'n Node<'a>),
    /// Frames that are nobody's own.
    Run(&'n [&'n Node<'a>]),
}

struct Lines<'s> {
    style: &'s Style<'s>,
    whole: u64,
    entries: Vec<Entry>,
}

/// Writes a tree. Colours are written too: `out` must strip them where they are not wanted.
pub(crate) fn write(root: &Node<'_>, style: &Style<'_>, out: &mut Page<'_>) -> io::Result<()> {
    let mut lines = Lines { style, whole: root.weight, entries: Vec::new() };
    lines.add(root, 0, "", "");
    let headings: &[&str] = match style.columns {
        Columns::Weight => &["share", style.heading, "±"],
        Columns::Calls => &["share", "cumulative", "base", "calls"],
        Columns::CallsBottomUp => &["share", "base", "calls"],
    };
    let has_last =
        lines.entries.iter().flat_map(|entry| &entry.numbers).any(|cells| cells.last() != Some(&String::new()));
    let columns = &headings[..headings.len() - usize::from(!has_last)];
    let width = |column: usize| {
        let cells = lines.entries.iter().flat_map(|entry| &entry.numbers).map(|cells| cells[column].chars().count());
        cells.chain([headings[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let row = |cells: &[&str]| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("  {cell:>width$}"));
        cells.collect::<String>()
    };
    writeln!(out, "{}", format!("{}  frame", row(columns)).bold())?;
    let taken = widths.iter().map(|width| width + 2).sum::<usize>() + 2;
    let guides = out.width().beside(taken + NAME_ROOM);
    for Entry { numbers, guide, label, is_own, mark, goes_on } in &lines.entries {
        let numbers: Vec<&str> =
            numbers.as_ref().map_or(vec![""; headings.len()], |cells| cells.iter().map(String::as_str).collect());
        let guide = shortened(guide, guides);
        let behind = format!("{mark}{}", if *goes_on { " …" } else { "" });
        let label = label.fitting(taken + guide.chars().count() + behind.chars().count(), out);
        let numbers = row(&numbers[..columns.len()]);
        match is_own {
            true => writeln!(out, "{numbers}  {guide}{}{behind}", label.bold())?,
            false => writeln!(out, "{numbers}  {guide}{label}{behind}")?,
        }
    }
    Ok(())
}

/// A guide without its beginning, if it is longer than `room`.
fn shortened(guide: &str, room: usize) -> String {
    match guide.chars().count() {
        length if length > room => format!("…{}", guide.chars().skip(length - room.max(1) + 1).collect::<String>()),
        _ => guide.to_owned(),
    }
}

impl Lines<'_> {
    /// Adds a node and all below it: the first line behind one guide, the others behind another one.
    fn add(&mut self, node: &Node<'_>, depth: usize, first: &str, rest: &str) {
        let mut chain = vec![node];
        let mut last = node;
        while self.is_through(last) && depth + chain.len() <= self.style.depth {
            last = &last.children[0];
            chain.push(last);
        }
        let depth = depth + chain.len();
        let is_cut = depth > self.style.depth && !last.children.is_empty();
        let mut above = None;
        for item in self.items(&chain) {
            let (node, label, is_own, mark) = match item {
                Item::Node(node) => (node, self.label(node), self.is_own(node), mark(node)),
                Item::Run(nodes) => (nodes[0], Name::from(self.run(nodes)), false, String::new()),
            };
            let guide = if above.is_none() { first } else { rest };
            let numbers = self.numbers(node);
            let is_new = above.as_ref() != Some(&numbers);
            self.push(is_new.then(|| numbers.clone()), guide, label, is_own, mark);
            above = Some(numbers);
        }
        if is_cut || last.children.is_empty() && last.left_out > 0 {
            if let Some(entry) = self.entries.last_mut() {
                entry.goes_on = true;
            }
            return;
        }
        // Weight that is in none of the children, and is worth a line.
        let others = [
            // With calls it is a column.
            (last.own, "(itself)".to_owned(), !last.children.is_empty() && self.style.columns == Columns::Weight),
            (last.left_out_weight, format!("({} more)", count(last.left_out)), true),
        ];
        let others: Vec<(u64, String)> = others
            .into_iter()
            .filter(|(weight, _, may)| *may && self.is_worth(*weight))
            .map(|(weight, label, _)| (weight, label))
            .collect();
        for (at, child) in last.children.iter().enumerate() {
            let is_last = at + 1 == last.children.len() && others.is_empty();
            let (branch, below) = if is_last { ("└ ", "  ") } else { ("├ ", "│ ") };
            self.add(child, depth, &format!("{rest}{branch}"), &format!("{rest}{below}"));
        }
        let number = others.len();
        for (at, (weight, label)) in others.into_iter().enumerate() {
            let branch = if at + 1 == number { "└ " } else { "├ " };
            self.push(
                Some(self.numbers_of_others(weight)),
                &format!("{rest}{branch}"),
                Name::from(label),
                false,
                String::new(),
            );
        }
    }

    fn push(&mut self, numbers: Option<Vec<String>>, guide: &str, label: Name, is_own: bool, mark: String) {
        self.entries.push(Entry { numbers, guide: guide.to_owned(), label, is_own, mark, goes_on: false });
    }

    /// The numbers of a node as text.
    fn numbers(&self, node: &Node<'_>) -> Vec<String> {
        let amount = self.style.amount;
        let mut cells = vec![tenths(node.weight, self.whole), amount(node.weight)];
        match self.style.columns {
            Columns::Weight => cells.push(if node.error > 0 { amount(node.error) } else { String::new() }),
            Columns::Calls => cells.extend([amount(node.own), count(node.count)]),
            Columns::CallsBottomUp => cells.push(count(node.count)),
        }
        cells
    }

    /// The same of what is only known by its weight.
    fn numbers_of_others(&self, weight: u64) -> Vec<String> {
        let more = if self.style.columns == Columns::Calls { 2 } else { 1 };
        let mut cells = vec![tenths(weight, self.whole), (self.style.amount)(weight)];
        cells.extend(vec![String::new(); more]);
        cells
    }

    /// Whether all that is worth a line goes on in one child.
    fn is_through(&self, node: &Node<'_>) -> bool {
        let ends_here = self.style.columns == Columns::Weight && self.is_worth(node.own);
        node.children.len() == 1 && !ends_here && !self.is_worth(node.left_out_weight)
    }

    fn is_worth(&self, weight: u64) -> bool {
        weight > 0 && weight as f64 >= self.whole as f64 * self.style.cut
    }

    fn items<'n, 'a>(&self, chain: &'n [&'n Node<'a>]) -> Vec<Item<'n, 'a>> {
        let mut items = Vec::new();
        let mut at = 0;
        while at < chain.len() {
            let run = chain[at..].iter().take_while(|node| self.package(node).is_some()).count();
            if run > LONGEST_RUN && !self.style.all_frames {
                items.push(Item::Node(chain[at]));
                items.push(Item::Run(&chain[at + 1..at + run - 1]));
                items.push(Item::Node(chain[at + run - 1]));
            } else {
                items.extend(chain[at..at + run.max(1)].iter().map(|node| Item::Node(node)));
            }
            at += run.max(1);
        }
        items
    }

    /// The package of code that is known to be nobody's own.
    fn package(&self, node: &Node<'_>) -> Option<&'static str> {
        node.label.and_then(|label| label.known_package(self.style.own))
    }

    fn is_own(&self, node: &Node<'_>) -> bool {
        node.label.is_some_and(|label| label.is_java()) && self.package(node).is_none()
    }

    fn run(&self, nodes: &[&Node<'_>]) -> String {
        let mut packages: Vec<&str> = Vec::new();
        for package in nodes.iter().filter_map(|node| self.package(node)) {
            if !packages.contains(&package) {
                packages.push(package);
            }
        }
        let more = if packages.len() > MOST_PACKAGES { ", ..." } else { "" };
        packages.truncate(MOST_PACKAGES);
        format!("… {} of {}{more}", counted(nodes.len() as u64, "frame", "frames"), packages.join(", "))
    }

    fn label(&self, node: &Node<'_>) -> Name {
        let name = match node.label {
            None => "all".to_owned(),
            Some(Label::Line(at)) => return Name::of_line(&at),
            Some(label @ Label::Class(_)) => format!("{}{}", self.style.leaf, printable(&label.to_string())),
            Some(label @ (Label::Thread(Some(_)) | Label::NativeThreads(_))) => {
                format!("thread {}", printable(&label.to_string()))
            }
            Some(label @ Label::VmThreads(_)) => format!("VM: {}", printable(&label.to_string())),
            Some(label) => printable(&label.to_string()),
        };
        Name::from(name)
    }
}

/// How most of a node ran, in brackets; nothing if that is not known.
fn mark(node: &Node<'_>) -> String {
    /// Less is not worth a mark.
    const LEAST: f64 = 0.1;
    let marks: Vec<&str> = node.ran.most(LEAST).into_iter().map(Ran::mark).collect();
    if marks.is_empty() { String::new() } else { format!(" [{}]", marks.join("+")) }
}

/// Writes a tree as lines of `frame;frame;frame weight`, as programs that draw flame graphs take them.
pub(crate) fn write_folded(root: &Node<'_>, out: &mut Page<'_>) -> io::Result<()> {
    fold(root, &mut Vec::new(), out)
}

fn fold(node: &Node<'_>, path: &mut Vec<String>, out: &mut Page<'_>) -> io::Result<()> {
    if let Some(label) = node.label {
        path.push(printable(&label.to_string()).replace(';', ","));
    }
    // What is left out ends here.
    let weight = node.own.saturating_add(node.left_out_weight);
    if weight > 0 && !path.is_empty() {
        writeln!(out, "{} {weight}", path.join(";"))?;
    }
    for child in &node.children {
        fold(child, path, out)?;
    }
    if node.label.is_some() {
        path.pop();
    }
    Ok(())
}

/// The nodes of a tree in JSON, each before those below it.
pub(crate) fn json(root: &Node<'_>) -> Value {
    let mut nodes = Vec::new();
    add_json(root, 0, &mut nodes);
    nodes.into()
}

fn add_json(node: &Node<'_>, depth: usize, nodes: &mut Vec<Value>) {
    let kind = match &node.label {
        None => "root",
        Some(Label::Line(_)) => "line",
        Some(Label::Method { .. }) => "method",
        Some(Label::Code(_)) => "code",
        Some(Label::Package(_)) => "package",
        Some(Label::Module(_)) => "module",
        Some(Label::Class(_)) => "class",
        Some(Label::Thread(_)) => "thread",
        Some(Label::NoStack) => "no_stack",
        Some(Label::SinceCollection) => "since_collection",
        Some(Label::Removed) => "removed",
        Some(Label::Function { .. }) => "function",
        Some(Label::Library(_)) => "library",
        Some(Label::Kernel) => "kernel",
        Some(Label::VmThreads(_)) => "vm_threads",
        Some(Label::NativeThreads(_)) => "native_threads",
        Some(Label::Lost(_)) => "lost",
        Some(Label::State(_)) => "state",
    };
    let mut fields = json!({
        "depth": depth,
        "kind": kind,
        "name": node.label.map(|label| label.to_string()),
        "at": match &node.label {
            Some(Label::Line(at)) => location(at),
            _ => Value::Null,
        },
        "is_jdk": node.label.is_some_and(|label| label.is_jdk()),
        "count": node.count,
        "weight": node.weight,
        "error": node.error,
        "own": node.own,
        "left_out": node.left_out,
        "left_out_weight": node.left_out_weight,
    });
    if !node.ran.most(0.0).is_empty() {
        let ran = Ran::ALL.into_iter().map(|ran| (ran.mark().to_owned(), json!(node.ran.of(ran).round() as u64)));
        fields["ran"] = Value::Object(ran.collect());
    }
    nodes.push(fields);
    node.children.iter().for_each(|child| add_json(child, depth + 1, nodes));
}
