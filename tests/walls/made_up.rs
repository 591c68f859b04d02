//! The checker on small trees that are made up.

use super::tree::{Sources, Tree};
use super::{cycles, layer, words};

fn sources(files: &[(&str, &str)]) -> Sources {
    files.iter().map(|(path, text)| (format!("x/{path}"), (*text).to_owned())).collect()
}

/// The cycles of a crate of these files, without the lines that show layers.
fn found(files: &[(&str, &str)]) -> Vec<String> {
    let complaints = cycles(&Tree::new(&sources(files), "x/lib.rs"));
    complaints.into_iter().filter(|line| !line.starts_with("  ")).collect()
}

/// The cycles of a crate of two modules with these sources.
fn two(a: &str, b: &str) -> Vec<String> {
    found(&[("lib.rs", "mod a; mod b;"), ("a.rs", a), ("b.rs", b)])
}

const B_TO_A: &str = "use crate::a::A;";

#[test]
fn a_cycle_of_two() {
    let message = "x/lib.rs: these modules form a cycle: a -> b (x/a.rs:2) -> a (x/b.rs:1)";
    assert_eq!(two("\nuse crate::b::B;", B_TO_A), [message]);
    assert!(two("use crate::b::B;", "use std::fmt;").is_empty());
}

#[test]
fn a_cycle_of_three_with_its_layers() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c; mod d;"),
        ("a.rs", "use crate::b;"),
        ("b.rs", "use crate::c;"),
        ("c.rs", "use crate::a; use crate::d;"),
        ("d.rs", ""),
    ];
    let message = "x/lib.rs: these modules form a cycle: a -> b (x/a.rs:1) -> c (x/b.rs:1) -> a (x/c.rs:1)";
    let layers = "  the layers, the lowest first: [d] [a b c]";
    assert_eq!(cycles(&Tree::new(&sources(&files), "x/lib.rs")), [message, layers]);
}

#[test]
fn every_way_to_name_a_module_counts() {
    for a in [
        "use super::b::B;",
        "use crate::{c::C, b::{self, B}};",
        "use crate::{\n    c,\n    b::B,\n};",
        "pub(crate) use crate::b::*;",
        "use super::b as other;",
        "use super::{self as root}; fn f() { root::b::g() }",
        "fn f() { crate::b::g() }",
        "fn f(x: &super::b::B) {}",
        "fn f() { use super::b; }",
        "mod inner { use super::super::b::B; }",
        "mod inner { fn f() { crate::b::g::<crate::c::C>() } }",
        "#[cfg(not(test))] use crate::b::B;",
        "const A: char = '\"'; use crate::b::B; const Z: char = '\"';",
        "fn f<'b>(x: &'b str) -> Option<crate::b::B<'b>> { None }",
    ] {
        assert_eq!(two(a, B_TO_A).len(), 1, "{a}");
    }
}

#[test]
fn what_is_no_use_does_not_count() {
    for a in [
        "// use crate::b::B;",
        "/* /* */ use crate::b::B; */",
        "/// See [`crate::b::B`].\nfn f() {}",
        "const A: &str = \"use crate::b::B; \\\" crate::b::c\";",
        "const A: &str = r#\" \" crate::b::B \"#;",
        "const A: &[u8] = b\"crate::b::B\";",
        "#[cfg(test)] mod tests { use crate::b::B; fn f() { if true { crate::b::g() } } }",
        "#[cfg(test)] use crate::b::{B, C};",
        "#[cfg(all(test, unix))] #[allow(unused)] pub(crate) fn f(x: [u8; 2]) { crate::b::g() }",
        "#[test] fn f() { crate::b::g() }",
        "#[cfg(test)] mod tests;",
        "use b::B;",
        "use ::b::B;",
        "pub(in crate::b) fn f() {}",
        "fn f() { b::g() }",
    ] {
        assert!(two(a, B_TO_A).is_empty(), "{a}");
    }
}

#[test]
fn code_behind_a_test_module_counts() {
    assert_eq!(two("#[cfg(test)] mod tests { fn f() {} } use crate::b::B;", B_TO_A).len(), 1);
    assert_eq!(two("enum E { #[cfg(test)] X, Y } struct S { #[cfg(test)] x: u8, y: crate::b::B }", B_TO_A).len(), 1);
}

#[test]
fn names_that_a_module_passes_on_lead_to_where_they_come_from() {
    let through =
        |root: &str, a: &str| found(&[("lib.rs", root), ("a.rs", a), ("b.rs", "use crate::a::A; pub struct B;")]);
    assert_eq!(through("mod a; mod b; pub use b::B;", "use crate::B;").len(), 1);
    assert_eq!(through("mod a; mod b; pub use b::B as C;", "use crate::{C};").len(), 1);
    assert_eq!(through("mod a; mod b; pub use b::*;", "use crate::B;").len(), 1);
    assert_eq!(through("mod a; mod b; pub use b::B;", "use crate::*;").len(), 1);
    assert!(through("mod a; mod b; pub use b::B; pub struct D;", "use crate::D;").is_empty());
}

#[test]
fn a_root_with_code_is_a_module() {
    let root = "mod a; use a::A; struct Whole(A); impl Whole { fn f() { a::f() } }";
    let message = "x/lib.rs: these modules form a cycle: a -> x/lib.rs (x/a.rs:1) -> a (x/lib.rs:1)";
    assert_eq!(found(&[("lib.rs", &format!("mod b; {root}")), ("a.rs", "use super::Whole;"), ("b.rs", "")]), [message]);
    let declares = [("lib.rs", "mod a; mod b; pub use a::A; pub use b::B;"), ("a.rs", "use crate::B;"), ("b.rs", "")];
    assert!(found(&declares).is_empty());
}

#[test]
fn folders_are_checked_inside_and_may_use_their_own_interface() {
    let folder = |interface: &'static str, p: &'static str, q: &'static str| {
        let files = [("lib.rs", "mod a; mod b;"), ("a/mod.rs", interface), ("a/p.rs", p), ("a/q.rs", q), ("b.rs", "")];
        found(&files)
    };
    let message = "x/a/mod.rs: these modules form a cycle: p -> q (x/a/p.rs:1) -> p (x/a/q.rs:1)";
    assert_eq!(folder("mod p; mod q;", "use super::q::Q;", "use crate::a::p::P;"), [message]);
    assert!(folder("mod p; mod q; use p::P; struct A(P);", "use super::A;", "").is_empty());
    // A file beside its folder is the folder's interface too.
    let beside = [("lib.rs", "mod a; mod b;"), ("a.rs", "mod p;"), ("a/p.rs", "use crate::b::B;"), ("b.rs", B_TO_A)];
    assert_eq!(found(&beside).len(), 1);
}

#[test]
fn a_layer_that_names_a_higher_one() {
    let files = [("lib.rs", "mod low; mod high;"), ("low.rs", "\nuse crate::high::H;"), ("high.rs", "")];
    let tree = Tree::new(&sources(&files), "x/lib.rs");
    assert_eq!(layer(&tree, "low", &["high"]), ["low must not know of high, but names it: x/low.rs:2"]);
    assert!(layer(&tree, "high", &["low"]).is_empty());
}

#[test]
fn words_are_found_in_code_only() {
    let text = "// unsafe\n/// unsafe\nfn f() { \"unsafe\"; unsafe_code(); }\nunsafe fn g() {}";
    assert_eq!(words(&sources(&[("a.rs", text)]), "unsafe", |_| true), ["x/a.rs:4"]);
}
