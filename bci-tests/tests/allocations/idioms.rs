//! `heap=counts` lets the JIT remove the objects that it removes without the agent: the compiled code of common idioms allocates the
//! same bytes, by the JVM's own account of the thread.

use std::collections::BTreeMap;

use bci_tests::jdk::Jdk;
use bci_tests::profiled::{Heap, Profiled};
use bci_tests::suite::Suite;

pub(crate) fn tests(suite: &mut Suite) {
    suite.jdks(..).large().each(the_jit_removes_the_same_objects);
}

/// Idioms whose objects the JIT keeps under the agent, from one release to another: `docs/limits.md` says why.
const KEPT: &[(u32, u32, &[&str])] = &[
    (11, 25, &["string_builder", "string_buffer"]),
    (11, 11, &["object_in_object", "inner_class", "bound_reference", "composed_functions"]),
    (17, 17, &["array_of_arrays"]),
];
/// Pipelines of streams: whether they are inlined as a whole depends on what was compiled when, without the agent too.
const BY_CHANCE: &[&str] = &["int_stream", "stream_of_list", "stream_to_list", "gatherer", "string_builder_numbers"];

/// Bytes of one round of each idiom.
fn bytes(profiled: Profiled<'_>, words: &[&str]) -> BTreeMap<String, u64> {
    let out = profiled.main("idioms.Main").args(words).run().out();
    let parse = |line: &str| {
        let (name, bytes) = line.split_once(' ')?;
        Some((name.to_owned(), bytes.parse().ok()?))
    };
    out.lines().map(|line| parse(line).unwrap_or_else(|| panic!("{line:?}"))).collect()
}

fn the_jit_removes_the_same_objects(jdk: &Jdk) {
    let is_kept = |name: &str| {
        let here = |&&(first, last, names): &&(u32, u32, &[&str])| {
            (first..=last).contains(&jdk.feature) && names.contains(&name)
        };
        BY_CHANCE.contains(&name) || KEPT.iter().find(here).is_some()
    };
    let without = bytes(Profiled::on(jdk).without_agent(), &[]);
    assert!(without.len() >= 70, "only {} idioms", without.len());
    let with = bytes(Profiled::on(jdk).heap(Heap::Counts), &[]);
    let more = |with: &BTreeMap<String, u64>| {
        let more = with.iter().filter(|&(name, bytes)| !is_kept(name) && without.get(name).is_none_or(|w| bytes > w));
        more.map(|(name, bytes)| format!("{name}: {bytes} instead of {:?}", without.get(name))).collect::<Vec<_>>()
    };
    let suspects = more(&with);
    if suspects.is_empty() {
        return;
    }
    // Compiled again, each alone, with and without: what the JIT inlines depends on what it has compiled before.
    let names: Vec<&str> = suspects.iter().filter_map(|text| text.split(':').next()).collect();
    let attempts: Vec<_> = (0..3)
        .map(|_| {
            let alone = |profiled: Profiled<'_>| bytes(profiled, &names);
            (alone(Profiled::on(jdk).without_agent()), alone(Profiled::on(jdk).heap(Heap::Counts)))
        })
        .collect();
    let always_more = |name: &&&str| {
        let most = attempts.iter().map(|(without, _)| without[**name]).max().max(without.get(**name).copied());
        let least = attempts.iter().map(|(_, with)| with[**name]).min();
        least > most
    };
    let again: Vec<_> = names.iter().filter(always_more).collect();
    assert!(again.is_empty(), "{again:?} of {suspects:?}, {attempts:?}");
}
