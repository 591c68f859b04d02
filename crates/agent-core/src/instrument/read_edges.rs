//! What HotSpot runs in Java while it loads a class that an agent changes.
//!
//! As it makes the first changed class of a named module, HotSpot calls `jdk.internal.module.Modules.transformedByAgent`, on the thread that loads the
//! class: from then on the module reads the unnamed modules, in which the agent's classes may be. The Java code notes that in a `WeakPairMap`, which
//! may not be loaded by then. If the class that is being made is one of the map's own, or above one of them, the call needs what it is part of:
//! `ClassCircularityError`, which the VM swallows, and throws again whenever the program needs the class (17 to 25: no proxy could be made any more).

use jvmti::jni_sys::jobject;
use jvmti::{Env, Jni, JniError};

/// Has the VM load and initialise those classes while nothing is changed: adds the edge that it would add anyway.
///
/// # Errors
/// What the VM refuses: one sentence. No exception is pending.
pub(super) fn add_first(env: Env, jni: Jni) -> Result<(), String> {
    let failed = |why: String| format!("cannot load the classes that add read edges between modules: {why}");
    jni.push_local_frame(8).map_err(|error| failed(jni.cleared(error)))?;
    let added = modules(jni).map_err(|error| failed(jni.cleared(error))).and_then(|(base, unnamed)| {
        // SAFETY: live local references to modules.
        unsafe { env.add_module_reads(base, unnamed) }.map_err(|error| failed(error.to_string()))
    });
    // SAFETY: the frame from above, none of whose references is used any more.
    unsafe { jni.pop_local_frame() };
    added
}

/// `java.base`, and the unnamed module of the system class loader.
fn modules(jni: Jni) -> Result<(jobject, jobject), JniError> {
    let loader_class = jni.find_class(c"java/lang/ClassLoader")?;
    let class_class = jni.find_class(c"java/lang/Class")?;
    // SAFETY: live local references, and public methods of these classes that take nothing.
    unsafe {
        let get_module = jni.get_method_id(class_class, c"getModule", c"()Ljava/lang/Module;")?;
        let base = jni.call_object_method(loader_class, get_module, &[])?;
        let get_loader =
            jni.get_static_method_id(loader_class, c"getSystemClassLoader", c"()Ljava/lang/ClassLoader;")?;
        let loader = jni.call_static_object_method(loader_class, get_loader, &[])?;
        if loader.is_null() {
            return Err(JniError::Exception);
        }
        let get_unnamed = jni.get_method_id(loader_class, c"getUnnamedModule", c"()Ljava/lang/Module;")?;
        Ok((base, jni.call_object_method(loader, get_unnamed, &[])?))
    }
}
