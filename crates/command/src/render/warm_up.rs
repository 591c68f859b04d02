//! The start of a JVM: sentences and tables, and the same as JSON.

use analysis::allocations::Location;
use analysis::warm_up::{
    Cause, ClassSource, CodeShares, CompiledMethod, InitialiserRow, Interval, LoadRow, LookupRow, WarmUpReport,
};
use serde_json::{Map, Value, json};
use trace::model::CodeTier;
use trace::time::Nanos;

use crate::render::class_archive;
use crate::render::human::{bytes, count, counted, duration, percent, printable};
use crate::render::table::Below;
use crate::render::view::Cell::{self, Count, Name, Text};
use crate::render::view::{View, fields, location, stack};

/// Frames of a stack that text shows.
const FRAMES: usize = 12;

/// What the trace says as a whole; one sentence each.
pub(crate) fn sentences(report: &WarmUpReport) -> Vec<String> {
    let mut all = Vec::new();
    if report.has_counters() {
        let loaded = report.loaded_classes();
        let archived = report.archived_classes();
        let archive = match archived {
            0 => "none from a class archive".to_owned(),
            some => format!("{} from a class archive", percent(some, loaded)),
        };
        // A counter that never was anything but 0 is not in the trace.
        let number = |name| count(report.counter(name).unwrap_or(0));
        all.push(format!(
            "{}, {archive}; {} linked, {} verified, {} initialised",
            counted(loaded, "class loaded", "classes loaded"),
            number("sun.cls.linkedClasses"),
            number("sun.cls.verifiedClasses"),
            number("sun.cls.initializedClasses"),
        ));
        let causes = report.causes();
        let said = |(cause, what): (Cause, &str)| format!("{} {what}", duration(causes.of(cause)));
        let said = [
            (Cause::Load, "loading"),
            (Cause::Link, "linking"),
            (Cause::Verify, "verifying"),
            (Cause::Initialise, "in static initialisers"),
            (Cause::Compile, "compiling"),
            (Cause::Collect, "collecting"),
        ]
        .map(said);
        all.push(format!("since the start of the JVM: {}", said.join(", ")));
    }
    let tiers = report.tiers().filter(|(tier, sums)| *tier != CodeTier::Native && sums.count > 0);
    let tiers: Vec<_> = tiers
        .map(|(tier, sums)| format!("{} by {} in {}", count(sums.count), compiler(tier), duration(sums.time)))
        .collect();
    if !tiers.is_empty() {
        all.push(format!("compiled while recording: {}", tiers.join(", ")));
    }
    if let Some(installed) = report.counter("sun.ci.nmethodSize").filter(|&bytes| bytes > 0) {
        all.push(format!(
            "compiled code that was put into the code cache: {} since the start of the JVM",
            bytes(installed)
        ));
    }
    let discarded = report.reasons();
    if !discarded.is_empty() {
        let reasons: Vec<_> = discarded.iter().map(|(why, number)| format!("{} {why}", count(*number))).collect();
        all.push(format!("compiled code discarded: {}", reasons.join(", ")));
    }
    all.extend(class_archive::advice(report).into_iter().map(|advice| format!("archive: {advice}")));
    all
}

/// What compiles at that tier, as people call it.
fn compiler(tier: CodeTier) -> &'static str {
    match tier {
        CodeTier::Native => "wrappers",
        CodeTier::C1 => "C1",
        CodeTier::C1Limited => "C1 with counters",
        CodeTier::C1Full => "C1 with profiling",
        CodeTier::C2 => "C2",
    }
}

/// The time axis.
pub(crate) fn intervals<'a>(report: &WarmUpReport) -> View<'a, Interval> {
    let has_code = report.code().samples > 0;
    let of = |cause: Cause| move |row: &Interval| some(row.causes.of(cause));
    View::new()
        .both("classes", "classes", |row: &Interval| Count(row.classes))
        .both("load", "load_nanos", of(Cause::Load))
        .both("link", "link_nanos", of(Cause::Link))
        .both("verify", "verify_nanos", of(Cause::Verify))
        .both("init", "initialise_nanos", of(Cause::Initialise))
        .both("compile", "compile_nanos", of(Cause::Compile))
        .both("collect", "collect_nanos", of(Cause::Collect))
        .both(None, "stopped_nanos", of(Cause::Stop))
        .text(has_code.then_some("interp."), interpreted)
        .text("until", |row| Text(during(row)))
        .json(|row| {
            let from = row.from.map(|from| from.0);
            json!({ "from_nanos": from, "to_nanos": row.until.0, "code": code_json(&row.code) })
        })
}

fn code_json(code: &CodeShares) -> Value {
    json!({
        "samples": code.samples,
        "interpreted_nanos": code.interpreted.0,
        "c1_nanos": code.c1.0,
        "c2_nanos": code.c2.0,
        "native_nanos": code.native.0,
    })
}

/// A time that is not 0.
fn some(time: Nanos) -> Cell {
    Some(time).filter(|time| time.0 > 0).into()
}

/// Which part of the time it is; the one before begins where the recording does.
fn during(row: &Interval) -> String {
    match row.from {
        None => "before".to_owned(),
        Some(_) => duration(row.until),
    }
}

/// The share of interpreted code; fewer samples than ten say nothing.
fn interpreted(row: &Interval) -> Cell {
    let is_enough = row.code.samples >= analysis::explain::LEAST_SAMPLES;
    is_enough.then(|| Text(percent(row.code.interpreted.0, row.code.all().0))).into()
}

/// Static initialisers that took long.
pub(crate) fn initialisers<'a, 'r: 'a>(with_stacks: bool) -> View<'a, InitialiserRow<'r>> {
    View::new()
        .both("own", "own_nanos", |row: &InitialiserRow<'r>| row.own)
        .both("total", "total_nanos", |row| row.total)
        .both("began at", "begun_nanos", |row| row.begun)
        .both("static initialiser of", "class", |row| Name(row.class.to_owned()))
        .below(move |row| if with_stacks { frames(&row.stack) } else { caused_by(row.caused_by.as_ref()) })
        .json(|row| {
            json!({
                "caused_by": row.caused_by.as_ref().map_or(Value::Null, location),
                "thread": row.thread,
                "running": row.runs_on,
                "stack": stack(&row.stack),
                "lost": row.lost,
            })
        })
}

/// Classes that came out of no archive.
pub(crate) fn loads<'a, 'r: 'a>() -> View<'a, LoadRow<'r>> {
    /// Packages that text shows.
    const PACKAGES: usize = 3;
    let name = |package: &str| if package.is_empty() { "without package".to_owned() } else { package.to_owned() };
    View::new()
        .both("classes", "classes", |row: &LoadRow<'r>| Count(row.classes))
        .both("about", "estimated_nanos", |row| row.cost)
        .both("classes in no archive, from", "source", |row| {
            Name(match row.source {
                ClassSource::File(path) => path.to_owned(),
                ClassSource::Jdk("") => "the JDK".to_owned(),
                ClassSource::Jdk(module) => format!("the JDK, {module}"),
                ClassSource::Generated => "generated as the program ran".to_owned(),
            })
        })
        .below(move |row| {
            let some = row
                .packages
                .iter()
                .take(PACKAGES)
                .map(|(package, number)| format!("{} {}", count(*number), name(package)));
            let more = row.packages.len().checked_sub(PACKAGES).filter(|&more| more > 0);
            let more = more.map(|more| format!("{} more", counted(more as u64, "package", "packages")));
            let label = some.chain(more).collect::<Vec<_>>().join(", ");
            vec![Below { label: String::new(), name: printable(&label) }]
        })
        .json(|row| {
            let kind = match row.source {
                ClassSource::File(_) => "file",
                ClassSource::Jdk(_) => "jdk",
                ClassSource::Generated => "generated",
            };
            let packages =
                row.packages.iter().map(|(package, number)| json!({ "package": package, "classes": number }));
            json!({ "kind": kind, "packages": packages.collect::<Vec<_>>() })
        })
}

/// Look-ups of classes that failed.
pub(crate) fn lookups<'a, 'r: 'a>(with_stacks: bool) -> View<'a, LookupRow<'r>> {
    View::new()
        .both("failed", "failed", |row: &LookupRow<'r>| Count(row.count))
        .both("look-ups of classes in", "loader", |row| Name(row.loader.to_owned()))
        .below(move |row| if with_stacks { frames(&row.stack) } else { caused_by(row.caused_by.as_ref()) })
        .json(|row| {
            json!({ "caused_by": row.caused_by.as_ref().map_or(Value::Null, location), "stack": stack(&row.stack) })
        })
}

fn caused_by(cause: Option<&Location<'_>>) -> Vec<Below> {
    cause.into_iter().map(|at| Below { label: "caused by ".to_owned(), name: printable(&at.to_string()) }).collect()
}

fn frames(stack: &[Location<'_>]) -> Vec<Below> {
    let frames = stack.iter().take(FRAMES);
    frames.map(|at| Below { label: "at ".to_owned(), name: printable(&at.to_string()) }).collect()
}

/// What took longest to compile.
pub(crate) fn methods<'a, 'r: 'a>() -> View<'a, (&'r str, &'r CompiledMethod)> {
    let c2 = CodeTier::C2 as usize;
    View::new()
        .both("compiling", "nanos", |row: &(&str, &CompiledMethod)| row.1.time)
        .both("times", "times", |row| Count(row.1.count))
        .both("by C2", "c2", move |row| Count(row.1.tiers[c2]))
        .both("bytecode", "bytecode_bytes", |row| Cell::Bytes(row.1.bytes))
        .both("method", "method", |row| Name(row.0.replace("::", ".")))
        .json(|row| json!({ "discarded": row.1.discarded }))
}

/// What was compiled again and again.
pub(crate) fn compiled_again<'a, 'r: 'a>() -> View<'a, (&'r str, &'r CompiledMethod)> {
    View::new()
        .text("discarded", |row: &(&str, &CompiledMethod)| Count(row.1.discarded))
        .text("compiled", |row| Count(row.1.count))
        .text("compiling", |row| row.1.time)
        .text("method whose optimised code was discarded", |row| Name(row.0.replace("::", ".")))
}

/// The same as JSON, without the tables.
pub(crate) fn json(report: &WarmUpReport) -> Map<String, Value> {
    let tiers = report.tiers().map(|(tier, sums)| {
        json!({
            "tier": tier.as_str(),
            "count": sums.count,
            "osr": sums.osr,
            "nanos": sums.time.0,
            "discarded": sums.discarded,
        })
    });
    let reasons = report.reasons();
    fields(json!({
        "length_nanos": report.length().0,
        "counters": report.counters().map(|(name, value)| (name.to_owned(), value.into())).collect::<Map<_, Value>>(),
        "tiers": tiers.collect::<Vec<_>>(),
        "discarded_for": reasons.iter().map(|(why, number)| json!({ "reason": why, "count": number })).collect::<Vec<_>>(),
        "archive": class_archive::json(report),
        "last_c2_nanos": report.last_of_c2().map(|Nanos(end)| end),
        "code": code_json(&report.code()),
    }))
}
