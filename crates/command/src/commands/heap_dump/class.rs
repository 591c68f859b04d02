//! The classes of one name: their instances, who refers to them, which are largest, what keeps those alive.

use std::io::Write;

use ::trace::filter::Pattern;
use ::trace::generated::plain_name;
use analysis::ages::AgeSpread;
use analysis::allocations::By;
use analysis::heap_dump::contents::Wanted;
use analysis::heap_dump::{ClassIndex, DumpId, Graph, ObjectIndex, SiteRow, ages};
use anyhow::bail;
use owo_colors::OwoColorize;
use serde_json::{Map, Value, json};

use super::names::{Names, want_name, want_path};
use super::object::{contents_json, write_contents};
use super::references::{ClassNode, Direction, class_tree, class_view};
use super::source::{Data, Form, Heap, Source, Traced};
use super::{Arguments, head, parse_id, sites, trace};
use crate::commands::closest;
use crate::render::allocations::{self, ObjectColumn};
use crate::render::human::{self, bytes};
use crate::render::page::Page;

/// Shows the classes of a name, or the one with an id.
pub(crate) fn show(arguments: &Arguments, source: &Source, wanted: &str, out: &mut Page<'_>) -> anyhow::Result<Value> {
    let mut json = head::show(arguments, source, out)?;
    let mut name = plain_name(wanted).into_owned();
    if let Form::Trace(traced) = &source.form {
        let definitions = &traced.history.definitions;
        json.insert("definitions".to_owned(), definitions.iter().map(trace::definition_json).collect());
        for definition in definitions.iter().filter(|_| !arguments.json) {
            out.write_sentence(0, &trace::definition_text(definition))?;
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
        None => named(graph, &name),
    };
    if found.is_empty() {
        let close = closest::hint(wanted, graph.classes().iter().map(|class| &*class.name));
        bail!("{} has no class {wanted}; `--show histogram --top 0` lists them{close}", source.path.display());
    }
    let mut classes = Vec::new();
    for class in found {
        let view = ClassView::of(arguments, heap, class)?;
        match arguments.json {
            true => classes.push(view.json()),
            false => view.write(arguments, out)?,
        }
    }
    json.insert("classes".to_owned(), json!(classes));
    Ok(Value::Object(json))
}

/// The classes of a name, or if there are none, those that are spelled like it in a table or in Java code.
fn named(graph: &Graph, name: &str) -> Vec<ClassIndex> {
    let found: Vec<ClassIndex> = graph.classes_named(name).collect();
    match name.parse::<Pattern>() {
        Ok(pattern) if found.is_empty() && !name.contains('*') => {
            let fits = |class: &ClassIndex| pattern.matches(&graph.class(*class).name);
            (0..graph.classes().len() as u32).map(ClassIndex).filter(fits).collect()
        }
        _ => found,
    }
}

/// What the trace counts of a class, in all and by site.
fn traced_rows(
    arguments: &Arguments,
    traced: &Traced,
    name: &str,
    json: &mut Map<String, Value>,
    out: &mut Page<'_>,
) -> anyhow::Result<()> {
    let report = &traced.report;
    for by in [By::Class, By::Site] {
        let mut rows = report.rows(by, |class| class == name);
        if rows.is_empty() || by == By::Site && !report.has_sites() {
            continue;
        }
        allocations::sort(&mut rows, ObjectColumn::ActiveSize);
        rows.truncate(arguments.top());
        if arguments.json {
            let table = allocations::table_name(by).to_owned();
            json.insert(table, allocations::json(&rows, report));
        } else {
            allocations::table(&rows, by, report).write(out)?;
            writeln!(out)?;
        }
    }
    Ok(())
}

/// What is known of a class of a graph.
struct ClassView<'a> {
    names: Names<'a>,
    class: ClassIndex,
    instances: usize,
    shallow: u64,
    ages: Option<AgeSpread>,
    sites: Vec<SiteRow>,
    /// The fields that it declares, as in source.
    fields: Vec<String>,
    referred_by: Vec<ClassNode>,
    refers_to: Vec<ClassNode>,
    /// The instances that retain most.
    largest: Vec<ObjectIndex>,
    /// The shortest paths from roots to the largest.
    paths: Vec<Vec<ObjectIndex>>,
}

impl<'a> ClassView<'a> {
    fn of(arguments: &Arguments, heap: &'a Heap, class: ClassIndex) -> anyhow::Result<Self> {
        let graph = heap.graph();
        let about = graph.class(class);
        let instances: Vec<ObjectIndex> = graph.objects().filter(|&object| graph.class_of(object) == class).collect();
        let mut largest = instances.clone();
        largest.sort_unstable_by_key(|&object| (std::cmp::Reverse(heap.dominators.retained(object)), object));
        largest.truncate(arguments.few());
        let paths = largest.first().map(|&object| graph.paths(object, arguments.excluded(), arguments.paths));
        let paths = paths.unwrap_or_default();
        let mut wanted = Wanted::default();
        wanted.objects.extend(about.object);
        largest.iter().chain(&about.loader).for_each(|&object| want_name(heap, &mut wanted, object));
        paths.iter().for_each(|path| want_path(heap, &mut wanted, path));
        Ok(ClassView {
            names: Names { heap, described: heap.describe(&wanted)? },
            class,
            instances: instances.len(),
            shallow: instances.iter().map(|&object| graph.shallow(object)).fold(0, u64::saturating_add),
            ages: ages(graph, instances.iter().copied()),
            sites: sites::of_objects(heap, &instances),
            fields: fields(heap, class),
            referred_by: class_tree(arguments, graph, &instances, Direction::By),
            refers_to: class_tree(arguments, graph, &instances, Direction::To),
            largest,
            paths,
        })
    }

    fn superclass(&self) -> Option<&str> {
        let graph = self.names.heap.graph();
        graph.class(self.class).superclass.map(|up| graph.class(up).name.as_str())
    }

    fn json(&self) -> Value {
        let names = &self.names;
        let graph = names.heap.graph();
        let about = graph.class(self.class);
        json!({
            "name": about.name,
            "id": about.object.map(|object| graph.id(object).to_string()),
            "superclass": self.superclass(),
            "loader": about.loader.map(|loader| names.object_json(loader)),
            "instances": self.instances,
            "shallow_bytes": self.shallow,
            "average_age": self.ages.as_ref().map(AgeSpread::average),
            "generations": self.ages.as_ref().map(AgeSpread::generations),
            "sites": sites::view(names.heap).array(&self.sites),
            "fields": self.fields,
            "statics": about.object.map(|object| contents_json(names, object)),
            "referred_by": class_view().array(&self.referred_by),
            "refers_to": class_view().array(&self.refers_to),
            "largest": self.largest.iter().map(|&object| names.object_json(object)).collect::<Vec<_>>(),
            "paths": self.paths.iter().map(|path| names.path_json(path)).collect::<Vec<_>>(),
        })
    }

    fn write(&self, arguments: &Arguments, out: &mut Page<'_>) -> std::io::Result<()> {
        let names = &self.names;
        let heap = names.heap;
        let about = heap.graph().class(self.class);
        let id = about.object.map_or_else(String::new, |object| format!(" @ {}", heap.graph().id(object)));
        let head = out.sentence(0, &format!("class {}{id}", human::printable(&about.name)));
        writeln!(out, "{}", head.bold())?;
        let up = self.superclass().map_or_else(String::new, |name| format!(", extends {}", human::printable(name)));
        let instances = human::counted(self.instances as u64, "instance", "instances");
        out.write_sentence(2, &format!("{instances}, {}{up}", bytes(self.shallow)))?;
        if let Some(loader) = about.loader {
            out.write_sentence(2, &format!("loaded by {}", names.object(loader)))?;
        }
        if let Some(ages) = &self.ages {
            writeln!(out, "  {}", sites::words(ages))?;
        }
        for field in &self.fields {
            writeln!(out, "    {}", human::printable(field))?;
        }
        if let Some(object) = about.object {
            write_contents(names, object, out)?;
        }
        if !self.sites.is_empty() {
            writeln!(out, "\n{}", "Allocated at".bold())?;
            sites::view(heap).table(&self.sites[..self.sites.len().min(arguments.few())]).write(out)?;
        }
        writeln!(out, "\n{}", "Referred to by instances of".bold())?;
        class_view().table(&self.referred_by).write(out)?;
        writeln!(out, "\n{}", "Refer to instances of".bold())?;
        class_view().table(&self.refers_to).write(out)?;
        writeln!(out, "\n{}", "Largest".bold())?;
        for &object in &self.largest {
            let retained = bytes(heap.dominators.retained(object));
            out.write_sentence(2, &format!("{}, retains {retained}", names.object(object)))?;
        }
        writeln!(out, "\n{}", "Shortest paths from roots to the largest".bold())?;
        names.write_paths(&self.paths, out)
    }
}

/// The fields that a class declares, as in source.
fn fields(heap: &Heap, class: ClassIndex) -> Vec<String> {
    let Data::Dump(_, loaded) = &heap.data else { return Vec::new() };
    let names = &loaded.class_fields.names;
    let field = |&(name, kind): &(u32, hprof::BasicType)| format!("{} {}", kind.java_name(), names[name as usize]);
    loaded.class_fields.of(class).fields.iter().map(field).collect()
}
