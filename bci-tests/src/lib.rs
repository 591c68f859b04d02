//! What the tests on real JVMs share: which JDKs there are, Java programs compiled once, the built agent, processes that
//! cannot hang a test run, and the facts of a trace.
//!
//! Everything here panics with a sentence when the machine does not provide what a test needs, because only tests
//! call it. What is merely absent (a JDK, a compiler for a newer language level, the jars of real programs) is said on
//! the terminal, past the test harness's capture, and the tests go on with what is there.

pub mod counted;
pub mod histogram;
pub mod java;
pub mod jdk;
pub mod martini;
pub mod process;
pub mod recorded;
pub mod say;
pub mod schema;
pub mod waits;
pub mod windows;
pub mod workdir;
