//! Two traces as one page: what changed from the first to the second.
//!
//! Both share their names and the folding of what is small: a stack that is heavy in one trace is shown of both.

use std::io::{self, Write};

use analysis::allocations::{AllocationReport, By, Naming};
use analysis::locks::{LockBy, LockReport};
use analysis::own_code::OwnCode;
use serde_json::{Map, Value, json};
use trace::filter::Pattern;

use super::names::Names;
use super::pairs::Pairs;
use super::{allocations, both, cpu, length, page};
use crate::input::whole::Whole;
use crate::render::locks as render;

/// More rows of a table are left out.
const MOST_ROWS: usize = 1000;

/// Writes what changed. `heads`: makes what is known of both traces. `changed`: what is more than chance.
pub(crate) fn write(
    heads: impl FnOnce() -> [Map<String, Value>; 2] + Send,
    changed: Value,
    wholes: [&Whole; 2],
    own: Vec<Pattern>,
    cut: f64,
    out: &mut impl Write,
) -> io::Result<()> {
    let naming = Naming::Own(own.clone());
    let reports = wholes.map(|whole| &whole.allocations.report);
    let beside = || (heads(), leaks(reports, &naming));
    let ((mut heads, leaks), pieces) = both(beside, || {
        let mut names = Names::new(OwnCode::new(own));
        let allocations = allocations::two(reports, &naming, cut, &mut names);
        let cpu = cpu::two(wholes.map(|whole| &whole.cpu.report), &naming, cut, &mut names);
        let locks = locks(wholes.map(|whole| &whole.locks.report));
        [("allocations", allocations), ("cpu", cpu), ("locks", locks), ("names", names.json())]
    });
    for (head, whole) in heads.iter_mut().zip(wholes) {
        head.insert("length".to_owned(), length(whole).into());
    }
    let mut data = heads[1].clone();
    data.insert("diff".to_owned(), json!(heads));
    data.insert("changed".to_owned(), changed);
    data.insert("leaks".to_owned(), leaks);
    data.extend(pieces.map(|(key, value)| (key.to_owned(), value)));
    data.insert("cut".to_owned(), json!(cut));
    page::write(&Value::Object(data), out)
}

/// Bytes and objects alive, bytes that survived a collection, and the square of the error of the first.
fn leaks(reports: [&AllocationReport; 2], naming: &Naming) -> Value {
    if reports.iter().any(|report| report.sum(|_| true).live() == 0) {
        return Value::Null;
    }
    let table = |by: By| {
        let mut pairs = Pairs::default();
        for (trace, report) in reports.into_iter().enumerate() {
            let names = report.site_names(naming);
            for row in report.rows_named(by, &names, |_| true) {
                let totals = &row.totals;
                let (bytes, survived) = (totals.live_bytes() as f64, totals.survived_bytes() as f64);
                let variance = (totals.live_error() as f64).powi(2);
                pairs.add(trace, row.subject.to_string(), [bytes, totals.live() as f64, survived, variance]);
            }
        }
        pairs.json(MOST_ROWS)
    };
    json!({ "class": table(By::Class), "site": table(By::Site), "line": table(By::Line) })
}

/// Waits, and what threads did. Numbers of threads differ from run to run.
fn locks(reports: [&LockReport; 2]) -> Value {
    let mut tables = Map::new();
    for by in [LockBy::Class, LockBy::Site, LockBy::Holder, LockBy::Waiter, LockBy::Pair] {
        let rows = reports.map(|report| report.rows(by, true));
        for (kind, waits) in [("locks", false), ("waits", true)] {
            let mut pairs = Pairs::default();
            for (trace, rows) in rows.iter().enumerate() {
                for row in rows {
                    let lengths = render::lengths(row, waits);
                    if lengths.count() > 0 {
                        let values = [lengths.total().0 as f64, lengths.count() as f64];
                        pairs.add(trace, row.subject.to_string(), values);
                    }
                }
            }
            tables.insert(format!("{kind}.{}", render::table_name(by)), pairs.json(MOST_ROWS));
        }
    }
    let mut threads = Pairs::default();
    for (trace, report) in reports.into_iter().enumerate() {
        for row in report.threads(true, |_| true) {
            let stalls = [&row.blocked, &row.waiting, &row.parked, &row.sleeping].map(|stall| stall.total.0 as f64);
            let [blocked, waiting, parked, sleeping] = stalls;
            let cpu = row.processor.map_or(0.0, |processor| processor.cpu.0 as f64);
            let values = [blocked, waiting, parked, sleeping, row.running.0 as f64, cpu, row.members as f64];
            threads.add(trace, row.thread.to_string(), values);
        }
    }
    json!({ "tables": tables, "threads": threads.json(MOST_ROWS) })
}
