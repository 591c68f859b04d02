//! The question `releases`, asked of fleets drawn at random in which it is known what changed: 20 services with 6 to 24 runs of each
//! release, differently busy, whose methods vary by 0.3 to 15 % from run to run. In the second release four methods of each service
//! were renamed, moved, split and inlined, and one allocated three times as much in two runs. Each draw has a seed.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use fleet::questions::QUESTIONS;

const SERVICES: usize = 20;
const METHODS: usize = 60;
const CLASSES: usize = 30;
/// What the planted line makes its service allocate more.
const PLANTED: f64 = 0.02;

/// Numbers at random (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to below 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, end: usize) -> usize {
        (self.unit() * end as f64) as usize
    }

    /// With the mean 0 and the deviation 1.
    fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.unit()).ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// What became of a method in the second release.
#[derive(Clone, Copy)]
enum Change {
    Renamed,
    Split,
    /// Half of it is done in that other method.
    Moved(usize),
    Inlined(usize),
}

/// A method in its first release.
struct Method {
    name: String,
    bytes: f64,
    /// How it varies from run to run, in parts of itself.
    noise: f64,
    /// Classes of what it allocates, and their shares.
    classes: Vec<(usize, f64)>,
}

impl Method {
    fn drawn(service: usize, number: usize, random: &mut Random) -> Method {
        let noise = [0.003, 0.01, 0.01, 0.03, 0.15][random.below(5)];
        let classes: Vec<(usize, f64)> =
            (0..=random.below(3)).map(|_| (random.below(CLASSES), 0.2 + random.unit())).collect();
        let all: f64 = classes.iter().map(|(_, share)| share).sum();
        Method {
            name: format!("s{service}.C{}.m{number}", number / 5),
            bytes: 1e6 * (2.0 * random.normal()).exp(),
            noise,
            classes: classes.into_iter().map(|(class, share)| (class, share / all)).collect(),
        }
    }
}

/// The tables that the question reads, as CSV.
#[derive(Default)]
struct Fleet {
    run: String,
    alloc: String,
    frames: HashMap<String, usize>,
    /// Service and method that allocate more.
    planted: Option<(String, String)>,
}

impl Fleet {
    fn drawn(seed: u64, is_planted: bool) -> Fleet {
        let (mut fleet, mut random) = (Fleet::default(), Random(seed));
        for service in 0..SERVICES {
            fleet.add_service(service, is_planted && service == 0, &mut random);
        }
        fleet
    }

    fn add_service(&mut self, service: usize, is_planted: bool, random: &mut Random) {
        let methods: Vec<Method> = (0..METHODS).map(|number| Method::drawn(service, number, random)).collect();
        let all: f64 = methods.iter().map(|method| method.bytes).sum();
        let mut free: Vec<usize> = (0..METHODS).collect();
        let mut any = |random: &mut Random| free.swap_remove(random.below(free.len()));
        let mut changes = HashMap::new();
        changes.insert(any(random), Change::Renamed);
        changes.insert(any(random), Change::Split);
        changes.insert(any(random), Change::Moved(any(random)));
        changes.insert(any(random), Change::Inlined(any(random)));
        let blip = any(random);
        let grown = is_planted.then(|| {
            let fit = |&&number: &&usize| methods[number].bytes > 0.005 * all && methods[number].noise <= 0.03;
            let fit: Vec<usize> = free.iter().filter(fit).copied().collect();
            fit[random.below(fit.len())]
        });
        self.planted =
            self.planted.take().or(grown.map(|number| (format!("s{service}"), methods[number].name.clone())));
        for release in [1, 2] {
            let runs = 6 + random.below(19);
            let blip_at = random.below(runs - 1);
            for run in 0..runs {
                let id = self.run.lines().count() + 1;
                let busy = (0.3 * random.normal()).exp();
                let _ = writeln!(self.run, "s{service},{release},{id},{id},2026-11-29");
                for (number, method) in methods.iter().enumerate() {
                    let mut bytes = method.bytes * busy * (method.noise * random.normal()).exp();
                    if release == 1 {
                        self.add(service, release, id, &method.name, bytes, &method.classes);
                        continue;
                    }
                    if number == blip && (blip_at..blip_at + 2).contains(&run) {
                        bytes *= 3.0;
                    }
                    if Some(number) == grown {
                        bytes += PLANTED * all * busy;
                    }
                    let name = &method.name;
                    let parts = match changes.get(&number) {
                        None => vec![(name.clone(), bytes)],
                        Some(Change::Renamed) => vec![(format!("{name}New"), bytes)],
                        Some(Change::Split) => {
                            vec![(format!("{name}A"), 0.6 * bytes), (format!("{name}B"), 0.4 * bytes)]
                        }
                        Some(&Change::Moved(to)) => {
                            vec![(name.clone(), 0.5 * bytes), (methods[to].name.clone(), 0.5 * bytes)]
                        }
                        Some(&Change::Inlined(to)) => vec![(methods[to].name.clone(), bytes)],
                    };
                    for (name, bytes) in parts {
                        self.add(service, release, id, &name, bytes, &method.classes);
                    }
                }
            }
        }
    }

    fn add(&mut self, service: usize, release: usize, run: usize, method: &str, bytes: f64, classes: &[(usize, f64)]) {
        let next = self.frames.len() + 1;
        let frame = *self.frames.entry(method.to_owned()).or_insert(next);
        for (class, share) in classes {
            let bytes = (bytes * share) as u64;
            let _ = writeln!(self.alloc, "s{service},{release},{run},{class},{frame},{bytes},2026-11-29");
        }
    }

    /// The tables in SQL that reads their files in a folder.
    fn tables(&self, folder: &Path) -> String {
        let mut frames = String::new();
        for (name, id) in &self.frames {
            let (class, method) = name.rsplit_once('.').expect("a class and a method");
            let _ = writeln!(frames, "{id},{class},{method}");
        }
        let classes = (0..CLASSES).fold(String::new(), |classes, id| classes + &format!("{id},c{id}\n"));
        let mut sql = "set disabled_optimizers = 'cte_inlining'; set threads = 1;\n".to_owned();
        for (name, rows, columns) in [
            ("run", &self.run, "service varchar, release varchar, run_id bigint, start_at double, dt varchar"),
            (
                "alloc",
                &self.alloc,
                "service varchar, release varchar, run_id bigint, class_id bigint, line_id bigint, bytes bigint, dt varchar",
            ),
            ("frame", &frames, "frame_id bigint, class varchar, method varchar"),
            ("class", &classes, "class_id bigint, name varchar"),
        ] {
            let path = folder.join(format!("{name}.csv"));
            fs::write(&path, rows).expect("a file");
            let _ =
                writeln!(sql, "create table {name} ({columns}); copy {name} from '{}' (header false);", path.display());
        }
        sql
    }
}

/// What changed in which service, by DuckDB.
fn changes(duckdb: &str, fleet: &Fleet) -> Vec<[String; 3]> {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, question) = QUESTIONS.iter().find(|(name, _)| *name == "releases").expect("the question");
    let given = [("before", "1"), ("after", "2"), ("top", "100000")];
    let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let sql = fleet.tables(folder.path()) + &question.sql(&given).expect("its parameters");
    let file = folder.path().join("question.sql");
    fs::write(&file, sql).expect("a file");
    let output =
        Command::new(duckdb).args(["-init", "/dev/null", "-bail", "-csv", "-noheader"]).arg("-f").arg(&file).output();
    let output = output.expect("DuckDB starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    let row = |line: &str| -> [String; 3] {
        let fields: Vec<String> = line.split(',').take(3).map(str::to_owned).collect();
        fields.try_into().expect("three columns")
    };
    text.lines().map(row).collect()
}

/// How many fleets are drawn: a hundred if all is tested.
fn draws() -> u64 {
    if env::var_os("MARTINI_FULL").is_some() { 100 } else { 4 }
}

fn duckdb() -> Option<String> {
    let duckdb = env::var("MARTINI_DUCKDB").ok();
    if duckdb.is_none() {
        eprintln!("skipped: MARTINI_DUCKDB names no DuckDB");
    }
    duckdb
}

#[test]
fn nothing_is_called_a_rise_if_code_was_only_changed() {
    let Some(duckdb) = duckdb() else { return };
    let mut others: HashMap<String, usize> = HashMap::new();
    for seed in 0..draws() {
        for [service, what, place] in changes(&duckdb, &Fleet::drawn(seed, false)) {
            assert!(what != "rise" && what != "new", "seed {seed}: {what} of {place} in {service}");
            *others.entry(what).or_default() += 1;
        }
    }
    println!("{} fleets: no rise and nothing new; {others:?}", draws());
    // The changes that were made are seen, as what they are.
    assert!(others["moved"] as u64 > 40 * draws(), "{others:?}");
}

#[test]
fn a_line_that_makes_its_service_allocate_two_percent_more_is_found() {
    let Some(duckdb) = duckdb() else { return };
    let (mut named, mut moved) = (0, 0);
    for seed in 1000..1000 + draws() {
        let fleet = Fleet::drawn(seed, true);
        let (planted_in, planted) = fleet.planted.clone().expect("one is planted");
        for [service, what, place] in changes(&duckdb, &fleet) {
            match (&*what, service == planted_in && place == planted) {
                ("rise", true) => named += 1,
                ("moved", true) => moved += 1,
                ("rise" | "new", false) => panic!("seed {seed}: {what} of {place} in {service}"),
                _ => {}
            }
        }
    }
    println!("{} fleets: {named} named, {moved} more taken for moved", draws());
    assert!(10 * named >= 9 * draws(), "{named} of {} are named", draws());
}
