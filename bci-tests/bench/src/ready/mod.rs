//! When servers are warm, and when they are said to be: by `martini warmup PID`, by the agent, by a number of methods that C2 has compiled,
//! and by a fixed delay.

mod load;
mod plot;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bci_tests::jdk::{self, Jdk};
use bci_tests::martini::workspace;
use bci_tests::process::Running;
use bci_tests::tomcat;
use serde_json::{Value, json};

use crate::builds::Builds;
use crate::built::{self, Built};
use crate::jars::Jars;
use crate::machine::Machine;
use crate::request::{Form, Request, pick};
use crate::table::Table;

/// For so long each server is under load, from its first moment on.
const TIME: Duration = Duration::from_secs(90);
const CLIENTS: u32 = 2;
/// What `martini warmup` and the agent look at.
const WINDOW: f64 = 5.0;
/// The plain rules beside it.
const METHODS: u64 = 2000;
const DELAY: f64 = 30.0;
/// A server is warm from the first window on in which answers took no longer than so many times what they took in its last 20 s: the
/// geometric mean of the medians of the seconds. A single second says nothing: they differ by a third on a small machine.
const SETTLED: f64 = 1.1;
const LAST: usize = 20;

/// A server.
struct Site {
    id: &'static str,
    name: &'static str,
    /// The jars that it runs with.
    jars: &'static [&'static str],
    /// Its class and arguments; the folder follows.
    main: &'static [&'static str],
}

const SITES: &[Site] = &[
    Site { id: "tomcat", name: "Tomcat, a shop", jars: &tomcat::JARS, main: &["Server"] },
    Site { id: "script", name: "scripts (Rhino)", jars: &["rhino-1.7.14.jar"], main: &["Site", "script"] },
    Site {
        id: "query",
        name: "queries (HSQLDB)",
        jars: &["hsqldb-2.7.2.jar", "rhino-1.7.14.jar"],
        main: &["Site", "query"],
    },
    Site { id: "anew", name: "code that is always new", jars: &["rhino-1.7.14.jar"], main: &["Site", "anew"] },
];

/// What was seen of a server. Times are seconds since the load began.
struct Seen {
    /// How long half of the answers took at most in each second, in milliseconds, and how many there were.
    typical: Vec<(f64, usize)>,
    settled: Option<f64>,
    /// When `martini warmup` ended, and what it said.
    signal: (f64, String),
    /// When the agent first said that the JVM is warm.
    agent: Option<f64>,
    /// When C2 had compiled `METHODS`, and how many it had at the end.
    methods: (Option<f64>, u64),
}

/// Runs each server once on each JDK, and prints a row for each; `--plot` draws them.
pub(crate) fn run(request: &Request) -> Result<(), String> {
    let sites = pick(&request.programs, SITES, |site| site.id, |_| true)?;
    let builds = Builds::new(None)?;
    let jars = Jars::with(&builds.this.target, SITES.iter().flat_map(|site| site.jars.iter().copied()));
    let machine = Machine::now();
    let mut table = Table::new(&[
        "server",
        "first second, ms",
        "at the end, ms",
        "warm after, s",
        "martini warmup PID, s",
        "answers then",
        "agent, s",
        "2,000 methods, s",
        "methods",
        "fixed 30 s",
    ]);
    let (mut all, mut everything) = (Vec::new(), Vec::new());
    for jdk in request.jdks(|| vec![jdk::any()])? {
        for site in &sites {
            eprintln!("JDK {}: {}", jdk.feature, site.name);
            let seen = watch(jdk, site, &builds.this, &jars)?;
            let name = format!("{} (JDK {})", site.name, jdk.feature);
            table.row(row(&name, &seen));
            everything.push(to_json(&name, &seen));
            all.push((name, seen));
        }
    }
    if let Some(path) = &request.plot {
        fs::write(path, plot::svg(&all)).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let head = format!("{}\nload from the start: {CLIENTS} clients for {} s", machine.line(), TIME.as_secs());
    match request.form() {
        Form::Text => println!("{head}\n\n{}", table.text()),
        Form::Markdown => println!("{head}\n\n{}", table.markdown()),
        Form::Json => println!("{:#}", json!({ "machine": machine.json(), "results": everything })),
    }
    Ok(())
}

/// A moment, and how far from the truth it is.
fn moment(at: Option<f64>, settled: Option<f64>) -> String {
    match (at, settled) {
        (None, _) => "never".into(),
        (Some(at), None) => format!("{at:.0}"),
        (Some(at), Some(settled)) => format!("{at:.0} ({:+.0})", at - settled),
    }
}

fn row(name: &str, seen: &Seen) -> [String; 10] {
    let typical = |second: Option<&(f64, usize)>| second.map_or("-".into(), |(millis, _)| format!("{millis:.2}"));
    let (at, said) = &seen.signal;
    let signal = match &**said {
        "warm" => moment(Some(*at), seen.settled),
        said => format!("{said} at {at:.0}"),
    };
    let then = match &**said {
        "warm" => format!("{:.2}", after(&seen.typical, *at)),
        _ => "-".into(),
    };
    [
        name.to_owned(),
        typical(seen.typical.first()),
        typical(seen.typical.last()),
        moment(seen.settled, None),
        signal,
        then,
        moment(seen.agent, seen.settled),
        moment(seen.methods.0, seen.settled),
        seen.methods.1.to_string(),
        moment(Some(DELAY), seen.settled),
    ]
}

fn to_json(name: &str, seen: &Seen) -> Value {
    json!({
        "server": name,
        "seconds": seen.typical.iter().map(|(millis, n)| json!({ "median_millis": millis, "answers": n })).collect::<Vec<_>>(),
        "warm_after_seconds": seen.settled,
        "signal": { "seconds": seen.signal.0, "state": seen.signal.1 },
        "agent_seconds": seen.agent,
        "methods_seconds": seen.methods.0,
        "methods": seen.methods.1,
    })
}

fn watch(jdk: &Jdk, site: &Site, built: &Built, jars: &Jars) -> Result<Seen, String> {
    let folder = tempfile::tempdir_in(&built.traces).map_err(|error| format!("no folder to run in: {error}"))?;
    let class_path = class_path(site, built, jars)?;
    let trace = folder.path().join("trace.xml");
    let mut java = jdk.tool("java");
    java.arg(format!("-agentpath:{}=warmup=on,ready=on,file={}", built.martini.display(), trace.display()));
    // Without it each answer waits 40 ms for an acknowledgement of its head.
    java.args(["-Xmx512m", "-Dsun.net.httpserver.nodelay=true", "-cp"])
        .arg(std::env::join_paths(class_path).map_err(|error| error.to_string())?);
    let mut server = Running::start(java.args(site.main).arg(folder.path()));
    server.wait_for("ready");
    let port = fs::read_to_string(folder.path().join("port")).ok().and_then(|text| text.trim().parse().ok());
    let port: u16 = port.ok_or("the server has written no port")?;
    let begun = Instant::now();
    let budget = format!("{}s", TIME.as_secs() - 10);
    let mut warmup = Command::new(built.target.join("release/martini"));
    warmup.arg("warmup").arg(server.pid().to_string()).args(["--wait", "--json", "--budget", &budget]);
    warmup.args(["--window", &format!("{WINDOW}s")]).stdout(Stdio::piped());
    let (answers, signal, agent) = std::thread::scope(|scope| {
        let load = scope.spawn(|| load::load(port, CLIENTS, begun, TIME));
        let signal = scope.spawn(|| {
            let said = warmup.output().map_err(|error| error.to_string())?;
            let state =
                serde_json::from_slice(&said.stdout).map(|said: Value| said["state"].as_str().map(str::to_owned));
            let state = state.ok().flatten().ok_or_else(|| String::from_utf8_lossy(&said.stderr).into_owned())?;
            Ok::<_, String>((begun.elapsed().as_secs_f64(), state))
        });
        let agent = scope.spawn(|| said_by_agent(&trace, begun));
        let join = "it does not panic";
        (load.join().expect(join), signal.join().expect(join), agent.join().expect(join))
    });
    server.finish();
    let typical: Vec<(f64, usize)> = answers?.into_iter().map(median).collect();
    let (agent, methods) = agent;
    Ok(Seen { settled: settled(&typical), typical, signal: signal?, agent, methods })
}

fn class_path(site: &Site, built: &Built, jars: &Jars) -> Result<Vec<PathBuf>, String> {
    let own = site.jars.iter().map(|name| jars.find(name)).collect::<Result<Vec<_>, _>>()?;
    let paths: Vec<&Path> = own.iter().map(PathBuf::as_path).collect();
    let (source, classes) = match site.id {
        "tomcat" => (workspace().join("bci-tests/real/tomcat"), "bench-java-tomcat"),
        _ => (built::source_folder("ready"), "bench-java-ready"),
    };
    let classes = built.target.join(classes);
    built::compile(&[&source], &paths, &classes)?;
    Ok([classes].into_iter().chain(own).collect())
}

/// When the agent first says that the JVM is warm; when C2 has compiled enough methods, and how many it has at the end.
fn said_by_agent(trace: &Path, begun: Instant) -> (Option<f64>, (Option<f64>, u64)) {
    let file = PathBuf::from(format!("{}.ready", trace.display()));
    let (mut warm, mut enough, mut last) = (None, None, 0);
    while begun.elapsed() < TIME {
        let said = fs::read_to_string(&file).ok().and_then(|text| serde_json::from_str::<Value>(&text).ok());
        if let Some(said) = said {
            let now = begun.elapsed().as_secs_f64();
            last = said["optimized_methods"].as_u64().unwrap_or(last);
            warm = warm.or((said["warm"] == true).then_some(now));
            enough = enough.or((last >= METHODS).then_some(now));
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    (warm, (enough, last))
}

/// The median, and how many there are.
fn median(mut answers: Vec<f64>) -> (f64, usize) {
    answers.sort_by(f64::total_cmp);
    (answers.get(answers.len() / 2).copied().unwrap_or(f64::NAN), answers.len())
}

/// The geometric mean of the medians of seconds, which a slow one does not change much.
fn mean(seconds: &[(f64, usize)]) -> f64 {
    let (sum, number) = seconds
        .iter()
        .map(|second| second.0.ln())
        .filter(|log| log.is_finite())
        .fold((0.0, 0.0), |(sum, number), log| (sum + log, number + 1.0));
    f64::exp(sum / number)
}

/// From which second on answers take no longer than at the end.
fn settled(typical: &[(f64, usize)]) -> Option<f64> {
    let end = mean(&typical[typical.len().saturating_sub(LAST)..]);
    typical.windows(WINDOW as usize).position(|window| mean(window) <= SETTLED * end).map(|second| second as f64)
}

/// How much longer than at the end answers took in the ten seconds that follow a moment.
fn after(typical: &[(f64, usize)], moment: f64) -> f64 {
    let from = (moment.ceil() as usize).min(typical.len());
    let seconds = &typical[from..(from + 10).min(typical.len())];
    mean(seconds) / mean(&typical[typical.len().saturating_sub(LAST)..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_settled_when_answers_take_no_longer_than_at_the_end() {
        let typical = |millis: &[f64]| millis.iter().map(|&millis| (millis, 10)).collect::<Vec<_>>();
        let seconds = [&[9.0, 5.0, 2.0, 1.2][..], &[1.0, 1.05, 1.0, 1.3, 0.9].repeat(5)].concat();
        assert_eq!(settled(&typical(&seconds)), Some(3.0));
        assert_eq!(settled(&typical(&[1.0; 5])), Some(0.0));
        assert_eq!(median(vec![3.0, 1.0, 2.0]), (2.0, 3));
        let slow = [vec![3.0; 20], vec![1.0; 20]].concat();
        assert!((after(&typical(&slow), 4.5) - 3.0).abs() < 1e-9);
    }
}
