//! What the tests on real JVMs share: which JDKs there are, Java programs compiled once, the built agent, processes that
//! cannot hang a test run, and the facts of a trace.
//!
//! Everything here panics with a sentence when the machine does not provide what a test needs, because only tests
//! call it. What is merely absent (a JDK, a collector, the jars of real programs) makes the tests that need it ignored, with the reason.

pub mod attach;
pub mod counted;
pub mod documents;
pub mod histogram;
pub mod java;
pub mod jdk;
pub mod jdwp;
pub mod martini;
pub mod process;
pub mod profiled;
pub mod programs;
pub mod read;
pub mod recorded;
pub mod say;
pub mod schema;
pub mod shares;
pub mod suite;
pub mod tomcat;
pub mod waits;
pub mod windows;
pub mod workdir;
