//! Turns events into elements.

use trace::ids::ObjectId;
use trace::model::{Mark, ObjAlloc, Record, RuntimeInitDone, ThreadEnd};

use super::state::{EventSource, Limit};
use super::writer::Writer;
use agent_base::clock::Ticks;
use agent_base::events::event::{AllocationSize, Event};
use agent_base::ids::{ClassIndex, StackIndex, ThreadIndex};

impl Writer {
    #[inline]
    pub(super) fn event(&mut self, source: usize, ticks: Ticks, event: Event) {
        match event {
            Event::Alloc { object, class, size, stack } => {
                self.alloc(source, ticks, object, class, size, stack);
            }
            Event::Found { object, class, words } => self.found(ticks, object, class, words),
            Event::Owner { thread, stack } => self.sources[source].pending.owner = Some((thread, stack)),
            Event::Limit { millis, nanos } => self.sources[source].pending.limit = Some(Limit { millis, nanos }),
            Event::Enter { object, thread, stack, kind } => self.enter(source, ticks, object, thread, stack, kind),
            Event::Entered { object, thread } => self.entered(ticks, object, thread),
            Event::Wait { object, thread, stack, kind } => self.wait(source, ticks, object, thread, stack, kind),
            Event::Waited { object, thread, reason } => self.wait_over(ticks, object, thread, reason),
            Event::Unparked { thread, interrupted } => self.unparked(ticks, thread, interrupted),
            Event::Sleep { thread, stack } => self.sleep(ticks, thread, stack),
            Event::Slept(thread) => drop(self.close_sleep(ticks, thread)),
            Event::ProcessorTime { thread, cpu, queued } => self.processor_time(ticks, thread, cpu, queued),
            Event::Snapshot(number) => self.answer(ticks, number),
            Event::Mark { thread, mark } => self.mark(ticks, thread, mark),
            Event::Switch(thread) => self.sources[source].thread = thread,
            Event::ThreadStart(thread) => self.define_thread(thread),
            Event::ThreadEnd(thread) => {
                self.define_thread(thread);
                // Nothing of it comes behind its end.
                self.thread_samples();
                self.safepoints();
                self.close_all(ticks, thread);
                let time = self.time(ticks);
                self.samples_of(thread, time);
                if let Some(record) = self.core.jvm.threads.get(thread) {
                    self.text.emit(|out| ThreadEnd { thread: record.id, time }.write(out));
                }
                self.defined.ended.first(thread.0);
                self.locks.processors.remove(&thread.0);
                self.tallies.end(thread);
            }
            Event::InitDone(thread) => {
                self.define_thread(thread);
                let time = self.time(ticks);
                if let Some(record) = self.core.jvm.threads.get(thread) {
                    self.text.emit(|out| RuntimeInitDone { thread: record.id, time }.write(out));
                }
            }
            Event::Account { thread, vm_bytes } => self.account(thread, ticks, vm_bytes),
            Event::Counted { thread, instances, bytes } => self.tallies.set(thread, instances, bytes),
        }
    }

    fn mark(&mut self, ticks: Ticks, thread: ThreadIndex, mark: u32) {
        let Some(method) = self.core.options.marks.get(mark as usize) else { return };
        let (time, thread, method) = (self.time(ticks), self.thread_id(thread), method.to_string());
        self.text.emit(|out| Mark { method: method.into(), thread, time }.write(out));
    }

    /// Writes what was reported of a thread until now, and what the JVM accounts to it.
    pub(super) fn account(&mut self, thread: ThreadIndex, ticks: Ticks, vm_bytes: Option<u64>) {
        let Some(record) = self.core.jvm.threads.get(thread) else { return };
        let time = self.time(ticks);
        if let Some(element) = self.tallies.account(thread, record.id, vm_bytes, time) {
            self.define_thread(thread);
            self.text.emit(|out| element.write(out));
        }
    }

    #[inline]
    fn alloc(
        &mut self,
        source: usize,
        ticks: Ticks,
        object: ObjectId,
        class: ClassIndex,
        size: AllocationSize,
        stack: StackIndex,
    ) {
        let EventSource { tally, thread, .. } = self.sources[source];
        self.define_thread(thread);
        self.define_class(class);
        let (Some(thread), Some(class)) = (self.core.jvm.threads.get(thread), self.core.jvm.classes.get(class)) else {
            return;
        };
        let size = match size {
            AllocationSize::Instance => class.instance_bytes(),
            AllocationSize::Array(length) => self.core.layout(class.array).map_or(0, |layout| layout.bytes(length)),
            AllocationSize::Words(words) => u64::from(words) * 8,
        };
        let site = self.site(stack);
        let depth = self.core.options.stack_depth;
        let stack = if depth > 0 { self.define_stack(stack) } else { None };
        self.full_stacks += u64::from(stack.is_some_and(|stack| stack.frames.len() >= depth));
        let time = self.time(ticks);
        let element = ObjAlloc {
            thread: Some(thread.id),
            is_array: Some(class.array),
            size,
            obj_id: object,
            class: class.id,
            method: site.map(|s| s.0),
            line: site.and_then(|s| s.1),
            stack: stack.map(|stack| stack.id),
            time,
        };
        self.text.emit(|out| element.write(out));
        self.tallies.add(tally, size);
    }
}
