//! Sampled objects that are followed as long as they live: which of them survive how many collections.
//!
//! Each has a weak reference, which costs a fraction of a tag (`objects::weak_refs`). The thread that allocates only adds the object
//! to a list; the agent's own thread moves it from there into the reservoir, forgets the dead after collections, and makes room.

mod look;
mod reservoir;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use jvmti::Jni;
use jvmti::jni_sys::{jobject, jweak};

use super::samples::SampleKey;
use agent_base::clock::{Ticks, thread_cpu_nanos};
use agent_base::ids::GcNumber;
use agent_base::mutex::Mutex;
use agent_base::random::Random;
use agent_core::core::Core;
use hotspot::Hotspot;
use hotspot::object_addresses::may_be_cleared;
use reservoir::{Chance, Followed, Reservoir};

pub(crate) use look::{Age, LiveLook};

/// So many are followed at a time: 9 MiB, of which the VM's references take one. (As lists grow by doubling, up to 16 MiB.)
const MOST: usize = 1 << 17;
/// Room for those that come before the agent's thread has made room.
const RESERVE: usize = MOST / 8;
/// References are tested as often as that takes a hundredth of the agent's thread.
const REST: u32 = 100;

/// New objects.
struct Fresh {
    objects: Vec<Followed>,
    /// How many may come before the chance is halved.
    room: usize,
    chance: Chance,
}

struct Known {
    reservoir: Reservoir,
    /// The last collection before the last test.
    tested: GcNumber,
    next_test: Instant,
}

/// All that are followed.
pub(super) struct Following {
    fresh: Mutex<Fresh>,
    known: Mutex<Known>,
    unfollowed: AtomicU64,
}

impl Following {
    /// None yet.
    pub(super) fn new() -> Following {
        let reservoir = Reservoir::new(MOST, Random::anywhere());
        Following {
            fresh: Mutex::new(Fresh { objects: Vec::new(), room: MOST, chance: Chance::default() }),
            known: Mutex::new(Known { reservoir, tested: GcNumber(0), next_test: Instant::now() }),
            unfollowed: AtomicU64::new(0),
        }
    }

    /// Samples that were not followed, or no longer, though they may live: they are too many.
    pub(super) fn unfollowed(&self) -> u64 {
        self.unfollowed.load(Ordering::Relaxed)
    }

    /// Follows an object of so many bytes that the current thread has just made and that was sampled with that probability, if it is one of those that are to be.
    ///
    /// # Safety
    /// `object` is a live reference, and `jni` belongs to the current thread.
    pub(super) unsafe fn follow(
        &self,
        core: &Core,
        jni: Jni,
        random: &mut Random,
        object: jobject,
        (key, size, sampled): (SampleKey, u64, f64),
    ) {
        if core.leaves_deaths_unseen() {
            return;
        }
        let chance = self.fresh.lock().chance;
        if !random.happens(chance.probability()) {
            self.unfollowed.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let since = core.collections.finished();
        // No lock is held: a safepoint may stop the thread there.
        // SAFETY: by the caller's promise.
        let Ok(weak) = (unsafe { jni.new_weak_global_ref(object) }) else {
            jni.exception_clear();
            return core.count_lost("no memory for a weak reference", 1);
        };
        let mut fresh = self.fresh.lock();
        // The VM may have stopped the thread there until the recording was over.
        if !core.is_reporting() {
            return delete(jni, weak);
        }
        fresh.objects.push(Followed { weak, key, sampled, size, since, chance });
        if fresh.objects.len() >= fresh.room {
            fresh.chance = fresh.chance.halved();
            fresh.room += RESERVE;
        }
    }

    /// After collections, on the agent's own thread.
    pub(super) fn collected(&self, core: &Core, jni: Jni) {
        self.review(core, jni, false);
    }

    /// Each second, on the agent's own thread.
    pub(super) fn tick(&self, core: &Core, jni: Jni) {
        if self.fresh.lock().objects.len() >= RESERVE {
            self.review(core, jni, false);
        }
    }

    /// What lives, as far as the last collection has found out.
    pub(super) fn look(&self, core: &Core, jni: Jni) -> LiveLook {
        self.review(core, jni, true);
        let known = self.known.lock();
        LiveLook::of(known.reservoir.objects(), core.collections.finished(), Ticks::now())
    }

    /// Forgets all of them.
    pub(super) fn clear(&self, core: &Core, jni: Jni) {
        self.review(core, jni, false);
        self.known.lock().reservoir.take().into_iter().for_each(|object| delete(jni, object.weak));
    }

    /// Takes the new ones, forgets the dead if there was a collection, and makes room. How often the dead are looked for is limited, unless
    /// `all` are to be found.
    fn review(&self, core: &Core, jni: Jni, all: bool) {
        let known = &mut *self.known.lock();
        let (new, chance) = {
            let mut fresh = self.fresh.lock();
            (std::mem::take(&mut fresh.objects), fresh.chance)
        };
        known.reservoir.add(new);
        // Before the test: one that ends meanwhile is tested for again.
        let finished = core.collections.finished();
        let is_due = all || Instant::now() >= known.next_test;
        if known.tested < finished && is_due && !core.leaves_deaths_unseen() {
            let begin = thread_cpu_nanos();
            let is_checked = core.hotspot.is_some_and(Hotspot::checks_jni);
            known.reservoir.retain(|object| is_dead(jni, object.weak, is_checked));
            let took = Duration::from_nanos(thread_cpu_nanos().saturating_sub(begin));
            (known.tested, known.next_test) = (finished, Instant::now() + took * REST);
        }
        let mut deleted = 0;
        let chance = known.reservoir.make_room(chance, RESERVE, |object| {
            delete(jni, object.weak);
            deleted += 1;
        });
        self.unfollowed.fetch_add(deleted, Ordering::Relaxed);
        let room = MOST - known.reservoir.objects().len();
        let mut fresh = self.fresh.lock();
        (fresh.room, fresh.chance) = (room, chance);
    }
}

/// Whether the object of a reference is dead; the reference is deleted then. `is_checked` with `-Xcheck:jni`, whose check uses the object.
fn is_dead(jni: Jni, weak: jweak, is_checked: bool) -> bool {
    // SAFETY: the reference is ours, and deleted once, when it is removed from the list.
    unsafe {
        let is_dead = (!is_checked || may_be_cleared(weak)) && jni.is_same_object(weak, std::ptr::null_mut());
        if is_dead {
            jni.delete_weak_global_ref(weak);
        }
        is_dead
    }
}

fn delete(jni: Jni, weak: jweak) {
    // SAFETY: the reference is ours, and deleted once, when it is removed from the list.
    unsafe { jni.delete_weak_global_ref(weak) };
}
