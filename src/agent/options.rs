//! The agent's options: one table from which parsing, the command's flags and the documentation come.
//!
//! Two spellings are understood. Ours: `heap=events,file=app.trcxml,include=com.foo.*`. TPTP's:
//! `JPIAgent:server=standalone,file=x.trcxml,filters=f.txt;HeapProf:allocsites=true`. Nothing is guessed: what is not
//! understood stops the JVM from starting, because a half-understood profiler answers the wrong question.

mod parse;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod tptp;

use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;
use trace::filter::FilterSet;

use super::dump::options::DumpOptions;

pub use parse::parse;
pub use table::{OPTIONS, OptionSpec};
pub use text::format_pair;

/// What is wrong with the options: one sentence each.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum OptionError {
    /// No option of that name.
    #[error("unknown option '{0}': the options are {known}", known = known())]
    Unknown(String),
    /// A key without `=value`.
    #[error("option '{0}' has no value: write {0}=VALUE")]
    NoValue(String),
    /// A value that the option does not take.
    #[error("option '{name}' does not take '{value}': it takes {takes}")]
    BadValue {
        /// The option.
        name: &'static str,
        /// What was given.
        value: String,
        /// What it takes.
        takes: &'static str,
    },
    /// An option that was given twice.
    #[error("option '{0}' is given twice: leave one of them out")]
    Twice(&'static str),
    /// An option that another mode has no use for.
    #[error("option '{0}' is for heap=counts only: leave it out, or write heap=counts")]
    OnlyCounts(&'static str),
    /// A filter pattern or file that is not right.
    #[error("{0}")]
    Filter(String),
    /// A TPTP profiler, server or option that Martini does not have.
    #[error("'{0}' of the TPTP spelling is not supported: {1}")]
    Tptp(String, &'static str),
}

fn known() -> String {
    OPTIONS.iter().map(|o| o.name).collect::<Vec<_>>().join(", ")
}

/// What is recorded of the heap, and by what means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeapMode {
    /// Every object, by rewritten bytecode.
    #[default]
    Events,
    /// How many objects and bytes each allocation site makes, by rewritten bytecode.
    Counts,
    /// Every object, by the events of the JVM.
    Vm,
    /// Nothing.
    Off,
}

impl HeapMode {
    /// The option's value.
    pub fn as_str(self) -> &'static str {
        match self {
            HeapMode::Events => "events",
            HeapMode::Counts => "counts",
            HeapMode::Vm => "vm",
            HeapMode::Off => "off",
        }
    }
}

/// How the trace is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// One XML document.
    #[default]
    Xml,
    /// A zip with one XML document, which TPTP's importer takes.
    Zip,
}

/// The options, resolved.
#[derive(Debug)]
pub struct Options {
    /// The string as given, for `agentCreate agentParameters`.
    pub given: String,
    /// What is recorded of the heap.
    pub heap: HeapMode,
    /// The trace file, `%p` not yet replaced.
    pub file: PathBuf,
    /// How it is written.
    pub format: Format,
    /// Which classes are reported.
    pub filters: FilterSet,
    /// Objects are tagged and their death reported.
    pub lifetimes: bool,
    /// `objAlloc` carries method and line.
    pub allocsites: bool,
    /// At the end the heap is walked: `liveCount`.
    pub live: bool,
    /// Dumps of the heap.
    pub dump: DumpOptions,
    /// Frames per `stackDef`; 0 for none.
    pub stack_depth: usize,
    /// With `heap=counts`, the least time between two writings of the numbers so far; none if 0.
    pub every: Duration,
    /// With `heap=counts`, bytes between two samples of what is really allocated.
    pub estimate_bytes: Option<u32>,
    /// Bytes of text after which the trace is ended.
    pub limit_bytes: Option<u64>,
    /// Bytes of records that may wait for the writer.
    pub buffer_bytes: usize,
    /// What is recorded of threads that wait; `None` if nothing is.
    pub threads: Option<ThreadOptions>,
}

/// How the owners of contended monitors are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owners {
    /// By what HotSpot has in memory, without their stacks.
    WithoutStacks,
    /// By what HotSpot has in memory, with their stacks.
    WithStacks,
    /// By JVMTI's `GetObjectMonitorUsage`, with their stacks.
    ByJvmti,
}

/// What is recorded of threads that wait for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadOptions {
    /// Parks of `java.util.concurrent` too.
    pub juc: bool,
    /// How owners are looked for.
    pub owners: Owners,
    /// Frames of each stack; 0 for no stacks.
    pub stack_depth: usize,
    /// The lock log, `%p` not yet replaced.
    pub log: Option<PathBuf>,
}

impl Default for ThreadOptions {
    fn default() -> Self {
        ThreadOptions { juc: false, owners: Owners::WithStacks, stack_depth: 3, log: None }
    }
}

impl Options {
    /// Frames to find for each allocation.
    pub(crate) fn frames(&self) -> usize {
        self.stack_depth.max(usize::from(self.allocsites))
    }
}
