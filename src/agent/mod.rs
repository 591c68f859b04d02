//! The agent: what runs inside the profiled JVM.
//!
//! The parts, the lowest first. Each uses only parts of earlier rows:
//!
//! | part | is |
//! |---|---|
//! | `message` `clock` `ids` `helpers` `agent_thread` `native_thread` `request_file` | small parts that all others use |
//! | `signals` | loads that may fail, for signal handlers; signals of the agent's own |
//! | `hotspot` | everything that reads HotSpot's private memory |
//! | `native_symbols` | names of native functions |
//! | `tables` `stacks` | what is known of classes, methods, threads and stacks |
//! | `events` `objects` | events on their way to the writer; single objects, their tags and deaths |
//! | `core` | the JVM and the recording, as every feature sees them; the interface of features |
//! | `vm` `instrument` | environments and events of the VM; rewriting of classes |
//! | `sampling` | the VM's sampler of allocations: a feature, and what counts ask it |
//! | `alloc` `counts` `locks` `processor_time` `cpu` `heapdump` `heap_histogram` `ttsp` | the features |
//! | `trace_out` | the writer: from buffers to the trace |
//! | `recording` | starts and ends all of them, with the VM or by request |

mod agent_thread;
mod alloc;
mod clock;
mod core;
mod counts;
mod cpu;
mod events;
mod heap_histogram;
mod heapdump;
mod helpers;
mod hotspot;
mod ids;
mod instrument;
mod locks;
mod marks;
mod message;
mod mutex;
mod native_symbols;
mod native_thread;
mod objects;
mod processor_time;
mod random;
mod recording;
mod request_file;
mod sampling;
mod signals;
mod stacks;
mod tables;
mod trace_out;
mod ttsp;
mod vm;

pub(crate) use alloc::register_natives;
pub(crate) use counts::{read_own_counts, register_natives as register_counts_natives};
pub(crate) use hotspot::walk::compare_in_self_test;
pub(crate) use locks::{register_natives as register_parking_natives, register_sleep_natives};
pub(crate) use recording::{stops_on_load, takes_request};

/// All hooks of the VM's shutdown have run.
pub(crate) fn shutdown_hooks_done() {
    heapdump::program_ends();
    heap_histogram::program_ends();
}
