//! What happens on a thread, and its way to the writer.

pub(crate) mod buffer;
pub(crate) mod event;
