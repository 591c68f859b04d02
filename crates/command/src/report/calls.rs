//! Calls of methods: what each cost, and by which stacks.

use analysis::execution::{CallBy, CallRow, CallSubject, ExecutionReport};
use serde_json::{Value, json};
use trace::time::Nanos;

use super::cells::{Cells, Key};
use super::names::{FrameIndex, Names, shown};
use super::tree::Tree;
use crate::render::calls::method;

/// So many methods have a row.
const ROWS: usize = 200;

/// Base time and number of calls by stack, and the numbers of methods; `null` if there are no calls.
pub(super) fn json(report: &ExecutionReport, cut: f64, names: &mut Names) -> Value {
    if !report.has_calls() {
        return Value::Null;
    }
    let mut tree = Tree::new(1);
    let mut calls = Vec::new();
    for stack in report.called_stacks() {
        let frames: Vec<FrameIndex> = stack.frames.iter().map(|label| names.label(label)).collect();
        let (named, innermost) = (names.own(&frames), frames.first().copied());
        let values = [stack.weight as f64, stack.count as f64, 0.0, 0.0];
        let node = tree.add(0, frames.into_iter().rev(), &values);
        calls.push((node, values, names.number(stack.thread), named.or(innermost), innermost));
    }
    let mut cells = Cells::new();
    for (full, values, thread, named, innermost) in calls {
        let node = tree.heavy(full, cut);
        let is_folded = node != full;
        let key = Key { trace: 0, node, is_folded, class: -1, thread, named, innermost, source: None };
        cells.add(key, &values, &[0.0; 3], &[]);
    }
    let mut json = cells.write(&tree, cut, names).json;
    let rows = report.rows(CallBy::Method);
    json.insert("rows".to_owned(), rows.iter().take(ROWS).map(row).collect());
    json.insert("left".to_owned(), rows.len().saturating_sub(ROWS).into());
    json.into()
}

fn row(row: &CallRow<'_>) -> Value {
    let nanos = |time: Option<Nanos>| time.map(|time| time.0);
    let text = match &row.subject {
        CallSubject::Method(at) => method(at),
        CallSubject::Class(name) | CallSubject::Package(name) => (*name).to_owned(),
        CallSubject::Thread(thread) => thread.name.to_owned(),
    };
    json!({
        "text": shown(&text),
        "base": row.base.0,
        "cumulative": row.cumulative.0,
        "calls": row.calls,
        "average": nanos(row.average),
        "min": nanos(row.min),
        "max": nanos(row.max),
    })
}
