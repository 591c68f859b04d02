//! The JVM's side: environments and what they may do, and the events that concern every feature.

pub(crate) mod collections;
pub(crate) mod environments;
pub(crate) mod threads;
pub(crate) mod virtual_threads;
