//! How the program's code ran: interpreted, or compiled by whom. From CPU samples, so estimates.

use std::collections::BTreeMap;

use trace::model::{FrameType, FrameTypes};
use trace::time::Nanos;

use super::Span;

/// How the innermost frame ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CodeKind {
    Interpreted,
    C1,
    C2,
    /// A native method, or a function on top of the frames of Java.
    Native,
}

impl CodeKind {
    /// Of a stack's frames.
    pub(crate) fn of_stack(FrameTypes(types): &FrameTypes<'_>) -> CodeKind {
        // An inlined frame runs as the one into which it is inlined.
        let ran = types.iter().find(|&&found| found != FrameType::Inlined);
        ran.map_or(CodeKind::Native, |&found| CodeKind::of(found))
    }

    fn of(frame: FrameType) -> CodeKind {
        match frame {
            FrameType::Interpreted => CodeKind::Interpreted,
            FrameType::C1(_) => CodeKind::C1,
            FrameType::C2 => CodeKind::C2,
            FrameType::Native | FrameType::Inlined => CodeKind::Native,
        }
    }
}

/// CPU time of the threads that run Java, by how their code ran. Of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeShares {
    /// Number of samples.
    pub samples: u64,
    /// By the interpreter.
    pub interpreted: Nanos,
    /// Code of C1.
    pub c1: Nanos,
    /// Code of C2.
    pub c2: Nanos,
    /// Native methods and functions, the JVM's own included.
    pub native: Nanos,
}

impl CodeShares {
    fn add(&mut self, kind: CodeKind, time: Nanos) {
        self.samples += 1;
        let sum = match kind {
            CodeKind::Interpreted => &mut self.interpreted,
            CodeKind::C1 => &mut self.c1,
            CodeKind::C2 => &mut self.c2,
            CodeKind::Native => &mut self.native,
        };
        sum.0 = sum.0.saturating_add(time.0);
    }

    fn merge(&mut self, other: &CodeShares) {
        self.samples += other.samples;
        for (sum, more) in [
            (&mut self.interpreted, other.interpreted),
            (&mut self.c1, other.c1),
            (&mut self.c2, other.c2),
            (&mut self.native, other.native),
        ] {
            sum.0 = sum.0.saturating_add(more.0);
        }
    }

    /// All of it.
    pub fn all(&self) -> Nanos {
        Nanos([self.interpreted, self.c1, self.c2, self.native].iter().fold(0, |sum, part| sum.saturating_add(part.0)))
    }
}

/// Samples of so much time are added up.
const SLICE: u64 = 10_000_000;
/// So many slices are kept; later samples are left out.
const MOST_SLICES: usize = 1 << 20;

/// Samples over time.
#[derive(Clone, Debug, Default)]
pub(super) struct CodeTimes(BTreeMap<u64, CodeShares>);

impl CodeTimes {
    pub(super) fn add(&mut self, at: Nanos, kind: CodeKind, time: Nanos) {
        let slice = at.0 / SLICE;
        if self.0.len() < MOST_SLICES || self.0.contains_key(&slice) {
            self.0.entry(slice).or_default().add(kind, time);
        }
    }

    /// Those of a part of the time.
    pub(super) fn within(&self, span: Span) -> CodeShares {
        let mut sums = CodeShares::default();
        let (first, end) = (span.from.0.div_ceil(SLICE), span.until.0.div_ceil(SLICE));
        self.0.range(first..end.max(first)).for_each(|(_, shares)| sums.merge(shares));
        sums
    }
}
