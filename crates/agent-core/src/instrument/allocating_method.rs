//! Which method makes an object that the VM reports on the current thread, and whether its caller counts the object.

use std::ptr::null_mut;

use jvmti::Jni;
use jvmti::sys::jvmtiFrameInfo;

use super::intrinsics::is_counted_by_caller;
use crate::core::Core;
use crate::stacks::cache::{Lookup, StackCache};
use agent_base::ids::CodeLocation;
use agent_base::tables::methods::MethodRecord;

/// A site is found within so many frames: methods that are counted where they are called call each other.
const MAX_FRAMES: usize = 8;
/// Nearly always within so many: these frames are the key of the cache.
const NEAR_FRAMES: usize = 3;

/// The method that makes an object: the innermost one that is not counted where it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocatingMethod {
    /// The method and its line.
    pub location: CodeLocation,
    /// It calls what is counted where it is called.
    pub is_counted: bool,
    /// It calls a native method of reflection that may load classes.
    pub reflects: bool,
    /// It calls the native method that makes the arrays of a backtrace.
    pub is_backtrace: bool,
}

/// The allocating methods of a thread, by the stacks on which they were found.
pub type AllocatingMethods = StackCache<Option<AllocatingMethod>>;

/// Whether a native method of `java.lang.Class` makes objects after it has loaded classes, which may run Java code.
pub fn may_load_classes(name: &[u8]) -> bool {
    matches!(name, b"getDeclaredMethods0" | b"getDeclaredConstructors0" | b"getDeclaredFields0")
}

/// Whether the current thread is in a native method whose objects are counted where it is called, as `Object.clone` most often.
///
/// # Errors
/// A JVMTI call fails.
pub fn is_counted_above(core: &Core, jni: Jni, natives: &mut StackCache<bool>) -> jvmti::Result<bool> {
    let reader = core.stack_reader(jni);
    let was = match natives.look_up(0, 1, reader) {
        Lookup::Hit(known) => return Ok(known),
        Lookup::Uncacheable => return Ok(false),
        Lookup::Miss(was) => was,
    };
    let mut frames = [jvmtiFrameInfo::default(); 1];
    let mut is_counted = false;
    // SAFETY: null is the current thread, and methods on its stack are of living classes.
    unsafe {
        for frame in core.jvm.env.get_stack_trace(null_mut(), 0, &mut frames)? {
            let method = core.jvm.methods.resolve(jni, frame.method, &core.jvm.classes)?;
            is_counted = core.jvm.methods.get(method).is_some_and(|method| is_counted_where_called(core, method));
        }
    }
    natives.insert(is_counted, was.map(|was| was == is_counted), reader);
    Ok(is_counted)
}

fn is_counted_where_called(core: &Core, method: &MethodRecord) -> bool {
    let declaring = core.jvm.classes.get(method.class);
    declaring.is_some_and(|class| is_counted_by_caller(&class.name, &method.name, &method.signature))
}

/// The method that makes an object on the current thread, if it is among the innermost frames.
///
/// # Errors
/// A JVMTI call fails.
pub fn allocating_method(
    core: &Core,
    jni: Jni,
    allocating_methods: &mut AllocatingMethods,
) -> jvmti::Result<Option<AllocatingMethod>> {
    let reader = core.stack_reader(jni);
    // A frame of the VM's may stand for none of Java's.
    let was = match allocating_methods.look_up(0, NEAR_FRAMES + 2, reader) {
        Lookup::Hit(allocating_method) => return Ok(allocating_method),
        Lookup::Uncacheable => return Ok(search(core, jni)?.0),
        Lookup::Miss(was) => was,
    };
    let (allocating_method, depth) = search(core, jni)?;
    if depth <= NEAR_FRAMES || was.is_some() {
        let is_same = was.map(|was| match (was, allocating_method) {
            (Some(was), Some(found)) => {
                core.jvm.methods.are_alike(was.location, found.location)
                    && AllocatingMethod { location: found.location, ..was } == found
            }
            (was, found) => was == found,
        });
        allocating_methods.insert(allocating_method, is_same, reader);
    }
    Ok(allocating_method)
}

/// The same by asking the VM, and the number of frames that were examined.
fn search(core: &Core, jni: Jni) -> jvmti::Result<(Option<AllocatingMethod>, usize)> {
    let mut frames = [jvmtiFrameInfo::default(); MAX_FRAMES];
    let (mut is_counted, mut reflects, mut is_backtrace) = (false, false, false);
    // SAFETY: null is the current thread, and methods on its stack are of living classes.
    unsafe {
        for (above, frame) in core.jvm.env.get_stack_trace(null_mut(), 0, &mut frames)?.iter().enumerate() {
            let method = core.jvm.methods.resolve(jni, frame.method, &core.jvm.classes)?;
            let Some(record) = core.jvm.methods.get(method) else { continue };
            let declaring = core.jvm.classes.get(record.class);
            let by_caller = is_counted_where_called(core, record);
            is_counted |= by_caller;
            reflects |=
                declaring.is_some_and(|c| c.name == "java.lang.Class") && may_load_classes(record.name.as_bytes());
            let is_native = frame.location < 0;
            is_backtrace |= is_native
                && record.name == "fillInStackTrace"
                && declaring.is_some_and(|c| c.name == "java.lang.Throwable");
            if !is_native && !by_caller {
                let location = CodeLocation { method, line: record.line(frame.location) };
                return Ok((Some(AllocatingMethod { location, is_counted, reflects, is_backtrace }), above + 1));
            }
        }
        Ok((None, MAX_FRAMES))
    }
}
