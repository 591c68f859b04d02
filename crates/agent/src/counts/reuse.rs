//! The counters of a class that is rewritten again: of a site that it had before, the same.
//!
//! Other agents make the VM load a class file again, some for days. What a counter means does not depend on the code around it, only on
//! the class, the method and the line of its site, and on what that makes.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::counters::{BytecodeSite, CounterKind, Counters};
use super::ids::{CounterIndex, RewritingIndex, RewrittenMethodIndex};
use super::rewritings::Rewritings;

/// The name and descriptor of a method.
type MethodKey = (Box<[u8]>, Box<[u8]>);

/// The sites that a class had in earlier class files, as far as this one has not used them.
#[derive(Default)]
pub(super) struct EarlierSites {
    methods: FxHashMap<MethodKey, RewrittenMethodIndex>,
    /// In the order of their counters.
    counters: FxHashMap<BytecodeSite, Vec<(CounterIndex, CounterKind)>>,
}

impl EarlierSites {
    /// Of a rewriting that has its counters in these ranges, among others.
    pub(super) fn of(
        rewriting: RewritingIndex,
        ranges: &[Range<u32>],
        rewritings: &Rewritings,
        counters: &Counters,
    ) -> EarlierSites {
        let mut earlier = EarlierSites::default();
        for index in ranges.iter().cloned().flatten().map(CounterIndex) {
            let Some(record) = counters.get(index) else { continue };
            let Some(site) = record.site else { continue };
            let Some(method) = rewritings.method(site.code).filter(|method| method.rewriting == rewriting) else {
                continue;
            };
            earlier.methods.entry((method.name.clone(), method.descriptor.clone())).or_insert(site.code);
            earlier.counters.entry(site).or_default().push((index, record.kind));
        }
        earlier
    }

    /// The method of that name and descriptor, if it had a site.
    pub(super) fn method(&self, name: &[u8], descriptor: &[u8]) -> Option<RewrittenMethodIndex> {
        self.methods.get(&(name.into(), descriptor.into())).copied()
    }

    /// The first of the counters of a site of these kinds, if there is one that was not taken.
    pub(super) fn take(&mut self, site: BytecodeSite, kinds: &[CounterKind]) -> Option<CounterIndex> {
        let counters = self.counters.get_mut(&site)?;
        let is_it = |found: &[(CounterIndex, CounterKind)]| {
            found.iter().zip(found[0].0.0..).all(|(&(index, _), expected)| index.0 == expected)
                && found.iter().map(|&(_, kind)| kind).eq(kinds.iter().copied())
        };
        let at = counters.windows(kinds.len()).position(is_it)?;
        counters.drain(at..at + kinds.len()).next().map(|(first, _)| first)
    }
}

#[cfg(test)]
mod tests {
    use super::super::rewritings::RewrittenMethod;
    use super::*;

    #[test]
    fn a_site_gets_the_counters_that_it_had() {
        let (rewritings, counters) = (Rewritings::new(), Counters::new());
        let rewriting = RewritingIndex(7);
        let method = |rewriting, name: &[u8]| {
            let (name, descriptor) = (name.into(), b"()V".as_slice().into());
            rewritings.add_method(RewrittenMethod { rewriting, name, descriptor, lines: None })
        };
        let (own, other) = (method(rewriting, b"m"), method(RewritingIndex(8), b"m"));
        let name = counters.name(b"A");
        let (one, pair) = ([CounterKind::Instances(name)], [CounterKind::Arrays(name), CounterKind::Bytes]);
        let site = |code, line| BytecodeSite { code, line };
        let add = |site, kinds: &[CounterKind]| counters.append(Some(site), kinds).expect("room");
        let begin = counters.len();
        let sites: [(BytecodeSite, &[CounterKind]); 5] = [
            (site(own, 1), &one),
            (site(own, 1), &pair),
            (site(other, 1), &one),
            (site(own, 1), &one),
            (site(own, 2), &pair),
        ];
        let added = sites.map(|(site, kinds)| add(site, kinds));
        // Another class in between makes a gap.
        let ranges = [begin..begin + 3, begin + 3..counters.len()];
        let of = || EarlierSites::of(rewriting, &ranges, &rewritings, &counters);
        assert_eq!((of().method(b"m", b"()V"), of().method(b"n", b"()V")), (Some(own), None));
        let mut same = of();
        for (index, (site, kinds)) in sites.into_iter().enumerate().filter(|&(index, _)| index != 2) {
            assert_eq!(same.take(site, kinds), Some(added[index]));
        }
        assert_eq!(same.take(site(own, 1), &one), None);
        // In other code some are missing.
        let mut changed = of();
        assert_eq!(changed.take(site(own, 1), &pair), Some(added[1]));
        assert_eq!(changed.take(site(own, 1), &pair), None);
        assert_eq!(changed.take(site(own, 3), &one), None);
        assert_eq!(changed.take(site(own, 1), &one), Some(added[0]));
    }
}
