//! Objects that a recording tracks: their tags, weak references to them, and the collections that free them.

pub mod collections;
pub mod tags;
pub mod weak_refs;
pub mod weak_users;
