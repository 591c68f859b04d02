//! What counters add up to.

use std::ops::AddAssign;

use super::counters::{CounterKind, Counters};
use super::ids::CounterIndex;
use agent_base::ids::AllocationSite;
use agent_core::core::Core;

/// What was allocated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) instances: u64,
    pub(crate) bytes: u64,
}

impl Totals {
    /// Nothing in place of less than nothing: while the program runs, what is subtracted may be read before what it is subtracted from.
    pub(super) fn not_negative(self) -> Totals {
        let not_negative = |sum: u64| if sum > u64::MAX / 2 { 0 } else { sum };
        Totals { instances: not_negative(self.instances), bytes: not_negative(self.bytes) }
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Totals) {
        // What was counted twice is subtracted by adding its complement.
        self.instances = self.instances.wrapping_add(other.instances);
        self.bytes = self.bytes.wrapping_add(other.bytes);
    }
}

/// The instances and bytes that a counter of that value stands for, and where they were made, if that is known.
pub(super) fn meaning(
    core: &Core,
    counters: &Counters,
    counter: CounterIndex,
    value: u64,
) -> (Totals, Option<AllocationSite>) {
    // Arrays have their bytes in a counter of their own, behind the one that is resolved.
    let Some(kind) = counters.get(counter).map(|record| record.kind) else { return Default::default() };
    let resolved = counters.of_objects(counter).and_then(|(_, record)| record.resolved.get());
    if matches!(resolved, Some(None)) {
        return Default::default();
    }
    let Some((resolved, class)) = resolved.and_then(|r| Some(((*r)?, core.jvm.classes.get((*r)?.class)?))) else {
        return (Totals { instances: if kind == CounterKind::Bytes { 0 } else { value }, bytes: 0 }, None);
    };
    let totals = match kind {
        // One level of an array of arrays.
        _ if !core.includes(resolved.class) => Totals::default(),
        CounterKind::Bytes => Totals { instances: 0, bytes: value },
        CounterKind::Subtracted => Totals { instances: value.wrapping_neg(), bytes: 0 },
        CounterKind::SubtractedBytes => Totals { instances: 0, bytes: value.wrapping_neg() },
        CounterKind::Backtraces(_) | CounterKind::VmObjects => Totals { instances: value, bytes: 0 },
        _ if class.array.is_array() => Totals { instances: value, bytes: 0 },
        _ => Totals { instances: value, bytes: value * class.instance_bytes() },
    };
    (totals, Some(resolved))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_subtracted_too_early_leaves_nothing() {
        let mut totals = Totals { instances: 1, bytes: 72 };
        totals += Totals { instances: 2u64.wrapping_neg(), bytes: 144u64.wrapping_neg() };
        assert_eq!(totals.not_negative(), Totals::default());
        totals += Totals { instances: 3, bytes: 216 };
        assert_eq!(totals.not_negative(), Totals { instances: 2, bytes: 144 });
    }
}
