//! Requests.

use analysis::explain::TraceReport;

use super::{FIRST_BATCH, after};
use crate::columns::{Rows, row};
use crate::schema::REQUEST;

/// The sums of each entry point, and its requests that were looked at: the first, the tenth and so on, and the slowest.
pub(crate) fn requests(run: i64, report: &TraceReport) -> Rows {
    let begin = super::run::begin(report);
    let mut rows = Rows::new(&REQUEST);
    for entry in report.requests.entries() {
        let sums = &entry.sums;
        let is_measured = sums.measured > 0;
        let [p50, p90, p99, _] = entry.percentiles;
        let none = None::<i64>;
        rows.push(row![
            run,
            FIRST_BATCH,
            entry.method,
            entry.kind,
            none,
            entry.first_called.map(|since| after(begin, since)),
            sums.requests,
            sums.failures,
            sums.took,
            is_measured.then_some(sums.cpu),
            is_measured.then_some(sums.bytes),
            p50,
            p90,
            p99,
            entry.longest,
            none,
        ]);
        for one in report.requests.requests(entry.method, &[]) {
            rows.push(row![
                run,
                FIRST_BATCH,
                entry.method,
                entry.kind,
                one.number,
                after(begin, one.begun),
                1_i64,
                one.failed,
                one.took,
                one.cpu,
                one.bytes,
                none,
                none,
                none,
                one.took,
                one.largest().map(|part| part.as_str()),
            ]);
        }
    }
    rows
}
