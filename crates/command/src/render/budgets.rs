//! Whether budgets are kept: as text, Markdown, JSON, JUnit XML and annotations of GitHub Actions.

use std::fmt::Write as _;
use std::io::{self, Write};

use analysis::budgets::{Budget, Verdict};
use analysis::ledger::Measure;
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use crate::render::comparison::amount;
use crate::render::human::{counted, printable};
use crate::render::markdown::code;
use crate::render::page::Page;
use crate::render::table::{Table, write_left_out};

/// Places of a budget for each that are shown, those that exceed it first.
const SHOWN: usize = 10;

/// A budget, and what became of it.
pub(crate) struct Judged<'r> {
    pub(crate) budget: &'r Budget,
    /// The worst first.
    pub(crate) verdicts: Vec<Verdict>,
}

impl Judged<'_> {
    /// Whether it is kept everywhere.
    pub(crate) fn is_kept(&self) -> bool {
        self.verdicts.iter().all(Verdict::is_kept)
    }

    fn exceeded(&self) -> impl Iterator<Item = &Verdict> {
        self.verdicts.iter().filter(|verdict| !verdict.is_kept())
    }

    /// What is shown of it: all places that exceed it, as far as there is room, or the one that comes nearest.
    fn shown(&self) -> Vec<&Verdict> {
        let exceeded: Vec<&Verdict> = self.exceeded().take(SHOWN).collect();
        if exceeded.is_empty() { self.verdicts.iter().take(1).collect() } else { exceeded }
    }

    fn sentence(&self, verdict: &Verdict) -> String {
        let measure = self.budget.measure;
        let place = verdict.place.as_ref().map(|place| format!("{}: ", printable(place))).unwrap_or_default();
        format!(
            "{place}{}, {} allowed by '{}'",
            cost(measure, verdict),
            limit(measure, verdict),
            printable(&self.budget.name)
        )
    }
}

/// Exact numbers where they are small, for a budget may be missed by a byte.
fn exact(measure: Measure, value: u64) -> String {
    match measure {
        Measure::Bytes | Measure::Live | Measure::Retained if value < 1 << 20 => {
            format!("{} B", crate::render::human::count(value))
        }
        _ => amount(measure, value as f64),
    }
}

fn cost(measure: Measure, verdict: &Verdict) -> String {
    match verdict.error {
        0 => exact(measure, verdict.cost),
        error => format!("{} ± {}", exact(measure, verdict.cost), exact(measure, error)),
    }
}

fn limit(measure: Measure, verdict: &Verdict) -> String {
    verdict.limit.map_or_else(|| "-".to_owned(), |limit| exact(measure, limit))
}

fn summary(judged: &[Judged<'_>]) -> String {
    let broken = judged.iter().filter(|judged| !judged.is_kept()).count();
    let all = counted(judged.len() as u64, "budget", "budgets");
    match broken {
        0 => format!("{all} kept"),
        broken => format!("{broken} of {all} exceeded"),
    }
}

/// Writes it as text.
pub(crate) fn write(judged: &[Judged<'_>], out: &mut Page<'_>) -> io::Result<()> {
    let mut table = Table::new(vec!["", "cost", "limit", "budget"]);
    let mut left = 0;
    for one in judged {
        let measure = one.budget.measure;
        left += one.exceeded().count().saturating_sub(SHOWN);
        let places = one.verdicts.len();
        for verdict in one.shown() {
            let name = match &verdict.place {
                Some(place) if !verdict.is_kept() => format!("{}: {}", one.budget.name, place),
                Some(_) => format!("{} ({} of them; the nearest)", one.budget.name, places),
                None => one.budget.name.clone(),
            };
            let word = if verdict.is_kept() { "kept" } else { "EXCEEDED" };
            table.push(vec![word.to_owned(), cost(measure, verdict), limit(measure, verdict), printable(&name)]);
        }
        if one.verdicts.is_empty() {
            table.push(vec!["kept".to_owned(), "0".to_owned(), "-".to_owned(), printable(&one.budget.name)]);
        }
    }
    table.write(out)?;
    write_left_out(left, out)?;
    writeln!(out, "{}", summary(judged).bold())
}

/// It as Markdown.
pub(crate) fn markdown(judged: &[Judged<'_>]) -> String {
    let mut text = format!("### Martini: {}\n\n", summary(judged));
    text.push_str("How to read it: `cost` is what the run cost, `limit` what the budget allows. ");
    text.push_str("Counted allocations are exact; estimates (±) exceed a budget only beyond their 95 % error.\n\n");
    text.push_str("| | cost | limit | budget | place |\n|---|---:|---:|---|---|\n");
    for one in judged {
        let measure = one.budget.measure;
        for verdict in one.shown() {
            let word = if verdict.is_kept() { "kept" } else { "**exceeded**" };
            let place = verdict.place.as_deref().filter(|_| !verdict.is_kept()).map(code).unwrap_or_default();
            let (cost, limit) = (cost(measure, verdict), limit(measure, verdict));
            _ = writeln!(text, "| {word} | {cost} | {limit} | {} | {place} |", code(&one.budget.name));
        }
        let left = one.exceeded().count().saturating_sub(SHOWN);
        if left > 0 {
            _ = writeln!(text, "| | | | {} | and {left} more places |", code(&one.budget.name));
        }
    }
    text
}

/// It for programs.
pub(crate) fn to_json(judged: &[Judged<'_>]) -> Value {
    let verdict = |verdict: &Verdict| {
        json!({
            "place": verdict.place, "cost": verdict.cost, "error": verdict.error, "limit": verdict.limit,
            "kept": verdict.is_kept(),
        })
    };
    let budget = |one: &Judged<'_>| {
        json!({
            "name": one.budget.name, "measure": one.budget.measure.word(), "kept": one.is_kept(),
            "verdicts": one.verdicts.iter().map(verdict).collect::<Vec<_>>(),
        })
    };
    json!({ "kept": judged.iter().all(Judged::is_kept), "budgets": judged.iter().map(budget).collect::<Vec<_>>() })
}

/// Text of an attribute or an element of XML 1.0.
fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

/// It as JUnit XML: a test for each budget.
pub(crate) fn junit(judged: &[Judged<'_>]) -> String {
    let failures = judged.iter().filter(|one| !one.is_kept()).count();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{0}\" failures=\"{failures}\">\n  \
         <testsuite name=\"martini check\" tests=\"{0}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\">\n",
        judged.len()
    );
    for one in judged {
        _ = write!(text, "    <testcase classname=\"martini\" name=\"{}\"", xml(&one.budget.name));
        let exceeded: Vec<String> = one.exceeded().map(|verdict| one.sentence(verdict)).collect();
        match exceeded.first() {
            None => text.push_str("/>\n"),
            Some(first) => {
                _ = write!(
                    text,
                    ">\n      <failure message=\"{}\">{}</failure>\n    </testcase>\n",
                    xml(first),
                    xml(&exceeded.join("; "))
                );
            }
        }
    }
    text + "  </testsuite>\n</testsuites>\n"
}

/// An error for GitHub Actions.
pub(crate) fn annotation(text: &str) -> String {
    let text = text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    format!("::error title=martini check::{text}")
}

/// It as annotations of GitHub Actions; nothing if all is kept.
pub(crate) fn github(judged: &[Judged<'_>]) -> String {
    let mut text = String::new();
    for one in judged {
        for verdict in one.exceeded().take(SHOWN) {
            _ = writeln!(text, "{}", annotation(&one.sentence(verdict)));
        }
    }
    text
}
