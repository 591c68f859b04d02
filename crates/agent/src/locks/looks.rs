//! Looks at parked threads: for which lock of `java.util.concurrent` a thread is parked, and who owns that.
//!
//! Where rewriting LockSupport is too dear, or nobody asked for it, an attached recording looks at intervals instead. A wait begins with the
//! first look that sees it, and ends with the first that does not. So it may be too long or too short by an interval, and short ones are
//! not seen at all; but those that are seen stand for these, since the chance to be seen grows with the length: sums are right on average.
//! Looks do not come at equal intervals, or a program that does something each 10 ms would be seen always or never.
//!
//! Only locks are looked for: an idle pool waits in queues, and so most parked threads cost two reads. Looks take a hundredth of a
//! processor at most (`Pace`), and the stacks of those that they see a fiftieth (`TimeBudget`).

use std::ffi::c_void;
use std::sync::{Condvar, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jvmti::jni_sys::{JNIEnv, jobject};
use jvmti::sys::jvmtiEnv;
use jvmti::{Jni, guard};
use rustc_hash::FxHashMap;
use trace::ids::ObjectId;
use trace::time::Nanos;

use super::blockers::Blockers;
use super::monitors::BEGIN_RECORDS;
use super::parking::report_owner;
use super::recorder::Locks;
use super::state::LockThread;
use super::time_budget::TimeBudget;
use crate::pace::{NANOS_PER_SECOND, Pace};
use agent_base::agent_thread;
use agent_base::clock::{Ticks, thread_cpu_nanos};
use agent_base::events::event::{Event, WaitKind};
use agent_base::ids::ThreadIndex;
use agent_base::mutex::Mutex;
use agent_base::tables::classes::BlockerKind;
use agent_core::core::context::{Entry, Reporter, ThreadContext, enter_for};
use agent_core::core::lost::Dropped;
use hotspot::monitors::MonitorAddress;

/// Intervals are microseconds here.
const MICRO: u64 = 1_000;
const USUAL: u32 = 10_000;
/// The longest interval: a second.
const LONGEST: u32 = 1_000_000;
/// What a wake-up takes of others, beside what the clock of the thread shows.
const OF_OTHERS: u64 = 20_000;
/// The end of the recording waits so long for a look that goes on.
const MAX_WAIT: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// No thread looks.
    #[default]
    Over,
    Looking,
    /// It looks once more.
    Ending,
}

/// How often somebody looks, and whether.
pub(super) struct Looks {
    pace: Pace,
    /// For the stacks of threads that are parked, which nobody interrupts for that.
    stack_budget: TimeBudget,
    stage: Mutex<Stage>,
    changed: Condvar,
}

impl Looks {
    /// Nobody looks yet; the recording begins then.
    pub(super) fn new(start: Ticks) -> Looks {
        let now = Instant::now();
        let pace = Pace::new(now, NANOS_PER_SECOND, LONGEST);
        pace.want(USUAL, now, |_| ());
        Looks { pace, stack_budget: TimeBudget::new(start, 1), stage: Mutex::default(), changed: Condvar::new() }
    }

    /// The time between two looks at present.
    pub(super) fn interval(&self) -> Nanos {
        Nanos(u64::from(self.pace.interval()) * MICRO)
    }

    /// The longest that there was.
    pub(super) fn longest(&self) -> Nanos {
        Nanos(u64::from(self.pace.longest()) * MICRO)
    }

    /// Begins to look, on a thread of its own.
    ///
    /// # Errors
    /// There is no thread for it: part of a sentence.
    pub(super) fn start(&self, locks: &Locks, jni: Jni) -> Result<(), String> {
        *self.stage.lock() = Stage::Looking;
        agent_thread::start(locks.core().jvm.env, jni, c"Martini locks", run).inspect_err(|_| self.over())
    }

    /// Has it look once more, and waits until that is over.
    pub(super) fn stop(&self) {
        let mut stage = self.stage.lock();
        if *stage == Stage::Looking {
            *stage = Stage::Ending;
            self.changed.notify_all();
            drop(self.wait(stage, MAX_WAIT, |stage| stage == Stage::Over));
        }
    }

    fn over(&self) {
        *self.stage.lock() = Stage::Over;
        self.changed.notify_all();
    }

    /// Waits for the next look; false if it is the last one.
    fn rest(&self, number: u64) -> bool {
        let nanos = self.interval().0 as f64 * (0.5 + fraction(number));
        *self.wait(self.stage.lock(), Duration::from_nanos(nanos as u64), |stage| stage != Stage::Looking)
            == Stage::Looking
    }

    fn wait<'m>(
        &self,
        stage: MutexGuard<'m, Stage>,
        most: Duration,
        is_over: impl Fn(Stage) -> bool,
    ) -> MutexGuard<'m, Stage> {
        let waited = self.changed.wait_timeout_while(stage, most, |stage| !is_over(*stage));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// A number from 0 to 1, another for each look: multiples of the golden ratio, whose fractions are spread evenly.
fn fraction(number: u64) -> f64 {
    (number as f64 * 0.618_033_988_749_895).fract()
}

/// Looks until the recording ends.
///
/// # Safety
/// Called by the VM, on a thread of the agent's.
unsafe extern "system" fn run(_: *mut jvmtiEnv, jni: *mut JNIEnv, _: *mut c_void) {
    guard(|| {
        let Some(locks) = Locks::current() else { return };
        let Some(looks) = &locks.looks else { return };
        // SAFETY: the VM passes this thread's environment.
        let jni = unsafe { Jni::from_raw(jni) };
        // The VM reports its start, too.
        Entry::begin_again();
        let mut looker = Looker::default();
        let mut goes_on = true;
        while goes_on && locks.core().is_reporting() {
            goes_on = looks.rest(looker.number);
            let (before, interval) = (thread_cpu_nanos(), looks.pace.interval());
            looker.look(jni);
            let nanos = thread_cpu_nanos().saturating_sub(before) + OF_OTHERS;
            looks.pace.spend(interval, nanos, Instant::now, |_| ());
            looks.pace.tick(Instant::now(), |_| ());
        }
        Entry::end(jni);
        looks.over();
    });
}

/// A wait that the last look has seen.
struct SeenWait {
    object: ObjectId,
    /// The number of that look.
    look: u64,
}

/// What the thread keeps.
#[derive(Default)]
struct Looker {
    /// Number of looks so far.
    number: u64,
    seen: FxHashMap<ThreadIndex, SeenWait>,
}

impl Looker {
    fn look(&mut self, jni: Jni) {
        enter_for(jni, |locks: &Locks, jni, context, state: &mut LockThread| {
            let (Some(blockers), Some(looks)) = (locks.blockers(), &locks.looks) else { return };
            let stack_budget = &looks.stack_budget;
            // What threads do after they are looked at has a later time.
            let now = Ticks::now();
            let threads = match locks.core().jvm.env.get_all_threads() {
                Ok(threads) => threads,
                Err(error) => return locks.core().count_failure("look at parked threads", error),
            };
            jni.expect_local_refs(threads.len() + 2);
            self.number += 1;
            let mut look = Look { locks, blockers, jni, context, state, stack_budget, now };
            for &thread in threads.iter() {
                // SAFETY: live local references, each deleted when it is done with.
                unsafe {
                    if let Some((lock, kind)) = blockers.lock_of(locks.core(), jni, thread) {
                        self.see(&mut look, thread, lock, kind);
                        jni.delete_local_ref(lock);
                    }
                    jni.delete_local_ref(thread);
                }
            }
            self.seen.retain(|&thread, seen| {
                let is_there = seen.look == self.number;
                if !is_there {
                    look.end(thread);
                }
                is_there
            });
        });
    }

    /// A thread is parked for a lock.
    ///
    /// # Safety
    /// Live references to the thread and to a lock of that kind.
    unsafe fn see(&mut self, look: &mut Look<'_>, thread: jobject, lock: jobject, kind: BlockerKind) {
        if !look.context.admit(BEGIN_RECORDS, Dropped::Wait) {
            return;
        }
        // SAFETY: by the caller's promise.
        unsafe {
            let Some(object) = look.id_of(lock) else { return };
            let index = look.locks.core().jvm.threads.resolve(look.jni, thread, look.now);
            if let Some(seen) = self.seen.get_mut(&index) {
                if seen.object == object {
                    seen.look = self.number;
                    return;
                }
                look.end(index);
            }
            self.seen.insert(index, SeenWait { object, look: self.number });
            look.begin(thread, index, (lock, kind), object);
        }
    }
}

/// One look, while it is under way.
struct Look<'l> {
    locks: &'l Locks,
    blockers: &'l Blockers,
    jni: Jni,
    /// Those of the thread that looks.
    context: &'l mut ThreadContext,
    state: &'l mut LockThread,
    stack_budget: &'l TimeBudget,
    now: Ticks,
}

impl Look<'_> {
    /// # Safety
    /// `lock` is a live reference.
    unsafe fn id_of(&mut self, lock: jobject) -> Option<ObjectId> {
        // SAFETY: by the caller's promise.
        unsafe { self.locks.ids.object(self.jni, self.context, self.state, MonitorAddress::default(), lock) }
    }

    /// # Safety
    /// Live references to the thread of that number, and to a lock of that kind.
    unsafe fn begin(
        &mut self,
        thread: jobject,
        index: ThreadIndex,
        (lock, kind): (jobject, BlockerKind),
        object: ObjectId,
    ) {
        let Look { locks, blockers, jni, context, state, now, .. } = self;
        // SAFETY: by the caller's promise.
        let stack = unsafe {
            report_owner(locks, blockers, *jni, context, state, (lock, kind), *now);
            let walk = || state.parked_stack(locks.core(), *jni, thread);
            self.stack_budget.spend(Ticks::now(), walk).unwrap_or_default()
        };
        context.push(Event::Enter { object, thread: index, stack, kind: WaitKind::SeenPark }, *now);
    }

    fn end(&mut self, thread: ThreadIndex) {
        self.context.push(Event::Unparked { thread, interrupted: false }, self.now);
    }
}
