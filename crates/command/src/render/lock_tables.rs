//! The tables of `threads` and `locks`: which columns there are, and in which order rows come.

use std::cmp::Ordering;

use analysis::locks::{ByState, Durations, LockBy, LockReport, LockRow, State, ThreadSummary};
use clap::ValueEnum;
use trace::model::ThreadKind;
use trace::time::{Nanos, Time};

use crate::render::human::{count, duration, printable};
use crate::render::table::Table;

/// A column of `locks` to sort by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LockColumn {
    /// How often
    Count,
    /// Time in all
    #[default]
    Total,
    /// Average time
    Mean,
    /// Time that half of the waits do not exceed
    P50,
    /// Time that 99 of 100 waits do not exceed
    P99,
    /// Longest time
    Max,
    /// The name, from A to Z
    Name,
}

/// The waits of a row that a table is about.
pub(crate) fn lengths<'a>(row: &'a LockRow<'_>, waits: bool) -> &'a Durations {
    if waits { &row.waited } else { &row.contended }
}

/// Sorts rows by a column, the largest number first; rows that are equal there, by time and name.
pub(crate) fn sort_locks(rows: &mut [LockRow<'_>], column: LockColumn, waits: bool) {
    let key = |row: &LockRow<'_>| {
        let lengths = lengths(row, waits);
        match column {
            LockColumn::Count => lengths.count(),
            LockColumn::Total => lengths.total().0,
            LockColumn::Mean => lengths.mean().0,
            LockColumn::P50 => lengths.percentile(50.0).0,
            LockColumn::P99 => lengths.percentile(99.0).0,
            LockColumn::Max => lengths.max().0,
            LockColumn::Name => 0,
        }
    };
    let time = |row: &LockRow<'_>| if column == LockColumn::Name { Nanos(0) } else { lengths(row, waits).total() };
    rows.sort_by_cached_key(|row| {
        let name = row.subject.to_string();
        (std::cmp::Reverse((key(row), time(row))), name, format!("{:?}", row.subject))
    });
}

/// What the rows of a table are.
pub(crate) fn noun(by: LockBy) -> &'static str {
    match by {
        LockBy::Monitor => "monitor",
        LockBy::Class => "class",
        LockBy::Site => "where threads wait",
        LockBy::Holder => "where the owner was",
        LockBy::Waiter => "thread that waits",
        LockBy::Pair => "who waits <- who owns",
    }
}

/// A table of waits, as the rows are ordered.
pub(crate) fn locks(rows: &[LockRow<'_>], by: LockBy, waits: bool) -> Table {
    let mut headings = vec![if waits { "waits" } else { "contended" }];
    if waits {
        headings.push("timed out");
    }
    headings.extend(["total", "mean", "p50", "p90", "p99", "max", noun(by)]);
    let mut table = Table::new(headings);
    for row in rows {
        let lengths = lengths(row, waits);
        let mut cells = vec![count(lengths.count())];
        if waits {
            cells.push(count(row.timed_out));
        }
        cells.extend([duration(lengths.total()), duration(lengths.mean())]);
        cells.extend([50.0, 90.0, 99.0].map(|percent| duration(lengths.percentile(percent))));
        cells.extend([duration(lengths.max()), printable(&row.subject.to_string())]);
        table.push(cells);
    }
    table
}

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
    let cpu = |row: &ThreadSummary<'_>| row.processor.map(|processor| processor.cpu);
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

/// A table of threads, as they are ordered. A lock log shows only when they are blocked.
pub(crate) fn threads(rows: &[ThreadSummary<'_>], report: &LockReport) -> Table {
    let (slice, is_log) = (report.slice(), report.is_log());
    let until = report.counted().map_or(Time(u64::MAX), |(_, until)| until);
    let has_pools = rows.iter().any(|row| row.members > 1);
    let has_parked = rows.iter().any(|row| row.parked.count > 0);
    let has_sleeping = rows.iter().any(|row| row.sleeping.count > 0);
    let has_processors = has_processors(rows);
    // Where the trace says what it consists of it is not needed.
    let has_running = !is_log && rows.iter().any(|row| row.processor.is_none());
    let mut headings = Vec::new();
    if has_pools {
        headings.push("threads");
    }
    if !is_log {
        headings.push("alive");
    }
    if has_running {
        headings.push("running");
    }
    if has_processors {
        headings.extend(["cpu", "queued", "elsewhere"]);
    }
    headings.extend(["blocked", "times"]);
    if !is_log {
        headings.extend(["waiting", "times"]);
    }
    if has_sleeping {
        headings.push("sleeping");
    }
    if has_parked {
        headings.extend(["parked", "times"]);
    }
    if !is_log {
        headings.push("at end");
    }
    headings.extend(["over time", "thread"]);
    let mut table = Table::new(headings);
    for row in rows {
        let mut cells = Vec::new();
        if has_pools {
            cells.push(count(row.members));
        }
        if !is_log {
            cells.push(duration(row.alive()));
        }
        if has_running {
            cells.push(duration(row.running));
        }
        if has_processors {
            cells.extend(processor_cells(row));
        }
        cells.extend([duration(row.blocked.total), count(row.blocked.count)]);
        if !is_log {
            cells.extend([duration(row.waiting.total), count(row.waiting.count)]);
        }
        if has_sleeping {
            cells.push(duration(row.sleeping.total));
        }
        if has_parked {
            cells.extend([duration(row.parked.total), count(row.parked.count)]);
        }
        if !is_log {
            cells.push(at_end(row, until));
        }
        cells.extend([timeline(row, slice, is_log), printable(&row.thread.to_string())]);
        table.push(cells);
    }
    table
}

/// A table of threads that do not run Java, as they are ordered: of what they do only their clocks are known.
pub(crate) fn other_threads(rows: &[ThreadSummary<'_>]) -> Table {
    let has_pools = rows.iter().any(|row| row.members > 1);
    let mut headings = vec!["alive", "cpu", "kind", "thread"];
    if has_pools {
        headings.insert(0, "threads");
    }
    let mut table = Table::new(headings);
    for row in rows {
        let kind = match row.kind {
            Some(ThreadKind::Vm) => "VM",
            _ => "native",
        };
        let [cpu, ..] = processor_cells(row);
        let mut cells = vec![duration(row.alive()), cpu, kind.to_owned(), printable(&row.thread.to_string())];
        if has_pools {
            cells.insert(0, count(row.members));
        }
        table.push(cells);
    }
    table
}

/// What a thread did when the trace ended, or the part of it that counts; of several, how many did what.
fn at_end(row: &ThreadSummary<'_>, until: Time) -> String {
    let states = State::ALL.into_iter().zip(row.at_end);
    let there: Vec<(State, u64)> = states.filter(|&(_, threads)| threads > 0).collect();
    match there[..] {
        [] if row.started > until => "-".to_owned(),
        [] => "ended".to_owned(),
        [(one, 1)] if row.members == 1 => one.as_str().to_owned(),
        _ => there.iter().map(|(of, threads)| format!("{threads} {}", of.as_str())).collect::<Vec<_>>().join(", "),
    }
}

/// Of the states in which a thread waits.
const LETTERS: [char; State::STALLS] = ['B', 'W', 'P', 'S'];

/// A character for each slice: what the thread did most of it, or, in small letters, for a tenth of it at least. A lock log does
/// not say when a thread lives, so it counts as alive all the time.
pub(crate) fn timeline(row: &ThreadSummary<'_>, slice: Nanos, is_log: bool) -> String {
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

/// What the characters of the timelines mean.
pub(crate) fn legend(slice: Nanos, is_log: bool) -> String {
    let states = match is_log {
        true => "B blocked (small: a part of it), . not blocked",
        false => "B blocked, W waiting, P parked, S sleeping (small: a part of it), . none of these",
    };
    format!("over time: a character is {}; {states}", duration(slice))
}

/// What the columns about processors mean; `None` if no row has them.
pub(crate) fn processor_legend(rows: &[ThreadSummary<'_>]) -> Option<&'static str> {
    has_processors(rows).then_some(
        "cpu: on a processor; queued: ready to run, but no processor was free; elsewhere: what is left, an estimate: \
         waiting in the system, as for input and output, or in the JVM",
    )
}

fn has_processors(rows: &[ThreadSummary<'_>]) -> bool {
    rows.iter().any(|row| row.processor.is_some())
}

/// Time on processors, in their queue, and elsewhere.
fn processor_cells(row: &ThreadSummary<'_>) -> [String; 3] {
    let processor = row.processor.as_ref();
    let cell =
        |nanos: Option<Nanos>, sign: &str| nanos.map_or("-".to_owned(), |nanos| sign.to_owned() + &duration(nanos));
    [
        cell(processor.map(|processor| processor.cpu), ""),
        cell(processor.and_then(|processor| processor.queued), ""),
        cell(processor.and_then(|processor| processor.elsewhere), "~"),
    ]
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
