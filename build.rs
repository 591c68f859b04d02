//! Puts agents into the command where it is installed or packed. In a checkout it takes the one that lies beside it.

use std::env;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Agents that are built already, such as `/a/gnu/libmartini.so:/a/musl/libmartini.so`.
const BUILT: &str = "MARTINI_AGENTS";
/// The agent's file name.
const AGENT: &str = "libmartini.so";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={BUILT}");
    // The VM closes an agent that refuses a request, and JDK 25 looks for a function in it at its end all the same.
    println!("cargo::rustc-link-arg-cdylib=-Wl,-z,nodelete");
    // The agent alone carries nothing.
    if env::var_os("CARGO_FEATURE_COMMAND").is_none() {
        return;
    }
    let out = PathBuf::from(variable("OUT_DIR"));
    let agents = match env::var_os(BUILT).filter(|list| !list.is_empty()) {
        Some(list) => env::split_paths(&list).collect(),
        None if env::var_os("CARGO_FEATURE_CARRY").is_some() || !is_checkout() => vec![build_agent(&out)],
        None => Vec::new(),
    };
    fs::write(out.join("agents.rs"), source(&agents)).expect("OUT_DIR is writable");
}

/// Whether the other packages lie here too: this is no package by itself, which can only be installed.
fn is_checkout() -> bool {
    Path::new("crates").is_dir()
}

fn variable(name: &str) -> OsString {
    env::var_os(name).unwrap_or_else(|| panic!("cargo sets {name}"))
}

fn source(agents: &[PathBuf]) -> String {
    let mut source = String::from("/// Every agent that this command carries.\nconst AGENTS: command::Agents = &[\n");
    for agent in agents {
        println!("cargo::rerun-if-changed={}", agent.display());
        let path = fs::canonicalize(agent).unwrap_or_else(|error| panic!("{}: {error}", agent.display()));
        writeln!(source, "    include_bytes!({path:?}),").expect("writing to a String");
    }
    source.push_str("];\n");
    source
}

/// Builds the agent for the command's target, without what only the command needs.
fn build_agent(out: &Path) -> PathBuf {
    // The sources of the packages that it needs are elsewhere if this is a package by itself.
    for source in ["src/lib.rs", "crates", "Cargo.toml", "Cargo.lock"] {
        if Path::new(source).exists() {
            println!("cargo::rerun-if-changed={source}");
        }
    }
    let folder = out.join("agent");
    let target = variable("TARGET");
    let mut cargo = Command::new(variable("CARGO"));
    cargo.args(["rustc", "--quiet", "--profile", "dist", "--lib", "--no-default-features", "--crate-type", "cdylib"]);
    cargo.arg("--target").arg(&target).arg("--target-dir").arg(&folder);
    // Its own build script would inherit them.
    cargo.env_remove("CARGO_FEATURE_COMMAND").env_remove("CARGO_FEATURE_CARRY");
    if variable("CARGO_CFG_TARGET_ENV") == "musl" {
        // What is loaded into a program cannot bring its own C library.
        cargo.env("CARGO_ENCODED_RUSTFLAGS", "-Ctarget-feature=-crt-static");
    }
    let status = cargo.status().expect("cargo starts");
    assert!(status.success(), "the agent was not built: {status}");
    folder.join(target).join("dist").join(AGENT)
}
