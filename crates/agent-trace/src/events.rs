//! Turns events into elements.

use trace::ids::ObjectId;
use trace::model::{ObjAlloc, Record, RuntimeInitDone, ThreadEnd};

use super::source::EventSource;
use super::writer::Writer;
use agent_base::clock::Ticks;
use agent_base::events::event::{AllocationSize, Event};
use agent_base::ids::{ClassIndex, StackIndex};

impl Writer {
    #[inline]
    pub(super) fn event(&mut self, source: usize, ticks: Ticks, event: Event) {
        let document = &mut self.document;
        match event {
            Event::Alloc { object, class, size, stack } => self.alloc(source, ticks, object, class, size, stack),
            Event::Found { object, class, words } => self.found(ticks, object, class, words),
            Event::Switch(thread) => self.sources[source].thread = thread,
            Event::ThreadStart(thread) => document.define_thread(thread),
            Event::ThreadEnd(thread) => {
                document.define_thread(thread);
                self.sections.iter_mut().for_each(|section| section.thread_ends(document, ticks, thread));
                let time = document.time(ticks);
                if let Some(record) = document.core.jvm.threads.get(thread) {
                    document.emit(|out| ThreadEnd { thread: record.id, time }.write(out));
                }
                document.end_thread(thread);
            }
            Event::InitDone(thread) => {
                document.define_thread(thread);
                let time = document.time(ticks);
                if let Some(record) = document.core.jvm.threads.get(thread) {
                    document.emit(|out| RuntimeInitDone { thread: record.id, time }.write(out));
                }
            }
            Event::Account { thread, vm_bytes } => document.account(thread, ticks, vm_bytes),
            Event::Counted { thread, instances, bytes } => document.tallies.set(thread, instances, bytes),
            _ => {
                let source = self.sources[source].number;
                let is_one_of = self.sections.iter_mut().any(|section| section.event(document, source, ticks, event));
                debug_assert!(is_one_of, "no feature knows {event:?}");
            }
        }
    }

    /// Writes an object that was allocated unreported.
    fn found(&mut self, ticks: Ticks, object: ObjectId, class: ClassIndex, words: u32) {
        self.document.define_class(class);
        let Some(class) = self.core.jvm.classes.get(class) else { return };
        let element = ObjAlloc {
            thread: None,
            is_array: Some(class.array),
            size: u64::from(words) * 8,
            obj_id: object,
            class: class.id,
            method: None,
            line: None,
            stack: None,
            time: self.document.time(ticks),
        };
        self.document.emit(|out| element.write(out));
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
        self.document.define_thread(thread);
        self.document.define_class(class);
        let (Some(thread), Some(class)) = (self.core.jvm.threads.get(thread), self.core.jvm.classes.get(class)) else {
            return;
        };
        let size = match size {
            AllocationSize::Instance => class.instance_bytes(),
            AllocationSize::Array(length) => self.core.layout(class.array).map_or(0, |layout| layout.bytes(length)),
            AllocationSize::Words(words) => u64::from(words) * 8,
        };
        let site = self.document.site(stack);
        let depth = self.core.options.stack_depth;
        let stack = if depth > 0 { self.document.define_stack(stack) } else { None };
        self.full_stacks += u64::from(stack.is_some_and(|stack| stack.frames.len() >= depth));
        let time = self.document.time(ticks);
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
        self.document.emit(|out| element.write(out));
        self.document.tallies.add(tally, size);
    }
}
