//! The part of the profiler's agent that walks stacks: the same sources, as they are.

#[path = "../../../../src/agent/helpers.rs"]
mod helpers;
pub(crate) mod hotspot;
#[path = "../../../../src/agent/mutex.rs"]
pub(crate) mod mutex;
#[path = "../../../../src/agent/signals/mod.rs"]
pub(crate) mod signals;
