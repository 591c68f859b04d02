//! What each counter counts: known in part when its site is rewritten, and in full once the site has run.

use std::hash::Hash;
use std::sync::{Mutex, OnceLock, PoisonError};

use rustc_hash::FxHashMap;

use super::rewritings::CodeIndex;
use crate::agent::classes::ClassIndex;
use crate::agent::methods::MethodIndex;
use crate::agent::table::Table;

/// Counters there can be. Each takes eight bytes of address space per thread.
pub(crate) const MOST_COUNTERS: u32 = 1 << 20;

/// Number of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CounterIndex(pub(crate) u32);

impl CounterIndex {
    /// The counter behind this one.
    pub(crate) fn next(self) -> CounterIndex {
        CounterIndex(self.0 + 1)
    }
}

/// The site in `Array.newInstance`.
pub(super) const ARRAY_MADE: CounterIndex = CounterIndex(1);
/// Its callers that count the array themselves.
pub(super) const ARRAY_TAKEN: CounterIndex = CounterIndex(2);

/// A class as class files name it: an internal name, or the descriptor of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NameIndex(u32);

/// What a counter is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Instances of the named class.
    Instances(NameIndex),
    /// Arrays of the named class; their bytes are in the next counter.
    Arrays(NameIndex),
    /// Times that the VM made objects of the named class and others that no Java code sees; their bytes are in the next counter.
    ByTheVm(NameIndex),
    /// Bytes of what the counter before counts.
    Bytes,
    /// Not a counter: a site whose classes show when it runs, each with counters of its own.
    Site,
    /// As `Site`, where an object of the named class is told to clone itself: its class may do that in its own way.
    CloneSite(NameIndex),
    /// As `Site`, where the named class does, for an object of a class below it.
    SuperCloneSite(NameIndex),
    /// As `Instances` or `Arrays`, of a class seen at a `Site`.
    Seen,
    /// Arrays counted at a `Site` that were counted elsewhere too; their bytes are in the next counter.
    Taken,
    /// Bytes of what the counter before counts.
    TakenBytes,
    /// Objects of a class that the VM made; their bytes are in the next counter.
    SeenByTheVm,
}

impl Role {
    /// The name of the class that is counted, if it is known from the class file.
    pub(crate) fn name(self) -> Option<NameIndex> {
        match self {
            Role::Instances(name) | Role::Arrays(name) | Role::ByTheVm(name) => Some(name),
            Role::Bytes | Role::Site | Role::CloneSite(_) | Role::SuperCloneSite(_) => None,
            Role::Seen | Role::Taken | Role::TakenBytes | Role::SeenByTheVm => None,
        }
    }
}

/// A counter's site, as the class file has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    pub(crate) code: CodeIndex,
    /// 0 if unknown.
    pub(crate) line: u32,
}

/// Where a counter's site is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) method: MethodIndex,
    /// 0 if unknown.
    pub(crate) line: u32,
}

/// Where a counter's site is and what it makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Resolved {
    pub(crate) class: ClassIndex,
    /// `None` if no site makes it.
    pub(crate) place: Option<Place>,
}

/// What is known of a counter.
pub(crate) struct Slot {
    pub(crate) role: Role,
    /// `None` for what no single site counts.
    pub(crate) site: Option<Site>,
    /// `None` inside if what it counts was never made.
    pub(crate) resolved: OnceLock<Option<Resolved>>,
}

#[derive(Default)]
struct Names {
    by_name: FxHashMap<Box<[u8]>, NameIndex>,
    names: Vec<Box<[u8]>>,
}

/// All counters.
pub(crate) struct Slots {
    table: Table<Slot>,
    names: Mutex<Names>,
    /// The counters of a class at a `Site`.
    seen: Mutex<FxHashMap<(CounterIndex, ClassIndex), CounterIndex>>,
    /// The counters of what the VM makes.
    by_the_vm: Mutex<FxHashMap<Resolved, CounterIndex>>,
    appending: Mutex<u32>,
}

impl Slots {
    /// No counters but number 0, which nobody gets since it stands for none, and the two sites that have a name.
    pub(crate) fn new() -> Slots {
        let slots = Slots {
            table: Table::new(),
            names: Mutex::default(),
            seen: Mutex::default(),
            by_the_vm: Mutex::default(),
            appending: Mutex::new(0),
        };
        // None, `ARRAY_MADE` and `ARRAY_TAKEN`.
        let _ = slots.append(None, &[Role::Site; 3]);
        slots
    }

    /// The counter of that number.
    pub(crate) fn get(&self, counter: CounterIndex) -> Option<&Slot> {
        self.table.get(counter.0)
    }

    /// Whether there are so many counters left.
    pub(crate) fn has_room(&self, counters: usize) -> bool {
        (MOST_COUNTERS - self.len()) as usize >= counters
    }

    /// Counters handed out so far.
    pub(crate) fn len(&self) -> u32 {
        *self.appending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the counter is of is found out: nothing if it was never made.
    pub(crate) fn resolve(&self, counter: CounterIndex, resolved: Option<Resolved>) {
        if let Some(slot) = self.get(counter) {
            // Somebody else may have been faster, with the same result.
            let _ = slot.resolved.set(resolved);
        }
    }

    /// The number of a name.
    pub(crate) fn name(&self, name: &[u8]) -> NameIndex {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
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
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        names.names.get(name.0 as usize).map(|n| n.to_vec()).unwrap_or_default()
    }

    /// Appends counters next to each other and returns the first; `None` if there would be too many.
    pub(crate) fn append(&self, site: Option<Site>, roles: &[Role]) -> Option<CounterIndex> {
        let mut len = self.appending.lock().unwrap_or_else(PoisonError::into_inner);
        let first = CounterIndex(*len);
        if MOST_COUNTERS - *len < roles.len() as u32 {
            return None;
        }
        for &role in roles {
            self.table.push_with(|_| Slot { role, site, resolved: OnceLock::new() });
        }
        *len += roles.len() as u32;
        Some(first)
    }

    /// The counters of a class at a `Site`, made by the first who asks.
    pub(crate) fn seen(&self, site: CounterIndex, resolved: Resolved) -> Option<CounterIndex> {
        self.first_of(&self.seen, (site, resolved.class), [Role::Seen, Role::Bytes], resolved)
    }

    /// The counters of arrays of a class that `ARRAY_MADE` counted and a caller counts; `None` if it counted none.
    pub(crate) fn taken(&self, class: ClassIndex) -> Option<CounterIndex> {
        let made = *self.seen.lock().unwrap_or_else(PoisonError::into_inner).get(&(ARRAY_MADE, class))?;
        let resolved = (*self.get(made)?.resolved.get()?)?;
        self.first_of(&self.seen, (ARRAY_TAKEN, class), [Role::Taken, Role::TakenBytes], resolved)
    }

    /// The counters of what the VM makes, made by the first who asks.
    pub(crate) fn by_the_vm(&self, resolved: Resolved) -> Option<CounterIndex> {
        self.first_of(&self.by_the_vm, resolved, [Role::SeenByTheVm, Role::Bytes], resolved)
    }

    fn first_of<K: Hash + Eq>(
        &self,
        known: &Mutex<FxHashMap<K, CounterIndex>>,
        key: K,
        roles: [Role; 2],
        resolved: Resolved,
    ) -> Option<CounterIndex> {
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&counter) = known.get(&key) {
            return Some(counter);
        }
        let counter = self.append(None, &roles)?;
        self.resolve(counter, Some(resolved));
        known.insert(key, counter);
        Some(counter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_a_site_are_neighbours_and_classes_share_none() {
        let slots = Slots::new();
        let name = slots.name(b"[I");
        assert_eq!(slots.name(b"[I"), name);
        assert_eq!(slots.name_of(name), b"[I");
        assert_eq!(slots.append(None, &[Role::Instances(slots.name(b"A"))]), Some(CounterIndex(3)));
        let pair = slots.append(None, &[Role::Arrays(name), Role::Bytes]).expect("room");
        assert_eq!((pair, slots.len()), (CounterIndex(4), 6));
        assert_eq!(slots.get(CounterIndex(5)).map(|s| s.role), Some(Role::Bytes));
        let site = slots.append(None, &[Role::Site]).expect("room");
        let of = |class| Resolved { class: ClassIndex(class), place: Some(Place { method: MethodIndex(0), line: 7 }) };
        let one = slots.seen(site, of(1));
        assert_ne!(one, slots.seen(site, of(2)));
        assert_eq!(one, slots.seen(site, of(1)));
        assert_eq!(slots.taken(ClassIndex(1)), None);
        let _ = slots.seen(ARRAY_MADE, of(1));
        let taken = slots.taken(ClassIndex(1)).and_then(|taken| slots.get(taken)).expect("a counter");
        assert_eq!((taken.role, taken.resolved.get()), (Role::Taken, Some(&Some(of(1)))));
    }

    #[test]
    fn there_are_no_more_counters_than_a_block_has() {
        let slots = Slots::new();
        let roles = [Role::Site; 1024];
        let room = MOST_COUNTERS - slots.len();
        for _ in 0..room / 1024 {
            assert!(slots.append(None, &roles).is_some());
        }
        assert_eq!(slots.append(None, &roles), None);
        assert!(slots.append(None, &roles[..room as usize % 1024]).is_some());
        assert_eq!(slots.append(None, &[Role::Site]), None);
    }
}
