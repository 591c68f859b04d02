//! What the agent needs: for each live object that it follows, for many threads, for many allocation sites.

mod cases;
mod sites;

use std::path::Path;
use std::time::Duration;

use bci_tests::jdk::{self, Jdk};
use serde_json::{Value, json};

use self::cases::{BASE, CASES, Case, ENTRIES, Entry};
use crate::alternate::alternate;
use crate::built::{self, Built};
use crate::figures::Spread;
use crate::machine::Machine;
use crate::peers::Peers;
use crate::request::{Form, Request, pick};
use crate::run::run as run_command;
use crate::table::Table;

/// How often all variants run, unless asked otherwise.
const ROUNDS: usize = 3;

const MIB: f64 = (1 << 20) as f64;

/// The most memory that each run of a variant had in use, in bytes; or why there is none.
type Peaks = Result<Vec<f64>, String>;

/// One case on one JDK.
struct Chapter<'a> {
    case: &'a Case,
    base: Peaks,
    /// In the order of the variants.
    rows: Vec<Peaks>,
}

/// Runs the benchmark and prints its tables. The error counts what failed, once everything has been printed.
pub(crate) fn run(request: &Request) -> Result<(), String> {
    let cases = pick(&request.programs, CASES, |case| case.id, |_| true)?;
    let entries = pick(&request.variants, ENTRIES, |entry| entry.id, |_| true)?;
    let built = built::build()?;
    let classes = cases::build(&built)?;
    let machine = Machine::now();
    let rounds = request.rounds.unwrap_or(ROUNDS);
    let mut failures = 0;
    let mut everything = Vec::new();
    for jdk in request.jdks(|| vec![jdk::any()])? {
        let mut chapters = Vec::new();
        for case in &cases {
            if let Some(reason) = case.unfit(jdk) {
                eprintln!("{} is left out: {reason}", case.id);
                continue;
            }
            let chapter = chapter(&built, &classes, jdk, case, &entries, rounds, request.limit);
            failures += [&chapter.base].into_iter().chain(&chapter.rows).filter(|peaks| peaks.is_err()).count();
            chapters.push(chapter);
        }
        if request.form() == Form::Json {
            everything.extend(chapters.iter().map(|chapter| to_json(jdk, chapter, &entries)));
            continue;
        }
        println!("{}\nJDK {} ({}), rounds: {rounds}; median (least .. most)\n", machine.line(), jdk.build, jdk.vendor);
        let per_object = per_object(&chapters, &entries).map(|table| ("bytes for each live object".to_owned(), table));
        for (title, table) in chapters.iter().map(|chapter| table(chapter, &entries)).chain(per_object) {
            println!("{title}\n");
            println!("{}", if request.form() == Form::Markdown { table.markdown() } else { table.text() });
        }
    }
    if request.form() == Form::Json {
        println!("{:#}", json!({ "machine": machine.json(), "rounds": rounds, "results": everything }));
    }
    match failures {
        0 => Ok(()),
        failures => Err(format!("{failures} of the results above are missing: the tables say why")),
    }
}

fn chapter<'a>(
    built: &Built,
    classes: &Path,
    jdk: &Jdk,
    case: &'a Case,
    entries: &[&Entry],
    rounds: usize,
    limit: Duration,
) -> Chapter<'a> {
    let all: Vec<&Entry> = [&BASE].into_iter().chain(entries.iter().copied()).collect();
    let outcomes = alternate(all.len(), rounds, |round, index| {
        let peak = peak(built, classes, jdk, case, all[index], limit);
        let said = match &peak {
            Ok(bytes) => format!("{:.0} MiB", bytes / MIB),
            Err(reason) => reason.clone(),
        };
        eprintln!(
            "{} on {}, round {} of {rounds}: {}: {said}",
            case.id,
            jdk.feature,
            round + 1,
            all[index].variant.name
        );
        peak
    });
    let mut peaks = outcomes.into_iter().map(|outcome| match outcome.failure {
        Some(reason) => Err(reason),
        None => Ok(outcome.runs),
    });
    let base = peaks.next().unwrap_or_else(|| Err("no runs".into()));
    Chapter { case, base, rows: peaks.collect() }
}

fn peak(built: &Built, classes: &Path, jdk: &Jdk, case: &Case, entry: &Entry, limit: Duration) -> Result<f64, String> {
    let place = tempfile::tempdir_in(&built.traces).map_err(|e| format!("no folder for the trace: {e}"))?;
    let launch = entry.variant.launch(built, &Peers::none(), &place.path().join("trace"))?;
    let run = run_command(&mut case.command(jdk, &launch, classes), limit)?;
    if Some(run.value("alive")?) != case.alive() {
        return Err("the program did not do its work".into());
    }
    Ok(run.rss_bytes as f64)
}

fn table(chapter: &Chapter<'_>, entries: &[&Entry]) -> (String, Table) {
    let mut table = Table::new(&["", "max RSS in MiB", "MiB more"]);
    let name = BASE.variant.name;
    let Ok(base) = &chapter.base else {
        table.say(name, chapter.base.as_ref().err().map_or("", String::as_str));
        return (chapter.case.title.to_owned(), table);
    };
    let all = |peaks: &[f64]| format!("{:.0}", Spread::of(peaks.iter().map(|bytes| bytes / MIB)));
    table.row([name.to_owned(), all(base)]);
    for (entry, peaks) in entries.iter().zip(&chapter.rows) {
        match peaks {
            Ok(peaks) => {
                let more = Spread::of(peaks.iter().zip(base).map(|(peak, base)| (peak - base) / MIB));
                table.row([entry.variant.name.to_owned(), all(peaks), format!("{more:.0}")]);
            }
            Err(reason) => table.say(entry.variant.name, reason),
        }
    }
    (chapter.case.title.to_owned(), table)
}

/// What a variant needs beyond no agent, as the difference between many objects and few: what it needs in any case cancels out.
///
/// None if not both cases ran.
fn per_object(chapters: &[Chapter<'_>], entries: &[&Entry]) -> Option<Table> {
    let mut with_objects = chapters.iter().filter_map(|chapter| Some((chapter, chapter.case.objects?)));
    let ((few, fewer), (many, more)) = (with_objects.next()?, with_objects.next()?);
    let (few_base, many_base) = (few.base.as_ref().ok()?, many.base.as_ref().ok()?);
    let mut table = Table::new(&["", "bytes"]);
    for ((entry, few), many) in entries.iter().zip(&few.rows).zip(&many.rows) {
        match (few, many) {
            (Ok(few), Ok(many)) => {
                let added = |round: usize| (many[round] - many_base[round]) - (few[round] - few_base[round]);
                let bytes = Spread::of((0..few.len()).map(|round| added(round) / f64::from(more - fewer)));
                table.row([entry.variant.name.to_owned(), format!("{bytes:.0}")]);
            }
            (Err(reason), _) | (_, Err(reason)) => table.say(entry.variant.name, reason),
        }
    }
    Some(table)
}

fn to_json(jdk: &Jdk, chapter: &Chapter<'_>, entries: &[&Entry]) -> Value {
    let said = |peaks: &Peaks| match peaks {
        Ok(peaks) => json!({ "max_rss_bytes": peaks }),
        Err(reason) => json!({ "failed": reason }),
    };
    let variants = entries.iter().zip(&chapter.rows).map(|(entry, peaks)| {
        let mut value = said(peaks);
        value["variant"] = json!(entry.id);
        value
    });
    json!({
        "program": chapter.case.id,
        "title": chapter.case.title,
        "jdk": { "build": jdk.build, "vendor": jdk.vendor },
        "no_agent": said(&chapter.base),
        "variants": variants.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chapters() -> Vec<Chapter<'static>> {
        let mib = |figures: [f64; 2]| Ok(figures.map(|figure| figure * MIB).to_vec());
        let broken = || Err("failed in round 1 of 2: no such option".to_owned());
        vec![
            Chapter { case: &CASES[0], base: mib([100.0, 110.0]), rows: vec![mib([150.0, 160.0]), broken()] },
            Chapter { case: &CASES[1], base: mib([200.0, 200.0]), rows: vec![mib([450.0, 650.0]), broken()] },
        ]
    }

    #[test]
    fn what_one_object_takes_is_free_of_what_is_needed_in_any_case() {
        let entries: Vec<&Entry> = ENTRIES[..2].iter().collect();
        let text = per_object(&chapters(), &entries).expect("two cases").text();
        // 200 and 400 MiB more for 4 million objects more.
        assert!(text.contains("79 (52 .. 105)"), "{text}");
        assert!(text.contains("no such option"), "{text}");
        assert!(per_object(&chapters()[..1], &entries).is_none());
    }

    #[test]
    fn peaks_stand_beside_what_they_are_above_no_agent() {
        let entries: Vec<&Entry> = ENTRIES[..2].iter().collect();
        let (title, table) = table(&chapters()[0], &entries);
        assert_eq!(title, "1 million live objects");
        let text = table.text();
        assert!(text.contains("155 (150 .. 160)  50 (50 .. 50)"), "{text}");
        assert!(text.contains("failed in round 1 of 2: no such option"), "{text}");
    }

    #[test]
    fn programs_get_every_peak() {
        let entries: Vec<&Entry> = ENTRIES[..2].iter().collect();
        let json = to_json(jdk::any(), &chapters()[0], &entries);
        assert_eq!(json["no_agent"]["max_rss_bytes"][1], 110.0 * MIB);
        assert_eq!(json["variants"][0]["variant"], "floor");
        assert_eq!(json["variants"][1]["failed"], "failed in round 1 of 2: no such option");
    }
}
