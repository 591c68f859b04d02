//! `martini push`: sends traces to servers for profiles.

use std::io::Write;
use std::path::PathBuf;

use crate::commands::selection::note;
use crate::exit;
use crate::push::{Destination, Pushed};
use crate::redact::RedactArguments;

/// Push traces to a collector of OpenTelemetry or a Pyroscope server
///
/// A trace is sent with its service, release, host and pod: those that were recorded (see `martini run --service`), or else the JVM's jar or main class
/// as the service. Headers for each request, such as credentials, are those of the environment variable MARTINI_PUSH_HEADERS.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  martini push app.trcxml --to pyroscope:http://pyroscope:4040
  martini push app.trcxml --to otlp:http://collector:4318
  MARTINI_PUSH_HEADERS='Authorization=Basic ...' martini push ...")]
pub(crate) struct Arguments {
    /// Traces to push
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// Where to: otlp:URL or pyroscope:URL (repeatable)
    #[arg(long, required = true, value_name = "PROTOCOL:URL")]
    to: Vec<Destination>,
    #[command(flatten)]
    redact: RedactArguments,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let mut status = exit::OK;
    let redactor = arguments.redact.redactor();
    for path in &arguments.traces {
        for destination in &arguments.to {
            match destination.push(path, redactor.as_ref(), |sentence| note(path, sentence)) {
                Ok(pushed) => {
                    let what = match pushed {
                        Pushed::Taken(None) => format!("pushed to {destination}"),
                        Pushed::Taken(Some(but)) => format!("pushed to {destination}, but {but}"),
                        Pushed::Nothing => "has nothing to push".to_owned(),
                    };
                    let mut out = anstream::stdout().lock();
                    writeln!(out, "{}: {what}", path.display())?;
                    out.flush()?;
                }
                Err(error) => {
                    exit::report(&error.context(format!("{} is not pushed", path.display())));
                    status = exit::FAILED;
                }
            }
        }
    }
    Ok(status)
}
