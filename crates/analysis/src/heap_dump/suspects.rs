//! Where memory accumulates: objects that retain much, spread over many small objects.
//!
//! From the top of the dominator tree every large object is followed down through its large children. What an object retains
//! beside them accumulates in itself. The objects in which most accumulates are the suspects. A linked list, in which each entry
//! retains the next, is one accumulation point, not many.

use rustc_hash::FxHashMap;

use super::{ClassIndex, Dominators, Graph, ObjectIndex, RootKind, ages, own_frame};
use crate::ages::AgeSpread;

/// An accumulation point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspect {
    /// What holds it alone; `None` where it is only the class that the objects have in common.
    pub holder: Option<ObjectIndex>,
    /// Bytes that accumulate there.
    pub bytes: u64,
    /// What accumulates, by class, the largest part first.
    pub parts: Vec<Part>,
}

/// Objects of one class that accumulate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The class.
    pub class: ClassIndex,
    /// How many objects.
    pub objects: u64,
    /// Bytes that they retain.
    pub bytes: u64,
    /// The largest of them.
    pub example: ObjectIndex,
    /// What most of that one's bytes are in: its largest dominated object, that one's, and so on.
    pub inside: Vec<ObjectIndex>,
    /// The commonest stack of the line that allocated most of them, a number in [`Origins::sites`](super::Origins::sites) from 1, and
    /// how many are from that line; `None` if the dump has no sites.
    pub site: Option<(u32, u64)>,
    /// How old they are; `None` if the dump has no ages.
    pub ages: Option<AgeSpread>,
}

/// Parts of an accumulation point that are listed.
const PARTS: usize = 3;

/// How many classes up a chain are compared: entries and what lies between them.
const PERIOD: usize = 4;

/// The classes of the next objects up the tree, with the heads of their chains.
type Above = [Option<(ClassIndex, ObjectIndex)>; PERIOD];

/// The accumulation points of at least a share of all reachable bytes, the largest first.
pub fn suspects(graph: &Graph, dominators: &Dominators, share: f64, most: usize) -> Vec<Suspect> {
    let total: u64 = dominators.tops().map(|top| dominators.retained(top)).fold(0, u64::saturating_add);
    let least = ((total as f64 * share) as u64).max(1);
    let is_large = |object: ObjectIndex| dominators.retained(object) >= least;

    // The large objects that belong to each accumulation point.
    let mut members_of: FxHashMap<ObjectIndex, Vec<ObjectIndex>> = FxHashMap::default();
    let mut bytes: FxHashMap<ObjectIndex, u64> = FxHashMap::default();
    let mut open: Vec<(ObjectIndex, Above)> = Vec::new();
    open.extend(dominators.tops().filter(|&top| is_large(top)).map(|top| (top, [None; PERIOD])));
    while let Some((object, mut above)) = open.pop() {
        let class = graph.class_of(object);
        let same = above.iter().flatten().find(|(other, _)| *other == class && !is_shared(graph, class));
        let head = same.map_or(object, |&(_, head)| head);
        let children = dominators.dominated(object).iter().copied().filter(|&child| is_large(child));
        let below = children.clone().map(|child| dominators.retained(child)).fold(0, u64::saturating_add);
        *bytes.entry(head).or_default() += dominators.retained(object).saturating_sub(below);
        members_of.entry(head).or_default().push(object);
        above.rotate_right(1);
        above[0] = Some((class, head));
        open.extend(children.map(|child| (child, above)));
    }
    let mut ranked: Vec<(Option<ObjectIndex>, u64, Vec<ObjectIndex>)> = Vec::new();
    for (holder, bytes) in bytes {
        if bytes >= least {
            let members = members_of.remove(&holder).unwrap_or_default();
            ranked.push((Some(holder), bytes, members));
        }
    }
    ranked.extend(by_class(graph, dominators, least).into_iter().map(|(bytes, tops)| (None, bytes, tops)));
    ranked.sort_by_key(|&(holder, bytes, _)| (std::cmp::Reverse(bytes), holder));
    ranked.truncate(most);
    let suspect = |(holder, bytes, members): (Option<ObjectIndex>, u64, Vec<ObjectIndex>)| {
        let parts = match holder {
            Some(_) => {
                let small = |object: &ObjectIndex| {
                    dominators.dominated(*object).iter().copied().filter(|&child| !is_large(child))
                };
                parts(graph, dominators, members.iter().flat_map(small))
            }
            None => parts(graph, dominators, members.iter().copied()),
        };
        Suspect { holder, bytes, parts }
    };
    ranked.into_iter().map(suspect).collect()
}

/// Objects of such classes inside one another are no chain of entries.
fn is_shared(graph: &Graph, class: ClassIndex) -> bool {
    let name = &graph.class(class).name;
    name.ends_with("[]") || name.starts_with("java.util.") && !name.contains('$') || name == "java.lang.Class"
}

/// Objects that no single object dominates and that are many together, by class. Classes that the JVM itself keeps are always many.
fn by_class(graph: &Graph, dominators: &Dominators, least: u64) -> Vec<(u64, Vec<ObjectIndex>)> {
    let is_kept = |top: ObjectIndex| graph.roots_of(top).iter().any(|root| root.kind == RootKind::StickyClass);
    let mut sums: FxHashMap<ClassIndex, u64> = FxHashMap::default();
    let small = || dominators.tops().filter(|&top| dominators.retained(top) < least && !is_kept(top));
    for top in small() {
        let sum = sums.entry(graph.class_of(top)).or_default();
        *sum = sum.saturating_add(dominators.retained(top));
    }
    sums.retain(|_, sum| *sum >= least);
    let mut groups: FxHashMap<ClassIndex, Vec<ObjectIndex>> = FxHashMap::default();
    for top in small() {
        if sums.contains_key(&graph.class_of(top)) {
            groups.entry(graph.class_of(top)).or_default().push(top);
        }
    }
    groups.into_iter().map(|(class, tops)| (sums[&class], tops)).collect()
}

fn parts(graph: &Graph, dominators: &Dominators, objects: impl Iterator<Item = ObjectIndex>) -> Vec<Part> {
    let mut groups: FxHashMap<ClassIndex, Vec<ObjectIndex>> = FxHashMap::default();
    for object in objects {
        groups.entry(graph.class_of(object)).or_default().push(object);
    }
    let bytes_of = |objects: &[ObjectIndex]| {
        objects.iter().map(|&object| dominators.retained(object)).fold(0, u64::saturating_add)
    };
    let mut ranked: Vec<(u64, ClassIndex, Vec<ObjectIndex>)> =
        groups.into_iter().map(|(class, objects)| (bytes_of(&objects), class, objects)).collect();
    ranked.sort_by_key(|(bytes, class, _)| (std::cmp::Reverse(*bytes), *class));
    ranked.truncate(PARTS);
    let part = |(bytes, class, objects): (u64, ClassIndex, Vec<ObjectIndex>)| {
        let example =
            objects.iter().copied().max_by_key(|&object| (dominators.retained(object), std::cmp::Reverse(object)))?;
        Some(Part {
            class,
            objects: objects.len() as u64,
            bytes,
            example,
            inside: inside(dominators, example),
            site: commonest(graph, &objects),
            ages: ages(graph, objects.iter().copied()),
        })
    };
    ranked.into_iter().filter_map(part).collect()
}

/// The way down from an object to where most of its bytes are.
fn inside(dominators: &Dominators, object: ObjectIndex) -> Vec<ObjectIndex> {
    /// Enough for an entry, a wrapper, and what they are for.
    const DEEPEST: usize = 4;
    let largest = |object: &ObjectIndex| {
        let children = dominators.dominated(*object).iter().copied();
        let child = children.max_by_key(|&child| (dominators.retained(child), std::cmp::Reverse(child)))?;
        (dominators.retained(child) * 2 > dominators.retained(*object)).then_some(child)
    };
    std::iter::successors(largest(&object), largest).take(DEEPEST).collect()
}

/// The line that allocated most of some objects: its commonest stack, and how many are from that line.
fn commonest(graph: &Graph, objects: &[ObjectIndex]) -> Option<(u32, u64)> {
    let mut counts: FxHashMap<u32, u64> = FxHashMap::default();
    for site in objects.iter().filter_map(|object| graph.origins.site_of.get(object.at()).copied()) {
        *counts.entry(site).or_default() += 1;
    }
    let mut stacks: Vec<(u32, u64)> = counts.into_iter().filter(|&(site, _)| site > 0).collect();
    stacks.sort_unstable_by_key(|&(site, count)| (std::cmp::Reverse(count), site));
    // Of each line, its commonest stack comes first.
    let mut lines: FxHashMap<&str, (u32, u64)> = FxHashMap::default();
    for (site, count) in stacks {
        let Some(frames) = graph.sites().get(site as usize - 1).filter(|frames| !frames.is_empty()) else { continue };
        let line = frames.get(own_frame(frames)).map_or("", String::as_str);
        lines.entry(line).or_insert((site, 0)).1 += count;
    }
    lines.into_values().max_by_key(|&(site, count)| (count, std::cmp::Reverse(site)))
}
