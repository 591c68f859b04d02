//! What the agent's counters mean for a reader of the tables.

use analysis::allocations::Count;

use trace::time::Nanos;

use crate::render::human::{bytes, count, counted, duration};

/// What a counter counts: bytes, nanoseconds, or things with a singular and a plural.
#[derive(Clone, Copy)]
enum Unit {
    Bytes,
    Nanos,
    Of(&'static str, &'static str),
}

const TIMES: Unit = Unit::Of("time", "times");

/// Samples of the one sampler, whether callers asked for them or somebody who follows objects.
const SAMPLES: Unit = Unit::Of("sample was", "samples were");
const MERGED: &str = "{n} kept without thread or stack: too many different ones";
const SAMPLES_WITH: Unit = Unit::Of("sample has", "samples have");
const CUT: &str = "{n} a stack of more than 511 frames, of which only the 512 innermost are kept";

/// Counters that are no note: they are shown elsewhere, or lack nothing.
const NOT_SHOWN: [&str; 19] = [
    "classes.redefined",
    "classes.rewritten",
    "counters",
    "counters.bytes",
    "cpu.agent",
    "cpu.delivered",
    "cpu.interval",
    "cpu.lost",
    "cpu.notSeen",
    "cpu.process",
    "cpu.sampled",
    "exceptions.made",
    "exceptions.notFound",
    "owners.asked",
    "owners.compared",
    "sampled.count",
    "sampled.early",
    "stackCache.compared",
    "ttsp.spent",
];

/// The note for each counter. `{n}` is the number with its unit, `{detail}` the counter's detail in parentheses.
const NOTES: [(&str, Unit, &str); 44] = [
    (
        "limit.reached",
        Unit::Bytes,
        "the trace reached its limit of {n} (--limit); what the program did later is not in it",
    ),
    (
        "buffer.waits",
        TIMES,
        "the program waited {n} for the trace to be written; use --include, --exclude or a larger --buffer",
    ),
    (
        "events.dropped",
        Unit::Of("event was", "events were"),
        "{n} dropped{detail}: the reader or file system of the trace accepted nothing for seconds",
    ),
    (
        "filters.unmatched",
        Unit::Of("filter pattern", "filter patterns"),
        "{n} matched nothing that was recorded{detail}",
    ),
    ("events.lost", Unit::Of("event was", "events were"), "{n} lost{detail}"),
    (
        "rewriting.refused",
        Unit::Of("class or method was", "classes or methods were"),
        "{n} not rewritten{detail}, so allocations there may be missing",
    ),
    (
        "callers.unmatched",
        Unit::Bytes,
        "about {n} were made by the JVM itself or in code that could not be rewritten, where Martini counts nothing; their rows are estimates",
    ),
    ("callers.merged", SAMPLES, MERGED),
    ("callers.cut", SAMPLES_WITH, CUT),
    ("sampled.merged", SAMPLES, MERGED),
    ("sampled.cut", SAMPLES_WITH, CUT),
    (
        "sampled.unfollowed",
        Unit::Of("sampled object was", "sampled objects were"),
        "{n} not followed: memory for that is limited; the others stand for them, so live sizes have a larger error",
    ),
    ("cpu.cut", SAMPLES_WITH, "{n} a stack of 1,024 frames or more, of which only the innermost are kept"),
    (
        "cpu.byProcess",
        TIMES,
        "the system has no per-thread timers, so one process timer was used: threads are sampled as often as they run, but not by their own clocks",
    ),
    (
        "stacks.full",
        Unit::Of("object has", "objects have"),
        "{n} as many frames as were recorded{detail}: outer callers may be missing; use a larger --stack",
    ),
    (
        "stackCache.mismatches",
        TIMES,
        "a check found a wrong call stack in the stack cache {n}{detail}; the cache was switched off, and earlier stacks may be wrong",
    ),
    ("frees.late", Unit::Of("object", "objects"), "{n} died, but in no collection of the trace; they count as live"),
    (
        "gc.unprocessed",
        Unit::Of("collection was", "collections were"),
        "{n} closed before all deaths in it were known; the deaths count for a later collection",
    ),
    (
        "owners.mismatches",
        TIMES,
        "a lock's owner in the JVM's memory differed from JVMTI's {n}; JVMTI was used from then on, and earlier owners may be wrong",
    ),
    ("owners.unknown", TIMES, "the owner of a lock had ended or was unknown {n}"),
    ("owners.notAsked", TIMES, "the JVM was not asked for the owner of a lock {n}: asking is slow, so it is limited"),
    ("owners.terminated", TIMES, "the owner of a lock had ended before the trace named it {n}"),
    (
        "ownerStacks.skipped",
        Unit::Of("owner stack was", "owner stacks were"),
        "{n} skipped, to spend at most 2 % of one CPU on them",
    ),
    (
        "ownerStacks.stale",
        TIMES,
        "the stack of a lock's owner is missing {n}: the owner had released the lock before its stack was taken",
    ),
    (
        "waits.withoutBegin",
        Unit::Of("wait had", "waits had"),
        "{n} begun before the recording and count as running time",
    ),
    (
        "waits.withoutEnd",
        Unit::Of("wait had", "waits had"),
        "{n} no end in the trace and count until their thread did something else",
    ),
    (
        "monitors.classInit",
        TIMES,
        "threads waited {n} for another thread to initialise a class; the JVM does not report when such waits begin, so they \
         count as running time",
    ),
    (
        "lockNames.cut",
        TIMES,
        "some locks may lack the name of their field: the heap was too large to search in a second",
    ),
    (
        "parks.lookInterval",
        Unit::Nanos,
        "waits for locks of java.util.concurrent are estimates: parked threads were looked at each {n}, or more often; queues, \
         semaphores and the like were not looked for (--juc records all)",
    ),
    (
        "ttsp.widened",
        Unit::Nanos,
        "for {n} late threads were looked for less often than each millisecond{detail}, to spend at most 1 % of one CPU on it",
    ),
    (
        "warmup.widened",
        Unit::Nanos,
        "for {n} initialisers and compilers were looked at each 10 ms and not each millisecond, to spend at most 1 % of one CPU on it",
    ),
    (
        "requests.open",
        Unit::Of("request was", "requests were"),
        "{n} under way when the recording ended, and in no number",
    ),
    (
        "requests.lost",
        Unit::Of("begin or end of a request was", "begins and ends of requests were"),
        "{n} not seen: the program had no stack left, so that some are missing or too long",
    ),
    ("agent.panics", TIMES, "the agent failed inside {n} and continued; please report this"),
    ("imported.leftOut", Unit::Of("event", "events"), "{n} of the imported recording have no equivalent in a trace"),
    (
        "imported.withoutSize",
        Unit::Of("sample of an object does", "samples of objects do"),
        "{n} not say how large the object is: each counts as one object, so the real number is higher",
    ),
    (
        "imported.withoutPeriod",
        Unit::Of("sample was", "samples were"),
        "{n} left out: the recording does not say what time each stands for",
    ),
    (
        "imported.overlapping",
        Unit::Of("wait or pause was", "waits or pauses were"),
        "{n} shortened or left out: the recording has another of the same thread at that time",
    ),
    (
        "imported.lost",
        Unit::Of("sample of CPU time was", "samples of CPU time were"),
        "{n} lost by the JVM; the time they stand for is unknown",
    ),
    (
        "imported.damagedChunks",
        Unit::Of("chunk of the imported recording was", "chunks of the imported recording were"),
        "{n} skipped in whole or in part{detail}",
    ),
    (
        "imported.damagedEvents",
        Unit::Of("damaged event", "damaged events"),
        "{n} of the imported recording were skipped",
    ),
    ("imported.broken", TIMES, "the rest of the recording could not be read{detail}"),
    ("imported.threshold", Unit::Nanos, "waits of less than {n} were not recorded{detail}"),
    ("snapshots.skipped", Unit::Of("monitor or thread", "monitors or threads"), "data requests left out {n}"),
];

/// The notes for those counters that are kept.
pub(super) fn notes(counters: &[Count], keeps: impl Fn(&Count) -> bool) -> Vec<String> {
    let before = before(counters);
    before.into_iter().chain(counters.iter().filter(|counter| keeps(counter)).filter_map(note)).collect()
}

/// What was there before a recording that began late.
fn before(counters: &[Count]) -> Option<String> {
    let value = |key: &str| counters.iter().find(|counter| counter.key == key).map(|counter| counter.value);
    let threads = counted(value("before.threads")?, "thread", "threads");
    Some(match value("before.objects").zip(value("before.bytes")) {
        None => format!("{threads} ran before the recording began; what happened until then is not in it"),
        Some((objects, size)) => format!(
            "{threads} ran and {} ({}) lived before the recording began; what happened until then is not in it",
            counted(objects, "object", "objects"),
            bytes(size)
        ),
    })
}

/// The note for a counter; `None` if it needs none.
fn note(counter: &Count) -> Option<String> {
    let key = counter.key.as_str();
    // The coverage lines show those of its own, and `before` its own.
    if counter.value == 0 || NOT_SHOWN.contains(&key) || key.starts_with("coverage.") || key.starts_with("before.") {
        return None;
    }
    let detail = counter.detail.as_deref().map_or_else(String::new, |detail| format!(" ({detail})"));
    let Some((_, unit, text)) = NOTES.iter().find(|(known, ..)| *known == key) else {
        return Some(format!("the agent counted {key}{detail}: {}", count(counter.value)));
    };
    let number = match *unit {
        Unit::Bytes => bytes(counter.value),
        Unit::Nanos => duration(Nanos(counter.value)),
        Unit::Of(one, many) => counted(counter.value, one, many),
    };
    Some(text.replace("{n}", &number).replace("{detail}", &detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counter(key: &str, detail: Option<&str>, value: u64) -> Count {
        Count { key: key.to_owned(), detail: detail.map(str::to_owned), value }
    }

    #[test]
    fn counters_become_sentences() {
        let shown = |key, detail, value| note(&counter(key, detail, value));
        assert_eq!(shown("events.lost", Some("full"), 1).as_deref(), Some("1 event was lost (full)"));
        assert_eq!(
            shown("snapshots.skipped", None, 2000).as_deref(),
            Some("data requests left out 2,000 monitors or threads")
        );
        assert_eq!(shown("new.key", None, 3).as_deref(), Some("the agent counted new.key: 3"));
        assert_eq!(shown("events.lost", None, 0), None);
        assert_eq!(shown("counters", None, 9), None);
        assert_eq!(shown("coverage.missing", None, 9), None);
    }

    #[test]
    fn what_was_there_before_is_one_sentence() {
        let mut counters = vec![counter("before.threads", None, 1)];
        let sentence = "1 thread ran before the recording began; what happened until then is not in it";
        assert_eq!(notes(&counters, |_| true), [sentence]);
        counters.extend([counter("before.objects", None, 2000), counter("before.bytes", None, 4096)]);
        let sentence = "1 thread ran and 2,000 objects (4.0 KiB) lived before the recording began; what happened until then \
                        is not in it";
        assert_eq!(notes(&counters, |_| true), [sentence]);
    }

    #[test]
    fn no_counter_has_an_earlier_name() {
        for (key, ..) in NOTES {
            assert!(trace::counters::RENAMED.iter().all(|(old, _)| *old != key), "{key}");
        }
    }
}
