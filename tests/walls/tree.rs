//! The modules of one crate as a tree, and what the paths in them mean.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::lexer::tokens;
use super::parse::{By, Named, Parsed, parse};

/// Rust sources by their path from the project's folder.
pub(crate) type Sources = BTreeMap<String, String>;

/// A module by its place in [`Tree::modules`].
pub(crate) type Id = usize;

/// Imports of imports that are followed. No code nests deeper, but imports may form a cycle.
const MAX_IMPORTS: usize = 12;

pub(crate) struct Module {
    pub(crate) file: String,
    pub(crate) name: String,
    pub(crate) parent: Option<Id>,
    pub(crate) children: BTreeMap<String, Id>,
    items: BTreeSet<String>,
    pub(crate) named: Vec<Named>,
}

pub(crate) struct Tree {
    pub(crate) modules: Vec<Module>,
}

/// What a path means in this crate.
#[derive(Default)]
pub(crate) struct Meaning {
    /// The modules that the path names, itself or by the imports that it uses.
    pub(crate) modules: BTreeSet<Id>,
    /// The modules that hold what the path ends at.
    pub(crate) ends: BTreeSet<Id>,
}

impl Tree {
    /// The modules behind a crate's root, such as `src/lib.rs`.
    pub(crate) fn new(sources: &Sources, root: &str) -> Tree {
        let mut tree = Tree { modules: Vec::new() };
        let text = sources.get(root).unwrap_or_else(|| panic!("{root} is not there"));
        let folder = folder_of(root);
        tree.add(sources, "crate", root, &folder, None, parse(&tokens(text)));
        tree
    }

    fn add(
        &mut self,
        sources: &Sources,
        name: &str,
        file: &str,
        folder: &str,
        parent: Option<Id>,
        parsed: Parsed,
    ) -> Id {
        let id = self.modules.len();
        self.modules.push(Module {
            file: file.to_owned(),
            name: name.to_owned(),
            parent,
            children: BTreeMap::new(),
            items: parsed.items,
            named: parsed.named,
        });
        for child in parsed.files {
            let in_file = format!("{folder}/{child}.rs");
            let in_folder = format!("{folder}/{child}/mod.rs");
            let Some((path, text)) = sources.get_key_value(&in_file).or_else(|| sources.get_key_value(&in_folder))
            else {
                panic!("{file} declares the module {child}, but neither {in_file} nor {in_folder} is there");
            };
            let below = self.add(sources, &child, path, &format!("{folder}/{child}"), Some(id), parse(&tokens(text)));
            self.modules[id].children.insert(child, below);
        }
        for (child, parsed) in parsed.inline {
            let below = self.add(sources, &child, file, &format!("{folder}/{child}"), Some(id), parsed);
            self.modules[id].children.insert(child, below);
        }
        id
    }

    /// The module at a path from the crate's root, such as `cli::render`.
    pub(crate) fn find(&self, path: &str) -> Option<Id> {
        path.split("::")
            .filter(|name| !name.is_empty())
            .try_fold(0, |at, name| self.modules[at].children.get(name).copied())
    }

    /// The modules from `id` up to the root, `id` first.
    pub(crate) fn upwards(&self, id: Id) -> impl Iterator<Item = Id> {
        std::iter::successors(Some(id), |id| self.modules[*id].parent)
    }

    /// What a path that stands in module `within` means; empty if it belongs to another crate.
    pub(crate) fn meaning(&self, within: Id, named: &Named) -> Meaning {
        let mut meaning = Meaning::default();
        self.follow(within, &named.segments, MAX_IMPORTS, &mut meaning);
        if matches!(named.by, By::Glob { .. }) {
            // Any name of these modules may be meant, also what they import themselves.
            for end in meaning.ends.clone() {
                for import in self.modules[end].named.iter().filter(|import| !matches!(import.by, By::Code)) {
                    self.follow(end, &import.segments, MAX_IMPORTS, &mut meaning);
                }
            }
        }
        meaning
    }

    /// Follows a path from module `within`. `false` if its first name is unknown there.
    fn follow(&self, within: Id, segments: &[String], imports: usize, meaning: &mut Meaning) -> bool {
        let (mut at, mut rest) = (within, segments);
        while let Some((first, behind)) = rest.split_first() {
            at = match first.as_str() {
                "crate" => 0,
                "self" => at,
                "super" => self.modules[at].parent.unwrap_or(0),
                _ => break,
            };
            rest = behind;
        }
        let starts_here = rest.len() < segments.len();
        let known = self.descend(at, rest, imports, meaning);
        if !known && starts_here {
            // A name that a macro makes, or the module itself.
            self.end(at, meaning);
        }
        known || starts_here
    }

    fn descend(&self, at: Id, rest: &[String], imports: usize, meaning: &mut Meaning) -> bool {
        let Some((first, behind)) = rest.split_first() else { return false };
        let module = &self.modules[at];
        if let Some(child) = module.children.get(first) {
            meaning.modules.insert(*child);
            if !self.descend(*child, behind, imports, meaning) {
                self.end(*child, meaning);
            }
            return true;
        }
        if module.items.contains(first) {
            self.end(at, meaning);
            return true;
        }
        if imports == 0 {
            return false;
        }
        for import in &module.named {
            let found = match &import.by {
                By::Import { name, .. } if name == first && import.segments != rest => {
                    let longer: Vec<String> = import.segments.iter().chain(behind).cloned().collect();
                    self.follow(at, &longer, imports - 1, meaning)
                }
                _ => false,
            };
            if found {
                return true;
            }
        }
        module.named.iter().filter(|import| matches!(import.by, By::Glob { .. })).any(|glob| {
            let mut through = Meaning::default();
            self.follow(at, &glob.segments, imports - 1, &mut through);
            through.ends.iter().any(|end| *end != at && self.descend(*end, rest, imports - 1, meaning))
        })
    }

    fn end(&self, at: Id, meaning: &mut Meaning) {
        meaning.modules.insert(at);
        meaning.ends.insert(at);
    }
}

fn folder_of(file: &str) -> String {
    Path::new(file).parent().expect("a file stands in a folder").display().to_string()
}
