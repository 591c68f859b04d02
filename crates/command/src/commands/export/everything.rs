//! All that a trace says, of one reading.

use analysis::allocations::{AllocationReport, AllocationStats, Facts, Scope};
use analysis::cpu::{CpuReport, CpuStats, SampleClock};
use analysis::locks::{LockReport, LockStats, Selection, WaitKind};
use export::{Profiles, Recorder};
use trace::model::Element;

use crate::input::reading::{Report, Stats};

/// Gathers it.
pub(super) struct Everything {
    allocations: AllocationStats,
    locks: LockStats<'static>,
    cpu: CpuStats,
    wall: CpuStats,
    recorder: Option<Recorder>,
}

/// What was gathered.
pub(super) struct Gathered {
    allocations: AllocationReport,
    locks: LockReport,
    cpu: CpuReport,
    wall: CpuReport,
    /// What happened when, if that is asked for.
    pub(super) recorder: Option<Recorder>,
}

impl Everything {
    /// Nothing yet; `recorded`: also what happens when.
    pub(super) fn new(recorded: bool) -> Self {
        let scope = Scope::default();
        Everything {
            allocations: AllocationStats::new(),
            locks: LockStats::new(Selection::default(), None),
            cpu: CpuStats::new(SampleClock::Cpu, &scope),
            wall: CpuStats::new(SampleClock::Wall, &scope),
            recorder: recorded.then(Recorder::new),
        }
    }
}

impl Stats for Everything {
    type Report = Gathered;

    fn element(&mut self, element: &Element<'_>) {
        self.allocations.element(element);
        self.locks.element(element);
        self.cpu.element(element);
        self.wall.element(element);
        self.recorder.iter_mut().for_each(|recorder| recorder.element(element));
    }

    fn end_document(&mut self) {
        self.allocations.end_document();
        self.locks.end_document();
        self.cpu.end_document();
        self.wall.end_document();
        self.recorder.iter_mut().for_each(Recorder::end_document);
    }

    fn finish(self) -> Gathered {
        Gathered {
            allocations: self.allocations.finish(),
            locks: self.locks.finish(),
            cpu: self.cpu.finish(),
            wall: self.wall.finish(),
            recorder: self.recorder,
        }
    }
}

impl Report for Gathered {
    fn facts(&self) -> &Facts {
        self.allocations.facts()
    }
}

impl Gathered {
    /// The call stacks of the trace.
    pub(super) fn profiles(&self) -> Profiles<'_> {
        let (begin, end) = self.locks.span().unwrap_or_default();
        let facts = self.facts();
        let end = end.max(facts.end.unwrap_or_default());
        Profiles {
            allocated: self.allocations.allocated_stacks(),
            live: self.allocations.live_stacks(),
            cpu: self.cpu.sampled_stacks(),
            wall: self.wall.sampled_stacks(),
            locks: self.locks.waiting_stacks(WaitKind::Contended),
            waits: self.locks.waiting_stacks(WaitKind::Other),
            begin,
            length: end.since(begin),
            sampled_interval: facts.sampled_interval,
        }
    }

    /// Whether waits were recorded, also if there were none.
    pub(super) fn has_waits(&self) -> bool {
        let is_asked = |parameters: &str| parameters.split(',').any(|option| option == "locks=on");
        self.locks.stalls().iter().any(|totals| totals.count > 0)
            || self.facts().origins.iter().any(|origin| is_asked(&origin.parameters))
    }
}
