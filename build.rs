//! Puts into the command what it carries: the classes of the demo program, and the agents.

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
    // The VM closes an agent that refuses a request, and JDK 25 looks for a function in it at its end all the same.
    println!("cargo::rustc-link-arg-cdylib=-Wl,-z,nodelete");
    // The agent alone carries nothing.
    if env::var_os("CARGO_FEATURE_COMMAND").is_none() {
        return;
    }
    let out = PathBuf::from(variable("OUT_DIR"));
    println!("cargo::rerun-if-changed=java/classes");
    let demo = Path::new("java/classes");
    let classes = files(&demo.join("demo")).into_iter().map(|file| {
        let name = file.strip_prefix(demo).expect("a file of the folder").display().to_string();
        (name, file)
    });
    let source =
        list("DEMO_CLASSES", "Path inside the class path, and bytes, of every class of the demo program", classes);
    fs::write(out.join("demo_classes.rs"), source).expect("OUT_DIR is writable");

    println!("cargo::rerun-if-env-changed={BUILT}");
    let agents: Vec<PathBuf> = match env::var_os(BUILT).filter(|list| !list.is_empty()) {
        Some(list) => env::split_paths(&list).collect(),
        // In a debug build the command takes the agent that lies beside it.
        None if variable("PROFILE") != "release" => Vec::new(),
        None => vec![build_agent(&out)],
    };
    let agents = agents.into_iter().map(|agent| {
        println!("cargo::rerun-if-changed={}", agent.display());
        (agent.display().to_string(), agent)
    });
    let source = list("AGENTS", "Where it came from, and bytes, of every agent that this command carries", agents);
    fs::write(out.join("agents.rs"), source).expect("OUT_DIR is writable");
}

fn variable(name: &str) -> OsString {
    env::var_os(name).unwrap_or_else(|| panic!("cargo sets {name}"))
}

/// Source of a constant with names and contents of files.
fn list(name: &str, what: &str, files: impl Iterator<Item = (String, PathBuf)>) -> String {
    let mut list = format!("/// {what}.\npub(crate) const {name}: &[(&str, &[u8])] = &[\n");
    for (file, path) in files {
        let path = fs::canonicalize(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        writeln!(list, "    ({file:?}, include_bytes!({path:?})),").expect("writing to a String");
    }
    list.push_str("];\n");
    list
}

/// Builds the agent for the command's target, without what only the command needs.
fn build_agent(out: &Path) -> PathBuf {
    let crates =
        ["classfile", "hprof", "jvmti", "jvmti-sys", "options", "trace"].map(|name| format!("crates/{name}/src"));
    // Those are elsewhere if this is a package by itself.
    let sources = ["src/lib.rs", "src/agent", "Cargo.toml", "Cargo.lock"].map(str::to_owned).into_iter().chain(crates);
    for source in sources.filter(|source| Path::new(source).exists()) {
        println!("cargo::rerun-if-changed={source}");
    }
    let folder = out.join("agent");
    let target = variable("TARGET");
    let mut cargo = Command::new(variable("CARGO"));
    cargo.args(["rustc", "--quiet", "--release", "--lib", "--no-default-features", "--crate-type", "cdylib"]);
    cargo.arg("--target").arg(&target).arg("--target-dir").arg(&folder);
    // Its own build script would inherit it.
    cargo.env_remove("CARGO_FEATURE_COMMAND");
    // It travels inside of another file.
    cargo.env("CARGO_PROFILE_RELEASE_STRIP", "symbols").env("CARGO_PROFILE_RELEASE_DEBUG", "0");
    if variable("CARGO_CFG_TARGET_ENV") == "musl" {
        // What is loaded into a program cannot bring its own C library.
        cargo.env("CARGO_ENCODED_RUSTFLAGS", "-Ctarget-feature=-crt-static");
    }
    let status = cargo.status().expect("cargo starts");
    assert!(status.success(), "the agent was not built: {status}");
    folder.join(target).join("release").join(AGENT)
}

/// All files below a folder, in a fixed order; none if there is no such folder.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}
