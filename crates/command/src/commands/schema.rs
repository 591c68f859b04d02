//! `martini schema`: the form of the documents that `--json` prints.

use std::io::Write;

use crate::exit;

/// Print the JSON schema of what --json prints
///
/// One definition for each command, with the meaning and unit of each field (JSON Schema, draft 2020-12).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  martini schema > martini.schema.json
  martini schema | jq '.\"$defs\".stats_allocations.properties.tables'")]
pub(crate) struct Arguments {}

pub(crate) const SCHEMA: &str = include_str!("../../schemas/martini-json.schema.json");

pub(crate) fn run(Arguments {}: &Arguments) -> anyhow::Result<u8> {
    std::io::stdout().lock().write_all(SCHEMA.as_bytes())?;
    Ok(exit::OK)
}
