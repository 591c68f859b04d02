//! `docs/reference/commands.md`, rendered from the definitions of the command line.

use clap::{Arg, Command};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/commands.md");

const HEAD: &str = "\
# Commands

<!-- Written from the command line's definitions in crates/command. To write it again: MARTINI_UPDATE=1 cargo test -p command reference -->

`martini help COMMAND` shows the same on a terminal, `martini man COMMAND` as a manual page. What the tables and the JSON mean:
[stats](stats.md), [tree](tree.md), [locks and threads](locks.md), [safepoints](safepoints.md), [heap dumps](heap-dump.md).
";

/// Flags under such a heading are described on the page of options.
const AGENT_OPTIONS: &str = "(agent options)";

fn page(mut root: Command) -> String {
    root.build();
    let mut page = String::from(HEAD);
    page.push_str("\n| command | |\n|---|---|\n");
    for command in commands(&root) {
        let (name, about) = (command.get_name(), command.get_about().map(ToString::to_string).unwrap_or_default());
        page.push_str(&format!("| [`martini {name}`](#martini-{name}) | {about} |\n"));
    }
    if let Some(exit_status) =
        after_help(&root).and_then(|text| text.split_once("\n\n").map(|(_, rest)| rest.to_owned()))
    {
        page.push_str(&format!("\n```\n{exit_status}\n```\n"));
    }
    for command in commands(&root) {
        page.push_str(&section(command));
    }
    page
}

/// All but `help`.
fn commands(root: &Command) -> impl Iterator<Item = &Command> {
    root.get_subcommands().filter(|command| command.get_name() != "help")
}

fn after_help(command: &Command) -> Option<String> {
    command.get_after_help().map(ToString::to_string)
}

fn section(command: &Command) -> String {
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").to_owned();
    let mut text = format!("\n## martini {}\n\n```\n{usage}\n```\n\n", command.get_name());
    // The first paragraph stands without a full stop.
    let (first, rest) = about.split_once("\n\n").map_or((about.as_str(), None), |(first, rest)| (first, Some(rest)));
    text.push_str(&format!("{first}.\n"));
    text.extend(rest.map(|rest| format!("\n{rest}\n")));
    let is_agents = |arg: &&Arg| arg.get_help_heading().is_some_and(|heading| heading.ends_with(AGENT_OPTIONS));
    if command.get_arguments().any(|arg| is_agents(&arg)) {
        text.push_str("\nTakes all [agent options](options.md) as flags, and:\n");
    }
    text.push_str("\n| argument | default | meaning |\n|---|---|---|\n");
    for arg in command.get_arguments().filter(|arg| !is_agents(arg) && arg.get_id() != "help") {
        text.push_str(&row(arg));
    }
    text.extend(after_help(command).map(|help| format!("\n```\n{help}\n```\n")));
    text
}

fn row(arg: &Arg) -> String {
    let values: Vec<&str> = arg.get_value_names().unwrap_or_default().iter().map(|name| name.as_str()).collect();
    let value = if arg.get_action().takes_values() { values.join(" ") } else { String::new() };
    let name = match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long} {value}"),
        (None, Some(long)) => format!("--{long} {value}"),
        _ => value,
    };
    let mut meaning = arg.get_help().map(ToString::to_string).unwrap_or_default();
    // Some defaults depend on other flags, so the text says them.
    let takes_values = arg.get_action().takes_values();
    let defaults = arg.get_default_values().iter().filter(|_| takes_values).map(|value| value.to_string_lossy());
    let mut default = defaults.collect::<Vec<_>>().join(", ");
    if let Some((text, said)) = meaning.split_once(" [default: ") {
        default = said.trim_end_matches(']').to_owned();
        meaning = text.to_owned();
    }
    let choices: Vec<String> =
        if takes_values { arg.get_possible_values().iter().map(choice).collect() } else { Vec::new() };
    if !choices.is_empty() {
        meaning.push_str(&format!(": {}", choices.join("; ")));
    }
    let cell = |text: &str| text.replace('|', "\\|");
    format!("| `{}` | {} | {} |\n", cell(name.trim_end()), cell(&default), cell(&meaning))
}

fn choice(value: &clap::builder::PossibleValue) -> String {
    match value.get_help() {
        Some(help) => format!("`{}` ({help})", value.get_name()),
        None => format!("`{}`", value.get_name()),
    }
}

#[test]
fn the_reference_page_says_what_the_command_line_does() {
    use clap::CommandFactory;

    let page = page(super::Cli::command());
    if std::env::var_os("MARTINI_UPDATE").is_some_and(|value| value == "1") {
        std::fs::write(PAGE, &page).expect("the page can be written");
    }
    let written = std::fs::read_to_string(PAGE).unwrap_or_default();
    assert!(
        written == page,
        "docs/reference/commands.md differs from the command line; write it again: \
         MARTINI_UPDATE=1 cargo test -p command reference"
    );
}

#[test]
fn help_has_examples_and_fits_80_columns() {
    use clap::CommandFactory;

    let mut root = super::Cli::command();
    root.build();
    for command in std::iter::once(&root).chain(commands(&root)) {
        let name = command.get_name();
        let after_help = after_help(command).unwrap_or_default();
        assert!(after_help.contains("Examples:\n  martini "), "{name}");
        let help = command.clone().render_long_help().to_string();
        for line in help.lines().chain(after_help.lines()) {
            assert!(line.chars().count() <= 80, "{name}: {line}");
        }
    }
}
