//! Writes the trace.

mod collections;
mod definitions;
mod events;
mod footer;
mod header;
mod heap_dump;
mod lock_log;
mod locks;
mod merge;
mod output;
mod safepoints;
mod samples;
mod site_counts;
mod state;
mod tallies;
mod text;
mod thread_samples;
mod thread_times;
mod writer;

pub(crate) use output::Output;
pub(crate) use writer::{Features, Writer};
