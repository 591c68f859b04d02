//! What the agent knows of classes, methods and threads, as long as the JVM lives: each entry has a number that events carry.

pub(crate) mod array_layout;
pub(crate) mod classes;
pub(crate) mod methods;
pub(crate) mod table;
pub(crate) mod threads;
