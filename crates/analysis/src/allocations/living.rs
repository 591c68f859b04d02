//! Which of the sampled objects live (`liveSample`), as the last look of each document found.

use rustc_hash::FxHashMap;
use trace::model::LiveSample;
use trace::time::Time;

use super::amount::scaled;
use super::live::CellIndex;
use crate::ages::AgeSpread;

/// What the sampled objects of a cell stand for that live.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Living {
    pub(super) samples: u64,
    pub(super) objects: u64,
    pub(super) bytes: u64,
    /// Of those that have survived a collection.
    pub(super) survived_bytes: u64,
    /// The standard error of `bytes`, squared.
    pub(super) variance: f64,
    /// One for each sample.
    pub(super) ages: AgeSpread,
}

impl Living {
    fn add_sample(&mut self, sample: &LiveSample) {
        let age = u32::try_from(sample.age).unwrap_or(u32::MAX);
        self.samples = self.samples.saturating_add(sample.samples);
        self.objects = self.objects.saturating_add(sample.instances);
        self.bytes = self.bytes.saturating_add(sample.bytes);
        if age > 0 {
            self.survived_bytes = self.survived_bytes.saturating_add(sample.bytes);
        }
        self.variance += (sample.error as f64).powi(2);
        self.ages.push_some(age, sample.samples);
    }
}

/// What lives of all cells.
#[derive(Clone, Debug, Default)]
pub(super) struct LiveSamples {
    /// What the last look of the document found, and when that was.
    document: FxHashMap<CellIndex, Living>,
    looked: Option<Time>,
    /// Of the documents that ended.
    found: FxHashMap<CellIndex, Living>,
}

impl LiveSamples {
    /// Takes in a part of a look. A later one replaces what an earlier one found.
    pub(super) fn look(&mut self, cell: CellIndex, sample: &LiveSample) {
        if self.looked != Some(sample.time) {
            if self.looked.is_some_and(|looked| looked > sample.time) {
                return;
            }
            self.document.clear();
            self.looked = Some(sample.time);
        }
        self.document.entry(cell).or_default().add_sample(sample);
    }

    /// Multiplies what samples stand for, as what was allocated is: what lives is a part of that.
    pub(super) fn scale(&mut self, scale: impl Fn(CellIndex) -> f64) {
        for (&cell, living) in &mut self.found {
            let scale = scale(cell);
            for number in [&mut living.objects, &mut living.bytes, &mut living.survived_bytes] {
                *number = scaled(*number, scale);
            }
            living.variance *= scale * scale;
        }
    }

    /// The next document has looks of its own.
    pub(super) fn end_document(&mut self) {
        self.looked = None;
        for (cell, living) in self.document.drain() {
            self.found.insert(cell, living);
        }
    }

    /// What lives of each cell.
    pub(super) fn iter(&self) -> impl Iterator<Item = (CellIndex, &Living)> {
        self.found.iter().map(|(&cell, living)| (cell, living))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }
}
