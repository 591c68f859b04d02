//! All that a trace says, of one reading.

use analysis::allocations::{Facts, Scope};
use analysis::cpu::{CpuReport, CpuStats, SampleClock};
use analysis::explain::{TraceReport, TraceStats};
use analysis::locks::WaitKind;
use export::{Profiles, Recorder};
use fleet::Labels;
use trace::model::Element;

use crate::input::reading::{Report, Stats};

/// Gathers it.
pub(crate) struct Everything {
    trace: TraceStats<'static>,
    wall: CpuStats,
    recorder: Option<Recorder>,
}

/// What was gathered.
pub(crate) struct Gathered {
    trace: TraceReport,
    wall: CpuReport,
    /// What happened when, if that is asked for.
    pub(crate) recorder: Option<Recorder>,
}

impl Everything {
    /// Nothing yet; `recorded`: also what happens when.
    pub(crate) fn new(recorded: bool) -> Self {
        Everything {
            trace: TraceStats::new(),
            wall: CpuStats::new(SampleClock::Wall, &Scope::default()),
            recorder: recorded.then(Recorder::new),
        }
    }
}

impl Stats for Everything {
    type Report = Gathered;

    fn element(&mut self, element: &Element<'_>) {
        self.trace.element(element);
        self.wall.element(element);
        self.recorder.iter_mut().for_each(|recorder| recorder.element(element));
    }

    fn end_document(&mut self) {
        self.trace.end_document();
        self.wall.end_document();
        self.recorder.iter_mut().for_each(Recorder::end_document);
    }

    fn finish(self) -> Gathered {
        Gathered { trace: self.trace.finish(), wall: self.wall.finish(), recorder: self.recorder }
    }
}

impl Report for Gathered {
    fn facts(&self) -> &Facts {
        self.trace.allocations.facts()
    }
}

impl Gathered {
    /// The call stacks of the trace.
    pub(crate) fn profiles(&self) -> Profiles<'_> {
        let TraceReport { allocations, locks, cpu, calls, .. } = &self.trace;
        let (begin, end) = locks.span().unwrap_or_default();
        let facts = self.facts();
        let end = end.max(facts.end.unwrap_or_default());
        Profiles {
            allocated: allocations.allocated_stacks(),
            live: allocations.live_stacks(),
            cpu: cpu.sampled_stacks(),
            wall: self.wall.sampled_stacks(),
            locks: locks.waiting_stacks(WaitKind::Contended),
            waits: locks.waiting_stacks(WaitKind::Other),
            calls: calls.called_stacks(),
            begin,
            length: end.since(begin),
            resource: self.resource(),
            sampled_interval: facts.sampled_interval,
        }
    }

    /// Whose trace it is, by the names that OpenTelemetry has for it.
    fn resource(&self) -> Vec<(&'static str, String)> {
        let labels = Labels::default().resolve(self.facts().origins.first());
        let known = [("host.name", labels.host), ("k8s.pod.name", labels.pod)].into_iter();
        let named = [("service.name", labels.service), ("service.version", labels.release)];
        named.into_iter().chain(known.filter_map(|(key, value)| Some((key, value?)))).collect()
    }

    /// Whether waits were recorded, also if there were none.
    pub(crate) fn has_waits(&self) -> bool {
        let is_asked = |parameters: &str| parameters.split(',').any(|option| option == "locks=on");
        self.trace.locks.stalls().iter().any(|totals| totals.count > 0)
            || self.facts().origins.iter().any(|origin| is_asked(&origin.parameters))
    }
}
