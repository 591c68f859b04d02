//! Compiles the Java side: the class that runs inside the profiled JVM, and the demo program, which the agent
//! and the command carry in their own binaries so that there is no jar to lose.

#[path = "build/javac.rs"]
mod javac;

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use javac::{compile, find_javac};

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let javac = find_javac();

    // Class file version 52 runs on every JVM from 8 on, and `-source 8` knows no modules: the one way to compile
    // into package java.lang without patching java.base.
    let agent = out.join("agent");
    let classes =
        ["MartiniHeapProxy", "MartiniCounts", "MartiniParking", "MartiniSleep", "MartiniShutdown", "MartiniWalk"];
    let sources: Vec<_> = classes.iter().map(|class| PathBuf::from(format!("java/{class}.java"))).collect();
    compile(&javac, &["-source", "8", "-target", "8"], &sources, &agent);
    for class in classes.map(|class| format!("{class}.class")) {
        fs::copy(agent.join("java/lang").join(&class), out.join(&class))
            .expect("compiled classes can be copied within OUT_DIR");
    }

    let demo = out.join("demo");
    let sources: Vec<_> =
        files(Path::new("java/demo")).into_iter().filter(|f| f.extension().is_some_and(|e| e == "java")).collect();
    if !sources.is_empty() {
        compile(&javac, &["--release", "11"], &sources, &demo);
    }
    let mut list = String::from(
        "/// Path inside the class path, and bytes, of every class of the demo program.\npub(crate) const DEMO_CLASSES: &[(&str, &[u8])] = &[\n",
    );
    for class in files(&demo) {
        let name = class.strip_prefix(&demo).expect("a file of the folder").display();
        writeln!(list, "    ({:?}, include_bytes!({class:?})),", name.to_string()).expect("writing to a String");
    }
    list.push_str("];\n");
    fs::write(out.join("demo_classes.rs"), list).expect("OUT_DIR is writable");

    println!("cargo::rerun-if-changed=java");
    println!("cargo::rerun-if-env-changed=JAVA_HOME");
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
