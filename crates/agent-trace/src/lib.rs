//! Writes the trace: merges the events of all threads by time, and lets each feature add what is its own ([`Section`]). It knows no
//! feature by name.

mod collections;
mod document;
mod events;
mod footer;
mod header;
mod labels;
mod merge;
mod output;
mod section;
mod source;
mod tallies;
mod text;
mod walked;
mod writer;

pub use document::{DefinedSite, Document};
pub use output::Output;
pub use section::{Count, Section};
pub use source::{SourceNumber, Unread};
pub use writer::Writer;
