//! A machine that tries to break the agent: `bench -- torture`. What a run is, its seed says; what has to hold of it stands in `check`.

mod acts;
mod attach;
mod case;
mod check;
mod facts;
pub(crate) mod flags;
mod jvm;
mod modes;
mod place;
mod programs;
mod request;
mod run;
mod tally;

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use std::{env, thread};

use bci_tests::martini::profile_folder;
use clap::Parser;

use crate::table::Table;

use case::{Case, Choice};
use place::Place;
use request::Request;
use run::Runner;
use tally::Tally;

/// Runs what the command line asks for. The error counts the runs that failed.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> Result<(), String> {
    let request = Request::parse_from(arguments);
    let seed = request.seed.unwrap_or_else(seed_of_the_clock);
    println!("torture: seed {seed}");
    let choice = Choice::of(&request)?;
    let kept = request.keep.clone().unwrap_or_else(|| profile_folder().join("torture").join(seed.to_string()));
    let place = Place::make(&kept)?;
    let stop = Arc::new(AtomicBool::new(false));
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::clone(&stop)).map_err(|e| e.to_string())?;
    let runner = Runner::new(&place, &request);
    let tally = Mutex::new(Tally::default());
    let (begun, next) = (Instant::now(), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..request.jobs {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let is_late = request.time().is_some_and(|time| begun.elapsed() > time);
                    if stop.load(Ordering::Relaxed) || is_late || request.runs.is_some_and(|runs| number >= runs) {
                        break;
                    }
                    let case = Case::draw(seed.wrapping_add(number), &choice);
                    let outcome = runner.run(&case);
                    let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
                    tally.add(&case, &outcome);
                    if tally.runs() % 50 == 0 {
                        println!("torture: so far {}", tally.line());
                    }
                }
            });
        }
    });
    let tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!(
        "\n{}\ntorture: seed {seed}: {}",
        tally.tables(if request.markdown { Table::markdown } else { Table::text }),
        tally.line()
    );
    match tally.failures() {
        0 => Ok(()),
        failures => Err(format!("{failures} runs failed; their folders are in {}", place.kept.display())),
    }
}

fn seed_of_the_clock() -> u64 {
    // Short enough to be read to somebody.
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_secs() % 100_000_000 * 1_000)
}

/// The arguments of this program behind the word that leads here, if it does.
pub(crate) fn arguments() -> Option<impl Iterator<Item = OsString>> {
    env::args_os().nth(1).filter(|word| word == "torture").map(|_| env::args_os().skip(1))
}
