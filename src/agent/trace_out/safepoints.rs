//! Writes what was seen of safepoints.

use std::borrow::Cow;

use trace::model::{LateThread, Record, Safepoint, SafepointCount};

use super::writer::Writer;
use crate::agent::clock::Ticks;
use crate::agent::ttsp::{self, Report, Stop, Totals};

impl Writer {
    /// Writes what is new.
    pub(super) fn safepoints(&mut self) {
        for report in self.features.safepoints.map(|safepoints| safepoints.take_reports()).unwrap_or_default() {
            match report {
                Report::Totals(totals, ticks) => self.safepoint_totals(&totals, ticks),
                Report::Stop(stop) => self.slow_safepoint(&stop),
                Report::Late(late) => self.late_thread(&late),
            }
        }
    }

    fn safepoint_totals(&mut self, Totals(totals): &Totals, ticks: Ticks) {
        let time = self.time(ticks);
        for (operation, totals) in totals {
            let operation = operation.as_deref().map(Cow::Borrowed);
            let element =
                SafepointCount { operation, count: totals.count, sync: totals.sync, total: totals.total, time };
            self.text.emit(|out| element.write(out));
        }
    }

    fn slow_safepoint(&mut self, stop: &Stop) {
        let element = Safepoint {
            operation: Some(Cow::Borrowed(&stop.operation)),
            time: self.core.clock.time(stop.begin),
            sync: stop.sync,
            total: Some(stop.total),
        };
        self.text.emit(|out| element.write(out));
    }

    fn late_thread(&mut self, late: &ttsp::LateThread) {
        self.define_thread(late.thread);
        let Some(record) = self.core.jvm.threads.get(late.thread) else { return };
        let element = LateThread {
            thread: record.id,
            time: self.core.clock.time(late.time),
            late: late.late,
            stack: None,
            function: None,
            lost: late.frames.as_ref().err().map(|why| Cow::Borrowed(*why)),
        };
        self.text.emit(|out| element.write(out));
    }
}
