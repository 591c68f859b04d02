//! The agent's features and its recordings: what runs inside the profiled JVM.
//!
//! | part, the lowest first | is |
//! |---|---|
//! | `pace` | how often something is sampled or looked at, within a budget of CPU time |
//! | `mailbox` `notice` `vm_log` `reports` | asks a thread where it is; wakes a thread of the agent's; the VM's own log; what waits for the writer |
//! | `sampling` | the VM's sampler of allocations: a feature, and what counts ask it |
//! | `heap_events` `counts` `locks` `processor_time` `cpu` `marked_methods` `heap_dump` `heap_histogram` `thread_dump` `ttsp` `warm_up` `requests` `readiness` | the features, each with what it writes into the trace (`section`) |
//! | `recording` | starts and ends all of them, with the VM or by request |
//!
//! Below lie the packages `agent-trace` (the writer), `agent-core`, `hotspot` and `agent-base`.

mod counts;
mod cpu;
mod heap_dump;
mod heap_events;
mod heap_histogram;
mod locks;
mod mailbox;
mod marked_methods;
mod notice;
mod pace;
mod processor_time;
mod readiness;
mod recording;
mod reports;
mod requests;
mod sampling;
mod thread_dump;
mod ttsp;
mod vm_log;
mod warm_up;

pub use counts::{NATIVES as COUNTS_NATIVES, begin_own_counts, end_own_counts};
pub use heap_events::NATIVES as HEAP_PROXY_NATIVES;
pub use hotspot::walk::compare_in_self_test;
pub use locks::{PARKING_NATIVES, SLEEP_NATIVES};
pub use readiness::{optimized_methods, reason as readiness_reason, state as readiness_state};
pub use recording::{stops_on_load, takes_request};
pub use requests::NATIVES as REQUEST_NATIVES;
pub use warm_up::NATIVES as EXCEPTION_NATIVES;

/// All hooks of the VM's shutdown have run.
pub fn shutdown_hooks_done() {
    heap_dump::program_ends();
    heap_histogram::program_ends();
}
