//! From an HPROF file to a graph, in two passes over the file.
//!
//! The first pass finds all objects, classes and roots; the second, when every id has its number, the references. Memory beyond the
//! graph's is what names, classes and stacks take.

mod first;
mod second;

use hprof::read::{DumpFile, ReadError};

pub use super::fields::{ClassFields, DeclaredFields, StaticField};
use super::layout::ObjectLayout;
use super::{Graph, TooMany};

/// A dump file as a graph, with what is needed to read the contents of its objects.
#[derive(Debug)]
pub struct Loaded {
    /// The objects.
    pub graph: Graph,
    /// The fields of the classes.
    pub class_fields: ClassFields,
    /// How the JVM laid its objects out.
    pub layout: ObjectLayout,
    /// When the dump was made, in milliseconds since 1970.
    pub millis: u64,
}

/// Why a dump gives no graph.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It is too large.
    #[error(transparent)]
    TooMany(#[from] TooMany),
    /// Another pass over the file found other objects.
    #[error("the heap dump changed while it was read; read it again when it is complete")]
    Changed,
}

/// What a long reading is doing, and how many bytes of the file that has taken.
pub type Progress<'a> = &'a mut dyn FnMut(&'static str, u64);

/// The records between two reports of progress.
pub(crate) const STRIDE: u64 = 1 << 16;

/// Reads a dump. If it breaks off after some objects, those make the graph, and [`DumpProblems::broken`](super::DumpProblems::broken) says
/// why there are no more.
///
/// # Errors
/// The dump cannot be read, or holds no object.
pub fn load(file: &DumpFile, progress: Progress<'_>) -> Result<Loaded, LoadError> {
    let first = first::read(file, progress)?;
    progress("numbering objects", 0);
    let mut objects = first.finish();
    progress("reading references", 0);
    let edges = second::read(file, &objects, progress)?;
    progress("turning references round", 0);
    let referrers = edges.references.reversed()?;
    objects.problems.dangling = edges.dangling;
    objects.problems.malformed_objects = edges.malformed_objects;
    let graph = Graph {
        classes: objects.classes,
        ids: objects.ids,
        class_of: objects.class_of,
        sizes: objects.sizes,
        references: edges.references,
        referrers,
        referents: super::Referents::new(edges.referents),
        roots: objects.roots,
        origins: objects.origins,
        problems: objects.problems,
    };
    Ok(Loaded { graph, class_fields: objects.class_fields, layout: objects.layout, millis: objects.millis })
}
