//! The time of requests side by side, part by part.

use analysis::allocations::Facts;
use analysis::requests::{PartKind, RequestRow, Work};

use super::{heading, known};
use crate::render::human::{bytes, duration};
use crate::render::notes::recorded;
use crate::render::table::Table;

/// What a trace was recorded with: what was not is in other parts, or in the rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recorded {
    initialisers: bool,
    cpu: bool,
    waits: bool,
    juc: bool,
    safepoints: bool,
}

impl Recorded {
    /// What a trace was recorded with, as far as it says so.
    pub(crate) fn of(facts: &Facts) -> Recorded {
        let may_be = |was: Option<bool>| was != Some(false);
        Recorded {
            initialisers: may_be(recorded::warm_up(facts)),
            cpu: may_be(recorded::cpu(facts)),
            waits: may_be(recorded::locks(facts)),
            juc: may_be(recorded::juc(facts)),
            safepoints: may_be(recorded::safepoints(facts)),
        }
    }

    /// Whether a part would be known if there was one. CPU time is known also where samples do not divide it.
    fn has(self, kind: PartKind) -> bool {
        match kind {
            PartKind::Initialisers => self.initialisers,
            PartKind::Cpu(_) => self.cpu,
            PartKind::Monitors | PartKind::Notification | PartKind::Sleeping => self.waits,
            PartKind::Locks | PartKind::Parked => self.juc,
            PartKind::Safepoints => self.safepoints,
            PartKind::UndividedCpu | PartKind::Collections | PartKind::Ready | PartKind::Rest => true,
        }
    }

    /// The parts of which nobody knows whether the request had them.
    pub(super) fn missing(self, row: &RequestRow<'_>) -> impl Iterator<Item = PartKind> {
        let is_known = move |kind: PartKind| self.has(kind) && (kind != PartKind::Ready || row.ready.is_some());
        PartKind::all().filter(move |&kind| !is_known(kind) && row.part(kind).0 == 0)
    }

    /// What is said in place of a part that was not recorded; several may share one.
    fn not_recorded(self, kind: PartKind) -> Option<&'static str> {
        match kind {
            PartKind::Initialisers if !self.initialisers => Some("static initialisers (not recorded)"),
            PartKind::Monitors if !self.waits => Some("waits (not recorded)"),
            PartKind::Locks if self.waits && !self.juc => Some("j.u.c. locks, parks (not recorded)"),
            PartKind::Safepoints if !self.safepoints => Some("other safepoints (not recorded)"),
            _ => None,
        }
    }

    /// What a part is called in a table.
    pub(crate) fn label(self, kind: PartKind) -> &'static str {
        match kind {
            PartKind::Initialisers => "static initialisers",
            PartKind::Cpu(work) => work_label(work),
            PartKind::UndividedCpu if !self.cpu => "CPU (no samples recorded)",
            PartKind::UndividedCpu => "CPU (too few samples)",
            PartKind::Monitors => "waiting for monitors",
            PartKind::Locks => "waiting for locks (j.u.c.)",
            PartKind::Notification => "in Object.wait",
            PartKind::Parked => "parked",
            PartKind::Sleeping => "sleeping",
            PartKind::Collections => "collections",
            PartKind::Safepoints => "other safepoints",
            PartKind::Ready => "ready, no CPU",
            PartKind::Rest => "no CPU: I/O, page faults",
        }
    }
}

pub(super) fn work_label(work: Work) -> &'static str {
    match work {
        Work::Loading => "CPU: loading classes",
        Work::Exceptions => "CPU: making exceptions",
        Work::Interpreted => "CPU: interpreted code",
        Work::Compiled => "CPU: compiled code",
        Work::Native => "CPU: native code",
        Work::Other => "CPU: unknown code",
    }
}

/// Requests side by side: a column each.
pub(crate) fn table(rows: &[&RequestRow<'_>], recorded: Recorded) -> Table {
    let headings: Vec<_> = rows.iter().map(|row| heading(row)).chain(["part".into()]).collect();
    let mut table = Table::new(headings);
    let mut line = |label: &str, cell: &dyn Fn(&RequestRow<'_>) -> String| {
        table.push(rows.iter().map(|row| cell(row)).chain([label.to_owned()]).collect());
    };
    line("began at", &|row| duration(row.begun));
    line("took", &|row| duration(row.took));
    for kind in PartKind::all() {
        let is_any = rows.iter().any(|row| row.part(kind).0 > 0);
        if kind == PartKind::Ready && rows.iter().any(|row| row.ready.is_none()) {
            // It is recorded of the first requests.
            line("ready, no CPU (?: not recorded)", &|row| match row.ready {
                Some(_) => cell(row, kind),
                None => "?".to_owned(),
            });
        } else if is_any {
            line(recorded.label(kind), &|row| cell(row, kind));
        } else if let Some(label) = recorded.not_recorded(kind) {
            line(label, &|_| "-".to_owned());
        }
    }
    if rows.iter().any(|row| row.handed_over) {
        line("handed over (startAsync)", &|row| if row.handed_over { "yes" } else { "-" }.to_owned());
    }
    line("CPU time in all", &|row| known(row.cpu, duration));
    line("allocated", &|row| known(row.bytes, bytes));
    table
}

/// A part of a request; what is estimated has a tilde.
fn cell(row: &RequestRow<'_>, kind: PartKind) -> String {
    match row.split.parts.iter().find(|part| part.kind == kind) {
        None => "-".to_owned(),
        Some(part) if part.error.0 > 0 => format!("~{}", duration(part.time)),
        Some(part) => duration(part.time),
    }
}
