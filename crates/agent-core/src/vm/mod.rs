//! JVMTI environments with their capabilities, and the events that concern every feature.

pub mod collections;
pub mod environments;
pub mod shutdown;
pub mod threads;
pub mod virtual_threads;
