//! Classes whose methods get other code while the program runs, from another agent or a debugger.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use rustc_hash::FxHashSet;

use crate::ids::ClassIndex;

/// Classes that were redefined or retransformed at least once. What is known of one of their methods may be that of an earlier version
/// at any time: the VM reports that a class is about to get other code, but not when it has.
#[derive(Default)]
pub struct Redefined {
    classes: RwLock<FxHashSet<ClassIndex>>,
    is_any: AtomicBool,
    epoch: AtomicU64,
}

impl Redefined {
    /// A class is about to get other code.
    pub fn add(&self, class: ClassIndex) {
        self.classes.write().unwrap_or_else(PoisonError::into_inner).insert(class);
        self.is_any.store(true, Ordering::Release);
        self.begin_epoch();
    }

    /// The agent itself has had classes retransformed while the program ran: their methods as they were are freed, sooner or later.
    pub fn add_own(&self) {
        self.is_any.store(true, Ordering::Release);
        self.begin_epoch();
    }

    /// Whether a class is one of them.
    pub fn contains(&self, class: ClassIndex) -> bool {
        self.is_any.load(Ordering::Acquire)
            && self.classes.read().unwrap_or_else(PoisonError::into_inner).contains(&class)
    }

    /// Some classes may have other code.
    pub(crate) fn begin_epoch(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
    }

    /// A class has been loaded. Once methods are freed without a collection, as those of redefined classes are, its methods may lie where
    /// others were.
    pub fn class_loaded(&self) {
        if self.is_any.load(Ordering::Acquire) {
            self.begin_epoch();
        }
    }

    /// The present epoch: in one epoch, an address is that of one method, and the id of a method of another class that of one version.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_redefinition_begins_an_epoch_and_so_does_each_class_after_one() {
        let redefined = Redefined::default();
        redefined.class_loaded();
        assert_eq!(redefined.epoch(), 0);
        assert!(!redefined.contains(ClassIndex(3)));
        redefined.add(ClassIndex(3));
        redefined.class_loaded();
        assert_eq!(redefined.epoch(), 2);
        assert!(redefined.contains(ClassIndex(3)) && !redefined.contains(ClassIndex(4)));
    }
}
