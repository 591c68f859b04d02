//! Samples of CPU time: stacks, threads, and when.

use analysis::allocations::Naming;
use analysis::cpu::{CpuReport, Moment};
use serde_json::{Value, json};

use super::cells::{Cells, Key};
use super::names::{FrameIndex, Names};
use super::tree::Tree;

/// What ran; `null` if the trace has no samples of CPU time.
pub(super) fn json(report: &CpuReport, naming: &Naming, cut: f64, names: &mut Names) -> Value {
    let (samples, time) = report.sum();
    if samples == 0 {
        return Value::Null;
    }
    let site_names = report.site_names(naming);
    let mut tree = Tree::new();
    let nodes: Vec<_> = report
        .entries(&site_names)
        .map(|entry| {
            let frames: Vec<FrameIndex> = entry.labels.iter().rev().map(|(label, _)| names.label(label)).collect();
            tree.add(frames.into_iter(), &[entry.time.0 as f64, entry.samples as f64, 0.0, 0.0])
        })
        .collect();
    let mut cells = Cells::new();
    let mut places = Vec::new();
    let mut variance = 0.0;
    for (entry, full) in report.entries(&site_names).zip(nodes) {
        let node = tree.heavy(full, cut);
        let innermost = entry.labels.first().map(|(label, _)| names.label(label));
        let key = Key {
            node,
            is_folded: node != full,
            class: -1,
            thread: names.number(Some(entry.thread.name)),
            named: entry.named.map(|label| names.label(&label)).or(innermost),
            innermost,
            source: Some(0),
        };
        let (samples, time) = (entry.samples as f64, entry.time.0 as f64);
        variance += entry.variance;
        places.push(cells.add(key, &[time, samples, 0.0, 0.0], &[samples, time, entry.variance], &[]));
    }
    let written = cells.write(&tree, cut, names);
    let mut json = written.json;
    json.insert("sources".to_owned(), json!([[time.0, true, samples, time.0, variance]]));
    json.insert("lost".to_owned(), report.lost().0.into());
    json.insert("kernel".to_owned(), report.kernel().0.0.into());
    let (width, moments) = report.moments().unwrap_or_default();
    let mut moments: Vec<(u64, u32, u64, u64)> = moments
        .iter()
        .map(|&Moment { slot, entry, samples, time }| (slot, written.numbers[places[entry as usize]], samples, time.0))
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
