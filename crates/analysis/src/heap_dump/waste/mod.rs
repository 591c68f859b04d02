//! Bytes that a program could save: duplicate strings, empty and sparse collections, boxed numbers. One pass over the contents of the dump.

mod boxes;
mod collections;
mod strings;

use hprof::read::{DumpFile, Record};

use super::contents::for_each_object;
use super::load::{LoadError, Loaded, Progress};

pub use boxes::BoxRow;
pub use collections::CollectionRow;
pub use strings::{Duplicate, Strings};

/// What is wasted, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waste {
    /// Strings of the same text.
    pub strings: Strings,
    /// Collections by class, in no particular order.
    pub collections: Vec<CollectionRow>,
    /// Boxed numbers by class, in no particular order.
    pub boxes: Vec<BoxRow>,
}

/// Looks for waste; at most `duplicates` texts are listed.
///
/// # Errors
/// The file cannot be read any more.
pub fn waste(file: &DumpFile, loaded: &Loaded, duplicates: usize, progress: Progress<'_>) -> Result<Waste, LoadError> {
    let mut strings = strings::Pass::new(loaded);
    let mut collections = collections::Pass::new(loaded);
    let mut boxes = boxes::Pass::new(loaded);
    for_each_object(file, loaded.graph.len(), progress, |object, record| match *record {
        Record::Instance { fields, .. } => {
            let class = loaded.graph.class_of(object);
            strings.instance(object, class, fields);
            collections.instance(object, class, fields);
            boxes.instance(class, fields);
        }
        Record::ObjectArray { length, .. } => collections.array(object, length),
        Record::PrimitiveArray { .. } => strings.array(object),
        Record::Contents(bytes) => strings.contents(bytes),
        _ => {}
    })?;
    Ok(Waste { strings: strings.finish(duplicates), collections: collections.finish(), boxes: boxes.finish() })
}
