//! Duplicate strings, empty and sparse collections, boxed values.

use std::io::Write;

use analysis::heap_dump::contents::Wanted;
use analysis::heap_dump::waste::Waste;
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use super::names::{Names, want_name};
use super::source::Heap;
use super::{Arguments, DEFAULT_TOP};
use crate::render::human::{self, bytes, count, counted};
use crate::render::page::Page;
use crate::render::table::Table;

pub(crate) fn show(arguments: &Arguments, heap: &Heap, out: &mut Page<'_>) -> anyhow::Result<Value> {
    let texts = arguments.limit(DEFAULT_TOP);
    let Some(mut waste) = heap.waste(texts)? else {
        if !arguments.json {
            writeln!(out, "The dump has no contents, so duplicate strings and collections are unknown.\n")?;
        }
        return Ok(Value::Null);
    };
    waste.collections.sort_by(|a, b| {
        let key = |row: &analysis::heap_dump::waste::CollectionRow| row.empty_bytes + row.sparse_bytes;
        key(b).cmp(&key(a)).then_with(|| a.class.cmp(&b.class))
    });
    waste.boxes.sort_by(|a, b| b.wasted.cmp(&a.wasted).then_with(|| a.class.cmp(&b.class)));
    let mut wanted = Wanted::default();
    waste.strings.duplicates.iter().for_each(|duplicate| want_name(heap, &mut wanted, duplicate.example));
    let names = Names { heap, described: heap.describe(&wanted)? };
    if arguments.json {
        return Ok(to_json(&waste, &names));
    }
    print(arguments, &waste, &names, out)?;
    Ok(Value::Null)
}

fn print(arguments: &Arguments, waste: &Waste, names: &Names<'_>, out: &mut Page<'_>) -> std::io::Result<()> {
    let strings = &waste.strings;
    let sentence = format!(
        "{} ({}) with {}; duplicates: {}",
        counted(strings.strings, "string", "strings"),
        bytes(strings.bytes),
        counted(strings.distinct, "text", "different texts"),
        bytes(strings.wasted)
    );
    let sentence = out.behind("Strings:", &sentence);
    writeln!(out, "{}{sentence}", "Strings:".bold())?;
    let mut table = Table::new(vec!["wasted", "strings", "text"]);
    let few = arguments.few();
    for duplicate in strings.duplicates.iter().take(few) {
        let text = names.text(duplicate.example).unwrap_or_default();
        let shown: String = text.chars().take(60).collect();
        table.push(vec![bytes(duplicate.wasted), count(duplicate.strings), human::printable(&format!("{shown:?}"))]);
    }
    table.write(out)?;
    writeln!(out)?;

    let sum: u64 = waste.collections.iter().map(|row| row.empty_bytes + row.sparse_bytes).sum();
    writeln!(out, "{} {} in empty ones and in unused slots of sparse ones", "Collections:".bold(), bytes(sum))?;
    let mut table = Table::new(vec!["collections", "empty", "their size", "sparse", "unused", "class"]);
    for row in waste.collections.iter().take(few) {
        table.push(vec![
            count(row.instances),
            count(row.empty),
            bytes(row.empty_bytes),
            count(row.sparse),
            bytes(row.sparse_bytes),
            human::printable(&row.class),
        ]);
    }
    table.write_top(waste.collections.len().saturating_sub(few), out)?;

    let sum: u64 = waste.boxes.iter().map(|row| row.wasted).sum();
    writeln!(out, "{} {} in duplicate values", "Boxes:".bold(), bytes(sum))?;
    let mut table = Table::new(vec!["wasted", "size", "boxes", "values", "class"]);
    for row in &waste.boxes {
        table.push(vec![
            bytes(row.wasted),
            bytes(row.bytes),
            count(row.instances),
            count(row.distinct),
            row.class.clone(),
        ]);
    }
    table.write(out)?;
    writeln!(out)
}

fn to_json(waste: &Waste, names: &Names<'_>) -> Value {
    let strings = &waste.strings;
    let duplicates = strings.duplicates.iter().map(|duplicate| {
        json!({
            "text": names.text(duplicate.example), "strings": duplicate.strings, "wasted": duplicate.wasted,
            "example": names.heap.graph().id(duplicate.example).to_string(),
        })
    });
    let collections = waste.collections.iter().map(|row| {
        json!({
            "class": row.class, "instances": row.instances, "empty": row.empty, "empty_bytes": row.empty_bytes,
            "sparse": row.sparse, "sparse_bytes": row.sparse_bytes,
        })
    });
    let boxes = waste.boxes.iter().map(|row| {
        json!({
            "class": row.class, "instances": row.instances, "bytes": row.bytes, "distinct": row.distinct,
            "wasted": row.wasted,
        })
    });
    json!({
        "strings": {
            "strings": strings.strings, "bytes": strings.bytes, "distinct": strings.distinct, "wasted": strings.wasted,
            "duplicates": duplicates.collect::<Vec<_>>(),
        },
        "collections": collections.collect::<Vec<_>>(),
        "boxes": boxes.collect::<Vec<_>>(),
    })
}
