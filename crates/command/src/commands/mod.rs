//! One file or folder per subcommand, and what they share.

pub(crate) mod agent;
pub(crate) mod attach;
pub(crate) mod classes;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod heap_dump;
pub(crate) mod import;
mod lock_selection;
pub(crate) mod locks;
pub(crate) mod man;
mod per_file;
pub(crate) mod ps;
pub(crate) mod recording;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod safepoints;
mod selection;
pub(crate) mod stats;
mod summary;
pub(crate) mod threads;
mod time_window;
pub(crate) mod top;
pub(crate) mod tree;
pub(crate) mod validate;
