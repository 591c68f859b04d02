//! Events, and the buffers by which they reach the writer.

pub mod buffer;
pub mod event;
pub mod pool;
pub mod progress;
