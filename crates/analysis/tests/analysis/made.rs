//! Elements of made-up traces that define what others refer to.

use std::borrow::Cow;

use proptest::sample::Index;
use trace::ids::{ClassId, FunctionId, MethodId, StackId, ThreadId};
use trace::model::{
    AgentCreate, ClassDef, Element, Frame, Frames, FunctionDef, MethodDef, StackDef, ThreadKind, ThreadStart,
};
use trace::reader::{Event, TraceReader};
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

/// A text with some of its bytes changed, and cut off.
pub(crate) fn damaged(text: &str, edits: &[(Index, u8)], cut: Index) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for (index, byte) in edits {
        let at = index.index(bytes.len());
        bytes[at] = *byte;
    }
    bytes.truncate(cut.index(bytes.len()) + 1);
    bytes
}

/// A trace of which every number is replaced, so that ids clash, times run back and sizes explode, but for the attributes that have a
/// smaller range: elements with others would not be read. Numbers end with one of some characters.
pub(crate) fn with_numbers(
    trace: &str,
    numbers: &mut impl Iterator<Item = u64>,
    kept: [&str; 2],
    ends: &[char],
) -> String {
    let body = &trace[trace.find("<threadStart").unwrap()..];
    let mut text = String::from("<TRACE>");
    for (index, piece) in body.split("=\"").enumerate() {
        if index > 0 {
            text.push_str("=\"");
        }
        let digits = piece.bytes().take_while(u8::is_ascii_digit).count();
        let is_kept = kept.iter().any(|name| text.ends_with(&format!("{name}=\"")));
        if !is_kept && digits > 0 && piece[digits..].starts_with(ends) {
            text.push_str(&numbers.next().unwrap().to_string());
            text.push_str(&piece[digits..]);
        } else {
            text.push_str(piece);
        }
    }
    text
}

/// Reads a trace as far as that goes; `None` is the end of a document.
pub(crate) fn read(bytes: &[u8], mut take: impl FnMut(Option<&Element<'_>>)) {
    let Ok(mut reader) = TraceReader::new(bytes) else { return };
    loop {
        match reader.next_event() {
            Ok(Some(Event::Element { element, .. })) => take(Some(&element)),
            Ok(Some(Event::DocumentEnd(_))) => take(None),
            Ok(None) => break,
            Ok(Some(Event::DocumentStart { .. })) | Err(_) => {}
        }
    }
}
