//! Objects that a recording tracks: their tags, weak references to them, and the collections that free them.

pub(crate) mod collections;
pub(crate) mod tags;
pub(crate) mod weak_refs;
pub(crate) mod weak_users;
