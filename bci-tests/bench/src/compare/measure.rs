//! One run of one program with one variant: what it took, and whether the program did what it does without agent.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::time::Duration;

use bci_tests::jdk::Jdk;

use super::programs::Ready;
use super::variants::Entry;
use crate::built::Built;
use crate::peers::Peers;
use crate::run::{self, Run};

/// What one run took. Times are in seconds; those of a program that counts its allocations are of one million of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) wall_s: f64,
    /// User and system, all threads.
    pub(crate) cpu_s: f64,
    pub(crate) rss_bytes: f64,
    pub(crate) left: Left,
}

/// What a profiler has left when the program has ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Left {
    Nothing,
    /// Bytes of its file.
    File(u64),
    /// Allocations that a callback has counted.
    Counted(u64),
}

/// What all runs of a program have in common.
pub(crate) struct Setting<'a> {
    pub(crate) built: &'a Built,
    pub(crate) peers: &'a Peers,
    pub(crate) jdk: &'a Jdk,
    pub(crate) program: &'a Ready<'a>,
    pub(crate) limit: Duration,
}

/// What the program does: its output, and the files it leaves.
#[derive(Debug, PartialEq)]
pub(crate) struct Work {
    output: String,
    files: u64,
}

impl Setting<'_> {
    /// Runs the program once; its work must be `expected`, if that is known already.
    pub(crate) fn measure(&self, entry: &Entry, expected: Option<&Work>) -> Result<(Sample, Work), String> {
        let place = tempfile::tempdir_in(&self.built.traces).map_err(|e| format!("no folder to run in: {e}"))?;
        let (folder, output) = (place.path().join("run"), place.path().join("output"));
        fs::create_dir(&folder).map_err(|e| format!("no folder to run in: {e}"))?;
        let launch = entry.variant.launch(self.built, self.peers, &output)?;
        let mut command = self.program.command(self.jdk, &launch, entry.length(), &folder)?;
        let run = run::run(&mut command, self.limit)?;

        let files = fingerprint(&folder).map_err(|e| format!("the program's files cannot be read: {e}"))?;
        let work = Work { output: self.program.program.lasting_output(&run).to_owned(), files };
        if let Some(expected) = expected {
            check(&work, expected, entry.variant.is_silent())?;
        }
        let left = if entry.variant.writes() { left(&output)? } else { Left::Nothing };
        Ok((self.sample(&run, left)?, work))
    }

    fn sample(&self, run: &Run, left: Left) -> Result<Sample, String> {
        let rss_bytes = run.rss_bytes as f64;
        if !self.program.program.counts_itself() {
            return Ok(Sample { wall_s: run.wall.as_secs_f64(), cpu_s: run.cpu.as_secs_f64(), rss_bytes, left });
        }
        let millions = run.value("allocations")? as f64 / 1e6;
        // From the program's own start of the measurement to the end of the process, which may have a trace to finish.
        let cpu_ns = run.cpu.as_nanos() as f64 - run.value("cpu_before_ns")? as f64;
        let wall_ns = run.value("wall_ns")? as f64;
        Ok(Sample { wall_s: wall_ns / 1e9 / millions, cpu_s: cpu_ns / 1e9 / millions, rss_bytes, left })
    }
}

/// A profiler of other people may talk on standard output, between the program's own lines.
fn check(work: &Work, expected: &Work, silent: bool) -> Result<(), String> {
    let same = if silent {
        work.output == expected.output
    } else {
        let mut lines = work.output.lines();
        expected.output.lines().all(|wanted| lines.any(|line| line == wanted))
    };
    if !same {
        return Err("the program printed something else than without agent".into());
    }
    if work.files != expected.files {
        return Err("the program wrote other files than without agent".into());
    }
    Ok(())
}

/// A profiler that failed in silence must not look cheap: it has to leave its file, and to have counted something.
fn left(output: &Path) -> Result<Left, String> {
    let bytes = match fs::metadata(output) {
        Ok(metadata) if metadata.len() > 0 => metadata.len(),
        _ => return Err("the profiler left no file, or an empty one".into()),
    };
    const SUMS: u64 = 200;
    let sums = if bytes < SUMS { fs::read_to_string(output).unwrap_or_default() } else { String::new() };
    match run::values(&sums).get("counted") {
        None => Ok(Left::File(bytes)),
        Some(0) => Err("the profiler counted nothing".into()),
        Some(&counted) => Ok(Left::Counted(counted)),
    }
}

/// A hash of the names and contents of all files in a folder.
fn fingerprint(folder: &Path) -> std::io::Result<u64> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir)? {
            let path = entry?.path();
            if path.is_dir() {
                open.push(path);
            } else {
                let contents = fs::read(&path)?;
                files.push((path.strip_prefix(folder).unwrap_or(&path).to_owned(), contents));
            }
        }
    }
    files.sort();
    let mut hasher = DefaultHasher::new();
    files.hash(&mut hasher);
    Ok(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(output: &str, files: u64) -> Work {
        Work { output: output.to_owned(), files }
    }

    #[test]
    fn a_silent_agent_adds_nothing_and_others_add_lines_only() {
        let expected = work("one\ntwo\n", 7);
        assert_eq!(check(&work("one\ntwo\n", 7), &expected, true), Ok(()));
        assert_eq!(check(&work("started\none\nrunning\ntwo\n", 7), &expected, false), Ok(()));
        for (given, silent) in [
            (work("started\none\ntwo\n", 7), true),
            (work("two\none\n", 7), false),
            (work("one\n", 7), false),
            (work("one\ntwo\n", 8), true),
            (work("one\ntwo\n", 8), false),
        ] {
            assert!(check(&given, &expected, silent).is_err(), "{given:?}");
        }
    }

    #[test]
    fn what_a_profiler_leaves_is_looked_at() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("output");
        assert!(left(&file).is_err());
        for (contents, expected) in [
            ("", Err("the profiler left no file, or an empty one".into())),
            ("counted=0\n", Err("the profiler counted nothing".into())),
            ("counted=12\ncounted_bytes=96\n", Ok(Left::Counted(12))),
            ("<TRACE>\n", Ok(Left::File(8))),
        ] {
            fs::write(&file, contents).expect("a file");
            assert_eq!(left(&file), expected, "{contents}");
        }
    }

    #[test]
    fn names_and_contents_of_files_count() {
        let dir = tempfile::tempdir().expect("a folder");
        let inner = dir.path().join("inner");
        fs::create_dir(&inner).expect("a folder");
        fs::write(inner.join("a"), "1").expect("a file");
        let first = fingerprint(dir.path()).expect("readable");
        fs::write(inner.join("a"), "2").expect("a file");
        let second = fingerprint(dir.path()).expect("readable");
        fs::rename(inner.join("a"), inner.join("b")).expect("a file");
        let third = fingerprint(dir.path()).expect("readable");
        assert!(first != second && second != third && first != third);
    }
}
