//! The names of modules, read from the fields of classes: no code of Java runs for that.

use jvmti::jni_sys::{jclass, jfieldID};
use jvmti::{Jni, JniError};

/// Where a class has its module, and a module its name.
#[derive(Debug)]
pub(super) struct ModuleFields {
    module: jfieldID,
    name: jfieldID,
}

// SAFETY: ids of fields belong to no thread, and their classes are never unloaded.
unsafe impl Send for ModuleFields {}
// SAFETY: as above.
unsafe impl Sync for ModuleFields {}

impl ModuleFields {
    /// Finds the fields, once the VM is initialised.
    ///
    /// # Errors
    /// The VM does not have them; an exception is pending.
    pub(super) fn find(jni: Jni) -> Result<ModuleFields, JniError> {
        let [class, module] = [jni.find_class(c"java/lang/Class")?, jni.find_class(c"java/lang/Module")?];
        // SAFETY: live classes, deleted when nothing more is asked of them.
        unsafe {
            let fields = ModuleFields {
                module: jni.get_field_id(class, c"module", c"Ljava/lang/Module;")?,
                name: jni.get_field_id(module, c"name", c"Ljava/lang/String;")?,
            };
            jni.delete_local_ref(class);
            jni.delete_local_ref(module);
            Ok(fields)
        }
    }

    /// The name of the module that a class is in; `None` for an unnamed one.
    ///
    /// # Safety
    /// `class` is a live reference.
    pub(super) unsafe fn name(&self, jni: Jni, class: jclass) -> Option<Box<str>> {
        // SAFETY: by the caller's promise, and fields of these classes; local references that are deleted at once, of which null
        // is allowed.
        unsafe {
            let module = jni.get_object_field(class, self.module);
            if module.is_null() {
                return None;
            }
            let name = jni.get_object_field(module, self.name);
            jni.delete_local_ref(module);
            if name.is_null() {
                return None;
            }
            let text = jni.get_string_utf(name);
            jni.delete_local_ref(name);
            Some(trace::modified_utf8::decode(&text).into())
        }
    }
}
