//! What samples add up to, held against the CPU clocks of the threads.

use rustc_hash::FxHashMap;
use trace::time::Nanos;

use super::report::CpuReport;
use super::samples::ReasonIndex;
use crate::symbols::ThreadIndex;

/// Threads that ran for less are not compared: the part of an interval that no sample stands for is a large part of them.
const LEAST: Nanos = Nanos(1_000_000_000);

/// Time of samples whose stacks were not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostTime {
    /// Why.
    pub reason: String,
    /// How many samples.
    pub samples: u64,
    /// For how long they stand.
    pub time: Nanos,
}

/// The thread whose samples differ most from its clock, of those that ran for a second or more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorstThread {
    /// Its name.
    pub thread: String,
    /// For how long its samples stand.
    pub sampled: Nanos,
    /// How long it ran.
    pub clock: Nanos,
}

/// Why samples cannot be held against clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyUnknown {
    /// Only a part of the trace counts, and clocks are of the whole.
    Window,
    /// Only some stacks are looked at.
    Selected,
    /// The samples are not of CPU clocks.
    NotOfClocks,
    /// The trace was cut off before the clocks were written.
    CutOff,
    /// The trace has no clock of a thread that was sampled.
    NoClocks,
}

/// What samples add up to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conservation {
    /// How long the threads ran whose clocks are in the trace.
    pub clocks: Nanos,
    /// For how long samples of these stand of which it is known what ran.
    pub found: Nanos,
    /// For how long the others of these stand.
    pub lost: Nanos,
    /// The lost ones of all threads by reason, most first.
    pub reasons: Vec<LostTime>,
    /// For how long samples stand whose threads have no clock in the trace.
    pub without_clock: Nanos,
    /// How many such threads there are.
    pub threads_without_clock: u64,
    /// How long threads ran that no sample has seen, besides.
    pub not_seen: Nanos,
    /// The thread whose samples differ most from its clock.
    pub worst: Option<WorstThread>,
    /// Why the sums above cannot be held against each other; `None` if they can.
    pub why_unknown: Option<WhyUnknown>,
}

impl Conservation {
    /// A length as a part of the clocks; `None` if that is not known.
    pub fn of_clocks(&self, part: Nanos) -> Option<f64> {
        (self.why_unknown.is_none() && self.clocks.0 > 0).then(|| part.0 as f64 / self.clocks.0 as f64)
    }

    /// Which part of all samples has no stack, by the time for which they stand.
    pub fn lost_share(&self) -> f64 {
        let lost = self.reasons.iter().fold(0, |sum: u64, reason| sum.saturating_add(reason.time.0));
        let all = self.found.0.saturating_add(self.lost.0).saturating_add(self.without_clock.0);
        if all == 0 { 0.0 } else { lost as f64 / all as f64 }
    }
}

impl CpuReport {
    /// How samples, and those of them without a stack, add up to the CPU clocks of the threads. `is_whole`: all of the trace was read.
    pub fn conservation(&self, is_whole: bool) -> Conservation {
        let mut sampled: FxHashMap<ThreadIndex, (u64, u64)> = FxHashMap::default();
        let mut reasons: FxHashMap<ReasonIndex, (u64, u64)> = FxHashMap::default();
        for (key, weight) in &self.cells {
            let (found, lost) = sampled.entry(key.thread).or_default();
            let time = if key.lost.is_some() { lost } else { found };
            *time = time.saturating_add(weight.time.0);
            if let Some(reason) = key.lost {
                let (samples, time) = reasons.entry(reason).or_default();
                *samples = samples.saturating_add(weight.samples);
                *time = time.saturating_add(weight.time.0);
            }
        }
        let mut all = Conservation::default();
        let mut difference = 0;
        for (thread, clock) in self.threads.clocks() {
            let &(found, lost) = sampled.get(&thread).unwrap_or(&(0, 0));
            all.clocks = plus(all.clocks, clock.0);
            all.found = plus(all.found, found);
            all.lost = plus(all.lost, lost);
            let both = found.saturating_add(lost);
            let per_mille = u128::from(both.abs_diff(clock.0)) * 1_000_000 / u128::from(clock.0.max(1));
            if clock >= LEAST && (per_mille > difference || all.worst.is_none()) {
                difference = per_mille;
                let thread = self.symbols.thread_name(thread).name.clone();
                all.worst = Some(WorstThread { thread, sampled: Nanos(both), clock });
            }
        }
        for (_, &(found, lost)) in sampled.iter().filter(|(thread, _)| self.threads.clock(**thread).is_none()) {
            all.threads_without_clock += 1;
            all.without_clock = plus(all.without_clock, found.saturating_add(lost));
        }
        all.reasons = reasons
            .into_iter()
            .map(|(reason, (samples, time))| {
                let reason = self.samples.reason_text(reason).to_owned();
                LostTime { reason, samples, time: Nanos(time) }
            })
            .collect();
        all.reasons.sort_by(|a, b| b.time.cmp(&a.time).then_with(|| a.reason.cmp(&b.reason)));
        all.not_seen = Nanos(self.counted("cpu.notSeen"));
        all.why_unknown = why_unknown(self, &all, is_whole);
        all
    }
}

fn why_unknown(report: &CpuReport, all: &Conservation, is_whole: bool) -> Option<WhyUnknown> {
    let is_cut = !is_whole || report.facts().ended < report.facts().documents;
    match () {
        () if report.of != super::SampleClock::Cpu => Some(WhyUnknown::NotOfClocks),
        () if report.clock.is_window() => Some(WhyUnknown::Window),
        () if report.is_selected => Some(WhyUnknown::Selected),
        () if is_cut => Some(WhyUnknown::CutOff),
        () if all.clocks == Nanos(0) => Some(WhyUnknown::NoClocks),
        () => None,
    }
}

fn plus(sum: Nanos, part: u64) -> Nanos {
    Nanos(sum.0.saturating_add(part))
}
