//! What the commands print: tables, JSON, sentences, numbers that people can read.

pub(crate) mod allocations;
pub(crate) mod blocking_graph;
pub(crate) mod budgets;
pub(crate) mod class_archive;
pub(crate) mod comparison;
pub(crate) mod conservation;
pub(crate) mod coverage;
pub(crate) mod explain;
mod explain_cpu;
pub(crate) mod head;
pub(crate) mod human;
pub(crate) mod lock_stacks;
pub(crate) mod lock_summary;
pub(crate) mod locks;
pub(crate) mod notes;
pub(crate) mod over_time;
pub(crate) mod page;
pub(crate) mod requests;
pub(crate) mod run_summary;
pub(crate) mod safepoints;
pub(crate) mod samples;
pub(crate) mod table;
pub(crate) mod thread_dump;
pub(crate) mod threads;
pub(crate) mod tree;
pub(crate) mod view;
pub(crate) mod warm_up;
