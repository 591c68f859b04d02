//! What each counter counts. When its site is rewritten the class file shows a part of it; the rest is resolved after the site has
//! run.

use std::hash::Hash;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rustc_hash::FxHashMap;

use super::ids::{CounterIndex, NameIndex, RewrittenMethodIndex};
use agent_base::ids::{AllocationSite, ClassIndex};
use agent_base::message::message;
use agent_base::mutex::Mutex;
use agent_base::tables::table::Table;

/// The largest number of counters. Each takes eight bytes of address space per thread.
pub(crate) const MAX_COUNTERS: u32 = 1 << 20;
/// With so many the user is warned.
const MANY_COUNTERS: u32 = MAX_COUNTERS / 8 * 7;

/// The site in `Array.newInstance`, where an array is counted first.
pub(super) const NEW_INSTANCE_SITE: CounterIndex = CounterIndex(1);
/// All calls of `Array.newInstance` that count the array themselves: it is subtracted from what that site counted.
pub(super) const NEW_INSTANCE_CALLER: CounterIndex = CounterIndex(2);

/// What a counter is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CounterKind {
    /// Instances of the named class.
    Instances(NameIndex),
    /// Arrays of the named class; their bytes are in the next counter.
    Arrays(NameIndex),
    /// Times that the VM made the arrays of a backtrace, for which the named class stands; their bytes are in the next counter.
    Backtraces(NameIndex),
    /// Bytes of what the counter before counts.
    Bytes,
    /// Not a counter: a site whose classes are known only when it runs. Each class has counters of its own.
    DynamicSite,
    /// As `DynamicSite`, where an instance of a class is about to be made, if the class has instances.
    BareSite,
    /// As `DynamicSite`, where `clone` is called on an object of the named class, or of one below it with a `clone` of its own.
    CloneSite(NameIndex),
    /// As `DynamicSite`, where a class below the named one calls its `clone`.
    SuperCloneSite(NameIndex),
    /// As `Instances` or `Arrays`, of one class at a `DynamicSite`.
    AtDynamicSite,
    /// Arrays that `NEW_INSTANCE_SITE` counted and a caller counts too; their bytes are in the next counter.
    Subtracted,
    /// Bytes of what the counter before counts.
    SubtractedBytes,
    /// Objects of a class that the VM made; their bytes are in the next counter.
    VmObjects,
}

impl CounterKind {
    /// The name of the class that is counted, if it is known from the class file.
    pub(crate) fn name(self) -> Option<NameIndex> {
        match self {
            CounterKind::Instances(name) | CounterKind::Arrays(name) | CounterKind::Backtraces(name) => Some(name),
            _ => None,
        }
    }
}

/// The site of a counter, as the class file shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct BytecodeSite {
    pub(crate) code: RewrittenMethodIndex,
    /// 0 if unknown.
    pub(crate) line: u32,
}

/// What is known of a counter.
pub(crate) struct CounterRecord {
    pub(crate) kind: CounterKind,
    /// `None` for what no single site counts.
    pub(crate) site: Option<BytecodeSite>,
    /// `Some(None)` if no such object was ever made.
    pub(crate) resolved: OnceLock<Option<AllocationSite>>,
}

#[derive(Default)]
struct Names {
    by_name: FxHashMap<Box<[u8]>, NameIndex>,
    names: Vec<Box<[u8]>>,
}

/// All counters.
pub(crate) struct Counters {
    table: Table<CounterRecord>,
    names: Mutex<Names>,
    /// The counters of a class at a `DynamicSite`.
    at_dynamic_sites: Mutex<FxHashMap<(CounterIndex, ClassIndex), CounterIndex>>,
    /// The counters of objects that the VM makes.
    vm_objects: Mutex<FxHashMap<AllocationSite, CounterIndex>>,
    appending: Mutex<u32>,
    warned: AtomicBool,
}

impl Counters {
    /// No counters but number 0, which stands for none, and the two sites that have a constant.
    pub(crate) fn new() -> Counters {
        let counters = Counters {
            table: Table::empty(),
            names: Mutex::default(),
            at_dynamic_sites: Mutex::default(),
            vm_objects: Mutex::default(),
            appending: Mutex::new(0),
            warned: AtomicBool::new(false),
        };
        // Number 0, `NEW_INSTANCE_SITE` and `NEW_INSTANCE_CALLER`.
        let _ = counters.append(None, &[CounterKind::DynamicSite; 3]);
        counters
    }

    /// The counter of that number.
    pub(crate) fn get(&self, counter: CounterIndex) -> Option<&CounterRecord> {
        self.table.get(counter.0)
    }

    /// Whether there are so many counters left.
    pub(crate) fn has_room(&self, counters: usize) -> bool {
        (MAX_COUNTERS - self.len()) as usize >= counters
    }

    /// Warns once, when most are handed out: a program that loads classes without end gets there while there is time to act.
    pub(super) fn warn_before_the_last(&self) {
        if self.len() >= MANY_COUNTERS && !self.warned.swap(true, Ordering::Relaxed) {
            message(&format!(
                "{MANY_COUNTERS} of {MAX_COUNTERS} site counters are in use, and those of unloaded classes are not \
                 reused; once all are in use, new classes are not counted; exclude= leaves classes out"
            ));
        }
    }

    /// Counters handed out so far.
    pub(crate) fn len(&self) -> u32 {
        *self.appending.lock()
    }

    /// Notes what a counter counts; `None` if no such object was ever made.
    pub(crate) fn resolve(&self, counter: CounterIndex, resolved: Option<AllocationSite>) {
        if let Some(record) = self.get(counter) {
            // Another thread may have been faster, with the same result.
            let _ = record.resolved.set(resolved);
        }
    }

    /// The number of a name.
    pub(crate) fn name(&self, name: &[u8]) -> NameIndex {
        let mut names = self.names.lock();
        if let Some(&known) = names.by_name.get(name) {
            return known;
        }
        let index = NameIndex(names.names.len() as u32);
        names.names.push(name.into());
        names.by_name.insert(name.into(), index);
        index
    }

    /// The name of a number that `name` gave.
    pub(crate) fn name_of(&self, name: NameIndex) -> Vec<u8> {
        let names = self.names.lock();
        names.names.get(name.0 as usize).map(|n| n.to_vec()).unwrap_or_default()
    }

    /// Appends counters next to each other and returns the first; `None` if there would be too many.
    pub(crate) fn append(&self, site: Option<BytecodeSite>, kinds: &[CounterKind]) -> Option<CounterIndex> {
        let mut len = self.appending.lock();
        let first = CounterIndex(*len);
        if MAX_COUNTERS - *len < kinds.len() as u32 {
            return None;
        }
        for &kind in kinds {
            self.table.push_with(|_| CounterRecord { kind, site, resolved: OnceLock::new() });
        }
        *len += kinds.len() as u32;
        Some(first)
    }

    /// The counters of a class at a `DynamicSite`, appended at the first call.
    pub(crate) fn at_dynamic_site(&self, site: CounterIndex, resolved: AllocationSite) -> Option<CounterIndex> {
        self.first_of(
            &self.at_dynamic_sites,
            (site, resolved.class),
            [CounterKind::AtDynamicSite, CounterKind::Bytes],
            resolved,
        )
    }

    /// The counters of arrays of a class that `NEW_INSTANCE_SITE` counted and a caller counts; `None` if that site counted none.
    pub(crate) fn subtracted(&self, class: ClassIndex) -> Option<CounterIndex> {
        let counted = *self.at_dynamic_sites.lock().get(&(NEW_INSTANCE_SITE, class))?;
        let resolved = (*self.get(counted)?.resolved.get()?)?;
        self.first_of(
            &self.at_dynamic_sites,
            (NEW_INSTANCE_CALLER, class),
            [CounterKind::Subtracted, CounterKind::SubtractedBytes],
            resolved,
        )
    }

    /// Whether a part of what a counter counts may be subtracted a moment later: it is at `NEW_INSTANCE_SITE`, and the caller may count the
    /// array, too.
    pub(crate) fn may_be_subtracted(&self, counter: CounterIndex) -> bool {
        let Some((first, record)) = self.of_objects(counter) else { return false };
        let Some(&Some(resolved)) = record.resolved.get() else { return false };
        record.kind == CounterKind::AtDynamicSite
            && self.at_dynamic_sites.lock().get(&(NEW_INSTANCE_SITE, resolved.class)) == Some(&first)
    }

    /// Whether a counter counts what the VM makes.
    pub(super) fn is_by_vm(&self, counter: CounterIndex) -> bool {
        let found = self.of_objects(counter);
        found.is_some_and(|(_, record)| matches!(record.kind, CounterKind::Backtraces(_) | CounterKind::VmObjects))
    }

    /// The counter of the objects whose bytes a counter counts, or that counter itself.
    pub(super) fn of_objects(&self, counter: CounterIndex) -> Option<(CounterIndex, &CounterRecord)> {
        let objects = match self.get(counter)?.kind {
            CounterKind::Bytes | CounterKind::SubtractedBytes => CounterIndex(counter.0 - 1),
            _ => counter,
        };
        Some((objects, self.get(objects)?))
    }

    /// The counters of objects that the VM makes, appended at the first call.
    pub(crate) fn of_vm_objects(&self, resolved: AllocationSite) -> Option<CounterIndex> {
        self.first_of(&self.vm_objects, resolved, [CounterKind::VmObjects, CounterKind::Bytes], resolved)
    }

    fn first_of<K: Hash + Eq>(
        &self,
        known: &Mutex<FxHashMap<K, CounterIndex>>,
        key: K,
        kinds: [CounterKind; 2],
        resolved: AllocationSite,
    ) -> Option<CounterIndex> {
        let mut known = known.lock();
        if let Some(&counter) = known.get(&key) {
            return Some(counter);
        }
        let counter = self.append(None, &kinds)?;
        self.resolve(counter, Some(resolved));
        known.insert(key, counter);
        Some(counter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_base::ids::{CodeLocation, MethodIndex};

    #[test]
    fn counters_of_a_site_are_neighbours_and_classes_share_none() {
        let counters = Counters::new();
        let name = counters.name(b"[I");
        assert_eq!(counters.name(b"[I"), name);
        assert_eq!(counters.name_of(name), b"[I");
        assert_eq!(counters.append(None, &[CounterKind::Instances(counters.name(b"A"))]), Some(CounterIndex(3)));
        let pair = counters.append(None, &[CounterKind::Arrays(name), CounterKind::Bytes]).expect("room");
        assert_eq!((pair, counters.len()), (CounterIndex(4), 6));
        assert_eq!(counters.get(CounterIndex(5)).map(|s| s.kind), Some(CounterKind::Bytes));
        let site = counters.append(None, &[CounterKind::DynamicSite]).expect("room");
        let of = |class| AllocationSite {
            class: ClassIndex(class),
            location: Some(CodeLocation { method: MethodIndex(0), line: 7 }),
        };
        let one = counters.at_dynamic_site(site, of(1));
        assert_ne!(one, counters.at_dynamic_site(site, of(2)));
        assert_eq!(one, counters.at_dynamic_site(site, of(1)));
        assert_eq!(counters.subtracted(ClassIndex(1)), None);
        let counted = counters.at_dynamic_site(NEW_INSTANCE_SITE, of(1)).expect("room");
        assert!(counters.may_be_subtracted(counted) && counters.may_be_subtracted(counted.next()));
        assert!(one.is_some_and(|one| !counters.may_be_subtracted(one) && !counters.may_be_subtracted(one.next())));
        let subtracted = counters.subtracted(ClassIndex(1)).and_then(|first| counters.get(first)).expect("a counter");
        assert_eq!((subtracted.kind, subtracted.resolved.get()), (CounterKind::Subtracted, Some(&Some(of(1)))));
    }

    #[test]
    fn there_are_no_more_counters_than_a_block_has() {
        let counters = Counters::new();
        counters.warn_before_the_last();
        assert!(!counters.warned.load(Ordering::Relaxed));
        let kinds = [CounterKind::DynamicSite; 1024];
        let room = MAX_COUNTERS - counters.len();
        for _ in 0..room / 1024 {
            assert!(counters.append(None, &kinds).is_some());
        }
        counters.warn_before_the_last();
        assert!(counters.warned.load(Ordering::Relaxed));
        assert_eq!(counters.append(None, &kinds), None);
        assert!(counters.append(None, &kinds[..room as usize % 1024]).is_some());
        assert_eq!(counters.append(None, &[CounterKind::DynamicSite]), None);
    }
}
