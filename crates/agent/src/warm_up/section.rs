//! Writes what was seen of the start.

use std::borrow::Cow;
use std::sync::atomic::Ordering;

use trace::model::{
    ClassArchive, ClassInit, ClassLoad, CodeDiscarded, Compilation, FailedLookup, Flag, JvmCounter, Record,
};
use trace::time::Time;

use super::WarmUp;
use super::archive::Archive;
use super::report::{Code, Initialiser, Report};
use agent_base::clock::Ticks;
use agent_base::ids::ThreadIndex;
use agent_trace::{Count, Document, Section};

/// Writes what was seen of the start.
pub(super) struct WarmUpSection {
    warm_up: &'static WarmUp,
    /// When failed look-ups were written last.
    written: Ticks,
}

/// Failed look-ups are written so often.
const EACH: u64 = 1_000_000_000;

impl Section for WarmUpSection {
    fn turn(&mut self, document: &mut Document) {
        if document.is_full() {
            return;
        }
        if Ticks::now().0.saturating_sub(self.written.0) >= EACH {
            self.written = Ticks::now();
            let now = document.time(Ticks::now());
            self.failed_lookups(document, now);
        }
        for report in self.warm_up.reports.take() {
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
                Report::Load(class, source, ticks) => {
                    let (class, source) = (Cow::Owned(class.into()), Cow::Owned(source.into()));
                    let time = document.core.clock.time(ticks);
                    document.emit(|out| ClassLoad { class, source, time }.write(out));
                }
                Report::Archive(Archive { file, refusal }, ticks) => {
                    let used = refusal.is_none().then_some(Flag::Yes);
                    let (refusal, detail) = refusal.unzip();
                    let detail = detail.filter(|detail| !detail.is_empty()).map(|detail| Cow::Owned(detail.into()));
                    let (file, time) = (Cow::Owned(file.into()), document.core.clock.time(ticks));
                    document.emit(|out| ClassArchive { file, time, used, refusal, detail }.write(out));
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

    fn thread_ends(&mut self, document: &mut Document, _: Ticks, _: ThreadIndex) {
        // Nothing of it comes behind its end.
        self.turn(document);
    }

    fn sums(&mut self, document: &mut Document, time: Time) {
        self.failed_lookups(document, time);
    }

    fn counts(&mut self, _document: &Document) -> Vec<Count> {
        let exceptions = &self.warm_up.exceptions;
        vec![
            ("classes.redefined", None, self.warm_up.core.rewriting.redefined()),
            ("exceptions.made", None, exceptions.made()),
            ("exceptions.notFound", None, exceptions.failed()),
            ("warmup.widened", None, self.warm_up.widened.load(Ordering::Relaxed)),
        ]
    }
}

impl WarmUpSection {
    pub(super) fn new(warm_up: &'static WarmUp) -> WarmUpSection {
        WarmUpSection { warm_up, written: Ticks::now() }
    }

    /// Writes how many look-ups have failed at each place, where they have become more.
    fn failed_lookups(&self, document: &mut Document, time: Time) {
        for (stack, count) in self.warm_up.exceptions.changed() {
            let stack = document.stack(stack);
            document.emit(|out| FailedLookup { count, stack, time }.write(out));
        }
    }

    fn initialiser(&self, document: &mut Document, initialiser: &Initialiser) {
        // Of a thread that has ended nothing may come any more.
        let thread = initialiser.thread.filter(|&thread| !document.has_ended(thread)).and_then(|thread| {
            document.define_thread(thread);
            document.core.jvm.threads.get(thread).map(|record| record.id)
        });
        let walker = self.warm_up.walker.get().copied();
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
