//! What each engine costs a server under load: requests answered, and CPU time of the server for each.
//!
//! All servers of a round start anew and warm up in turn. Then each is loaded for a second in turn, several times, while the others
//! are stopped by a signal: ratios are those of runs that lie seconds apart, on JVMs that have compiled what they run.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bci_tests::jdk::{self, Jdk};
use bci_tests::martini::workspace;
use bci_tests::process::Running;
use bci_tests::tomcat;
use serde_json::{Value, json};
use signal_hook::consts::{SIGINT, SIGTERM};
use tempfile::TempDir;

use crate::alternate::{Outcome, all_ran};
use crate::builds::{Builds, Candidate, to_json};
use crate::built;
use crate::figures::Spread;
use crate::jars::Jars;
use crate::machine::Machine;
use crate::peers::{self, Peers};
use crate::request::{Form, Request, pick};
use crate::table::Table;
use crate::variant::{Agent, Settings, Variant};

/// How often all servers start, unless asked otherwise.
const ROUNDS: usize = 6;
/// How often each is loaded in a round, after it has warmed up; and how long.
const TURNS: usize = 5;
const TURN: Duration = Duration::from_secs(1);
const WARM_UP: Duration = Duration::from_secs(15);
/// Connections, on each of which a client asks all the time.
const CLIENTS: u32 = 8;
const HEAP: [&str; 3] = ["-Xms512m", "-Xmx512m", "-XX:+UseG1GC"];
/// The unit of CPU times in `/proc/PID/stat`, which is the same on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// A variant, and how `--variant` names it.
struct Entry {
    id: &'static str,
    variant: Variant,
}

const fn entry(id: &'static str, name: &'static str, agent: Agent) -> Entry {
    Entry { id, variant: Variant::new(name, agent) }
}

/// The base of all ratios; always run.
const BASE: Entry = entry("none", "no agent", Agent::None);

/// All others: each engine alone, and what does as much as two of them.
const ENTRIES: &[Entry] = &[
    entry("again", "no agent, once more", Agent::None),
    entry("ttsp", "Martini ttsp=on", Agent::MartiniToDisk("ttsp=on")),
    entry("cpu", "Martini cpu=10ms", Agent::MartiniToDisk("cpu=10ms")),
    entry("sampled", "Martini sampled=512k", Agent::MartiniToDisk("sampled=512k")),
    entry("locks", "Martini locks=on", Agent::MartiniToDisk("locks=on")),
    entry("warmup", "Martini warmup=on", Agent::MartiniToDisk("warmup=on")),
    entry("jfr-start", "JFR, classes and compilations", Agent::FlightRecorder(Settings::Own("start.jfc"))),
    entry("requests", "Martini requests=on", Agent::MartiniToDisk("requests=on")),
    entry("counts", "Martini heap=counts", Agent::MartiniToDisk("heap=counts")),
    entry(
        "async",
        "async-profiler 4.3, ctimer and alloc",
        Agent::AsyncProfiler("event=ctimer,interval=10ms,alloc=512k"),
    ),
];

/// Runs the benchmark and prints a table for each JDK. The error counts the variants that failed.
pub(crate) fn run(request: &Request) -> Result<(), String> {
    let entries = pick(&request.variants, ENTRIES, |entry| entry.id, |_| true)?;
    let jdks = request.jdks(|| vec![jdk::any()])?;
    let builds = Builds::new(request.against.as_deref())?;
    let candidates = builds.candidates([&BASE].into_iter().chain(entries).map(|entry| &entry.variant));
    let jars = Jars::with(&builds.this.target, tomcat::JARS.into_iter().chain(peers::JARS));
    let site = Site::new(&builds, &jars)?;
    let machine = Machine::now();
    let rounds = request.rounds.unwrap_or(ROUNDS);
    let (mut everything, mut failures) = (Vec::new(), 0);
    for jdk in jdks {
        let outcomes = site.measure(jdk, &candidates, rounds);
        failures += outcomes.iter().filter(|outcome| outcome.failure.is_some()).count();
        let head = format!(
            "{}\nJDK {} ({}), Tomcat, {CLIENTS} connections, rounds: {rounds} of {TURNS} s for each, after {} s; \
             median (least .. most)\n",
            machine.line(),
            jdk.build,
            jdk.vendor,
            WARM_UP.as_secs()
        );
        match request.form() {
            Form::Text => println!("{head}\n{}", table(&candidates, &outcomes)?.text()),
            Form::Markdown => println!("{head}\n{}", table(&candidates, &outcomes)?.markdown()),
            Form::Json => everything.push(to_json(jdk, &candidates, &outcomes, run_to_json)),
        }
    }
    if request.form() == Form::Json {
        println!("{:#}", json!({ "machine": machine.json(), "results": everything }));
    }
    all_ran(failures)
}

/// What all servers have in common.
struct Site {
    class_path: Vec<PathBuf>,
    peers: Peers,
    /// Somebody wants to end the benchmark, which must leave no server behind that is stopped.
    is_interrupted: Arc<AtomicBool>,
}

impl Site {
    fn new(builds: &Builds, jars: &Jars) -> Result<Self, String> {
        let classes = builds.this.target.join("bench-java-tomcat");
        let jars_of_tomcat = tomcat::JARS.iter().map(|name| jars.find(name)).collect::<Result<Vec<_>, _>>()?;
        let paths: Vec<&Path> = jars_of_tomcat.iter().map(PathBuf::as_path).collect();
        built::compile(&[&workspace().join("bci-tests/real/tomcat")], &paths, &classes)?;
        let class_path = [classes].into_iter().chain(jars_of_tomcat).collect();
        let is_interrupted = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register(signal, is_interrupted.clone()).map_err(|e| e.to_string())?;
        }
        Ok(Self { class_path, peers: Peers::find(&builds.this, jars), is_interrupted })
    }

    /// All rounds; a variant that fails is left out from then on.
    fn measure(&self, jdk: &Jdk, candidates: &[Candidate<'_>], rounds: usize) -> Vec<Outcome<Taken>> {
        let mut outcomes: Vec<Outcome<Taken>> =
            candidates.iter().map(|_| Outcome { runs: Vec::new(), failure: None }).collect();
        for round in 0..rounds {
            let mut servers: Vec<Option<(Server, Taken)>> = Vec::new();
            for (candidate, outcome) in candidates.iter().zip(&mut outcomes) {
                let start = || Ok((Server::start(self, jdk, candidate)?, Taken::default()));
                let started = outcome.failure.is_none().then(start).transpose();
                servers.push(started.unwrap_or_else(|reason: String| {
                    outcome.failure = Some(reason);
                    None
                }));
            }
            for turn in 0..TURNS * servers.len() {
                // Each begins once, where there are turns enough.
                let index = (round + turn / servers.len() + turn) % servers.len();
                let Some((server, taken)) = &mut servers[index] else { continue };
                match server.turn(self, TURN) {
                    Ok(more) => taken.add(&more),
                    Err(reason) => {
                        outcomes[index].failure = Some(format!("failed in round {} of {rounds}: {reason}", round + 1));
                        servers[index] = None;
                    }
                }
            }
            for ((server, outcome), candidate) in servers.into_iter().zip(&mut outcomes).zip(candidates) {
                let Some((server, taken)) = server else { continue };
                eprintln!(
                    "round {} of {rounds}: {}: {:.0} requests/s, {:.1} us of CPU for each",
                    round + 1,
                    candidate.name,
                    taken.requests_per_second(),
                    taken.micros_per_request()
                );
                outcome.runs.push(taken);
                server.end();
            }
        }
        outcomes
    }
}

/// A server that runs, or is stopped while others run.
struct Server {
    running: Running,
    port: u16,
    /// Its own files, and those of its agent.
    _folder: TempDir,
}

impl Server {
    /// Starts one and warms it up.
    fn start(site: &Site, jdk: &Jdk, candidate: &Candidate<'_>) -> Result<Self, String> {
        let Candidate { variant, built, .. } = candidate;
        let folder = tempfile::tempdir_in(&built.traces).map_err(|e| format!("no folder to run in: {e}"))?;
        let launch = variant.launch(built, &site.peers, &folder.path().join("output"))?;
        let mut java = jdk.tool("java");
        let class_path = std::env::join_paths(&site.class_path).map_err(|e| e.to_string())?;
        java.args(launch.options).args(HEAP).arg("-cp").arg(class_path).arg("Server").arg(folder.path());
        let mut running = Running::start(&mut java);
        running.wait_for("ready");
        let port = fs::read_to_string(folder.path().join("port")).ok().and_then(|text| text.parse().ok());
        let server = Self { running, port: port.ok_or("it has written no port")?, _folder: folder };
        server.load(site, WARM_UP)?;
        server.signal("STOP")?;
        Ok(server)
    }

    /// Loads it for that time; the answers.
    fn load(&self, site: &Site, time: Duration) -> Result<u64, String> {
        let (until, is_interrupted) = (Instant::now() + time, site.is_interrupted.clone());
        let goes_on = move |_| Instant::now() < until && !is_interrupted.load(Ordering::Relaxed);
        let load = tomcat::load_with(CLIENTS, self.port, goes_on);
        if site.is_interrupted.load(Ordering::Relaxed) {
            return Err("interrupted".into());
        }
        match load.failed.first() {
            None => Ok(load.answered),
            Some(failure) => Err(format!("a request failed: {failure}")),
        }
    }

    /// Lets it run and loads it for that time.
    fn turn(&self, site: &Site, time: Duration) -> Result<Taken, String> {
        self.signal("CONT")?;
        let (before, begun) = (Used::of(self.running.pid())?, Instant::now());
        let answered = self.load(site, time)?;
        let (after, seconds) = (Used::of(self.running.pid())?, begun.elapsed().as_secs_f64());
        self.signal("STOP")?;
        let used = after.since(&before);
        Ok(Taken { seconds, requests: answered as f64, used })
    }

    fn signal(&self, name: &str) -> Result<(), String> {
        built::succeed(Command::new("kill").arg(format!("-{name}")).arg(self.running.pid().to_string()))
    }

    fn end(self) {
        // It ends by itself once its input does; what it says then is of no interest.
        if self.signal("CONT").is_ok() {
            self.running.finish();
        }
    }
}

/// What a process has used so far.
#[derive(Clone, Debug, Default)]
struct Used {
    /// Seconds of CPU time, user and system.
    cpu: f64,
    /// By thread: how often it came onto a processor.
    slices: HashMap<u32, f64>,
    /// By thread of the agent: seconds of CPU time.
    agent: HashMap<u32, f64>,
}

impl Used {
    fn of(pid: u32) -> Result<Self, String> {
        let read = |path: String| fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"));
        let stat = read(format!("/proc/{pid}/stat"))?;
        // Behind the name, which may hold anything.
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        let ticks = fields.split_ascii_whitespace().skip(11).take(2).filter_map(|field| field.parse::<f64>().ok());
        let mut used = Self { cpu: ticks.sum::<f64>() / TICKS_PER_SECOND, ..Self::default() };
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).map_err(|e| e.to_string())?;
        for tid in tasks.flatten().filter_map(|task| task.file_name().to_str()?.parse().ok()) {
            // One that has ended meanwhile is left out.
            let about = |name: &str| read(format!("/proc/{pid}/task/{tid}/{name}"));
            let (Ok(name), Ok(times)) = (about("comm"), about("schedstat")) else { continue };
            let times: Vec<f64> = times.split_ascii_whitespace().filter_map(|field| field.parse().ok()).collect();
            let [nanos, _, slices] = times[..] else { continue };
            used.slices.insert(tid, slices);
            if name.to_ascii_lowercase().starts_with("martini") {
                used.agent.insert(tid, nanos / 1e9);
            }
        }
        Ok(used)
    }

    /// What was used since `before`, as far as its threads have not ended.
    fn since(&self, before: &Self) -> Sums {
        let more = |now: &HashMap<u32, f64>, before: &HashMap<u32, f64>| {
            now.iter().map(|(tid, now)| now - before.get(tid).copied().unwrap_or(0.0)).sum()
        };
        Sums {
            cpu: self.cpu - before.cpu,
            slices: more(&self.slices, &before.slices),
            agent: more(&self.agent, &before.agent),
        }
    }
}

/// The same of all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sums {
    cpu: f64,
    slices: f64,
    agent: f64,
}

/// What one server took in one round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Taken {
    seconds: f64,
    requests: f64,
    used: Sums,
}

impl Taken {
    fn add(&mut self, more: &Taken) {
        self.seconds += more.seconds;
        self.requests += more.requests;
        self.used.cpu += more.used.cpu;
        self.used.slices += more.used.slices;
        self.used.agent += more.used.agent;
    }

    fn requests_per_second(&self) -> f64 {
        self.requests / self.seconds
    }

    fn micros_per_request(&self) -> f64 {
        self.used.cpu * 1e6 / self.requests
    }

    fn slices_per_request(&self) -> f64 {
        self.used.slices / self.requests
    }

    /// Percent of one processor.
    fn agent_percent(&self) -> f64 {
        100.0 * self.used.agent / self.seconds
    }
}

fn table(candidates: &[Candidate<'_>], outcomes: &[Outcome<Taken>]) -> Result<Table, String> {
    let base = outcomes[0].complete().ok_or("the server failed without any agent")?;
    let headings = [
        "times no agent",
        "requests",
        "CPU for each",
        "switches for each",
        "requests/s",
        "us for each",
        "agent's threads, % of a CPU",
    ];
    let mut table = Table::new(&headings);
    for (candidate, outcome) in candidates.iter().zip(outcomes) {
        let Some(runs) = outcome.complete() else {
            table.say(&candidate.name, outcome.failure.as_deref().unwrap_or_default());
            continue;
        };
        table.row([
            candidate.name.clone(),
            format!("{:.2}", Spread::of_quotients(runs, base, Taken::requests_per_second)),
            format!("{:.2}", Spread::of_quotients(runs, base, Taken::micros_per_request)),
            format!("{:.2}", Spread::of_quotients(runs, base, Taken::slices_per_request)),
            format!("{:.0}", Spread::of(runs.iter().map(Taken::requests_per_second)).median),
            format!("{:.1}", Spread::of(runs.iter().map(Taken::micros_per_request)).median),
            format!("{:.2}", Spread::of(runs.iter().map(Taken::agent_percent)).median),
        ]);
    }
    Ok(table)
}

fn run_to_json(taken: &Taken) -> Value {
    let Taken { seconds, requests, used: Sums { cpu, slices, agent } } = taken;
    json!({ "seconds": seconds, "requests": requests, "cpu_s": cpu, "switches": slices, "agent_cpu_s": agent })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn variants_can_be_told_apart() {
        let ids: HashSet<&str> = ENTRIES.iter().map(|entry| entry.id).collect();
        assert_eq!(ids.len(), ENTRIES.len());
        assert!(!ids.contains("all"));
    }

    #[test]
    fn what_a_process_uses_is_read() {
        let own = std::process::id();
        let before = Used::of(own).expect("this process");
        std::thread::sleep(Duration::from_millis(1));
        let sums = Used::of(own).expect("this process").since(&before);
        assert!(sums.slices > 0.0 && sums.agent == 0.0 && sums.cpu >= 0.0, "{sums:?}");
    }

    #[test]
    fn threads_that_come_and_go_are_no_error() {
        let used = |slices: &[(u32, f64)]| Used { slices: slices.iter().copied().collect(), ..Used::default() };
        let sums = used(&[(1, 5.0), (3, 7.0)]).since(&used(&[(1, 2.0), (2, 100.0)]));
        assert_eq!(sums.slices, 10.0);
    }

    #[test]
    fn figures_are_for_each_request() {
        let one = Taken { seconds: 1.0, requests: 500.0, used: Sums { cpu: 0.5, slices: 1000.0, agent: 0.01 } };
        let mut taken = one;
        taken.add(&one);
        let figures = (taken.requests_per_second(), taken.micros_per_request(), taken.slices_per_request());
        assert_eq!((figures, taken.agent_percent()), ((500.0, 1000.0, 2.0), 1.0));
    }
}
