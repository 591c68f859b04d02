//! The interface of a feature: what the rest of the agent calls, and when.

use classfile::ClassFile;
use jvmti::Jni;
use jvmti::jni_sys::{jclass, jobject};
use jvmti::sys::jvmtiEventCallbacks;

use super::asking::Wanted;
use super::context::{LocalThread, ThreadContext};
use agent_base::clock::Ticks;
use agent_base::helpers::Helper;
use agent_base::ids::{GcNumber, ThreadIndex};

/// Why a recording ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With the VM.
    Vm,
    /// Earlier: the VM continues.
    Recording,
    /// Earlier, and nobody wants the trace: the program is not stopped once more for it.
    Unwanted,
}

impl End {
    /// Whether the VM goes on.
    pub fn is_survived(self) -> bool {
        self != End::Vm
    }
}

/// One feature of a recording. All references to Java objects that are passed are live.
pub trait Feature: Sync {
    /// Makes it the one that its callbacks find.
    fn install(&'static self) {}

    /// Sets its callbacks, in the environment of classes and threads, and in that of objects and collections.
    fn callbacks(&self, _main: &mut jvmtiEventCallbacks, _objects: &mut jvmtiEventCallbacks) {}

    /// At VMStart: defines the helper class that rewritten code calls.
    ///
    /// # Errors
    /// What went wrong: one sentence. Nothing is recorded then.
    fn prepare(&'static self, _jni: Jni) -> Result<(), String> {
        Ok(())
    }

    /// At VMInit: prepares the feature, and enables its events. Nothing is reported yet.
    ///
    /// # Errors
    /// What went wrong: one sentence. Nothing is recorded then.
    fn begin(&'static self, jni: Jni) -> Result<(), String>;

    /// A thread is found that has sent no start event: a platform thread older than the recording, or a virtual one that is
    /// mounted for the first time.
    ///
    /// # Safety
    /// `thread` is a live reference to the thread.
    unsafe fn thread_found(&'static self, _jni: Jni, _thread: jobject, _index: ThreadIndex) {}

    /// From now on events are reported.
    fn resume(&'static self, _jni: Jni) {}

    /// The current platform thread starts.
    ///
    /// # Safety
    /// `thread` is a live reference to it.
    unsafe fn thread_start(&'static self, _jni: Jni, _local: &mut LocalThread, _thread: jobject) {}

    /// The current platform or virtual thread is about to end; the time of its end is taken later.
    ///
    /// # Safety
    /// `thread` is a live reference to it.
    unsafe fn thread_leaves(&'static self, _jni: Jni, _thread: jobject, _index: ThreadIndex) {}

    /// The current platform thread ends: the last chance to report something on it.
    fn thread_end(&'static self, _jni: Jni, _local: &mut LocalThread, _now: Ticks) {}

    /// Another thread runs on the current platform thread: a virtual one, or the platform thread itself.
    fn switched(&'static self, _jni: Jni, _local: &mut LocalThread) {}

    /// A class has been linked on the current thread.
    ///
    /// # Safety
    /// `class` is a live reference.
    unsafe fn class_prepared(&'static self, _jni: Jni, _class: jclass) {}

    /// Whether [`tick`](Feature::tick) is to be called each second.
    fn wants_ticks(&self) -> bool {
        false
    }

    /// Called each second on the agent's own thread.
    fn tick(&'static self, _jni: Jni) {}

    /// The numbers so far are asked for, on the agent's own thread. False if the feature writes what it finds at once.
    fn snapshot(&'static self, _jni: Jni, _wanted: Wanted) -> bool {
        false
    }

    /// Collections have ended, those after `before` up to `last`; called on the agent's own thread.
    fn collected(&'static self, _jni: Jni, _before: GcNumber, _last: GcNumber) {}

    /// The recording ends; events are still reported.
    fn stop(&'static self, _jni: Jni, _end: End) {}

    /// The accounts of all living threads are about to be read.
    fn accounts_begin(&'static self, _jni: Jni, _thread: &mut ThreadContext) {}

    /// The JVM accounts so many bytes to a living thread (`None` if it does not say), which is written next. Called again if the
    /// thread allocated much meanwhile.
    fn account(&'static self, _thread: &mut ThreadContext, _of: ThreadIndex, _vm_bytes: Option<u64>, _now: Ticks) {}

    /// Bytes that it has counted exactly for a living thread since the recording began.
    fn counted(&self, _of: ThreadIndex) -> Option<u64> {
        None
    }

    /// All accounts have been read.
    fn accounts_end(&'static self, _thread: &mut ThreadContext) {}

    /// Events are not reported any more; the writer has not written the end of the trace yet.
    fn stopped(&'static self, _jni: Jni, _end: End) {}

    /// The recording is over and its trace written: frees what takes room. A hook on another thread that has not seen the end may still
    /// use what is left.
    fn release(&'static self, _jni: Jni) {}

    /// What it does to classes, if it rewrites any.
    fn rewriter(&'static self) -> Option<&'static dyn Rewriter> {
        None
    }
}

/// How far the VM has brought a class when its class file is rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassPhase {
    /// Before the VM makes it.
    Loading,
    /// It exists, but its static initialiser has not run.
    Loaded,
    /// Its static initialiser has run.
    Initialised,
}

/// A class file that is to be rewritten.
#[derive(Clone, Copy)]
pub struct RewriteRequest<'r> {
    /// The environment of the thread that loads the class.
    pub jni: Jni,
    /// Internal; empty if the VM gives none.
    pub name: &'r [u8],
    /// A live reference or null for the boot loader; `None` for a hidden class, which is not found by its name.
    pub loader: Option<jobject>,
    /// The loader by which the VM finds what its code names: a live reference or null for the boot loader.
    pub finder: jobject,
    /// How far the VM has started.
    pub phase: ClassPhase,
    /// VMInit is over, so rewritten code need not check for it.
    pub is_initialised: bool,
}

/// What a feature does to classes.
pub trait Rewriter: Sync {
    /// The class file with its hooks; `None` if it stays as it is.
    ///
    /// # Safety
    /// The loaders of the request are live references or null.
    unsafe fn rewrite(&self, class: &ClassFile<'_>, request: RewriteRequest<'_>) -> Option<Vec<u8>>;

    /// The helper class that it has classes of the program call.
    fn helper(&self) -> Option<&'static Helper>;

    /// Whether it may rewrite a class of that class file. If not, its loader is not asked for the helper class.
    fn concerns(&self, _class: &ClassFile<'_>) -> bool {
        true
    }

    /// Whether a class of that internal name, which is loaded already, may have something to rewrite.
    fn considers(&self, name: &[u8]) -> bool;

    /// Whether such a class holds something to rewrite.
    ///
    /// # Safety
    /// `class` is a live reference.
    unsafe fn wants(&self, class: jclass) -> bool;

    /// Whether it rewrites classes as they are loaded, and not only those that it names.
    fn rewrites_all(&self) -> bool;

    /// The VM begins to make a class of that class file on the current thread, if it can be read.
    fn class_loading(&self, _jni: Jni, _class: Option<&ClassFile<'_>>) {}

    /// The VM has made a class on the current thread; called where somebody asks for the event.
    ///
    /// # Safety
    /// `class` is a live reference.
    unsafe fn class_loaded(&self, _jni: Jni, _class: jclass) {}
}
