//! The agent's features and its recordings: what runs inside the profiled JVM.
//!
//! | part, the lowest first | is |
//! |---|---|
//! | `sampling` | the VM's sampler of allocations: a feature, and what counts ask it |
//! | `alloc` `counts` `locks` `processor_time` `cpu` `marks` `heapdump` `heap_histogram` `ttsp` | the features, each with what it writes into the trace (`section`) |
//! | `recording` | starts and ends all of them, with the VM or by request |
//!
//! Below lie the packages `agent-trace` (the writer), `agent-core`, `hotspot` and `agent-base`.

mod alloc;
mod counts;
mod cpu;
mod heap_histogram;
mod heapdump;
mod locks;
mod marks;
mod processor_time;
mod recording;
mod sampling;
mod ttsp;

pub use alloc::register_natives;
pub use counts::{read_own_counts, register_natives as register_counts_natives};
pub use hotspot::walk::compare_in_self_test;
pub use locks::{register_natives as register_parking_natives, register_sleep_natives};
pub use recording::{stops_on_load, takes_request};

/// All hooks of the VM's shutdown have run.
pub fn shutdown_hooks_done() {
    heapdump::program_ends();
    heap_histogram::program_ends();
}
