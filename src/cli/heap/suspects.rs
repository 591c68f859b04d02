//! Where memory piles up, and what holds the pile.

use std::io::Write;

use analysis::graph::contents::Wanted;
use analysis::graph::{Excluded, ObjectIndex, Part, Suspect, suspects};
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use super::Arguments;
use super::names::{Names, want_name, want_path};
use super::source::Heap;
use crate::cli::human::{self, bytes, counted};

pub(super) fn show(arguments: &Arguments, heap: &Heap, out: &mut impl Write) -> anyhow::Result<Value> {
    let graph = heap.graph();
    let found = suspects(graph, &heap.dominators, arguments.share / 100.0, arguments.few());
    let total: u64 = heap.dominators.tops().map(|top| heap.dominators.retained(top)).fold(0, u64::saturating_add);
    let mut wanted = Wanted::default();
    // A pile without a holder is told by one of its objects.
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
    writeln!(out, "{}", "Suspects: where memory piles up".bold())?;
    if found.is_empty() {
        let share = arguments.share;
        writeln!(out, "  no pile has {share} % of the heap; --share takes a smaller percentage")?;
    }
    for (number, (suspect, path)) in found.iter().zip(&paths).enumerate() {
        let place = match suspect.holder {
            Some(holder) => format!("pile up in {}", names.object(holder)),
            None => "lie in objects of one class that nothing holds alone".to_owned(),
        };
        let share = percent(suspect.bytes, total);
        writeln!(out, "{:>3}. {} ({share:.1} %) {place}", number + 1, bytes(suspect.bytes).bold())?;
        for part in &suspect.parts {
            writeln!(out, "       {}", part_text(&names, part))?;
        }
        if !path.is_empty() {
            writeln!(out, "     {}", if suspect.holder.is_some() { "held by" } else { "for example held by" })?;
        }
        for line in names.path(path) {
            writeln!(out, "       {line}")?;
        }
    }
    writeln!(out)?;
    Ok(Value::Null)
}

fn percent(bytes: u64, total: u64) -> f64 {
    if total == 0 { 0.0 } else { bytes as f64 * 100.0 / total as f64 }
}

fn part_text(names: &Names<'_>, part: &Part) -> String {
    let graph = names.heap.graph();
    let class = human::printable(&graph.class(part.class).name);
    let mut text = format!("{} x {class}, {}", human::count(part.objects), bytes(part.bytes));
    if let Some((site, count)) = part.site
        && let Some(frame) = graph.sites().get(site as usize - 1).and_then(|frames| frames.first())
    {
        let how_many = if count == part.objects { "made".to_owned() } else { format!("{} made", human::count(count)) };
        text.push_str(&format!(", {how_many} at {}", human::printable(frame)));
    }
    if !part.inside.is_empty() {
        let inside: Vec<&str> = part.inside.iter().map(|&object| names.class(object)).collect();
        text.push_str(&format!(", most of it in {}", human::printable(&inside.join(" > "))));
    }
    if let Some(generations) = part.generations {
        text.push_str(&format!(", of {}", counted(generations, "age", "different ages")));
    }
    text
}

fn part_json(names: &Names<'_>, part: &Part) -> Value {
    let graph = names.heap.graph();
    let site = part.site.and_then(|(site, count)| Some((graph.sites().get(site as usize - 1)?, count)));
    json!({
        "class": graph.class(part.class).name,
        "objects": part.objects,
        "bytes": part.bytes,
        "example": names.object_json(part.example),
        "inside": part.inside.iter().map(|&object| names.object_json(object)).collect::<Vec<_>>(),
        "site": site.map(|(frames, count)| json!({ "frames": frames, "objects": count })),
        "generations": part.generations,
    })
}
