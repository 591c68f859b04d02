//! One object: what it is, who refers to it, what it refers to, what keeps it alive.

use std::io::Write;

use analysis::heap_dump::contents::{Contents, Wanted};
use analysis::heap_dump::{DumpId, ObjectIndex};
use anyhow::bail;
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use super::names::{Names, want_name, want_path};
use super::references::{Direction, Node, tree};
use super::source::{Form, Heap, Source};
use super::{Arguments, head, trace};
use crate::render::human::{self, bytes};
use crate::render::page::Page;

/// Fields and elements that are shown.
const SHOWN: usize = 100;

/// Shows the object with an id: its lifetimes in a trace, and its place in the graph.
pub(crate) fn show(arguments: &Arguments, source: &Source, id: u64, out: &mut Page<'_>) -> anyhow::Result<Value> {
    let mut json = head::show(arguments, source, out)?;
    let mut is_known = false;
    if let Form::Trace(traced) = &source.form {
        let lifetimes = &traced.history.lifetimes;
        is_known |= !lifetimes.is_empty();
        json.insert("lives".to_owned(), lifetimes.iter().map(trace::lifetime_json).collect());
        for line in lifetimes.iter().flat_map(trace::lifetime_text).filter(|_| !arguments.json) {
            out.write_sentence(0, &line)?;
        }
    }
    match source.heap.as_ref().and_then(|heap| Some((heap, heap.graph().object(DumpId(id))?))) {
        Some((heap, object)) => {
            let view = ObjectView::of(arguments, heap, object)?;
            match arguments.json {
                true => json.insert("object".to_owned(), view.json()).map_or((), drop),
                false => view.write(out)?,
            }
        }
        None if !is_known => bail!("{} has no object {} ({id})", source.path.display(), DumpId(id)),
        None => {}
    }
    Ok(Value::Object(json))
}

/// What is known of an object of a graph.
struct ObjectView<'a> {
    names: Names<'a>,
    object: ObjectIndex,
    /// Why it is a root, if it is one.
    roots: Vec<String>,
    referred_by: Vec<Node>,
    refers_to: Vec<Node>,
    /// The shortest paths to it from roots.
    paths: Vec<Vec<ObjectIndex>>,
}

impl<'a> ObjectView<'a> {
    fn of(arguments: &Arguments, heap: &'a Heap, object: ObjectIndex) -> anyhow::Result<Self> {
        let graph = heap.graph();
        let paths = graph.paths(object, arguments.excluded(), arguments.paths);
        let referred_by = tree(arguments, graph, object, Direction::By);
        let refers_to = tree(arguments, graph, object, Direction::To);
        let mut wanted = Wanted::default();
        wanted.objects.insert(object);
        want_name(heap, &mut wanted, object);
        heap.dominators.dominator(object).iter().for_each(|&by| want_name(heap, &mut wanted, by));
        paths.iter().for_each(|path| want_path(heap, &mut wanted, path));
        for node in referred_by.iter().chain(&refers_to) {
            want_name(heap, &mut wanted, node.object());
            wanted.links.insert(node.ends());
        }
        let names = Names { heap, described: heap.describe(&wanted)? };
        let roots = graph.roots_of(object).iter().map(|root| names.root(root)).collect();
        Ok(ObjectView { names, object, roots, referred_by, refers_to, paths })
    }

    fn json(&self) -> Value {
        let ObjectView { names, object, .. } = self;
        let (graph, dominators) = (names.heap.graph(), &names.heap.dominators);
        let nodes = |nodes: &[Node]| nodes.iter().map(|node| node.json(names)).collect::<Vec<_>>();
        let mut json = names.object_json(*object);
        let fields = [
            ("dominator", json!(dominators.dominator(*object).map(|by| names.object_json(by)))),
            ("reachable", json!(dominators.is_reachable(*object))),
            ("roots", json!(self.roots)),
            ("site", json!(graph.site(*object))),
            ("age", json!(graph.age(*object))),
            ("contents", contents_json(names, *object)),
            ("referred_by", json!(nodes(&self.referred_by))),
            ("refers_to", json!(nodes(&self.refers_to))),
            ("paths", self.paths.iter().map(|path| names.path_json(path)).collect()),
        ];
        json.extend(fields.map(|(name, value)| (name.to_owned(), value)));
        Value::Object(json)
    }

    fn write(&self, out: &mut Page<'_>) -> std::io::Result<()> {
        let ObjectView { names, object, .. } = self;
        let (graph, dominators) = (names.heap.graph(), &names.heap.dominators);
        let head = out.sentence(0, &names.object(*object));
        writeln!(out, "{}", head.bold())?;
        let retained = bytes(dominators.retained(*object));
        writeln!(out, "  {} itself, {retained} retained", bytes(graph.shallow(*object)))?;
        match dominators.dominator(*object) {
            Some(by) => {
                out.write_sentence(2, &format!("dominated by {}", names.object(by)))?;
            }
            None if dominators.is_reachable(*object) => writeln!(out, "  dominated by no single object")?,
            None => writeln!(out, "  not reachable from a root")?,
        }
        for root in &self.roots {
            out.write_sentence(2, &format!("a root: {root}"))?;
        }
        if let Some(age) = graph.age(*object) {
            writeln!(out, "  survived {}", human::counted(age.into(), "collection", "collections"))?;
        }
        if let Some(frames) = graph.site(*object) {
            writeln!(out, "  allocated")?;
            for frame in frames {
                let frame = out.fit(4, &human::printable(&format!("at {frame}")));
                writeln!(out, "    {frame}")?;
            }
        }
        write_contents(names, *object, out)?;
        for (heading, nodes) in [("Referred to by", &self.referred_by), ("Refers to", &self.refers_to)] {
            writeln!(out, "\n{}", heading.bold())?;
            for node in nodes {
                for line in node.text(names).lines() {
                    out.write_sentence(0, line)?;
                }
            }
            if nodes.is_empty() {
                writeln!(out, "  nothing")?;
            }
        }
        writeln!(out, "\n{}", "Shortest paths from roots".bold())?;
        names.write_paths(&self.paths, out)?;
        if self.paths.is_empty() {
            writeln!(out, "  none\n")?;
        }
        Ok(())
    }
}

/// Writes the fields or elements of an object.
pub(super) fn write_contents(names: &Names<'_>, object: ObjectIndex, out: &mut Page<'_>) -> std::io::Result<()> {
    match names.described.contents(object) {
        Some(Contents::Fields(fields)) => {
            for (name, value) in fields.iter().take(SHOWN) {
                writeln!(out, "    {} = {value}", human::printable(name))?;
            }
        }
        Some(Contents::Elements(elements)) if !elements.is_empty() => {
            let shown: Vec<String> = elements.iter().take(16).map(ToString::to_string).collect();
            let more = if elements.len() > shown.len() { ", ..." } else { "" };
            writeln!(out, "    [{}{more}]", shown.join(", "))?;
        }
        _ => {}
    }
    Ok(())
}

/// The fields or elements of an object as JSON.
pub(super) fn contents_json(names: &Names<'_>, object: ObjectIndex) -> Value {
    match names.described.contents(object) {
        Some(Contents::Fields(fields)) => {
            let field = |(name, value): &(String, hprof::Value)| json!({ "name": name, "value": value.to_string() });
            json!({ "fields": fields.iter().map(field).collect::<Vec<_>>() })
        }
        Some(Contents::Elements(elements)) => {
            json!({ "elements": elements.iter().map(ToString::to_string).collect::<Vec<_>>() })
        }
        None => Value::Null,
    }
}
