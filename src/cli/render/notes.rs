//! What has to be said about a trace besides its tables: who recorded it, its sums, and what is missing or wrong in it.

use analysis::allocations::{Count, Facts, ObjectTotals};
use analysis::locks::{LockReport, WaitProblems};

use crate::cli::input::reading::{Reading, Report};
use crate::cli::render::human::{bytes, count, counted};

/// Who recorded the trace, and how large it is.
pub(crate) fn origin<R: Report>(reading: &Reading<R>) -> String {
    let facts = reading.report.facts();
    let mut parts = Vec::new();
    if let Some(origin) = facts.origins.first() {
        parts.push(format!("{} {}", origin.agent, origin.version));
        parts.push(format!("pid {} on {}", origin.pid, origin.host));
    }
    if facts.documents > 1 {
        parts.push(format!("{} documents", count(facts.documents)));
    }
    parts.push(bytes(reading.bytes));
    parts.join(", ")
}

/// The sums of a trace, or of the classes selected from it, in one sentence.
pub(crate) fn summary(sum: &ObjectTotals, facts: &Facts) -> String {
    let length = match (facts.begin, facts.end) {
        (Some(begin), Some(end)) => format!(" in {:.1} s", end.since(begin).0 as f64 / 1e9),
        _ => String::new(),
    };
    if facts.allocations == 0 && facts.site_counts > 0 {
        let live = match facts.live_counts {
            0 => String::new(),
            _ => format!("; {} ({}) live at the end", count(sum.live()), bytes(sum.live_bytes())),
        };
        let by_vm = match facts.counted_by_vm {
            (0, _) => String::new(),
            (objects, size) => {
                let objects = counted(objects, "object", "objects");
                format!(", of them {objects} ({}) by the JVM's word instead of a site's", bytes(size))
            }
        };
        let objects = counted(sum.total(), "object", "objects");
        return format!("{objects} ({}) counted{length}{by_vm}{live}", bytes(sum.total_bytes()));
    }
    format!(
        "{} ({}) allocated{length}; {} ({}) collected in {}; {} ({}) live at the end",
        counted(sum.total(), "object", "objects"),
        bytes(sum.total_bytes()),
        count(sum.collected()),
        bytes(sum.collected_bytes()),
        counted(facts.collections, "collection", "collections"),
        count(sum.live()),
        bytes(sum.live_bytes()),
    )
}

/// Does the trace hold all that its agent had to say?
pub(crate) fn is_complete<R: Report>(reading: &Reading<R>) -> bool {
    let facts = reading.report.facts();
    reading.broken.is_none() && facts.documents > 0 && facts.ended >= facts.documents
}

/// What makes the numbers less than the whole coverage; one sentence each.
pub(crate) fn notes(reading: &Reading) -> Vec<String> {
    let facts = reading.report.facts();
    let mut notes = Vec::new();
    if facts.allocations == 0 && facts.site_counts == 0 {
        let holds = match facts.calls {
            0 => String::new(),
            calls => format!("; it holds {} of methods", counted(calls, "call event", "call events")),
        };
        notes.push(format!("no allocation is in the trace: it was recorded without the heap profiler{holds}"));
    } else if facts.end.is_none_or(|end| end.0 == 0) {
        notes.push("the trace has no times, so ages and generations are not known".to_owned());
    }
    notes.extend(completeness(reading));
    if facts.unknown_frees > 0 {
        let frees = counted(facts.unknown_frees, "death is", "deaths are");
        notes.push(format!("{frees} reported of objects whose allocation is not in the trace"));
    }
    if facts.reused_ids > 0 {
        let ids = counted(facts.reused_ids, "object id comes", "object ids come");
        notes.push(format!("{ids} back while in use; the older object counts as collected"));
    }
    notes.extend(facts.counts.iter().filter_map(told));
    notes
}

/// What makes numbers of threads and monitors less than the whole coverage; one sentence each.
pub(crate) fn of_monitors(reading: &Reading<LockReport>) -> Vec<String> {
    let report = &reading.report;
    let mut notes = Vec::new();
    if report.is_log() {
        if let Some(broken) = &reading.broken {
            notes.push(format!("only a part of the log could be read: {broken}"));
        }
        if reading.is_log_cut {
            notes.push("the log ends inside a line, whose last name may be cut off".to_owned());
        }
        if reading.malformed > 0 {
            let lines = counted(reading.malformed, "line makes no sense and is", "lines make no sense and are");
            let first = reading.first_malformed.as_deref().unwrap_or_default();
            notes.push(format!("{lines} not counted; the first is {first}"));
        }
    } else {
        notes.extend(completeness(reading));
    }
    let WaitProblems { without_begin, without_end, shared_names } = report.problems();
    if without_begin > 0 {
        let ends = counted(without_begin, "wait has", "waits have");
        notes.push(format!("{ends} an end and no beginning, as where the recording began later; not counted"));
    }
    if without_end > 0 {
        let begins = counted(without_end, "wait has", "waits have");
        notes.push(format!("{begins} a beginning and no end, although the thread went on"));
    }
    if shared_names > 0 {
        notes.push(format!(
            "{} a thread blocked while another of its name was blocked: which of them went on first cannot be told, so single \
             lengths may be wrong; sums are not",
            counted(shared_names, "time", "times")
        ));
    }
    notes.extend(report.facts().counts.iter().filter_map(told));
    notes
}

/// What is missing or wrong in any trace; one sentence each.
fn completeness<R: Report>(reading: &Reading<R>) -> Vec<String> {
    let facts = reading.report.facts();
    let mut notes = Vec::new();
    if let Some(broken) = &reading.broken {
        notes.push(format!("only a part of the trace could be read: {broken}"));
    } else if !is_complete(reading) {
        let cut = facts.documents.saturating_sub(facts.ended);
        let which = match facts.documents {
            0 | 1 => "the trace was".to_owned(),
            documents => format!("{} of {} documents were", count(cut), count(documents)),
        };
        notes.push(format!("{which} cut off, as by a kill of the JVM; the numbers tell what was written until then"));
    }
    if reading.malformed > 0 {
        let elements = counted(reading.malformed, "element makes no sense and is", "elements make no sense and are");
        let first = reading.first_malformed.as_deref().unwrap_or_default();
        notes.push(format!("{elements} not counted; the first is at {first}"));
    }
    if facts.undefined_ids > 0 {
        let ids = counted(
            facts.undefined_ids,
            "id of a class, thread, method or stack is",
            "ids of classes, threads, methods or stacks are",
        );
        notes.push(format!("{ids} used without a definition; the tables call them (undefined ...)"));
    }
    notes
}

/// What a number that the agent counted means for a reader of the tables; `None` if nothing.
fn told(counter: &Count) -> Option<String> {
    let number = counter.value;
    if number == 0 {
        return None;
    }
    let detail = counter.detail.as_deref().map_or_else(String::new, |detail| format!(" ({detail})"));
    Some(match counter.key.as_str() {
        "classes.rewritten" | "counters" | "counters.bytes" => return None,
        // Told by `coverage`.
        key if key.starts_with("coverage.") => return None,
        "limit.reached" => format!(
            "the trace was ended when it had {} (--limit); what the program did after that is not in it",
            bytes(number)
        ),
        "buffer.waits" => format!(
            "the program had to wait {} for the trace to be written; --include, --exclude or a larger --buffer helps",
            counted(number, "time", "times")
        ),
        "events.lost" => format!("{} lost{detail}", counted(number, "event was", "events were")),
        "rewriting.refused" => format!(
            "{} left as it was{detail}, so what it allocates may be missing",
            counted(number, "class or method was", "times a class or method was")
        ),
        "frees.late" => format!(
            "{} died, but in no collection that the trace knows; they count as live",
            counted(number, "object", "objects")
        ),
        "gc.unprocessed" => format!(
            "{} closed before all deaths in it were known; they count for a later one",
            counted(number, "collection was", "collections were")
        ),
        "owners.asked" => return None,
        "owners.unknown" => {
            format!("the owner of a lock was gone, or could not be told, {}", counted(number, "time", "times"))
        }
        "owners.notAsked" => format!(
            "the JVM was not asked for the owner of a lock {}: asking takes long, so it is limited",
            counted(number, "time", "times")
        ),
        "ownerStacks.skipped" => format!(
            "where the owner was is not told {}: taking stacks of others is limited to a share of the time",
            counted(number, "time", "times")
        ),
        "ownerStacks.stale" => format!(
            "where the owner was is not told {}: it had let go before its stack was taken",
            counted(number, "time", "times")
        ),
        "waits.withoutBegin" => {
            format!("{} begun before anybody watched, and count as running", counted(number, "wait had", "waits had"))
        }
        "monitors.classInit" => format!(
            "threads waited {} for the initialisation of a class, of which the JVM tells no beginning; it counts as running",
            counted(number, "time", "times")
        ),
        "owners.terminated" => {
            format!("the owner of a lock had ended before the trace came to it {}", counted(number, "time", "times"))
        }
        "waits.withoutEnd" => format!(
            "{} no end, although the thread went on; they count until it did something else",
            counted(number, "wait had", "waits had")
        ),
        "snapshots.skipped" => {
            format!("data requests left out {}", counted(number, "monitor or thread", "monitors or threads"))
        }
        "agent.panics" => {
            format!("the agent failed {} inside and went on; please report that", counted(number, "time", "times"))
        }
        key => format!("the agent counted {key}{detail}: {}", count(number)),
    })
}
