//! Opening and reading traces and lock logs.

pub(crate) mod class_files;
pub(crate) mod contents;
pub(crate) mod everything;
pub(crate) mod program;
pub(crate) mod progress;
pub(crate) mod reading;
pub(crate) mod trace_end;
pub(crate) mod whole;
