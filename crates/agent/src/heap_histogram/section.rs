//! Writes how many objects of each class live.

use trace::model::{LiveCount, Record};
use trace::time::Time;

use super::{ClassTotals, HeapHistogram};
use agent_base::clock::Ticks;
use agent_base::ids::ClassIndex;
use agent_trace::{Document, Section};

/// Writes what lived at the end.
pub(super) struct HistogramSection(pub(super) &'static HeapHistogram);

impl Section for HistogramSection {
    fn sums(&mut self, document: &mut Document, _time: Time) {
        if let Some((ticks, found)) = self.0.take_found() {
            write(document, found, ticks);
        }
    }
}

/// Writes what a walk of the heap found.
pub(crate) fn write(document: &mut Document, found: impl IntoIterator<Item = (ClassIndex, ClassTotals)>, ticks: Ticks) {
    let time = document.time(ticks);
    for (class, ClassTotals { instances, bytes }) in found {
        document.define_class(class);
        let Some(record) = document.core.jvm.classes.get(class) else { continue };
        let element = LiveCount { is_array: record.array, class: record.id, instances, bytes, time };
        document.emit(|out| element.write(out));
    }
}
