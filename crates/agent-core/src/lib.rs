//! The JVM and the recording, as every feature of the agent sees them.
//!
//! | part, the lowest first | is |
//! |---|---|
//! | `stacks` | call stacks, each kept once |
//! | `core` | the JVM, the recording and its threads; the interface of features |
//! | `vm` `instrument` | environments and events of the VM; rewriting of classes |

pub mod core;
pub mod instrument;
pub mod stacks;
pub mod vm;
