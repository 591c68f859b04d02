//! As much of Markdown as the documents use: headings, links, code in lines and in blocks.

use std::collections::HashMap;

/// A Markdown file.
pub(crate) struct Page {
    /// Its path from the root of the tree.
    pub(crate) path: String,
    /// What links may name behind `#`.
    pub(crate) anchors: Vec<String>,
    pub(crate) links: Vec<Item>,
    /// Code between backticks.
    pub(crate) spans: Vec<Item>,
    /// Lines of fenced blocks.
    pub(crate) blocks: Vec<Item>,
}

/// A piece of text, and the line that it is in.
pub(crate) struct Item {
    pub(crate) line: usize,
    pub(crate) text: String,
}

impl Page {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let mut page = Page { path: path.to_owned(), anchors: vec![], links: vec![], spans: vec![], blocks: vec![] };
        let mut seen = HashMap::new();
        let mut in_block = false;
        for (number, line) in text.lines().enumerate() {
            let number = number + 1;
            if line.trim_start().starts_with("```") {
                in_block = !in_block;
            } else if in_block {
                page.blocks.push(Item { line: number, text: line.to_owned() });
            } else {
                if line.starts_with('#') {
                    page.anchors.push(anchor(line.trim_start_matches('#').trim(), &mut seen));
                }
                page.line(number, line);
            }
        }
        assert!(!in_block, "{path}: a fenced block has no end");
        page
    }

    fn line(&mut self, number: usize, line: &str) {
        let mut prose = String::new();
        for (index, part) in line.split('`').enumerate() {
            if index % 2 == 0 {
                prose.push_str(part);
            } else {
                self.spans.push(Item { line: number, text: part.to_owned() });
            }
        }
        for (start, _) in prose.match_indices("](") {
            let rest = &prose[start + 2..];
            let target = rest.split(')').next().unwrap_or(rest);
            self.links.push(Item { line: number, text: target.to_owned() });
        }
        for part in prose.split("<code>").skip(1) {
            let code = part.split("</code>").next().unwrap_or(part).replace("&#124;", "|");
            self.spans.push(Item { line: number, text: code });
        }
    }
}

/// The anchor that forges make of a heading.
fn anchor(heading: &str, seen: &mut HashMap<String, usize>) -> String {
    let kept = heading.to_lowercase();
    let kept: String = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_')).collect();
    let anchor = kept.replace(' ', "-");
    let count = seen.entry(anchor.clone()).or_default();
    *count += 1;
    if *count == 1 { anchor } else { format!("{anchor}-{}", *count - 1) }
}

#[test]
fn pages_are_taken_apart() {
    let page = Page::new("a.md", "# A `b`: c\n## Same\n[x `y`](z.md) and `code`\n## Same\n```\nblock\n```\n");
    assert_eq!(page.anchors, ["a-b-c", "same", "same-1"]);
    assert_eq!(page.links.iter().map(|link| &*link.text).collect::<Vec<_>>(), ["z.md"]);
    assert_eq!(page.spans.iter().map(|span| &*span.text).collect::<Vec<_>>(), ["b", "y", "code"]);
    assert_eq!(page.blocks[0].text, "block");
    assert_eq!(page.blocks[0].line, 6);
}
