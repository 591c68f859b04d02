//! The whole heap: histogram, allocation sites, dominators, suspects, waste.

use analysis::heap_dump::contents::Wanted;
use analysis::heap_dump::{ClassRow, ObjectIndex, histogram};
use serde_json::{Value, json};

use super::names::{Names, want_name};
use super::source::{Form, Heap, Source};
use super::{Arguments, Section, growing, head, sites, suspects, waste};
use crate::commands::selection::note_unmatched;
use crate::render::human::{bytes, count};
use crate::render::page::Page;
use crate::render::table::Table;
use crate::render::view::Cell::{Bytes, Count, Decimal, Name};
use crate::render::view::View;

pub(crate) fn overview(arguments: &Arguments, source: &Source, out: &mut Page<'_>) -> anyhow::Result<Value> {
    let mut json = head::show(arguments, source, out)?;
    if let Form::Trace(traced) = &source.form
        && arguments.shows(Section::Suspects)
    {
        json.insert("growing".to_owned(), growing::growing(arguments, traced, out)?);
    }
    let Some(heap) = &source.heap else {
        return Ok(Value::Object(json));
    };
    note_unmatched(&source.path, &arguments.filter, heap.graph().classes().iter().map(|class| class.name.as_str()));
    if arguments.shows(Section::Histogram) {
        json.insert("histogram".to_owned(), rows(arguments, heap, out)?);
    }
    if arguments.shows(Section::Sites) {
        json.insert("sites".to_owned(), sites::show(arguments, heap, out)?);
    }
    if arguments.shows(Section::Dominators) {
        json.insert("dominators".to_owned(), dominators(arguments, heap, out)?);
    }
    if arguments.shows(Section::Suspects) {
        let growing = sites::growing(arguments, heap, out)?;
        json.entry("growing").or_insert(growing);
        json.insert("suspects".to_owned(), suspects::show(arguments, heap, out)?);
    }
    if arguments.shows(Section::Waste) {
        json.insert("waste".to_owned(), waste::show(arguments, heap, out)?);
    }
    Ok(Value::Object(json))
}

fn rows(arguments: &Arguments, heap: &Heap, out: &mut Page<'_>) -> anyhow::Result<Value> {
    let (rows, all) = arguments.rows(histogram(heap.graph(), &heap.dominators));
    let has_ages = heap.graph().has_ages();
    let view = View::new()
        .both("instances", "instances", |row: &ClassRow| Count(row.instances))
        .both("shallow", "shallow_bytes", |row| Bytes(row.shallow))
        .both("retained", "retained_bytes", |row| Bytes(row.retained))
        .both(has_ages.then_some("avg age"), "average_age", |row| row.ages.average().map(Decimal))
        .text(has_ages.then_some("gens"), |row| sites::generations(&row.ages))
        .both("class", "class", |row| Name(row.class.clone()))
        .json(|row| json!({ "unreachable": row.unreachable, "generations": row.ages.generations() }));
    if arguments.json {
        return Ok(view.array(&rows));
    }
    view.table(&rows).write_top(all - rows.len(), out)?;
    Ok(Value::Null)
}

/// The objects that retain most, without those that another of them retains alone.
fn dominators(arguments: &Arguments, heap: &Heap, out: &mut Page<'_>) -> anyhow::Result<Value> {
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
    table.write_top(all - tops.len(), out)?;
    Ok(Value::Null)
}
