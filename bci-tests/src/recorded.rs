//! What a trace recorded, in the form in which tests ask for it: every object with its class, thread and fate.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::Command;

use trace::ids::{ClassId, ObjectId, ThreadId};
use trace::model::{ArrayCode, Element};
use trace::time::Time;

/// One recorded object.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// Index of its class's name in [`Recorded::names`].
    pub class: usize,
    /// Index of its thread's name in [`Recorded::names`]; none for objects reported without a thread.
    pub thread: Option<usize>,
    /// Shallow size in bytes.
    pub size: u64,
    /// What kind of array it is.
    pub array: ArrayCode,
    /// When it was allocated.
    pub born: Time,
    /// When it was freed.
    pub freed: Option<Time>,
    /// Whether its allocation site was recorded.
    pub has_site: bool,
}

/// A recorded trace.
#[derive(Debug, Default)]
pub struct Recorded {
    /// Names of classes and threads, each once.
    pub names: Vec<String>,
    /// All objects in the order of the trace.
    pub objects: Vec<Object>,
    /// When each collection ended.
    pub collections: Vec<Time>,
    /// Number of elements by the element's name.
    pub elements: HashMap<String, u64>,
    /// Names of all threads that the trace introduced.
    pub threads: Vec<String>,
    /// What the trace says about its own completeness: key, detail, value.
    pub counts: Vec<(String, String, u64)>,
    by_name: HashMap<String, usize>,
}
