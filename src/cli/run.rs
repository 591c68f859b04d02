//! `martini run`: runs a program under the agent and says what its trace holds.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

use analysis::heap::By;
use owo_colors::OwoColorize;

use super::agent_options::AgentOptions;
use super::exit::{FAILED, Failure};
use super::launch::{self, Door};
use super::outputs::{Outputs, PID};
use super::tables::{self, Column};
use super::{exit, human, library, notes, reading, supervise};

/// Runs a program and records what its JVM allocates
///
/// The program keeps its input, output and exit status. `java` gets the agent as its first argument, so that this one JVM is
/// profiled and those that it may start are not. For any other command (mvn, gradle, scala, a script) the agent goes into
/// JAVA_TOOL_OPTIONS, and every JVM that the command starts writes a trace of its own. When the program has ended, a short summary
/// appears on stderr.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  martini run java -jar app.jar
  martini run --file app.trcxml --allocsites java -cp classes com.acme.Main --verbose
  martini run --include 'com.acme.*' --include java.lang.String java -jar app.jar
  martini run --exclude 'java.*' --exclude 'sun.*' -- mvn test

Exit status:
  that of the program: its exit code, 128+n after signal n, 127 if it was not found,
  126 if it could not be started; 2 if the command line is wrong or the agent is missing")]
pub(super) struct Arguments {
    #[command(flatten)]
    agent: AgentOptions,
    /// Print nothing of our own
    #[arg(long, short)]
    quiet: bool,
    /// Rows of each table in the summary
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let (program, program_arguments) = arguments.command.split_first().expect("a command is required");
    let agent = library::find()?;
    let options = arguments.agent.resolve()?;
    let door = Door::of(program);
    if door == Door::Environment {
        let file = options.file.file_name().unwrap_or_default().to_string_lossy();
        if !file.contains(PID) {
            let program = Path::new(program).display();
            let message = format!(
                "{program} may start several JVMs, and each needs a trace of its own; \
                 put %p (the process id) into the name, as in --file {}",
                with_pid(&file)
            );
            return Err(Failure { status: FAILED, message }.into());
        }
        if !arguments.quiet {
            let variable = launch::TOOL_OPTIONS;
            eprintln!("martini: the agent goes into {variable}; every JVM that starts will say so");
        }
    }
    let outputs = Outputs::before(&options.file);
    let mut command = launch::command(program, program_arguments, &agent, &options.string);
    let status = supervise::run(&mut command)?;
    if !arguments.quiet {
        // The program has done its work, and its status is ours even if nobody reads our stderr any more.
        let _ = report(&outputs, arguments.top);
    }
    Ok(status)
}

/// `app.trcxml` as `app-%p.trcxml`.
fn with_pid(file: &str) -> String {
    match file.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => format!("{stem}-{PID}.{extension}"),
        _ => format!("{file}-{PID}"),
    }
}

/// Tells on stderr what every JVM left behind, and what went wrong in reading it.
fn report(outputs: &Outputs, top: usize) -> std::io::Result<()> {
    let mut err = anstream::stderr().lock();
    if std::fs::metadata(outputs.pattern()).is_ok_and(|metadata| !metadata.is_file()) {
        // A pipe or a device: whoever reads it has the trace.
        return Ok(());
    }
    let traces = outputs.written();
    if traces.is_empty() {
        let place = outputs.pattern().display().to_string();
        writeln!(
            err,
            "martini: no trace was written to {place}: no JVM started with the agent, or it could not write there"
        )?;
    }
    for path in traces {
        if let Err(error) = summarize(&path, top, &mut err) {
            writeln!(err, "martini: {}", exit::sentence(&error))?;
        }
    }
    Ok(())
}

fn summarize(path: &Path, top: usize, err: &mut impl Write) -> anyhow::Result<()> {
    let reading = reading::heap(path, &[])?;
    let report = &reading.report;
    writeln!(err)?;
    writeln!(err, "{} {} ({})", "martini:".bold(), path.display(), notes::origin(&reading))?;
    writeln!(err, "{}", notes::summary(&report.sum(|_| true), report.facts()))?;
    for (column, title) in
        [(Column::ActiveSize, "What stays, by active size:"), (Column::TotalSize, "What was made, by total size:")]
    {
        let mut rows = report.rows(By::Class, |_| true);
        if rows.is_empty() {
            continue;
        }
        tables::sort(&mut rows, column);
        rows.truncate(top);
        writeln!(err, "\n{title}")?;
        tables::table(&rows, By::Class).write(err)?;
    }
    for note in notes::notes(&reading) {
        writeln!(err, "{} {note}", "note:".yellow().bold())?;
    }
    writeln!(err, "\nMore: martini stats {}", human::shell_word(path))?;
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
