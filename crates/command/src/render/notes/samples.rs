//! The sums of samples in a sentence, and what is missing or wrong in them.

use analysis::cpu::{CpuReport, SampleClock};
use trace::time::Nanos;

use super::{completeness, counters, recorded};
use crate::input::reading::Reading;
use crate::render::human::{counted, duration};

/// The sums of samples in a sentence.
pub(crate) fn samples_summary(report: &CpuReport) -> String {
    let (samples, time) = report.sum();
    let samples = counted(samples, "sample", "samples");
    let (length, time_text) = (report.length(), duration(time));
    let threads = if length.0 == 0 { 0.0 } else { time.0 as f64 / length.0 as f64 };
    match report.sample_clock() {
        SampleClock::Cpu => {
            format!("{samples}: {time_text} of CPU time in {}, {threads:.2} processors on average", duration(length))
        }
        SampleClock::Wall => {
            format!("{samples}: {time_text} of thread time in {}, {threads:.1} threads on average", duration(length))
        }
    }
}

/// What is missing or wrong in samples; one sentence each.
pub(crate) fn of_samples(reading: &Reading<CpuReport>) -> Vec<String> {
    let report = &reading.report;
    let facts = report.facts();
    let mut notes = Vec::new();
    let (taken, recorded, flag, what) = match report.sample_clock() {
        SampleClock::Cpu => (facts.cpu_samples, recorded::cpu(facts), "--cpu", "CPU time"),
        SampleClock::Wall => (facts.wall_samples, recorded::wall(facts), "--wall", "thread time"),
    };
    if taken == 0 {
        notes.push(match recorded {
            Some(true) => format!("the trace has no samples of {what} although {flag} was on: none was taken"),
            _ => format!("the trace has no samples of {what}; record them with martini run {flag}"),
        });
    }
    let (asked, delivered) = (report.counted("cpu.interval"), report.counted("cpu.delivered"));
    if report.sample_clock() == SampleClock::Cpu && delivered > asked.saturating_add(asked / 5) {
        let (asked, delivered) = (duration(Nanos(asked)), duration(Nanos(delivered)));
        notes
            .push(format!("one sample per {asked} of CPU time was requested; the system delivers one per {delivered}"));
    }
    if let Some(part) = part(report) {
        notes.push(part);
    }
    notes.extend(completeness(reading));
    notes.extend(counters::notes(&facts.counts, |_| true));
    notes
}

fn part(report: &CpuReport) -> Option<String> {
    let seconds = |nanos: Nanos| format!("{:.3}", nanos.0 as f64 / 1e9);
    let (from, to) = report.part_of_trace()?;
    Some(format!("only samples from {} to {} s are counted", seconds(from), seconds(to)))
}
