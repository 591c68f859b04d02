//! Writes what was seen of the start.

use std::borrow::Cow;

use trace::model::{ClassInit, CodeDiscarded, Compilation, Flag, JvmCounter, Record};

use super::WarmUp;
use super::report::{Code, Initialiser, Report};
use agent_trace::{Count, Document, Section};
use std::sync::atomic::Ordering;

/// Writes what was seen of the start.
pub(super) struct WarmUpSection(pub(super) &'static WarmUp);

impl Section for WarmUpSection {
    fn turn(&mut self, document: &mut Document) {
        if document.is_full() {
            return;
        }
        for report in self.0.reports.take() {
            match report {
                Report::Initialiser(initialiser) => self.initialiser(document, &initialiser),
                Report::Compilation(code, begun, took) => {
                    let Code { id, method, tier, is_osr, bytes } = code;
                    let (method, osr) = (Cow::Owned(method.into()), is_osr.then_some(Flag::Yes));
                    let time = document.core.clock.time(begun);
                    let (id, bytes) = (id.into(), bytes.map(u64::from));
                    let element = Compilation { id, method, tier, osr, bytes, time, took };
                    document.emit(|out| element.write(out));
                }
                Report::Discarded(code, ticks, why) => {
                    let Code { id, method, tier, is_osr, .. } = code;
                    let (method, osr) = (Cow::Owned(method.into()), is_osr.then_some(Flag::Yes));
                    let time = document.core.clock.time(ticks);
                    let reason = why.as_deref().map(Cow::Borrowed);
                    let element = CodeDiscarded { id: id.into(), method, tier, osr, reason, time };
                    document.emit(|out| element.write(out));
                }
                Report::Counters(counters, ticks) => {
                    let time = document.core.clock.time(ticks);
                    for (name, &value) in &counters {
                        document.emit(|out| JvmCounter { name: Cow::Borrowed(name), value, time }.write(out));
                    }
                }
            }
        }
    }

    fn counts(&mut self, _document: &Document) -> Vec<Count> {
        vec![("warmup.widened", None, self.0.widened.load(Ordering::Relaxed))]
    }
}

impl WarmUpSection {
    fn initialiser(&self, document: &mut Document, initialiser: &Initialiser) {
        let thread = initialiser.thread.and_then(|thread| {
            document.define_thread(thread);
            document.core.jvm.threads.get(thread).map(|record| record.id)
        });
        let walker = *self.0.walker.lock();
        let frames = initialiser.stack.as_ref().ok().zip(walker);
        let stack = frames.and_then(|(frames, walker)| document.walked_stack(walker, frames));
        let element = ClassInit {
            class: Cow::Borrowed(&initialiser.class),
            thread,
            time: document.core.clock.time(initialiser.begun),
            took: initialiser.total,
            running: initialiser.runs_on.then_some(Flag::Yes),
            stack,
            lost: initialiser.stack.as_ref().err().map(|why| Cow::Borrowed(*why)),
        };
        document.emit(|out| element.write(out));
    }
}
