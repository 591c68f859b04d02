//! The program that a trace is of: whether it still runs, and how to run it again. A command that is offered has to work.

use std::ffi::OsStr;
use std::path::Path;

use analysis::allocations::Facts;
use attach::{Pid, Process};
use trace::command_line::CommandLine;

use crate::launch::program;

/// How more can be recorded of the program of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Program {
    /// It runs on this machine, under this process id.
    pub(crate) running: Option<u64>,
    /// Its trace has ended, so that another recording can begin.
    pub(crate) is_recorded: bool,
    /// Its command line, if it can be run from here.
    pub(crate) command: Option<CommandLine>,
}

impl Program {
    /// The program of a trace; nothing is known of several.
    pub(crate) fn of(facts: &Facts) -> Self {
        let [origin] = &facts.origins[..] else { return Program::default() };
        let command: CommandLine = match origin.command.parse() {
            Ok(CommandLine(words)) if !words.is_empty() && origin.is_martini() && origin.imported_from.is_none() => {
                CommandLine(words)
            }
            _ => return Program::default(),
        };
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let is_running = || {
            let process = u32::try_from(origin.pid).ok().and_then(|pid| Process::find(Pid(pid)).ok())?;
            let words = process.read("cmdline").ok()?;
            (CommandLine::of_process(&words) == command).then_some(origin.pid)
        };
        Program {
            running: if host.trim() == origin.host { is_running() } else { None },
            is_recorded: origin.has_end,
            command: Some(command).filter(can_run),
        }
    }
}

/// Whether a program and the files that its command line names are there.
fn can_run(CommandLine(words): &CommandLine) -> bool {
    let Some(program) = words.first() else { return false };
    let jar = words.iter().position(|word| word == "-jar").and_then(|at| words.get(at + 1));
    let names_file = |word: &&String| word.starts_with(['/', '@']) && !word.contains(':');
    let mut files =
        words[1..].iter().filter(names_file).map(|word| word.trim_start_matches('@')).chain(jar.map(|jar| &**jar));
    program::is_found(OsStr::new(program)) && files.all(|file| Path::new(file).exists())
}

#[cfg(test)]
mod tests {
    use analysis::allocations::Origin;

    use super::*;

    fn facts(origin: Origin) -> Facts {
        let agent = "org.eclipse.tptp.jvmti".to_owned();
        Facts { origins: vec![Origin { agent, ..origin }], ..Facts::default() }
    }

    #[test]
    fn a_command_is_offered_if_it_can_run() {
        let known = |command: &str| Program::of(&facts(Origin { command: command.to_owned(), ..Origin::default() }));
        let command = |command| known(command).command.map(|line| line.to_string());
        assert_eq!(command("sh -c 'a b'").as_deref(), Some("sh -c 'a b'"));
        assert_eq!(command("sh -jar /no/such.jar"), None);
        assert_eq!(command("sh @/no/arguments"), None);
        assert_eq!(command("no-such-program"), None);
        assert_eq!(command(""), None);
        assert_eq!(known("sh").running, None, "of another machine");
    }

    #[test]
    fn a_process_is_the_same_if_its_command_line_is() {
        let words = std::fs::read("/proc/self/cmdline").expect("it is readable");
        let command = CommandLine::of_process(&words).to_string();
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("it is readable").trim().to_owned();
        let pid = u64::from(std::process::id());
        let running = |command: String| {
            Program::of(&facts(Origin { command, host: host.clone(), pid, ..Origin::default() })).running
        };
        assert_eq!(running(command), Some(pid));
        assert_eq!(running("java Other".to_owned()), None);
    }
}
