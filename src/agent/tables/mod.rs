//! What the agent knows of classes, methods and threads, as long as the JVM lives. Each entry has a number, which events carry.

pub(crate) mod array_layout;
pub(crate) mod classes;
pub(crate) mod methods;
mod modules;
pub(crate) mod redefined;
pub(crate) mod table;
pub(crate) mod threads;
