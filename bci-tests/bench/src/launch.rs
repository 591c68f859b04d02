//! What an agent adds to a command line.

use std::ffi::OsString;
use std::path::PathBuf;

/// What is added to a command line to run a program with a variant.
#[derive(Default)]
pub(crate) struct Launch {
    /// Options of the JVM.
    pub(crate) options: Vec<OsString>,
    /// What the class path needs beyond the program's own.
    pub(crate) class_path: Vec<PathBuf>,
    /// The main class, with its arguments, that runs the program's main class.
    pub(crate) wrapper: Vec<OsString>,
}
