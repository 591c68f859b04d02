//! The finished statistics: what the trace held, and which part of it counts.

use rustc_hash::FxHashMap;
use trace::model::ThreadCount;
use trace::time::{Nanos, Time};

use super::breakdown::Breakdown;
use super::cells::{CellIndex, Cells, ThreadSubject};
use super::intervals::{Borders, Intervals};
use super::naming::{Naming, SiteNames};
use super::over_time::Recorder;
use super::totals::Living;
use crate::coverage::{Coverage, Uncounted, WhyUnknown};
use crate::facts::Facts;
use crate::location::Location;
use crate::symbols::ThreadIndex;
use crate::window::Clock;

/// The account of one platform thread and of the virtual threads that it carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account<'a> {
    /// The thread.
    pub thread: ThreadSubject<'a>,
    /// Objects reported.
    pub instances: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes that the JVM accounts to the thread in the same span; `None` if it did not say.
    pub vm_bytes: Option<u64>,
}

/// The part of a trace that counts, in times after its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartOfTrace {
    /// Where it begins.
    pub from: Nanos,
    /// Where it ends.
    pub to: Nanos,
}

/// Which part of a trace of counts counts: what was counted between two times of writing does so as a whole, or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedPart {
    /// From one time of writing to another.
    Between(PartOfTrace),
    /// Counts were written at none or one of the times nearest to the borders. These are two times of writing near them, if there are any.
    Nothing(Option<PartOfTrace>),
}

/// The statistics of one trace.
#[derive(Debug)]
pub struct AllocationReport {
    pub(super) breakdown: Breakdown,
    /// Only what some sites allocate is left.
    pub(super) is_selected: bool,
    pub(super) accounts: FxHashMap<ThreadIndex, ThreadCount>,
    /// The sampled objects that live.
    pub(super) sampled_living: FxHashMap<CellIndex, Living>,
    pub(super) facts: Facts,
    pub(super) clock: Clock,
    pub(super) intervals: Intervals,
    pub(super) recorder: Option<Recorder>,
}

impl AllocationReport {
    /// What the trace held besides the rows, and what was wrong with it.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    pub(super) fn cells(&self) -> &Cells {
        self.breakdown.cells()
    }

    /// Does any allocation have its line?
    pub fn has_sites(&self) -> bool {
        self.cells().iter().any(|(_, cell, _)| cell.site.is_some())
    }

    /// Does the trace say anything of allocations?
    pub fn has_objects(&self) -> bool {
        self.facts.allocations > 0 || self.facts.site_counts > 0 || self.facts.alloc_samples > 0
    }

    /// Does the trace count objects by site instead of reporting them one by one?
    pub fn is_counted(&self) -> bool {
        self.facts.allocations == 0 && self.facts.site_counts > 0
    }

    /// Are objects sampled, and nothing counted?
    pub fn is_sampled(&self) -> bool {
        self.facts.allocations == 0 && self.facts.site_counts == 0 && !self.breakdown.sources().is_empty()
    }

    /// Is what was allocated known only from one time of writing to the next?
    pub(super) fn is_in_steps(&self) -> bool {
        self.is_counted() || self.is_sampled()
    }

    /// How many objects were sampled where nothing is counted.
    pub fn samples(&self) -> u64 {
        self.breakdown.sources().samples()
    }

    /// Is it known by samples where objects live?
    pub fn has_live_samples(&self) -> bool {
        !self.sampled_living.is_empty()
    }

    /// What was reported of each thread, and what the JVM accounts to it, in no particular order.
    pub fn accounts(&self) -> impl Iterator<Item = Account<'_>> {
        self.accounts.iter().map(|(&thread, account)| Account {
            thread: self.cells().thread(thread),
            instances: account.instances,
            bytes: account.bytes,
            vm_bytes: account.vm_bytes,
        })
    }

    /// How complete the trace is. `is_whole`: all of it was read.
    pub fn coverage(&self, is_whole: bool) -> Coverage {
        let calibration = self.is_sampled().then(|| self.breakdown.sources().calibration().clone());
        let (is_counted, uncounted) = (self.is_counted(), self.uncounted());
        let mut coverage = Coverage { is_counted, uncounted, calibration, ..Coverage::default() };
        if self.clock.is_window() {
            return Coverage { why_unknown: Some(WhyUnknown::Window), ..coverage };
        }
        for account in self.accounts() {
            coverage.add(account.thread.name, account.bytes, account.vm_bytes);
        }
        for count in &self.facts.counts {
            coverage.note_reason(&count.key, count.detail.as_deref().unwrap_or_default());
        }
        if self.is_sampled() {
            coverage.mark_unknown(WhyUnknown::Sampled);
        }
        if self.facts.is_filtered {
            coverage.mark_unknown(WhyUnknown::Filtered);
        }
        if self.accounts.is_empty() {
            coverage.mark_unknown(WhyUnknown::NoAccounts);
        } else if !is_whole || self.facts.ended < self.facts.documents {
            coverage.mark_unknown(WhyUnknown::CutOff);
        }
        coverage.finish();
        coverage
    }

    /// What samples say of objects that nobody counted.
    fn uncounted(&self) -> Option<Uncounted> {
        let parts = || self.breakdown.parts(|_| true).filter(|part| part.cell.is_uncounted);
        let by_class = self.breakdown.group(parts(), |part| self.cells().class(part.cell)).into_iter();
        let by_class = by_class.map(|(class, group)| (self.breakdown.finish(group).0.total_bytes(), class));
        let (_, class) = by_class.max()?;
        let all = self.breakdown.group(parts(), |_| ()).remove(&())?;
        let (totals, error) = self.breakdown.finish(all);
        Some(Uncounted { bytes: totals.total_bytes(), error: error.unwrap_or_default(), class: class.to_owned() })
    }

    /// Names all stacks.
    pub fn site_names(&self, naming: &Naming) -> SiteNames {
        SiteNames::new(naming, self.cells().stacks(), self.cells().symbols())
    }

    /// Does any allocation have a call stack, of its own or by samples?
    pub fn has_stacks(&self) -> bool {
        self.cells().iter().any(|(_, cell, _)| cell.stack.is_some()) || self.breakdown.shares().has_stacks()
    }

    /// Does the trace say in which modules classes are?
    pub fn has_modules(&self) -> bool {
        self.cells().symbols().has_modules()
    }

    /// Do samples say on which stacks and threads counted sites allocate?
    pub fn has_samples(&self) -> bool {
        !self.breakdown.shares().is_empty()
    }

    /// Are some sites spread over their callers by samples outside of the part of the trace that counts, for want of others?
    pub fn is_spread_from_outside(&self) -> bool {
        let shares = self.breakdown.shares();
        self.cells().iter().any(|(index, _, totals)| totals.total() > 0 && shares.are_outside(index))
    }

    /// Leaves out what is not allocated in code that passes the filter: neither at the innermost frame nor at the one that names the
    /// stack. So are left out what the JVM reported itself, and what only a walk of the heap found.
    pub fn retain_sites(&mut self, names: &SiteNames, site_filter: impl Fn(&Location<'_>) -> bool) {
        for cell in self.breakdown.retain_sites(names, site_filter) {
            self.recorder.iter_mut().for_each(|recorder| recorder.forget(cell));
        }
        self.is_selected = true;
        (self.facts.live_counts, self.facts.counted_by_vm) = (0, (0, 0));
    }

    /// When the trace begins: the time of its first element that has one.
    pub fn beginning(&self) -> Time {
        self.clock.origin()
    }

    /// How long the trace is, from its first element with a time to the last.
    pub fn length(&self) -> Nanos {
        self.clock.length()
    }

    fn part(&self, from: Time, to: Time) -> PartOfTrace {
        let since = |time: Time| time.since(self.clock.origin());
        PartOfTrace { from: since(from), to: since(to) }
    }

    /// The part that was asked for, as far as the trace reaches; `None` if all of the trace counts.
    pub fn part_of_trace(&self) -> Option<PartOfTrace> {
        let (begin, end) = self.clock.part();
        self.clock.is_window().then(|| self.part(begin, end))
    }

    /// Which part counts instead, if the trace has counts.
    pub fn counted_part(&self) -> Option<CountedPart> {
        let part = |borders: Borders| self.part(borders.from, borders.to);
        (self.clock.is_window() && self.is_counted()).then(|| match self.intervals.counted() {
            Some(borders) => CountedPart::Between(part(borders)),
            None => CountedPart::Nothing(self.intervals.missed().map(part)),
        })
    }
}
