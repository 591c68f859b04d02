//! What the documents name exists: pages, headings, files, folders, subcommands, flags, options, counters and tests.
//!
//! `cargo test --test documents` reads every Markdown file of the tree. It starts no JVM.

mod check;
mod commands;
mod markdown;
mod options;
mod tree;

use check::Checker;

fn checker() -> &'static Checker {
    static CHECKER: std::sync::LazyLock<Checker> = std::sync::LazyLock::new(Checker::of_the_project);
    &CHECKER
}

fn complaints_of(check: impl Fn(&Checker, &markdown::Page) -> Vec<String>) -> Vec<String> {
    let checker = checker();
    assert!(checker.pages().len() > 10, "{} pages found", checker.pages().len());
    checker.pages().iter().flat_map(|page| check(checker, page)).collect()
}

fn assert_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn links_lead_somewhere() {
    assert_none(&complaints_of(Checker::links));
}

#[test]
fn every_page_can_be_reached_from_the_readme() {
    assert_none(&checker().unreachable());
}

#[test]
fn named_files_and_folders_exist() {
    assert_none(&complaints_of(Checker::paths));
}

#[test]
fn named_tests_exist() {
    assert_none(&complaints_of(Checker::tests));
}

#[test]
fn named_counters_are_on_the_format_page() {
    assert_none(&complaints_of(Checker::counters));
}

#[test]
fn pages_named_in_sources_exist() {
    assert_none(&checker().mentions());
}

#[test]
fn named_commands_and_flags_exist() {
    assert_none(&complaints_of(Checker::commands));
}

#[test]
fn named_agent_options_exist() {
    assert_none(&complaints_of(Checker::options));
}

#[test]
fn what_does_not_exist_is_found() {
    let checker = checker();
    let page = markdown::Page::new(
        "docs/sample.md",
        "# One\n\
         [page](nowhere.md) [anchor](#two) [good](#one) [else](../README.md#no-such-heading) [web](https://example.org/x)\n\
         `src/nowhere.rs` `no_such_file.rs` `src/main.rs` `main.rs` `crates/{trace,nothing}/src` `crates/*/Cargo.toml` `/proc/self/maps`\n\
         `martini nosuch`, `martini stats --nosuch app.trcxml`, `--no-flag`, `martini stats --top 5`\n\
         `heap=counts`, `nosuch=1`, `heap=counts,bad=2`, `threads=on`, `events.lost`, `events.won`, `events.waits`, `source=\"vm\"`\n\
         ```\n\
         $ martini run --nosuch=1 --stack 8 java --not-ours -jar app.jar # --neither\n\
         cargo run --release -- demo --wrong\n\
         java -agentpath:/lib/libmartini.so=file=app.trcxml,wrong=1,include=com.acme.* -jar app.jar\n\
         ```\n\
         `cargo test --test documents` `cargo test --test nothing`\n",
    );
    let checks =
        [Checker::links, Checker::paths, Checker::commands, Checker::options, Checker::counters, Checker::tests];
    let all: Vec<String> = checks.iter().flat_map(|check| check(checker, &page)).collect();
    let expected = [
        "docs/sample.md:2: docs/nowhere.md does not exist",
        "docs/sample.md:2: docs/sample.md has no heading #two",
        "docs/sample.md:2: README.md has no heading #no-such-heading",
        "docs/sample.md:3: there is no src/nowhere.rs",
        "docs/sample.md:3: there is no no_such_file.rs",
        "docs/sample.md:3: there is no crates/nothing/src",
        "docs/sample.md:4: there is no command martini nosuch",
        "docs/sample.md:4: martini stats has no --nosuch",
        "docs/sample.md:4: no command has --no-flag",
        "docs/sample.md:7: martini run has no --nosuch",
        "docs/sample.md:8: martini demo has no --wrong",
        "docs/sample.md:5: there is no agent option nosuch",
        "docs/sample.md:5: there is no agent option bad",
        "docs/sample.md:5: there is no agent option threads",
        "docs/sample.md:9: there is no agent option wrong",
        "docs/sample.md:5: the format page has no counter events.won",
        "docs/sample.md:5: the format page has no counter events.waits",
        "docs/sample.md:11: there is no test nothing",
    ];
    assert_eq!(all, expected, "{all:#?}");
}
