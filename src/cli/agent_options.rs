//! The agent's options as flags of the command, made from the agent's own table.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Arg, ArgAction, ArgMatches, Command};
use martini::agent::options::{self, HeapMode, OPTIONS, OptionSpec, format_pair};

use crate::cli::launch::outputs::PID;

/// The trace file where none is asked for.
const DEFAULT_FILE: &str = "martini-%p.trcxml";

/// The options given, as pairs of name and value in their order, which matters for filter patterns.
#[derive(Clone, Debug, Default)]
pub(crate) struct AgentOptions {
    pairs: Vec<(&'static str, String)>,
}

/// Options that were understood, ready to hand to the agent.
#[derive(Debug)]
pub(crate) struct Resolved {
    /// The agent's option string.
    pub(crate) string: String,
    /// The trace file, absolute, with `%p` for the process id.
    pub(crate) file: PathBuf,
    /// What is recorded of the heap.
    pub(crate) heap: HeapMode,
}

impl AgentOptions {
    /// Options set by the command itself.
    pub(crate) fn of(pairs: &[(&'static str, &str)]) -> Self {
        AgentOptions { pairs: pairs.iter().map(|&(name, value)| (name, value.to_owned())).collect() }
    }

    /// Sets `heap=counts`, the cheapest answer, unless the user chose a mode, or asked for what only single objects have or for
    /// threads.
    pub(crate) fn or_counts(mut self) -> Self {
        let decide = ["heap", "lifetimes", "allocsites", "stack", "threads", "juc", "locklog"];
        if !self.pairs.iter().any(|(name, _)| decide.contains(name)) {
            self.pairs.insert(0, ("heap", HeapMode::Counts.as_str().to_owned()));
        }
        self
    }

    /// Checks the options as the agent will, and makes their paths independent of where the program runs.
    pub(crate) fn resolve(&self) -> anyhow::Result<Resolved> {
        let mut pairs = self.pairs.clone();
        if !pairs.iter().any(|&(name, _)| name == "file") {
            pairs.push(("file", DEFAULT_FILE.to_owned()));
        }
        let mut file = PathBuf::new();
        for (name, value) in &mut pairs {
            if matches!(*name, "file" | "filters" | "locklog" | "dumpfile") && !value.is_empty() {
                *value = absolute(value)?;
            }
            if *name == "file" {
                file = PathBuf::from(&value);
            }
        }
        let pairs: Vec<String> = pairs.iter().map(|(name, value)| format_pair(name, value)).collect();
        let string = pairs.join(",");
        let heap = options::parse(&string)?.heap;
        check_folder(&file)?;
        Ok(Resolved { string, file, heap })
    }
}

fn absolute(path: &str) -> anyhow::Result<String> {
    let absolute = std::path::absolute(path).with_context(|| format!("{path} is no path"))?;
    match absolute.into_os_string().into_string() {
        Ok(text) => Ok(text),
        Err(text) => bail!("the path {} is not UTF-8, and agent options must be; use another folder", text.display()),
    }
}

/// The agent would say the same, but only after the JVM began to start.
fn check_folder(file: &Path) -> anyhow::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    if folder.to_string_lossy().contains(PID) {
        bail!("--file {} has %p in a folder's name; put it into the file's name", file.display());
    }
    if !folder.is_dir() {
        bail!(
            "the trace cannot be written: there is no folder {}; create it, or choose another --file",
            folder.display()
        );
    }
    Ok(())
}

fn argument(spec: &'static OptionSpec) -> Arg {
    let argument = Arg::new(spec.name).long(spec.name).value_name(spec.value).help(spec.help).action(ArgAction::Append);
    match spec.value {
        // The value has to hang on with a "=", or the flag alone would swallow the program's name.
        "true|false" => argument.num_args(0..=1).require_equals(true).default_missing_value("true"),
        "on|off" => argument.num_args(0..=1).require_equals(true).default_missing_value("on"),
        _ => argument,
    }
}

impl clap::Args for AgentOptions {
    fn augment_args(command: Command) -> Command {
        command.next_help_heading("Options of the agent").args(OPTIONS.iter().map(argument)).next_help_heading(None)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for AgentOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut found = Vec::new();
        for spec in OPTIONS {
            let values = matches.get_many::<String>(spec.name).into_iter().flatten();
            found.extend(
                matches.indices_of(spec.name).into_iter().flatten().zip(values.map(|value| (spec.name, value))),
            );
        }
        found.sort_by_key(|&(index, _)| index);
        Ok(AgentOptions { pairs: found.into_iter().map(|(_, (name, value))| (name, value.clone())).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args, FromArgMatches};

    use super::*;

    fn resolve(arguments: &[&str]) -> anyhow::Result<Resolved> {
        let command = AgentOptions::augment_args(Command::new("run"));
        let matches = command.try_get_matches_from([&["run"], arguments].concat()).unwrap();
        AgentOptions::from_arg_matches(&matches).unwrap().resolve()
    }

    #[test]
    fn options_reach_the_agent_in_their_order() {
        let resolved = resolve(&[
            "--exclude=com.acme.gen.*",
            "--include",
            "com.acme.*",
            "--exclude",
            "*",
            "--allocsites",
            "--stack=4",
            "--file",
            "/tmp/a,b-%p.trcxml",
        ]);
        let expected = "exclude=com.acme.gen.*,include=com.acme.*,exclude=*,allocsites=true,stack=4,\
                        file=/tmp/a,,b-%p.trcxml";
        let resolved = resolved.unwrap();
        assert_eq!(resolved.string, expected);
        assert_eq!(resolved.file, Path::new("/tmp/a,b-%p.trcxml"));
    }

    #[test]
    fn counts_are_for_those_who_ask_for_nothing_else() {
        let counts = |pairs: &[(&'static str, &str)]| {
            let options = AgentOptions::of(pairs).or_counts().resolve().unwrap();
            options.heap == HeapMode::Counts
        };
        assert!(counts(&[]) && counts(&[("include", "a.*"), ("file", "/tmp/x")]) && counts(&[("heap", "counts")]));
        for asked in
            [("heap", "events"), ("heap", "vm"), ("stack", "4"), ("allocsites", "true"), ("lifetimes", "false")]
        {
            assert!(!counts(&[asked]), "{asked:?}");
        }
    }

    #[test]
    fn the_default_file_is_in_the_current_folder() {
        let resolved = resolve(&[]).unwrap();
        assert_eq!(resolved.file, std::env::current_dir().unwrap().join(DEFAULT_FILE));
        assert_eq!(resolved.string, format!("file={}", resolved.file.display()));
    }

    #[test]
    fn wrong_options_are_refused_before_anything_runs() {
        for (arguments, part) in [
            (["--stack=65"], "stack"),
            (["--format=pdf"], "pdf"),
            (["--file="], "file"),
            (["--include=a*b"], "a*b"),
            (["--allocsites=maybe"], "maybe"),
            (["--filters=/no/such/file"], "/no/such/file"),
            (["--file=/no/such/folder/x"], "no folder /no/such/folder"),
            (["--file=/tmp/%p/x"], "put it into the file's name"),
        ] {
            let error = format!("{:#}", resolve(&arguments).unwrap_err());
            assert!(error.contains(part), "{arguments:?}: {error}");
        }
    }
}
