//! The part of the profiler's agent that walks stacks, as it is: the same sources.

#[path = "../../../../src/agent/hotspot/mod.rs"]
pub(crate) mod hotspot;
#[path = "../../../../src/agent/ids.rs"]
mod ids;
#[path = "../../../../src/agent/message.rs"]
pub(crate) mod message;
#[path = "../../../../src/agent/signals/mod.rs"]
pub(crate) mod signals;
