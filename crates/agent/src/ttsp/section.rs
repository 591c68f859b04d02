//! Writes what was seen of safepoints.

use std::borrow::Cow;

use trace::model::{LateThread, Record, Safepoint, SafepointCount};

use super::{Report, Safepoints, Stop, Totals};
use agent_base::clock::Ticks;
use agent_base::ids::ThreadIndex;
use agent_trace::{Count, Document, Section};

/// Writes what was seen of safepoints.
pub(super) struct SafepointSection(pub(super) &'static Safepoints);

impl Section for SafepointSection {
    fn turn(&mut self, document: &mut Document) {
        if document.is_full() {
            return;
        }
        for report in self.0.take_reports() {
            match report {
                Report::Totals(totals, ticks) => safepoint_totals(document, &totals, ticks),
                Report::Stop(stop) => slow_safepoint(document, &stop),
                Report::Late(late) => self.late_thread(document, &late),
            }
        }
    }

    fn thread_ends(&mut self, document: &mut Document, _ticks: Ticks, _thread: ThreadIndex) {
        // Nothing of it comes behind its end.
        self.turn(document);
    }

    fn counts(&mut self, _document: &Document) -> Vec<Count> {
        let spending = &self.0.spending;
        let longest = format!("at least each {} ms", spending.longest().0 / 1_000_000);
        vec![("ttsp.widened", Some(longest), spending.widened().0), ("ttsp.spent", None, spending.spent().0)]
    }
}

impl SafepointSection {
    fn late_thread(&self, document: &mut Document, late: &super::LateThread) {
        if document.has_ended(late.thread) {
            // How late it was became known too late.
            return document.core.count_lost("late threads that have ended", 1);
        }
        document.define_thread(late.thread);
        let Some(thread) = document.core.jvm.threads.get(late.thread).map(|record| record.id) else { return };
        let walker = self.0.walker();
        let frames = late.frames.as_ref().ok().zip(walker);
        let stack = frames.and_then(|(frames, walker)| document.walked_stack(walker, frames));
        let function = late.pc.and_then(|pc| document.native_function(pc));
        let element = LateThread {
            thread,
            time: document.core.clock.time(late.time),
            late: late.late,
            stack,
            function,
            lost: late.frames.as_ref().err().map(|why| Cow::Borrowed(*why)),
        };
        document.emit(|out| element.write(out));
    }
}

fn safepoint_totals(document: &mut Document, Totals(totals): &Totals, ticks: Ticks) {
    let time = document.time(ticks);
    for (operation, totals) in totals {
        let operation = operation.as_deref().map(Cow::Borrowed);
        let element = SafepointCount { operation, count: totals.count, sync: totals.sync, total: totals.total, time };
        document.emit(|out| element.write(out));
    }
}

fn slow_safepoint(document: &mut Document, stop: &Stop) {
    let element = Safepoint {
        operation: Some(Cow::Borrowed(&stop.operation)),
        time: document.core.clock.time(stop.begin),
        sync: stop.sync,
        total: Some(stop.total),
    };
    document.emit(|out| element.write(out));
}
