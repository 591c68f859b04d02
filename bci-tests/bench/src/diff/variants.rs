//! Changes of the program, as text.

/// Rounds that the program does.
const ROUNDS: f64 = 300.0;

/// More bytes than before, in one method.
pub(super) struct Planted {
    pub(super) method: &'static str,
    /// Of all bytes.
    pub(super) share: f64,
    /// What allocates, and how many bytes each time.
    code: &'static str,
    bytes: f64,
}

const fn by_itself(share: f64) -> Planted {
    Planted { method: "buffers", share, code: "new byte[84]", bytes: 104.0 }
}

/// Through the class library.
const fn by_a_library(share: f64) -> Planted {
    Planted { method: "prices", share, code: "Integer.toString(1_000_000 + i)", bytes: 48.0 }
}

/// What is planted.
pub(super) const PLANTED: [Planted; 6] =
    [by_itself(0.01), by_itself(0.05), by_itself(0.5), by_a_library(0.01), by_a_library(0.05), by_a_library(0.5)];

impl Planted {
    /// The program with it; `total`: bytes of the program without.
    pub(super) fn edit(&self, source: &str, total: f64) -> String {
        let times = (total * self.share / self.bytes / ROUNDS).round();
        let head = format!("static void {}() {{\n", self.method);
        let planted = format!("{head}        for (int i = 0; i < {times}; i++) sink = {};\n", self.code);
        source.replace(&head, &planted)
    }
}

/// A refactoring, by what it changes in the text.
pub(super) struct Edit {
    pub(super) name: &'static str,
    pub(super) changes: &'static [Change],
}

/// One change.
pub(super) enum Change {
    /// One text for another, everywhere.
    Replace(&'static str, &'static str),
    /// A method goes to a class of its own.
    Move(&'static str),
    /// A method's code stands where it was called.
    Inline(&'static str),
}

use Change::{Inline, Move, Replace};

const fn edit(name: &'static str, changes: &'static [Change]) -> Edit {
    Edit { name, changes }
}

/// None of these changes what is allocated.
pub(super) const REFACTORINGS: [Edit; 20] = [
    edit("orders renamed", &[Replace("orders()", "takeOrders()")]),
    edit("names renamed", &[Replace("names()", "customers()"), Replace("name(", "customer(")]),
    edit("prices renamed", &[Replace("prices()", "list()")]),
    edit("buffers renamed", &[Replace("buffers()", "blocks()")]),
    edit("copies renamed", &[Replace("copies()", "clones()")]),
    edit("orders moved", &[Move("orders")]),
    edit("buffers moved", &[Move("buffers")]),
    edit("copies moved", &[Move("copies")]),
    edit("index moved", &[Move("index")]),
    edit(
        "buffers split",
        &[Replace(
            "        for (int i = 0; i < 100; i++) sink = new int[50];\n",
            "        ints();\n    }\n\n    static void ints() {\n        for (int i = 0; i < 100; i++) sink = new int[50];\n",
        )],
    ),
    edit(
        "orders split",
        &[Replace(
            "        for (int i = 0; i < 1000; i++) sink = new Order(i);\n",
            "        for (int i = 0; i < 300; i++) sink = new Order(i);\n        more();\n    }\n\n    static void more() {\n        for (int i = 300; i < 1000; i++) sink = new Order(i);\n",
        )],
    ),
    edit(
        "copies split",
        &[Replace(
            "        for (int i = 0; i < 100; i++) sink = from.clone();\n",
            "        for (int i = 0; i < 50; i++) sink = from.clone();\n        rest(from);\n    }\n\n    static void rest(byte[] from) {\n        for (int i = 0; i < 50; i++) sink = from.clone();\n",
        )],
    ),
    edit("orders inlined", &[Inline("orders")]),
    edit("buffers inlined", &[Inline("buffers")]),
    edit("copies inlined", &[Inline("copies")]),
    edit("Order renamed", &[Replace("Order(", "Sale("), Replace("class Order", "class Sale")]),
    edit("the package renamed", &[Replace("package shop", "package market")]),
    edit(
        "the making of an order extracted",
        &[Replace(
            "sink = new Order(i);\n    }\n",
            "sink = make(i);\n    }\n\n    static Order make(int i) {\n        return new Order(i);\n    }\n",
        )],
    ),
    edit("buffers renamed and moved", &[Move("buffers"), Replace("buffers()", "blocks()")]),
    edit("orders and copies inlined", &[Inline("orders"), Inline("copies")]),
];

/// The text of a method, with its end, and its code.
fn method<'a>(source: &'a str, name: &str) -> (&'a str, &'a str) {
    let head = format!("    static void {name}() {{\n");
    let begin = source.find(&head).unwrap_or_else(|| panic!("the program has no method {name}"));
    let end = begin + source[begin..].find("\n    }\n").expect("a method ends");
    (&source[begin..end + 7], &source[begin + head.len()..=end])
}

/// The program after a refactoring.
pub(super) fn edited(source: &str, changes: &[Change]) -> String {
    changes.iter().fold(source.to_owned(), |source, change| match change {
        Replace(from, to) => source.replace(from, to),
        Move(name) => {
            let (whole, _) = method(&source, name);
            let moved = whole.replace("sink", "Store.sink").replace("new Order", "new Store.Order");
            let rest = source
                .replace(whole, "")
                .replace(&format!("            {name}();"), &format!("            Depot.{name}();"));
            format!("{rest}\nfinal class Depot {{\n{moved}}}\n")
        }
        Inline(name) => {
            let (whole, code) = method(&source, name);
            let block = format!("            {{\n{code}            }}\n");
            source.replace(whole, "").replace(&format!("            {name}();\n"), &block)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::built::source_folder;

    #[test]
    fn each_edit_changes_the_program() {
        let source = std::fs::read_to_string(source_folder("diff").join("Store.java")).expect("the program");
        for Edit { name, changes } in REFACTORINGS {
            let after = edited(&source, changes);
            assert_ne!(after, source, "{name}");
            assert_eq!(after.matches('{').count(), after.matches('}').count(), "{name}");
        }
        let planted = PLANTED[0].edit(&source, 300_000_000.0);
        assert!(planted.contains("for (int i = 0; i < 96; i++) sink = new byte[84];"), "{planted}");
    }
}
