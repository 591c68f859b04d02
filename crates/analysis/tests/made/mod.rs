//! Elements of made-up traces that define what others refer to.

#![allow(dead_code, reason = "each test program uses its own part")]

use std::borrow::Cow;

use trace::ids::{ClassId, FunctionId, MethodId, StackId, ThreadId};
use trace::model::{
    AgentCreate, ClassDef, Element, Frame, Frames, FunctionDef, MethodDef, StackDef, ThreadKind, ThreadStart,
};
use trace::time::Time;

/// The agent, with these options.
pub(crate) fn agent(parameters: &'static str) -> Element<'static> {
    Element::AgentCreate(AgentCreate {
        agent_id: "".into(),
        version: "".into(),
        process_id: "".into(),
        agent_name: "".into(),
        agent_type: "".into(),
        agent_parameters: parameters.into(),
        time: Time(0),
        imported_from: None,
    })
}

/// A class.
pub(crate) fn class(id: u64, name: impl Into<Cow<'static, str>>) -> Element<'static> {
    Element::ClassDef(ClassDef {
        thread: None,
        name: name.into(),
        source_name: None,
        class_id: ClassId(id),
        object: None,
        time: Time(0),
        module: None,
    })
}

/// A method without arguments of a class.
pub(crate) fn method(id: u64, class: u64, name: impl Into<Cow<'static, str>>) -> Element<'static> {
    Element::MethodDef(MethodDef {
        name: name.into(),
        signature: "()V".into(),
        start_line: None,
        end_line: None,
        method_id: MethodId(id),
        class: ClassId(class),
    })
}

/// A stack: its methods and lines, innermost first.
pub(crate) fn stack(id: u64, frames: impl IntoIterator<Item = (u64, u32)>) -> StackDef<'static> {
    let frame = |(method, line)| Frame { method: MethodId(method), line };
    StackDef { stack_id: StackId(id), frames: Frames(frames.into_iter().map(frame).collect()), types: None }
}

/// A thread.
pub(crate) fn thread(id: u64, name: impl Into<Cow<'static, str>>, kind: Option<ThreadKind>) -> Element<'static> {
    Element::ThreadStart(ThreadStart {
        thread_id: ThreadId(id),
        time: Time(0),
        thread_name: name.into(),
        group_name: "main".into(),
        parent_name: "system".into(),
        object: None,
        kind,
    })
}

/// A function of native code.
pub(crate) fn function(id: u64, name: &'static str, library: &'static str) -> Element<'static> {
    Element::FunctionDef(FunctionDef { function_id: FunctionId(id), name: name.into(), library: Some(library.into()) })
}
