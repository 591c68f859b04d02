//! Where memory accumulates, and what keeps it alive.

use std::io::Write;

use analysis::ages::AgeSpread;
use analysis::heap_dump::contents::Wanted;
use analysis::heap_dump::{Excluded, Graph, ObjectIndex, Part, Suspect, own_frame, suspects};
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use super::names::{Names, want_name, want_path};
use super::source::Heap;
use super::{Arguments, sites};
use crate::render::human::{self, bytes};
use crate::render::page::Page;

pub(crate) fn show(arguments: &Arguments, heap: &Heap, out: &mut Page<'_>) -> anyhow::Result<Value> {
    let graph = heap.graph();
    let found = suspects(graph, &heap.dominators, arguments.share / 100.0, arguments.few());
    let total: u64 = heap.dominators.tops().map(|top| heap.dominators.retained(top)).fold(0, u64::saturating_add);
    let mut wanted = Wanted::default();
    // Without a holder, one of the objects is shown in its place.
    let shown = |suspect: &Suspect| suspect.holder.or_else(|| Some(suspect.parts.first()?.example));
    let path = |object: ObjectIndex| graph.paths(object, Excluded::WEAK, 1).pop().unwrap_or_default();
    let paths: Vec<Vec<ObjectIndex>> = found.iter().map(|suspect| shown(suspect).map_or_else(Vec::new, path)).collect();
    for (suspect, path) in found.iter().zip(&paths) {
        want_path(heap, &mut wanted, path);
        for part in &suspect.parts {
            part.inside.iter().chain([&part.example]).for_each(|&object| want_name(heap, &mut wanted, object));
        }
    }
    let names = Names { heap, described: heap.describe(&wanted)? };
    if arguments.json {
        let all = found.iter().zip(&paths).map(|(suspect, path)| {
            json!({
                "bytes": suspect.bytes,
                "percent": percent(suspect.bytes, total),
                "holder": suspect.holder.map(|holder| names.object_json(holder)),
                "parts": suspect.parts.iter().map(|part| part_json(&names, part)).collect::<Vec<_>>(),
                "path": names.path_json(path),
            })
        });
        return Ok(all.collect());
    }
    writeln!(out, "{}", "Suspects: where memory accumulates".bold())?;
    if found.is_empty() {
        let share = arguments.share;
        writeln!(out, "  no place accumulates {share} % of the heap; try a smaller --share")?;
    }
    for (number, (suspect, path)) in found.iter().zip(&paths).enumerate() {
        let place = match suspect.holder {
            Some(holder) => format!("accumulate in {}", names.object(holder)),
            None => "are in objects of one class without a common holder".to_owned(),
        };
        let share = percent(suspect.bytes, total);
        let head = out.sentence(0, &format!("{:>3}. {} ({share:.1} %) {place}", number + 1, bytes(suspect.bytes)));
        writeln!(out, "{}", head.bold())?;
        for part in &suspect.parts {
            for line in part_text(&names, part) {
                out.write_sentence(7, &line)?;
            }
        }
        if !path.is_empty() {
            writeln!(out, "     {}", if suspect.holder.is_some() { "held by" } else { "for example held by" })?;
        }
        for line in names.path(path) {
            out.write_sentence(7, &line)?;
        }
    }
    writeln!(out)?;
    Ok(Value::Null)
}

fn percent(bytes: u64, total: u64) -> f64 {
    if total == 0 { 0.0 } else { bytes as f64 * 100.0 / total as f64 }
}

/// Frames of a stack that are shown: up to the one outside the JDK, and some that called it, but not more than fit a screen.
const CALLERS: usize = 2;
const FRAMES: usize = 16;

/// A part in lines: how many and how large, where they were allocated, how old they are, what is in them.
fn part_text(names: &Names<'_>, part: &Part) -> Vec<String> {
    let graph = names.heap.graph();
    let class = human::printable(&graph.class(part.class).name);
    let mut head = format!("{} x {class}, {}", human::count(part.objects), bytes(part.bytes));
    if let Some(ages) = &part.ages {
        head.push_str(&format!(", {}", sites::words(ages)));
    }
    let mut lines = vec![head];
    if let Some((frames, count)) = site(graph, part) {
        let how_many = if count == part.objects { "all".to_owned() } else { human::count(count) };
        lines.push(format!("  {how_many} allocated"));
        let shown = (own_frame(frames) + 1 + CALLERS).min(FRAMES);
        lines.extend(frames.iter().take(shown).map(|frame| format!("    at {}", human::printable(frame))));
    }
    if !part.inside.is_empty() {
        let inside: Vec<&str> = part.inside.iter().map(|&object| names.class(object)).collect();
        lines.push(human::printable(&format!("  most of it in {}", inside.join(" > "))));
    }
    for &object in &part.inside {
        if let Some(frames) = graph.site(object).filter(|frames| !frames.is_empty()) {
            let at = &frames[own_frame(frames)];
            lines.push(human::printable(&format!("    {} allocated at {at}", names.class(object))));
        }
    }
    lines
}

/// The stack that allocated most objects of a part, and how many are from its line.
fn site<'a>(graph: &'a Graph, part: &Part) -> Option<(&'a [String], u64)> {
    let (site, count) = part.site?;
    let frames = graph.sites().get(site as usize - 1).filter(|frames| !frames.is_empty())?;
    Some((frames, count))
}

fn part_json(names: &Names<'_>, part: &Part) -> Value {
    let graph = names.heap.graph();
    let inside = part.inside.iter().map(|&object| {
        let mut json = names.object_json(object);
        json.insert("frames".to_owned(), json!(graph.site(object)));
        json
    });
    json!({
        "class": graph.class(part.class).name,
        "objects": part.objects,
        "bytes": part.bytes,
        "example": names.object_json(part.example),
        "inside": inside.collect::<Vec<_>>(),
        "site": site(graph, part)
            .map(|(frames, count)| json!({ "at": frames[own_frame(frames)], "frames": frames, "objects": count })),
        "average_age": part.ages.as_ref().map(AgeSpread::average),
        "generations": part.ages.as_ref().map(AgeSpread::generations),
        "grows": part.ages.as_ref().map(AgeSpread::is_growing),
    })
}
