//! What the processors were used for, where that matters.

use trace::time::Nanos;

use super::{LEAST_SAMPLES, MOST, are_enough, part};
use crate::allocations::{Location, SiteNames};
use crate::cpu::{CpuBy, CpuInside, CpuReport, CpuSubject, SampleClock, VmWork};

/// Stacks that were not found are no cost but a doubt; in fewer samples it is one of chance.
const LEAST_SAMPLES_WITH_LOST: u64 = 100;
/// A program that uses less of one processor waits for something else.
const LEAST_BUSY: f64 = 0.05;
/// What makes less of the time is not worth a look.
const LEAST_SHARE: f64 = 0.1;
/// Compilers and the kernel work for others; so much of it stands out.
const LEAST_OF_OTHERS: f64 = 0.2;
/// With more time of stacks that were not found, shares are doubtful.
const LEAST_LOST: f64 = 0.02;

/// What took the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Busy<'a> {
    /// A line of the user's code, with all that it called outside of that.
    Line(Location<'a>),
    /// Threads that collect garbage.
    Collector,
    /// Threads that compile.
    Compiler,
    /// The kernel.
    Kernel,
    /// What is not known, since stacks were not found.
    Lost,
}

/// Something that took much of the processors' time.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuUse<'a> {
    /// What took it.
    pub what: Busy<'a>,
    /// How much.
    pub time: Nanos,
    /// How far that may be off, with a confidence of 95 %.
    pub error: Nanos,
    /// All of the processors' time.
    pub whole: Nanos,
    /// Of a line: what ran innermost for most of it.
    pub inside: Option<CpuInside<'a>>,
}

impl CpuUse<'_> {
    /// The part of all of the processors' time.
    pub fn share(&self) -> f64 {
        part(self.time.0, self.whole.0)
    }

    /// How far the share may be off.
    pub fn share_error(&self) -> f64 {
        part(self.error.0, self.whole.0)
    }

    fn is_at_least(&self, share: f64) -> bool {
        part(self.time.0.saturating_sub(self.error.0), self.whole.0) >= share
    }
}

/// What took much of the processors' time, the user's lines first.
pub(super) fn uses<'a>(report: &'a CpuReport, names: &SiteNames) -> Vec<CpuUse<'a>> {
    let (samples, whole) = report.sum();
    let is_busy = part(whole.0, report.length().0) >= LEAST_BUSY;
    if report.sample_clock() != SampleClock::Cpu || samples < LEAST_SAMPLES || !is_busy {
        return Vec::new();
    }
    let lines = report.rows(CpuBy::Line, names).into_iter().filter_map(|row| match row.subject {
        CpuSubject::Line(at) if are_enough(row.samples) => {
            let inside = row.inside.first().copied();
            Some(CpuUse { what: Busy::Line(at), time: row.time, error: row.error, whole, inside })
        }
        _ => None,
    });
    let mut uses: Vec<CpuUse<'a>> = lines.take(MOST).filter(|line| line.is_at_least(LEAST_SHARE)).collect();
    for (what, (time, error), least) in [
        (Busy::Collector, report.vm_work(VmWork::Collect), LEAST_SHARE),
        (Busy::Compiler, report.vm_work(VmWork::Compile), LEAST_OF_OTHERS),
        (Busy::Kernel, report.kernel(), LEAST_OF_OTHERS),
        (Busy::Lost, (report.lost(), Nanos(0)), LEAST_LOST),
    ] {
        let found = CpuUse { what, time, error, whole, inside: None };
        let is_enough = what != Busy::Lost || samples >= LEAST_SAMPLES_WITH_LOST;
        uses.extend(Some(found).filter(|found| is_enough && found.is_at_least(least)));
    }
    uses
}
