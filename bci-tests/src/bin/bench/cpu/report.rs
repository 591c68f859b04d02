//! The tables of `bench -- cpu`.

use bci_tests::jdk::Jdk;
use serde_json::{Value, json};

use super::{Chapter, Taken};
use crate::figures::Spread;
use crate::request::Form;
use crate::table::Table;

/// Two tables for a JDK: what each part has beside what the profilers say, and for each program how far they are off and what they cost.
pub(super) fn print(jdk: &Jdk, chapters: &[Chapter], form: Form) {
    println!("JDK {} ({}): error of each part's share, in points: the worst of all rounds\n", jdk.build, jdk.vendor);
    for chapter in chapters {
        println!("{}", shown(&parts(chapter), form));
    }
    println!("JDK {} ({}): by program; costs in terms of no agent, median (least .. most)\n", jdk.build, jdk.vendor);
    for chapter in chapters {
        println!("{}", shown(&profilers(chapter), form));
    }
}

fn shown(table: &Table, form: Form) -> String {
    match form {
        Form::Markdown => table.markdown(),
        _ => table.text(),
    }
}

/// For each part how many points its share is off.
fn errors(taken: &Taken) -> Option<Vec<f64>> {
    let found = taken.profile.as_ref()?.shares();
    Some(found.iter().zip(taken.truth.shares()).map(|(found, truth)| found - truth).collect())
}

/// The error of a part that is farthest from 0.
fn worst(errors: impl Iterator<Item = f64>) -> f64 {
    errors.fold(0.0, |worst: f64, error| if error.abs() > worst.abs() { error } else { worst })
}

fn parts(chapter: &Chapter) -> Table {
    let all = || chapter.results.iter().flat_map(|(_, outcome)| &outcome.runs);
    let profiled: Vec<_> = chapter.results.iter().filter(|(_, o)| o.runs.iter().any(|t| t.profile.is_some())).collect();
    let mut headings = vec![chapter.program.id, "by the clocks, percent"];
    headings.extend(profiled.iter().map(|(variant, _)| variant.name));
    let mut table = Table::new(&headings);
    let names = all().next().map(|taken| taken.truth.judged()).unwrap_or_default();
    for (part, name) in names.into_iter().enumerate() {
        // Whether a collector's threads did something may differ.
        let truth = Spread::of(all().filter_map(|taken| taken.truth.shares().get(part).copied()));
        let mut row = vec![name, format!("{truth:.1}")];
        for (_, outcome) in &profiled {
            let errors = outcome.runs.iter().filter_map(|taken| errors(taken)?.get(part).copied());
            row.push(format!("{:+.2}", worst(errors)));
        }
        table.row(row);
    }
    table
}

fn profilers(chapter: &Chapter) -> Table {
    let mut table = Table::new(&[
        chapter.program.id,
        "worst error, points",
        "mean error",
        "samples",
        "without stack, percent",
        "samples/clock, worker",
        "all threads",
        "wall",
        "CPU",
    ]);
    let base = chapter.results[0].1.complete();
    for (variant, outcome) in &chapter.results {
        let Some((runs, base)) = outcome.complete().zip(base) else {
            table.say(variant.name, outcome.failure.as_deref().unwrap_or("it failed without any agent"));
            continue;
        };
        let all: Vec<f64> = runs.iter().filter_map(errors).flatten().collect();
        let mut row = vec![variant.name.to_owned()];
        if all.is_empty() {
            row.resize(5, String::new());
        } else {
            let profiles = || runs.iter().filter_map(|taken| taken.profile.as_ref());
            row.push(format!("{:.2}", worst(all.iter().copied()).abs()));
            row.push(format!("{:.2}", all.iter().map(|error| error.abs()).sum::<f64>() / all.len() as f64));
            row.push(format!("{:.0}", Spread::of(profiles().map(|profile| profile.samples() as f64)).median));
            row.push(format!("{:.1}", Spread::of(profiles().map(|profile| profile.lost()))));
        }
        let kept: Vec<_> = runs.iter().filter_map(|taken| taken.conservation.as_ref()).collect();
        if kept.is_empty() {
            row.resize(7, String::new());
        } else {
            row.push(format!("{:.3}", Spread::of(kept.iter().map(|kept| kept.worker))));
            row.push(format!("{:.3}", Spread::of(kept.iter().map(|kept| kept.all))));
        }
        row.push(format!("{:.3}", Spread::of_quotients(runs, base, |run| run.wall)));
        row.push(format!("{:.3}", Spread::of_quotients(runs, base, |run| run.cpu)));
        table.row(row);
    }
    table
}

/// Every run.
pub(super) fn json(chapter: &Chapter) -> Value {
    let run = |taken: &Taken| {
        json!({
            "wall_s": taken.wall,
            "cpu_s": taken.cpu,
            "parts": taken.truth.judged(),
            "percent": taken.truth.shares(),
            "profile_percent": taken.profile.as_ref().map(|profile| profile.shares()),
            "samples": taken.profile.as_ref().map(|profile| profile.samples()),
            "lost_percent": taken.profile.as_ref().map(|profile| profile.lost()),
            "samples_per_clock": taken.conservation.as_ref().map(|kept| [kept.worker, kept.all]),
        })
    };
    let variants = chapter.results.iter().map(|(variant, outcome)| {
        let runs: Vec<Value> = outcome.runs.iter().map(run).collect();
        json!({ "variant": variant.name, "runs": runs, "failed": outcome.failure })
    });
    json!({
        "jdk": { "build": chapter.jdk.build, "vendor": chapter.jdk.vendor },
        "program": chapter.program.id,
        "variants": variants.collect::<Vec<_>>(),
    })
}
