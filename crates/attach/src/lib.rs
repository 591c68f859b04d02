//! Running JVMs: which there are, and HotSpot's way to have an agent loaded into one.
//!
//! - A process is looked at through `/proc`. What belongs to its file system is opened with its root as ours, so that a link in a
//!   container never leads out of it.
//! - What is written there is written with the rights of the process's user, by a thread that takes them: nothing has to be given
//!   away afterwards, and root writes nothing where somebody else put a link.
//! - SIGQUIT starts the listener of a JVM, and ends any process that does not catch it: it is sent only where it is caught.

#![forbid(unsafe_code)]

mod agent;
mod answer;
mod connection;
mod cpu_use;
mod error;
mod files;
mod ids;
mod jvm;
mod perf_data;
mod process;
mod rights;
mod root;
mod target;

pub use agent::{AgentAnswer, Request};
pub use answer::Answer;
pub use cpu_use::CpuWatch;
pub use error::AttachError;
pub use ids::{Owner, Pid};
pub use jvm::{Jvm, hotspot, list};
pub use process::Process;
pub use root::{Folder, Root};
pub use target::Target;
