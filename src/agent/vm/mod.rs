//! JVMTI environments with their capabilities, and the events that concern every feature.

pub(crate) mod collections;
pub(crate) mod environments;
pub(crate) mod shutdown;
pub(crate) mod threads;
pub(crate) mod virtual_threads;
