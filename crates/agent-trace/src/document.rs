//! The trace that is being written: its text, its times, and what has been defined in it. Threads, classes, methods and stacks are
//! defined in front of the first element that refers to them.

use std::borrow::Cow;

use trace::ids::{ClassId, MethodId, ObjectId, StackId, ThreadId};
use trace::model::{ArrayCode, ClassDef, Frame, Frames, MethodDef, Record, StackDef, ThreadStart};
use trace::time::Time;

use super::tallies::Tallies;
use super::text::Text;
use super::walked::Walked;
use agent_base::clock::Ticks;
use agent_base::ids::{AllocationSite, ClassIndex, MethodIndex, StackIndex, ThreadIndex};
use agent_base::tables::threads::ThreadNames;
use agent_core::core::Core;
use agent_core::stacks::StackRecord;

/// The trace of a recording, up to what has been written.
pub struct Document {
    /// The recording.
    pub core: &'static Core,
    pub(super) text: Text,
    pub(super) tallies: Tallies,
    /// What was defined for stacks that the walker found.
    pub(super) walked: Walked,
    threads: Defined,
    /// Threads whose `threadEnd` has been written: the VM may still have them as objects.
    ended: Defined,
    classes: Defined,
    methods: Defined,
    stacks: Defined,
    /// No element is written with an earlier time.
    last: Time,
}

impl Document {
    pub(super) fn new(core: &'static Core, text: Text) -> Document {
        Document {
            core,
            text,
            tallies: Tallies::default(),
            walked: Walked::default(),
            threads: Defined::default(),
            ended: Defined::default(),
            classes: Defined::default(),
            methods: Defined::default(),
            stacks: Defined::default(),
            last: core.clock.time(core.start),
        }
    }

    /// Writes one element.
    #[inline]
    pub fn emit(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.text.emit(write);
    }

    /// Whether the trace has reached its limit, so that nothing but its footer may come.
    pub fn is_full(&self) -> bool {
        self.text.is_full()
    }

    /// Whether a limited trace has less than half of its room left.
    pub fn is_half_full(&self) -> bool {
        self.text.is_half_full()
    }

    /// Whether the file could not be written.
    pub fn has_failed(&self) -> bool {
        self.text.has_failed()
    }

    /// The time of the next element.
    pub fn time(&mut self, ticks: Ticks) -> Time {
        self.last = self.last.max(self.core.clock.time(ticks));
        self.last
    }

    /// Sets what a source that pushes no events has counted on a platform thread, and writes it with what the JVM accounts to it.
    pub fn counted(&mut self, thread: ThreadIndex, instances: u64, bytes: u64, ticks: Ticks, vm_bytes: Option<u64>) {
        self.tallies.set(thread, instances, bytes);
        self.account(thread, ticks, vm_bytes);
    }

    /// Writes what was reported of a thread until now, and what the JVM accounts to it.
    pub(super) fn account(&mut self, thread: ThreadIndex, ticks: Ticks, vm_bytes: Option<u64>) {
        let Some(record) = self.core.jvm.threads.get(thread) else { return };
        let time = self.time(ticks);
        if let Some(element) = self.tallies.account(thread, record.id, vm_bytes, time) {
            self.define_thread(thread);
            self.emit(|out| element.write(out));
        }
    }

    /// Whether the end of a thread has been written.
    pub fn has_ended(&self, thread: ThreadIndex) -> bool {
        self.ended.contains(thread.0)
    }

    /// The end of a thread is written now.
    pub(super) fn end_thread(&mut self, thread: ThreadIndex) {
        self.ended.first(thread.0);
        self.tallies.end(thread);
    }

    /// Whether a thread has been defined.
    pub(super) fn has_thread(&self, thread: ThreadIndex) -> bool {
        self.threads.contains(thread.0)
    }

    /// The id of a thread, which is defined if it is new.
    pub fn thread_id(&mut self, thread: ThreadIndex) -> ThreadId {
        self.define_thread(thread);
        self.core.jvm.threads.get(thread).map_or(ThreadId(0), |record| record.id)
    }

    /// The id of a stack, which is defined if it is new; `None` for no stack.
    pub fn stack(&mut self, index: StackIndex) -> Option<StackId> {
        self.define_stack(index).map(|stack| stack.id)
    }

    /// A stack, which is defined if it is new; `None` for no stack.
    pub(crate) fn define_stack(&mut self, index: StackIndex) -> Option<&'static StackRecord> {
        let stack = self.core.jvm.stacks.get(index)?;
        if self.stacks.first(index.0) {
            for frame in &stack.frames {
                self.define_method(frame.method);
            }
            let frames: Vec<Frame> = stack
                .frames
                .iter()
                .filter_map(|f| Some(Frame { method: self.core.jvm.methods.get(f.method)?.id, line: f.line }))
                .collect();
            let element = StackDef { stack_id: stack.id, frames: Frames(Cow::Owned(frames)), types: None };
            self.emit(|out| element.write(out));
        }
        Some(stack)
    }

    /// Method and line of an allocation.
    pub(crate) fn site(&mut self, index: StackIndex) -> Option<(MethodId, Option<i64>)> {
        if !self.core.options.allocsites {
            return None;
        }
        let site = self.core.jvm.stacks.get(index)?.frames.first()?;
        self.define_method(site.method);
        let line = (site.line > 0).then_some(i64::from(site.line));
        Some((self.core.jvm.methods.get(site.method)?.id, line))
    }

    /// Defines a thread if it is new.
    pub fn define_thread(&mut self, index: ThreadIndex) {
        if !self.threads.first(index.0) {
            return;
        }
        let Some(record) = self.core.jvm.threads.get(index) else { return };
        let unnamed = ThreadNames::default();
        let names = record.names.get().unwrap_or(&unnamed);
        let element = ThreadStart {
            thread_id: record.id,
            // Not that of the first element that refers to it, which may be its end.
            time: self.core.clock.time(record.started),
            thread_name: Cow::Borrowed(&names.name),
            group_name: Cow::Borrowed(&names.group),
            parent_name: Cow::Borrowed(&names.parent),
            object: Some(ObjectId(0)),
            kind: None,
        };
        self.emit(|out| element.write(out));
    }

    /// Defines a class if it is new.
    pub fn define_class(&mut self, index: ClassIndex) {
        if !self.classes.first(index.0) {
            return;
        }
        let Some(record) = self.core.jvm.classes.get(index) else { return };
        let element = ClassDef {
            thread: None,
            name: Cow::Borrowed(&record.name),
            source_name: Some(Cow::Borrowed(&record.source)),
            class_id: record.id,
            object: None,
            time: self.core.clock.time(record.loaded),
            module: record.module.as_deref().map(Cow::Borrowed),
        };
        self.emit(|out| element.write(out));
    }

    /// Defines a method, and its class, if it is new.
    pub(crate) fn define_method(&mut self, index: MethodIndex) {
        if !self.methods.first(index.0) {
            return;
        }
        let Some(record) = self.core.jvm.methods.get(index) else { return };
        self.define_class(record.class);
        let Some(class) = self.core.jvm.classes.get(record.class) else { return };
        let (start, end) = record.line_range().unzip();
        let element = MethodDef {
            name: Cow::Borrowed(trace::names::method_name(&record.name)),
            signature: Cow::Borrowed(&record.signature),
            start_line: start.map(i64::from),
            end_line: end.map(i64::from),
            method_id: record.id,
            class: class.id,
        };
        self.emit(|out| element.write(out));
    }

    /// Defines what a site refers to.
    pub fn define_site(&mut self, site: AllocationSite) -> Option<DefinedSite> {
        let AllocationSite { class, location } = site;
        self.define_class(class);
        let class = self.core.jvm.classes.get(class)?;
        if let Some(location) = location {
            self.define_method(location.method);
        }
        let method = location.and_then(|location| self.core.jvm.methods.get(location.method));
        let line = location.filter(|location| location.line > 0).map(|location| i64::from(location.line));
        Some(DefinedSite { is_array: class.array, class: class.id, method: method.map(|method| method.id), line })
    }
}

/// A site as elements name it.
pub struct DefinedSite {
    /// Whether it is an array, and of what.
    pub is_array: ArrayCode,
    /// The class of its objects.
    pub class: ClassId,
    /// The method that allocates; `None` if they are made at no site.
    pub method: Option<MethodId>,
    /// The line; `None` if it is not known.
    pub line: Option<i64>,
}

/// Which entries of a table have been defined in the trace.
#[derive(Default)]
struct Defined(Vec<bool>);

impl Defined {
    /// Marks an entry as defined; true if it was not.
    fn first(&mut self, index: u32) -> bool {
        let index = index as usize;
        if index >= self.0.len() {
            self.0.resize((index + 1).next_power_of_two(), false);
        }
        !std::mem::replace(&mut self.0[index], true)
    }

    fn contains(&self, index: u32) -> bool {
        self.0.get(index as usize).copied().unwrap_or(false)
    }
}
