//! What the command line asks for.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use bci_tests::jdk::{self, Jdk};
use clap::builder::RangedU64ValueParser;
use clap::{Parser, ValueEnum};

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Tables for the terminal.
    Text,
    /// Tables for a document.
    Markdown,
    /// Every run, for programs.
    Json,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Benchmark {
    /// Martini beside no agent and other profilers, on a program made to allocate and on real programs.
    Compare,
    /// What an agent adds in instructions, which other work on the machine does not change; needs valgrind, and minutes for each run.
    Instructions,
    /// What the agent adds to the start of a JVM.
    Start,
    /// No time: how often the shares of callers lie within their stated error (`--rounds`: runs on each JDK).
    Callers,
    /// How often sampled allocations lie within their stated error, on arrays of 16 bytes to 4 MB, beside other samplers (`--rounds`).
    Sampled,
    /// Tomcat under load from eight connections, with each engine alone: requests, CPU time of the server, switches between threads.
    Server,
    /// How long a dump of 100 to 10,000 platform threads, or of 100,000 virtual ones, stops the program (`--rounds`: dumps of each JVM).
    Threads,
    /// When servers under load are warm, and when they are said to be; 90 s for each (`--program`: servers by id).
    Ready,
    /// How fast the command reads a trace of a gibibyte, beside `xmllint --stream`; needs no JVM.
    Reading,
    /// Size of a store of up to 10,000 JVM-days drawn from real traces (`--trace`), speed of `fleet add`, time of each question; needs DuckDB
    /// (`MARTINI_DUCKDB`) and no JVM.
    Fleet,
    /// No time: which planted changes `martini diff` names, and what it names where nothing has changed.
    Diff,
    /// What breaks the agent; `bench torture --help` lists its own options.
    Torture,
}

impl Benchmark {
    /// Whether it understands `--against`.
    pub(crate) fn takes_two_builds(self) -> bool {
        matches!(self, Self::Instructions | Self::Reading | Self::Server | Self::Start)
    }
}

/// The benchmarks that need a JVM. All alternate their variants in every round, so that a change of the machine's speed meets
/// them all alike, and give medians with the extremes. A run that fails is shown in its place in the table.
#[derive(Debug, Parser)]
#[command(name = "bench")]
pub(crate) struct Request {
    /// What is measured.
    pub(crate) benchmark: Benchmark,
    /// How often all variants run; `instructions` has a row for each run, and one run if nothing is said.
    #[arg(long, value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    pub(crate) rounds: Option<usize>,
    /// Java releases, such as 17,25, or `all`; if none is named, each for `start` and any for the others.
    #[arg(long, value_delimiter = ',', value_name = "RELEASE")]
    jdk: Vec<Release>,
    /// Only variants whose names contain one of these words (`sampled`).
    #[arg(long, value_delimiter = ',', value_name = "WORD")]
    only: Vec<String>,
    /// Variants by id, or `all` (`compare`, `instructions`, `server`).
    #[arg(long = "variant", value_delimiter = ',', value_name = "ID")]
    pub(crate) variants: Vec<String>,
    /// Programs by id, or `all` (`compare`, `instructions`); orders for `sampled`.
    #[arg(long = "program", value_delimiter = ',', value_name = "ID")]
    pub(crate) programs: Vec<String>,
    /// Another build of the agent, `libmartini.so`, to measure in the same rounds: each row with Martini has one more, "other build"
    /// (`start`, `instructions`, `server`); for `reading` another build of the command, `martini`.
    #[arg(long, value_name = "FILE")]
    pub(crate) against: Option<PathBuf>,
    /// A run that takes longer than so many seconds has failed.
    #[arg(long, value_name = "SECONDS", default_value = "900", value_parser = seconds)]
    pub(crate) limit: Duration,
    /// Traces of real programs that JVM-days are drawn from (`fleet`).
    #[arg(long = "trace", value_delimiter = ',', value_name = "FILE")]
    pub(crate) traces: Vec<PathBuf>,
    /// Sizes of the stores in JVM-days (`fleet`).
    #[arg(long, value_delimiter = ',', value_name = "N", default_value = "10,100,1000,10000")]
    pub(crate) days: Vec<u64>,
    /// Also draw what was seen as an SVG (`ready`).
    #[arg(long, value_name = "PATH")]
    pub(crate) plot: Option<PathBuf>,
    /// Tables for a document.
    #[arg(long)]
    markdown: bool,
    /// Every run, for programs.
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
}

/// A Java release, or all that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Release {
    All,
    Feature(u32),
}

impl FromStr for Release {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "all" => Ok(Release::All),
            _ => word.parse().map(Release::Feature).map_err(|_| "releases are such as 17, or all".into()),
        }
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse().ok().filter(|&number: &u64| number > 0);
    number.map(Duration::from_secs).ok_or("not a number above 0".into())
}

impl Request {
    /// How results are printed.
    pub(crate) fn form(&self) -> Form {
        match (self.json, self.markdown) {
            (true, _) => Form::Json,
            (_, true) => Form::Markdown,
            _ => Form::Text,
        }
    }

    /// Whether a variant of that name is to run.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|word| name.contains(word.as_str()))
    }

    /// The installed JDKs of the releases asked for, or those of `otherwise`.
    pub(crate) fn jdks(&self, otherwise: fn() -> Vec<&'static Jdk>) -> Result<Vec<&'static Jdk>, String> {
        if self.jdk.is_empty() {
            return Ok(otherwise());
        }
        let mut found = Vec::new();
        for &release in &self.jdk {
            match release {
                Release::All => found.extend(jdk::each_feature()),
                Release::Feature(feature) => found.push(installed(feature)?),
            }
        }
        Ok(found)
    }
}

fn installed(feature: u32) -> Result<&'static Jdk, String> {
    let found = jdk::each_feature().into_iter().find(|jdk| jdk.feature == feature);
    found.ok_or(format!("no JDK {feature} here: name its folder in MARTINI_JDKS"))
}

/// The entries whose ids are asked for, in the order of the table; those of `default` if none is.
///
/// `all` stands for every one. An id that is in no entry is an error, with the ids that are.
pub(crate) fn pick<'a, T>(
    asked: &[String],
    entries: &'a [T],
    id: impl Fn(&T) -> &str,
    default: impl Fn(&T) -> bool,
) -> Result<Vec<&'a T>, String> {
    if asked.is_empty() {
        return Ok(entries.iter().filter(|entry| default(entry)).collect());
    }
    if asked.iter().any(|word| word == "all") {
        return Ok(entries.iter().collect());
    }
    if let Some(unknown) = asked.iter().find(|word| entries.iter().all(|entry| id(entry) != word.as_str())) {
        let known: Vec<&str> = entries.iter().map(&id).collect();
        return Err(format!("there is no '{unknown}': choose among {} or all", known.join(", ")));
    }
    Ok(entries.iter().filter(|entry| asked.iter().any(|word| word == id(entry))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Request, String> {
        Request::try_parse_from(["bench", "compare"].into_iter().chain(line.split_whitespace()))
            .map_err(|e| e.to_string())
    }

    #[test]
    fn options_are_read() {
        let request = parse("--rounds 7 --jdk 17,25 --program json,javac --variant counts --limit 30 --json").unwrap();
        assert_eq!(request.rounds, Some(7));
        assert_eq!(request.jdk, [Release::Feature(17), Release::Feature(25)]);
        assert_eq!(request.programs, ["json", "javac"]);
        assert_eq!(request.variants, ["counts"]);
        assert_eq!(request.limit, Duration::from_secs(30));
        assert_eq!(request.form(), Form::Json);
        assert_eq!(parse("--jdk all").unwrap().jdk, [Release::All]);
        assert_eq!(parse("").unwrap().form(), Form::Text);
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (line, sentence) in [
            ("--rounds", "a value is required for '--rounds"),
            ("--rounds 0", "0 is not in 1.."),
            ("--rounds many", "invalid value 'many'"),
            ("--jdk new", "releases are such as 17, or all"),
            ("--limit 0", "not a number above 0"),
            ("--colour red", "unexpected argument '--colour'"),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.contains(sentence), "{line}: {error}");
        }
    }

    #[test]
    fn entries_are_picked_by_id_in_the_order_of_the_table() {
        let table = ["one", "two", "three"];
        let pick = |asked: &[&str]| {
            let asked: Vec<String> = asked.iter().map(|&word| word.to_owned()).collect();
            pick(&asked, &table, |entry| entry, |entry| entry.len() == 3)
                .map(|picked| picked.into_iter().copied().collect::<Vec<_>>())
        };
        assert_eq!(pick(&[]).unwrap(), ["one", "two"]);
        assert_eq!(pick(&["three", "one"]).unwrap(), ["one", "three"]);
        assert_eq!(pick(&["all"]).unwrap(), table);
        assert_eq!(pick(&["four"]).unwrap_err(), "there is no 'four': choose among one, two, three or all");
    }
}
