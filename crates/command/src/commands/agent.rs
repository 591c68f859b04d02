//! `martini agent`: where the agent lies, for command lines that somebody else writes.

use std::io::Write;
use std::os::unix::ffi::OsStrExt;

use crate::exit;
use crate::launch::library;

/// Print the agent's path, for -agentpath
///
/// The agent is built into this command, which first writes it to the user's cache folder if it is not there.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  martini agent
  java -agentpath:$(martini agent)=heap=counts -jar app.jar
  mvn test -DargLine=-agentpath:$(martini agent)=heap=counts")]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments) -> anyhow::Result<u8> {
    let path = library::find(None)?;
    let mut out = std::io::stdout().lock();
    out.write_all(path.as_os_str().as_bytes())?;
    writeln!(out)?;
    Ok(exit::OK)
}
