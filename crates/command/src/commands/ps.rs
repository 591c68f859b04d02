//! `martini ps`: the JVMs of this machine.

use std::collections::HashMap;
use std::io::Write;

use attach::{Jvm, list};
use serde_json::{Value, json};

use crate::attach::agent_file;
use crate::commands::per_file::print_json;
use crate::exit;
use crate::render::human::printable;
use crate::render::page::{Page, PageArguments};
use crate::render::table::Table;

/// List the JVMs on this machine
///
/// Includes JVMs of other users and in containers where permitted; root sees all. Nothing is sent to the JVMs.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Columns:
  pid      process id, for other commands
  user     owner of the process
  java     Java version
  in       \"container\" if its file system or process ids differ from ours
  agent    \"records\" while recording, \"loaded\" if the agent is idle
  program  main class or jar
A ? means no permission to look.

Examples:
  martini ps
  martini ps --json | jq -r '.jvms[] | select(.container) | .pid'

Exit status:
  0, even without any JVM")]
pub(crate) struct Arguments {
    #[command(flatten)]
    page: PageArguments,
    /// Print JSON, with program arguments
    #[arg(long)]
    json: bool,
}

/// Longer texts of a JVM are cut.
const LONGEST: usize = 200;

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let users = users(&std::fs::read_to_string("/etc/passwd").unwrap_or_default());
    let jvms = list();
    let mut out = anstream::stdout().lock();
    if arguments.json {
        let jvms: Vec<Value> = jvms.iter().map(|jvm| to_json(jvm, &users)).collect();
        print_json("ps", &json!({ "jvms": jvms }), &mut out)?;
        return Ok(exit::OK);
    }
    if jvms.is_empty() {
        writeln!(out, "No JVMs found that you may look at.")?;
        return Ok(exit::OK);
    }
    let mut table = Table::new(vec!["pid", "user", "java", "in", "agent", "program"]);
    for jvm in &jvms {
        let known = |known: Option<&str>| short(known.unwrap_or("?"));
        let container = jvm.is_contained.map(|is_contained| if is_contained { "container" } else { "-" });
        table.push(vec![
            jvm.process.pid().to_string(),
            user(jvm, &users),
            known(jvm.version.as_deref()),
            known(container),
            known(agent(jvm)),
            known(jvm.command.as_deref().and_then(|command| command.split_whitespace().next())),
        ]);
    }
    table.write(&mut Page::new(&mut out, arguments.page.width()))?;
    Ok(exit::OK)
}

fn to_json(jvm: &Jvm, users: &HashMap<u32, String>) -> Value {
    json!({
        "pid": jvm.process.pid().0,
        "inner_pid": jvm.process.inner_pid(),
        "user": user(jvm, users),
        "version": jvm.version,
        "vm": jvm.vm,
        "container": jvm.is_contained,
        "agent": has_agent(jvm),
        "recording": is_recorded(jvm),
        "command": jvm.command,
    })
}

fn has_agent(jvm: &Jvm) -> Option<bool> {
    Some(agent_file::among(jvm.mapped.as_ref()?).is_some())
}

/// Whether it is recorded: a thread of the agent's writes.
fn is_recorded(jvm: &Jvm) -> Option<bool> {
    Some(has_agent(jvm)? && jvm.process.has_thread(agent_options::WRITER)?)
}

fn agent(jvm: &Jvm) -> Option<&'static str> {
    Some(match (has_agent(jvm)?, is_recorded(jvm)?) {
        (_, true) => "records",
        (true, false) => "loaded",
        (false, false) => "-",
    })
}

/// The name of a JVM's user, or the number.
fn user(jvm: &Jvm, users: &HashMap<u32, String>) -> String {
    let uid = jvm.process.owner().uid;
    users.get(&uid).map_or_else(|| uid.to_string(), |name| short(name))
}

/// The names of users by their numbers.
fn users(passwd: &str) -> HashMap<u32, String> {
    let entry = |line: &str| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        Some((fields.nth(1)?.parse().ok()?, name.to_owned()))
    };
    passwd.lines().filter_map(entry).collect()
}

/// A text of a JVM, or of its user: anything may be in it.
fn short(text: &str) -> String {
    printable(&text.chars().take(LONGEST).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_have_names() {
        let users = users("root:x:0:0:root:/root:/bin/sh\nbroken\nnobody:x:65534:65534::/:/x\n");
        assert_eq!(users.get(&65534).map(String::as_str), Some("nobody"));
        assert_eq!(users.len(), 2);
    }

    #[test]
    fn texts_of_jvms_cannot_flood_or_colour_a_terminal() {
        assert_eq!(short("a\x1b[31m\nb"), r"a\u{1b}[31m\nb");
        assert_eq!(short(&"x".repeat(10_000)).len(), LONGEST);
    }
}
