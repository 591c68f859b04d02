//! Module boundaries: modules form no import cycle, and no layer names a higher one.
//!
//! Read from the sources, by `use` lines and paths in code. Comments, strings and what is compiled for tests only do not count.

mod graph;
mod lexer;
mod made_up;
mod parse;
mod tree;

use std::fmt::Write;
use std::fs;
use std::path::Path;

use graph::Graph;
use tree::{Id, Sources, Tree};

/// Roots of crates outside `crates/`.
const ROOTS: &[&str] = &[
    "src/main.rs",
    "src/lib.rs",
    "bci-tests/src/lib.rs",
    "bci-tests/src/bin/bench/main.rs",
    "crates/jvmti/floor/src/lib.rs",
];

/// Root, module, and the modules beside it that it must not name.
const LAYERS: &[(&str, &str, &[&str])] = &[
    ("src/main.rs", "cli::input", &["commands", "launch", "render"]),
    ("src/main.rs", "cli::render", &["commands", "launch"]),
    ("src/main.rs", "cli::launch", &["commands"]),
    (
        "src/lib.rs",
        "agent::core",
        &["alloc", "counts", "locks", "cpu", "heapdump", "trace_out", "recording", "heap_histogram"],
    ),
];

/// Where `unsafe` may stand.
const UNSAFE: &[&str] = &["crates/jvmti-sys/", "crates/jvmti/", "src/agent/", "src/lib.rs"];

#[test]
fn modules_form_no_cycle() {
    let sources = sources();
    let complaints: Vec<String> =
        roots(&sources).into_iter().flat_map(|root| cycles(&Tree::new(&sources, root))).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn no_layer_names_a_higher_one() {
    let sources = sources();
    for (root, module, higher) in LAYERS {
        let complaints = layer(&Tree::new(&sources, root), module, higher);
        assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    }
}

#[test]
fn the_command_names_nothing_of_the_agents_library() {
    let sources = sources();
    let complaints = words(&sources, "martini", |path| path == "src/main.rs" || path.starts_with("src/cli/"));
    assert!(complaints.is_empty(), "the command names the library: {}", complaints.join(", "));
}

#[test]
fn unsafe_code_stands_at_the_jvm_only() {
    let sources = sources();
    let complaints = words(&sources, "unsafe", |path| !UNSAFE.iter().any(|allowed| path.starts_with(allowed)));
    assert!(complaints.is_empty(), "unsafe code outside {}: {}", UNSAFE.join(" "), complaints.join(", "));
}

/// Cycles among modules beside each other: a sentence for each, and the layers of the modules that have any.
///
/// In a crate's outermost modules, the file that declares them counts as a module too. Further down it is the interface of its
/// folder, and the folder's files may use it as it uses them.
fn cycles(tree: &Tree) -> Vec<String> {
    let outermost = outermost(tree);
    let parents = 0..tree.modules.len();
    parents.flat_map(|parent| cycles_of_children(tree, parent, parent == outermost)).collect()
}

fn cycles_of_children(tree: &Tree, parent: Id, with_own_file: bool) -> Vec<String> {
    let graph = Graph::of_children(tree, parent, with_own_file);
    let found = graph.cycles();
    if found.is_empty() {
        return Vec::new();
    }
    let file = &tree.modules[parent].file;
    let sentences = found.iter().map(|cycle| format!("{file}: these modules form a cycle: {cycle}"));
    sentences.chain([shown(&graph)]).collect()
}

/// The crate's root, or the only module in it.
fn outermost(tree: &Tree) -> Id {
    let only_child = |id: &Id| {
        let children = &tree.modules[*id].children;
        children.values().next().copied().filter(|_| children.len() == 1)
    };
    std::iter::successors(Some(0), only_child).last().unwrap_or(0)
}

fn shown(graph: &Graph) -> String {
    let mut text = "  the layers, the lowest first:".to_owned();
    for layer in graph.layers() {
        let _ = write!(text, " [{}]", layer.join(" "));
    }
    text
}

/// What a module names although it is in a higher layer.
fn layer(tree: &Tree, module: &str, higher: &[&str]) -> Vec<String> {
    let find =
        |path: &str| tree.find(path).unwrap_or_else(|| panic!("the module {path} is not there: mend the test's table"));
    let parent = tree.modules[find(module)].parent.expect("the table names no root");
    let name = &tree.modules[find(module)].name;
    let graph = Graph::of_children(tree, parent, false);
    let used = |above: &&str| {
        assert!(
            tree.modules[parent].children.contains_key(*above),
            "the module {above} is not there: mend the test's table"
        );
        let place = graph.edge(name, above)?;
        Some(format!("{module} must not know of {above}, but names it: {place}"))
    };
    higher.iter().filter_map(used).collect()
}

/// The places of a word in the code of some files.
fn words(sources: &Sources, word: &str, is_read: impl Fn(&str) -> bool) -> Vec<String> {
    let files = sources.iter().filter(|(path, _)| is_read(path));
    let places = |(path, text): (&String, &String)| {
        let found = lexer::tokens(text).into_iter().filter(|token| token.is(word));
        found.map(|token| format!("{path}:{}", token.line)).collect::<Vec<_>>()
    };
    files.flat_map(places).collect()
}

fn roots(sources: &Sources) -> Vec<&str> {
    let is_crate =
        |path: &&str| path.starts_with("crates/") && path.ends_with("/src/lib.rs") && path.split('/').count() == 4;
    let crates: Vec<&str> = sources.keys().map(String::as_str).filter(is_crate).collect();
    assert!(!crates.is_empty(), "no crates found");
    crates.into_iter().chain(ROOTS.iter().copied()).collect()
}

fn sources() -> Sources {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = Sources::new();
    for folder in ["src", "crates", "bci-tests", "tests"] {
        read(&project.join(folder), folder, &mut sources);
    }
    sources
}

fn read(folder: &Path, path: &str, sources: &mut Sources) {
    for entry in fs::read_dir(folder).expect("a folder of the project") {
        let entry = entry.expect("a folder of the project");
        let name = entry.file_name().into_string().expect("names are UTF-8");
        let path = format!("{path}/{name}");
        if entry.file_type().expect("its type").is_dir() {
            if name != "target" {
                read(&entry.path(), &path, sources);
            }
        } else if name.ends_with(".rs") {
            sources.insert(path, fs::read_to_string(entry.path()).expect("a source"));
        }
    }
}
