//! The TPTP heap and thread trace format (JVMPI-compatible XML): event model, writer and reader,
//! filter rules, validator.
//!
//! `docs/reference/trace-format.md` describes the format and what Martini adds to it.

mod attribute;
pub mod command_line;
pub mod counters;
pub mod date;
pub mod durations;
mod escape;
pub mod file;
pub mod filter;
pub mod generated;
pub mod ids;
pub mod locklog;
pub mod model;
pub mod modified_utf8;
pub mod names;
pub mod reader;
pub mod time;
pub mod validate;
pub mod writer;
pub mod zip;
