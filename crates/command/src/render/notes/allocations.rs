//! The sums of a trace of allocations in one sentence, and what is missing or wrong in it.

use agent_options::{HeapMode, RawOptions};
use analysis::allocations::{Count, CountedPart, Facts, ObjectTotals, Origin};
use trace::filter::Pattern;
use trace::time::Nanos;

use super::{completeness, counters, is_complete, recorded};
use crate::input::reading::Reading;
use crate::render::human::{bytes, count, counted};

/// The sums of a trace in one sentence.
pub(crate) fn summary(sum: &ObjectTotals, facts: &Facts) -> String {
    summary_of(sum, facts, facts.counted_by_vm)
}

/// The same without what only the JVM reported.
pub(crate) fn short_summary(sum: &ObjectTotals, facts: &Facts) -> String {
    summary_of(sum, facts, (0, 0))
}

/// The sums of the classes that are selected from a trace, if some are. How much of them the JVM reported is not known.
pub(crate) fn summary_of_classes(sum: &ObjectTotals, facts: &Facts, filter: &[Pattern]) -> String {
    summary_of(sum, facts, if filter.is_empty() { facts.counted_by_vm } else { (0, 0) })
}

fn summary_of(sum: &ObjectTotals, facts: &Facts, by_vm: (u64, u64)) -> String {
    let length = match (facts.begin, facts.end) {
        (Some(begin), Some(end)) => format!(" in {:.1} s", end.since(begin).0 as f64 / 1e9),
        _ => String::new(),
    };
    if facts.allocations == 0 && facts.site_counts > 0 {
        return counts_summary(sum, facts, by_vm, &length);
    }
    if facts.allocations == 0 && facts.alloc_samples > 0 {
        return format!("{}{}", samples_summary(sum, &length), widened(facts));
    }
    format!(
        "{} ({}) allocated{length}; {} ({}) collected in {}; {} ({}) not collected by the end",
        counted(sum.total(), "object", "objects"),
        bytes(sum.total_bytes()),
        count(sum.collected()),
        bytes(sum.collected_bytes()),
        counted(facts.collections, "collection", "collections"),
        count(sum.live()),
        bytes(sum.live_bytes()),
    )
}

/// How often objects were sampled, if that was not as often as asked for: the agent samples less where it would cost too much.
fn widened(facts: &Facts) -> String {
    match recorded::sampled_interval(facts).zip(facts.sampled_interval) {
        Some((asked, largest)) if largest > asked => {
            format!("; sampled once per {} at the least, not {} as asked", bytes(largest), bytes(asked))
        }
        _ => String::new(),
    }
}

fn samples_summary(sum: &ObjectTotals, length: &str) -> String {
    let live = match sum.live_samples() {
        0 => String::new(),
        _ => {
            let (size, error) = (bytes(sum.live_bytes()), bytes(sum.live_error()));
            format!("; about {} ({size} ± {error}) not collected by the end", counted(sum.live(), "object", "objects"))
        }
    };
    let objects = counted(sum.total(), "object", "objects");
    format!("about {objects} ({}) allocated{length}{live}", bytes(sum.total_bytes()))
}

fn counts_summary(sum: &ObjectTotals, facts: &Facts, by_vm: (u64, u64), length: &str) -> String {
    let live = match facts.live_counts {
        0 if sum.live_samples() > 0 => format!(
            "; about {} ({} ± {}) not collected by the end, by samples",
            count(sum.live()),
            bytes(sum.live_bytes()),
            bytes(sum.live_error())
        ),
        0 => String::new(),
        _ => format!("; {} ({}) live at the end", count(sum.live()), bytes(sum.live_bytes())),
    };
    let by_vm = match by_vm {
        (0, _) => String::new(),
        (objects, size) => {
            let objects = counted(objects, "object", "objects");
            format!(", of them {objects} ({}) reported by the JVM, not by a site", bytes(size))
        }
    };
    let objects = counted(sum.total(), "object", "objects");
    format!("{objects} ({}) counted{length}{by_vm}{live}", bytes(sum.total_bytes()))
}

fn is_of_counts(origin: &Origin) -> bool {
    let options = origin.parameters.parse::<RawOptions>();
    origin.is_martini() && options.is_ok_and(|options| options.value("heap") == Some(HeapMode::Counts.as_str()))
}

/// Why a trace of `heap=counts` has no number, which is written at the end and every so often before.
fn no_counts(reading: &Reading) -> String {
    let is_limited = reading.report.facts().counts.iter().any(|count| count.key == "limit.reached");
    let why = match (is_limited, is_complete(reading), reading.is_growing) {
        (true, ..) => "it reached its limit before the first snapshot; use a larger limit=",
        (_, true, _) if reading.report.facts().is_filtered => "no site of a class that passes the filters was executed",
        (_, true, _) => "no counted site was executed",
        (.., true) => {
            "heap=counts writes them every=SECONDS (1 by default) and at the end, and the trace is still being written; wait, \
             or use a shorter every="
        }
        _ => {
            "heap=counts writes them every=SECONDS (1 by default) and at the end, and the trace was cut off before; use a \
             shorter every="
        }
    };
    format!("the trace has no numbers: {why}")
}

/// Which part of the trace counts, if not all of it.
fn part(reading: &Reading) -> Option<String> {
    let seconds = |nanos: Nanos| format!("{:.3}", nanos.0 as f64 / 1e9);
    let part = reading.report.part_of_trace()?;
    Some(match reading.report.counted_part() {
        Some(CountedPart::Between(part)) => format!(
            "--from and --to were moved to snapshots of the counts: {} to {} s",
            seconds(part.from),
            seconds(part.to)
        ),
        _ => format!(
            "only allocations from {} to {to} s are counted; live objects and ages are those at {to} s",
            seconds(part.from),
            to = seconds(part.to)
        ),
    })
}

/// What is missing or wrong in the numbers; one sentence each.
pub(crate) fn of_allocations(reading: &Reading) -> Vec<String> {
    sentences(reading, |_| true)
}

/// The same without what was sampled where no site counts, if it is less than a hundredth of all.
pub(crate) fn of_allocations_in_short(reading: &Reading) -> Vec<String> {
    let hundredth = reading.report.sum(|_| true).total_bytes() / 100;
    sentences(reading, |count| count.key != "callers.unmatched" || count.value >= hundredth)
}

fn sentences(reading: &Reading, keeps: impl Fn(&Count) -> bool) -> Vec<String> {
    let facts = reading.report.facts();
    let mut notes = Vec::new();
    if !reading.report.has_objects() && facts.origins.iter().any(is_of_counts) {
        notes.push(no_counts(reading));
    } else if !reading.report.has_objects() {
        let holds = match (facts.calls, facts.monitors) {
            _ if facts.cpu_samples > 0 => "; it has samples of CPU time (--cpu)".to_owned(),
            (0, 0) => String::new(),
            (0, monitors) => {
                let objects = counted(monitors, "object", "objects");
                format!("; it has {objects} that threads wait for (martini locks)")
            }
            (calls, _) => format!("; it has {} of methods", counted(calls, "call event", "call events")),
        };
        let why = match (recorded::allocations(facts), facts.is_filtered) {
            (Some(true), true) => "nothing that was allocated passed the filters",
            (Some(true), false) => "none was seen",
            _ => "it was recorded without the heap profiler",
        };
        notes.push(format!("the trace has no allocations: {why}{holds}"));
    } else if facts.end.is_none_or(|end| end.0 == 0) {
        notes.push("the trace has no times, so ages and generations are unknown".to_owned());
    }
    notes.extend(part(reading));
    if reading.report.is_spread_from_outside() {
        notes.push(
            "code without a sample between --from and --to is attributed to its callers as in the rest of the trace; their \
             shares in this time may differ by more than ±"
                .to_owned(),
        );
    }
    notes.extend(completeness(reading));
    if facts.unknown_frees > 0 {
        let frees = counted(facts.unknown_frees, "death is", "deaths are");
        notes.push(format!("{frees} reported for objects whose allocation is not in the trace"));
    }
    if facts.reused_ids > 0 {
        let ids = counted(facts.reused_ids, "object id is", "object ids are");
        notes.push(format!("{ids} reused while the object lives; the older object counts as collected"));
    }
    notes.extend(counters::notes(&facts.counts, keeps));
    notes
}
