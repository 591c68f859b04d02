//! Retransforms the classes that were loaded before the hook was set.

use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering;

use jvmti::jni_sys::jclass;
use jvmti::sys::{JVMTI_CLASS_STATUS_INITIALIZED, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_EVENT_CLASS_LOAD};
use jvmti::{Env, Error, Jni};

use super::{Instrumentation, OBJECT, runs_once};
use agent_base::helpers::is_helper;

/// Which of the loaded classes a thread retransforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RetransformSubset {
    /// All of them.
    All,
    /// One half, while another thread takes the other.
    Even,
    /// The other half.
    Odd,
}

impl RetransformSubset {
    fn contains(self, name: &[u8]) -> bool {
        // So the halves are equally large in bytes on JDK 17 to 25, to a twentieth.
        let odd = name.last().is_some_and(|byte| byte & 1 == 1);
        match self {
            RetransformSubset::All => true,
            RetransformSubset::Even => !odd,
            RetransformSubset::Odd => odd,
        }
    }
}

/// Classes that HotSpot never verifies; each half has some.
const NEVER_VERIFIED: [&[u8]; 4] = [OBJECT, b"java/lang/String", b"java/lang/Class", b"java/lang/Throwable"];

thread_local! {
    /// The last class of this thread's half.
    static LAST: Cell<Option<&'static [u8]>> = const { Cell::new(None) };
    /// The last class of a request that is made while the program runs.
    static LAST_LATE: RefCell<Option<Box<[u8]>>> = const { RefCell::new(None) };
    /// This thread has the VM retransform classes.
    static IS_OWN: Cell<bool> = const { Cell::new(false) };
}

/// Whether that is the last class that the current thread has the VM retransform, which is done now.
pub(super) fn is_last(name: Option<&[u8]>) -> bool {
    IS_OWN.get() && name.is_some() && LAST_LATE.with_borrow(|last| last.as_deref() == name)
}

/// Whether the current thread has the VM retransform classes for this agent.
pub(super) fn is_own() -> bool {
    IS_OWN.get()
}

impl Instrumentation {
    /// VMInit has come: retransforms the classes that were loaded before the hook was set and have something to rewrite.
    ///
    /// Most of the start-up cost: two threads share it where the VM locks the classes it redefines. The program waits: a class
    /// that is loaded while others are redefined can crash the VM (`meet_before_the_end`).
    ///
    /// # Errors
    /// What the VM refuses: one sentence.
    pub fn begin(&self, jni: Jni) -> Result<(), String> {
        let core = self.core;
        self.is_initialised.store(true, Ordering::Release);
        if self.checks_domains() {
            core.jvm.env.enable_event(JVMTI_EVENT_CLASS_LOAD).map_err(|e| e.to_string())?;
        }
        if core.is_late {
            return self.begin_late(jni);
        }
        let is_shared =
            self.rewrites_all() && !core.rewrites_early && core.source.rewrites_much() && core.jvm.java >= 17;
        if is_shared {
            self.start_up.offer();
            self.retransform_loaded(jni, RetransformSubset::Even);
            if self.start_up.keep() {
                self.retransform_loaded(jni, RetransformSubset::Odd);
            } else if !self.start_up.wait_until_done() {
                core.rewriting.refuse("half of the classes loaded before VMInit: no answer");
            }
            return Ok(());
        }
        self.start_up.keep();
        if self.rewrites_all() {
            if !core.rewrites_early {
                self.retransform_loaded(jni, RetransformSubset::All);
            }
            return Ok(());
        }
        if self.rewriters.is_empty() {
            self.watch_others();
            return Ok(());
        }
        // The hook costs every class that is loaded a little, so it is on only while classes are retransformed.
        let env = core.jvm.env;
        env.enable_event(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK).map_err(|e| e.to_string())?;
        self.retransform_loaded(jni, RetransformSubset::All);
        env.disable_event(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK).map_err(|e| e.to_string())?;
        self.watch_others();
        // Somebody may have come while it was on.
        if self.is_hooked.load(Ordering::Acquire) {
            env.enable_event(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK).map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    /// On the agent's own thread: takes its half of the classes, if the work is shared.
    pub fn share(&self, jni: Jni) {
        if self.start_up.take() {
            self.retransform_loaded(jni, RetransformSubset::Odd);
            self.start_up.done();
        }
    }

    /// Where two threads share the work, waits at the last class of each half until the other thread has come as far.
    ///
    /// HotSpot verifies all classes of a request, which from JDK 24 on loads further classes, before it swaps their methods at a
    /// safepoint. A class must not be loaded while the methods of those above it are swapped: that crashes the VM, which holds
    /// pointers to them in `DefaultMethods::generate_default_methods` (seen on 25). The last classes are not verified.
    pub(super) fn meet_before_the_end(&self, name: &[u8]) {
        self.start_up.progress();
        if LAST.get() == Some(name) {
            LAST.set(None);
            self.start_up.meet();
            self.swapping.store(true, Ordering::Release);
        }
    }

    /// Puts a class that is never verified last, for `meet_before_the_end`.
    fn put_last(&self, wanted: &mut [jclass]) {
        match self.never_verified(wanted) {
            Some((index, name)) => {
                wanted.swap(index, wanted.len() - 1);
                LAST.set(Some(name));
            }
            None => {
                self.start_up.arrive();
                self.swapping.store(true, Ordering::Release);
            }
        }
    }

    /// One of these classes that is never verified: its place and name.
    fn never_verified(&self, classes: &[jclass]) -> Option<(usize, &'static [u8])> {
        let name_of = |class: jclass| {
            let found = self.name(class)?;
            NEVER_VERIFIED.into_iter().find(|&name| *name == *found)
        };
        classes.iter().enumerate().find_map(|(index, &class)| Some((index, name_of(class)?)))
    }

    /// The internal name of a class, which is a live reference.
    fn name(&self, class: jclass) -> Option<Box<[u8]>> {
        // SAFETY: a live reference.
        let signature = unsafe { self.core.jvm.env.get_class_signature(class) }.ok()?;
        internal_name(&signature).map(Into::into)
    }

    /// Has the VM load these classes once more while the program runs, and deletes the global references. From the last class of a request
    /// on, which if possible is one that needs no others to be verified, nobody else makes a class until methods are swapped.
    ///
    /// JDK 11 looks at all classes and all compiled code for each class that it redefines, while the program stands still: 8 s for those of
    /// Tomcat. So there they come in parts, each with a class behind it that has no methods: nothing is verified, nor rewritten, and the VM
    /// keeps no version of it. (Of `Object` it keeps each, and looks at all of them for each class: some hundred after ten recordings.)
    pub(super) fn retransform_late(&self, jni: Jni, mut wanted: Vec<jclass>) {
        /// Some hundredths of a second.
        const PART: usize = 16;
        let is_in_parts = self.core.jvm.java < 17 && wanted.len() > PART;
        let find = || jni.find_class(c"java/io/Serializable").inspect_err(|_| jni.exception_clear()).ok();
        let last = is_in_parts.then(find).flatten();
        while let Some(last) = last.filter(|_| wanted.len() > PART) {
            let mut part = wanted.split_off(wanted.len() - PART);
            // SAFETY: a live local reference.
            part.extend(Some(unsafe { jni.new_global_ref(last) }).filter(|class| !class.is_null()));
            self.retransform_part(jni, part);
            self.gate.open();
        }
        if let Some((index, _)) = self.never_verified(&wanted) {
            let last = wanted.len() - 1;
            wanted.swap(index, last);
        }
        self.retransform_part(jni, wanted);
        if let Some(last) = last {
            // SAFETY: a local reference that is not used any more.
            unsafe { jni.delete_local_ref(last) };
        }
    }

    fn retransform_part(&self, jni: Jni, classes: Vec<jclass>) {
        LAST_LATE.set(classes.last().and_then(|&class| self.name(class)));
        self.retransform(jni, classes);
        LAST_LATE.set(None);
    }

    /// Makes the VM reload the classes of a subset that came before the hook and that hold something to rewrite.
    fn retransform_loaded(&self, jni: Jni, subset: RetransformSubset) {
        let mut wanted = self.choose(jni, |class, name| {
            self.needs_rewriting(class, name, subset) || subset.contains(name) && self.lacks_guard(jni, class, name)
        });
        match subset {
            RetransformSubset::Even | RetransformSubset::Odd => self.put_last(&mut wanted),
            RetransformSubset::All => self.swapping.store(true, Ordering::Release),
        }
        self.retransform(jni, wanted);
    }

    /// The loaded classes for which `is_wanted`, by reference and signature, as global references.
    pub(super) fn choose(&self, jni: Jni, mut is_wanted: impl FnMut(jclass, &[u8]) -> bool) -> Vec<jclass> {
        let env = self.core.jvm.env;
        let mut wanted: Vec<jclass> = Vec::new();
        let visited = self.core.jvm.classes.each_loaded(jni, |class| {
            // SAFETY: a live reference.
            unsafe {
                let signature = env.get_class_signature(class).ok();
                let name = signature.as_ref().and_then(|signature| internal_name(signature));
                if name.is_some_and(|name| is_wanted(class, name)) {
                    wanted.push(jni.new_global_ref(class));
                }
            }
            Ok(())
        });
        if let Err(error) = visited {
            self.core.rewriting.refuse(&format!("loaded classes: {}", error.name()));
        }
        // There may be no memory for one.
        wanted.retain(|class| !class.is_null());
        wanted
    }

    /// Has the VM load these classes once more, and deletes the global references.
    pub(super) fn retransform(&self, jni: Jni, wanted: Vec<jclass>) {
        let env = self.core.jvm.env;
        let refuse = |reason: String| self.core.rewriting.refuse(&reason);
        IS_OWN.set(true);
        // SAFETY: live references, deleted at the end.
        let result = unsafe { env.retransform_classes(&wanted) };
        if LAST.take().is_some() {
            self.start_up.arrive();
        }
        match result {
            Ok(()) => self.core.rewriting.redefine(wanted.len()),
            // Alone each would make the VM collect all garbage.
            Err(Error::OUT_OF_MEMORY) => wanted.iter().for_each(|_| refuse("class: OUT_OF_MEMORY".into())),
            // One bad class fails them all; alone each shows whether it is the one.
            Err(_) => {
                let is_late = LAST_LATE.with_borrow(Option::is_some);
                for &class in &wanted {
                    if is_late {
                        LAST_LATE.set(self.name(class));
                    }
                    // SAFETY: as above.
                    match unsafe { env.retransform_classes(&[class]) } {
                        Ok(()) => self.core.rewriting.redefine(1),
                        Err(error) => refuse(format!("class: {}", error.name())),
                    }
                }
            }
        }
        IS_OWN.set(false);
        self.core.jvm.methods.forget_versions();
        for class in wanted {
            // SAFETY: a global reference that is not used any more.
            unsafe { jni.delete_global_ref(class) };
        }
    }

    pub(super) fn needs_rewriting(&self, class: jclass, name: &[u8], subset: RetransformSubset) -> bool {
        let env = self.core.jvm.env;
        let considering = || self.rewriters.iter().filter(|rewriter| rewriter.considers(name));
        if !subset.contains(name)
            || is_helper(name)
            || considering().next().is_none()
            || self.before_init.lock().contains(name)
        {
            return false;
        }
        // SAFETY: a live local reference.
        unsafe {
            env.is_modifiable_class(class).unwrap_or(false) && considering().any(|rewriter| rewriter.wants(class))
        }
    }
}

/// The internal name of a class by its signature; `None` of an array or a primitive type.
pub fn internal_name(signature: &[u8]) -> Option<&[u8]> {
    signature.strip_prefix(b"L")?.strip_suffix(b";")
}

/// Whether the class may call or be one of the methods of these names: its constant pool has such a text. Bytecode of a loaded
/// class does not show whom it calls.
///
/// # Safety
/// `class` is a live reference.
pub unsafe fn names_one(env: Env, class: jclass, names: &[&[u8]]) -> bool {
    // SAFETY: by the caller's promise.
    let Ok(pool) = (unsafe { env.get_constant_pool(class) }) else { return true };
    names.iter().any(|name| memchr::memmem::find(&pool, &[&[1, 0, name.len() as u8], *name].concat()).is_some())
}

/// Whether the static initialiser of a class has run.
///
/// # Safety
/// `class` is a live reference.
pub(super) unsafe fn is_initialised(env: Env, class: jclass) -> bool {
    // SAFETY: by the caller's promise.
    unsafe { env.get_class_status(class) }.is_ok_and(|status| status & JVMTI_CLASS_STATUS_INITIALIZED != 0)
}

/// Whether code of the class that may still run has one of these instructions.
///
/// # Safety
/// `class` is a live reference.
pub unsafe fn has_site(env: Env, class: jclass, opcodes: &[u8]) -> bool {
    // SAFETY: by the caller's promise; the methods are of this class.
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
            assert!(RetransformSubset::All.contains(name));
            assert_ne!(RetransformSubset::Even.contains(name), RetransformSubset::Odd.contains(name));
        }
        for subset in [RetransformSubset::Even, RetransformSubset::Odd] {
            assert!(NEVER_VERIFIED.iter().any(|name| subset.contains(name)), "{subset:?}");
        }
    }
}
