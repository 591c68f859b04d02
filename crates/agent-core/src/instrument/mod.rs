//! The class file load hook: passes every class to the rewriters, when it is loaded or, if it was loaded before the hook was set,
//! when it is retransformed (`retransform`).

pub mod allocating_method;
mod gate;
pub mod intrinsics;
mod late;
mod linked;
mod loaders;
mod others;
mod read_edges;
pub mod retransform;
mod start_up;
mod unlinked;

use std::ffi::{CStr, c_char};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use classfile::{ClassFile, MethodView};
use jvmti::jni_sys::{JNIEnv, jclass, jint, jobject};
use jvmti::sys::{CAN_RETRANSFORM_CLASSES, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, jthread, jvmtiCapabilities, jvmtiEnv};
use jvmti::{Jni, guard};
use rustc_hash::FxHashSet;

use super::core::Core;
use super::core::current::Current;
use super::core::feature::{ClassPhase, RewriteRequest, Rewriter};
use agent_base::helpers::is_helper;
use agent_base::mutex::Mutex;
use gate::Gate;
use hotspot::Hotspot;
use linked::Linked;
use loaders::Loaders;
use retransform::{internal_name, is_initialised};
use start_up::StartUp;
use unlinked::Unlinked;

/// Bytes of bytecode up to which HotSpot compiles a method by default.
const HUGE_METHOD_LIMIT: u32 = 8000;
/// The class whose constructor all objects share.
pub const OBJECT: &[u8] = b"java/lang/Object";

/// The first feature release whose CDS archive has classes with calls that are resolved.
const FIRST_WITH_RESOLVED_CALLS: u32 = 24;

/// The length up to which a method may grow.
pub fn max_code_length(method: &MethodView<'_>) -> u32 {
    // HotSpot interprets longer methods for ever (HugeMethodLimit), which would harm the program more than the lost
    // events harm the trace; a method that is longer already may grow.
    if method.code().bytes().len() <= HUGE_METHOD_LIMIT as usize { HUGE_METHOD_LIMIT } else { 65_535 }
}

/// Whether a method never runs again in a class that is initialised: its static initialiser, and what javac makes of an enum's
/// constants.
pub fn runs_once(method: &[u8]) -> bool {
    matches!(method, b"<clinit>" | b"$values")
}

/// The rewriting of classes in one recording.
pub struct Instrumentation {
    core: &'static Core,
    /// Each gets the class file that the one before has made.
    rewriters: Box<[&'static dyn Rewriter]>,
    /// The helper classes that rewritten classes call are defined, or will be before the first rewritten class runs.
    is_ready: AtomicBool,
    /// VMInit has come.
    is_initialised: AtomicBool,
    /// The VM is about to swap, or has swapped, the methods of classes that were loaded before the hook was set.
    swapping: AtomicBool,
    /// The VM may take classes out of a CDS archive.
    archive: OnceLock<bool>,
    /// Classes of the boot loader that were rewritten before VMInit.
    before_init: Mutex<FxHashSet<Box<[u8]>>>,
    start_up: StartUp,
    /// Classes that are retransformed once they are linked; the same in all recordings.
    unlinked: &'static Unlinked,
    /// Those that are linked by now; the same in all recordings.
    linked: &'static Linked,
    /// Whether loaders find what rewritten classes name; the same in all recordings.
    loaders: &'static Loaders,
    /// Guards answer for all helper classes of this recording.
    has_guards: AtomicBool,
    /// Keeps classes from being made while methods are swapped; the same in all recordings.
    gate: &'static Gate,
    /// The hook is on for every class, or will be when the VM has started.
    is_hooked: AtomicBool,
}

static CURRENT: Current<Instrumentation> = Current::none();

impl Instrumentation {
    /// The rewriting of a recording; nothing is rewritten before [`set_ready`](Self::set_ready), unless classes are rewritten from
    /// the first one on.
    pub fn new(core: &'static Core, rewriters: Box<[&'static dyn Rewriter]>) -> Instrumentation {
        let is_hooked = rewriters.iter().any(|rewriter| rewriter.rewrites_all());
        if !rewriters.is_empty() {
            jvmti::classes_are_redefined(core.jvm.java);
        }
        Instrumentation {
            core,
            rewriters,
            is_ready: AtomicBool::new(core.rewrites_early),
            is_initialised: AtomicBool::new(core.is_late),
            swapping: AtomicBool::new(false),
            archive: OnceLock::new(),
            before_init: Mutex::default(),
            start_up: StartUp::default(),
            unlinked: core.jvm.keep(Unlinked::default),
            linked: core.jvm.keep(Linked::default),
            loaders: core.jvm.keep(Loaders::default),
            has_guards: AtomicBool::new(false),
            gate: core.jvm.keep(Gate::default),
            is_hooked: AtomicBool::new(is_hooked),
        }
    }

    /// Makes it the current one.
    pub fn install(&'static self) {
        CURRENT.set(self);
    }

    /// That of the current recording.
    pub fn current() -> Option<&'static Instrumentation> {
        CURRENT.get()
    }

    /// Whether the hook is needed for every class.
    pub fn rewrites_all(&self) -> bool {
        self.rewriters.iter().any(|rewriter| rewriter.rewrites_all())
    }

    /// The helper classes that rewritten classes call are defined: from now on classes that are loaded may be rewritten.
    ///
    /// # Errors
    /// What the VM refuses: one sentence.
    pub fn set_ready(&self, jni: Jni) -> Result<(), String> {
        let rewrites = !self.rewriters.is_empty();
        if rewrites && self.core.is_late {
            read_edges::add_first(self.core.jvm.env, jni)?;
        }
        self.define_guards(jni)?;
        self.begin_guards(jni);
        self.is_ready.store(rewrites, Ordering::Release);
        Ok(())
    }

    /// Nothing is rewritten any more.
    pub fn stop(&self) {
        self.is_ready.store(false, Ordering::Release);
    }

    /// Turns the hook on for good when there is somebody else who may redefine classes: lines of methods change then, and what was
    /// rewritten comes anew.
    pub(crate) fn watch_others(&self) {
        if !self.is_hooked.load(Ordering::Relaxed) && self.is_initialised() && others::have_come() {
            self.is_hooked.store(true, Ordering::Release);
            jvmti::classes_are_redefined(self.core.jvm.java);
            let env = self.core.jvm.env;
            // It may have it already; only with it the hook sees that a class is retransformed.
            let _ = env.add_capabilities(jvmtiCapabilities::of(&[CAN_RETRANSFORM_CLASSES]));
            if let Err(error) = env.enable_event(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK) {
                self.core.rewriting.refuse(&format!("classes that others change: {}", error.name()));
            }
            self.core.jvm.methods.forget_versions();
        }
    }

    /// Whether VMInit has come.
    pub fn is_initialised(&self) -> bool {
        self.is_initialised.load(Ordering::Acquire)
    }

    /// The class file as all rewriters leave it; `None` if it stays as it is.
    ///
    /// # Safety
    /// The loader of the request is a live reference or null.
    pub unsafe fn rewrite(&self, class: &ClassFile<'_>, request: RewriteRequest<'_>) -> Option<Vec<u8>> {
        if is_helper(request.name) {
            return None;
        }
        let (jni, finder) = (request.jni, request.finder);
        let mut rewritten: Option<Vec<u8>> = None;
        for rewriter in self.rewriters.iter().filter(|rewriter| rewriter.concerns(class)) {
            // SAFETY: by the caller's promise.
            if !rewriter.helper().is_none_or(|helper| unsafe { self.finds(jni, finder, helper) }) {
                // What the others have inserted stays.
                rewritten.as_ref()?;
                continue;
            }
            // SAFETY: by the caller's promise.
            let next = unsafe {
                match &rewritten {
                    None => rewriter.rewrite(class, request),
                    Some(before) => ClassFile::parse(before).ok().and_then(|class| rewriter.rewrite(&class, request)),
                }
            };
            rewritten = next.or(rewritten);
        }
        // SAFETY: by the caller's promise.
        let guard = |class: &ClassFile<'_>, has_hooks| unsafe {
            self.guard(class, jni, finder)
                .and_then(|guarded| self.core.rewriting.note_further(class.name(), guarded, has_hooks))
        };
        let guarded = match &rewritten {
            None => guard(class, false),
            Some(before) => ClassFile::parse(before).ok().and_then(|class| guard(&class, true)),
        };
        guarded.or(rewritten)
    }

    /// A copy of a class file that stays as it is, where the class may come out of the CDS archive with calls that are resolved: the
    /// VM makes the class of the copy instead. Those calls would lead to the methods as they were before the retransformation, which
    /// corrects the calls in loaded classes only, those that it loads itself to verify others among them.
    fn fresh_copy(&self, class: &[u8]) -> Option<Vec<u8>> {
        let core = self.core;
        let is_late = self.swapping.load(Ordering::Acquire)
            && self.rewrites_all()
            && *self.archive.get_or_init(|| core.hotspot.and_then(Hotspot::uses_archive) != Some(false));
        // What the VM makes when it links a class is counted, which out of the archive it may be already.
        let is_worth = core.jvm.java >= FIRST_WITH_RESOLVED_CALLS || core.source.counts();
        (is_late && is_worth).then(|| class.to_vec())
    }

    /// # Safety
    /// The references are live or null.
    unsafe fn class_file(
        &self,
        jni: Jni,
        redefined: jclass,
        loader: jobject,
        name: Option<&[u8]>,
        bytes: &[u8],
    ) -> Option<Vec<u8>> {
        let core = self.core;
        let parsed = ClassFile::parse(bytes);
        if redefined.is_null() && core.is_reporting() {
            let class = parsed.as_ref().ok();
            self.rewriters.iter().for_each(|rewriter| rewriter.class_loading(jni, class));
        }
        // Without a name the class cannot be Object nor a helper, which are loaded by name.
        let name = name.unwrap_or_default();
        if !redefined.is_null() {
            self.meet_before_the_end(name);
        }
        let is_initialised_vm = self.is_initialised();
        let phase = match redefined.is_null() {
            true => ClassPhase::Loading,
            // SAFETY: by the caller's promise.
            false if unsafe { is_initialised(core.jvm.env, redefined) } => ClassPhase::Initialised,
            false => ClassPhase::Loaded,
        };
        let request = RewriteRequest {
            jni,
            name,
            loader: Some(loader),
            finder: loader,
            phase,
            is_initialised: is_initialised_vm,
        };
        let rewritten = match &parsed {
            // SAFETY: by the caller's promise.
            Ok(class) => unsafe { self.rewrite(class, request) },
            // The VM reports what is wrong with the class; here it is counted as not rewritten.
            Err(error) => {
                core.rewriting.refuse(&format!("class: {error}"));
                None
            }
        };
        let Some(rewritten) = rewritten else {
            return if redefined.is_null() { self.fresh_copy(bytes) } else { None };
        };
        if !is_initialised_vm && !core.rewrites_early && redefined.is_null() && loader.is_null() {
            self.before_init.lock().insert(name.into());
        }
        Some(rewritten)
    }
}

/// A class is about to get other code, not from this agent.
///
/// # Safety
/// `class` is a live reference.
unsafe fn note_redefinition(jni: Jni, class: jclass) {
    let Some(core) = Core::current() else { return };
    // SAFETY: by the caller's promise.
    match unsafe { core.jvm.classes.resolve(jni, class) } {
        Ok(index) => core.jvm.methods.redefined.add(index),
        Err(error) => core.count_failure("redefined class", error),
    }
}

/// JVMTI `ClassFileLoadHook`.
///
/// # Safety
/// Called by the VM.
#[allow(clippy::too_many_arguments, reason = "the signature is JVMTI's")]
pub unsafe extern "system" fn class_file_load_hook(
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
        if !redefined.is_null() && !jni.is_null() && !retransform::is_own() {
            // SAFETY: the VM passes this thread's environment, and a live reference.
            unsafe { note_redefinition(Jni::from_raw(jni), redefined) };
        }
        let Some(instrumentation) = CURRENT.get() else { return };
        // SAFETY: the VM passes a NUL-terminated name or null, which lives until this returns.
        let name = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_bytes());
        if redefined.is_null() && !retransform::is_own() {
            instrumentation.gate.enter(name.unwrap_or_default());
        } else if retransform::is_last(name) {
            instrumentation.gate.close();
        }
        if !instrumentation.is_ready.load(Ordering::Acquire) {
            return;
        }
        // In its first phase the VM passes no environment, and has no other loader.
        if data.is_null() || len <= 0 || jni.is_null() && !loader.is_null() {
            return;
        }
        // SAFETY: the VM passes `len` bytes of class file, and this thread's environment, or null, which nothing below uses for a class of
        // the boot loader; the references are live or null.
        let changed = unsafe {
            let bytes = std::slice::from_raw_parts(data, len as usize);
            instrumentation.class_file(Jni::from_raw(jni), redefined, loader, name, bytes)
        };
        let Some(bytes) = changed else { return };
        match instrumentation.core.jvm.env.allocate_copy(&bytes) {
            // SAFETY: the VM passes places for the new class file, and frees it.
            Ok(copy) => unsafe {
                *new_len = bytes.len() as jint;
                *new_data = copy.into_raw();
            },
            Err(error) => instrumentation.core.rewriting.refuse(&format!("class: {}", error.name())),
        }
    });
}

/// JVMTI `ClassLoad`: the VM has made a class on the current thread.
///
/// # Safety
/// Called by the VM.
pub unsafe extern "system" fn class_load(_: *mut jvmtiEnv, jni: *mut JNIEnv, _: jthread, class: jclass) {
    guard(|| {
        let Some(instrumentation) = CURRENT.get() else { return };
        // SAFETY: the VM passes a live reference.
        if let Ok(signature) = unsafe { instrumentation.core.jvm.env.get_class_signature(class) }
            && let Some(name) = internal_name(&signature)
        {
            instrumentation.gate.leave(name);
        }
        // SAFETY: as below.
        unsafe { instrumentation.check_domain(Jni::from_raw(jni), class) };
        // SAFETY: the VM passes this thread's environment and a live reference.
        let visit = |rewriter: &&dyn Rewriter| unsafe { rewriter.class_loaded(Jni::from_raw(jni), class) };
        instrumentation.rewriters.iter().for_each(visit);
    });
}
