//! One run from its beginning to the verdict.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::attach::Recording;
use super::case::Case;
use super::check::{self, Plain, Problem};
use super::jvm::{self, Ended, Target};
use super::place::{self, Place};
use super::request::Request;
use super::tally::{Outcome, Verdict};

/// How often a run without agent may show what went wrong with it: some of what a JVM does by itself it does rarely.
const CONTROLS: usize = 3;

/// How much of each stream a report has.
const SHOWN: usize = 6_000;

type Key = (&'static str, String, u32);

/// Runs cases.
pub(super) struct Runner<'a> {
    place: &'a Place,
    request: &'a Request,
    plain: Mutex<HashMap<Key, Plain>>,
}

impl<'a> Runner<'a> {
    /// One that knows nothing yet.
    pub(super) fn new(place: &'a Place, request: &'a Request) -> Self {
        Self { place, request, plain: Mutex::default() }
    }

    /// Runs a case, and reports if it fails.
    pub(super) fn run(&self, case: &Case) -> Outcome {
        let dir = self.place.kept.join(case.seed.to_string());
        // What an earlier run of this seed left is not part of this one.
        let _ = fs::remove_dir_all(&dir);
        let judged = self.judge(case, &dir);
        let failed = |error| (Outcome { verdict: Verdict::Failed, wall: Duration::ZERO, modes: Vec::new() }, error);
        let (outcome, report) = judged.unwrap_or_else(failed);
        if outcome.verdict == Verdict::Failed {
            let report = format!("{}\n{report}", self.head(case));
            println!("\n{report}");
            if let Err(error) = fs::write(dir.join("report.txt"), report) {
                println!("torture: the report cannot be kept: {error}");
            }
        } else {
            // What stays costs room only.
            let _ = fs::remove_dir_all(&dir);
        }
        outcome
    }

    fn head(&self, case: &Case) -> String {
        let choice = self.request.choice();
        format!("torture: FAILED: {}\nagain: bench torture --seed {} --runs 1{choice}", case.described(), case.seed,)
    }

    fn judge(&self, case: &Case, dir: &Path) -> Result<(Outcome, String), String> {
        let make = |dir: &Path| fs::create_dir_all(dir).map_err(|e| format!("{} cannot be made: {e}", dir.display()));
        make(dir)?;
        let plain = self.plain(case, dir)?;
        let mut command = case.command(self.place, dir, true);
        let ended = self.start(&mut command, case, dir, &case.recordings)?;
        let mut visible = check::visible(case, &ended, dir, &plain);
        let found = visible.len();
        let has_begun = |ended: &Ended| ended.out.contains("= begins");
        for number in 0..CONTROLS {
            if visible.is_empty() {
                break;
            }
            let beside = dir.join(format!("without-{number}"));
            make(&beside)?;
            let without = self.start(&mut case.command(self.place, &beside, false), case, &beside, &[])?;
            if !has_begun(&ended) && !has_begun(&without) {
                let outcome = Outcome { verdict: Verdict::Refused, wall: ended.wall, modes: Vec::new() };
                return Ok((outcome, String::new()));
            }
            check::excuse(&mut visible, &check::visible(case, &without, &beside, &plain));
        }
        let mut problems = visible;
        let is_excused = found > problems.len();
        // A crash or a hang of the JVM's own leaves no trace to judge.
        if !is_excused || ended.status.is_some_and(|status| status == plain.status) || !problems.is_empty() {
            problems.extend(check::agent(case, &ended, dir));
        }
        let verdict = match (problems.is_empty(), is_excused) {
            (true, false) => Verdict::Good,
            (true, true) => Verdict::TheJvmsOwn,
            (false, _) => Verdict::Failed,
        };
        let modes = match case.is_attached() {
            true => ended.recorded.iter().filter(|r| r.has_succeeded()).map(|r| r.drawn.mode.clone()).collect(),
            false => vec![case.mode.clone()],
        };
        Ok((Outcome { verdict, wall: ended.wall, modes }, report(&command, &ended, &problems)))
    }

    fn start(
        &self,
        command: &mut std::process::Command,
        case: &Case,
        dir: &Path,
        recordings: &[Recording],
    ) -> Result<Ended, String> {
        let jcmd = place::jcmd(case.jdk);
        let martini = &self.place.martini.command;
        let target = Target {
            dir,
            trace: case.mode.trace_name(),
            jcmd: jcmd.as_deref(),
            martini,
            recordings,
            most_recordings: case.most_recordings(),
        };
        jvm::run(command, &case.acts, &target, self.limit(case))
    }

    fn limit(&self, case: &Case) -> Duration {
        self.request.limit() * if case.program.is_long { 6 } else { 1 }
    }

    /// What the program does without agent and without anything that was drawn; asked once.
    fn plain(&self, case: &Case, dir: &Path) -> Result<Plain, String> {
        let known = |plain: &Mutex<HashMap<Key, Plain>>| {
            plain.lock().unwrap_or_else(PoisonError::into_inner).get(&case.plain_key()).cloned()
        };
        if let Some(plain) = known(&self.plain) {
            return Ok(plain);
        }
        let martini = &self.place.martini.command;
        let target =
            Target { dir, trace: case.mode.trace_name(), jcmd: None, martini, recordings: &[], most_recordings: 0 };
        let ended = jvm::run(&mut case.plain_command(self.place, dir), &[], &target, self.limit(case))?;
        let status = ended.status.ok_or("without agent, too, it does not end")?;
        let plain = Plain { status, lines: check::split(&ended.out).0 };
        self.plain.lock().unwrap_or_else(PoisonError::into_inner).insert(case.plain_key(), plain.clone());
        Ok(plain)
    }
}

fn report(command: &std::process::Command, ended: &Ended, problems: &[Problem]) -> String {
    let mut text = format!("command: {command:?}\n");
    for problem in problems {
        // A String takes everything.
        let _ = writeln!(text, "{:?}: {}", problem.kind, problem.text);
    }
    let _ =
        writeln!(text, "done to it: {:?}; after {:.1} s: {:?}", ended.acted, ended.wall.as_secs_f64(), ended.status);
    for recorded in &ended.recorded {
        let _ = writeln!(text, "{}: {}", recorded.drawn.mode.described(), recorded.ending());
    }
    for (name, stream) in [("output", &ended.out), ("error", &ended.err)] {
        let shown: String = stream.chars().take(SHOWN).collect();
        let _ = writeln!(text, "--- standard {name}\n{}", shown.trim());
    }
    text
}
