//! What happened, as events of their types.

use trace::time::Time;

use super::chunk;
use super::constants::{AFTER, RUNNABLE, checkpoint};
use super::encode::{event, flag, number, text};
use super::metadata::metadata;
use super::types::{
    ALLOCATION, CLASS_DEFINE, COLLECTION, COMPILATION, EXECUTION_SAMPLE, HEAP_SUMMARY, MONITOR_ENTER, MONITOR_WAIT,
    PAUSE, THREAD_END, THREAD_PARK, THREAD_SLEEP, THREAD_START,
};
use crate::recorder::waits::WaitKind;
use crate::recorder::{CompilationEvent, Event, Recording, WaitEvent};

/// Events that are being written, all of which begin with their time.
struct Events {
    begin: Time,
    bytes: Vec<u8>,
    collections: u64,
}

impl Events {
    fn write(&mut self, kind: u64, time: Time, rest: impl FnOnce(&mut Vec<u8>)) {
        let mut body = Vec::new();
        number(&mut body, time.since(self.begin).0);
        rest(&mut body);
        event(&mut self.bytes, kind, &body);
    }

    fn numbers<const N: usize>(&mut self, kind: u64, time: Time, numbers: [u64; N]) {
        self.write(kind, time, |body| numbers.into_iter().for_each(|value| number(body, value)));
    }

    fn event(&mut self, event: &Event) {
        match *event {
            Event::ThreadStart { thread, time } => self.numbers(THREAD_START, time, [thread, thread]),
            Event::ThreadEnd { thread, time } => self.numbers(THREAD_END, time, [thread, thread]),
            Event::Wait(ref wait) => self.wait(wait),
            Event::Sample { thread, time, cpu, stack } => {
                self.numbers(EXECUTION_SAMPLE, time, [thread, stack, RUNNABLE, cpu.0]);
            }
            Event::Collection { since, until, used } => self.collection(since, until, used),
            Event::Compilation(ref compilation) => self.compilation(compilation),
            Event::ClassLoad { class, time } => self.numbers(CLASS_DEFINE, time, [class]),
            // The format has no such events.
            Event::Initialiser(_) | Event::Request(_) => {}
        }
    }

    fn wait(&mut self, wait: &WaitEvent) {
        let kind = match wait.kind {
            WaitKind::Blocked => MONITOR_ENTER,
            WaitKind::Waiting => MONITOR_WAIT,
            WaitKind::Parked => THREAD_PARK,
            WaitKind::Sleeping => THREAD_SLEEP,
        };
        self.write(kind, wait.since, |body| {
            [wait.length.0, wait.thread, wait.stack].into_iter().for_each(|value| number(body, value));
            match wait.kind {
                WaitKind::Sleeping => {}
                WaitKind::Parked => number(body, wait.class),
                WaitKind::Blocked => [wait.class, wait.owner].into_iter().for_each(|value| number(body, value)),
                WaitKind::Waiting => {
                    number(body, wait.class);
                    flag(body, wait.timed_out);
                }
            }
        });
    }

    fn compilation(&mut self, compilation: &CompilationEvent) {
        let CompilationEvent { id, method, since, until, is_osr, .. } = *compilation;
        self.write(COMPILATION, since, |body| {
            [until.since(since).0, id].into_iter().for_each(|value| number(body, value));
            text(body, compilation.compiler());
            [method, compilation.level()].into_iter().for_each(|value| number(body, value));
            flag(body, is_osr);
        });
    }

    fn collection(&mut self, since: Time, until: Time, used: Option<u64>) {
        let (id, length) = (self.collections, until.since(since).0);
        self.collections += 1;
        self.numbers(COLLECTION, since, [length, id, length, length]);
        self.write(PAUSE, since, |body| {
            [length, id].into_iter().for_each(|value| number(body, value));
            text(body, "GC Pause");
        });
        if let Some(used) = used {
            self.numbers(HEAP_SUMMARY, until, [id, AFTER, used]);
        }
    }
}

/// A flight recording.
pub fn jfr(recording: &Recording) -> Vec<u8> {
    let (begin, end) = (recording.begin, recording.end);
    let mut events = Events { begin, bytes: Vec::new(), collections: 0 };
    recording.events.iter().for_each(|event| events.event(event));
    for allocation in &recording.allocations {
        events.numbers(ALLOCATION, end, [allocation.thread, allocation.stack, allocation.class, allocation.bytes]);
    }
    chunk(begin.0, end.since(begin).0, &events.bytes, &checkpoint(&recording.pools), &metadata())
}

#[cfg(test)]
mod tests {
    use analysis::call_tree::Label;
    use analysis::weighted::WeightedStack;
    use trace::ids::{ObjectId, ThreadId};
    use trace::model::{Element, MonContendedEnter, MonContendedEntered, TraceEnd, TraceStart};

    use super::*;
    use crate::profiles::Profiles;
    use crate::recorder::Recorder;

    #[test]
    fn waits_and_allocations_become_events_of_their_types() {
        let mut recorder = Recorder::new();
        let (thread, object) = (ThreadId(1), ObjectId(2));
        let (trace_id, agent_id) = ("t".into(), "a".into());
        recorder.element(&Element::TraceStart(TraceStart { trace_id, agent_id, time: Time(1000) }));
        let enter = |time| {
            let (owner, owner_object, stack, owner_stack, parked, look_interval) = Default::default();
            let time = Time(time);
            let enter = MonContendedEnter {
                thread,
                time,
                object,
                owner,
                owner_object,
                stack,
                owner_stack,
                parked,
                look_interval,
            };
            Element::MonContendedEnter(enter)
        };
        recorder.element(&enter(1100));
        let entered = MonContendedEntered { thread, time: Time(1150), object, parked: None };
        recorder.element(&Element::MonContendedEntered(entered));
        recorder.element(&enter(1160));
        recorder.element(&Element::TraceEnd(TraceEnd { time: Time(1200) }));
        recorder.end_document();
        let stack =
            WeightedStack { thread: None, class: Some("X"), frames: vec![Label::NoStack], count: 1, weight: 300 };
        let bytes = jfr(&recorder.finish(&Profiles { allocated: vec![stack], ..Profiles::default() }));
        // Size, type, start, length, thread, stack, class, owner; the second wait lasts until the end.
        let mut events = vec![8, 101, 100, 50, 1, 0, 0, 0, 9, 101, 160, 1, 40, 1, 0, 0, 0];
        // Of the allocation: size, type, time, thread, stack, class, bytes.
        events.extend([9, 100, 200, 1, 0, 1, 2, 172, 2]);
        assert_eq!(bytes[68..68 + events.len()], events);
    }
}
