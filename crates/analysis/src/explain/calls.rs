//! Methods whose own time is much of all, in traces of calls.

use trace::time::Nanos;

use super::{Explanation, Finding, MOST, part};
use crate::call_tree::{Direction, Granularity, Label, Node, TreeOptions};
use crate::execution::{CallBy, CallRow, CallSubject, ExecutionReport};
use crate::location::Location;

/// Less of all base time does not stand out.
const LEAST_SHARE: f64 = 0.1;

/// A method that takes much time itself.
#[derive(Clone, Debug)]
pub struct CostlyMethod<'a> {
    /// The method, without a line.
    pub at: Location<'a>,
    /// How often it was called, and how long that took.
    pub row: CallRow<'a>,
    /// Its part of all base time.
    pub share: f64,
    /// The path of calls that takes most of it, the outermost first, the method last.
    pub path: Vec<Location<'a>>,
    /// The base time of the method on that path.
    pub on_path: Nanos,
}

impl<'a> Explanation<'a> {
    /// Adds what stands out among calls.
    pub fn add_calls(&mut self, report: &'a ExecutionReport) {
        if !report.has_calls() {
            return;
        }
        self.calls = Some(report.sum());
        self.findings.extend(methods(report).into_iter().map(Finding::Calls));
        self.by_cost();
    }
}

fn methods<'a>(report: &'a ExecutionReport) -> Vec<CostlyMethod<'a>> {
    let (_, whole) = report.sum();
    let costly = report.rows(CallBy::Method).into_iter().take(MOST);
    let costly: Vec<CallRow<'a>> = costly.filter(|row| part(row.base.0, whole.0) >= LEAST_SHARE).collect();
    if costly.is_empty() {
        return Vec::new();
    }
    let options = TreeOptions {
        direction: Direction::BottomUp,
        granularity: Granularity::Line,
        cut: 0.0,
        ..TreeOptions::default()
    };
    let callers = report.tree(&options);
    let found = |row: CallRow<'a>| match row.subject {
        CallSubject::Method(at) => {
            let node = callers.children.iter().find(|node| node.label == Some(Label::Line(at)));
            let (path, on_path) = node.map_or_else(|| (vec![at], row.base), heaviest);
            Some(CostlyMethod { at, row, share: part(row.base.0, whole.0), path, on_path })
        }
        _ => None,
    };
    costly.into_iter().filter_map(found).collect()
}

/// The callers of a node that ask for most of it, the outermost first, and how much that is.
fn heaviest<'a>(node: &Node<'a>) -> (Vec<Location<'a>>, Nanos) {
    let (mut path, mut at) = (Vec::new(), node);
    loop {
        if let Some(Label::Line(location)) = at.label {
            path.push(location);
        }
        match at.children.first().filter(|caller| caller.weight >= at.own) {
            Some(caller) => at = caller,
            None => break,
        }
    }
    path.reverse();
    (path, Nanos(at.weight))
}
