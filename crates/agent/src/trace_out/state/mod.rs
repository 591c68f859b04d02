//! What the writer keeps of what it has written, and of what has to wait.

mod collections;
mod definitions;
mod locks;
mod sampled;
mod site_counts;
mod source;

pub(crate) use collections::PendingCollections;
pub(crate) use definitions::Definitions;
pub(crate) use locks::{Limit, LockEvents, OpenBlock, OpenPark, OpenWait, PendingDetails};
pub(crate) use sampled::Sampled;
pub(crate) use site_counts::SiteCounts;
pub(crate) use source::EventSource;
