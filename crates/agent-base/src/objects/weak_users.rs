//! Weak references that any thread may take out of a table: each is deleted once no thread can use it any more. No lock is held while the
//! VM is called, which may stop the caller for as long as a debugger wants.

use std::sync::atomic::{AtomicUsize, Ordering};

use jvmti::jni_sys::jweak;
use jvmti::{Jni, SharedRef};

use crate::mutex::Mutex;

/// Who uses the references of a table.
#[derive(Default)]
pub struct WeakUsers {
    users: AtomicUsize,
    /// Those that are in the table no more.
    removed: Mutex<Vec<SharedRef>>,
}

impl WeakUsers {
    /// Runs `body`, which takes a reference out of the table and may use it until it returns.
    pub fn using<T>(&self, body: impl FnOnce() -> T) -> T {
        self.users.fetch_add(1, Ordering::SeqCst);
        let result = body();
        self.users.fetch_sub(1, Ordering::SeqCst);
        result
    }

    /// Deletes references that are in the table no more, these and earlier ones. If a thread may use one of them, a later call does it.
    ///
    /// # Safety
    /// The references are weak ones that were removed from the table, and nobody else deletes them.
    pub unsafe fn delete(&self, jni: Jni, removed: impl IntoIterator<Item = jweak>) {
        for SharedRef(weak) in self.unused(removed) {
            // SAFETY: by the caller's promise; whoever took it out of the table has returned.
            unsafe { jni.delete_weak_global_ref(weak) };
        }
    }

    /// Those that nobody can use any more.
    fn unused(&self, removed: impl IntoIterator<Item = jweak>) -> Vec<SharedRef> {
        let mut all = self.removed.lock();
        all.extend(removed.into_iter().map(SharedRef));
        // A later user does not find them in the table.
        if self.users.load(Ordering::SeqCst) == 0 { std::mem::take(&mut *all) } else { Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use std::ptr::without_provenance_mut;

    use super::*;

    #[test]
    fn what_somebody_may_use_is_deleted_later() {
        let users = WeakUsers::default();
        users.using(|| assert!(users.unused([without_provenance_mut(8)]).is_empty()));
        let unused = users.unused([without_provenance_mut(16)]);
        assert_eq!(unused.iter().map(|weak| weak.0.addr()).collect::<Vec<_>>(), [8, 16]);
        assert!(users.unused([]).is_empty());
    }
}
