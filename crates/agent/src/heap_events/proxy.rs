//! HeapProxy, the Java class that rewritten code calls: its methods, and its table of classes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use classfile::StaticMethod;
use jvmti::{Jni, JniError};

use agent_base::helpers::{HEAP_PROXY, HelperClass};
use agent_core::core::Core;

/// So long another thread may change the table of classes before a recording is given up.
const LONGEST_CHANGE: Duration = Duration::from_secs(1);

const fn method(name: &'static str, descriptor: &'static str) -> StaticMethod {
    StaticMethod { class: HEAP_PROXY.internal_name, name, descriptor }
}

/// The methods that rewritten code calls.
pub(crate) struct Hooks {
    pub(crate) object: StaticMethod,
    /// By element type as `newarray` encodes it, from 4 (boolean) to 11 (long).
    pub(crate) primitive_arrays: [StaticMethod; 8],
    pub(crate) array: StaticMethod,
    pub(crate) multi_array: StaticMethod,
    /// For the result of a call that the JIT may replace by an allocation; see `instrument::intrinsics`.
    pub(crate) made: StaticMethod,
    pub(crate) made_bare: StaticMethod,
}

macro_rules! hooks {
    ($object:literal, $array:literal, $multi:literal, $made:literal, $bare:literal) => {
        Hooks {
            object: method($object, "(Ljava/lang/Object;)V"),
            primitive_arrays: [
                method($array, "([Z)V"),
                method($array, "([C)V"),
                method($array, "([F)V"),
                method($array, "([D)V"),
                method($array, "([B)V"),
                method($array, "([S)V"),
                method($array, "([I)V"),
                method($array, "([J)V"),
            ],
            array: method($array, "([Ljava/lang/Object;)V"),
            multi_array: method($multi, "([Ljava/lang/Object;)V"),
            made: method($made, "(Ljava/lang/Object;)V"),
            made_bare: method($bare, "(Ljava/lang/Object;)V"),
        }
    };
}

/// For classes loaded before VMInit.
pub(crate) static EARLY: Hooks =
    hooks!("earlyObjectAlloc", "earlyArrayAlloc", "earlyMultiArrayAlloc", "earlyMade", "earlyMadeBare");
/// For all others.
pub(crate) static DIRECT: Hooks = hooks!("objectAlloc", "arrayAlloc", "multiArrayAlloc", "made", "madeBare");

const KEEP: StaticMethod = method("keep", "(Ljava/lang/Object;)V");
/// Where the VM reports allocations: nothing is done with the object, but the JIT does not know that.
pub(crate) static ESCAPE: Hooks =
    Hooks { object: KEEP, primitive_arrays: [KEEP; 8], array: KEEP, multi_array: KEEP, made: KEEP, made_bare: KEEP };

/// Defines HeapProxy, if the VM does not have it, with the classes of this recording.
///
/// # Errors
/// What the VM refuses: one sentence.
pub(crate) fn define_proxy(core: &Core, jni: Jni) -> Result<HelperClass, String> {
    let class = core.jvm.helpers.start(jni, &HEAP_PROXY).and_then(|class| {
        if core.number.0 > 1 {
            forget(class, jni)?;
        }
        Ok(class)
    });
    class.map_err(|error| format!("cannot define HeapProxy, so nothing is recorded: {error}"))
}

/// Makes HeapProxy forget all classes: another recording may have other filters.
fn forget(class: HelperClass, jni: Jni) -> Result<(), JniError> {
    // A debugger may have suspended a thread that changes the table.
    let begun = Instant::now();
    while !begin_change() {
        if begun.elapsed() > LONGEST_CHANGE {
            return Err(JniError::Code(0));
        }
        std::thread::yield_now();
    }
    let forgotten = class.call(jni, c"forget");
    end_change();
    forgotten
}

/// A thread changes a table of the helper classes. Another that would do the same does not wait.
static CHANGING: AtomicBool = AtomicBool::new(false);

/// Whether the caller may change a table of the helper classes.
pub(super) fn begin_change() -> bool {
    !CHANGING.swap(true, Ordering::Acquire)
}

/// The change is over.
pub(super) fn end_change() {
    CHANGING.store(false, Ordering::Release);
}
