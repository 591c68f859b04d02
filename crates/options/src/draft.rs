//! Options that are being gathered.

use std::path::PathBuf;

use super::resolved::{HeapMode, LockOptions, Options};

/// What was given so far, before options that depend on each other are settled.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) options: Options,
    pub(crate) heap: Option<HeapMode>,
    pub(crate) locks_wanted: Option<bool>,
    pub(crate) locks: LockOptions,
    pub(crate) filter_file: Option<PathBuf>,
}
