//! `martini check`: whether runs keep their budgets.

mod compare;
mod costs;
mod rules;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use analysis::budgets::{Baseline, Budget, Costs};
use anyhow::{Context, bail};

use crate::commands::per_file::print_json;
use crate::exit;
use crate::render::budgets::{self as render, Judged};
use crate::render::human::counted;
use crate::render::page::{Page, PageArguments};
pub(crate) use rules::Rules;

/// Check that runs keep the budgets of a file, or that one command allocates no more than another
///
/// A budget bounds what code, a class or a thread may cost: bytes, objects, living bytes, CPU time, lock waits. Counted allocations (--heap counts)
/// do not depend on what the JIT removes: the same run has the same numbers. The costs of several traces, as of all JVMs of a build, are
/// added up.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Rules, a TOML file:
  baseline = \"alloc.baseline.toml\"   # beside this file; --update writes it
  [[budget]]
  measure = \"bytes\"        # objects, live, cpu, blocked, waits, calls, time
  at = \"com.acme.*\"        # code: a class, class.method or line
  of = \"byte[]\"            # class of the objects or locks
  thread = \"main\"          # instead of at and of
  each = \"method\"          # a bound for each line, method, class or package
  start = \"without\"        # without class loading and initialisers; or only
  at_most = \"baseline + 2 %\"   # or 20 MiB, 1000, 150 ms
The same in one line, for --rule:
  bytes of byte[] at com.acme.* each method without start <= baseline + 2 %

Exit status:
  0  all budgets are kept
  1  a budget is exceeded, or command B allocates more
  2  something cannot be read, or a measure was not recorded

Examples:
  martini check rules.toml martini-*.trcxml
  martini check --update rules.toml martini-*.trcxml
  martini check --rule 'bytes at com.acme.* <= 20 MiB' app.trcxml
  martini check rules.toml app.trcxml --junit check.xml --github
  martini run --check rules.toml -- mvn test
  martini check --compare 'git/base/run.sh' './run.sh' --runs 5")]
pub(crate) struct Arguments {
    /// File with budgets, unless --rule gives them, and traces to check
    #[arg(value_name = "RULES TRACE", required_unless_present = "compare")]
    files: Vec<PathBuf>,
    /// A budget in one line (repeatable); then all files are traces
    #[arg(long, value_name = "RULE", conflicts_with = "compare")]
    rule: Vec<Budget>,
    /// Baseline, instead of the one that the rules name
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write the costs of these traces into the baseline
    #[arg(long)]
    update: bool,
    /// Run two commands in turn and compare what they allocate; what differs is confirmed in reverse order
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with_all = ["files", "update", "baseline"])]
    compare: Option<Vec<String>>,
    /// Runs of each command
    #[arg(long, value_name = "N", default_value_t = 3, requires = "compare", value_parser = clap::value_parser!(u16).range(2..=100))]
    runs: u16,
    /// Leave out changes of less than this percentage of the bytes
    #[arg(long, value_name = "PERCENT", default_value = "0.5", requires = "compare", value_parser = super::diff::percentage)]
    least: f64,
    /// Also write JUnit XML
    #[arg(long, value_name = "FILE", conflicts_with = "compare")]
    junit: Option<PathBuf>,
    /// Also print annotations of GitHub Actions
    #[arg(long)]
    github: bool,
    #[command(flatten)]
    page: PageArguments,
    /// Print JSON with exact numbers
    #[arg(long)]
    json: bool,
    /// Print Markdown, as for a pull request
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    if let Some([a, b]) = arguments.compare.as_deref() {
        return compare::run(arguments, a, b);
    }
    let (mut rules, traces) = match (&arguments.rule[..], &arguments.files[..]) {
        ([], [rules, traces @ ..]) => (Rules::read(rules)?, traces),
        (budgets, traces) => (Rules::of(budgets.to_vec()), traces),
    };
    if traces.is_empty() {
        bail!("no trace to check; name one behind the rules");
    }
    if let Some(path) = &arguments.baseline {
        rules.baseline_path = Some(path.clone());
    }
    let costs = costs::read(traces, rules.uses_threads())?;
    if arguments.update {
        return update(&rules, &costs);
    }
    let judged = judge(&rules, &costs)?;
    arguments.print(&judged)?;
    Ok(status(&judged))
}

/// Judges the traces of a program that has ended, and prints what is exceeded. Whether all is kept.
///
/// # Errors
/// The rules or a trace cannot be read, or a measure was not recorded.
pub(crate) fn are_kept(rules: &Rules, traces: &[PathBuf], page: &mut Page<'_>) -> anyhow::Result<bool> {
    let judged = judge(rules, &costs::read(traces, rules.uses_threads())?)?;
    render::write(&judged, page)?;
    Ok(status(&judged) == exit::OK)
}

fn status(judged: &[Judged<'_>]) -> u8 {
    if judged.iter().all(Judged::is_kept) { exit::OK } else { exit::INVALID }
}

fn judge<'r>(rules: &'r Rules, costs: &Costs) -> anyhow::Result<Vec<Judged<'r>>> {
    let baseline = rules.baseline()?;
    let judge = |budget: &'r Budget| {
        let verdicts = budget.judge(costs, &baseline).with_context(|| not_recorded(budget))?;
        if verdicts.iter().any(|verdict| verdict.limit.is_none()) {
            bail!("'{}' is not in the baseline; write it with --update", budget.name);
        }
        Ok(Judged { budget, verdicts })
    };
    rules.budgets.iter().map(judge).collect()
}

fn not_recorded(budget: &Budget) -> String {
    format!("'{}': {} were not recorded; see martini run --help", budget.name, budget.measure.word())
}

/// Writes what the budgets cost now into the baseline.
fn update(rules: &Rules, costs: &Costs) -> anyhow::Result<u8> {
    let Some(path) = &rules.baseline_path else {
        bail!("no baseline to write; name it in the rules, or with --baseline FILE");
    };
    let mut baseline = Baseline::new();
    for budget in rules.budgets.iter().filter(|budget| budget.limit.needs_baseline()) {
        let entry = budget.to_baseline(costs).with_context(|| not_recorded(budget))?;
        baseline.insert(budget.name.clone(), entry);
    }
    if baseline.is_empty() {
        bail!("no budget of the rules has a limit with a baseline");
    }
    let text = format!(
        "# Written by martini check --update. What each budget cost, by place where it is for each.\n\n{}",
        toml::to_string(&baseline).context("the baseline cannot be written")?
    );
    write_file(path, &text)?;
    anstream::eprintln!("martini: {} holds {}", path.display(), counted(baseline.len() as u64, "budget", "budgets"));
    Ok(exit::OK)
}

/// Writes a file that is kept in a repository: whole, or not at all.
fn write_file(path: &Path, text: &str) -> anyhow::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let failed = || format!("{} cannot be written", path.display());
    let mut file = tempfile::NamedTempFile::new_in(folder).with_context(failed)?;
    file.write_all(text.as_bytes()).with_context(failed)?;
    file.persist(path).with_context(failed)?;
    Ok(())
}

impl Arguments {
    fn print(&self, judged: &[Judged<'_>]) -> anyhow::Result<()> {
        if let Some(path) = &self.junit {
            fs::write(path, render::junit(judged)).with_context(|| format!("{} cannot be written", path.display()))?;
        }
        let mut out = anstream::stdout().lock();
        if self.json {
            print_json("check", &render::to_json(judged), &mut out)?;
        } else if self.markdown {
            out.write_all(render::markdown(judged).as_bytes())?;
        } else {
            render::write(judged, &mut Page::new(&mut out, self.page.width()))?;
        }
        if self.github {
            out.write_all(render::github(judged).as_bytes())?;
        }
        out.flush()?;
        Ok(())
    }
}
