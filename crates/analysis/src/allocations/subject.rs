//! What a row of a table is about.

use std::fmt;

use trace::names;

use super::accounts::ThreadSubject;
use crate::location::Location;

/// What a row is about. Its `Display` is the text a table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject<'a> {
    /// A package; empty for the default package and for arrays of primitives.
    Package(&'a str),
    /// A class.
    Class(&'a str),
    /// A class and where it is allocated.
    Site {
        /// The allocated class.
        class: &'a str,
        /// The allocating line; `None` if the trace does not have it.
        at: Option<Location<'a>>,
    },
    /// A line of code; `None` gathers what has none.
    Line(Option<Location<'a>>),
    /// A method: its class, and its name as the trace spells it; `None` gathers what has none.
    Method(Option<(&'a str, &'a str)>),
    /// A module; empty for unnamed ones, and if the trace does not say. `None` gathers what has no code.
    Module(Option<&'a str>),
    /// A thread; `None` gathers the objects that were defined without one.
    Thread(Option<ThreadSubject<'a>>),
}

impl fmt::Display for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Package("") => f.write_str("(default package)"),
            Subject::Class("") => f.write_str("(unnamed class)"),
            Subject::Package(name) | Subject::Class(name) => f.write_str(name),
            Subject::Site { class, at: Some(at) } => write!(f, "{class} at {at}"),
            Subject::Site { class, at: None } => write!(f, "{class} (no site)"),
            Subject::Line(Some(at)) => at.fmt(f),
            Subject::Method(Some((class, name))) => write!(f, "{class}.{}", names::jvm_method_name(name)),
            Subject::Module(Some("")) => f.write_str("(unnamed)"),
            Subject::Module(Some(name)) => f.write_str(name),
            Subject::Line(None) | Subject::Method(None) | Subject::Module(None) => f.write_str("(no site)"),
            // Java allows it.
            Subject::Thread(Some(ThreadSubject { name: "", .. })) => f.write_str("(unnamed thread)"),
            Subject::Thread(Some(thread)) => f.write_str(thread.name),
            Subject::Thread(None) => f.write_str("(no thread)"),
        }
    }
}
