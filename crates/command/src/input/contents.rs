//! Reads a trace of which it is not known what it holds, once: its objects, or what else it is about if it has none.

use std::path::Path;

use analysis::allocations::{AllocationReport, AllocationStats, Facts, Scope};
use analysis::cpu::{CpuReport, CpuStats, SampleClock};
use analysis::execution::{CallSelection, ExecutionReport, ExecutionStats};
use analysis::locks::{LockReport, LockStats, Selection};
use trace::model::Element;

use super::reading::{Reading, Report, Stats, trace};

/// What a trace holds.
pub(crate) enum Contents {
    /// Objects, or nothing else that was asked for.
    Objects(Box<Reading>),
    /// Samples of CPU clocks, and no object.
    Samples(Reading<CpuReport>),
    /// Calls of methods, and neither objects nor samples.
    Calls(Reading<ExecutionReport>),
    /// Waits of threads, and nothing of these.
    Waits(Reading<LockReport>),
}

/// What is looked for besides objects.
#[derive(Default)]
pub(crate) struct Wanted {
    pub(crate) samples: bool,
    pub(crate) waits: bool,
    /// Which calls.
    pub(crate) calls: CallSelection,
}

/// Reads a part of a trace, as [`allocations_in`](super::reading::allocations_in) does.
pub(crate) fn contents(path: &Path, scope: &Scope, wanted: Wanted) -> anyhow::Result<Contents> {
    let selection = Selection { from: scope.from, to: scope.to, ..Selection::default() };
    let others = Others {
        samples: wanted.samples.then(|| CpuStats::new(SampleClock::Cpu, scope)),
        calls: ExecutionStats::new(wanted.calls),
        waits: wanted.waits.then(|| LockStats::new(selection, None)),
    };
    let stats = Candidates { objects: AllocationStats::of(scope), others: Some(others) };
    let (found, reading) = trace(path, stats)?.taken_apart();
    let has_objects = found.objects.has_objects();
    Ok(match found.others.filter(|_| !has_objects) {
        Some((Some(samples), ..)) if samples.facts().cpu_samples > 0 => Contents::Samples(reading.with(samples)),
        Some((_, calls, _)) if calls.facts().calls > 0 => Contents::Calls(reading.with(calls)),
        Some((.., Some(waits))) if waits.stalls().iter().any(|totals| totals.count > 0) => {
            Contents::Waits(reading.with(waits))
        }
        _ => Contents::Objects(Box::new(reading.with(found.objects))),
    })
}

/// All that a trace may hold, until that is known.
struct Candidates {
    objects: AllocationStats,
    /// `None` from the first object on.
    others: Option<Others>,
}

struct Others {
    samples: Option<CpuStats>,
    calls: ExecutionStats,
    waits: Option<LockStats<'static>>,
}

struct Found {
    objects: AllocationReport,
    others: Option<(Option<CpuReport>, ExecutionReport, Option<LockReport>)>,
}

impl Report for Found {
    fn facts(&self) -> &Facts {
        self.objects.facts()
    }
}

impl Stats for Candidates {
    type Report = Found;

    fn element(&mut self, element: &Element<'_>) {
        self.objects.element(element);
        if let Some(Others { samples, calls, waits }) = &mut self.others {
            samples.iter_mut().for_each(|samples| samples.element(element));
            calls.element(element);
            waits.iter_mut().for_each(|waits| waits.element(element));
        }
        match element {
            Element::AllocCount(_) | Element::AllocSample(_) => self.others = None,
            // One without a thread may be there only because a thread waits for it.
            Element::ObjAlloc(alloc) if alloc.thread.is_some() => self.others = None,
            _ => {}
        }
    }

    fn end_document(&mut self) {
        self.objects.end_document();
        if let Some(Others { samples, calls, waits }) = &mut self.others {
            samples.iter_mut().for_each(CpuStats::end_document);
            calls.end_document();
            waits.iter_mut().for_each(LockStats::end_document);
        }
    }

    fn finish(self) -> Found {
        let others = self.others.map(|Others { samples, calls, waits }| {
            (samples.map(CpuStats::finish), calls.finish(), waits.map(LockStats::finish))
        });
        Found { objects: self.objects.finish(), others }
    }
}
