//! The part of the profiler's agent that walks stacks: the same sources, as they are.

pub(crate) mod hotspot;
#[path = "../../../../src/agent/signals/mod.rs"]
pub(crate) mod signals;
