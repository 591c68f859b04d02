//! Waits by their stacks: those for locks, and others.

use analysis::locks::{LockReport, WaitKind};
use serde_json::Value;

use super::cells::{Cells, Key};
use super::names::{FrameIndex, Names};
use super::tree::{Tree, Values};

/// How long, and how often: those for locks first.
fn values(kind: WaitKind, nanos: u64, count: u64) -> Values {
    let (nanos, count) = (nanos as f64, count as f64);
    match kind {
        WaitKind::Contended => [nanos, count, 0.0, 0.0],
        WaitKind::Other => [0.0, 0.0, nanos, count],
    }
}

/// Where threads waited, below it the class of what they waited for; `null` if none did.
pub(super) fn json(report: &LockReport, cut: f64, names: &mut Names) -> Value {
    let mut tree = Tree::new(1);
    let mut waits = Vec::new();
    for kind in [WaitKind::Contended, WaitKind::Other] {
        for stack in report.waiting_stacks(kind) {
            let mut frames: Vec<FrameIndex> = stack.frames.iter().map(|label| names.label(label)).collect();
            let (named, innermost) = (names.own(&frames), frames.first().copied());
            let lock = names.other(&format!("lock: {}", stack.class.unwrap_or("(unknown class)")));
            frames.insert(0, lock);
            let values = values(kind, stack.weight, stack.count);
            let node = tree.add(0, frames.into_iter().rev(), &values);
            waits.push((node, values, names.number(stack.thread), named.or(innermost), innermost));
        }
    }
    if waits.is_empty() {
        return Value::Null;
    }
    let mut cells = Cells::new();
    for (full, values, thread, named, innermost) in waits {
        let node = tree.heavy(full, cut);
        let is_folded = node != full;
        let key = Key { trace: 0, node, is_folded, class: -1, thread, named, innermost, source: None };
        cells.add(key, &values, &[0.0; 3], &[]);
    }
    cells.write(&tree, cut, names).json.into()
}
