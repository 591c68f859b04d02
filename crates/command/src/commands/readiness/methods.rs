//! The plain rule: a JVM is warm once C2 has compiled so many methods. The agent counts them (`warmup=on`) and says how many in the file of
//! `ready=on`.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use attach::{Process, Request};
use serde_json::{Value, json};

use super::{EACH, Readiness};
use crate::attach::recording;
use crate::attach::until::Asked;
use crate::commands::per_file::print_json;
use crate::exit;
use crate::render::human::{count, counted};

/// Says whether C2 has compiled so many methods, or waits until it has.
///
/// # Errors
/// The JVM is not recorded with `warmup` and `ready`, or has ended.
pub(super) fn run(
    process: &Process,
    pid: u32,
    readiness: &Readiness,
    wanted: u64,
    as_json: bool,
) -> anyhow::Result<u8> {
    let file = file(process, pid)?;
    let (asked, begun) = (Asked::listen()?, Instant::now());
    let budget = if readiness.wait { readiness.budget } else { Duration::ZERO };
    let methods = loop {
        let methods = read(&file, pid)?;
        if methods >= wanted || asked.is_so() || begun.elapsed() >= budget {
            break methods;
        }
        std::thread::sleep(EACH);
    };
    let is_warm = methods >= wanted;
    let not = if is_warm { "" } else { "not " };
    let reason = format!("{not}warm: C2 has compiled {} of {}", count(methods), counted(wanted, "method", "methods"));
    let mut out = anstream::stdout().lock();
    if as_json {
        let state = if is_warm { warmth::State::Warm } else { warmth::State::Compiling };
        let document = json!({
            "pid": pid,
            "state": state.word(),
            "reason": reason,
            "optimized_methods": methods,
            "waited_nanos": begun.elapsed().as_nanos() as u64,
        });
        print_json("warmup", &document, &mut out)?;
    } else {
        writeln!(out, "JVM {pid} is {reason}")?;
    }
    Ok(if is_warm { exit::OK } else { exit::NOT_WARM })
}

/// The file in which the agent says whether the JVM is warm.
fn file(process: &Process, pid: u32) -> anyhow::Result<PathBuf> {
    let not_recorded = || {
        format!(
            "JVM {pid} is not recorded with --warmup --ready, so nobody counts its methods; start it so, or leave --methods out"
        )
    };
    let (target, library) = recording::target_with_agent(pid)?;
    let library = library.with_context(not_recorded)?;
    let answer = target.ask(&library, Request::Status, "")?;
    let trace = answer.pairs().find(|(key, _)| *key == "trace").with_context(not_recorded)?.1;
    // As the JVM sees it, which may be in a container.
    Ok(process.folder().join(format!("root/{}.ready", trace.trim_start_matches('/'))))
}

fn read(file: &PathBuf, pid: u32) -> anyhow::Result<u64> {
    let Ok(text) = fs::read_to_string(file) else {
        bail!("JVM {pid} is not recorded with --ready, or has ended");
    };
    let said: Value = serde_json::from_str(&text).with_context(|| format!("{} is damaged", file.display()))?;
    said["optimized_methods"]
        .as_u64()
        .with_context(|| format!("JVM {pid} is not recorded with --warmup, so nobody counts its methods"))
}
