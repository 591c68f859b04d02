//! What walks stacks, and what that is built on.

#[path = "../../../../../src/agent/hotspot/code_cache.rs"]
mod code_cache;
#[path = "../../../../../src/agent/hotspot/doubtful.rs"]
mod doubtful;
#[path = "../../../../../src/agent/hotspot/memory.rs"]
pub(crate) mod memory;
#[path = "../../../../../src/agent/hotspot/walk/mod.rs"]
pub(crate) mod walk;

use walk::Walker;

use super::signals::SafeLoads;

/// A walker for this VM.
pub(crate) fn walker(loads: SafeLoads, java: u32) -> Result<Walker, String> {
    Walker::find(loads, java)
}
