//! The whole heap: who made the dump, histogram, suspects, dominators, waste.

use std::io::Write;

use analysis::heap_dump::contents::Wanted;
use analysis::heap_dump::{ObjectIndex, histogram};
use owo_colors::OwoColorize;
use serde_json::{Map, Value, json};

use super::names::{Names, want_name};
use super::source::{Data, Form, Heap, Source};
use super::{Arguments, Part, sites, suspects, trace, waste};
use crate::cli::render::human::{self, bytes, count, counted};
use crate::cli::render::table::Table;

pub(crate) fn overview(arguments: &Arguments, source: &Source, out: &mut impl Write) -> anyhow::Result<Value> {
    let mut json = head(arguments, source, out)?;
    if let Form::Trace(traced) = &source.form
        && arguments.shows(Part::Suspects)
    {
        json.insert("growing".to_owned(), trace::growing(arguments, traced, out)?);
    }
    let Some(heap) = &source.heap else {
        return Ok(Value::Object(json));
    };
    if arguments.shows(Part::Histogram) {
        json.insert("histogram".to_owned(), rows(arguments, heap, out)?);
    }
    if arguments.shows(Part::Sites) {
        json.insert("sites".to_owned(), sites::show(arguments, heap, out)?);
    }
    if arguments.shows(Part::Dominators) {
        json.insert("dominators".to_owned(), dominators(arguments, heap, out)?);
    }
    if arguments.shows(Part::Suspects) {
        let growing = sites::growing(arguments, heap, out)?;
        json.entry("growing").or_insert(growing);
        json.insert("suspects".to_owned(), suspects::show(arguments, heap, out)?);
    }
    if arguments.shows(Part::Waste) {
        json.insert("waste".to_owned(), waste::show(arguments, heap, out)?);
    }
    Ok(Value::Object(json))
}

/// What the dump is, and what is wrong with it.
pub(crate) fn head(arguments: &Arguments, source: &Source, out: &mut impl Write) -> anyhow::Result<Map<String, Value>> {
    let mut json = Map::new();
    json.insert("path".to_owned(), json!(source.path.display().to_string()));
    json.insert("bytes".to_owned(), json!(source.bytes));
    if let Form::Trace(traced) = &source.form {
        let dumps =
            traced.dumps.iter().map(|dump| json!({ "id": dump.id.0, "name": dump.name, "time_nanos": dump.time.0 }));
        json.insert("dumps".to_owned(), dumps.collect());
    }
    let notes = notes(source);
    json.insert("complete".to_owned(), json!(is_whole(source)));
    json.insert("notes".to_owned(), json!(notes));
    if !arguments.json {
        writeln!(out, "{} ({})", source.path.display().bold(), bytes(source.bytes))?;
    }
    if let Some(heap) = &source.heap {
        let graph = heap.graph();
        let reachable = heap.dominators.reachable();
        let live: u64 = reachable.iter().map(|&object| graph.shallow(object)).fold(0, u64::saturating_add);
        let all: u64 = graph.objects().map(|object| graph.shallow(object)).fold(0, u64::saturating_add);
        let unreachable = graph.len() - reachable.len();
        json.insert("objects".to_owned(), json!(graph.len()));
        json.insert("references".to_owned(), json!(graph.reference_count()));
        json.insert("roots".to_owned(), json!(graph.roots().len()));
        json.insert("shallow".to_owned(), json!(all));
        json.insert("reachable_objects".to_owned(), json!(reachable.len()));
        json.insert("reachable_shallow".to_owned(), json!(live));
        if let Data::Dump(_, loaded) = &heap.data {
            json.insert("millis".to_owned(), json!(loaded.millis));
            let layout = &loaded.layout;
            json.insert(
                "layout".to_owned(),
                json!({
                    "reference": layout.reference, "header": layout.header, "array_header": layout.array_header,
                    "alignment": layout.alignment, "compared": layout.fit.compared, "touching": layout.fit.touching,
                    "overlapping": layout.fit.overlapping,
                }),
            );
        }
        if !arguments.json {
            let rest = match unreachable {
                0 => String::new(),
                objects => format!("; {} ({}) more that no root leads to", count(objects as u64), bytes(all - live)),
            };
            let objects = counted(reachable.len() as u64, "object", "objects");
            writeln!(
                out,
                "{objects} ({}) held by {}{rest}",
                bytes(live),
                counted(graph.roots().len() as u64, "root", "roots")
            )?;
        }
    }
    if !arguments.json {
        for note in notes {
            writeln!(out, "{} {note}", "note:".yellow().bold())?;
        }
        writeln!(out)?;
    }
    Ok(json)
}

fn is_whole(source: &Source) -> bool {
    let traced = match &source.form {
        Form::Trace(traced) => traced.broken.is_none(),
        Form::Dump => true,
    };
    traced && source.heap.as_ref().is_none_or(|heap| heap.graph().problems().broken.is_none())
}

/// What makes the numbers less than the whole coverage; one sentence each.
fn notes(source: &Source) -> Vec<String> {
    let mut notes = Vec::new();
    if let Form::Trace(traced) = &source.form {
        notes.extend(traced.broken.iter().map(|broken| format!("a part of the trace could not be read: {broken}")));
        if traced.dumps.is_empty() {
            notes.push("the trace has no heap dump, so it cannot be told who holds what".to_owned());
        } else if source.heap.is_none() {
            let names: Vec<String> = traced.dumps.iter().map(|dump| human::printable(&dump.name)).collect();
            notes.push(format!(
                "its heap dumps are files of their own, which tell who holds what: {}",
                names.join(", ")
            ));
        }
    }
    let Some(heap) = &source.heap else { return notes };
    let problems = heap.graph().problems();
    notes.extend(problems.broken.iter().map(|broken| format!("only a part of the dump could be read: {broken}")));
    let told = |number: u64, one: &str, many: &str| (number > 0).then(|| counted(number, one, many));
    notes.extend(told(
        problems.dangling,
        "reference leads to an object that the dump does not have",
        "references lead to objects that the dump does not have",
    ));
    notes.extend(told(problems.repeated, "object has the id of another", "objects have the ids of others"));
    notes.extend(told(problems.unknown_roots, "root is no object of the dump", "roots are no objects of the dump"));
    notes.extend(told(problems.unknown_classes, "class has no name", "classes have no names"));
    notes.extend(told(
        problems.malformed_objects,
        "object has other fields than its class says",
        "objects have other fields than their classes say",
    ));
    if let Data::Dump(_, loaded) = &heap.data {
        let fit = loaded.layout.fit;
        if fit.compared == 0 {
            notes.push(format!(
                "sizes are those of the usual layout ({}); the dump does not tell its own",
                loaded.layout
            ));
        } else if fit.overlapping > 0 {
            let objects = counted(fit.overlapping, "object does", "objects do");
            notes.push(format!("sizes may be wrong: {objects} not fit between their neighbours ({})", loaded.layout));
        }
    }
    notes
}

fn rows(arguments: &Arguments, heap: &Heap, out: &mut impl Write) -> anyhow::Result<Value> {
    let (rows, all) = arguments.rows(histogram(heap.graph(), &heap.dominators));
    if arguments.json {
        let row = |row: &analysis::heap_dump::ClassRow| {
            json!({
                "class": row.class, "instances": row.instances, "shallow": row.shallow, "retained": row.retained,
                "unreachable": row.unreachable, "average_age": row.ages.average(), "generations": row.ages.generations(),
            })
        };
        return Ok(rows.iter().map(row).collect());
    }
    let has_ages = heap.graph().has_ages();
    let mut headings = vec!["instances", "shallow", "retained"];
    if has_ages {
        headings.extend(["avg age", "gens"]);
    }
    headings.push("class");
    let mut table = Table::new(headings);
    for row in &rows {
        let mut cells = vec![count(row.instances), bytes(row.shallow), bytes(row.retained)];
        if has_ages {
            cells.extend([sites::average(&row.ages), sites::generations(&row.ages)]);
        }
        cells.push(human::printable(&row.class));
        table.push(cells);
    }
    table.write(out)?;
    left(all - rows.len(), out)?;
    Ok(Value::Null)
}

/// The objects that retain most, without those that another of them retains alone.
fn dominators(arguments: &Arguments, heap: &Heap, out: &mut impl Write) -> anyhow::Result<Value> {
    let mut tops: Vec<ObjectIndex> = heap.dominators.tops().collect();
    let all = tops.len();
    tops.sort_unstable_by_key(|&top| (std::cmp::Reverse(heap.dominators.retained(top)), top));
    tops.truncate(arguments.top());
    let mut wanted = Wanted::default();
    tops.iter().for_each(|&top| want_name(heap, &mut wanted, top));
    let names = Names { heap, described: heap.describe(&wanted)? };
    if arguments.json {
        return Ok(tops.iter().map(|&top| Value::Object(names.object_json(top))).collect());
    }
    let mut table = Table::new(vec!["retained", "shallow", "dominates", "object"]);
    for &top in &tops {
        table.push(vec![
            bytes(heap.dominators.retained(top)),
            bytes(heap.graph().shallow(top)),
            count(heap.dominators.dominated(top).len() as u64),
            names.object(top),
        ]);
    }
    table.write(out)?;
    left(all - tops.len(), out)?;
    Ok(Value::Null)
}

/// Says what is not shown, and ends the table.
pub(crate) fn left(rows: usize, out: &mut impl Write) -> std::io::Result<()> {
    if rows > 0 {
        writeln!(out, "  ... and {} more; --top 0 shows all", count(rows as u64))?;
    }
    writeln!(out)
}
