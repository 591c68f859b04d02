//! `docs/reference/options.md` says what the table says.

use std::path::Path;

#[test]
fn the_reference_page_is_that_of_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/options.md");
    let expected = agent_options::reference();
    if std::env::var_os("MARTINI_UPDATE").is_some_and(|value| value == "1") {
        std::fs::write(&path, &expected).expect("the page can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let differing = found.lines().zip(expected.lines()).position(|(found, expected)| found != expected);
    let line = differing.unwrap_or(found.lines().count().min(expected.lines().count())) + 1;
    assert!(
        found == expected,
        "docs/reference/options.md differs from the table of options, first in line {line}; \
         write it again: MARTINI_UPDATE=1 cargo test -p agent-options"
    );
}
