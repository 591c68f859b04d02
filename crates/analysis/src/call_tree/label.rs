//! What the nodes of a call tree stand for.

use super::Granularity;
use crate::location::Location;
use crate::own_code::{OwnCode, is_jdk};

/// What the JIT removed of a site whose callers are sampled, in all tables and trees.
pub(crate) const REMOVED: &str = "(removed by the JIT, caller unknown)";

/// What a node stands for. Its `Display` is the text that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Label<'a> {
    /// A line of a method.
    Line(Location<'a>),
    /// A method; its name as the trace spells it.
    Method {
        /// The class that declares it.
        class: &'a str,
        /// Its name.
        name: &'a str,
    },
    /// All code of a class.
    Code(&'a str),
    /// All code of a package.
    Package(&'a str),
    /// All code of a module; of unnamed ones if it is empty.
    Module(&'a str),
    /// A class of objects, or of locks.
    Class(&'a str),
    /// A thread; `None` if it is not known.
    Thread(Option<&'a str>),
    /// No stack is known of what is below.
    NoStack,
    /// What is below was allocated since the last collection, and may be garbage.
    SinceCollection,
    /// The JIT removed what is below, so that nobody knows who would have made it.
    Removed,
    /// A function of native code.
    Function {
        /// Its name.
        name: &'a str,
        /// The library that it is in; empty if that is not known.
        library: &'a str,
    },
    /// All native code of a library.
    Library(&'a str),
    /// The kernel of the operating system.
    Kernel,
    /// Threads of the VM's, with a `*` for what differs in their names.
    VmThreads(&'a str),
    /// Threads of native code, likewise.
    NativeThreads(&'a str),
    /// The frames were not found, for this reason.
    Lost(&'a str),
    /// What a thread did that did not run.
    State(&'static str),
}

impl std::fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Label::Line(at) => at.fmt(f),
            Label::Method { class, name } => write!(f, "{class}.{}", trace::names::jvm_method_name(name)),
            Label::Package("") => f.write_str("(default package)"),
            Label::Module("") => f.write_str("(unnamed)"),
            Label::Class("") => f.write_str("(unnamed class)"),
            Label::Thread(Some("")) => f.write_str("(unnamed thread)"),
            Label::Thread(None) => f.write_str("(no thread)"),
            Label::NoStack => f.write_str("(no stack)"),
            Label::SinceCollection => f.write_str("(allocated since the last collection)"),
            Label::Removed => f.write_str(REMOVED),
            Label::Function { name, library: "" } => f.write_str(name),
            Label::Function { name, library } => write!(f, "{name} ({})", library_name(library)),
            Label::Library("") => f.write_str("(native code)"),
            Label::Kernel => f.write_str("(kernel)"),
            Label::Lost(reason) => write!(f, "(stack lost: {reason})"),
            Label::State(state) => write!(f, "({state})"),
            Label::Library(name)
            | Label::VmThreads(name)
            | Label::NativeThreads(name)
            | Label::Code(name)
            | Label::Package(name)
            | Label::Module(name)
            | Label::Class(name)
            | Label::Thread(Some(name)) => f.write_str(name),
        }
    }
}

/// The name of a library without what all have: `libc` of `libc.so.6`.
pub(crate) fn library_name(file: &str) -> &str {
    file.split_once(".so").map_or(file, |(name, _)| name)
}

impl Label<'_> {
    /// Whether it is code of the JDK.
    pub fn is_jdk(&self) -> bool {
        match self {
            Label::Line(at) => is_jdk(at.class),
            Label::Method { class, .. } | Label::Code(class) => is_jdk(class),
            // Modules of the JDK are called as packages are.
            Label::Package(name) | Label::Module(name) => is_jdk(&format!("{name}.*")),
            _ => false,
        }
    }

    /// Whether it is code in Java.
    pub fn is_java(&self) -> bool {
        matches!(self, Label::Line(_) | Label::Method { .. } | Label::Code(_) | Label::Package(_) | Label::Module(_))
    }

    /// Of which known package it is code, such as `java` or `org.springframework`; `None` if it may be the user's own, or is no code.
    pub fn known_package(&self, own: &OwnCode) -> Option<&'static str> {
        match self {
            Label::Line(at) => own.known_package(at.class),
            Label::Method { class, .. } | Label::Code(class) => own.known_package(class),
            Label::Package(name) | Label::Module(name) => own.known_package(&format!("{name}.*")),
            _ => None,
        }
    }
}

impl<'a> Label<'a> {
    /// A frame, with those that are one with it.
    pub(crate) fn frame((at, module): (Location<'a>, &'a str), granularity: Granularity) -> Label<'a> {
        match granularity {
            Granularity::Line => Label::Line(at),
            Granularity::Method => Label::Method { class: at.class, name: at.method },
            Granularity::Class => Label::Code(at.class),
            Granularity::Package => Label::Package(trace::names::package(at.class)),
            Granularity::Module => Label::Module(module),
        }
    }
}
