//! Where the objects of a dump were allocated, if the dump has sites: by class and by the responsible line.

use rustc_hash::FxHashMap;

use super::{ClassIndex, Dominators, Graph, ObjectIndex};
use crate::ages::AgeSpread;
use crate::own_code::is_jdk;

/// The objects of one class name from one line.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteRow {
    /// The class.
    pub class: String,
    /// The frames of the commonest stack, innermost first; empty where the dump has none.
    pub frames: Vec<String>,
    /// Which of them names the row: the innermost that is not the JDK's, or the innermost.
    pub named_by: usize,
    /// Objects, reachable or not.
    pub instances: u64,
    /// Their own bytes.
    pub shallow: u64,
    /// Objects that no root leads to, counted in `instances`.
    pub unreachable: u64,
    /// Ages of the objects whose age is in the dump.
    pub ages: AgeSpread,
}

/// The frame that is responsible for what a stack allocates: the innermost outside the JDK and outside its classes for lambdas,
/// as a position in the stack.
pub fn own_frame(frames: &[String]) -> usize {
    frames.iter().position(|frame| !is_jdk(frame) && !frame.contains("$$Lambda")).unwrap_or(0)
}

/// Objects of one class and one stack.
#[derive(Default)]
struct Group {
    instances: u64,
    shallow: u64,
    unreachable: u64,
    ages: AgeSpread,
}

/// One row for each class and line of some objects, in no particular order; without rows if the dump has no sites.
pub fn sites(graph: &Graph, dominators: &Dominators, objects: impl Iterator<Item = ObjectIndex>) -> Vec<SiteRow> {
    if graph.origins.site_of.is_empty() {
        return Vec::new();
    }
    let mut groups: FxHashMap<(ClassIndex, u32), Group> = FxHashMap::default();
    for object in objects {
        let site = graph.origins.site_of[object.at()];
        let group = groups.entry((graph.class_of(object), site)).or_default();
        group.instances += 1;
        group.shallow = group.shallow.saturating_add(graph.shallow(object));
        group.unreachable += u64::from(!dominators.is_reachable(object));
        if let Some(age) = graph.age(object) {
            group.ages.push(age);
        }
    }
    // Of stacks that meet in one line, the commonest first: it gives the row its frames.
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_unstable_by_key(|(key, group)| (std::cmp::Reverse(group.instances), *key));
    let mut row_of: FxHashMap<(&str, &str), usize> = FxHashMap::default();
    let mut rows: Vec<SiteRow> = Vec::new();
    for ((class, site), group) in groups {
        let class = &graph.class(class).name;
        let frames = site.checked_sub(1).and_then(|site| graph.sites().get(site as usize)).map_or(&[][..], |f| f);
        let named_by = own_frame(frames);
        let line = frames.get(named_by).map_or("", String::as_str);
        let at = *row_of.entry((class, line)).or_insert_with(|| {
            rows.push(SiteRow {
                class: class.clone(),
                frames: frames.to_vec(),
                named_by,
                instances: 0,
                shallow: 0,
                unreachable: 0,
                ages: AgeSpread::default(),
            });
            rows.len() - 1
        });
        let row = &mut rows[at];
        row.instances += group.instances;
        row.shallow = row.shallow.saturating_add(group.shallow);
        row.unreachable += group.unreachable;
        row.ages.add(&group.ages);
    }
    rows
}

/// How old objects are; `None` if the dump has no age of any of them.
pub fn ages(graph: &Graph, objects: impl Iterator<Item = ObjectIndex>) -> Option<AgeSpread> {
    let spread: AgeSpread = objects.filter_map(|object| graph.age(object)).collect();
    spread.average().is_some().then_some(spread)
}
