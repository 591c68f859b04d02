//! What keeps the objects of a class alive, in short: for findings.

use std::collections::HashMap;
use std::path::Path;

use analysis::heap_dump::contents::Wanted;
use analysis::heap_dump::{Excluded, ObjectIndex};

use super::Arguments;
use super::names::{Names, want_path};
use super::source::Source;
use crate::render::human::counted;

/// Instances whose paths are looked at, spread over all.
const LOOKED_AT: usize = 16;

/// What holds the objects of the first of these classes that is in a dump, as a sentence: the path to them that most of those have in
/// common which were looked at. `None` if nothing holds any.
///
/// # Errors
/// The dump cannot be read.
pub(crate) fn held<'c>(path: &Path, mut classes: impl Iterator<Item = &'c str>) -> anyhow::Result<Option<String>> {
    let source = Source::open(&Arguments::default(), path)?;
    let Some(heap) = &source.heap else { return Ok(None) };
    let graph = heap.graph();
    let instances = classes.find_map(|class| {
        let found: Vec<ObjectIndex> = graph.objects().filter(|&object| graph.class_name(object) == class).collect();
        (!found.is_empty()).then_some(found)
    });
    let instances = instances.unwrap_or_default();
    let looked_at = instances.iter().step_by(instances.len().div_ceil(LOOKED_AT).max(1));
    let paths: Vec<Vec<ObjectIndex>> =
        looked_at.filter_map(|&object| graph.paths(object, Excluded::WEAK, 1).pop()).collect();
    let mut roots: HashMap<ObjectIndex, usize> = HashMap::new();
    for path in &paths {
        *roots.entry(path[0]).or_default() += 1;
    }
    // Of roots that hold as many, the first.
    let Some(path) = paths.iter().rev().max_by_key(|path| roots[&path[0]]) else { return Ok(None) };
    let mut wanted = Wanted::default();
    want_path(heap, &mut wanted, path);
    let names = Names { heap, described: heap.describe(&wanted)? };
    let steps: Vec<String> =
        names.path(path).iter().map(|step| step.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let whole = counted(paths.len() as u64, "object", "objects");
    Ok(Some(format!("held by ({} of {whole} looked at) {}", roots[&path[0]], steps.join(" > "))))
}
