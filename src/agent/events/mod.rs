//! Events, and the buffers by which they reach the writer.

pub(crate) mod buffer;
pub(crate) mod event;
pub(crate) mod pool;
pub(crate) mod progress;
