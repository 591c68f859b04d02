//! The objects of a heap dump and who refers to whom, wherever the dump comes from.
//!
//! Objects are numbered in the order of the dump. What there is about an object stands in flat arrays under its number: 20 bytes for
//! each object, 24 if the dump is not in the order of ids, and 8 for each reference, which is kept in both directions. Dominators
//! take another 24 while they are found, and 24 in the end.

pub mod contents;
mod csr;
mod dominators;
mod fields;
mod graph;
mod histogram;
mod ids;
mod index;
pub mod layout;
pub mod load;
mod paths;
mod referents;
mod sites;
mod sizes;
mod suspects;
pub mod traced;
pub mod waste;

pub use csr::{Lists, TooMany};
pub use dominators::{Dominators, Step};
pub use graph::{Ages, Class, DumpProblems, Graph, GraphRoot, Origins};
pub use histogram::{Change, ClassRow, difference, histogram};
pub use hprof::RootKind;
pub use index::{ClassIndex, DumpId, ObjectIndex};
pub use paths::{Excluded, Link};
pub(crate) use referents::Referents;
pub use referents::{Referent, Strength};
pub use sites::{SiteRow, ages, own_frame, sites};
pub(crate) use sizes::Sizes;
pub use suspects::{Part, Suspect, suspects};
