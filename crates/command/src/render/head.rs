//! What is said of a trace as a whole, before its tables.

use std::io::{self, Write};
use std::path::Path;

use analysis::allocations::{Count, Origin};
use owo_colors::OwoColorize;
use serde_json::{Map, Value, json};

use crate::input::reading::{Reading, Report};
use crate::render::notes;
use crate::render::page::Page;
use crate::render::view::fields;

/// Writes which trace it is, who recorded it, and how large it is.
pub(crate) fn write<R: Report>(path: &Path, reading: &Reading<R>, out: &mut Page<'_>) -> io::Result<()> {
    write_named(path, &notes::origin(reading), out)
}

/// Writes the name of a file, and behind it what it is.
pub(crate) fn write_named(path: &Path, what: &str, out: &mut Page<'_>) -> io::Result<()> {
    let path = path.display().to_string();
    let what = out.behind(&path, &format!("({what})"));
    writeln!(out, "{}{what}", path.bold())
}

/// The same in JSON, with what the agent counted about itself.
pub(crate) fn json<R: Report>(path: &Path, reading: &Reading<R>) -> Map<String, Value> {
    let facts = reading.report.facts();
    let count = |count: &Count| json!({ "key": count.key, "detail": count.detail, "value": count.value });
    let mut fields = short_json(path, reading);
    fields.insert("bytes".to_owned(), reading.bytes.into());
    fields.insert("documents".to_owned(), facts.documents.into());
    fields.insert("counts".to_owned(), facts.counts.iter().map(count).collect());
    fields
}

/// Which trace it is, and who recorded it.
pub(crate) fn short_json<R: Report>(path: &Path, reading: &Reading<R>) -> Map<String, Value> {
    let origin = |origin: &Origin| {
        json!({
            "agent": origin.agent,
            "version": origin.version,
            "parameters": origin.parameters,
            "imported_from": origin.imported_from,
            "pid": origin.pid,
            "host": origin.host,
        })
    };
    fields(json!({
        "path": path.display().to_string(),
        "complete": notes::is_complete(reading),
        "agents": reading.report.facts().origins.iter().map(origin).collect::<Vec<_>>(),
    }))
}
