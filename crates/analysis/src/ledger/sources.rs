//! Ledgers of the statistics that a trace has.

use trace::time::Nanos;

use super::{Amount, Ledger, Measure, Place, STANDARD_ERRORS, Unit};
use crate::allocations::{AllocationReport, By, Row, SiteNames, Subject};
use crate::cpu::{CpuBy, CpuReport, CpuSubject};
use crate::execution::{CallBy, CallSubject, ExecutionReport};
use crate::heap_dump::ClassRow;
use crate::locks::{LockBy, LockReport, LockSubject};

fn amount(value: u64, error: u64) -> Amount {
    Amount { value: value as f64, variance: (error as f64 / STANDARD_ERRORS).powi(2) }
}

/// The place and the class of a row by sites.
fn site(row: &Row<'_>, unit: Unit) -> (Place, String) {
    match row.subject {
        Subject::Site { class, at: Some(at) } => (Place::of(at, unit), class.to_owned()),
        Subject::Site { class, at: None } => (Place::default(), class.to_owned()),
        Subject::Removed(class) | Subject::Uncounted(class) => {
            (Place::named(&row.subject.to_string()), class.unwrap_or_default().to_owned())
        }
        other => (Place::named(&other.to_string()), String::new()),
    }
}

impl Ledger {
    /// The bytes and the objects that were allocated, by the code that the names tell; none if the trace has no allocations.
    pub fn of_allocations(report: &AllocationReport, names: &SiteNames, unit: Unit) -> Vec<Ledger> {
        if !report.has_objects() {
            return Vec::new();
        }
        let (mut bytes, mut objects) = (Ledger::new(Measure::Bytes), Ledger::new(Measure::Objects));
        for row in report.rows_named(By::Site, names, |_| true) {
            let (place, of) = site(&row, unit);
            let (total, error) = (row.totals.total_bytes(), row.error.unwrap_or_default());
            // How many objects there are is known as well as how large they are.
            let relative = if total > 0 { error as f64 / total as f64 } else { 0.0 };
            let number = row.totals.total();
            objects.add(place.clone(), &of, amount(number, (number as f64 * relative).round() as u64));
            bytes.add(place, &of, amount(total, error));
        }
        vec![bytes, objects]
    }

    /// The bytes of the objects that lived at the end, by class; none if the trace does not say.
    pub fn of_living(report: &AllocationReport, names: &SiteNames) -> Vec<Ledger> {
        let mut live = Ledger::new(Measure::Live);
        for row in report.rows_named(By::Class, names, |_| true) {
            let bytes = row.totals.live_bytes();
            if bytes > 0 {
                live.add(Place::named(&row.subject.to_string()), "", amount(bytes, row.totals.live_error()));
            }
        }
        if live.is_empty() { Vec::new() } else { vec![live] }
    }

    /// The bytes and the objects that each thread allocated, as far as the agent or the JVM says exactly; none if it does not.
    pub fn of_threads(report: &AllocationReport) -> Vec<Ledger> {
        let (mut bytes, mut objects) = (Ledger::new(Measure::Bytes), Ledger::new(Measure::Objects));
        for account in report.accounts() {
            bytes.add(Place::named(account.thread.name), "", amount(account.bytes, 0));
            objects.add(Place::named(account.thread.name), "", amount(account.instances, 0));
        }
        if bytes.is_empty() { Vec::new() } else { vec![bytes, objects] }
    }

    /// CPU time of each thread; none without samples.
    pub fn of_cpu_of_threads(report: &CpuReport, names: &SiteNames) -> Vec<Ledger> {
        let mut cpu = Ledger::new(Measure::Cpu);
        for row in report.rows(CpuBy::Thread, names) {
            cpu.add(Place::named(&row.subject.to_string()), "", amount(row.time.0, row.error.0));
        }
        if cpu.is_empty() { Vec::new() } else { vec![cpu] }
    }

    /// The bytes that a heap dump holds, by class, and those that each class keeps alive.
    pub fn of_dump(classes: &[ClassRow]) -> Vec<Ledger> {
        let (mut live, mut retained) = (Ledger::new(Measure::Live), Ledger::new(Measure::Retained));
        for row in classes {
            live.add(Place::named(&row.class), "", amount(row.shallow, 0));
            retained.add(Place::named(&row.class), "", amount(row.retained, 0));
        }
        vec![live, retained]
    }

    /// CPU time by the code that the names tell; none without samples.
    pub fn of_cpu(report: &CpuReport, names: &SiteNames, unit: Unit) -> Vec<Ledger> {
        let mut cpu = Ledger::new(Measure::Cpu);
        for row in report.rows(CpuBy::Line, names) {
            let place = match row.subject {
                CpuSubject::Line(at) => Place::of(at, unit),
                other => Place::named(&other.to_string()),
            };
            if row.time > Nanos(0) {
                cpu.add(place, "", amount(row.time.0, row.error.0));
            }
        }
        if cpu.is_empty() { Vec::new() } else { vec![cpu] }
    }

    /// How often methods were called and how long they took by themselves; none if the trace has no calls.
    pub fn of_calls(report: &ExecutionReport, unit: Unit) -> Vec<Ledger> {
        let (mut calls, mut time) = (Ledger::new(Measure::Calls), Ledger::new(Measure::Time));
        for row in report.rows(CallBy::Method) {
            let CallSubject::Method(at) = row.subject else { continue };
            let place = Place::of(at, unit);
            calls.add(place.clone(), "", amount(row.calls, 0));
            time.add(place, "", amount(row.base.0, 0));
        }
        if calls.is_empty() { Vec::new() } else { vec![calls, time] }
    }

    /// How long and how often threads waited for locks that others owned, by where they waited; none if there was no such wait.
    pub fn of_locks(report: &LockReport, unit: Unit) -> Vec<Ledger> {
        let (mut blocked, mut waits) = (Ledger::new(Measure::Blocked), Ledger::new(Measure::Waits));
        for row in report.rows(LockBy::Site, false) {
            let LockSubject::Site { class, at } = row.subject else { continue };
            let place = at.map_or_else(Place::default, |at| Place::of(at, unit));
            let of = class.unwrap_or_default();
            if row.contended.count() > 0 {
                let (total, error) = match &row.estimate {
                    Some(estimate) => (estimate.total.0, estimate.error.0),
                    None => (row.contended.total().0, 0),
                };
                waits.add(place.clone(), of, amount(row.contended.count(), 0));
                blocked.add(place, of, amount(total, error));
            }
        }
        if waits.is_empty() { Vec::new() } else { vec![blocked, waits] }
    }
}
