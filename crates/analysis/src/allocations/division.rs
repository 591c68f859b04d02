//! How samples divide what a site executes among those who call it.
//!
//! What a site executes is counted; samples are of what was allocated, which may be less: the JIT removes objects. Where the samples stand
//! for so much less that it is not chance, each caller has what its own samples stand for, and the rest is a part of its own. Otherwise
//! all is divided among the callers; then each has up to as much more as could be missed, which its error says. A caller of which the JIT
//! removes all has no sample: it is in the rest.

use super::samples::Sampled;
use super::totals::ObjectTotals;
use crate::call_tree::{Source, SourceKind, Spread};

/// Standard errors by which samples stand for less than was executed where that is not chance. With two, one site of forty would seem to
/// have something removed where nothing is.
const NO_CHANCE: f64 = 3.0;

/// What of a site one stack and thread have, or the JIT has removed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    pub(super) objects: f64,
    pub(super) bytes: f64,
    /// Which part of the samples it has, from 0 to 1: of their objects, and of their bytes.
    pub(super) ratios: [f64; 2],
    /// What samples say of it: of what the JIT removed, what the site has less all samples.
    pub(super) spread: Spread,
    /// The JIT removed it.
    pub(super) is_removed: bool,
    /// The JIT removed some of the site.
    pub(super) is_rest_removed: bool,
}

/// A sample stands for one object at least, unless the trace is hostile.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

impl Share {
    /// What it has of a slice of time, in which so much was counted at the site and samples stand for so much: its own, and all.
    pub(super) fn of_slice(&self, counted: [f64; 2], own: [f64; 2], all: [f64; 2]) -> [f64; 2] {
        [0, 1].map(|at| match () {
            () if self.is_removed => {
                if self.is_rest_removed {
                    (counted[at] - all[at]).max(0.0)
                } else {
                    0.0
                }
            }
            () if self.is_rest_removed => counted[at] * ratio(own[at], all[at].max(counted[at])),
            () if all[1] > 0.0 => counted[at] * ratio(own[at], all[at]),
            () => counted[at] * self.ratios[at],
        })
    }
}

/// How the numbers of a site are divided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Division {
    /// The site: its bytes, and all its samples.
    pub(super) source: Source,
    whole: Sampled,
    /// What a byte and an object of the samples stand for.
    scale: [f64; 2],
    /// Objects and bytes that the JIT removed.
    removed: [f64; 2],
}

impl Division {
    /// Divides a site of which samples say the whole. `is_outside`: they are not of the part of the trace that counts, and say nothing of
    /// what was allocated in it.
    pub(super) fn of(totals: &ObjectTotals, whole: &Sampled, is_outside: bool) -> Division {
        let [objects, bytes] = [totals.total() as f64, totals.total_bytes() as f64];
        let kind = match is_outside || totals.is_known_allocated() {
            true => SourceKind::Exact,
            false => SourceKind::Executed,
        };
        let source = Source { weight: bytes, whole: whole.bytes, kind, most_removed: f64::INFINITY };
        let all = [ratio(objects, whole.instances), ratio(bytes, whole.bytes.weight)];
        let allocated = totals.estimated_bytes().map_or(bytes, |estimated| (estimated as f64).min(bytes));
        // If nothing is removed, there are as many samples as fit what was executed.
        let expected = whole.bytes.variance * all[1].max(1.0);
        if kind == SourceKind::Exact || bytes - allocated <= NO_CHANCE * expected.sqrt() {
            return Division { source, whole: *whole, scale: all, removed: [0.0; 2] };
        }
        let scale = [all[0].min(1.0), ratio(allocated, whole.bytes.weight)];
        let removed = [(objects - whole.instances * scale[0]).max(0.0), bytes - allocated];
        Division { source: Source { kind: SourceKind::Kept, ..source }, whole: *whole, scale, removed }
    }

    /// Whether the JIT removed more than chance explains.
    pub(super) fn has_removed(&self) -> bool {
        self.source.kind == SourceKind::Kept
    }

    /// How many bytes it removed, if that is more than chance explains.
    pub(super) fn removed_bytes(&self) -> f64 {
        self.removed[1]
    }

    /// What a part of the samples stands for.
    pub(super) fn share(&self, part: &Sampled) -> Share {
        Share {
            objects: part.instances * self.scale[0],
            bytes: part.bytes.weight * self.scale[1],
            ratios: [ratio(part.instances, self.whole.instances), ratio(part.bytes.weight, self.whole.bytes.weight)],
            spread: part.bytes,
            is_removed: false,
            is_rest_removed: self.has_removed(),
        }
    }

    /// What the JIT removed, which is nothing unless there is much of it; `None` where it can remove nothing.
    pub(super) fn removed(&self) -> Option<Share> {
        let Source { weight, whole, kind, .. } = self.source;
        (kind != SourceKind::Exact).then_some(Share {
            objects: self.removed[0],
            bytes: self.removed[1],
            ratios: [0.0; 2],
            spread: Spread { samples: 0, weight: weight - whole.weight, variance: -whole.variance },
            is_removed: true,
            is_rest_removed: self.has_removed(),
        })
    }
}
