//! What locks are called: the field in which the program keeps them.

use std::fmt;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use trace::ids::ObjectId;

use crate::symbols::{ClassIndex, Symbols};

/// Maximum number of locks that have a name; Martini gives a hundred.
const MOST: usize = 50_000;

/// Where the program keeps a lock. Its `Display` is the text a table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LockName<'a> {
    /// The class that declares the field.
    pub class: &'a str,
    /// The field, and what is between it and the lock; `None` if the class itself is the lock.
    pub field: Option<&'a str>,
}

impl fmt::Display for LockName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.class, self.field.unwrap_or("class"))
    }
}

/// What a row or sentence calls a lock: its name, if it has one, its class and its id.
#[derive(Clone, Copy, Debug)]
pub struct CalledLock<'a> {
    /// Where the program keeps it.
    pub name: Option<LockName<'a>>,
    /// Its class, if known.
    pub class: Option<&'a str>,
    /// Its id.
    pub object: ObjectId,
}

impl fmt::Display for CalledLock<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.name, self.class) {
            (Some(name), Some(class)) if name.field.is_some() => write!(f, "{name} ({})", short(class))?,
            (Some(name), _) => write!(f, "{name}")?,
            (None, class) => f.write_str(class.unwrap_or("(unknown class)"))?,
        }
        write!(f, " @{}", self.object)
    }
}

/// The names of all documents, by the serial numbers of the locks.
#[derive(Clone, Debug, Default)]
pub(super) struct LockNames(FxHashMap<u64, (ClassIndex, Option<Box<str>>)>);

impl LockNames {
    pub(super) fn insert(&mut self, monitor: u64, class: ClassIndex, field: Option<&str>) {
        if self.0.len() < MOST {
            self.0.insert(monitor, (class, field.map(Box::from)));
        }
    }

    pub(super) fn holders(&self, symbols: &Symbols) -> LockHolders {
        let mut names: FxHashMap<ClassIndex, Rc<str>> = FxHashMap::default();
        let mut class =
            |index| Rc::clone(names.entry(index).or_insert_with(|| (*symbols.class_name(index).name).into()));
        let holder = |(&monitor, (index, field)): (&u64, &(ClassIndex, Option<Box<str>>))| {
            (monitor, Holder { class: class(*index), field: field.clone() })
        };
        LockHolders(self.0.iter().map(holder).collect())
    }

    pub(super) fn get<'a>(&'a self, monitor: u64, symbols: &'a Symbols) -> Option<LockName<'a>> {
        let (class, field) = self.0.get(&monitor)?;
        Some(LockName { class: &symbols.class_name(*class).name, field: field.as_deref() })
    }
}

/// The fields that hold locks, as one reading of a trace found them, for another: they stand at its end.
#[derive(Clone, Debug, Default)]
pub struct LockHolders(FxHashMap<u64, Holder>);

#[derive(Clone, Debug)]
struct Holder {
    class: Rc<str>,
    field: Option<Box<str>>,
}

impl LockHolders {
    /// Where the program keeps a lock, if it has a name. `monitor` is the same in each reading of a trace.
    pub(super) fn name(&self, monitor: u64) -> Option<LockName<'_>> {
        self.0.get(&monitor).map(|holder| LockName { class: &holder.class, field: holder.field.as_deref() })
    }
}

/// The name of a class where the lock has a name of its own: `ReentrantLock` of
/// `java.util.concurrent.locks.ReentrantLock$NonfairSync`.
fn short(class: &str) -> &str {
    let simple = class.rsplit('.').next().unwrap_or(class);
    let simple = simple.strip_prefix("AbstractQueuedSynchronizer$").unwrap_or(simple);
    let without_part = ["$NonfairSync", "$FairSync", "$Sync"].iter().find_map(|part| simple.strip_suffix(part));
    without_part.unwrap_or(simple)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_locks_are_those_that_programs_use() {
        assert_eq!(short("java.util.concurrent.locks.ReentrantLock$NonfairSync"), "ReentrantLock");
        assert_eq!(short("java.util.concurrent.CountDownLatch$Sync"), "CountDownLatch");
        let condition = "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject";
        assert_eq!(short(condition), "ConditionObject");
        assert_eq!((short("java.lang.Object"), short("Lock"), short("a.B$C")), ("Object", "Lock", "B$C"));
    }

    #[test]
    fn a_lock_is_called_by_its_field() {
        let called = |name, class| CalledLock { name, class, object: ObjectId(7) }.to_string();
        let name = |field| Some(LockName { class: "demo.Cache", field });
        let sync = Some("java.util.concurrent.Semaphore$FairSync");
        assert_eq!(called(name(Some("slots")), sync), "demo.Cache.slots (Semaphore) @7");
        assert_eq!(called(name(Some("slots")), None), "demo.Cache.slots @7");
        assert_eq!(called(name(None), Some("java.lang.Class")), "demo.Cache.class @7");
        assert_eq!(called(None, Some("demo.Lock")), "demo.Lock @7");
        assert_eq!(called(None, None), "(unknown class) @7");
    }
}
