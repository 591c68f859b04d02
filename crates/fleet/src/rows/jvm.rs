//! What the JVM itself did: collections, classes, compilations.

use analysis::explain::Collections;
use analysis::warm_up::{ClassSource, WarmUpReport};
use trace::model::CodeTier;

use super::FIRST_BATCH;
use crate::columns::{Rows, row};
use crate::names::{Collision, Names};
use crate::schema::{CLASS_LOAD, COMPILE, GC};

/// The collections; of a trace with very many some in a row are one.
pub(crate) fn collections(run: i64, collections: &Collections) -> Rows {
    let mut rows = Rows::new(&GC);
    for one in collections.each() {
        rows.push(row![run, FIRST_BATCH, one.since, one.collections, one.pause, one.used]);
    }
    rows
}

/// Where classes came from, and what static initialisers took.
pub(crate) fn class_loads(run: i64, report: &WarmUpReport, names: &mut Names) -> Result<Rows, Collision> {
    let mut rows = Rows::new(&CLASS_LOAD);
    let none = None::<i64>;
    for load in report.loads() {
        let name = match load.source {
            ClassSource::File(path) => path.to_owned(),
            ClassSource::Jdk("") => "(JDK)".to_owned(),
            ClassSource::Jdk(module) => format!("(JDK) {module}"),
            ClassSource::Generated => "(generated)".to_owned(),
        };
        rows.push(row![run, FIRST_BATCH, "load", name, none, load.classes, load.cost, none]);
    }
    for init in report.initialisers(Vec::new()) {
        let line = init.caused_by.map(|at| names.line(at)).transpose()?;
        rows.push(row![run, FIRST_BATCH, "initialise", init.class, line, 1_i64, init.total, init.own]);
    }
    Ok(rows)
}

/// What was compiled of each method.
pub(crate) fn compilations(run: i64, report: &WarmUpReport) -> Rows {
    let mut rows = Rows::new(&COMPILE);
    for (name, method) in report.methods() {
        let of_c2 = method.tiers[CodeTier::C2 as usize];
        let (discarded, bytes) = (method.discarded, method.bytes);
        rows.push(row![run, FIRST_BATCH, name, method.count, of_c2, method.time, discarded, bytes]);
    }
    rows
}
