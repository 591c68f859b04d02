//! Where the objects of a dump were allocated, and of which lines more objects survive with every collection.

use std::io::Write;

use analysis::ages::AgeSpread;
use analysis::heap_dump::{ObjectIndex, SiteRow, sites};
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use super::source::{Data, Heap};
use super::{Arguments, Column};
use crate::render::human::{self, count};
use crate::render::page::Page;
use crate::render::view::Cell::{Bytes, Count, Decimal, Name};
use crate::render::view::View;

/// One row for each class and line; nothing if the dump has no sites.
pub(crate) fn show(arguments: &Arguments, heap: &Heap, out: &mut Page<'_>) -> anyhow::Result<Value> {
    let mut rows = selected(arguments, heap);
    if rows.is_empty() {
        return Ok(Value::Null);
    }
    sort(&mut rows, arguments.sort);
    if !arguments.json {
        writeln!(out, "{}", "Allocation sites of live objects".bold())?;
    }
    write(arguments, heap, rows, out)
}

/// The lines that allocated some objects, those of most bytes first.
pub(crate) fn of_objects(heap: &Heap, objects: &[ObjectIndex]) -> Vec<SiteRow> {
    let mut rows = sites(heap.graph(), &heap.dominators, objects.iter().copied());
    sort(&mut rows, Column::Shallow);
    rows
}

/// The lines whose survivors accumulate; nothing for traces, whose statistics show them.
pub(crate) fn growing(arguments: &Arguments, heap: &Heap, out: &mut Page<'_>) -> anyhow::Result<Value> {
    if !heap.graph().has_ages() || matches!(heap.data, Data::Trace(_)) {
        return Ok(Value::Null);
    }
    let mut rows = selected(arguments, heap);
    rows.retain(|row| row.ages.is_growing());
    sort(&mut rows, Column::Shallow);
    if !arguments.json {
        writeln!(out, "{}", "Growing: survivors of most collections since the first".bold())?;
        if rows.is_empty() {
            writeln!(out, "  nothing grows with every collection\n")?;
        }
    }
    if rows.is_empty() {
        return Ok(json!([]));
    }
    write(arguments, heap, rows, out)
}

/// The lines that allocated the objects of the selected classes.
fn selected(arguments: &Arguments, heap: &Heap) -> Vec<SiteRow> {
    let graph = heap.graph();
    let is_selected: Vec<bool> = graph.classes().iter().map(|class| arguments.selects(&class.name)).collect();
    sites(graph, &heap.dominators, graph.objects().filter(|&object| is_selected[graph.class_of(object).0 as usize]))
}

fn sort(rows: &mut [SiteRow], column: Column) {
    rows.sort_by(|a, b| {
        let by_column = match column {
            Column::Instances => b.instances.cmp(&a.instances),
            Column::Name => std::cmp::Ordering::Equal,
            // What a line retains is not computed.
            Column::Shallow | Column::Retained => b.shallow.cmp(&a.shallow),
        };
        by_column.then_with(|| a.class.cmp(&b.class)).then_with(|| a.frames.cmp(&b.frames))
    });
}

fn write(arguments: &Arguments, heap: &Heap, mut rows: Vec<SiteRow>, out: &mut Page<'_>) -> anyhow::Result<Value> {
    let all = rows.len();
    rows.truncate(arguments.top());
    if arguments.json {
        return Ok(view(heap).array(&rows));
    }
    view(heap).table(&rows).write_top(all - rows.len(), out)?;
    Ok(Value::Null)
}

/// Lines that allocate.
pub(crate) fn view<'a>(heap: &Heap) -> View<'a, SiteRow> {
    let has_ages = heap.graph().has_ages();
    View::new()
        .both("instances", "instances", |row: &SiteRow| Count(row.instances))
        .both("shallow", "shallow_bytes", |row| Bytes(row.shallow))
        .both(has_ages.then_some("avg age"), "average_age", |row| row.ages.average().map(Decimal))
        .text(has_ages.then_some("gens"), |row| generations(&row.ages))
        .text("class and line", |row| match row.frames.get(row.named_by) {
            Some(frame) => Name(format!("{} at {frame}", row.class)),
            None => Name(format!("{} (unknown site)", row.class)),
        })
        .json(|row| {
            json!({
                "class": row.class,
                "at": row.frames.get(row.named_by),
                "frames": row.frames,
                "unreachable": row.unreachable,
                "generations": row.ages.generations(),
                "oldest": row.ages.oldest(),
            })
        })
}

/// The average age, if one is known.
fn average(ages: &AgeSpread) -> String {
    ages.average().map_or_else(|| "-".to_owned(), |age| format!("{age:.1}"))
}

/// The number of ages, if one is known.
pub(crate) fn generations(ages: &AgeSpread) -> String {
    if ages.average().is_some() { count(ages.generations()) } else { "-".to_owned() }
}

/// How old objects are, in words.
pub(crate) fn words(ages: &AgeSpread) -> String {
    let different = human::counted(ages.generations(), "age", "different ages");
    let growing = if ages.is_growing() { "; growing" } else { "" };
    format!("survivors of {different}, {} collections on average{growing}", average(ages))
}
