//! The tables of `bench -- sampled`.

use serde_json::{Value, json};

use super::read::Estimate;
use super::{Chapter, Taken};
use crate::figures::Spread;
use crate::request::Form;
use crate::table::Table;

/// The site that keeps what it makes.
const LEAK: &str = "kept";
/// Standard errors within which 95 % lie, if errors are normal.
const OF_95_PERCENT: f64 = 1.96;
const MB: f64 = 1e6;

/// Three tables: each site's estimates, the leak, and costs.
pub(super) fn print(chapter: &Chapter, form: Form) {
    let shown = |table: Table| match form {
        Form::Markdown => table.markdown(),
        _ => table.text(),
    };
    let jdk = chapter.jdk;
    println!(
        "JDK {} ({}), {}: estimates of each site's bytes, percent of what it made\n",
        jdk.build, jdk.vendor, chapter.order
    );
    println!("{}", shown(sites(chapter)));
    println!("JDK {}, {}: what lived at the end\n", jdk.build, chapter.order);
    println!("{}", shown(leak(chapter)));
    println!("JDK {}, {}: costs in terms of no agent, median (least .. most)\n", jdk.build, chapter.order);
    println!("{}", shown(costs(chapter)));
}

/// What a series of estimates is worth.
struct Series {
    /// In percent of the truth: the mean error, the root of the mean square, the mean of the stated standard errors.
    bias: f64,
    rms: f64,
    stated: Option<f64>,
    /// Percent of the estimates that lie within their 95 % error.
    within: Option<f64>,
}

impl Series {
    /// Of estimates and truths; none if there are none.
    fn of(pairs: &[(Estimate, f64)]) -> Option<Series> {
        let mean =
            |figure: &dyn Fn(&(Estimate, f64)) -> f64| pairs.iter().map(figure).sum::<f64>() / pairs.len() as f64;
        let off = |(estimate, truth): &(Estimate, f64)| 100.0 * (estimate.bytes - truth) / truth;
        let has_errors = pairs.iter().all(|(estimate, _)| estimate.variance.is_some());
        let error = |estimate: &Estimate| estimate.variance.unwrap_or(0.0).sqrt();
        (!pairs.is_empty()).then(|| Series {
            bias: mean(&off),
            rms: mean(&|pair| off(pair).powi(2)).sqrt(),
            stated: has_errors.then(|| mean(&|(estimate, truth)| 100.0 * error(estimate) / truth)),
            within: has_errors.then(|| {
                let is_within = |(estimate, truth): &(Estimate, f64)| {
                    (estimate.bytes - truth).abs() <= OF_95_PERCENT * error(estimate)
                };
                mean(&|pair| if is_within(pair) { 100.0 } else { 0.0 })
            }),
        })
    }
}

/// The estimates of the sites that have that name, in all runs of a variant.
fn pairs(runs: &[Taken], is_wanted: impl Fn(&str) -> bool) -> Vec<(Estimate, f64)> {
    let of_run = |taken: &Taken| {
        let found = taken.allocated.as_ref();
        let wanted = taken.truth.iter().filter(|(site, _)| is_wanted(site));
        // A site that is missing was not sampled: 0 bytes, and an error of 0.
        let pair = |(site, &truth): (&String, &f64)| {
            let all = found?;
            let states_errors = all.values().any(|estimate| estimate.variance.is_some());
            let none = Estimate { bytes: 0.0, variance: states_errors.then_some(0.0) };
            Some((all.get(site).copied().unwrap_or(none), truth))
        };
        wanted.filter_map(pair).collect::<Vec<_>>()
    };
    runs.iter().flat_map(of_run).collect()
}

fn sites(chapter: &Chapter) -> Table {
    let mut table = Table::new(&["site", "", "bias", "root of mean square", "stated error", "within 95 %"]);
    let truth = chapter.results.iter().flat_map(|(_, outcome)| &outcome.runs).map(|taken| &taken.truth).next();
    let mut sites: Vec<&str> = truth.into_iter().flat_map(|sites| sites.keys().map(String::as_str)).collect();
    sites.sort_by_key(|site| site.trim_start_matches('s').parse().unwrap_or(u64::MAX));
    let all = sites.iter().map(|&site| (site.to_owned(), Some(site))).chain([("all".to_owned(), None)]);
    for (name, site) in all {
        for (entry, outcome) in &chapter.results {
            let pairs = pairs(&outcome.runs, |other| site.is_none_or(|site| site == other));
            let Some(series) = Series::of(&pairs) else { continue };
            let percent = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.1}"));
            table.row([
                name.clone(),
                entry.variant.name.to_owned(),
                format!("{:+.1}", series.bias),
                format!("{:.1}", series.rms),
                percent(series.stated),
                percent(series.within),
            ]);
        }
    }
    for (entry, outcome) in &chapter.results {
        if let Some(failure) = &outcome.failure {
            table.say(entry.variant.name, failure);
        }
    }
    table
}

fn leak(chapter: &Chapter) -> Table {
    let mut table = Table::new(&[
        "",
        "leak, MB",
        "found, MB",
        "stated error",
        "within 95 %, of runs",
        "survivors, percent",
        "all else, MB",
    ]);
    for (entry, outcome) in &chapter.results {
        let looks = outcome.runs.iter().filter_map(|taken| Some((taken.truth.get(LEAK)?, taken.living.as_ref()?)));
        let looks: Vec<_> = looks.collect();
        if looks.is_empty() {
            continue;
        }
        let found = |index: usize| looks[index].1.by_site.get(LEAK).copied().unwrap_or_default();
        let all = || (0..looks.len()).map(found);
        let errors: Option<Vec<f64>> = all().map(|estimate| Some(estimate.variance?.sqrt())).collect();
        let within = errors.as_ref().map(|errors| {
            let is_within =
                |index: &usize| (found(*index).bytes - looks[*index].0).abs() <= OF_95_PERCENT * errors[*index];
            (0..looks.len()).filter(is_within).count()
        });
        let survivors = looks
            .iter()
            .filter_map(|(_, living)| Some(100.0 * living.survivors.get(LEAK)? / living.by_site.get(LEAK)?.bytes));
        let survivors: Vec<f64> = survivors.collect();
        let else_ = looks.iter().map(|(_, living)| {
            living.by_site.iter().filter(|(site, _)| *site != LEAK).map(|(_, other)| other.bytes).sum::<f64>() / MB
        });
        table.row([
            entry.variant.name.to_owned(),
            format!("{:.1}", Spread::of(looks.iter().map(|(truth, _)| **truth / MB)).median),
            format!("{:.1}", Spread::of(all().map(|estimate| estimate.bytes / MB))),
            errors.map_or(String::new(), |errors| format!("{:.1}", Spread::of(errors.iter().map(|e| e / MB)).median)),
            within.map_or(String::new(), |within| format!("{within} of {}", looks.len())),
            if survivors.is_empty() { String::new() } else { format!("{:.0}", Spread::of(survivors)) },
            format!("{:.1}", Spread::of(else_)),
        ]);
    }
    table
}

fn costs(chapter: &Chapter) -> Table {
    let mut table = Table::new(&["", "s", "wall", "CPU"]);
    let base = chapter.results[0].1.complete();
    for (entry, outcome) in &chapter.results {
        let Some((runs, base)) = outcome.complete().zip(base) else {
            table.say(entry.variant.name, outcome.failure.as_deref().unwrap_or("it failed without any agent"));
            continue;
        };
        table.row([
            entry.variant.name.to_owned(),
            format!("{:.2}", Spread::of(runs.iter().map(|run| run.wall)).median),
            format!("{:.3}", Spread::of_quotients(runs, base, |run| run.wall)),
            format!("{:.3}", Spread::of_quotients(runs, base, |run| run.cpu)),
        ]);
    }
    table
}

/// Every run.
pub(super) fn json(chapter: &Chapter) -> Value {
    let estimate = |estimate: &Estimate| json!({ "bytes": estimate.bytes, "error": estimate.variance.map(f64::sqrt) });
    let estimates = |all: &super::Estimates| -> Value {
        all.iter().map(|(site, of)| (site.clone(), estimate(of))).collect::<serde_json::Map<_, _>>().into()
    };
    let run = |taken: &Taken| {
        json!({
            "wall_s": taken.wall,
            "cpu_s": taken.cpu,
            "made": taken.truth,
            "allocated": taken.allocated.as_ref().map(estimates),
            "living": taken.living.as_ref().map(|living| estimates(&living.by_site)),
        })
    };
    let variants = chapter.results.iter().map(|(entry, outcome)| {
        let runs: Vec<Value> = outcome.runs.iter().map(run).collect();
        json!({ "variant": entry.variant.name, "runs": runs, "failed": outcome.failure })
    });
    json!({
        "jdk": { "build": chapter.jdk.build, "vendor": chapter.jdk.vendor },
        "order": chapter.order,
        "variants": variants.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_is_judged_by_its_own_errors() {
        let estimate = |bytes: f64, error: f64| (Estimate { bytes, variance: Some(error * error) }, 100.0);
        let series = Series::of(&[estimate(110.0, 5.0), estimate(90.0, 6.0)]).expect("two");
        assert_eq!((series.bias, series.rms, series.within), (0.0, 10.0, Some(50.0)));
        assert_eq!(series.stated, Some(5.5));
        let silent = (Estimate { bytes: 50.0, variance: None }, 100.0);
        let series = Series::of(&[silent]).expect("one");
        assert_eq!((series.bias, series.stated, series.within), (-50.0, None, None));
        assert!(Series::of(&[]).is_none());
    }
}
