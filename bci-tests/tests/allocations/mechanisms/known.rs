//! What is known not to be exact, with its reason: the same table as in `docs/accuracy.md`.

use std::ops::RangeInclusive;

use bci_tests::profiled::Heap;

use super::measure::Phase;

/// A mechanism that a mode of `heap` does not see as it is.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) heap: Heap,
    /// Name of the mechanism.
    pub(super) mechanism: &'static str,
    /// None stands for all.
    pub(super) phases: &'static [Phase],
    /// Feature releases of Java.
    pub(super) jdks: RangeInclusive<u32>,
    /// Percent of the instances or bytes that are seen, of each thing that is not exact.
    pub(super) percent: RangeInclusive<f64>,
    /// It is less than what is allowed for, unless `MARTINI_LONG` is set.
    pub(super) is_small: bool,
    /// Why.
    pub(super) why: &'static str,
}

/// All of them.
pub(super) const KNOWN: &[Known] = &[
    by_the_vm("Faults.nullPointers", 92.0..=96.0, "the exception and its message; the backtrace is counted"),
    by_the_vm("Faults.indices", 83.0..=87.0, "the exception and its message; the backtrace is counted"),
    by_the_vm("Faults.divisions", 86.0..=90.0, "the exception and its message; the backtrace is counted"),
    by_the_vm("Faults.casts", 73.0..=77.0, "the exception and its message; the backtrace is counted"),
    by_the_vm("Faults.stores", 86.0..=90.0, "the exception and its message; the backtrace is counted"),
    by_the_vm("Faults.sizes", 87.0..=91.0, "the exception and its message; the backtrace is counted"),
    by_the_vm("Strings.constants", 79.0..=84.0, "the VM makes a string and its array for each constant"),
    unused("Serial.read", 106.0..=110.0),
    unused("Instances.throwing", 900.0..=1050.0),
    unused("NewArrays.notEscaping", 900.0..=1050.0),
    by_the_vm("Clones.methodHandles", 0.0..=10.0, "a method handle calls the native without naming it"),
    Known {
        jdks: 22..=99,
        ..by_the_vm(
            "Natives.enclosingMethods",
            84.0..=87.0,
            "the VM makes an array and strings; its event is not asked for",
        )
    },
    Known {
        heap: Heap::Events,
        jdks: 11..=16,
        is_small: true,
        ..by_the_vm("Strings.constants", 98.0..=99.9, "the VM makes them in buffers that it has lost sight of")
    },
];

/// Objects that `heap=counts`, unless said otherwise, has no site for.
const fn by_the_vm(mechanism: &'static str, percent: RangeInclusive<f64>, why: &'static str) -> Known {
    Known { heap: Heap::Counts, mechanism, phases: &[], jdks: 11..=99, percent, is_small: false, why }
}

/// Objects that C2 removes even without escape analysis, since nobody uses them: executed, never allocated.
const fn unused(mechanism: &'static str, percent: RangeInclusive<f64>) -> Known {
    Known {
        phases: &[Phase::C2WithoutEscapeAnalysis],
        jdks: 17..=99,
        ..by_the_vm(mechanism, percent, "C2 removes objects that nobody uses")
    }
}
