//! Writes what was seen of safepoints.

use std::borrow::Cow;

use trace::model::{LateThread, Record, Safepoint, SafepointCount};

use super::writer::Writer;
use crate::ttsp::{self, Report, Stop, Totals};
use agent_base::clock::Ticks;

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
        if self.defined.ended.contains(late.thread.0) {
            // How late it was became known too late.
            return self.core.count_lost("late threads that have ended", 1);
        }
        self.define_thread(late.thread);
        let Some(thread) = self.core.jvm.threads.get(late.thread).map(|record| record.id) else { return };
        let walker = self.features.safepoints.and_then(|safepoints| safepoints.walker());
        let frames = late.frames.as_ref().ok().zip(walker);
        let stack = frames.and_then(|(frames, walker)| self.walked_stack(walker, frames));
        let function = late.pc.and_then(|pc| self.native_function(pc));
        let element = LateThread {
            thread,
            time: self.core.clock.time(late.time),
            late: late.late,
            stack,
            function,
            lost: late.frames.as_ref().err().map(|why| Cow::Borrowed(*why)),
        };
        self.text.emit(|out| element.write(out));
    }
}
