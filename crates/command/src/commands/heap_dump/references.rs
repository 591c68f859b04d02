//! Who refers to an object or to a class's instances, and what they refer to, level by level.

use analysis::heap_dump::{Graph, Link, ObjectIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value, json};

use super::names::Names;
use super::{Arguments, strength_name};
use crate::render::human::{self, bytes, count};
use crate::render::view::Cell::Count;
use crate::render::view::View;

/// Which way references are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// To the objects that refer.
    By,
    /// To the objects that are referred to.
    To,
}

impl Direction {
    fn links(self, arguments: &Arguments, graph: &Graph, object: ObjectIndex) -> Vec<Link> {
        match self {
            Direction::By => graph.referring(object, arguments.excluded()),
            Direction::To => graph.referred(object, arguments.excluded()),
        }
    }
}

/// An object in a tree of references.
pub(crate) struct Node {
    level: usize,
    /// The object one level up.
    from: ObjectIndex,
    link: Link,
    direction: Direction,
    /// Neighbours of the same object that are not shown behind this one.
    left: usize,
}

/// The objects around one, level by level, each below the one that it was reached from, and followed once.
pub(crate) fn tree(arguments: &Arguments, graph: &Graph, object: ObjectIndex, direction: Direction) -> Vec<Node> {
    let top = arguments.limit(20);
    let mut seen = FxHashSet::from_iter([object]);
    let mut nodes = Vec::new();
    let mut open = vec![(object, None, 0)];
    while let Some((from, node, level)) = open.pop() {
        nodes.extend(node);
        if level >= arguments.depth {
            continue;
        }
        let mut links = direction.links(arguments, graph, from);
        let left = links.len().saturating_sub(top);
        links.truncate(top);
        let last = links.len();
        for (at, link) in links.into_iter().enumerate().rev() {
            let left = if at + 1 == last { left } else { 0 };
            let node = Node { level, from, link, direction, left };
            let is_new = seen.insert(link.object);
            open.push((link.object, Some(node), if is_new { level + 1 } else { usize::MAX }));
        }
    }
    nodes
}

impl Node {
    /// The object.
    pub(crate) fn object(&self) -> ObjectIndex {
        self.link.object
    }

    /// Owner and target of the reference.
    pub(crate) fn ends(&self) -> (ObjectIndex, ObjectIndex) {
        match self.direction {
            Direction::By => (self.link.object, self.from),
            Direction::To => (self.from, self.link.object),
        }
    }

    pub(crate) fn text(&self, names: &Names<'_>) -> String {
        let (owner, target) = self.ends();
        let indent = "  ".repeat(self.level + 1);
        let strength = self.link.strength.map_or_else(String::new, |kind| format!(" ({})", strength_name(kind)));
        let retained = bytes(names.heap.dominators.retained(self.link.object));
        let name = names.object(self.link.object);
        let mut text = match self.direction {
            Direction::By => format!("{indent}{name}, by {}{strength}, retains {retained}", names.link(owner, target)),
            Direction::To => format!("{indent}{}{strength}: {name}, retains {retained}", names.link(owner, target)),
        };
        if self.left > 0 {
            text.push_str(&format!("\n{indent}... and {} more; --top 0 shows all", count(self.left as u64)));
        }
        text
    }

    pub(crate) fn json(&self, names: &Names<'_>) -> Value {
        let (owner, target) = self.ends();
        let mut json = names.object_json(self.link.object);
        json.insert("level".to_owned(), json!(self.level + 1));
        json.insert("from".to_owned(), json!(names.heap.graph().id(self.from).to_string()));
        json.insert("by".to_owned(), json!(names.described.name(owner, target)));
        json.insert("strength".to_owned(), json!(self.link.strength.map(strength_name)));
        json.insert("left".to_owned(), json!(self.left));
        Value::Object(json)
    }
}

/// Objects of one class next to objects of another.
pub(crate) struct ClassNode {
    level: usize,
    class: String,
    objects: u64,
    references: u64,
}

/// The classes of the objects around some objects, level by level: each class below the one that it was reached from.
pub(crate) fn class_tree(
    arguments: &Arguments,
    graph: &Graph,
    objects: &[ObjectIndex],
    direction: Direction,
) -> Vec<ClassNode> {
    let top = arguments.limit(10);
    let mut rows = Vec::new();
    let mut seen: FxHashSet<ObjectIndex> = objects.iter().copied().collect();
    let mut open: Vec<(Option<ClassNode>, usize, Vec<ObjectIndex>)> = vec![(None, 0, objects.to_vec())];
    while let Some((row, level, from)) = open.pop() {
        rows.extend(row);
        if level >= arguments.depth {
            continue;
        }
        let mut groups: FxHashMap<&str, (u64, FxHashSet<ObjectIndex>)> = FxHashMap::default();
        for link in from.iter().flat_map(|&object| direction.links(arguments, graph, object)) {
            let group = groups.entry(graph.class_name(link.object)).or_default();
            group.0 += 1;
            group.1.insert(link.object);
        }
        let mut ranked: Vec<_> = groups.into_iter().collect();
        ranked.sort_by_key(|(class, (references, objects))| (std::cmp::Reverse((objects.len(), *references)), *class));
        ranked.truncate(top);
        for (class, (references, members)) in ranked.into_iter().rev() {
            let row = ClassNode { level, class: class.to_owned(), objects: members.len() as u64, references };
            // Objects that were met before are counted, but not followed again.
            let fresh: Vec<ObjectIndex> = members.into_iter().filter(|&member| seen.insert(member)).collect();
            open.push((Some(row), level + 1, fresh));
        }
    }
    rows
}

/// A tree of classes: in text with its levels as indentation.
pub(crate) fn class_view<'a>() -> View<'a, ClassNode> {
    View::new()
        .both("objects", "objects", |row: &ClassNode| Count(row.objects))
        .both("references", "references", |row| Count(row.references))
        .text("class", |row| format!("{}{}", "  ".repeat(row.level), human::printable(&row.class)))
        .json(|row| json!({ "level": row.level + 1, "class": row.class }))
}
