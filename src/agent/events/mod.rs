//! Events, and the buffers by which they reach the writer.

pub(crate) mod buffer;
pub(crate) mod event;
