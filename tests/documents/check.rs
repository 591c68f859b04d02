//! Compares pages with the tree and with the command.

use std::collections::BTreeSet;

use trace::counters::RENAMED;

use super::commands::{self, Commands};
use super::markdown::{Item, Page};
use super::options;
use super::tree::{Tree, resolved};

/// Flags in the documents that are not `martini`'s: those of the benchmark program, of cargo and of other tools.
const FOREIGN_FLAGS: &[&str] = &[
    "--against",
    "--features",
    "--jdk",
    "--json",
    "--limit",
    "--markdown",
    "--nocapture",
    "--program",
    "--profile",
    "--release",
    "--rounds",
    "--schema",
    "--variant",
    "--minutes",
    "--only",
    "--seed",
    "--runs",
    "--attach",
];

/// Beginnings of words in code that look like paths of the tree and are names of Java.
const JAVA_NAMES: &[&str] = &["java/lang/", "java/util/"];

/// What the keys of counters in a trace begin with.
const COUNTERS: &[&str] = &[
    "accounting",
    "accounts",
    "agent",
    "buffer",
    "classes",
    "counters",
    "coverage",
    "events",
    "frees",
    "gc",
    "limit",
    "monitors",
    "ownerStacks",
    "owners",
    "rewriting",
    "snapshots",
    "stackCache",
    "stacks",
    "waits",
];

/// Pages that may name options as they were called: results of benchmarks, and what changed.
const PAST: &[&str] = &["bci-tests/bench-runs/", "CHANGELOG.md"];

pub(crate) struct Checker {
    tree: Tree,
    pages: Vec<Page>,
    commands: Commands,
    options: BTreeSet<&'static str>,
    /// Spellings that are still understood, for pages that quote what is past.
    old_options: BTreeSet<&'static str>,
}

impl Checker {
    pub(crate) fn of_the_project() -> Self {
        let tree = Tree::of_the_project();
        let pages = tree.pages().map(|(path, text)| Page::new(path, &text)).collect();
        // `server` is TPTP's.
        let options = agent_options::OPTIONS.iter().map(|option| option.name).chain(["server"]).collect();
        let old_options = agent_options::OPTIONS.iter().flat_map(|option| option.old.iter().copied()).collect();
        Checker { tree, pages, commands: Commands::of_martini(), options, old_options }
    }

    pub(crate) fn pages(&self) -> &[Page] {
        &self.pages
    }

    pub(crate) fn links(&self, page: &Page) -> Vec<String> {
        let complaint = |link: &Item| {
            if link.text.contains("://") {
                return None;
            }
            let (file, anchor) = link.text.split_once('#').unwrap_or((&link.text, ""));
            let file = if file.is_empty() { page.path.clone() } else { resolved(&page.path, file) };
            let known = self.pages.iter().chain([page]).find(|known| known.path == file);
            let message = match known {
                None if !self.tree.has(&file) => format!("{file} does not exist"),
                Some(known) if !anchor.is_empty() && !known.anchors.iter().any(|known| known == anchor) => {
                    format!("{file} has no heading #{anchor}")
                }
                _ => return None,
            };
            Some(format!("{}:{}: {message}", page.path, link.line))
        };
        page.links.iter().filter_map(complaint).collect()
    }

    /// Pages that no way of links from the README leads to.
    pub(crate) fn unreachable(&self) -> Vec<String> {
        let mut reached = BTreeSet::from(["README.md".to_owned()]);
        let mut todo = vec!["README.md".to_owned()];
        while let Some(path) = todo.pop() {
            for link in self.pages.iter().filter(|page| page.path == path).flat_map(|page| &page.links) {
                let target = resolved(&path, link.text.split('#').next().unwrap_or(""));
                if reached.insert(target.clone()) {
                    todo.push(target);
                }
            }
        }
        let missing = self.pages.iter().filter(|page| !reached.contains(&page.path));
        missing.map(|page| format!("{}: no link from the README leads here", page.path)).collect()
    }

    pub(crate) fn paths(&self, page: &Page) -> Vec<String> {
        let mut complaints = Vec::new();
        for code in page.spans.iter().chain(&page.blocks) {
            for word in code.text.split_whitespace() {
                let word = word.trim_matches(['(', ')', ',', ';', ':']);
                for path in alternatives(word) {
                    if self.is_path(&path) && !self.tree.has_somewhere(&path) {
                        complaints.push(format!("{}:{}: there is no {path}", page.path, code.line));
                    }
                }
            }
        }
        complaints
    }

    /// Whether a word is meant as a path of this tree: it begins with one of its folders, or is the name of a source file.
    fn is_path(&self, word: &str) -> bool {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '.' | '*');
        if !word.chars().all(is_plain)
            || word.starts_with(['/', '-'])
            || JAVA_NAMES.iter().any(|name| word.starts_with(name))
        {
            return false;
        }
        let (first, rest) = word.split_once('/').unwrap_or(("", word));
        self.tree.is_top(first) && !rest.is_empty() || word.ends_with(".rs") && word != ".rs"
    }

    /// Tests that are named behind `--test`.
    pub(crate) fn tests(&self, page: &Page) -> Vec<String> {
        let mut complaints = Vec::new();
        let is_past = PAST.iter().any(|past| page.path.starts_with(past));
        for code in page.spans.iter().chain(&page.blocks).filter(|_| !is_past) {
            let words: Vec<&str> = code.text.split_whitespace().collect();
            for pair in words.windows(2).filter(|pair| pair[0] == "--test") {
                let name = pair[1];
                let places = [format!("tests/{name}.rs"), format!("tests/{name}/main.rs")];
                if !places.iter().any(|place| self.tree.ends_with(place)) {
                    complaints.push(format!("{}:{}: there is no test {name}", page.path, code.line));
                }
            }
        }
        complaints
    }

    /// Counters of the trace (`martiniCount key`): each is in the table of the format page.
    pub(crate) fn counters(&self, page: &Page) -> Vec<String> {
        let format =
            self.pages.iter().find(|page| page.path == "docs/reference/trace-format.md").expect("the format page");
        let is_past = page.path == format.path || PAST.iter().any(|past| page.path.starts_with(past));
        let is_known = |key: &str| {
            format.spans.iter().any(|span| span.text == key) && (is_past || !RENAMED.iter().any(|(old, _)| *old == key))
        };
        let is_counter = |text: &str| counter_prefix(text).is_some_and(|prefix| COUNTERS.contains(&prefix));
        let unknown = page.spans.iter().filter(|span| is_counter(&span.text) && !is_known(&span.text));
        unknown
            .map(|span| format!("{}:{}: the format page has no counter {}", page.path, span.line, span.text))
            .collect()
    }

    /// Pages that comments in sources name.
    pub(crate) fn mentions(&self) -> Vec<String> {
        let is_in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_' | '.');
        let mut complaints = Vec::new();
        for (path, text) in self.tree.sources() {
            for (start, _) in text.match_indices("docs/") {
                let name = text[start..].split(|c| !is_in_name(c)).next().unwrap_or("").trim_end_matches('.');
                if name.ends_with(".md") && !self.tree.has(name) {
                    complaints.push(format!("{path}: there is no {name}"));
                }
            }
        }
        complaints
    }

    pub(crate) fn commands(&self, page: &Page) -> Vec<String> {
        let mut complaints = Vec::new();
        for (code, is_span) in
            page.spans.iter().map(|span| (span, true)).chain(page.blocks.iter().map(|line| (line, false)))
        {
            let at = format!("{}:{}", page.path, code.line);
            for line in commands::lines(&code.text) {
                complaints
                    .extend(self.commands.complaints(&line).into_iter().map(|complaint| format!("{at}: {complaint}")));
            }
            if is_span && code.text.starts_with("--") && code.text.len() > 2 {
                let flag = code.text.split([' ', '=', '[']).next().unwrap_or("");
                if !self.commands.any_has(flag) && !FOREIGN_FLAGS.contains(&flag) {
                    complaints.push(format!("{at}: no command has {flag}"));
                }
            }
        }
        complaints
    }

    pub(crate) fn options(&self, page: &Page) -> Vec<String> {
        let mut complaints = Vec::new();
        for code in page.spans.iter().chain(page.blocks.iter().filter(|line| line.text.contains("libmartini.so="))) {
            for name in options::named(&code.text) {
                let is_past = PAST.iter().any(|past| page.path.starts_with(past));
                if !(self.options.contains(name) || is_past && self.old_options.contains(name)) {
                    complaints.push(format!("{}:{}: there is no agent option {name}", page.path, code.line));
                }
            }
        }
        complaints
    }
}

/// What stands before the point of a name like `events.lost`.
fn counter_prefix(text: &str) -> Option<&str> {
    let (prefix, rest) = text.split_once('.')?;
    (!rest.is_empty() && text.chars().all(|c| c.is_ascii_alphabetic() || c == '.')).then_some(prefix)
}

/// `a/{b,c}` names `a/b` and `a/c`.
fn alternatives(word: &str) -> Vec<String> {
    let Some((before, rest)) = word.split_once('{') else {
        return vec![word.to_owned()];
    };
    let Some((inside, after)) = rest.split_once('}') else {
        return vec![word.to_owned()];
    };
    inside.split(',').flat_map(|choice| alternatives(&format!("{before}{choice}{after}"))).collect()
}
