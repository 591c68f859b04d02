//! What the command line of `bench torture` asks for.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use clap::builder::RangedU64ValueParser;

/// Tries to break the agent: hostile programs on every JDK, collector and layout, with every option of the agent, drawn at random.
///
/// A seed gives a run; the seeds of the runs follow each other. A run that fails is reported at once, with its seed and its command, and
/// its folder is kept. Ctrl-C ends it with the table so far.
#[derive(Debug, Parser)]
#[command(name = "bench torture")]
pub(super) struct Request {
    /// The seed of the first run; from the clock if there is none.
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    /// So many runs.
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u64>::new().range(1..))]
    pub(super) runs: Option<u64>,
    /// No new run after so many minutes; ten if there is no number of runs.
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<u64>::new().range(1..))]
    minutes: Option<u64>,
    /// Only these programs.
    #[arg(long, value_delimiter = ',', value_name = "PROGRAM")]
    pub(super) only: Vec<String>,
    /// Only these Java releases.
    #[arg(long, value_delimiter = ',', value_name = "RELEASE")]
    pub(super) jdk: Vec<u32>,
    /// Only these collectors.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub(super) collector: Vec<String>,
    /// Without the programs that take a minute.
    #[arg(long)]
    pub(super) short: bool,
    /// Interrupt threads in each run, as often as can be: `cpu=100us`, and `wall=1ms` in half of them.
    #[arg(long)]
    pub(super) samples: bool,
    /// Start each JVM without agent, and attach to it with drawn options again and again.
    #[arg(long)]
    pub(super) attach: bool,
    /// So many runs at a time.
    #[arg(long, value_name = "N", default_value = "2", value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    pub(super) jobs: usize,
    /// A JVM that takes longer than so many seconds hangs.
    #[arg(long, value_name = "SECONDS", default_value = "100", value_parser = RangedU64ValueParser::<u64>::new().range(1..))]
    limit: u64,
    /// The folder for what failed; beside the build if there is none.
    #[arg(long, value_name = "FOLDER")]
    pub(super) keep: Option<PathBuf>,
    /// Tables for a document.
    #[arg(long)]
    pub(super) markdown: bool,
}

impl Request {
    /// How long a JVM may take.
    pub(super) fn limit(&self) -> Duration {
        Duration::from_secs(self.limit)
    }

    /// When no new run begins any more.
    pub(super) fn time(&self) -> Option<Duration> {
        let minutes = self.minutes.or(self.runs.is_none().then_some(10));
        minutes.map(|minutes| Duration::from_secs(minutes * 60))
    }

    /// The arguments that decide, with a seed, what is drawn.
    pub(super) fn choice(&self) -> String {
        let mut text = String::new();
        let mut add = |name: &str, values: Vec<String>| {
            if !values.is_empty() {
                text += &format!(" --{name} {}", values.join(","));
            }
        };
        add("only", self.only.clone());
        add("jdk", self.jdk.iter().map(u32::to_string).collect());
        add("collector", self.collector.clone());
        if self.short {
            text += " --short";
        }
        if self.samples {
            text += " --samples";
        }
        if self.attach {
            text += " --attach";
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_decides_a_run_is_said_again() {
        let line =
            "torture --seed 7 --only deep,unload --jdk 17,25 --collector zgc --short --samples --attach --jobs 3";
        let request = Request::try_parse_from(line.split(' ')).unwrap();
        assert_eq!(request.choice(), " --only deep,unload --jdk 17,25 --collector zgc --short --samples --attach");
        assert_eq!(request.time(), Some(Duration::from_secs(600)));
        let request = Request::try_parse_from(["torture", "--runs", "5"]).unwrap();
        assert_eq!((request.choice(), request.time()), (String::new(), None));
    }
}
