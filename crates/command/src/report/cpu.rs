//! Samples of CPU time: stacks, threads, and when.

use analysis::allocations::Naming;
use analysis::cpu::{CpuReport, SlotSamples};
use serde_json::{Value, json};

use super::cells::{Cells, Key, Written};
use super::names::{FrameIndex, Names};
use super::tree::Tree;

/// What ran in a trace; `null` if it has no samples of CPU time.
pub(super) fn json(report: &CpuReport, naming: &Naming, cut: f64, names: &mut Names) -> Value {
    if report.sum().0 == 0 {
        return Value::Null;
    }
    let (written, places) = pieces(&[report], naming, cut, names);
    let mut json = written.json;
    json.insert("lost".to_owned(), report.lost().0.into());
    json.insert("kernel".to_owned(), report.kernel().0.0.into());
    let (width, moments) = report.moments().unwrap_or_default();
    let mut moments: Vec<(u64, u32, u64, u64)> = moments
        .iter()
        .map(|&SlotSamples { slot, entry, samples, time }| {
            (slot, written.numbers[places[entry as usize]], samples, time.0)
        })
        .collect();
    moments.sort_unstable();
    moments.dedup_by(|next, sum| {
        let is_same = (next.0, next.1) == (sum.0, sum.1);
        if is_same {
            sum.2 += next.2;
            sum.3 = sum.3.saturating_add(next.3);
        }
        is_same
    });
    json.insert(
        "moments".to_owned(),
        json!({
            "width": width.0,
            "slot": moments.iter().map(|moment| moment.0).collect::<Vec<_>>(),
            "cell": moments.iter().map(|moment| moment.1).collect::<Vec<_>>(),
            "samples": moments.iter().map(|moment| moment.2).collect::<Vec<_>>(),
            "time": moments.iter().map(|moment| moment.3).collect::<Vec<_>>(),
        }),
    );
    json.into()
}

/// The same of two traces, without times.
pub(super) fn two(reports: [&CpuReport; 2], naming: &Naming, cut: f64, names: &mut Names) -> Value {
    if reports.iter().all(|report| report.sum().0 == 0) {
        return Value::Null;
    }
    let mut json = pieces(&reports, naming, cut, names).0.json;
    let side = |report: &&CpuReport| {
        let has = report.sum().0 > 0;
        json!({ "has": has, "is_estimated": has, "lost": report.lost().0 })
    };
    json.insert("sides".to_owned(), reports.iter().map(side).collect());
    json.into()
}

/// The samples of traces as pieces, and the number that each got.
fn pieces(reports: &[&CpuReport], naming: &Naming, cut: f64, names: &mut Names) -> (Written, Vec<usize>) {
    let site_names: Vec<_> = reports.iter().map(|report| report.site_names(naming)).collect();
    let mut tree = Tree::new(reports.len());
    let mut nodes = Vec::new();
    for (trace, (report, site_names)) in reports.iter().zip(&site_names).enumerate() {
        for entry in report.entries(site_names) {
            let frames: Vec<FrameIndex> = entry.labels.iter().rev().map(|(label, _)| names.label(label)).collect();
            nodes.push(tree.add(trace, frames.into_iter(), &[entry.time.0 as f64, entry.samples as f64, 0.0, 0.0]));
        }
    }
    let mut cells = Cells::new();
    let mut places = Vec::new();
    let mut sources = Vec::new();
    // What is light is known when all are in the tree.
    let mut nodes = nodes.into_iter();
    for (trace, (report, site_names)) in reports.iter().zip(&site_names).enumerate() {
        let mut variance = 0.0;
        for (entry, full) in report.entries(site_names).zip(&mut nodes) {
            let node = tree.heavy(full, cut);
            let innermost = entry.labels.first().map(|(label, _)| names.label(label));
            let key = Key {
                trace,
                node,
                is_folded: node != full,
                class: -1,
                thread: names.number(Some(entry.thread.name)),
                named: entry.named.map(|label| names.label(&label)).or(innermost),
                innermost,
                source: Some(trace as u32),
            };
            let (samples, time) = (entry.samples as f64, entry.time.0 as f64);
            variance += entry.variance;
            places.push(cells.add(key, &[time, samples, 0.0, 0.0], &[samples, time, entry.variance], &[]));
        }
        let (samples, time) = report.sum();
        sources.push(json!([time.0, true, samples, time.0, variance]));
    }
    let mut written = cells.write(&tree, cut, names);
    written.json.insert("sources".to_owned(), sources.into());
    (written, places)
}
