//! One object or one class: what it is, who refers to it, what it refers to, what holds it.

use std::io::Write;

use analysis::ages::AgeSpread;
use analysis::heap_dump::contents::{Contents, Wanted};
use analysis::heap_dump::{ClassIndex, DumpId, Graph, Link, ObjectIndex};
use anyhow::bail;
use owo_colors::OwoColorize;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value, json};

use super::names::{Names, want_name, want_path};
use super::overview::head;
use super::source::{Data, Form, Heap, Source};
use super::{Arguments, parse_id, sites, strength_name, trace};
use crate::cli::render::human::{self, bytes, count};
use crate::cli::render::table::Table;

/// Fields and elements that are shown.
const SHOWN: usize = 100;

/// Tells about the object with an id.
pub(crate) fn object(arguments: &Arguments, source: &Source, id: u64, out: &mut impl Write) -> anyhow::Result<Value> {
    let mut json = head(arguments, source, out)?;
    let mut known = false;
    if let Form::Trace(traced) = &source.form {
        let lives = &traced.history.lives;
        known |= !lives.is_empty();
        json.insert("lives".to_owned(), lives.iter().map(trace::life_json).collect());
        for line in lives.iter().flat_map(trace::life_text).filter(|_| !arguments.json) {
            writeln!(out, "{line}")?;
        }
    }
    let found = source.heap.as_ref().and_then(|heap| Some((heap, heap.graph().object(DumpId(id))?)));
    match found {
        Some((heap, object)) => {
            json.insert("object".to_owned(), one(arguments, heap, object, out)?);
        }
        None if !known => bail!("{} has no object {} ({id})", source.path.display(), DumpId(id)),
        None => {}
    }
    Ok(Value::Object(json))
}

/// Tells about an object of a graph.
fn one(arguments: &Arguments, heap: &Heap, object: ObjectIndex, out: &mut impl Write) -> anyhow::Result<Value> {
    let graph = heap.graph();
    let paths = graph.paths(object, arguments.excluded(), arguments.paths);
    let levels = Levels { arguments, graph };
    let (by, to) = (levels.tree(object, Direction::By), levels.tree(object, Direction::To));
    let mut wanted = Wanted::default();
    wanted.objects.insert(object);
    want_name(heap, &mut wanted, object);
    heap.dominators.dominator(object).iter().for_each(|&by| want_name(heap, &mut wanted, by));
    paths.iter().for_each(|path| want_path(heap, &mut wanted, path));
    for node in by.iter().chain(&to) {
        want_name(heap, &mut wanted, node.link.object);
        wanted.links.insert(node.ends());
    }
    let names = Names { heap, described: heap.describe(&wanted)? };
    let roots: Vec<String> = graph.roots_of(object).iter().map(|root| names.root(root)).collect();
    if arguments.json {
        let mut json = names.object_json(object);
        json.insert("dominator".to_owned(), json!(heap.dominators.dominator(object).map(|by| names.object_json(by))));
        json.insert("reachable".to_owned(), json!(heap.dominators.is_reachable(object)));
        json.insert("roots".to_owned(), json!(roots));
        json.insert("site".to_owned(), json!(graph.site(object)));
        json.insert("age".to_owned(), json!(graph.age(object)));
        json.insert("contents".to_owned(), contents_json(&names, object));
        json.insert("referred_by".to_owned(), by.iter().map(|node| node.json(&names)).collect());
        json.insert("refers_to".to_owned(), to.iter().map(|node| node.json(&names)).collect());
        json.insert("paths".to_owned(), paths.iter().map(|path| names.path_json(path)).collect());
        return Ok(Value::Object(json));
    }
    writeln!(out, "{}", names.object(object).bold())?;
    let retained = heap.dominators.retained(object);
    writeln!(out, "  {} itself, {} retained", bytes(graph.shallow(object)), bytes(retained))?;
    match heap.dominators.dominator(object) {
        Some(by) => writeln!(out, "  dominated by {}", names.object(by))?,
        None if heap.dominators.is_reachable(object) => writeln!(out, "  dominated by no single object")?,
        None => writeln!(out, "  no root leads to it")?,
    }
    for root in roots {
        writeln!(out, "  a root: {root}")?;
    }
    if let Some(age) = graph.age(object) {
        writeln!(out, "  survived {}", human::counted(age.into(), "collection", "collections"))?;
    }
    if let Some(frames) = graph.site(object) {
        writeln!(out, "  made")?;
        for frame in frames {
            writeln!(out, "    at {}", human::printable(frame))?;
        }
    }
    contents_text(&names, object, out)?;
    for (heading, tree) in [("Referred to by", &by), ("Refers to", &to)] {
        writeln!(out, "\n{}", heading.bold())?;
        for node in tree.iter() {
            writeln!(out, "{}", node.text(&names))?;
        }
        if tree.is_empty() {
            writeln!(out, "  nothing")?;
        }
    }
    writeln!(out, "\n{}", "Shortest paths from roots".bold())?;
    for path in &paths {
        for line in names.path(path) {
            writeln!(out, "  {line}")?;
        }
        writeln!(out)?;
    }
    if paths.is_empty() {
        writeln!(out, "  none\n")?;
    }
    Ok(Value::Null)
}

/// Which way references are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    By,
    To,
}

/// An object in a tree of references.
struct Node {
    level: usize,
    /// The object one level up.
    from: ObjectIndex,
    link: Link,
    direction: Direction,
    /// Neighbours of the same object that are not shown behind this one.
    left: usize,
}

struct Levels<'a> {
    arguments: &'a Arguments,
    graph: &'a Graph,
}

impl Levels<'_> {
    /// The objects around one, level by level, each below the one that it was reached from, and followed once.
    fn tree(&self, object: ObjectIndex, direction: Direction) -> Vec<Node> {
        let excluded = self.arguments.excluded();
        let top = self.arguments.top.map_or(20, |top| if top == 0 { usize::MAX } else { top });
        let mut seen = FxHashSet::from_iter([object]);
        let mut nodes = Vec::new();
        let mut open = vec![(object, None, 0)];
        while let Some((from, node, level)) = open.pop() {
            nodes.extend(node);
            if level >= self.arguments.depth {
                continue;
            }
            let mut links = match direction {
                Direction::By => self.graph.referring(from, excluded),
                Direction::To => self.graph.referred(from, excluded),
            };
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
}

impl Node {
    /// Owner and target of the reference.
    fn ends(&self) -> (ObjectIndex, ObjectIndex) {
        match self.direction {
            Direction::By => (self.link.object, self.from),
            Direction::To => (self.from, self.link.object),
        }
    }

    fn text(&self, names: &Names<'_>) -> String {
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

    fn json(&self, names: &Names<'_>) -> Value {
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

fn contents_text(names: &Names<'_>, object: ObjectIndex, out: &mut impl Write) -> std::io::Result<()> {
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

fn contents_json(names: &Names<'_>, object: ObjectIndex) -> Value {
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

/// Tells about the classes of a name, or the one with an id.
pub(crate) fn class(
    arguments: &Arguments,
    source: &Source,
    wanted: &str,
    out: &mut impl Write,
) -> anyhow::Result<Value> {
    let mut json = head(arguments, source, out)?;
    let mut name = wanted.to_owned();
    if let Form::Trace(traced) = &source.form {
        let definitions = &traced.history.definitions;
        json.insert("definitions".to_owned(), definitions.iter().map(trace::definition_json).collect());
        for definition in definitions.iter().filter(|_| !arguments.json) {
            writeln!(out, "{}", trace::definition_text(definition))?;
        }
        if let Some(last) = definitions.last() {
            name.clone_from(&last.name);
        }
        traced_rows(arguments, traced, &name, &mut json, out)?;
    }
    let Some(heap) = &source.heap else {
        if json.get("definitions").and_then(Value::as_array).is_none_or(Vec::is_empty) {
            bail!("{} has no class {wanted}", source.path.display());
        }
        return Ok(Value::Object(json));
    };
    let graph = heap.graph();
    let by_id = parse_id(wanted).ok().and_then(|id| graph.as_class(graph.object(DumpId(id))?));
    let found: Vec<ClassIndex> = match by_id {
        Some(class) => vec![class],
        None => graph.classes_named(&name).collect(),
    };
    if found.is_empty() {
        bail!("{} has no class {wanted}; `--show histogram --top 0` lists them", source.path.display());
    }
    let mut classes = Vec::new();
    for class in found {
        classes.push(one_class(arguments, heap, class, out)?);
    }
    json.insert("classes".to_owned(), json!(classes));
    Ok(Value::Object(json))
}

/// What the trace counts of a class, in all and by site.
fn traced_rows(
    arguments: &Arguments,
    traced: &super::source::Traced,
    name: &str,
    json: &mut Map<String, Value>,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    use analysis::allocations::By;

    use crate::cli::render::allocation_tables::{self, Column, TableKind};
    let report = &traced.report;
    for by in [By::Class, By::Site] {
        let mut rows = report.rows(by, |class| class == name);
        if rows.is_empty() || by == By::Site && !report.has_sites() {
            continue;
        }
        allocation_tables::sort(&mut rows, Column::ActiveSize);
        rows.truncate(arguments.top());
        if arguments.json {
            json.insert(
                crate::cli::render::allocation_json::table_name(by).to_owned(),
                crate::cli::render::allocation_json::rows(&rows, report.is_counted()),
            );
        } else {
            allocation_tables::table(&rows, by, TableKind::of(report)).write(out)?;
            writeln!(out)?;
        }
    }
    Ok(())
}

/// Tells about a class of a graph.
fn one_class(arguments: &Arguments, heap: &Heap, class: ClassIndex, out: &mut impl Write) -> anyhow::Result<Value> {
    let graph = heap.graph();
    let about = graph.class(class);
    let objects: Vec<ObjectIndex> = graph.objects().filter(|&object| graph.class_of(object) == class).collect();
    let mut instances = objects.clone();
    let shallow: u64 = instances.iter().map(|&object| graph.shallow(object)).fold(0, u64::saturating_add);
    let neighbours = |direction| by_class(arguments, graph, &instances, direction);
    let (by, to) = (neighbours(Direction::By), neighbours(Direction::To));
    let all = instances.len();
    instances.sort_unstable_by_key(|&object| (std::cmp::Reverse(heap.dominators.retained(object)), object));
    instances.truncate(arguments.few());
    let paths =
        instances.first().map_or_else(Vec::new, |&largest| graph.paths(largest, arguments.excluded(), arguments.paths));
    let mut wanted = Wanted::default();
    wanted.objects.extend(about.object);
    instances.iter().for_each(|&object| want_name(heap, &mut wanted, object));
    about.loader.iter().for_each(|&loader| want_name(heap, &mut wanted, loader));
    paths.iter().for_each(|path| want_path(heap, &mut wanted, path));
    let names = Names { heap, described: heap.describe(&wanted)? };
    let made = sites::of_objects(heap, &objects);
    let ages = analysis::heap_dump::ages(graph, objects.iter().copied());
    let superclass = about.superclass.map(|up| graph.class(up).name.as_str());
    let fields = fields(heap, class);
    if arguments.json {
        return Ok(json!({
            "name": about.name,
            "id": about.object.map(|object| graph.id(object).to_string()),
            "superclass": superclass,
            "loader": about.loader.map(|loader| names.object_json(loader)),
            "instances": all,
            "shallow": shallow,
            "average_age": ages.as_ref().map(AgeSpread::average),
            "generations": ages.as_ref().map(AgeSpread::generations),
            "sites": made.iter().map(sites::row_json).collect::<Vec<_>>(),
            "fields": fields,
            "statics": about.object.map(|object| contents_json(&names, object)),
            "referred_by": by.iter().map(Neighbours::json).collect::<Vec<_>>(),
            "refers_to": to.iter().map(Neighbours::json).collect::<Vec<_>>(),
            "largest": instances.iter().map(|&object| names.object_json(object)).collect::<Vec<_>>(),
            "paths": paths.iter().map(|path| names.path_json(path)).collect::<Vec<_>>(),
        }));
    }
    let id = about.object.map_or_else(String::new, |object| format!(" @ {}", graph.id(object)));
    writeln!(out, "{}{id}", format!("class {}", human::printable(&about.name)).bold())?;
    let up = superclass.map_or_else(String::new, |name| format!(", extends {}", human::printable(name)));
    writeln!(out, "  {}, {}{up}", human::counted(all as u64, "instance", "instances"), bytes(shallow))?;
    if let Some(loader) = about.loader {
        writeln!(out, "  loaded by {}", names.object(loader))?;
    }
    if let Some(ages) = ages {
        writeln!(out, "  {}", sites::words(&ages))?;
    }
    for field in fields {
        writeln!(out, "    {}", human::printable(&field))?;
    }
    if let Some(object) = about.object {
        contents_text(&names, object, out)?;
    }
    if !made.is_empty() {
        writeln!(out, "\n{}", "Made at".bold())?;
        sites::table(heap, &made[..made.len().min(arguments.few())]).write(out)?;
    }
    for (heading, rows) in [("Referred to by instances of", by), ("Refer to instances of", to)] {
        writeln!(out, "\n{}", heading.bold())?;
        let mut table = Table::new(vec!["objects", "references", "class"]);
        for row in rows {
            let indent = "  ".repeat(row.level);
            table.push(vec![
                count(row.objects),
                count(row.references),
                format!("{indent}{}", human::printable(&row.class)),
            ]);
        }
        table.write(out)?;
    }
    writeln!(out, "\n{}", "Largest".bold())?;
    for &object in &instances {
        writeln!(out, "  {}, retains {}", names.object(object), bytes(heap.dominators.retained(object)))?;
    }
    writeln!(out, "\n{}", "Shortest paths from roots to the largest".bold())?;
    for path in &paths {
        for line in names.path(path) {
            writeln!(out, "  {line}")?;
        }
        writeln!(out)?;
    }
    Ok(Value::Null)
}

/// The fields that a class declares, as in source.
fn fields(heap: &Heap, class: ClassIndex) -> Vec<String> {
    let Data::Dump(_, loaded) = &heap.data else { return Vec::new() };
    let kind = loaded.class_fields.of(class);
    let field = |&(name, kind): &(u32, hprof::BasicType)| {
        format!("{} {}", kind.java_name(), loaded.class_fields.names[name as usize])
    };
    kind.fields.iter().map(field).collect()
}

/// Objects of one class next to objects of another.
struct Neighbours {
    level: usize,
    class: String,
    objects: u64,
    references: u64,
}

impl Neighbours {
    fn json(&self) -> Value {
        json!({ "level": self.level + 1, "class": self.class, "objects": self.objects, "references": self.references })
    }
}

/// The classes of the objects around some objects, level by level: each class below the one that it was reached from.
fn by_class(arguments: &Arguments, graph: &Graph, objects: &[ObjectIndex], direction: Direction) -> Vec<Neighbours> {
    let excluded = arguments.excluded();
    let top = arguments.top.map_or(10, |top| if top == 0 { usize::MAX } else { top });
    let mut rows = Vec::new();
    let mut seen: FxHashSet<ObjectIndex> = objects.iter().copied().collect();
    let mut open: Vec<(Option<Neighbours>, usize, Vec<ObjectIndex>)> = vec![(None, 0, objects.to_vec())];
    while let Some((row, level, from)) = open.pop() {
        rows.extend(row);
        if level >= arguments.depth {
            continue;
        }
        let mut groups: FxHashMap<ClassIndex, (u64, FxHashSet<ObjectIndex>)> = FxHashMap::default();
        for &object in &from {
            let links = match direction {
                Direction::By => graph.referring(object, excluded),
                Direction::To => graph.referred(object, excluded),
            };
            for link in links {
                let group = groups.entry(graph.class_of(link.object)).or_default();
                group.0 += 1;
                group.1.insert(link.object);
            }
        }
        let mut ranked: Vec<_> = groups.into_iter().collect();
        ranked.sort_by_key(|(class, (references, objects))| (std::cmp::Reverse((objects.len(), *references)), *class));
        ranked.truncate(top);
        for (class, (references, members)) in ranked.into_iter().rev() {
            let name = graph.class(class).name.clone();
            let row = Neighbours { level, class: name, objects: members.len() as u64, references };
            // What was met before is told, but not followed again.
            let fresh: Vec<ObjectIndex> = members.into_iter().filter(|&member| seen.insert(member)).collect();
            open.push((Some(row), level + 1, fresh));
        }
    }
    rows
}
