//! What all stops have cost so far, by the VM's operation.

use std::collections::BTreeMap;

use trace::time::Nanos;

use super::line::Stop;

/// Stops of one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct StopTotals {
    pub(crate) count: u64,
    /// How long it took until all threads had stopped.
    pub(crate) sync: Nanos,
    /// How long it took until all might continue.
    pub(crate) total: Nanos,
}

/// The VM has some hundred operations. What is beyond that is counted for none.
const MOST_OPERATIONS: usize = 500;

/// By the VM's name of the operation; `None` for those that are too many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals(pub(crate) BTreeMap<Option<String>, StopTotals>);

impl Totals {
    pub(super) fn add(&mut self, stop: &Stop) {
        let is_known = self.0.contains_key(&Some(stop.operation.clone())) || self.0.len() < MOST_OPERATIONS;
        let totals = self.0.entry(is_known.then(|| stop.operation.clone())).or_default();
        totals.count += 1;
        totals.sync.0 = totals.sync.0.saturating_add(stop.sync.0);
        totals.total.0 = totals.total.0.saturating_add(stop.total.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_base::clock::Ticks;

    #[test]
    fn names_are_bounded_and_nothing_is_left_out() {
        let mut totals = Totals::default();
        for number in 0..2 * MOST_OPERATIONS as u64 {
            let operation = format!("Operation{}", number % 600);
            totals.add(&Stop { operation, begin: Ticks(0), sync: Nanos(1), total: Nanos(3) });
        }
        assert_eq!(totals.0.len(), MOST_OPERATIONS + 1);
        assert_eq!(totals.0.values().map(|totals| totals.count).sum::<u64>(), 2 * MOST_OPERATIONS as u64);
        let operation = &totals.0[&Some("Operation7".to_owned())];
        assert_eq!(*operation, StopTotals { count: 2, sync: Nanos(2), total: Nanos(6) });
    }
}
