//! What a trace means, against recounts that keep everything, made-up traces, and damaged ones.

mod callers;
mod counted;
mod cpu;
mod dumps;
mod execution;
mod explain;
mod heap_dump;
mod hostile;
mod locks;
mod made;
mod naive;
mod over_time;
mod removed;
mod safepoints;
mod sampled;
mod small_dump;
