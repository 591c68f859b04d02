//! A store of many JVM-days: how large it is, how fast it is filled, and how long each question takes.

mod generate;
mod seeds;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ::fleet::questions::{Engine, Place, QUESTIONS, views};
use serde_json::{Value, json};

use self::generate::{PIECES, Plan};
use self::seeds::Seed;
use crate::alternate::alternate;
use crate::built;
use crate::figures::Spread;
use crate::machine::Machine;
use crate::request::{Form, Request};
use crate::run::{Run, run};
use crate::table::Table;

const ROUNDS: usize = 3;
/// What DuckDB may use: of a machine of 4 GB the rest is for others.
const SETTINGS: &str = "set memory_limit = '3GB'; set threads = 2";
const RELEASES: [(&str, &str); 2] = [("before", "1"), ("after", "2")];

/// A store, and what each question took; a question that failed says why.
struct Size {
    jvm_days: u64,
    rows: u64,
    bytes: u64,
    seconds: f64,
    answers: Vec<Result<Run, String>>,
}

/// Runs the benchmark and prints its tables. The error counts the questions that failed.
pub(crate) fn measure(request: &Request) -> Result<(), String> {
    if request.traces.is_empty() {
        return Err("name traces of real programs with --trace".into());
    }
    let duckdb = env::var_os("MARTINI_DUCKDB").ok_or("MARTINI_DUCKDB names no duckdb")?;
    let target = built::build()?.target;
    let (martini, folder) = (target.join("release/martini"), target.join("bench-fleet"));
    removed(&folder)?;
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let machine = Machine::now();
    let seeds = Seeds::add(&martini, &folder, request)?;
    let day = seeds.a_real_day(&martini, request)?;
    let mut sizes = Vec::new();
    for &jvm_days in &request.days {
        let plan = Plan::of(jvm_days);
        let store = folder.join("generated");
        let begin = std::time::Instant::now();
        generate::generate(&seeds.services, &seeds.store, &store, plan)?;
        let seconds = begin.elapsed().as_secs_f64();
        let answers =
            QUESTIONS.iter().map(|(name, _)| ask(name, Path::new(&duckdb), &store, &folder, request)).collect();
        let rows = seeds.rows_of(plan)?;
        sizes.push(Size { jvm_days: plan.jvm_days(), rows, bytes: seeds::bytes(&store)?, seconds, answers });
        eprintln!("{jvm_days} JVM-days: made in {seconds:.0} s");
        removed(&store)?;
    }
    let head = format!("{}\n{}\n{}\n", machine.line(), seeds.adding, day);
    match request.form() {
        Form::Text => println!("{head}\n{}", table(&sizes).text()),
        Form::Markdown => println!("{head}\n{}", table(&sizes).markdown()),
        Form::Json => println!("{:#}", json!({ "machine": machine.json(), "said": head, "results": to_json(&sizes) })),
    }
    removed(&folder)?;
    let failed = sizes.iter().flat_map(|size| &size.answers).filter(|answer| answer.is_err()).count();
    if failed == 0 { Ok(()) } else { Err(format!("{failed} questions were not answered")) }
}

/// A store of the real traces, each as a service.
struct Seeds<'r> {
    folder: PathBuf,
    store: PathBuf,
    services: Vec<String>,
    traces: &'r [PathBuf],
    /// How fast they were added.
    adding: String,
}

impl<'r> Seeds<'r> {
    /// Adds them, several times, beside `martini stats`.
    fn add(martini: &Path, folder: &Path, request: &'r Request) -> Result<Seeds<'r>, String> {
        let (store, traces) = (folder.join("real"), &*request.traces);
        let services: Vec<String> = (0..traces.len()).map(|number| format!("real-{number}")).collect();
        let outcomes = alternate(2, request.rounds.unwrap_or(ROUNDS), |_, variant| {
            let mut seconds = 0.0;
            removed(&store)?;
            for (trace, service) in traces.iter().zip(&services) {
                let mut command = Command::new(martini);
                match variant {
                    0 => command.arg("stats").arg(trace),
                    _ => command.args(["fleet", "add", "--service", service, "--release", "1"]).arg(&store).arg(trace),
                };
                seconds += run(&mut command, request.limit)?.wall.as_secs_f64();
            }
            Ok(seconds)
        });
        let bytes: u64 = traces.iter().filter_map(|path| fs::metadata(path).ok()).map(|metadata| metadata.len()).sum();
        let [reading, adding] = &outcomes[..] else { return Err("two variants".into()) };
        let (Some(reading), Some(adding)) = (reading.complete(), adding.complete()) else {
            return Err("the traces could not be read".into());
        };
        let speed = |seconds: &[f64]| Spread::of(seconds.iter().map(|seconds| bytes as f64 / 1e6 / seconds));
        let said = format!(
            "{} real traces, {:.1} MB: added at {:.1} MB/s, read by stats at {:.1} MB/s",
            traces.len(),
            bytes as f64 / 1e6,
            speed(adding),
            speed(reading)
        );
        let mut seeds = Seeds { folder: folder.to_owned(), store, services, traces, adding: said };
        // The last one may have been `stats`, which leaves no store.
        seeds.store = seeds.added(martini, "seeds", 1, request)?;
        Ok(seeds)
    }

    /// A store with each trace, as it is and as that of other JVMs, so many in all.
    fn added(&self, martini: &Path, name: &str, copies: u64, request: &Request) -> Result<PathBuf, String> {
        let store = self.folder.join(name);
        for (trace, service) in self.traces.iter().zip(&self.services) {
            let text = fs::read_to_string(trace).map_err(|e| format!("{}: {e}", trace.display()))?;
            let (head, rest) = text.split_once(" pid=\"").ok_or("a trace without a process")?;
            for copy in 0..copies {
                let piece = self.folder.join("piece.trcxml");
                fs::write(&piece, format!("{head} pid=\"{copy}{rest}"))
                    .map_err(|e| format!("{}: {e}", piece.display()))?;
                let mut command = Command::new(martini);
                command.args(["fleet", "add", "--service", service, "--release", "1"]).arg(&store).arg(&piece);
                run(&mut command, request.limit)?;
            }
        }
        run(Command::new(martini).args(["fleet", "compact"]).arg(&store), request.limit)?;
        Ok(store)
    }

    /// What a JVM-day of each trace takes if its pieces are really added and merged, beside one that is generated.
    fn a_real_day(&self, martini: &Path, request: &Request) -> Result<String, String> {
        let real = self.added(martini, "day", PIECES, request)?;
        let days = self.traces.len() as u64;
        let kilobytes = |store: &Path| seeds::bytes(store).map(|bytes| bytes as f64 / days as f64 / 1e3);
        let generated = |is_varied: bool| {
            let store = self.folder.join(if is_varied { "varied" } else { "alike" });
            generate::generate(&self.services, &self.store, &store, Plan { is_varied, ..Plan::of(days) })?;
            kilobytes(&store)
        };
        let traces: u64 = self.traces.iter().filter_map(|path| fs::metadata(path).ok()).map(|file| file.len()).sum();
        Ok(format!(
            "a JVM-day of {PIECES} pieces: {:.0} kB of traces; {:.0} kB in a store if each trace is added {PIECES} times and merged, \
             {:.0} kB if the same is generated, {:.0} kB if generated pieces differ",
            PIECES as f64 * traces as f64 / days as f64 / 1e3,
            kilobytes(&real)?,
            generated(false)?,
            generated(true)?
        ))
    }

    /// About how many rows a store has, names not counted.
    fn rows_of(&self, plan: Plan) -> Result<u64, String> {
        let seeds = self.services.iter().map(|service| Seed::read(&self.store, service));
        let rows = seeds.map(|seed| Ok(seed?.len() as u64)).sum::<Result<u64, String>>()?;
        Ok(plan.jvm_days() * PIECES * rows / self.services.len() as u64)
    }
}

/// Has DuckDB answer a question.
fn ask(name: &str, duckdb: &Path, store: &Path, folder: &Path, request: &Request) -> Result<Run, String> {
    let (_, question) = QUESTIONS.iter().find(|(known, _)| *known == name).ok_or("no such question")?;
    let known = question.parameters();
    let given = RELEASES.iter().filter(|(name, _)| known.iter().any(|parameter| parameter.name == *name));
    let given: Vec<(String, String)> = given.map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    let sql = question.sql(&given).map_err(|e| e.to_string())?;
    let spilled = folder.join("spilled").display().to_string();
    let sql = format!(
        "{SETTINGS}; set temp_directory = '{spilled}';\n{}{sql}",
        views(Engine::Duckdb, &Place::Folder(store.to_owned()))
    );
    run(Command::new(duckdb).args(["-init", "/dev/null", "-bail", "-csv", "-c", &sql]), request.limit)
}

fn removed(folder: &Path) -> Result<(), String> {
    match fs::remove_dir_all(folder) {
        Err(error) if folder.exists() => Err(format!("{}: {error}", folder.display())),
        _ => Ok(()),
    }
}

/// A column for each size; rows for what the store takes, and for each question with its seconds and most memory.
fn table(sizes: &[Size]) -> Table {
    let mut headings = vec![String::new()];
    headings.extend(sizes.iter().map(|size| format!("{} JVM-days", size.jvm_days)));
    let mut table = Table::new(&headings);
    let mut row = |name: &str, cell: &dyn Fn(&Size) -> String| {
        table.row([name.to_owned()].into_iter().chain(sizes.iter().map(cell)));
    };
    row("rows, millions", &|size| format!("{:.2}", size.rows as f64 / 1e6));
    row("store, MB", &|size| format!("{:.1}", size.bytes as f64 / 1e6));
    row("of a JVM-day, kB", &|size| format!("{:.0}", size.bytes as f64 / 1e3 / size.jvm_days as f64));
    for (number, (name, _)) in QUESTIONS.iter().enumerate() {
        row(name, &|size| match &size.answers[number] {
            Ok(run) => format!("{:.2} s, {} MB", run.wall.as_secs_f64(), run.rss_bytes / 1_000_000),
            Err(error) => error.clone(),
        });
    }
    table
}

fn to_json(sizes: &[Size]) -> Vec<Value> {
    let answer = |((name, _), answer): (&(&str, _), &Result<Run, String>)| match answer {
        Ok(run) => json!({ "question": name, "seconds": run.wall.as_secs_f64(), "mostMemory": run.rss_bytes }),
        Err(error) => json!({ "question": name, "failed": error }),
    };
    let size = |size: &Size| {
        let answers: Vec<Value> = QUESTIONS.iter().zip(&size.answers).map(answer).collect();
        json!({ "jvmDays": size.jvm_days, "rows": size.rows, "bytes": size.bytes, "seconds": size.seconds, "answers": answers })
    };
    sizes.iter().map(size).collect()
}
