//! What the JVM itself accounts to each thread, with which the numbers in the trace are compared.
//!
//! The JVM counts the bytes that each platform thread has allocated since it started, those of the virtual threads that it
//! carried included. What a thread had allocated when reporting began is subtracted, and so is what the agent allocates on it.
//! The account is read by the thread itself when it ends, or at VMDeath if it lives until then. The writer, which knows what it
//! has reported of the thread by then, puts both into one `threadCount`.

use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use jvmti::jni_sys::jobject;
use jvmti::{Env, Jni, JniError, Management};

use super::Core;
use super::context::{LocalThread, ThreadContext, enter};
use agent_base::clock::Ticks;
use agent_base::events::event::Event;
use agent_base::ids::ThreadIndex;

/// The last account of a thread is read again, so often at most, if the thread allocated more than so many bytes while the features
/// reported theirs. The agent's thread may have lost its processor in between.
const READINGS: u32 = 4;
const APART: u64 = 64 << 10;

/// The accounting of this VM, as far as it can be used.
#[derive(Default)]
pub struct Accounting {
    meter: OnceLock<Result<Meter, &'static str>>,
}

/// How to read it.
#[derive(Clone, Copy)]
struct Meter(Management);

impl Meter {
    /// Finds the accounting and tests it on allocations of known size.
    fn find(jni: Jni, env: Env) -> Result<Meter, &'static str> {
        let meter = Meter(Management::find(jni).ok_or("this JVM does not offer it")?);
        match meter.is_exact(jni, env) {
            Ok(true) => Ok(meter),
            Ok(false) => Err("it does not follow allocations of known size"),
            Err(_) => {
                jni.exception_clear();
                Err("there was no memory to check it")
            }
        }
    }

    /// Whether arrays on and off the thread's allocation buffer are accounted with exactly their sizes.
    fn is_exact(self, jni: Jni, env: Env) -> Result<bool, JniError> {
        let mut exact = true;
        for length in [1, 1000, 200_000] {
            let before = self.0.current_thread_allocated_bytes(jni);
            let array = jni.new_byte_array(length)?;
            let after = self.0.current_thread_allocated_bytes(jni);
            // SAFETY: a live local reference, deleted at once.
            let size = unsafe {
                let size = env.get_object_size(array);
                jni.delete_local_ref(array);
                size
            };
            let accounted = after.zip(before).and_then(|(after, before)| after.checked_sub(before));
            exact &= accounted.is_some() && accounted == size.ok().map(|bytes| bytes as u64);
        }
        Ok(exact)
    }
}

impl Accounting {
    fn meter(&self) -> Option<Meter> {
        self.meter.get()?.ok()
    }

    /// Why nothing is accounted.
    pub fn problem(&self) -> Option<&'static str> {
        self.meter.get()?.err()
    }

    /// Bytes that the JVM accounts to the thread of that number in Java since it started; `None` if it does not say.
    pub fn thread_bytes(&self, jni: Jni, java_id: i64) -> Option<u64> {
        self.meter()?.0.thread_allocated_bytes(jni, java_id)
    }

    /// Bytes that the JVM accounts to the current platform thread since it started; `None` if it does not say.
    #[inline]
    pub fn current_thread_bytes(&self, jni: Jni) -> Option<u64> {
        self.meter()?.0.current_thread_allocated_bytes(jni)
    }
}

/// Finds the accounting, and tests it.
pub fn prepare(core: &Core, jni: Jni) {
    core.jvm.accounting.meter.get_or_init(|| Meter::find(jni, core.jvm.env));
}

/// Reporting begins: excludes what threads have allocated so far.
pub fn begin(core: &Core, jni: Jni) {
    prepare(core, jni);
    core.jvm.threads.each_living(jni, |thread, index| {
        // SAFETY: a live reference from `each_living`.
        unsafe { begin_thread(core, jni, thread, index) };
    });
}

/// Excludes what a thread has allocated so far.
///
/// # Safety
/// `thread` is a live reference to it.
pub unsafe fn begin_thread(core: &Core, jni: Jni, thread: jobject, index: ThreadIndex) {
    if let Some(record) = core.jvm.threads.get(index).filter(|_| core.jvm.accounting.meter().is_some()) {
        // SAFETY: by the caller's promise.
        let bytes = unsafe { bytes_of(core, jni, thread) };
        record.excluded_bytes.store(bytes.unwrap_or(0), Ordering::Relaxed);
    }
}

/// The features count for a thread that runs: excludes also what it allocated after its account was read and before they did.
///
/// # Safety
/// `thread` is a live reference to it.
pub unsafe fn correct_beginning(core: &Core, jni: Jni, thread: jobject, index: ThreadIndex) {
    let Some(record) = core.jvm.threads.get(index) else { return };
    // SAFETY: by the caller's promise.
    let read = || unsafe { bytes_of(core, jni, thread) };
    let is_near = |from: u64, to: u64| to.saturating_sub(from) <= APART;
    let excluded = record.excluded_bytes.load(Ordering::Relaxed);
    for _ in 0..READINGS {
        // Nearly all threads end here: what one counted so far is a sum over all its counters.
        let Some(before) = read().filter(|&before| !is_near(excluded, before)) else { return };
        let Some(counted) = core.features().find_map(|feature| feature.counted(index)) else { return };
        if read().is_some_and(|after| is_near(before, after)) {
            record.excluded_bytes.store(before.saturating_sub(counted).max(excluded), Ordering::Relaxed);
            return;
        }
    }
}

/// Bytes that the JVM accounts to a thread since it started; `None` if it does not say.
///
/// # Safety
/// `thread` is a live reference to it.
unsafe fn bytes_of(core: &Core, jni: Jni, thread: jobject) -> Option<u64> {
    // SAFETY: by the caller's promise.
    let number = unsafe { core.jvm.threads.number(jni, thread) }?;
    core.jvm.accounting.thread_bytes(jni, number.0)
}

/// The current thread ends: its last account.
pub(crate) fn thread_ends(core: &Core, jni: Jni, local: &mut LocalThread, now: Ticks) {
    let carrier = local.thread.carrier;
    account(core, &mut local.thread, carrier, core.jvm.accounting.current_thread_bytes(jni), now);
}

/// Reporting ends: the accounts of all living threads.
pub fn end(core: &'static Core, jni: Jni) {
    enter(core, jni, Ticks::now, |local| {
        let thread = &mut local.thread;
        core.features().for_each(|feature| feature.accounts_begin(jni, thread));
        core.jvm.threads.each_living(jni, |living, index| {
            // SAFETY: a live reference from `each_living`.
            let read = || unsafe { bytes_of(core, jni, living) };
            let mut bytes = read();
            for _ in 0..READINGS {
                let now = Ticks::now();
                core.features().for_each(|feature| feature.account(thread, index, bytes, now));
                account(core, thread, index, bytes, now);
                let before = std::mem::replace(&mut bytes, read());
                if bytes.zip(before).is_none_or(|(bytes, before)| bytes.saturating_sub(before) <= APART) {
                    break;
                }
            }
        });
        core.features().for_each(|feature| feature.accounts_end(thread));
    });
}

/// Calls `visit` with every living platform thread that the trace knows of, and what the JVM accounts to it since it started.
pub fn each_account(core: &Core, jni: Jni, mut visit: impl FnMut(ThreadIndex, Option<u64>)) {
    core.jvm.threads.each_living(jni, |thread, index| {
        // SAFETY: a live reference from `each_living`.
        visit(index, unsafe { bytes_of(core, jni, thread) });
    });
}

fn account(core: &Core, context: &mut ThreadContext, thread: ThreadIndex, bytes: Option<u64>, now: Ticks) {
    let Some(record) = core.jvm.threads.get(thread) else { return };
    let vm_bytes = record.accounted(bytes);
    context.push(Event::Account { thread, vm_bytes }, now);
}
