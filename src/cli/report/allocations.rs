//! Allocations: stacks, classes, threads, and when.

use analysis::allocations::{AllocationReport, Naming, OverTime};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use trace::time::Time;

use super::cells::{Cells, Key, number};
use super::names::{FrameIndex, Names};
use super::tree::Tree;

/// What is allocated and alive; `null` if the trace says nothing of it.
pub(super) fn json(report: &AllocationReport, naming: &Naming, origin: Time, cut: f64, names: &mut Names) -> Value {
    if !report.has_objects() {
        return Value::Null;
    }
    let over_time = report.over_time(|_| true).filter(|_| !report.is_sampled()).unwrap_or_default();
    let slices = over_time.slices.len();
    let site_names = report.site_names(naming);
    let mut known: FxHashMap<usize, FrameIndex> = FxHashMap::default();
    let mut frame = |names: &mut Names, at: usize| *known.entry(at).or_insert_with(|| names.line(&report.frame(at)));
    let no_stack = names.other("(no stack)");
    let mut tree = Tree::new();
    let mut nodes = Vec::new();
    for entry in report.entries(&site_names, 0) {
        let mut frames: Vec<FrameIndex> = entry.frames.iter().rev().map(|&at| frame(names, at)).collect();
        if frames.is_empty() {
            frames.push(no_stack);
        }
        nodes.push(tree.add(frames.into_iter(), &values(&entry.allocated, &entry.live)));
    }
    let mut cells = Cells::new();
    let mut sources: FxHashMap<u32, usize> = FxHashMap::default();
    for (entry, full) in report.entries(&site_names, slices).zip(nodes) {
        let node = tree.heavy(full, cut);
        let key = Key {
            node,
            is_folded: node != full,
            class: names.number(Some(entry.class)),
            thread: names.number(entry.thread.map(|thread| thread.name)),
            named: entry.named.map(|at| frame(names, at)),
            innermost: entry.frames.first().map(|&at| frame(names, at)),
            source: entry.estimate.map(|estimate| {
                let new = sources.len();
                *sources.entry(estimate.source).or_insert(new) as u32
            }),
        };
        let known = entry.estimate.map_or([0.0; 3], |estimate| {
            let part = estimate.part;
            [part.samples as f64, part.weight, part.variance]
        });
        let changes = entry.changes.iter().map(|&(slice, [allocated, died])| {
            let amounts = [allocated.bytes, allocated.objects, died.bytes, died.objects];
            (slice as u32, amounts.map(|amount| amount as f64))
        });
        let changes: Vec<_> = changes.collect();
        cells.add(key, &values(&entry.allocated, &entry.live), &known, &changes);
    }
    let mut json = cells.write(&tree, cut, names).json;
    let mut by_number: Vec<(usize, u32)> = sources.into_iter().map(|(source, at)| (at, source)).collect();
    by_number.sort_unstable();
    let sources =
        by_number.into_iter().filter_map(|(_, source)| report.source(source)).map(|(weight, is_exact, whole)| {
            json!([number(weight), is_exact, whole.samples, number(whole.weight), number(whole.variance)])
        });
    json.insert("sources".to_owned(), sources.collect());
    json.insert("has_stacks".to_owned(), report.has_stacks().into());
    json.insert("is_counted".to_owned(), report.is_counted().into());
    json.insert("is_sampled".to_owned(), report.is_sampled().into());
    let facts = report.facts();
    json.insert("knows_live".to_owned(), (facts.frees > 0 || facts.live_counts > 0 || facts.live_samples > 0).into());
    json.insert("slices".to_owned(), slices_json(&over_time, origin));
    json.into()
}

fn values([objects, bytes]: &[f64; 2], [live_objects, live_bytes]: &[f64; 2]) -> [f64; 4] {
    [*bytes, *objects, *live_bytes, *live_objects]
}

fn slices_json(over_time: &OverTime, origin: Time) -> Value {
    let slices = over_time.slices.iter().map(|slice| {
        json!({
            "begin": slice.begin.since(origin).0,
            "end": slice.end.since(origin).0,
            "bytes": slice.allocated.bytes,
            "live": slice.live.map(|live| live.bytes),
            "used": slice.used_bytes,
            "collections": slice.collections,
            "pauses": slice.pauses.map(|pauses| pauses.0),
        })
    });
    slices.collect()
}
