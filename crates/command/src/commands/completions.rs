//! `martini completions`: scripts that let a shell complete our command line.

use std::io::Write;

use clap_complete::Shell;

use crate::exit;

/// Print a shell completion script
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  martini completions bash > ~/.local/share/bash-completion/completions/martini
  martini completions zsh  > \"${fpath[1]}/_martini\"
  martini completions fish > ~/.config/fish/completions/martini.fish")]
pub(crate) struct Arguments {
    /// Shell
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments, mut command: clap::Command) -> anyhow::Result<u8> {
    // Into memory first: the generator panics when its output is a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "martini", &mut script);
    std::io::stdout().lock().write_all(&script)?;
    Ok(exit::OK)
}
