//! The command `martini`: profiles Java programs and reads what the agent wrote. `commands` has a file or folder per subcommand; `input` reads, `launch` runs programs, `render` prints.

mod attach;
mod commands;
mod exit;
mod input;
mod launch;
mod push;
mod redact;
mod render;
mod report;
mod rolling;
mod top;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use commands::{
    agent, attach as attaching, check, classes, completions, demo, diff, doctor, explain, export, fleet, heap_dump,
    import, locks, man, ps, push as pushing, recording, report as reporting, requests, run, safepoints, schema, stats,
    threads, top as live, tree, validate, warmup,
};

/// Profile allocations, CPU time and lock waits of Java programs
///
/// Martini runs a program with its agent, or attaches the agent to a running JVM. The agent counts allocations, samples CPU time, or records every
/// object or lock wait, and writes a trace in the XML format of Eclipse TPTP. The other commands read traces and heap dumps.
#[derive(Debug, Parser)]
#[command(name = "martini", version, max_term_width = 80, after_help = format!("{EXAMPLES}\n\n{}", exit::HELP))]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  martini demo                                  profile a bundled program
  martini run java -jar app.jar                 profile a program
  martini run --include 'com.acme.*' mvn test   profile every JVM of a build
  martini ps                                    list running JVMs
  martini attach 4711                           record one until Ctrl-C
  martini top 4711                              live view
  martini doctor 4711                           find out why attach fails
  martini explain martini-4711.trcxml           main findings
  martini report martini-4711.trcxml            HTML report
  martini stats martini-4711.trcxml             allocations by line of code
  martini tree martini-4711.trcxml              call trees
  martini locks martini-4711.trcxml             lock waits
  martini threads martini-4711.trcxml           how threads spent their time
  martini safepoints martini-4711.trcxml        who delays safepoints
  martini warmup martini-4711.trcxml            where the start of the JVM went
  martini requests martini-4711.trcxml          why the first request was slow
  martini diff before.trcxml after.trcxml       what differs between two runs
  martini check rules.toml martini-4711.trcxml  whether budgets are kept
  martini fleet add store martini-*.trcxml      many traces as Parquet, for SQL
  martini export martini-4711.trcxml --to jfr -o app.jfr
                                                for other tools
  martini import app.jfr                        from JDK Flight Recorder
  martini heap app.hprof                        what keeps objects alive
  martini classes app.jar                       which Java release it needs";

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::Arguments),
    Ps(ps::Arguments),
    Attach(attaching::Arguments),
    Status(recording::StatusArguments),
    Snapshot(recording::SnapshotArguments),
    Dump(recording::DumpArguments),
    Set(recording::SetArguments),
    #[command(visible_alias = "detach")]
    Stop(recording::StopArguments),
    Top(live::Arguments),
    Doctor(doctor::Arguments),
    Demo(demo::Arguments),
    Explain(explain::Arguments),
    Report(reporting::Arguments),
    Stats(stats::Arguments),
    Tree(tree::Arguments),
    Threads(threads::Arguments),
    Locks(locks::Arguments),
    Safepoints(safepoints::Arguments),
    Warmup(warmup::Arguments),
    Requests(requests::Arguments),
    Export(export::Arguments),
    Push(pushing::Arguments),
    Import(import::Arguments),
    Diff(diff::Arguments),
    Check(check::Arguments),
    Fleet(fleet::Arguments),
    Heap(heap_dump::Arguments),
    Classes(classes::Arguments),
    Validate(validate::Arguments),
    Schema(schema::Arguments),
    Agent(agent::Arguments),
    Completions(completions::Arguments),
    Man(man::Arguments),
}

pub use launch::carried::Agents;

/// Runs the subcommand that the command line asks for, with the agents that the program's file carries.
pub fn main(agents: Agents) -> ExitCode {
    launch::carried::carry(agents);
    let cli = Cli::try_parse_from(words()).unwrap_or_else(|error| explained(error).exit());
    exit::status(match cli.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Ps(arguments) => ps::run(&arguments),
        Command::Attach(arguments) => attaching::run(&arguments),
        Command::Status(arguments) => recording::status(&arguments),
        Command::Snapshot(arguments) => recording::snapshot(&arguments),
        Command::Dump(arguments) => recording::dump(&arguments),
        Command::Set(arguments) => recording::set(&arguments),
        Command::Stop(arguments) => recording::stop(&arguments),
        Command::Top(arguments) => live::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Report(arguments) => reporting::run(&arguments),
        Command::Stats(arguments) => stats::run(&arguments),
        Command::Tree(arguments) => tree::run(&arguments),
        Command::Threads(arguments) => threads::run(&arguments),
        Command::Locks(arguments) => locks::run(&arguments),
        Command::Safepoints(arguments) => safepoints::run(&arguments),
        Command::Warmup(arguments) => warmup::run(&arguments),
        Command::Requests(arguments) => requests::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Push(arguments) => pushing::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Diff(arguments) => diff::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Fleet(arguments) => fleet::run(&arguments),
        Command::Heap(arguments) => heap_dump::run(&arguments),
        Command::Classes(arguments) => classes::run(&arguments),
        Command::Validate(arguments) => validate::run(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Agent(arguments) => agent::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments, Cli::command()),
        Command::Man(arguments) => man::run(&arguments, Cli::command()),
    })
}

/// The words of the command line, with values of options in one word with these.
fn words() -> Vec<OsString> {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    let mut cli = Cli::command();
    // That gives subcommands their arguments.
    cli.build();
    let command = words.get(1).and_then(|name| cli.find_subcommand(name));
    if let Some(command) = command {
        let rest = words.split_off(2);
        words.extend(launch::options::joined(command, rest));
    }
    words
}

/// An error of the command line; where a flag has one dash, or an option of the agent took the program for its value, that is what it says.
fn explained(error: clap::Error) -> clap::Error {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, words)) = words.split_first().filter(|_| error.use_stderr()) else { return error };
    let mut cli = Cli::command();
    // That gives subcommands their full names.
    cli.build();
    let Some(command) = cli.find_subcommand_mut(name) else { return error };
    let sentence = match error.kind() {
        ErrorKind::UnknownArgument => with_one_dash(command, words),
        _ => None,
    };
    let sentence = sentence.or_else(|| launch::options::without_value(words).filter(|_| name == "run"));
    match sentence {
        Some(sentence) => command.error(ErrorKind::InvalidValue, sentence),
        None => error,
    }
}

/// What is wrong with the words of a command if a flag has one dash, as in `-cpu`, which is read as `-c -p -u`.
fn with_one_dash(command: &clap::Command, words: &[String]) -> Option<String> {
    words.iter().find_map(|word| {
        let name = word.strip_prefix('-')?.split('=').next()?;
        let is_flag = command.get_arguments().any(|flag| flag.get_long() == Some(name));
        is_flag.then(|| format!("unknown flag '-{name}'; did you mean --{name}?"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_flag_with_one_dash_is_recognised() {
        let mut cli = Cli::command();
        let run = cli.find_subcommand_mut("run").expect("it is a subcommand");
        let said = |words: &[&str]| with_one_dash(run, &words.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(said(&["-cpu=1ms", "java"]).as_deref(), Some("unknown flag '-cpu'; did you mean --cpu?"));
        assert_eq!(said(&["--quiet", "-x", "java"]), None);
    }

    /// The command as a whole and each subcommand but `help`.
    fn described() -> Vec<clap::Command> {
        let mut root = Cli::command();
        root.build();
        let commands: Vec<_> = root.get_subcommands().filter(|command| command.get_name() != "help").cloned().collect();
        std::iter::once(root).chain(commands).collect()
    }

    #[test]
    fn help_has_examples_and_fits_80_columns() {
        for mut command in described() {
            let name = command.get_name().to_owned();
            let after_help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(after_help.contains("Examples:\n  martini "), "{name}");
            let help = command.render_long_help().to_string();
            for line in help.lines().chain(after_help.lines()) {
                assert!(line.chars().count() <= 80, "{name}: {line}");
            }
        }
    }

    /// Packages carry these pages; they are the reference of commands, flags and options.
    #[test]
    fn the_manual_names_every_command_flag_and_option() {
        let page = |command: &clap::Command| man::page(command.clone()).replace('\\', "");
        let described = described();
        let root = page(&described[0]);
        for command in &described[1..] {
            assert!(root.contains(&format!("martini-{}(1)", command.get_name())), "{}", command.get_name());
            let page = page(command);
            for flag in command.get_arguments().filter_map(|arg| arg.get_long()) {
                assert!(page.contains(&format!("fB--{flag}fR")), "martini {}: --{flag}", command.get_name());
            }
        }
        let run = page(described.iter().find(|command| command.get_name() == "run").expect("there is a command run"));
        for option in agent_options::OPTIONS {
            assert!(run.contains(&format!("fB--{}fR", option.name)), "{}", option.name);
        }
    }

    #[test]
    fn every_command_with_json_is_in_the_schema() {
        let schema: serde_json::Value = serde_json::from_str(schema::SCHEMA).expect("it is JSON");
        let branches = schema["oneOf"].as_array().expect("a list").iter();
        let branches: Vec<_> = branches.map(|branch| branch["$ref"].as_str().expect("a reference")).collect();
        let has_json = |command: &&clap::Command| command.get_arguments().any(|flag| flag.get_long() == Some("json"));
        let mut commands: Vec<_> =
            described().iter().filter(has_json).map(|command| format!("#/$defs/{}", command.get_name())).collect();
        commands.sort_unstable();
        assert_eq!(branches, commands);
    }

    /// Descriptions are what a schema is read for.
    #[test]
    fn every_field_of_the_schema_is_described() {
        fn look(value: &serde_json::Value, undescribed: &mut Vec<String>) {
            let parts = value.as_object().into_iter().flatten();
            for (name, part) in parts
                .clone()
                .filter(|(name, _)| *name == "properties")
                .flat_map(|(_, fields)| fields.as_object())
                .flatten()
            {
                if part.get("description").or(part.get("$ref")).is_none() {
                    undescribed.push(name.clone());
                }
            }
            parts
                .map(|(_, part)| part)
                .chain(value.as_array().into_iter().flatten())
                .for_each(|part| look(part, undescribed));
        }
        let mut undescribed = Vec::new();
        look(&serde_json::from_str(schema::SCHEMA).expect("it is JSON"), &mut undescribed);
        assert_eq!(undescribed, Vec::<String>::new());
    }
}
