//! All that is known of allocations, piece by piece: what programs take that add it up themselves.

use super::ThreadSubject;
use super::amount::Amount;
use super::naming::SiteNames;
use super::report::AllocationReport;
use crate::call_tree::{Source, SourceIndex};
use crate::location::Location;
use crate::symbols::SiteIndex;

/// Objects of one class that one thread allocated on one stack.
#[derive(Clone, Debug)]
pub struct Entry<'r> {
    /// The stack, innermost first, or the innermost frame alone: numbers of [`AllocationReport::frame`].
    pub frames: Vec<usize>,
    /// The frame that names the stack.
    pub named: Option<usize>,
    /// The class of the objects.
    pub class: &'r str,
    /// Who allocated them, if known.
    pub thread: Option<ThreadSubject<'r>>,
    /// What was allocated.
    pub allocated: [f64; 2],
    /// What of it is alive at the end: objects and bytes.
    pub live: [f64; 2],
    /// What samples say, where the numbers are estimates.
    pub estimate: Option<Estimate>,
    /// In which slices of time objects were allocated, and how many died in it.
    pub changes: Vec<(usize, [Amount; 2])>,
}

/// Of which whole samples say that something is a part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The number of the whole.
    pub source: u32,
    /// What is known of the part.
    pub part: Known,
}

/// What samples say of a whole, or of a part of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// How many there are.
    pub samples: u64,
    /// What they stand for.
    pub weight: f64,
    /// The standard error of that, squared.
    pub variance: f64,
}

impl AllocationReport {
    /// The place in the program that a frame is at.
    pub fn frame(&self, number: usize) -> Location<'_> {
        self.symbols.location(SiteIndex::of_rank(number))
    }

    /// All pieces, of which no two have everything in common. `slices`: how many there are of time.
    pub fn entries(&self, names: &SiteNames, slices: usize) -> impl Iterator<Item = Entry<'_>> {
        let in_steps = self.is_in_steps();
        self.parts(|_| true).map(move |part| {
            let (sites, _) = self.sites(part.cell, part.stack);
            let (objects, bytes) = (part.cell.totals.live() as f64, part.cell.totals.live_bytes() as f64);
            let ratio = part.ratio();
            let recorder = self.recorder.as_ref();
            Entry {
                frames: sites.iter().map(|site| site.rank()).collect(),
                named: names.site(part.cell.site, part.stack).map(SiteIndex::rank),
                class: self.class(part.cell.class),
                thread: part.thread.map(|thread| self.thread(thread)),
                allocated: [part.objects(), part.bytes()],
                live: [objects * ratio, bytes * ratio],
                estimate: self.share(&part).map(|(source, part)| Estimate {
                    source: source.0,
                    part: Known { samples: part.samples, weight: part.weight, variance: part.variance },
                }),
                changes: recorder.map_or_else(Vec::new, |recorder| recorder.changes(in_steps, &part, slices)),
            }
        })
    }

    /// What a whole weighs of which samples say the parts, whether that is exact, and what is known of it.
    pub fn source(&self, number: u32) -> Option<(f64, bool, Known)> {
        let Source { weight, whole, is_exact } = self.whole(SourceIndex(number))?;
        Some((weight, is_exact, Known { samples: whole.samples, weight: whole.weight, variance: whole.variance }))
    }
}
