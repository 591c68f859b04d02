//! Frames as text.

use analysis::call_tree::Label;
use trace::names;

/// A frame as other tools show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame<'a> {
    /// Class and method, or what else it is.
    pub(crate) name: String,
    /// The JVM's descriptor; empty if there is none.
    pub(crate) signature: &'a str,
    /// The source file, or the library; empty if it is not known.
    pub(crate) file: &'a str,
    /// The line in it.
    pub(crate) line: Option<u32>,
}

impl<'a> Frame<'a> {
    pub(crate) fn of(label: &Label<'a>) -> Frame<'a> {
        match *label {
            Label::Line(at) => Frame {
                name: format!("{}.{}", at.class, names::jvm_method_name(at.method)),
                signature: at.signature,
                file: at.source,
                line: at.line,
            },
            Label::Function { name, library } => {
                Frame { name: name.to_owned(), signature: "", file: library, line: None }
            }
            other => Frame { name: other.to_string(), signature: "", file: "", line: None },
        }
    }
}

/// The name of a thread that has to be called somehow.
pub(crate) fn thread_name(name: Option<&str>) -> &str {
    match name {
        None => "(no thread)",
        Some("") => "(unnamed thread)",
        Some(name) => name,
    }
}
