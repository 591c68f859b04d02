//! What the agent knows of classes, methods and threads, as long as the JVM lives. Each entry has a number, which events carry.

pub mod array_layout;
pub mod classes;
pub mod methods;
mod modules;
pub(crate) mod redefined;
pub mod table;
pub mod threads;
