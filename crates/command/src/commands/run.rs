//! `martini run`: runs a program under the agent and says what its trace holds.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use agent_options::HeapMode;

use crate::attach::until::Asked;
use crate::commands::check::{self, Rules};
use crate::commands::report;
use crate::commands::selection::whole_number;
use crate::commands::summary::summarize;
use crate::exit::{self, FAILED, Failure, KILLED};
use crate::input::trace_end;
use crate::launch::archives::Archive;
use crate::launch::injection::{self, Injected, Injection};
use crate::launch::options::AgentOptions;
use crate::launch::outputs::{Outputs, PID};
use crate::launch::{library, program, supervise};
use crate::render::coverage;
use crate::render::page::{Page, Width};
use crate::rolling::{RollArguments, Rolling};

/// What `-h` ends with.
const EXAMPLES: &str = "\
Examples:
  martini run java -jar app.jar
  martini run --require-exact 99.9 java -jar app.jar    fail below this coverage
  martini run --heap events --limit 4g java -jar app.jar
  martini run --file app.trcxml --allocsites java -cp classes com.acme.Main
  martini run --include 'com.acme.*' java -jar app.jar
  martini run --exclude 'java.*' --exclude 'sun.*' -- mvn test
  martini run --locks java -jar app.jar                 who waits for which lock
  martini run --cpu java -jar app.jar                   where the time goes
  martini run --cpu --sampled java -jar app.jar         CPU and allocations
  martini run --leaks java -jar app.jar                 a leak, and its holder
  martini run --report java -jar app.jar                also an HTML report
  martini run --juc --locklog locks-%p.txt java -jar app.jar
  martini run --sampled --cpu --roll 10m --keep 2g --to traces java -jar app.jar";

/// What `--help` has behind that.
const MORE: &str = "\
Exit status:
  the program's: its exit code, or 128+n after signal n; 127 if it was not
  found, 126 if it could not be started, 125 if it succeeded but a trace misses
  the coverage of --require-exact, 123 if a budget of --check is exceeded; 2 if
  the command line is invalid or the agent is missing

While the program runs (TRACE: path of the trace, PID: process id of the JVM):
  touch TRACE.live  flush counts and live objects to the trace (--heap counts)
  touch TRACE.dump  dump the heap (--dump request)
  kill -QUIT PID    write the state of all threads to the trace (--locks)

Environment:
  MARTINI_AGENT     path of libmartini.so, instead of the built-in one
  MARTINI_OFF=1     run the program unprofiled
  MARTINI_SAFE=1    do not read the JVM's private memory: --internals off";

/// Run a program and record its allocations, CPU time or locks
///
/// The program keeps its input, output and exit status. `java` gets the agent as its first argument: only this JVM is profiled, not JVMs it
/// starts. For any other command (mvn, gradle, scala, a script) the agent goes into JAVA_TOOL_OPTIONS, and every JVM the command starts writes its
/// own trace. At the end a short summary on stderr shows the main findings (see `martini explain`) and the most expensive lines.
///
/// Invalid options, unwritable files and unsupported programs (32 bits, another C library) are reported before the program starts. A JVM started
/// later that cannot be profiled prints one line and runs. With MARTINI_OFF=1 the program runs as without martini.
///
/// The default is to count allocation sites (--heap counts): exact numbers per class, site and thread at low cost, in a small file. Sampled call
/// stacks show who calls these sites (--callers; off disables them). --heap events records every single object; --stack, --allocsites and
/// --lifetimes imply it. Such a trace grows with every allocation; --limit bounds it.
///
/// --cpu, --wall, --ttsp, --warmup, --sampled and --locks record other data, all into one trace. Only --locks rewrites code then, of one class of the JDK, and sites are counted only with
/// --heap counts. --cpu, --wall and --ttsp need line numbers for all compiled code: the JVM gets -XX:+DebugNonSafepoints, unless its command line
/// sets that flag.
///
/// The summary ends with the coverage of the trace: the share of the bytes the JVM accounts to its threads that the trace contains.
#[derive(Debug, clap::Args)]
#[command(
    before_long_help = "\
To find out:
  martini run java -jar app.jar            which code allocates most?
  martini run --cpu java -jar app.jar      where does the CPU time go?
  martini run --locks java -jar app.jar    which threads wait for which lock?
  martini run --leaks java -jar app.jar    which objects leak, who keeps them?",
    after_help = EXAMPLES,
    after_long_help = format!("{EXAMPLES}\n\n{MORE}"),
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    agent: AgentOptions,
    /// Find leaks: sample objects with their ages, dump the heap at the end, and show what holds what piles up
    #[arg(long, conflicts_with = "roll")]
    leaks: bool,
    /// Print only the program's output
    #[arg(long, short)]
    quiet: bool,
    /// Write an HTML report beside each trace (see `martini report`)
    #[arg(long, conflicts_with = "roll")]
    report: bool,
    /// Fail (status 125) if a trace misses more of the bytes the JVM accounts for, beyond what the VM allocates itself, or if its coverage is unknown
    #[arg(long, value_name = "PERCENT", value_parser = percent, conflicts_with = "roll")]
    require_exact: Option<f64>,
    /// Check the traces against these budgets (see `martini check`); status 123 if one is exceeded
    #[arg(long, value_name = "RULES", conflicts_with = "roll")]
    check: Option<PathBuf>,
    #[command(flatten)]
    roll: RollArguments,
    /// Rows in the summary table, 0 for all [default: what fits in ten lines]
    #[arg(long, value_name = "N", value_parser = whole_number)]
    top: Option<usize>,
    /// Program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let (program, program_arguments) = arguments.command.split_first().expect("a command is required");
    let unprofiled = |command: Command, why: &str| run_unprofiled(arguments, command, why);
    if agent_options::is_switched_off() {
        let mut command = Command::new(program);
        command.args(program_arguments);
        return unprofiled(command, &format!("{} is set", agent_options::OFF));
    }
    let is_java = Injection::of(program) == Injection::Argument;
    let archive = if is_java { Archive::of(program_arguments) } else { Archive::Used };
    let program_arguments = match &archive {
        Archive::Used => program_arguments,
        Archive::Renewed(changed) => {
            if !arguments.quiet {
                eprintln!(
                    "martini: the JVM does not renew its archive of classes beside an agent; it uses what is there"
                );
            }
            changed
        }
        Archive::Written(option) => {
            let why = format!(
                "{option} has the JVM write an archive of classes or a list for one, which must hold nothing of a profiler"
            );
            return unprofiled(injection::without_agent(program, program_arguments), &why);
        }
    };
    if arguments.report && Path::new(program).extension().is_some_and(|extension| extension == "html") {
        let page = Path::new(program).display();
        anyhow::bail!(
            "--report takes no file: the report is written beside the trace, under its name; leave {page} out"
        );
    }
    if arguments.roll.is_asked_for() && !is_java {
        anyhow::bail!(
            "--roll is for a JVM that this command starts itself (martini run --roll 10m java ...); start {} without it, and \
             use martini attach PID --roll 10m",
            Path::new(program).display()
        );
    }
    let rolling = arguments.roll.rolling(&arguments.agent)?;
    let rules = arguments.check.as_deref().map(Rules::read).transpose()?;
    let agent = library::find(program::platform(program))?;
    let agent_options = arguments.agent.clone();
    let agent_options = if arguments.leaks { agent_options.or_leaks("end") } else { agent_options };
    let agent_options = agent_options.or_counts();
    let options = match &rolling {
        Some(rolling) => rolling.options_of_piece(&agent_options).resolve()?,
        None => agent_options.resolve()?,
    };
    program::check(program, &agent)?;
    let agent = library::for_all_users(&agent).unwrap_or_else(|why| {
        if !arguments.quiet && Injection::of(program) == Injection::Environment {
            let place = agent.display();
            anstream::eprintln!("martini: a JVM of another user will not start: it cannot read {place} ({why})");
        }
        agent
    });
    if !arguments.quiet {
        options.without_effect.iter().for_each(|sentence| anstream::eprintln!("martini: {sentence}"));
    }
    if injection::inherited().is_some() && !arguments.quiet {
        let variable = injection::TOOL_OPTIONS;
        eprintln!("martini: {variable} already has a Martini agent; this command's agent replaces it");
    }
    if Injection::of(program) == Injection::Environment {
        refuse_one_file_for_several(program, &options.file, "trace", "file")?;
        options.lock_log.iter().try_for_each(|log| refuse_one_file_for_several(program, log, "lock log", "locklog"))?;
        if !arguments.quiet && program::is_found(program) {
            let variable = injection::TOOL_OPTIONS;
            eprintln!("martini: the agent is added to {variable}; every JVM prints a line about that at its start");
        }
    }
    let outputs = Outputs::before(&options.file);
    let mut command = injection::command(
        program,
        program_arguments,
        &Injected { agent: &agent, options: &options.string, lines: options.walks_stacks },
    );
    let status = match &rolling {
        Some(rolling) => run_in_pieces(&mut command, rolling, &agent_options),
        None => supervise::run(&mut command, |_| ()),
    };
    let status = status.map_err(|error| value_for_program(error, &arguments.agent, program))?;
    if status == KILLED && !arguments.quiet {
        eprintln!(
            "martini: the program was killed (SIGKILL), as by kill -9 or for lack of memory; its trace ends there"
        );
    }
    if let Some(rolling) = rolling {
        for sentence in rolling.end_all() {
            if !arguments.quiet {
                anstream::eprintln!("martini: {sentence}");
            }
        }
        return Ok(status);
    }
    if !arguments.quiet {
        // Our status is the program's, even if stderr is closed.
        let _ =
            summaries(&outputs, arguments.top, options.heap, arguments.leaks, (status != exit::OK).then_some(&agent));
    }
    if arguments.report {
        outputs.written().iter().for_each(|trace| write_report(trace, arguments.quiet));
    }
    match (arguments.require_exact, &rules) {
        _ if status != exit::OK => Ok(status),
        (Some(required), _) if !is_exact(&outputs, required) => Ok(exit::INEXACT),
        (_, Some(rules)) if !are_kept(rules, &outputs) => Ok(exit::EXCEEDED),
        _ => Ok(status),
    }
}

/// Runs the JVM, and begins its traces after the first. Its status is ours, whatever becomes of them.
fn run_in_pieces(command: &mut Command, rolling: &Rolling, agent: &AgentOptions) -> anyhow::Result<u8> {
    let ended = Asked::by_nobody();
    let say = |outcome: anyhow::Result<()>| {
        if let Err(error) = outcome {
            anstream::eprintln!("martini: {}; nothing more is recorded", exit::sentence(&error));
        }
    };
    thread::scope(|scope| {
        let mut process = None;
        let status = supervise::run(command, |pid| {
            process = Some(pid);
            let (say, ended) = (&say, &ended);
            scope.spawn(move || say(rolling.go_on(pid, agent, ended)));
        });
        ended.ask();
        process.into_iter().for_each(|pid| say(rolling.finish(pid)));
        status
    })
}

/// Whether the traces of all JVMs together keep the budgets; says on stderr what they cost, or why that is not known.
fn are_kept(rules: &Rules, outputs: &Outputs) -> bool {
    let traces = outputs.written();
    let mut err = anstream::stderr().lock();
    let kept = check::are_kept(rules, &traces, &mut Page::new(&mut err, Width::usual()));
    kept.unwrap_or_else(|error| {
        let _ = writeln!(err, "martini: {}", exit::sentence(&error));
        false
    })
}

/// Writes the report of a trace, and says where, or why it cannot be written: the status is the program's.
fn write_report(trace: &Path, is_quiet: bool) {
    match report::write_beside(trace) {
        Ok(_) if is_quiet => {}
        Ok(report) => anstream::eprintln!("Report: {}", report.display()),
        Err(error) => {
            anstream::eprintln!("martini: no report of {}: {}", trace.display(), exit::sentence(&error))
        }
    }
}

/// A program that is not there may be a value that was meant for an option.
fn value_for_program(error: anyhow::Error, agent: &AgentOptions, program: &OsStr) -> anyhow::Error {
    let is_missing = error.downcast_ref::<Failure>().is_some_and(|failure| failure.status == exit::NOT_FOUND);
    let word = program.to_str().filter(|_| is_missing);
    match word.and_then(|word| Some((word, agent.may_take(word)?))) {
        Some((word, name)) => {
            let message = format!("{word} was not found; if it is the value of --{name}, write --{name}={word}");
            Failure { status: exit::NOT_FOUND, message }.into()
        }
        None => error,
    }
}

/// The agent would do nothing, or the program would not run.
fn run_unprofiled(arguments: &Arguments, mut command: Command, why: &str) -> anyhow::Result<u8> {
    if !arguments.quiet {
        eprintln!("martini: the program is not profiled: {why}");
    }
    let status = supervise::run(&mut command, |_| ())?;
    match (arguments.require_exact, &arguments.check) {
        _ if status != exit::OK => Ok(status),
        (Some(required), _) => {
            eprintln!("martini: --require-exact needs {required} %, but the program was not profiled: {why}");
            Ok(exit::INEXACT)
        }
        (None, Some(rules)) => {
            let rules = rules.display();
            anstream::eprintln!("martini: {rules} cannot be checked, since the program was not profiled: {why}");
            Ok(exit::EXCEEDED)
        }
        (None, None) => Ok(status),
    }
}

/// Each JVM that a script starts needs files of its own.
fn refuse_one_file_for_several(program: &OsStr, path: &Path, what: &str, option: &str) -> Result<(), Failure> {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    if file.contains(PID) {
        return Ok(());
    }
    let message = format!(
        "{} may start several JVMs, and each needs its own {what}; put %p (the process id) into the name, as in \
         --{option} {}",
        Path::new(program).display(),
        with_pid(&file)
    );
    Err(Failure { status: FAILED, message })
}

/// A number of percent on the command line.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=100.0).contains(number));
    number.ok_or_else(|| "give a percentage from 0 to 100, such as 99.9".to_owned())
}

/// Whether every JVM left a trace that is exact enough; says what is not.
fn is_exact(outputs: &Outputs, required: f64) -> bool {
    let traces = outputs.written();
    if traces.is_empty() {
        let pattern = outputs.for_any_process();
        anstream::eprintln!("martini: --require-exact needs {required} %, but there is no trace in a file {pattern}");
        return false;
    }
    let mut is_exact = true;
    for path in traces {
        let shortfall = match trace_end::coverage(&path) {
            Ok(coverage) => coverage::shortfall(&coverage, required),
            Err(error) => Some(exit::sentence(&error)),
        };
        if let Some(sentence) = shortfall {
            anstream::eprintln!("martini: {}: {sentence}", path.display());
            is_exact = false;
        }
    }
    is_exact
}

/// `app.trcxml` as `app-%p.trcxml`.
fn with_pid(file: &str) -> String {
    match file.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => format!("{stem}-{PID}.{extension}"),
        _ => format!("{file}-{PID}"),
    }
}

/// Summarises on stderr the trace of every JVM, and says what could not be read. `blamed` is the agent of a program that failed.
fn summaries(
    outputs: &Outputs,
    top: Option<usize>,
    heap: HeapMode,
    is_whole: bool,
    blamed: Option<&PathBuf>,
) -> std::io::Result<()> {
    let mut err = anstream::stderr().lock();
    if std::fs::metadata(outputs.pattern()).is_ok_and(|metadata| !metadata.is_file()) {
        // A pipe or a device: its reader has the trace.
        return Ok(());
    }
    let traces = outputs.written();
    if traces.is_empty() {
        let place = outputs.for_any_process();
        writeln!(
            err,
            "martini: no trace was written to {place}: no JVM started with the agent, or it could not write there"
        )?;
        if let Some(agent) = blamed {
            let agent = agent.display();
            writeln!(
                err,
                "martini: if a JVM says \"Could not find agent library\", it cannot load {agent}, as in a chroot, a \
                 container or with another C library: run martini there, or attach to that JVM (martini attach)"
            )?;
        }
    }
    let mut page = Page::new(&mut err, Width::usual());
    for path in traces {
        if let Err(error) = summarize(&path, top, heap, is_whole, &mut page) {
            writeln!(page, "martini: {}", exit::sentence(&error))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_process_id_goes_before_the_extension() {
        assert_eq!(with_pid("app.trcxml"), "app-%p.trcxml");
        assert_eq!(with_pid("a.b.xml"), "a.b-%p.xml");
        assert_eq!(with_pid("app"), "app-%p");
        assert_eq!(with_pid(".x"), ".x-%p");
    }
}
