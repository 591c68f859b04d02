//! The results, as tables and for programs.

use bci_tests::jdk::Jdk;
use serde_json::{Value, json};

use super::measure::{Left, Sample};
use super::programs::Program;
use crate::figures::Spread;
use crate::table::Table;

/// One program on one JDK.
pub(crate) struct Chapter<'a> {
    pub(crate) jdk: &'a Jdk,
    pub(crate) program: &'a Program,
    /// The runs without agent; or why there are no results.
    pub(crate) base: Result<Vec<Sample>, String>,
    pub(crate) rows: Vec<Row>,
}

/// One variant.
pub(crate) struct Row {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    /// The id of a variant that is the same but for one thing.
    pub(crate) beside: Option<&'static str>,
    /// One for each round; or why not.
    pub(crate) samples: Result<Vec<Sample>, String>,
}

/// A number of a run.
type Figure = fn(&Sample) -> f64;

/// What is compared, with its heading.
const FIGURES: [(&str, Figure); 3] =
    [("wall", |sample| sample.wall_s), ("CPU", |sample| sample.cpu_s), ("max RSS", |sample| sample.rss_bytes)];

const MIB: f64 = (1 << 20) as f64;

impl Chapter<'_> {
    /// What ran, and how long it takes without agent.
    pub(crate) fn title(&self) -> String {
        let title = format!("{} on JDK {} ({})", self.program.title, self.jdk.build, self.jdk.vendor);
        let Ok(base) = &self.base else { return title };
        let wall = Spread::of(base.iter().map(|sample| sample.wall_s));
        let cpu = Spread::of(base.iter().map(|sample| sample.cpu_s));
        let rss = Spread::of(base.iter().map(|sample| sample.rss_bytes / MIB));
        if self.program.counts_itself() {
            let rate = Spread::of(base.iter().map(|sample| 1.0 / sample.wall_s));
            return format!("{title}\nno agent: {rate:.0} million allocations/s, {rss:.0} MiB");
        }
        format!("{title}\nno agent: {wall:.1} s, {cpu:.1} s of CPU, {rss:.0} MiB")
    }

    /// Each variant in terms of no agent; or why there are no results.
    pub(crate) fn table(&self) -> Result<Table, &str> {
        let base = self.base.as_ref().map_err(String::as_str)?;
        let mut table =
            Table::new(&["times no agent", "wall", "CPU", "best wall, CPU", "max RSS", "MiB more", "left behind"]);
        for row in &self.rows {
            match &row.samples {
                Ok(samples) => {
                    let ratios = FIGURES.map(|(_, figure)| Spread::of_quotients(samples, base, figure));
                    let more = samples.iter().zip(base).map(|(run, base)| (run.rss_bytes - base.rss_bytes) / MIB);
                    let left = samples.last().map_or(&Left::Nothing, |sample| &sample.left);
                    let [wall, cpu, rss] = ratios.map(|ratio| format!("{ratio:.2}"));
                    let more = format!("{:.0}", Spread::of(more).median);
                    table.row([row.name.to_owned(), wall, cpu, best(samples, base), rss, more, said(left)]);
                }
                Err(reason) => table.say(row.name, reason),
            }
        }
        Ok(table)
    }

    /// Each variant in terms of the one that is the same but for one thing, where both ran.
    pub(crate) fn besides(&self) -> Vec<String> {
        let pairs = self.rows.iter().filter_map(|row| {
            let other = self.rows.iter().find(|other| row.beside == Some(other.id))?;
            let (samples, base) = (row.samples.as_ref().ok()?, other.samples.as_ref().ok()?);
            let [wall, cpu, _] = FIGURES.map(|(_, figure)| Spread::of_quotients(samples, base, figure));
            let best = best(samples, base);
            Some(format!("{}, in terms of {}: {wall:.3} wall, {cpu:.3} CPU; best {best}", row.name, other.name))
        });
        pairs.collect()
    }

    /// Every run.
    pub(crate) fn json(&self) -> Value {
        let rows: Vec<Value> = self.rows.iter().map(|row| self.row_json(row)).collect();
        json!({
            "program": self.program.id,
            "title": self.program.title,
            "per_million_allocations": self.program.counts_itself(),
            "jdk": { "build": self.jdk.build, "vendor": self.jdk.vendor },
            "no_agent": runs_json(&self.base),
            "variants": rows,
        })
    }

    fn row_json(&self, row: &Row) -> Value {
        let mut value = runs_json(&row.samples);
        value["variant"] = json!(row.id);
        if let (Ok(samples), Ok(base)) = (&row.samples, &self.base) {
            for (name, figure) in FIGURES {
                let Spread { median, least, most } = Spread::of_quotients(samples, base, figure);
                let key = format!("times_no_agent_{}", name.to_lowercase().replace(' ', "_"));
                value[key] = json!({ "median": median, "least": least, "most": most });
            }
        }
        value
    }
}

fn runs_json(runs: &Result<Vec<Sample>, String>) -> Value {
    let run = |sample: &Sample| {
        let mut run = json!({ "wall_s": sample.wall_s, "cpu_s": sample.cpu_s, "max_rss_bytes": sample.rss_bytes });
        match sample.left {
            Left::Nothing => {}
            Left::File(bytes) => run["file_bytes"] = json!(bytes),
            Left::Counted(counted) => run["counted"] = json!(counted),
        }
        run
    };
    match runs {
        Ok(samples) => json!({ "runs": samples.iter().map(run).collect::<Vec<_>>() }),
        Err(reason) => json!({ "failed": reason }),
    }
}

/// The quickest run in terms of the quickest one without agent, for wall and CPU time. Other work on the machine only ever makes a run
/// slower, so this is nearer to the truth than the medians where there was much of it.
fn best(samples: &[Sample], base: &[Sample]) -> String {
    let least = |runs: &[Sample], figure: Figure| Spread::of(runs.iter().map(figure)).least;
    let [wall, cpu] = [FIGURES[0], FIGURES[1]].map(|(_, figure)| least(samples, figure) / least(base, figure));
    format!("{wall:.2}, {cpu:.2}")
}

fn said(left: &Left) -> String {
    match left {
        Left::Nothing => String::new(),
        Left::File(bytes) if *bytes < 10 << 20 => format!("{:.1} MiB", *bytes as f64 / MIB),
        Left::File(bytes) => format!("{:.0} MiB", *bytes as f64 / MIB),
        Left::Counted(counted) => format!("{:.1} million counted", *counted as f64 / 1e6),
    }
}

/// Each variant over all real programs of a JDK: the median of the programs' medians, with the extremes.
///
/// None if there are not at least two such programs.
pub(crate) fn summary(chapters: &[Chapter<'_>]) -> Option<Table> {
    let real: Vec<&Chapter<'_>> = chapters.iter().filter(|chapter| chapter.program.is_real()).collect();
    let real: Vec<&Chapter<'_>> = real.into_iter().filter(|chapter| chapter.base.is_ok()).collect();
    let first = real.first().filter(|_| real.len() > 1)?;
    let mut table = Table::new(&["times no agent", "wall", "CPU", "max RSS", "programs"]);
    for (index, row) in first.rows.iter().enumerate() {
        let pairs: Vec<(&[Sample], &[Sample])> = real
            .iter()
            .filter_map(|chapter| Some((chapter.rows[index].samples.as_deref().ok()?, chapter.base.as_deref().ok()?)))
            .collect();
        let programs = format!("{} of {}", pairs.len(), real.len());
        if pairs.is_empty() {
            table.say(row.name, &format!("no results: {programs} programs"));
            continue;
        }
        let cells = FIGURES.map(|(_, figure)| {
            let medians = pairs.iter().map(|(samples, base)| Spread::of_quotients(samples, base, figure).median);
            format!("{:.2}", Spread::of(medians))
        });
        table.row([row.name.to_owned()].into_iter().chain(cells).chain([programs]));
    }
    Some(table)
}

#[cfg(test)]
mod tests {
    use bci_tests::jdk;

    use super::*;
    use crate::compare::programs::PROGRAMS;

    fn sample(seconds: f64, left: Left) -> Sample {
        Sample { wall_s: seconds, cpu_s: seconds * 2.0, rss_bytes: seconds * 100.0 * MIB, left }
    }

    fn chapter(program: &'static Program, slower: f64) -> Chapter<'static> {
        let base: Vec<Sample> = [5.0, 10.0, 6.0].map(|seconds| sample(seconds, Left::Nothing)).to_vec();
        let slow = base.iter().map(|run| sample(run.wall_s * slower, Left::File(3 << 19))).collect();
        let rows = vec![
            Row { id: "slow", name: "slow", beside: None, samples: Ok(slow) },
            Row {
                id: "broken",
                name: "broken",
                beside: Some("slow"),
                samples: Err("failed in round 1 of 3: no such option".into()),
            },
        ];
        Chapter { jdk: jdk::any(), program, base: Ok(base), rows }
    }

    fn real() -> impl Iterator<Item = &'static Program> {
        PROGRAMS.iter().filter(|program| program.is_real())
    }

    #[test]
    fn a_chapter_shows_ratios_and_failures() {
        let chapter = chapter(real().next().expect("an entry"), 1.5);
        assert!(
            chapter
                .title()
                .ends_with("no agent: 6.0 (5.0 .. 10.0) s, 12.0 (10.0 .. 20.0) s of CPU, 600 (500 .. 1000) MiB")
        );
        let text = chapter.table().expect("results").text();
        let ratio = "1.50 (1.50 .. 1.50)";
        assert!(
            text.contains(&format!(
                "slow            {ratio}  {ratio}      1.50, 1.50  {ratio}       300      1.5 MiB\n"
            )),
            "{text}"
        );
        assert!(text.contains("broken          failed in round 1 of 3: no such option\n"), "{text}");
    }

    #[test]
    fn the_best_runs_may_be_of_different_rounds() {
        let runs = |seconds: [f64; 2]| seconds.map(|seconds| sample(seconds, Left::Nothing));
        assert_eq!(best(&runs([9.0, 3.0]), &runs([2.0, 8.0])), "1.50, 1.50");
    }

    #[test]
    fn two_variants_can_be_shown_in_terms_of_each_other() {
        let mut chapter = chapter(real().next().expect("an entry"), 1.5);
        assert!(chapter.besides().is_empty(), "one of them failed");
        let slower = chapter.base.iter().flatten().map(|run| sample(run.wall_s * 3.0, Left::Nothing)).collect();
        chapter.rows.push(Row { id: "slower", name: "slower", beside: Some("slow"), samples: Ok(slower) });
        let two = "2.000 (2.000 .. 2.000)";
        let sentence = format!("slower, in terms of slow: {two} wall, {two} CPU; best 2.00, 2.00");
        assert_eq!(chapter.besides(), [sentence]);
    }

    #[test]
    fn programs_get_every_run_and_every_failure() {
        let json = chapter(real().next().expect("an entry"), 2.0).json();
        assert_eq!(json["no_agent"]["runs"][1]["wall_s"], 10.0);
        assert_eq!(json["variants"][0]["variant"], "slow");
        assert_eq!(json["variants"][0]["runs"][2]["file_bytes"], 3 << 19);
        assert_eq!(json["variants"][0]["times_no_agent_max_rss"]["median"], 2.0);
        assert_eq!(json["variants"][1]["failed"], "failed in round 1 of 3: no such option");
    }

    #[test]
    fn the_summary_is_over_real_programs_that_ran() {
        let slower = [1.2, 1.1, 1.4];
        let mut chapters: Vec<Chapter<'_>> =
            real().zip(slower).map(|(program, slower)| chapter(program, slower)).collect();
        let json = PROGRAMS.iter().find(|program| program.counts_itself()).expect("an entry");
        chapters.push(chapter(json, 9.0));
        let text = summary(&chapters).expect("several programs").text();
        assert!(text.contains("1.20 (1.10 .. 1.40)") && text.contains("3 of 3"), "{text}");
        assert!(text.contains("no results: 0 of 3 programs"), "{text}");
        assert!(summary(&chapters[..1]).is_none());
    }
}
