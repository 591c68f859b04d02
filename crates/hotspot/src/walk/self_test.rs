//! Decides at the start whether the walker is trusted: stacks of a class of ours, interpreted and compiled, have to be what JVMTI says.

use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use jvmti::jni_sys::{JNIEnv, jclass};
use jvmti::sys::jvmtiFrameInfo;
use jvmti::{Env, Jni, guard};

use super::{Frame, MAX_FRAMES, RawStack, Registers, Walker};
use crate::memory::JavaThread;
use agent_base::helpers::WALK;

/// So many of its stacks are compared, by the class.
const STACKS: usize = 20;
/// So many frames each of them has at least.
const FRAMES: usize = 6;

/// The test that runs: one at a time.
static TEST: AtomicPtr<Test<'static>> = AtomicPtr::new(null_mut());
/// What the first test has said.
static VERDICT: OnceLock<Result<(), String>> = OnceLock::new();

struct Test<'t> {
    walker: &'t Walker,
    env: Env,
    thread: JavaThread,
    stack: Box<RawStack>,
    compared: usize,
    difference: Option<String>,
}

impl Walker {
    /// Compares with JVMTI what it makes of stacks of the current thread, which is not in Java code: from VMInit on, a few
    /// milliseconds. What came of it the first time counts for all.
    ///
    /// # Errors
    /// Why it is not to be trusted: one clause.
    pub fn self_test(&self, env: Env, jni: Jni, current: JavaThread) -> Result<(), String> {
        VERDICT.get_or_init(|| self.test(env, jni, current)).clone()
    }

    fn test(&self, env: Env, jni: Jni, thread: JavaThread) -> Result<(), String> {
        let stack = Box::new(RawStack::empty());
        let mut test = Test { walker: self, env, thread, stack, compared: 0, difference: None };
        TEST.store((&raw mut test).cast(), Ordering::Release);
        // SAFETY: the class has no loader but the boot loader; a method of it without arguments; the reference is deleted at once.
        let ran = unsafe {
            jni.define_class(WALK.c_name, null_mut(), WALK.bytes).and_then(|class| {
                let method = jni.get_static_method_id(class, c"run", c"()V");
                let ran = method.and_then(|method| jni.call_static_void_method(class, method, &[]));
                jni.delete_local_ref(class);
                ran
            })
        };
        TEST.store(null_mut(), Ordering::Release);
        if let Err(error) = ran {
            return Err(format!("cannot run the stack walker's self-test: {}", jni.cleared(error)));
        }
        match test.difference {
            Some(difference) => Err(difference),
            None if test.compared < STACKS => Err("the stack walker's self-test compared too few stacks".into()),
            None => Ok(()),
        }
    }
}

impl Test<'_> {
    fn compare(&mut self, jni: Jni) -> Result<(), String> {
        let mut raw = vec![jvmtiFrameInfo::default(); MAX_FRAMES];
        // SAFETY: null is the current thread.
        let found = unsafe { self.env.get_stack_trace(null_mut(), 0, &mut raw) }.map_err(|error| error.to_string())?;
        let walked = self.walker.walk(&Registers::here(), Some(self.thread), &mut self.stack);
        walked.map_err(|error| format!("the stack walker failed on a stack of its self-test ({})", error.name()))?;
        let ours = self.stack.frames();
        if ours.len() != found.len() || ours.len() < FRAMES {
            return Err(format!("the stack walker sees {} frames where the JVM has {}", ours.len(), found.len()));
        }
        let mut frames = ours.iter().zip(found.iter());
        match frames.find(|&(ours, found)| !self.is_same(jni, *ours, *found)) {
            Some((ours, _)) => {
                Err(format!("the stack walker sees {} where the JVM has another frame", self.shown(*ours)))
            }
            None => Ok(()),
        }
    }

    fn is_same(&self, jni: Jni, ours: Frame, found: jvmtiFrameInfo) -> bool {
        let Some(names) = self.walker.method(ours.method) else { return false };
        // SAFETY: the method has a frame on this thread; the reference is deleted at once.
        let (name, class) = unsafe {
            let Ok(name) = self.env.get_method_name(found.method) else { return false };
            let Ok(class) = self.env.get_method_declaring_class(found.method) else { return false };
            let signature = self.env.get_class_signature(class);
            jni.delete_local_ref(class);
            let Ok(signature) = signature else { return false };
            (name, signature)
        };
        let class = class.strip_prefix(b"L").and_then(|class| class.strip_suffix(b";"));
        class == Some(names.class)
            && *name.name == *names.name
            && *name.signature == *names.signature
            && u32::from(ours.line) == self.line(found)
    }

    /// The line that JVMTI has; 0 if there is none.
    fn line(&self, found: jvmtiFrameInfo) -> u32 {
        // SAFETY: the method has a frame on this thread.
        let Ok(lines) = (unsafe { self.env.get_line_number_table(found.method) }) else { return 0 };
        let before = lines.iter().filter(|line| line.start_location <= found.location);
        before.max_by_key(|line| line.start_location).map_or(0, |line| line.line_number as u32)
    }

    fn shown(&self, frame: Frame) -> String {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let names = self.walker.method(frame.method);
        let names = names
            .map_or("a method without names".into(), |names| format!("{}.{}", text(names.class), text(names.name)));
        format!("{names} in line {}", frame.line)
    }
}

/// `MartiniWalk.compare`.
///
/// # Safety
/// Called by the VM.
pub unsafe fn compare(jni: *mut JNIEnv, _: jclass) {
    // SAFETY: the test waits for the Java code that has called this, on this thread; nobody else calls that code.
    let Some(test) = (unsafe { TEST.load(Ordering::Acquire).as_mut() }) else { return };
    // SAFETY: the VM passes this thread's environment.
    let jni = unsafe { Jni::from_raw(jni) };
    guard(|| {
        test.compared += 1;
        if test.difference.is_none() {
            test.difference = test.compare(jni).err();
        }
    });
}
