//! `heap=counts`: how often each allocation site ran, on which thread, and how many bytes that made.
//!
//! Rewritten code (`hooks`) adds to the counters of the thread (`blocks`) through MartiniCounts (`proxy`), without a native call.
//! Each piece of state has one owner, and `feature` lets them work together:
//!
//! | owner | of |
//! |---|---|
//! | `counters` | what each counter counts, as far as it is known |
//! | `rewritings` | the class files that were rewritten, and their classes |
//! | `block_pool` | the blocks of counters that threads have, and the sums over those that have ended |
//! | `threads` | which threads count for a recording |
//! | `callers` | on which stacks a thread counts, while a budget asks |
//! | `sites` | the search for what the rewriting does not show of a counter |
//! | `constants` `linking` `vm_allocations` | what the VM makes itself |
//! | `native_code` | what native code makes by JNI |
//! | `snapshot` | the counts so far, for the writer |
//! | `section` `written` | what is in the trace |
//!
//! What rewritten code contains the address or number of lives as long as the JVM: all recordings share it.

mod block_pool;
mod blocks;
mod callers;
mod constants;
mod counters;
mod current_thread;
mod feature;
mod hooks;
mod ids;
mod jdk_methods;
mod large_arrays;
mod linking;
mod memory;
mod native_code;
mod natives;
mod own_thread;
mod proxy;
mod report;
mod reuse;
mod rewritings;
mod section;
mod sites;
mod snapshot;
mod sums;
mod thread_table;
mod threads;
mod vm_allocations;
mod written;

pub(crate) use feature::Counts;
pub use natives::NATIVES;
pub use own_thread::{begin_own_counts, end_own_counts};
pub(crate) use proxy::NO_ROOM;
