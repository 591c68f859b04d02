//! What threads waited for.

use analysis::locks::{LockReport, ThreadName};

use super::FIRST_BATCH;
use crate::columns::{Rows, row};
use crate::names::{Collision, Names};
use crate::schema::LOCK_WAIT;

/// Waits by what was waited for, who waited, who owned it, and where both were.
pub(crate) fn waits(run: i64, report: &LockReport, names: &mut Names) -> Result<Rows, Collision> {
    let mut rows = Rows::new(&LOCK_WAIT);
    for kind in report.kinds() {
        let name = |thread: ThreadName<'_>| thread.name.to_owned();
        rows.push(row![
            run,
            FIRST_BATCH,
            kind.is_contended,
            kind.class.map(|class| names.class(class)).transpose()?,
            kind.name.map(|name| name.to_string()),
            name(kind.waiter),
            kind.owner.map(name),
            kind.at.map(|at| names.line(at)).transpose()?,
            names.lines(&kind.stack)?,
            kind.owner_at.map(|at| names.line(at)).transpose()?,
            names.lines(&kind.owner_stack)?,
            kind.waits.count(),
            kind.waits.total(),
            kind.waits.max(),
            kind.open,
            kind.estimate.map_or(0.0, |estimate| estimate.error.0 as f64),
        ]);
    }
    Ok(rows)
}
