//! Compiles the class of the self-test, and lets the agent's sources, which are compiled into this crate too, have what only comparisons
//! need.

#[path = "../../../build/javac.rs"]
mod javac;

use std::env;
use std::fs;
use std::path::PathBuf;

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let folder = out.join("agent");
    let source = PathBuf::from("../../../java/MartiniWalk.java");
    javac::compile(&javac::find_javac(), &["-source", "8", "-target", "8"], &[source], &folder);
    fs::copy(folder.join("java/lang/MartiniWalk.class"), out.join("MartiniWalk.class")).expect("OUT_DIR is writable");
    println!("cargo::rustc-cfg=walker_agent");
    println!("cargo::rerun-if-changed=../../../java/MartiniWalk.java");
    println!("cargo::rerun-if-env-changed=JAVA_HOME");
}
