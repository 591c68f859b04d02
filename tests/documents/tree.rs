//! The files and folders of the project.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Every file and folder, by its path from the root.
pub(crate) struct Tree {
    root: PathBuf,
    entries: BTreeSet<String>,
}

impl Tree {
    pub(crate) fn of_the_project() -> Self {
        let mut tree = Tree { root: PathBuf::from(env!("CARGO_MANIFEST_DIR")), entries: BTreeSet::new() };
        tree.add("");
        tree
    }

    fn add(&mut self, folder: &str) {
        for entry in std::fs::read_dir(self.root.join(folder)).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            if matches!(name.as_str(), ".git" | "target" | "corpus" | "node_modules") {
                continue;
            }
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            if entry.file_type().unwrap().is_dir() {
                self.add(&path);
            }
            self.entries.insert(path);
        }
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.entries.contains(path.trim_end_matches('/'))
    }

    /// Whether an entry is at that path, or ends with it. A `*` stands for a part of a name.
    pub(crate) fn has_somewhere(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let wanted: Vec<&str> = path.split('/').collect();
        self.has(path)
            || self.entries.iter().any(|entry| {
                let names: Vec<&str> = entry.split('/').collect();
                let rooted = self.is_top(wanted[0]);
                names.len() >= wanted.len()
                    && (!rooted || names.len() == wanted.len())
                    && names[names.len() - wanted.len()..].iter().zip(&wanted).all(|(name, wanted)| fits(name, wanted))
            })
    }

    /// Whether a path ends with these names.
    pub(crate) fn ends_with(&self, names: &str) -> bool {
        self.entries.iter().any(|entry| entry == names || entry.ends_with(&format!("/{names}")))
    }

    /// Whether a folder of that name is at the root.
    pub(crate) fn is_top(&self, name: &str) -> bool {
        self.entries.contains(name) && self.root.join(name).is_dir()
    }

    /// All Markdown files.
    pub(crate) fn pages(&self) -> impl Iterator<Item = (&str, String)> {
        let pages = self.entries.iter().filter(|path| path.ends_with(".md"));
        pages.map(|path| (path.as_str(), self.text(path)))
    }

    /// All sources whose comments may name a page, but for those of this test, which name pages that do not exist.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (&str, String)> {
        let is_source = |path: &str| [".rs", ".java", ".xsd", ".toml", ".ci/run"].iter().any(|end| path.ends_with(end));
        let sources = self.entries.iter().filter(move |path| is_source(path) && !path.starts_with("tests/documents/"));
        sources.map(|path| (path.as_str(), self.text(path)))
    }

    fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.root.join(path)).unwrap()
    }
}

fn fits(name: &str, wanted: &str) -> bool {
    match wanted.split_once('*') {
        Some((before, after)) => name.starts_with(before) && name.ends_with(after),
        None => name == wanted,
    }
}

/// `relative` as seen from a page, as a path from the root.
pub(crate) fn resolved(page: &str, relative: &str) -> String {
    let mut names: Vec<&str> = Path::new(page).parent().unwrap().to_str().unwrap().split('/').collect();
    names.retain(|name| !name.is_empty());
    for name in relative.split('/') {
        match name {
            "." | "" => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    names.join("/")
}
