//! The finished samples: what they are of, and what is known of each.

use rustc_hash::FxHashMap;
use trace::model::{ThreadKind, ThreadState};
use trace::time::Nanos;

use super::sample_times::SampleTimes;
use super::samples::{CellKey, Samples, Weight};
use super::stacks::TypedStacks;
use super::subject::{CodeKind, CpuSubject};
use super::threads::{Threads, VmWork};
use super::{SampleClock, TypedStack};
use crate::allocations::{Naming, SiteNames, ThreadSubject};
use crate::call_tree::{Ran, error};
use crate::facts::Facts;
use crate::location::Location;
use crate::symbols::{SiteIndex, Symbols, ThreadIndex};
use crate::window::Clock;

/// The samples of one trace.
#[derive(Debug)]
pub struct CpuReport {
    pub(super) of: SampleClock,
    pub(super) symbols: Symbols,
    pub(super) stacks: TypedStacks,
    pub(super) samples: Samples,
    pub(super) threads: Threads,
    pub(super) cells: Vec<(CellKey, Weight)>,
    /// Some cells were left out.
    pub(super) is_selected: bool,
    facts: Facts,
    pub(super) clock: Clock,
    pub(super) moments: Option<SampleTimes>,
}

impl CpuReport {
    pub(super) fn new(
        of: SampleClock,
        symbols: Symbols,
        stacks: TypedStacks,
        samples: Samples,
        mut threads: Threads,
        facts: Facts,
        clock: Clock,
    ) -> Self {
        threads.find_pools(&symbols);
        let cells = samples.cells();
        CpuReport { of, symbols, stacks, samples, threads, cells, is_selected: false, facts, clock, moments: None }
    }

    /// Which samples these are.
    pub fn sample_clock(&self) -> SampleClock {
        self.of
    }

    /// What the trace held besides samples, and what was wrong with it.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// How long the part of the trace is that counts.
    pub fn length(&self) -> Nanos {
        let (begin, end) = self.clock.part();
        end.since(begin)
    }

    /// How long the trace is.
    pub fn whole_length(&self) -> Nanos {
        self.clock.length()
    }

    /// The part that was asked for, in times after the beginning of the trace, as far as it reaches; `None` if all of it counts.
    pub fn part_of_trace(&self) -> Option<(Nanos, Nanos)> {
        let (begin, end) = self.clock.part();
        self.clock.is_window().then(|| (begin.since(self.clock.origin()), end.since(self.clock.origin())))
    }

    /// How many samples there are, and for how long they stand.
    pub fn sum(&self) -> (u64, Nanos) {
        let whole = self.whole();
        (whole.samples, whole.time)
    }

    /// Does the trace say in which modules classes are?
    pub fn has_modules(&self) -> bool {
        self.symbols.has_modules()
    }

    /// Does any sample have Java frames?
    pub fn has_stacks(&self) -> bool {
        self.cells.iter().any(|(key, _)| key.stack.is_some())
    }

    /// Did any virtual thread run?
    pub fn has_virtual_threads(&self) -> bool {
        self.cells.iter().any(|(key, _)| key.virtual_thread.is_some())
    }

    /// Names all stacks.
    pub fn site_names(&self, naming: &Naming) -> SiteNames {
        SiteNames::new(naming, self.stacks.frames(), &self.symbols)
    }

    /// Keeps only samples of which some frame passes the filter.
    pub fn retain(&mut self, filter: impl Fn(&Location<'_>) -> bool) {
        let mut passes: FxHashMap<SiteIndex, bool> = FxHashMap::default();
        let (symbols, stacks) = (&self.symbols, &self.stacks);
        self.cells.retain(|(key, _)| {
            let frames = key.stack.map_or(&[][..], |stack| stacks.frames_of(stack));
            frames.iter().any(|&site| *passes.entry(site).or_insert_with(|| filter(&symbols.location(site))))
        });
        self.is_selected = true;
    }

    /// How long threads of the VM's ran for each kind of work, with its error.
    pub fn vm_work(&self, work: VmWork) -> (Nanos, Nanos) {
        let of_vm = |key: &CellKey| {
            self.threads.kind(key.thread) == Some(ThreadKind::Vm)
                && VmWork::of(&self.symbols.thread_name(key.thread).name) == work
        };
        self.part(of_vm)
    }

    /// How long threads were in the kernel, with its error.
    pub fn kernel(&self) -> (Nanos, Nanos) {
        self.part(|key| key.is_kernel)
    }

    /// How much time is that of samples whose stacks were not found.
    pub fn lost(&self) -> Nanos {
        self.part(|key| key.lost.is_some()).0
    }

    /// What the agent has counted about itself under a key, with whatever detail; 0 if it has not.
    pub fn counted(&self, key: &str) -> u64 {
        let counts = self.facts.counts.iter().filter(|count| count.key == key);
        counts.fold(0, |sum: u64, count| sum.saturating_add(count.value))
    }

    fn part(&self, is_in: impl Fn(&CellKey) -> bool) -> (Nanos, Nanos) {
        let mut part = Weight::default();
        self.cells.iter().filter(|(key, _)| is_in(key)).for_each(|(_, weight)| part.add(weight));
        (part.time, self.error(&self.whole(), &part))
    }

    /// All samples together.
    pub(super) fn whole(&self) -> Weight {
        let mut whole = Weight::default();
        self.cells.iter().for_each(|(_, weight)| whole.add(weight));
        whole
    }

    /// How far the length for which a part of all samples stands may be off with a confidence of 95 %.
    pub(super) fn error(&self, whole: &Weight, part: &Weight) -> Nanos {
        let all = whole.spread();
        Nanos(error(all.weight.powi(2) * all.variance_of_share(&part.spread())).min(whole.time.0))
    }

    pub(super) fn frames(&self, key: &CellKey) -> &[SiteIndex] {
        key.stack.map_or(&[], |stack| self.stacks.frames_of(stack))
    }

    pub(super) fn thread(&self, index: ThreadIndex) -> ThreadSubject<'_> {
        let thread = self.symbols.thread_name(index);
        ThreadSubject { name: &thread.name, group: &thread.group, id: thread.id, rank: index.rank() }
    }

    /// What a sample without Java frames is of.
    pub(super) fn without_frames(&self, key: &CellKey) -> CpuSubject<'_> {
        match (key.lost, self.threads.kind(key.thread)) {
            (Some(reason), _) => CpuSubject::Lost(self.samples.reason_text(reason)),
            (None, Some(ThreadKind::Vm)) => CpuSubject::VmThreads(self.threads.pool(key.thread)),
            (None, Some(ThreadKind::Native)) => CpuSubject::NativeThreads(self.threads.pool(key.thread)),
            (None, None) => CpuSubject::NoStack,
        }
    }

    /// What kind of code a sample is of.
    pub(super) fn kind(&self, key: &CellKey) -> CodeKind {
        match (self.threads.kind(key.thread), key.stack.filter(|_| !self.frames(key).is_empty())) {
            _ if key.is_kernel => CodeKind::Kernel,
            (Some(ThreadKind::Vm), _) => CodeKind::Vm,
            (Some(ThreadKind::Native), _) => CodeKind::NativeThreads,
            (None, _) if key.lost.is_some() => CodeKind::Lost,
            (None, None) => CodeKind::NoStack,
            (None, Some(_)) if key.function.is_some() => CodeKind::Native,
            (None, Some(stack)) => self.innermost_kind(stack),
        }
    }

    /// What is inlined runs as the code that it is inlined in.
    fn innermost_kind(&self, stack: TypedStack) -> CodeKind {
        match self.stacks.types_of(stack).iter().find(|ran| **ran != Ran::Inlined) {
            Some(Ran::C2) => CodeKind::C2,
            Some(Ran::C1) => CodeKind::C1,
            Some(Ran::Interpreted) => CodeKind::Interpreted,
            Some(Ran::Native) => CodeKind::Native,
            Some(Ran::Inlined) | None => CodeKind::Java,
        }
    }

    /// What a thread did that did not run, in words; `None` if it ran.
    pub(super) fn waiting(state: Option<ThreadState>) -> Option<&'static str> {
        match state? {
            ThreadState::Runnable => None,
            ThreadState::Blocked => Some("blocked"),
            ThreadState::Waiting => Some("waiting"),
            ThreadState::TimedWaiting => Some("waiting or sleeping, with a limit"),
            ThreadState::New => Some("not started"),
            ThreadState::Terminated => Some("ended"),
        }
    }
}
