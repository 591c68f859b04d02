//! What the commands print: tables, JSON, sentences, numbers that people can read.

pub(crate) mod allocation_json;
pub(crate) mod allocation_tables;
pub(crate) mod blocking_graph;
pub(crate) mod conservation;
pub(crate) mod coverage;
pub(crate) mod cpu_json;
pub(crate) mod cpu_tables;
pub(crate) mod explain;
mod explain_cpu;
pub(crate) mod human;
pub(crate) mod line_table;
pub(crate) mod lock_json;
pub(crate) mod lock_stacks;
pub(crate) mod lock_summary;
pub(crate) mod lock_tables;
pub(crate) mod notes;
pub(crate) mod over_time;
pub(crate) mod page;
pub(crate) mod run_summary;
pub(crate) mod safepoints;
pub(crate) mod table;
pub(crate) mod tree;
pub(crate) mod tree_json;
