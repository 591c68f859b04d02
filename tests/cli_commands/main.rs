//! The command as its users meet it: what it prints, and how it ends.

mod bad_input;
mod counts;
mod coverage;
mod demo;
mod heap;
mod help;
mod java;
mod monitors;
mod run;
mod stats;
mod support;
mod validate;
