//! Writes the trace: merges the events of all threads by time, and lets each feature add what is its own ([`Section`]). It knows no
//! feature by name.

mod collections;
mod document;
mod events;
mod footer;
mod header;
mod merge;
mod output;
mod section;
mod source;
mod tallies;
mod text;
mod walked;
mod writer;

pub(crate) use document::{DefinedSite, Document};
pub(crate) use output::Output;
pub(crate) use section::{Count, Section};
pub(crate) use source::{SourceNumber, Unread};
pub(crate) use writer::Writer;
