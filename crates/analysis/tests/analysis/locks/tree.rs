//! The tree of waits has each wait of the tables once.

use std::collections::BTreeMap;

use analysis::call_tree::{Grouping, TreeOptions};
use analysis::locks::{LockReport, WaitKind};

/// Compares a tree by thread with the lengths of each thread's waits.
pub(crate) fn compare(report: &LockReport, waiters: &BTreeMap<String, Vec<u64>>, is_contended: bool) {
    let kind = if is_contended { WaitKind::Contended } else { WaitKind::Other };
    let options = TreeOptions { grouping: Grouping::Thread, cut: 0.0, ..TreeOptions::default() };
    let root = report.tree(&options, kind, |_| true, None);
    let found: BTreeMap<String, (u64, u64)> = root
        .children
        .iter()
        .map(|node| (node.label.expect("only the root has none").to_string(), (node.count, node.weight)))
        .collect();
    let expected = waiters.iter().map(|(name, lengths)| (name.clone(), (lengths.len() as u64, lengths.iter().sum())));
    assert_eq!(found, expected.collect());
    let nothing = report.tree(&options, kind, |class| class == "nobody.Knows", None);
    assert_eq!((nothing.count, nothing.children.len()), (0, 0));
    let code = report.tree(&options, kind, |_| true, Some(&|at| at.method == "m1"));
    let is_there = |node: &analysis::call_tree::Node<'_>| node.weight <= root.weight && node.error == 0;
    assert!(code.count <= root.count && is_there(&code));
}
