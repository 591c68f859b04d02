//! What rows of tables of samples are about.

use std::fmt;

use trace::names;

use crate::allocations::ThreadSubject;
use crate::call_tree::library_name;
use crate::location::Location;

/// What kind of code ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CodeKind {
    /// Code of C2, with what is inlined in it.
    C2,
    /// Code of C1, likewise.
    C1,
    /// The interpreter.
    Interpreted,
    /// Java of which it is not known how it ran.
    Java,
    /// Native code that Java called.
    Native,
    /// The kernel, whoever called it.
    Kernel,
    /// Threads of the VM's.
    Vm,
    /// Threads of native code.
    NativeThreads,
    /// It is not known, since stacks were not found.
    Lost,
    /// A Java thread without Java frames, as when it starts and ends.
    NoStack,
}

impl CodeKind {
    /// In words.
    pub fn as_str(self) -> &'static str {
        match self {
            CodeKind::C2 => "compiled by C2",
            CodeKind::C1 => "compiled by C1",
            CodeKind::Interpreted => "interpreted",
            CodeKind::Java => "Java",
            CodeKind::Native => "native code that Java called",
            CodeKind::Kernel => "kernel",
            CodeKind::Vm => "threads of the VM",
            CodeKind::NativeThreads => "threads of native code",
            CodeKind::Lost => "stack lost",
            CodeKind::NoStack => "no Java frames",
        }
    }
}

/// What a row is about. Its `Display` is the text a table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CpuSubject<'a> {
    /// A line of code.
    Line(Location<'a>),
    /// A method: its class, and its name as the trace spells it.
    Method(&'a str, &'a str),
    /// A class.
    Class(&'a str),
    /// A package; empty for the default package.
    Package(&'a str),
    /// A module; empty for unnamed ones, and if the trace does not say.
    Module(&'a str),
    /// A thread.
    Thread(ThreadSubject<'a>),
    /// A function of native code, and its library, which is empty if it is not known.
    Function(&'a str, &'a str),
    /// A kind of code.
    Kind(CodeKind),
    /// Code in Java, where rows are functions of native code.
    JavaCode,
    /// The kernel, where it is not known what called it.
    Kernel,
    /// Threads of the VM's, with a `*` for the numbers of their names.
    VmThreads(&'a str),
    /// Threads of native code, likewise.
    NativeThreads(&'a str),
    /// Stacks that were not found, for this reason.
    Lost(&'a str),
    /// No Java frames of a Java thread.
    NoStack,
}

impl fmt::Display for CpuSubject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CpuSubject::Line(at) => at.fmt(f),
            CpuSubject::Method(class, name) => write!(f, "{class}.{}", names::jvm_method_name(name)),
            CpuSubject::Package("") => f.write_str("(default package)"),
            CpuSubject::Module("") => f.write_str("(unnamed)"),
            CpuSubject::Class("") => f.write_str("(unnamed class)"),
            // Java allows it.
            CpuSubject::Thread(ThreadSubject { name: "", .. }) => f.write_str("(unnamed thread)"),
            CpuSubject::Thread(thread) => f.write_str(thread.name),
            CpuSubject::Function(name, "") => f.write_str(name),
            CpuSubject::Function(name, library) => write!(f, "{name} ({})", library_name(library)),
            CpuSubject::Kind(kind) => f.write_str(kind.as_str()),
            CpuSubject::JavaCode => f.write_str("(Java code)"),
            CpuSubject::Kernel => f.write_str("(kernel)"),
            CpuSubject::VmThreads(name) => write!(f, "{name} [VM]"),
            CpuSubject::NativeThreads(name) => write!(f, "{name} [native]"),
            CpuSubject::Lost(reason) => write!(f, "(stack lost: {reason})"),
            CpuSubject::NoStack => f.write_str("(no Java frames)"),
            CpuSubject::Class(name) | CpuSubject::Package(name) | CpuSubject::Module(name) => f.write_str(name),
        }
    }
}
