//! The command as its users meet it: what it prints, and how it ends.

mod bad_input;
mod demo;
mod help;
mod java;
mod run;
mod stats;
mod support;
mod validate;
