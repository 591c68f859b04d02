//! How many objects of each class there are, how large they are, and what they retain.

use rustc_hash::FxHashMap;

use super::{Dominators, Graph, Step};
use crate::ages::AgeSpread;

/// The objects of one class name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassRow {
    /// The name; classes of several loaders may share it.
    pub class: String,
    /// Objects, reachable or not.
    pub instances: u64,
    /// Their own bytes.
    pub shallow: u64,
    /// Bytes that would die with them at least: what each retains, those that another of the class retains not counted again.
    pub retained: u64,
    /// Objects that no root leads to, counted in `instances`.
    pub unreachable: u64,
    /// Ages of the objects whose age is in the dump.
    pub ages: AgeSpread,
}

/// One row for each class name, in no particular order.
pub fn histogram(graph: &Graph, dominators: &Dominators) -> Vec<ClassRow> {
    let mut row_of: FxHashMap<&str, usize> = FxHashMap::default();
    let mut rows: Vec<ClassRow> = Vec::new();
    let rows_of_classes: Vec<usize> = graph
        .classes()
        .iter()
        .map(|class| {
            *row_of.entry(&class.name).or_insert_with(|| {
                rows.push(ClassRow { class: class.name.clone(), ..ClassRow::default() });
                rows.len() - 1
            })
        })
        .collect();
    for object in graph.objects() {
        let row = &mut rows[rows_of_classes[graph.class_of(object).at()]];
        row.instances += 1;
        row.shallow = row.shallow.saturating_add(graph.shallow(object));
        row.unreachable += u64::from(!dominators.is_reachable(object));
        if let Some(age) = graph.age(object) {
            row.ages.push(age);
        }
    }
    // How many objects of each row dominate the place where the walk is.
    let mut above = vec![0_u32; rows.len()];
    dominators.walk(|object, step| {
        let at = rows_of_classes[graph.class_of(object).at()];
        match step {
            Step::Enter => {
                if above[at] == 0 {
                    rows[at].retained = rows[at].retained.saturating_add(dominators.retained(object));
                }
                above[at] += 1;
            }
            Step::Leave => above[at] -= 1,
        }
    });
    rows.retain(|row| row.instances > 0);
    rows
}

/// What changed from one dump to another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The class name.
    pub class: String,
    /// The numbers of the first dump.
    pub before: ClassRow,
    /// The numbers of the second dump.
    pub after: ClassRow,
}

/// The classes of two dumps, side by side, in no particular order; those that did not change are left out.
pub fn difference(before: Vec<ClassRow>, after: Vec<ClassRow>) -> Vec<Change> {
    let mut changes: FxHashMap<String, Change> = FxHashMap::default();
    for row in before {
        let change = changes.entry(row.class.clone()).or_default();
        change.before = row;
    }
    for row in after {
        let change = changes.entry(row.class.clone()).or_default();
        change.after = row;
    }
    let named = changes.into_iter().map(|(class, change)| Change { class, ..change });
    let numbers = |row: &ClassRow| (row.instances, row.shallow, row.retained);
    named.filter(|change| numbers(&change.before) != numbers(&change.after)).collect()
}
