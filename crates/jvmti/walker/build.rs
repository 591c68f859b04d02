//! Lets the agent's sources, which are compiled into this crate too, have what only comparisons need.

fn main() {
    println!("cargo::rustc-cfg=walker_agent");
    println!("cargo::rerun-if-changed=build.rs");
}
