//! Duplicate strings, empty and sparse collections, boxed values.

use std::io::Write;

use analysis::heap_dump::contents::Wanted;
use analysis::heap_dump::waste::{BoxRow, CollectionRow, Waste};
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use super::names::{Names, want_name};
use super::source::Heap;
use super::{Arguments, DEFAULT_TOP};
use crate::render::human::{self, bytes, count, counted};
use crate::render::page::Page;
use crate::render::table::Table;
use crate::render::view::Cell::{Bytes, Count, Name};
use crate::render::view::View;

pub(crate) fn show(arguments: &Arguments, heap: &Heap, out: &mut Page<'_>) -> anyhow::Result<Value> {
    let texts = arguments.limit(DEFAULT_TOP);
    let Some(mut waste) = heap.waste(texts)? else {
        if !arguments.json {
            writeln!(out, "The dump has no contents, so duplicate strings and collections are unknown.\n")?;
        }
        return Ok(Value::Null);
    };
    waste.collections.sort_by(|a, b| {
        let key = |row: &CollectionRow| row.empty_bytes + row.sparse_bytes;
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
    let shown = &waste.collections[..waste.collections.len().min(few)];
    let table = collections().table(shown);
    table.write_top(waste.collections.len().saturating_sub(few), out)?;

    let sum: u64 = waste.boxes.iter().map(|row| row.wasted).sum();
    writeln!(out, "{} {} in duplicate values", "Boxes:".bold(), bytes(sum))?;
    let table = boxes().table(&waste.boxes);
    table.write(out)?;
    writeln!(out)
}

fn collections<'a>() -> View<'a, CollectionRow> {
    View::new()
        .both("collections", "instances", |row: &CollectionRow| Count(row.instances))
        .both("empty", "empty", |row| Count(row.empty))
        .both("their size", "empty_bytes", |row| Bytes(row.empty_bytes))
        .both("sparse", "sparse", |row| Count(row.sparse))
        .both("unused", "sparse_bytes", |row| Bytes(row.sparse_bytes))
        .both("class", "class", |row| Name(row.class.clone()))
}

fn boxes<'a>() -> View<'a, BoxRow> {
    View::new()
        .both("wasted", "wasted_bytes", |row: &BoxRow| Bytes(row.wasted))
        .both("size", "bytes", |row| Bytes(row.bytes))
        .both("boxes", "instances", |row| Count(row.instances))
        .both("values", "distinct", |row| Count(row.distinct))
        .both("class", "class", |row| Name(row.class.clone()))
}

fn to_json(waste: &Waste, names: &Names<'_>) -> Value {
    let strings = &waste.strings;
    let duplicates = strings.duplicates.iter().map(|duplicate| {
        json!({
            "text": names.text(duplicate.example), "strings": duplicate.strings, "wasted_bytes": duplicate.wasted,
            "example": names.heap.graph().id(duplicate.example).to_string(),
        })
    });
    json!({
        "strings": {
            "strings": strings.strings, "bytes": strings.bytes, "distinct": strings.distinct, "wasted_bytes": strings.wasted,
            "duplicates": duplicates.collect::<Vec<_>>(),
        },
        "collections": collections().array(&waste.collections),
        "boxes": boxes().array(&waste.boxes),
    })
}
