//! Allocations: stacks, classes, threads, and when.

use analysis::allocations::{AllocationReport, Entry, Naming, OverTime};
use analysis::call_tree::{Label, Source, SourceIndex, SourceKind};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use trace::time::Time;

use super::cells::{Cells, Key, Known, number};
use super::names::{FrameIndex, Names};
use super::tree::{Tree, Values};

/// What is allocated and alive in a trace; `null` if it says nothing of it.
pub(super) fn json(report: &AllocationReport, naming: &Naming, origin: Time, cut: f64, names: &mut Names) -> Value {
    if !report.has_objects() {
        return Value::Null;
    }
    let over_time = report.over_time(|_| true).filter(|_| !report.is_sampled()).unwrap_or_default();
    let mut pieces = Pieces::new(1);
    pieces.add_all(&[report], naming, over_time.slices.len(), cut, names);
    let mut json = pieces.json(&[report], cut, names);
    json.insert("has_stacks".to_owned(), report.has_stacks().into());
    json.insert("is_counted".to_owned(), report.is_counted().into());
    json.insert("is_sampled".to_owned(), report.is_sampled().into());
    json.insert("knows_live".to_owned(), knows_live(report).into());
    json.insert("slices".to_owned(), slices_json(&over_time, origin));
    json.into()
}

/// The same of two traces, without times.
pub(super) fn two(reports: [&AllocationReport; 2], naming: &Naming, cut: f64, names: &mut Names) -> Value {
    if reports.iter().all(|report| !report.has_objects()) {
        return Value::Null;
    }
    let mut pieces = Pieces::new(2);
    pieces.add_all(&reports, naming, 0, cut, names);
    let is_estimated = [0, 1].map(|trace| pieces.sources.keys().any(|(of, _)| *of == trace));
    let mut json = pieces.json(&reports, cut, names);
    let sides = reports.iter().zip(is_estimated).map(|(report, is_estimated)| {
        json!({
            "has": report.has_objects(),
            "has_stacks": report.has_stacks(),
            "is_counted": report.is_counted(),
            "is_estimated": is_estimated,
            "knows_live": knows_live(report),
        })
    });
    json.insert("sides".to_owned(), sides.collect());
    json.into()
}

fn knows_live(report: &AllocationReport) -> bool {
    let facts = report.facts();
    facts.frees > 0 || facts.live_counts > 0 || facts.live_samples > 0
}

/// Takes the pieces of traces together.
struct Pieces {
    tree: Tree,
    cells: Cells,
    /// The number of each source of estimates, by trace and what it is there.
    sources: FxHashMap<(usize, SourceIndex), usize>,
}

impl Pieces {
    fn new(traces: usize) -> Pieces {
        Pieces { tree: Tree::new(traces), cells: Cells::new(), sources: FxHashMap::default() }
    }

    fn add_all(&mut self, reports: &[&AllocationReport], naming: &Naming, slices: usize, cut: f64, names: &mut Names) {
        let no_stack = names.other("(no stack)");
        let removed = names.label(&Label::Removed);
        let site_names: Vec<_> = reports.iter().map(|report| report.site_names(naming)).collect();
        let mut known: FxHashMap<(usize, usize), FrameIndex> = FxHashMap::default();
        let mut frame = |names: &mut Names, trace: usize, at: usize| {
            *known.entry((trace, at)).or_insert_with(|| names.line(&reports[trace].frame(at)))
        };
        let mut nodes = Vec::new();
        for (trace, (report, site_names)) in reports.iter().zip(&site_names).enumerate() {
            for entry in report.entries(site_names, 0) {
                let callers = entry.is_removed.then_some(removed).into_iter();
                let mut frames: Vec<FrameIndex> =
                    callers.chain(entry.frames.iter().rev().map(|&at| frame(names, trace, at))).collect();
                if frames.is_empty() {
                    frames.push(no_stack);
                }
                nodes.push(self.tree.add(trace, frames.into_iter(), &values(&entry)));
            }
        }
        // What is light is known when all are in the tree.
        let mut nodes = nodes.into_iter();
        for (trace, (report, site_names)) in reports.iter().zip(&site_names).enumerate() {
            for (entry, full) in report.entries(site_names, slices).zip(&mut nodes) {
                let node = self.tree.heavy(full, cut);
                let key = Key {
                    trace,
                    node,
                    is_folded: node != full,
                    class: names.number(Some(entry.class)),
                    thread: names.number(entry.thread.map(|thread| thread.name)),
                    named: match entry.is_removed {
                        true => Some(removed),
                        false => entry.named.map(|at| frame(names, trace, at)),
                    },
                    innermost: entry.frames.first().map(|&at| frame(names, trace, at)),
                    source: entry.share.map(|(source, _)| {
                        let new = self.sources.len();
                        *self.sources.entry((trace, source)).or_insert(new) as u32
                    }),
                };
                self.cells.add(key, &values(&entry), &known_by_samples(&entry), &changes(&entry));
            }
        }
    }

    fn json(self, reports: &[&AllocationReport], cut: f64, names: &mut Names) -> serde_json::Map<String, Value> {
        let mut json = self.cells.write(&self.tree, cut, names).json;
        let mut by_number: Vec<(usize, (usize, SourceIndex))> =
            self.sources.into_iter().map(|(source, at)| (at, source)).collect();
        by_number.sort_unstable_by_key(|&(number, _)| number);
        let sources = by_number.into_iter().filter_map(|(_, (trace, source))| reports[trace].source(source)).map(
            |Source { weight, kind, whole, most_removed }| {
                let kind = match kind {
                    SourceKind::Sampled => 0,
                    SourceKind::Exact => 1,
                    SourceKind::Executed => 2,
                    SourceKind::Kept => 3,
                };
                json!([
                    number(weight),
                    kind,
                    whole.samples,
                    number(whole.weight),
                    number(whole.variance),
                    number(most_removed)
                ])
            },
        );
        json.insert("sources".to_owned(), sources.collect());
        json
    }
}

fn values(entry: &Entry<'_>) -> Values {
    let ([objects, bytes], [live_objects, live_bytes]) = (entry.allocated, entry.live);
    [bytes, objects, live_bytes, live_objects]
}

fn known_by_samples(entry: &Entry<'_>) -> Known {
    entry.share.map_or([0.0; 3], |(_, part)| [part.samples as f64, part.weight, part.variance])
}

fn changes(entry: &Entry<'_>) -> Vec<(u32, Values)> {
    let changes = entry.changes.iter().map(|&(slice, [allocated, died])| {
        let amounts = [allocated.bytes, allocated.objects, died.bytes, died.objects];
        (slice as u32, amounts.map(|amount| amount as f64))
    });
    changes.collect()
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
