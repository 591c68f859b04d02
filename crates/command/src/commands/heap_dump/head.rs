//! What a dump or trace is: its size, its objects, and what is missing or wrong in it.

use std::io::Write;

use analysis::heap_dump::{DumpProblems, Graph};
use hprof::read::Skipped;
use owo_colors::OwoColorize;
use serde_json::{Map, Value, json};

use super::Arguments;
use super::source::{Data, Form, Heap, Source, Traced};
use crate::render::human::{self, bytes, count, counted};
use crate::render::notes;
use crate::render::page::Page;

/// Writes it as text, or gives it back as the first fields of the JSON.
pub(crate) fn show(arguments: &Arguments, source: &Source, out: &mut Page<'_>) -> anyhow::Result<Map<String, Value>> {
    let head = Head { source, size: source.heap.as_ref().map(HeapSize::of), notes: notes_of(source) };
    match arguments.json {
        true => Ok(head.json()),
        false => head.write(out).map(|()| Map::new()).map_err(Into::into),
    }
}

struct Head<'a> {
    source: &'a Source,
    size: Option<HeapSize>,
    notes: Vec<String>,
}

/// How many objects there are, and their bytes.
struct HeapSize {
    objects: usize,
    shallow: u64,
    reachable_objects: usize,
    reachable_shallow: u64,
}

impl HeapSize {
    fn of(heap: &Heap) -> Self {
        let graph = heap.graph();
        let reachable = heap.dominators.reachable();
        let sum = |sum: u64, object| sum.saturating_add(graph.shallow(object));
        HeapSize {
            objects: graph.len(),
            shallow: graph.objects().fold(0, sum),
            reachable_objects: reachable.len(),
            reachable_shallow: reachable.iter().copied().fold(0, sum),
        }
    }
}

impl Head<'_> {
    fn json(&self) -> Map<String, Value> {
        let Head { source, size, notes } = self;
        let mut json = Map::new();
        let mut put = |name: &str, value: Value| json.insert(name.to_owned(), value);
        put("path", json!(source.path.display().to_string()));
        put("bytes", json!(source.bytes));
        put("complete", json!(is_whole(source)));
        put("notes", json!(notes));
        if let Form::Trace(traced) = &source.form {
            let dumps = traced.dumps.iter();
            let dump = dumps.map(|dump| json!({ "id": dump.id.0, "name": dump.name, "time_nanos": dump.time.0 }));
            put("dumps", dump.collect());
        }
        if let (Some(heap), Some(size)) = (&source.heap, size) {
            put("objects", json!(size.objects));
            put("references", json!(heap.graph().reference_count()));
            put("roots", json!(heap.graph().roots().len()));
            put("shallow_bytes", json!(size.shallow));
            put("reachable_objects", json!(size.reachable_objects));
            put("reachable_shallow_bytes", json!(size.reachable_shallow));
            if let Data::Dump(_, loaded) = &heap.data {
                let layout = &loaded.layout;
                let Skipped { records, record_bytes, segments, segment_bytes } = heap.graph().problems().skipped;
                put("time_nanos", json!(loaded.millis.saturating_mul(1_000_000)));
                put(
                    "skipped",
                    json!({
                        "records": records, "record_bytes": record_bytes,
                        "segments": segments, "segment_bytes": segment_bytes,
                    }),
                );
                put(
                    "layout",
                    json!({
                        "reference_bytes": layout.reference, "header_bytes": layout.header, "array_header_bytes": layout.array_header,
                        "alignment_bytes": layout.alignment, "compared": layout.fit.compared,
                        "touching": layout.fit.touching, "overlapping": layout.fit.overlapping,
                    }),
                );
            }
        }
        json
    }

    fn write(&self, out: &mut Page<'_>) -> std::io::Result<()> {
        writeln!(out, "{} ({})", self.source.path.display().bold(), bytes(self.source.bytes))?;
        if let (Some(heap), Some(size)) = (&self.source.heap, &self.size) {
            let rest = match size.objects - size.reachable_objects {
                0 => String::new(),
                objects => {
                    let bytes = bytes(size.shallow - size.reachable_shallow);
                    format!("; {} ({bytes}) more are not reachable from a root", count(objects as u64))
                }
            };
            let objects = counted(size.reachable_objects as u64, "object", "objects");
            let roots = counted(heap.graph().roots().len() as u64, "root", "roots");
            let bytes = bytes(size.reachable_shallow);
            out.write_sentence(0, &format!("{objects} ({bytes}) held by {roots}{rest}"))?;
        }
        notes::write(&self.notes, out)?;
        writeln!(out)
    }
}

fn is_whole(source: &Source) -> bool {
    let traced = match &source.form {
        Form::Trace(traced) => traced.broken.is_none(),
        Form::Dump => true,
    };
    let is_whole = |problems: &DumpProblems| problems.broken.is_none() && problems.skipped.segments == 0;
    traced && source.heap.as_ref().is_none_or(|heap| is_whole(heap.graph().problems()))
}

/// What is missing or wrong in the numbers; one sentence each.
fn notes_of(source: &Source) -> Vec<String> {
    let mut notes = Vec::new();
    if let Form::Trace(traced) = &source.form {
        notes.extend(trace_notes(traced, source.heap.is_some()));
    }
    if let Some(heap) = &source.heap {
        notes.extend(graph_notes(heap.graph()));
        notes.extend(layout_note(heap));
    }
    notes
}

fn trace_notes(traced: &Traced, has_graph: bool) -> Vec<String> {
    let mut notes: Vec<String> =
        traced.broken.iter().map(|broken| format!("part of the trace could not be read: {broken}")).collect();
    if traced.dumps.is_empty() {
        notes.push("the trace has no heap dump, so it does not show what keeps objects alive".to_owned());
    } else if !has_graph {
        let names: Vec<String> = traced.dumps.iter().map(|dump| human::printable(&dump.name)).collect();
        notes.push(format!(
            "its heap dumps are in separate files; use these to see what keeps objects alive: {}",
            names.join(", ")
        ));
    }
    let incomplete = traced.dumps.iter().filter(|dump| !dump.without_ids.is_empty());
    notes.extend(incomplete.map(|dump| {
        let name = human::printable(&dump.name);
        format!("in its heap dump {name} {}", without_ids(&dump.without_ids))
    }));
    notes
}

/// Which objects have an address in place of their id.
fn without_ids(which: &str) -> String {
    format!("objects without a trace id have no line and no age ({})", human::printable(which))
}

fn graph_notes(graph: &Graph) -> Vec<String> {
    let problems = graph.problems();
    let mut notes: Vec<String> =
        problems.broken.iter().map(|broken| format!("only part of the dump could be read: {broken}")).collect();
    let Skipped { records, record_bytes, segments, segment_bytes } = problems.skipped;
    if records > 0 {
        let records = counted(records, "record", "records");
        notes.push(format!("skipped {records} of an unknown kind ({})", bytes(record_bytes)));
    }
    if segments > 0 {
        let segments = counted(segments, "heap segment", "heap segments");
        notes.push(format!(
            "objects may be missing: the rest of {segments} was skipped from a sub-record of an unknown kind on ({})",
            bytes(segment_bytes)
        ));
    }
    let counts = [
        (
            problems.dangling,
            "reference to an object missing from the dump",
            "references to objects missing from the dump",
        ),
        (problems.repeated, "object with a duplicate id", "objects with duplicate ids"),
        (
            problems.unknown_roots,
            "root points to an object missing from the dump",
            "roots point to objects missing from the dump",
        ),
        (problems.unknown_classes, "class without a name", "classes without names"),
        (
            problems.malformed_objects,
            "object whose fields differ from its class",
            "objects whose fields differ from their class",
        ),
    ];
    if !problems.without_ids.is_empty() {
        notes.push(without_ids(&problems.without_ids));
    }
    notes.extend(
        counts.iter().filter(|(number, ..)| *number > 0).map(|&(number, one, many)| counted(number, one, many)),
    );
    notes
}

/// How sure the sizes of objects are.
fn layout_note(heap: &Heap) -> Option<String> {
    let Data::Dump(_, loaded) = &heap.data else { return None };
    let layout = &loaded.layout;
    match layout.fit.overlapping {
        _ if layout.fit.compared == 0 => {
            Some(format!("sizes assume the usual layout ({layout}): the dump has no addresses to derive it from"))
        }
        0 => None,
        overlapping => {
            let objects = counted(overlapping, "object does", "objects do");
            Some(format!("sizes may be wrong: {objects} not fit between their neighbours ({layout})"))
        }
    }
}
