//! The command as its users meet it: what it prints, and how it ends.

mod attach;
mod bad_input;
mod classes;
mod code;
mod counts;
mod coverage;
mod demo;
mod explain;
mod export;
mod heap_dump;
mod help;
mod import;
mod java;
mod locks;
mod over_time;
mod page;
mod report;
mod requests;
mod run;
mod safepoints;
mod samples;
mod stats;
mod support;
mod tree;
mod validate;
mod warmup;
