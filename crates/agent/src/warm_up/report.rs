//! What the watching thread hands to the writer.

use std::collections::BTreeMap;

use trace::model::CodeTier;
use trace::time::Nanos;

use super::archive::Archive;
use super::line;
use agent_base::clock::Ticks;
use agent_base::ids::ThreadIndex;
use hotspot::walk::Frame;

/// A static initialiser that took long.
#[derive(Clone, Debug)]
pub(crate) struct Initialiser {
    /// As the VM has it.
    pub(crate) class: Box<str>,
    /// Who ran it, if that is known.
    pub(crate) thread: Option<ThreadIndex>,
    pub(crate) begun: Ticks,
    pub(crate) total: Nanos,
    /// It has not ended.
    pub(crate) runs_on: bool,
    /// Its frame and those further out, or why they are not known.
    pub(crate) stack: Result<Box<[Frame]>, &'static str>,
}

/// Compiled code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Code {
    pub(crate) id: u32,
    pub(crate) method: Box<str>,
    pub(crate) tier: CodeTier,
    pub(crate) is_osr: bool,
    pub(crate) bytes: Option<u32>,
}

impl From<line::Code<'_>> for Code {
    fn from(code: line::Code<'_>) -> Code {
        let line::Code { id, method, tier, is_osr, bytes } = code;
        Code { id, method: method.into(), tier, is_osr, bytes }
    }
}

/// What is to be written.
#[derive(Clone, Debug)]
pub(crate) enum Report {
    Initialiser(Initialiser),
    /// A method was compiled: when that began, and how long it took.
    Compilation(Code, Ticks, Nanos),
    /// Compiled code is entered no more, and why.
    Discarded(Code, Ticks, Option<Box<str>>),
    /// A class was loaded: from where, and when.
    Load(Box<str>, Box<str>, Ticks),
    /// An archive of classes that the VM was to use, and when that was looked at.
    Archive(Archive, Ticks),
    /// The VM's counters that have changed, by name.
    Counters(BTreeMap<Box<str>, u64>, Ticks),
}
