//! The class file load hook: hands every class to the rewriter, and asks the VM to reload those that came before it could.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use classfile::{ClassFile, Rewritten};
use jvmti::jni_sys::{JNIEnv, jclass, jint, jobject};
use jvmti::sys::{JVMTI_CLASS_STATUS_INITIALIZED, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, jvmtiEnv};
use jvmti::{Env, Jni, guard};
use rustc_hash::FxHashSet;

use super::counts::{ALLOCATING_OPCODES, HOOKED_NAMES, Moment, Origin, Subject, runs_once};
use super::instrument::{ARRAY_OPCODES, HeapHooks, OBJECT, may_rewrite};
use super::lifecycle::cleared;
use super::{Agent, counts, proxy, replaced, waits};

/// What the rewriter did, and what it left.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) rewritten: AtomicU64,
    /// Methods and classes left as they were, by reason.
    pub(crate) refused: Mutex<BTreeMap<String, u64>>,
    /// What rewritten classes call is defined, or will be before the first of them runs.
    pub(crate) ready: AtomicBool,
    /// From VMInit on, rewritten code calls the direct hooks.
    pub(crate) direct: AtomicBool,
    /// The VM begins, or has begun, to swap the methods of classes that were there before.
    swapping: AtomicBool,
    /// The VM may take classes out of a CDS archive.
    archive: OnceLock<bool>,
    /// Classes of the boot loader that were rewritten before VMInit.
    before_init: Mutex<FxHashSet<Box<[u8]>>>,
}

impl Counters {
    /// Nothing is rewritten yet; whether it may be from the first class on.
    pub(crate) fn new(ready: bool) -> Counters {
        Counters { ready: AtomicBool::new(ready), ..Counters::default() }
    }

    /// Counts something that is left as it was.
    pub(crate) fn refuse(&self, reason: String) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner).entry(reason).or_default() += 1;
    }
}

/// JVMTI `ClassFileLoadHook`.
///
/// # Safety
/// Called by the VM.
#[allow(clippy::too_many_arguments, reason = "the signature is JVMTI's")]
pub(crate) unsafe extern "system" fn class_file_load_hook(
    _: *mut jvmtiEnv,
    jni: *mut JNIEnv,
    redefined: jclass,
    loader: jobject,
    name: *const c_char,
    _: jobject,
    len: jint,
    data: *const u8,
    new_len: *mut jint,
    new_data: *mut *mut u8,
) {
    guard(|| {
        let Some(agent) = Agent::get().filter(|agent| agent.transform.ready.load(Ordering::Acquire)) else { return };
        if data.is_null() || len <= 0 {
            return;
        }
        // SAFETY: the VM passes `len` bytes of class file, and a NUL-terminated name or null.
        let (class, name) = unsafe {
            let name = (!name.is_null()).then(|| CStr::from_ptr(name).to_bytes());
            (std::slice::from_raw_parts(data, len as usize), name)
        };
        // In its first phase the VM passes no environment, and has no other loader.
        if jni.is_null() && !loader.is_null() {
            return;
        }
        // SAFETY: the VM passes this thread's environment, or null, which nothing below uses for a class of the boot loader.
        let jni = unsafe { Jni::from_raw(jni) };
        let parsed = ClassFile::parse(class);
        if redefined.is_null() && agent.counts.is_some() && Agent::reporting().is_some() {
            if let Ok(class) = &parsed {
                counts::class_read(agent, jni, class);
            }
            counts::class_begins(agent, jni);
        }
        // Without a name the class cannot be Object nor HeapProxy, which are loaded by name.
        let name = name.unwrap_or_default();
        if !redefined.is_null() {
            meet_before_the_end(agent, name);
        }
        let direct = agent.transform.direct.load(Ordering::Acquire);
        let moment = match redefined.is_null() {
            true => Moment::Loading,
            // SAFETY: the VM passes a live reference.
            false if unsafe { is_initialised(agent.env, redefined) } => Moment::Initialised,
            false => Moment::Loaded,
        };
        let rewritten = match &parsed {
            Ok(class) => {
                let subject = Subject { agent, jni, origin: Origin::of(loader, name), moment };
                // SAFETY: the VM passes a live reference or null.
                unsafe { rewrite(name, class, direct, subject) }
            }
            // The VM will say what it thinks of the class; we only note that we did not look.
            Err(error) => {
                agent.transform.refuse(format!("class: {error}"));
                None
            }
        };
        let is_changed = rewritten.is_some();
        let Some(bytes) = rewritten.or_else(|| fresh(agent, redefined, class)) else { return };
        if is_changed && !direct && !agent.early && redefined.is_null() && loader.is_null() {
            agent.transform.before_init.lock().unwrap_or_else(PoisonError::into_inner).insert(name.into());
        }
        match agent.env.allocate_copy(&bytes) {
            // SAFETY: the VM passes places for the new class file, and frees it.
            Ok(copy) => unsafe {
                *new_len = bytes.len() as jint;
                *new_data = copy.into_raw();
            },
            Err(error) => agent.transform.refuse(format!("class: {}", error.name())),
        }
    });
}

/// The first feature release whose CDS archive has classes with calls that are resolved.
const FIRST_WITH_RESOLVED_CALLS: u32 = 24;

/// A copy of a class file that stays as it is, where the class may come out of the CDS archive with calls that are resolved: the VM
/// makes the class of the copy instead. Those calls would lead to the methods as they were before the retransformation, which
/// corrects the calls in loaded classes only, those that it loads itself to verify others among them.
fn fresh(agent: &Agent, redefined: jclass, class: &[u8]) -> Option<Vec<u8>> {
    let is_late = agent.transform.swapping.load(Ordering::Acquire)
        && redefined.is_null()
        && agent.engine.rewrites()
        && *agent.transform.archive.get_or_init(|| jvmti::uses_archive() != Some(false));
    // What the VM makes when it links a class is counted, which out of the archive it may be already.
    let is_worth = agent.java >= FIRST_WITH_RESOLVED_CALLS || agent.counts.is_some();
    (is_late && is_worth).then(|| class.to_vec())
}

/// The class file with its hooks; `None` if it stays as it is, which is counted where it is worth knowing.
///
/// # Safety
/// The origin of the subject holds a live reference or null.
pub(crate) unsafe fn rewrite(
    name: &[u8],
    class: &ClassFile<'_>,
    direct: bool,
    subject: Subject<'_>,
) -> Option<Vec<u8>> {
    let agent = subject.agent;
    if !may_rewrite(name) {
        return None;
    }
    if name == waits::LOCK_SUPPORT && agent.waits.as_ref().is_some_and(|waits| waits.options.juc) {
        let parking = noted(agent, waits::rewrite(class));
        let parsed = parking.as_deref().and_then(|class| ClassFile::parse(class).ok());
        // SAFETY: by the caller's promise.
        let both = parsed.and_then(|class| unsafe { rewrite_for_heap(name, &class, direct, subject) });
        return both.or(parking);
    }
    // SAFETY: by the caller's promise.
    unsafe { rewrite_for_heap(name, class, direct, subject) }
}

/// The class file with the hooks for the heap, if there are any.
///
/// # Safety
/// As for `rewrite`.
unsafe fn rewrite_for_heap(name: &[u8], class: &ClassFile<'_>, direct: bool, subject: Subject<'_>) -> Option<Vec<u8>> {
    let agent = subject.agent;
    if !agent.engine.rewrites() {
        return None;
    }
    let rewritten = match &agent.counts {
        Some(counts) => {
            let filters = &agent.options.filters;
            let includes =
                |class: &[u8]| filters.includes(&trace::names::class_name(&trace::modified_utf8::decode(class)));
            let filter = (!filters.rules().is_empty()).then_some(includes);
            // SAFETY: by the caller's promise.
            let (rewritten, uncounted) = unsafe { counts.rewrite(class, subject, filter) };
            (0..uncounted).for_each(|_| agent.transform.refuse("site: there are too many".into()));
            rewritten
        }
        None => {
            let hooks = match (agent.engine.has_hooks(), direct) {
                (true, true) => &proxy::DIRECT,
                (true, false) => &proxy::EARLY,
                (false, _) => &proxy::ESCAPE,
            };
            classfile::rewrite_class(class, &mut HeapHooks::new(name, hooks))
        }
    };
    noted(agent, rewritten)
}

/// The bytes of what the rewriter made, and what it did is counted.
fn noted(agent: &Agent, rewritten: Rewritten<'_>) -> Option<Vec<u8>> {
    for refused in &rewritten.refused {
        agent.transform.refuse(format!("method: {}", refused.reason));
    }
    if rewritten.bytes.is_some() {
        agent.transform.rewritten.fetch_add(1, Ordering::Relaxed);
    }
    rewritten.bytes
}

/// Makes the VM reload LockSupport, where no other class is rewritten; the hook is on meanwhile only, for it costs every class
/// that is loaded a little.
pub(crate) fn retransform_lock_support(agent: &Agent, jni: Jni) -> Result<(), String> {
    let class = jni.find_class(c"java/util/concurrent/locks/LockSupport").map_err(|e| cleared(jni, e))?;
    // SAFETY: a live local reference, deleted at the end.
    let done = unsafe {
        let done = agent
            .env
            .enable_event(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK)
            .and_then(|()| agent.env.retransform_classes(&[class]));
        jni.delete_local_ref(class);
        done
    };
    let off = agent.env.disable_event(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK);
    done.and(off).map_err(|e| e.to_string())
}

/// Which of the classes that are there already a thread retransforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Portion {
    /// All of them.
    All,
    /// `java.lang.Object`, and where threads park.
    Fewest,
    /// One half, while another thread takes the other.
    Even,
    /// The other half.
    Odd,
}

impl Portion {
    fn contains(self, name: &[u8]) -> bool {
        // So the halves are equally large in bytes on JDK 17 to 25, to a twentieth.
        let odd = name.last().is_some_and(|byte| byte & 1 == 1);
        match self {
            Portion::All => true,
            Portion::Fewest => name == OBJECT || name == waits::LOCK_SUPPORT,
            Portion::Even => !odd,
            Portion::Odd => odd,
        }
    }
}

/// Classes that HotSpot never verifies; each half has some.
const NEVER_VERIFIED: [&[u8]; 4] = [OBJECT, b"java/lang/String", b"java/lang/Class", b"java/lang/Throwable"];

thread_local! {
    /// The last class of this thread's half.
    static LAST: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
}

/// Where two threads share the work, waits at the last class of each half until the other thread has come as far.
///
/// HotSpot verifies all classes of a request, which from JDK 24 on loads further classes, before it swaps their methods at a
/// safepoint. A class must not be loaded while the methods of those above it are swapped: that crashes the VM, which holds
/// pointers to them in `DefaultMethods::generate_default_methods` (seen on 25). The last classes are not verified.
fn meet_before_the_end(agent: &Agent, name: &[u8]) {
    if LAST.with_borrow_mut(|last| last.take_if(|last| last == name)).is_some() {
        agent.control.meet();
        agent.transform.swapping.store(true, Ordering::Release);
    }
}

/// Puts a class that is never verified last, for `meet_before_the_end`.
fn put_last(agent: &Agent, wanted: &mut [jclass]) {
    let name_of = |class: jclass| {
        // SAFETY: a live local reference.
        let signature = unsafe { agent.env.get_class_signature(class) }.ok()?;
        let found = signature.strip_prefix(b"L").and_then(|s| s.strip_suffix(b";"))?;
        NEVER_VERIFIED.into_iter().find(|&name| name == found)
    };
    let found = wanted.iter().enumerate().find_map(|(index, &class)| Some((index, name_of(class)?)));
    match (found, wanted.len()) {
        (Some((index, name)), len) => {
            wanted.swap(index, len - 1);
            LAST.set(Some(name.to_vec()));
        }
        (None, _) => {
            agent.control.arrive();
            agent.transform.swapping.store(true, Ordering::Release);
        }
    }
}

/// Makes the VM reload the classes that came before the hook and that hold something to rewrite.
pub(crate) fn retransform_loaded(agent: &Agent, jni: Jni, portion: Portion) {
    let classes = match agent.env.get_loaded_classes() {
        Ok(classes) => classes,
        Err(error) => return agent.transform.refuse(format!("loaded classes: {}", error.name())),
    };
    let mut wanted: Vec<jclass> = classes.iter().copied().filter(|&c| needs_rewriting(agent, c, portion)).collect();
    match portion {
        Portion::Even | Portion::Odd => put_last(agent, &mut wanted),
        Portion::All | Portion::Fewest => agent.transform.swapping.store(true, Ordering::Release),
    }
    // SAFETY: live local references, deleted at the end.
    let result = unsafe { agent.env.retransform_classes(&wanted) };
    if LAST.take().is_some() {
        agent.control.arrive();
    }
    if result.is_err() {
        // One bad class fails them all; alone each shows whether it is the one.
        for class in &wanted {
            // SAFETY: as above.
            if let Err(error) = unsafe { agent.env.retransform_classes(&[*class]) } {
                agent.transform.refuse(format!("class: {}", error.name()));
            }
        }
    }
    for class in classes.iter() {
        // SAFETY: a local reference that nobody uses any more.
        unsafe { jni.delete_local_ref(*class) };
    }
}

fn needs_rewriting(agent: &Agent, class: jclass, portion: Portion) -> bool {
    let env = agent.env;
    // SAFETY: a live local reference.
    let Ok(signature) = (unsafe { env.get_class_signature(class) }) else { return false };
    let Some(name) = signature.strip_prefix(b"L").and_then(|s| s.strip_suffix(b";")) else { return false };
    if !portion.contains(name)
        || !may_rewrite(name)
        || agent.transform.before_init.lock().unwrap_or_else(PoisonError::into_inner).contains(name)
    {
        return false;
    }
    // SAFETY: a live local reference.
    let modifiable = unsafe { env.is_modifiable_class(class) }.unwrap_or(false);
    let parks = name == waits::LOCK_SUPPORT && agent.waits.as_ref().is_some_and(|waits| waits.options.juc);
    modifiable
        && (parks
            || match agent.counts {
                Some(_) => has_site(env, class, ALLOCATING_OPCODES) || names_one(env, class, HOOKED_NAMES),
                None => {
                    name == OBJECT
                        || has_site(env, class, ARRAY_OPCODES)
                        || agent.engine.has_hooks() && names_one(env, class, replaced::NAMES)
                }
            })
}

/// Whether the class may call or be one of the methods of these names: its constant pool has such a text. Bytecode of a loaded
/// class does not tell whom it calls.
fn names_one(env: Env, class: jclass, names: &[&[u8]]) -> bool {
    // SAFETY: a live local reference.
    let Ok(pool) = (unsafe { env.get_constant_pool(class) }) else { return true };
    names.iter().any(|name| memchr::memmem::find(&pool, &[&[1, 0, name.len() as u8], *name].concat()).is_some())
}

/// Whether the static initialiser of a class has run.
///
/// # Safety
/// `class` is a live reference.
unsafe fn is_initialised(env: Env, class: jclass) -> bool {
    // SAFETY: by the caller's promise.
    unsafe { env.get_class_status(class) }.is_ok_and(|status| status & JVMTI_CLASS_STATUS_INITIALIZED != 0)
}

/// Whether code of the class that may still run has one of these instructions.
fn has_site(env: Env, class: jclass, opcodes: &[u8]) -> bool {
    // SAFETY: a live local reference; the methods are of this class.
    unsafe {
        // Loaded but not linked yet, it shows no methods; the VM links it to retransform it.
        let Ok(methods) = env.get_class_methods(class) else { return names_one(env, class, &[b"Code"]) };
        let initialised = is_initialised(env, class);
        methods.iter().any(|&method| {
            // Abstract and native methods have no code, which the VM calls an error.
            env.get_bytecodes(method)
                .is_ok_and(|code| classfile::walk(&code).any(|(_, opcode)| opcodes.contains(&opcode)))
                // Retransforming is most of the start-up cost.
                && !(initialised && env.get_method_name(method).is_ok_and(|m| runs_once(&m.name)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_is_in_one_half() {
        for name in [&b"java/lang/Object"[..], b"java/lang/String", b"a", b""] {
            assert!(Portion::All.contains(name));
            assert_ne!(Portion::Even.contains(name), Portion::Odd.contains(name));
        }
        for portion in [Portion::Even, Portion::Odd] {
            assert!(NEVER_VERIFIED.iter().any(|name| portion.contains(name)), "{portion:?}");
        }
    }
}
