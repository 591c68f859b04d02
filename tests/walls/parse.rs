//! What one module's source declares and names: child modules, items, `use` lines and paths in code.

use std::collections::BTreeSet;

use super::lexer::Token;

/// A path that the source names, by `use` or in code.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) segments: Vec<String>,
    pub(crate) line: usize,
    pub(crate) by: By,
}

#[derive(Clone, Debug)]
pub(crate) enum By {
    /// `use a::b as name`.
    Import { name: String, public: bool },
    /// `use a::b::*`.
    Glob { public: bool },
    /// `a::b` in code.
    Code,
}

impl By {
    /// Whether this passes a name on to other modules.
    pub(crate) fn is_public(&self) -> bool {
        matches!(self, By::Import { public: true, .. } | By::Glob { public: true })
    }
}

#[derive(Default)]
pub(crate) struct Parsed {
    /// Modules in files of their own: `mod name;`.
    pub(crate) files: Vec<String>,
    /// Modules in the same file: `mod name { ... }`.
    pub(crate) inline: Vec<(String, Parsed)>,
    pub(crate) items: BTreeSet<String>,
    pub(crate) named: Vec<Named>,
}

/// The tokens of one module, without what is compiled for tests only.
pub(crate) fn parse(tokens: &[Token]) -> Parsed {
    let mut parser = Parser { tokens, at: 0, depth: 0, public: false, parsed: Parsed::default() };
    while parser.at < tokens.len() {
        parser.step();
    }
    parser.parsed
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    /// Braces open around the current token.
    depth: usize,
    /// Whether `pub` or `pub(...)` stands before the current token.
    public: bool,
    parsed: Parsed,
}

impl Parser<'_> {
    fn text(&self, ahead: usize) -> &str {
        self.tokens.get(self.at + ahead).map_or("", |token| &token.text)
    }

    fn word(&self, ahead: usize) -> Option<String> {
        self.tokens.get(self.at + ahead).filter(|token| token.is_word()).map(|token| token.text.clone())
    }

    fn step(&mut self) {
        let public = std::mem::take(&mut self.public);
        match self.text(0) {
            "#" if self.text(1) == "[" || (self.text(1) == "!" && self.text(2) == "[") => self.attribute(),
            "pub" => self.visibility(),
            "use" => self.use_line(public),
            "mod" if self.word(1).is_some() => self.module(),
            "fn" | "struct" | "enum" | "union" | "trait" | "type" | "const" | "static" if self.word(1).is_some() => {
                let name = usize::from(self.text(1) == "mut") + 1;
                if self.depth == 0 {
                    self.parsed.items.extend(self.word(name));
                }
                // `const fn name`: the name comes after the next keyword.
                self.at += 1;
            }
            "macro_rules" if self.text(1) == "!" => {
                self.parsed.items.extend(self.word(2));
                self.at += 3;
            }
            "{" => {
                self.depth += 1;
                self.at += 1;
            }
            "}" => {
                self.depth = self.depth.saturating_sub(1);
                self.at += 1;
            }
            // A path from a crate's name, or one that goes on behind a type's parameters.
            "::" => self.skip_path(),
            _ if self.word(0).is_some() => self.path(),
            _ => self.at += 1,
        }
    }

    fn visibility(&mut self) {
        self.at += 1;
        if self.text(0) == "(" && matches!(self.text(1), "crate" | "super" | "self" | "in") {
            self.at = self.after_group(self.at);
        }
        self.public = true;
    }

    fn attribute(&mut self) {
        let inner = self.text(1) == "!";
        let start = self.at + 1 + usize::from(inner);
        let end = self.after_group(start);
        let tests_only = is_for_tests(&self.tokens[start + 1..end - 1]);
        self.at = end;
        match (tests_only, inner) {
            (true, true) => self.at = self.tokens.len(),
            (true, false) => self.skip_item(),
            _ => {}
        }
    }

    /// The index behind the group that the token at `start` opens.
    fn after_group(&self, start: usize) -> usize {
        let mut depth = 0;
        for (index, token) in self.tokens.iter().enumerate().skip(start) {
            match token.text.as_str() {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return index + 1;
            }
        }
        self.tokens.len()
    }

    /// Skips an item, statement, field, variant or match arm.
    fn skip_item(&mut self) {
        while self.text(0) == "#" {
            self.at = self.after_group(self.at + 1);
        }
        if self.text(0) == "pub" {
            self.visibility();
            self.public = false;
        }
        let ends_with_semicolon =
            matches!(self.text(0), "use" | "const" | "static" | "type" | "let") && self.text(1) != "fn";
        let is_item = matches!(
            self.text(0),
            "fn" | "const"
                | "async"
                | "unsafe"
                | "extern"
                | "mod"
                | "struct"
                | "enum"
                | "union"
                | "trait"
                | "impl"
                | "macro_rules"
        );
        while self.at < self.tokens.len() {
            match self.text(0) {
                ";" => {
                    self.at += 1;
                    return;
                }
                "," if !ends_with_semicolon && !is_item => {
                    self.at += 1;
                    return;
                }
                "{" if !ends_with_semicolon => {
                    self.at = self.after_group(self.at);
                    return;
                }
                "(" | "[" | "{" => self.at = self.after_group(self.at),
                ")" | "]" | "}" => return,
                _ => self.at += 1,
            }
        }
    }

    fn module(&mut self) {
        let name = self.word(1).expect("checked by the caller");
        self.at += 2;
        if self.text(0) == "{" {
            let end = self.after_group(self.at);
            self.parsed.inline.push((name, parse(&self.tokens[self.at + 1..end - 1])));
            self.at = end;
        } else {
            self.parsed.files.push(name);
        }
    }

    fn use_line(&mut self, public: bool) {
        self.at += 1;
        // `impl Trait + use<'a>` is no import.
        if self.text(0) == "<" {
            return;
        }
        self.use_tree(&[], public);
    }

    /// One branch of a `use` line, up to the comma, brace or semicolon behind it.
    fn use_tree(&mut self, prefix: &[String], public: bool) {
        let mut segments = prefix.to_vec();
        let line = self.tokens.get(self.at).map_or(0, |token| token.line);
        if self.text(0) == "::" {
            // Another crate's name.
            segments.push(String::new());
            self.at += 1;
        }
        loop {
            match self.text(0) {
                "*" => {
                    self.at += 1;
                    self.name_path(segments, line, By::Glob { public });
                    return;
                }
                "{" => {
                    self.at += 1;
                    while self.at < self.tokens.len() && self.text(0) != "}" {
                        self.use_tree(&segments, public);
                        if self.text(0) == "," {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    return;
                }
                "self" if !segments.is_empty() => self.at += 1,
                "::" => self.at += 1,
                "as" => {
                    let name = self.word(1).unwrap_or_default();
                    self.at += 2;
                    self.name_path(segments, line, By::Import { name, public });
                    return;
                }
                _ => match self.word(0) {
                    Some(word) => {
                        segments.push(word);
                        self.at += 1;
                    }
                    None => {
                        let name = segments.last().cloned().unwrap_or_default();
                        self.name_path(segments, line, By::Import { name, public });
                        if !matches!(self.text(0), "," | "}") {
                            self.at += 1;
                        }
                        return;
                    }
                },
            }
        }
    }

    fn path(&mut self) {
        let line = self.tokens[self.at].line;
        let mut segments = vec![self.text(0).to_owned()];
        self.at += 1;
        while self.text(0) == "::"
            && let Some(word) = self.word(1)
        {
            segments.push(word);
            self.at += 2;
        }
        if segments.len() > 1 {
            self.name_path(segments, line, By::Code);
        }
    }

    fn skip_path(&mut self) {
        while self.text(0) == "::" {
            self.at += 1 + usize::from(self.word(1).is_some());
        }
    }

    fn name_path(&mut self, segments: Vec<String>, line: usize, by: By) {
        if !segments.is_empty() {
            self.parsed.named.push(Named { segments, line, by });
        }
    }
}

/// Whether an attribute is `test` or `cfg(...)` with `test` outside `not(...)`.
fn is_for_tests(attribute: &[Token]) -> bool {
    match attribute.first() {
        Some(word) if word.is("test") => true,
        Some(word) if word.is("cfg") => {
            (1..attribute.len()).any(|at| attribute[at].is("test") && !(at >= 2 && attribute[at - 2].is("not")))
        }
        _ => false,
    }
}
