//! `martini import`: makes a trace of a recording of JDK Flight Recorder.

use std::fs::{self, File};
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use jfr::{Import, Losses, Recording, Sums};
use trace::file::{self, IfTaken};

use crate::commands::selection::note;
use crate::exit;
use crate::render::human::{counted, duration};

/// Convert a JFR recording to a Martini trace
///
/// Reads recordings of the JDK (11 to 25), of async-profiler and of `martini export --to jfr`. Their data is sampled: the trace says so, and has
/// no JVM accounts to scale samples by. An existing trace is overwritten, any other file is not.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  martini import app.jfr
  martini explain app.trcxml
  martini import app.jfr -o monday.trcxml
  jcmd 4711 JFR.dump filename=app.jfr && martini import app.jfr")]
pub(crate) struct Arguments {
    /// JFR recording
    #[arg(value_name = "FILE.jfr")]
    recording: PathBuf,
    /// Trace to write; - is standard output [default: the recording's path with .trcxml]
    #[arg(long, short, value_name = "TRACE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let path = &*arguments.recording;
    let output = arguments.output.clone().unwrap_or_else(|| path.with_extension("trcxml"));
    let output = Some(output).filter(|output| output.as_os_str() != "-");
    let refused = |refusal: file::Refusal| anyhow!("{refusal}; choose another -o");
    if let Some(output) = &output {
        // Before the recording is read, which may take long.
        file::check(output, file::TRACE, IfTaken::Replace).map_err(refused)?;
    }
    let import = read(path)?;
    let (sums, losses) = (import.sums(), import.losses());
    match &output {
        Some(output) => {
            let new = file::create(output, file::TRACE, IfTaken::Replace).map_err(refused)?;
            let written = new.fill(|file| import.write(file));
            written.with_context(|| format!("cannot write {}", output.display()))?;
            let mut out = io::stdout().lock();
            writeln!(out, "{}: {}", output.display(), said(&sums))?;
        }
        None => import.write(&mut io::stdout().lock())?,
    }
    left(&losses).iter().for_each(|sentence| note(path, sentence));
    Ok(exit::OK)
}

fn read(path: &Path) -> anyhow::Result<Import> {
    let cannot = || format!("cannot read {}", path.display());
    // A pipe would be waited for, and cannot be read twice.
    if !fs::metadata(path).with_context(cannot)?.is_file() {
        bail!("{} is not a regular file, which import needs", path.display());
    }
    let file = BufReader::new(File::open(path).with_context(cannot)?);
    let import = Recording::new(file).and_then(|mut recording| Import::read(&mut recording));
    import.map_err(|error| anyhow!("{} {error}", path.display()))
}

/// What is in the trace.
fn said(sums: &Sums) -> String {
    let parts = [
        (sums.allocations, "allocation sample", "allocation samples"),
        (sums.cpu, "CPU sample", "CPU samples"),
        (sums.wall, "wall clock sample", "wall clock samples"),
        (sums.waits, "wait", "waits"),
        (sums.pauses, "GC pause", "GC pauses"),
    ];
    let there = parts.into_iter().filter(|(number, ..)| *number > 0);
    let there: Vec<String> = there.map(|(number, one, many)| counted(number, one, many)).collect();
    let there = if there.is_empty() { "nothing that a trace can hold".to_owned() } else { there.join(", ") };
    format!("{there}, in {}", duration(sums.length))
}

/// What is not in it; one sentence each.
fn left(losses: &Losses) -> Vec<String> {
    let mut sentences = Vec::new();
    if losses.left_out.0 > 0 {
        let events = counted(losses.left_out.0, "event", "events");
        let types = counted(losses.left_out.1 as u64, "other type", "other types");
        sentences.push(format!("skipped {events} of {types}"));
    }
    for (name, number) in &losses.twice {
        let events = counted(*number, "event", "events");
        sentences
            .push(format!("skipped {events} {name}: other events of the recording hold the same with more detail"));
    }
    if losses.without_period > 0 {
        let samples = counted(losses.without_period, "sample", "samples");
        sentences.push(format!("skipped {samples}: the recording does not show the sampling interval"));
    }
    if losses.overlapping > 0 {
        let waits = counted(losses.overlapping, "wait or pause", "waits or pauses");
        sentences.push(format!("shortened or skipped {waits}: they overlap others of the same thread"));
    }
    if losses.empty_chunks > 0 {
        sentences.push(format!("skipped {} without events", counted(losses.empty_chunks, "chunk", "chunks")));
    }
    if let (number @ 1.., Some(why)) = &losses.damaged_chunks {
        sentences.push(format!("skipped {} in whole or in part: it {why}", counted(*number, "chunk", "chunks")));
    }
    if losses.damaged_events > 0 {
        let events = counted(losses.damaged_events, "damaged event", "damaged events");
        sentences.push(format!("skipped {events}"));
    }
    if let Some(broken) = &losses.broken {
        sentences.push(format!("only part of the recording could be read: it {broken}"));
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_sentences() {
        let losses = Losses {
            left_out: (12_345, 40),
            twice: vec![("jdk.ExecutionSample", 7)],
            without_period: 1,
            overlapping: 2,
            empty_chunks: 1,
            damaged_chunks: (2, Some("is damaged".to_owned())),
            damaged_events: 3,
            broken: Some("is without its end".to_owned()),
        };
        assert_eq!(
            left(&losses),
            [
                "skipped 12,345 events of 40 other types",
                "skipped 7 events jdk.ExecutionSample: other events of the recording hold the same with more detail",
                "skipped 1 sample: the recording does not show the sampling interval",
                "shortened or skipped 2 waits or pauses: they overlap others of the same thread",
                "skipped 1 chunk without events",
                "skipped 2 chunks in whole or in part: it is damaged",
                "skipped 3 damaged events",
                "only part of the recording could be read: it is without its end",
            ]
        );
        assert_eq!(left(&Losses::default()), [""; 0]);
        assert_eq!(said(&Sums { waits: 1, ..Sums::default() }), "1 wait, in 0 s");
    }
}
