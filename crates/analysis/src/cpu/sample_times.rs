//! When samples were taken: in slots that become wider when there are too many of them.

use rustc_hash::FxHashMap;
use trace::time::Nanos;

use super::samples::CellKey;

/// As wide is a slot at first: a fiftieth of a second.
const FIRST_WIDTH: u64 = 20_000_000;
/// More are too many to draw.
const MOST: usize = 200_000;

/// Samples that have everything in common, of one slot of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotSamples {
    /// The number of the slot.
    pub slot: u64,
    /// The number of what they have in common; of [`CpuReport::entries`](super::CpuReport::entries).
    pub entry: u32,
    /// How many there are.
    pub samples: u64,
    /// For how long they stand.
    pub time: Nanos,
}

/// All slots.
#[derive(Clone, Debug)]
pub(super) struct SampleTimes {
    width: u64,
    most: usize,
    cells: FxHashMap<CellKey, u32>,
    moments: Vec<SlotSamples>,
}

impl Default for SampleTimes {
    fn default() -> Self {
        SampleTimes { width: FIRST_WIDTH, most: MOST, cells: FxHashMap::default(), moments: Vec::new() }
    }
}

impl SampleTimes {
    pub(super) fn add(&mut self, key: CellKey, since: Nanos, time: Nanos) {
        let new = self.cells.len() as u32;
        let entry = *self.cells.entry(key).or_insert(new);
        let slot = since.0 / self.width;
        match self.moments.last_mut() {
            Some(last) if last.entry == entry && last.slot == slot => {
                last.samples += 1;
                last.time = Nanos(last.time.0.saturating_add(time.0));
            }
            _ => self.moments.push(SlotSamples { slot, entry, samples: 1, time }),
        }
        if self.moments.len() > self.most {
            self.make_room();
        }
    }

    /// Makes slots wider until only half as many are taken, or all is one slot.
    fn make_room(&mut self) {
        while self.moments.len() > MOST / 2 && self.moments.iter().any(|moment| moment.slot > 0) {
            self.width = self.width.saturating_mul(2);
            self.moments.iter_mut().for_each(|moment| moment.slot /= 2);
            join(&mut self.moments);
        }
        self.most = MOST.max(self.moments.len() * 2);
    }

    /// The width of a slot, and what is in each, in the order of time. `number` of each kind of samples.
    pub(super) fn of(&self, number: impl Fn(&CellKey) -> Option<u32>) -> (Nanos, Vec<SlotSamples>) {
        let mut numbers = vec![None; self.cells.len()];
        self.cells.iter().for_each(|(key, &cell)| numbers[cell as usize] = number(key));
        let known = self
            .moments
            .iter()
            .filter_map(|moment| Some(SlotSamples { entry: numbers[moment.entry as usize]?, ..*moment }));
        let mut moments: Vec<SlotSamples> = known.collect();
        join(&mut moments);
        (Nanos(self.width), moments)
    }
}

/// Makes one of those of the same slot that have everything in common.
fn join(moments: &mut Vec<SlotSamples>) {
    moments.sort_unstable_by_key(|moment| (moment.slot, moment.entry));
    moments.dedup_by(|next, sum| {
        let is_same = (next.slot, next.entry) == (sum.slot, sum.entry);
        if is_same {
            sum.samples += next.samples;
            sum.time = Nanos(sum.time.0.saturating_add(next.time.0));
        }
        is_same
    });
}

#[cfg(test)]
mod tests {
    use trace::ids::ThreadId;

    use super::*;
    use crate::symbols::Symbols;

    #[test]
    fn slots_become_wider_and_no_sample_is_lost() {
        let mut symbols = Symbols::default();
        let mut key = |thread| CellKey {
            thread: symbols.thread(ThreadId(thread)),
            virtual_thread: None,
            stack: None,
            function: None,
            is_kernel: false,
            lost: None,
            state: None,
        };
        let keys = [key(1), key(2)];
        let mut moments = SampleTimes::default();
        for number in 0..300_000_u64 {
            moments.add(keys[(number % 2) as usize], Nanos(number * 10_000_000), Nanos(5));
        }
        let (width, found) = moments.of(|key| keys.iter().position(|known| known == key).map(|at| at as u32));
        assert!(found.len() <= MOST && width.0 > FIRST_WIDTH && width.0.is_multiple_of(FIRST_WIDTH));
        assert_eq!(found.iter().map(|moment| moment.samples).sum::<u64>(), 300_000);
        assert_eq!(found.iter().map(|moment| moment.time.0).sum::<u64>(), 1_500_000);
        assert!(found.windows(2).all(|pair| (pair[0].slot, pair[0].entry) < (pair[1].slot, pair[1].entry)));
        assert_eq!(found.last().map(|moment| moment.slot), Some(299_999 * 10_000_000 / width.0));
    }
}
