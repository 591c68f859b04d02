//! The tables of `threads`: which columns there are, and in which order rows come.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use analysis::locks::{ByState, LockReport, State, ThreadSummary};
use clap::ValueEnum;
use serde_json::json;
use trace::model::ThreadKind;
use trace::time::{Nanos, Time};

use crate::render::human::duration;
use crate::render::locks::{name, totals};
use crate::render::notes::recorded::RecordedWaits;
use crate::render::table::Table;
use crate::render::view::Cell::{Count, Name, Text};
use crate::render::view::View;

/// A column of `threads` to sort by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThreadColumn {
    /// Time blocked by monitors
    Blocked,
    /// Time in Object.wait
    Waiting,
    /// Time parked by java.util.concurrent
    Parked,
    /// Time in Thread.sleep
    Sleeping,
    /// Time in none of the other states
    Running,
    /// Time on a processor
    Cpu,
    /// Time from start to end
    Alive,
    /// The name, from A to Z
    Name,
}

/// Sorts threads by a column, the longest time first; threads that are equal there, by the time they did not run, and name.
pub(crate) fn sort_threads(rows: &mut [ThreadSummary<'_>], column: ThreadColumn) {
    rows.sort_by(|a, b| {
        let by_column = match column {
            ThreadColumn::Blocked => b.blocked.total.cmp(&a.blocked.total),
            ThreadColumn::Waiting => b.waiting.total.cmp(&a.waiting.total),
            ThreadColumn::Parked => b.parked.total.cmp(&a.parked.total),
            ThreadColumn::Sleeping => b.sleeping.total.cmp(&a.sleeping.total),
            ThreadColumn::Running => b.running.cmp(&a.running),
            ThreadColumn::Cpu => cpu(b).cmp(&cpu(a)),
            ThreadColumn::Alive => b.alive().cmp(&a.alive()),
            ThreadColumn::Name => Ordering::Equal,
        };
        let by_time = || match column {
            ThreadColumn::Name => Ordering::Equal,
            _ => b.stalled().cmp(&a.stalled()).then(b.alive().cmp(&a.alive())),
        };
        by_column.then_with(by_time).then_with(|| a.thread.cmp(&b.thread)).then_with(|| a.started.cmp(&b.started))
    });
}

/// Threads that run Java. A lock log shows only when they are blocked.
pub(crate) fn view<'a, 'r: 'a>(rows: &[ThreadSummary<'_>], report: &'a LockReport) -> View<'a, ThreadSummary<'r>> {
    let (slice, is_log, recorded) = (report.slice(), report.is_log(), RecordedWaits::of(report));
    let until = report.counted().map_or(Time(u64::MAX), |(_, until)| until);
    let any = |has: fn(&ThreadSummary<'_>) -> bool| rows.iter().any(has);
    let of_trace = |heading| (!is_log).then_some(heading);
    let of_waits = |heading| recorded.any.then_some(heading);
    let of_waits_of_trace = |heading| (recorded.any && !is_log).then_some(heading);
    let of_processors = |heading| has_processors(rows).then_some(heading);
    // Where the trace says what it consists of it is not needed.
    let has_running = !is_log && recorded.any && any(|row| row.processor.is_none());
    let has_sleeping = any(|row| row.sleeping.count > 0);
    let parked = |heading| any(|row| row.parked.count > 0).then_some(heading);
    View::new()
        .both(pools(rows), "members", |row: &ThreadSummary<'r>| Count(row.members))
        .both(of_trace("alive"), "alive_nanos", ThreadSummary::alive)
        .both(has_running.then_some(recorded.word(State::Running)), "running_nanos", move |row| {
            recorded.any.then_some(row.running)
        })
        .both(of_processors("cpu"), "cpu_nanos", cpu)
        .both(of_processors("queued"), "queued_nanos", |row| row.processor?.queued)
        .text(of_processors("elsewhere"), |row| Some(format!("~{}", duration(row.processor?.elsewhere?))))
        .text(of_waits("blocked"), |row| row.blocked.total)
        .text(of_waits("times"), |row| Count(row.blocked.count))
        .text(of_waits_of_trace("waiting"), |row| row.waiting.total)
        .text(of_waits_of_trace("times"), |row| Count(row.waiting.count))
        .text(has_sleeping.then_some("sleeping"), |row| row.sleeping.total)
        .text(parked("parked"), |row| row.parked.total)
        .text(parked("times"), |row| Count(row.parked.count))
        .text(of_trace("at end"), move |row| at_end(row, until, recorded))
        .both(of_waits("over time"), "over_time", move |row| recorded.any.then(|| Text(timeline(row, slice, is_log))))
        .text("thread", |row| Name(row.thread.to_string()))
        .json(move |row| {
            let at_end = State::ALL.into_iter().zip(row.at_end).map(|(state, threads)| (recorded.word(state), threads));
            let stall = |time| recorded.any.then(|| totals(time));
            json!({
                "thread": name(&row.thread),
                "kind": row.kind.map(|kind| kind.as_str()),
                "started_nanos": row.started.0,
                "ended_nanos": row.ended.0,
                "elsewhere_nanos": row.processor.and_then(|processor| processor.elsewhere).map(|elsewhere| elsewhere.0),
                "blocked": stall(row.blocked),
                "waiting": stall(row.waiting),
                "parked": stall(row.parked).filter(|_| recorded.juc),
                "sleeping": stall(row.sleeping),
                "at_end": at_end.collect::<BTreeMap<_, _>>(),
            })
        })
}

/// Threads that do not run Java: of what they do only their clocks are known.
pub(crate) fn other_threads(rows: &[ThreadSummary<'_>]) -> Table {
    View::new()
        .text(pools(rows), |row: &ThreadSummary<'_>| Count(row.members))
        .text("alive", ThreadSummary::alive)
        .text("cpu", cpu)
        .text("kind", |row| Text(if row.kind == Some(ThreadKind::Vm) { "VM" } else { "native" }.to_owned()))
        .text("thread", |row| Name(row.thread.to_string()))
        .table(rows)
}

/// A heading for how many threads a row stands for.
fn pools(rows: &[ThreadSummary<'_>]) -> Option<&'static str> {
    rows.iter().any(|row| row.members > 1).then_some("threads")
}

fn cpu(row: &ThreadSummary<'_>) -> Option<Nanos> {
    row.processor.map(|processor| processor.cpu)
}

/// What a thread did when the trace ended, or the part of it that counts; of several, how many did what.
fn at_end(row: &ThreadSummary<'_>, until: Time, recorded: RecordedWaits) -> String {
    let states = State::ALL.into_iter().zip(row.at_end);
    let there: Vec<(State, u64)> = states.filter(|&(_, threads)| threads > 0).collect();
    match there[..] {
        [] if row.started > until => "-".to_owned(),
        [] => "ended".to_owned(),
        [(one, 1)] if row.members == 1 => recorded.word(one).to_owned(),
        _ => {
            let words = there.iter().map(|&(of, threads)| format!("{threads} {}", recorded.word(of)));
            words.collect::<Vec<_>>().join(", ")
        }
    }
}

/// Of the states in which a thread waits.
const LETTERS: [char; State::STALLS] = ['B', 'W', 'P', 'S'];

/// A character for each slice: what the thread did most of it, or, in small letters, for a tenth of it at least. A lock log does
/// not say when a thread lives, so it counts as alive all the time.
fn timeline(row: &ThreadSummary<'_>, slice: Nanos, is_log: bool) -> String {
    let letter = |states: &ByState<f32>| {
        let there: f32 = states.iter().sum();
        let there = if is_log { there.max(slice.0 as f32 * row.members as f32) } else { there };
        let stalls = LETTERS.into_iter().zip(states.iter().copied());
        let (letter, most) = stalls.fold(('.', 0.0), |most, stall| if stall.1 > most.1 { stall } else { most });
        match most / there {
            share if share >= 0.5 => letter,
            share if share >= 0.1 => letter.to_ascii_lowercase(),
            _ if there > 0.0 => '.',
            _ => ' ',
        }
    };
    row.slices.iter().map(letter).collect()
}

/// What the characters of the timelines mean; `None` if there are none.
pub(crate) fn legend(report: &LockReport) -> Option<String> {
    let recorded = RecordedWaits::of(report);
    let states = match (report.is_log(), recorded.juc) {
        (true, _) => "B blocked (lower case: part of it), . not blocked",
        (false, true) => "B blocked, W waiting, P parked, S sleeping (lower case: part of it), . none of these",
        (false, false) => {
            "B blocked, W waiting, S sleeping (lower case: part of it), . none of these; parking was not recorded (--juc)"
        }
    };
    recorded.any.then(|| format!("over time: one character is {}; {states}", duration(report.slice())))
}

/// What the columns about processors mean; `None` if no row has them.
pub(crate) fn processor_legend(rows: &[ThreadSummary<'_>]) -> Option<&'static str> {
    has_processors(rows).then_some(
        "cpu: on a processor; queued: runnable, but no processor was free; elsewhere: the rest, an estimate: waiting in \
         the system, such as for I/O, or in the JVM",
    )
}

fn has_processors(rows: &[ThreadSummary<'_>]) -> bool {
    rows.iter().any(|row| row.processor.is_some())
}

#[cfg(test)]
mod tests {
    use analysis::locks::{ThreadName, TimeTotals};
    use trace::time::Time;

    use super::*;

    #[test]
    fn a_timeline_shows_what_a_thread_did_most() {
        let row = ThreadSummary {
            thread: ThreadName { name: "t", group: "", id: None },
            kind: None,
            members: 1,
            started: Time(0),
            ended: Time(70),
            running: Nanos(0),
            blocked: TimeTotals::default(),
            waiting: TimeTotals::default(),
            parked: TimeTotals::default(),
            sleeping: TimeTotals::default(),
            processor: None,
            at_end: [0; 5],
            slices: vec![
                [0.0, 0.0, 0.0, 0.0, 5.0],
                [5.0, 0.0, 0.0, 0.0, 5.0],
                [1.0, 0.0, 0.0, 0.0, 9.0],
                [0.9, 0.0, 0.0, 0.0, 9.1],
                [0.0, 4.0, 3.0, 0.0, 3.0],
                [0.0, 0.0, 9.0, 0.0, 0.0],
                [0.0, 0.0, 0.0, 2.0, 8.0],
                [0.0; 5],
            ],
        };
        assert_eq!(timeline(&row, Nanos(10), false), ".Bb.wPs ");
        let blocked = vec![[5.0, 0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0, 0.0], [0.0; 5]];
        assert_eq!(timeline(&ThreadSummary { slices: blocked, ..row }, Nanos(10), true), "Bb.");
    }
}
