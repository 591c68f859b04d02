//! `martini man`: the manual page, rendered from the same definitions as `--help`.

use std::io::Write;

use crate::exit;

/// Print the manual page of martini or a command
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  martini man | man -l -
  martini man run > martini-run.1")]
pub(crate) struct Arguments {
    /// Command to describe [default: martini itself]
    command: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, mut root: clap::Command) -> anyhow::Result<u8> {
    root.build();
    let described = match &arguments.command {
        None => root,
        Some(name) => match root.find_subcommand(name) {
            Some(command) => command.clone(),
            None => anyhow::bail!("martini has no command '{name}'; `martini --help` lists them"),
        },
    };
    std::io::stdout().lock().write_all(page(described).as_bytes())?;
    Ok(exit::OK)
}

/// The manual page of a command.
pub(crate) fn page(described: clap::Command) -> String {
    let mut page = Vec::new();
    clap_mangen::Man::new(described).render(&mut page).expect("writing to memory");
    String::from_utf8(page).expect("clap writes UTF-8")
}
