//! Defines threads, classes, methods and stacks in the trace, each in front of the first element that refers to it.

use std::borrow::Cow;

use trace::ids::{MethodId, ObjectId, StackId};
use trace::model::{ClassDef, Frame, Frames, MethodDef, Record, StackDef, ThreadStart};

use super::writer::Writer;
use agent_base::ids::{ClassIndex, MethodIndex, StackIndex, ThreadIndex};
use agent_base::tables::threads::ThreadNames;
use agent_core::stacks::StackRecord;

impl Writer {
    /// The id of a stack, which is defined if it is new; `None` for no stack.
    pub(super) fn stack(&mut self, index: StackIndex) -> Option<StackId> {
        self.define_stack(index).map(|stack| stack.id)
    }

    /// A stack, which is defined if it is new; `None` for no stack.
    pub(super) fn define_stack(&mut self, index: StackIndex) -> Option<&'static StackRecord> {
        let stack = self.core.jvm.stacks.get(index)?;
        if self.defined.stacks.first(index.0) {
            for frame in &stack.frames {
                self.define_method(frame.method);
            }
            let frames: Vec<Frame> = stack
                .frames
                .iter()
                .filter_map(|f| Some(Frame { method: self.core.jvm.methods.get(f.method)?.id, line: f.line }))
                .collect();
            let element = StackDef { stack_id: stack.id, frames: Frames(Cow::Owned(frames)), types: None };
            self.text.emit(|out| element.write(out));
        }
        Some(stack)
    }

    /// Method and line of an allocation.
    pub(super) fn site(&mut self, index: StackIndex) -> Option<(MethodId, Option<i64>)> {
        if !self.core.options.allocsites {
            return None;
        }
        let site = self.core.jvm.stacks.get(index)?.frames.first()?;
        self.define_method(site.method);
        let line = (site.line > 0).then_some(i64::from(site.line));
        Some((self.core.jvm.methods.get(site.method)?.id, line))
    }

    pub(super) fn define_thread(&mut self, index: ThreadIndex) {
        if !self.defined.threads.first(index.0) {
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
        self.text.emit(|out| element.write(out));
    }

    pub(super) fn define_class(&mut self, index: ClassIndex) {
        if !self.defined.classes.first(index.0) {
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
        self.text.emit(|out| element.write(out));
    }

    pub(super) fn define_method(&mut self, index: MethodIndex) {
        if !self.defined.methods.first(index.0) {
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
        self.text.emit(|out| element.write(out));
    }
}
