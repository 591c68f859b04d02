//! How many runs there were of what, and how many of them failed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::table::Table;

use super::case::Case;
use super::modes::Mode;

/// Runs and those of them that failed.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    runs: u64,
    failures: u64,
}

impl Sum {
    fn add(&mut self, failed: bool) {
        self.runs += 1;
        self.failures += u64::from(failed);
    }

    fn cell(self) -> String {
        match self.failures {
            0 => self.runs.to_string(),
            failures => format!("{}, {failures} failed", self.runs),
        }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Everything holds.
    Good,
    /// Something does not, and does without agent too.
    TheJvmsOwn,
    /// The JVM does not start with these options, agent or not.
    Refused,
    /// Something does not hold because of the agent.
    Failed,
}

/// What came of a run.
pub(super) struct Outcome {
    /// How it ended.
    pub(super) verdict: Verdict,
    /// How long it took.
    pub(super) wall: Duration,
    /// With which options there was a recording.
    pub(super) modes: Vec<Mode>,
}

/// All sums.
#[derive(Default)]
pub(super) struct Tally {
    all: Sum,
    own: u64,
    refused: u64,
    recordings: u64,
    jvm_time: Duration,
    by_jvm: BTreeMap<(u32, String), BTreeMap<&'static str, Sum>>,
    by_group: BTreeMap<&'static str, BTreeMap<String, Sum>>,
}

impl Tally {
    /// Adds a run.
    pub(super) fn add(&mut self, case: &Case, outcome: &Outcome) {
        let Outcome { verdict, wall, ref modes } = *outcome;
        if verdict == Verdict::Refused {
            self.refused += 1;
            return;
        }
        let failed = verdict == Verdict::Failed;
        self.own += u64::from(verdict == Verdict::TheJvmsOwn);
        self.recordings += modes.len() as u64;
        self.jvm_time += wall;
        self.all.add(failed);
        let jvm = (case.jdk.feature, case.jdk.build.clone());
        self.by_jvm.entry(jvm).or_default().entry(case.gc.name).or_default().add(failed);
        let mut add = |group, name: String| {
            self.by_group.entry(group).or_default().entry(name).or_default().add(failed);
        };
        add("program", case.program.name.into());
        for flag in &case.flags {
            add("option of the JVM", flag.name().into());
        }
        // What is done three times is one thing that is done.
        for option in modes.iter().flat_map(|mode| &mode.options).collect::<BTreeSet<_>>() {
            add("option of the agent", format!("{}={}", option.0, option.1));
        }
        for act in case.acts.iter().map(|timed| timed.act.name()).collect::<BTreeSet<_>>() {
            add("from outside", act);
        }
    }

    /// How many failed.
    pub(super) fn failures(&self) -> u64 {
        self.all.failures
    }

    /// How many ran.
    pub(super) fn runs(&self) -> u64 {
        self.all.runs
    }

    /// In one line.
    pub(super) fn line(&self) -> String {
        format!(
            "{} runs, {} recordings, {:.2} hours of JVMs, {} failed; {} as bad without agent, {} refused by the JVM",
            self.all.runs,
            self.recordings,
            self.jvm_time.as_secs_f64() / 3600.0,
            self.all.failures,
            self.own,
            self.refused
        )
    }

    /// All tables, each made by `print`.
    pub(super) fn tables(&self, print: fn(&Table) -> String) -> String {
        let mut text = print(&self.jvms());
        for (group, sums) in &self.by_group {
            let mut table = Table::new(&[group, "runs", "failed"]);
            for (name, sum) in sums {
                table.row([name.clone(), sum.runs.to_string(), sum.failures.to_string()]);
            }
            text += "\n";
            text += &print(&table);
        }
        text
    }

    fn jvms(&self) -> Table {
        let mut collectors: Vec<&'static str> = self.by_jvm.values().flat_map(|sums| sums.keys().copied()).collect();
        collectors.sort_unstable();
        collectors.dedup();
        let mut headings = vec!["JDK"];
        headings.extend(&collectors);
        let mut table = Table::new(&headings);
        for ((_, build), sums) in &self.by_jvm {
            let cell = |gc: &&'static str| sums.get(*gc).map_or("-".into(), |sum| sum.cell());
            table.row(std::iter::once(build.clone()).chain(collectors.iter().map(cell)));
        }
        table
    }
}
