//! In which field of an object another one lies. The fields themselves are read: the number that a walk gives of a field is counted
//! over all classes and interfaces of the object, and a field may have changed since.

use jvmti::Jni;
use jvmti::jni_sys::{jclass, jobject};

use agent_base::ids::ClassIndex;
use agent_core::core::Core;

/// JVMS table 4.5-A.
const ACC_STATIC: i32 = 8;

/// Whose class it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    Program,
    /// The JDK.
    Library,
}

/// Where in an object another one is.
pub(super) enum FieldOrElement {
    Field {
        holder: Holder,
        class: ClassIndex,
        field: String,
        is_static: bool,
    },
    /// In an array.
    Element,
}

/// Packages of the JDK.
const JDK: [&str; 5] = ["java.", "javax.", "jdk.", "sun.", "com.sun."];

/// Where in `holder` the object is, if the place has a name.
///
/// # Safety
/// All are live references; `class_of_classes` is `java.lang.Class`.
pub(super) unsafe fn place(
    core: &Core,
    jni: Jni,
    class_of_classes: jclass,
    holder: jobject,
    object: jobject,
) -> Option<FieldOrElement> {
    // SAFETY: by the caller's promise; local references, deleted when they are done with.
    unsafe {
        if jni.is_instance_of(holder, class_of_classes) {
            return field_of(core, jni, holder, None, object);
        }
        let mut class = jni.get_object_class(holder);
        if core.jvm.env.get_class_signature(class).is_ok_and(|signature| signature.starts_with(b"[")) {
            jni.delete_local_ref(class);
            return Some(FieldOrElement::Element);
        }
        let mut found = None;
        while !class.is_null() {
            found = found.or_else(|| field_of(core, jni, class, Some(holder), object));
            let next = if found.is_none() { jni.get_superclass(class) } else { std::ptr::null_mut() };
            jni.delete_local_ref(class);
            class = next;
        }
        found
    }
}

/// The field that this class itself declares: a static one, or one of the instance.
///
/// # Safety
/// All are live references; the instance is one of the class.
unsafe fn field_of(
    core: &Core,
    jni: Jni,
    class: jclass,
    instance: Option<jobject>,
    object: jobject,
) -> Option<FieldOrElement> {
    let env = core.jvm.env;
    // SAFETY: by the caller's promise; the fields are those of the class, and their kind is asked for.
    unsafe {
        for &field in env.get_class_fields(class).ok()?.iter() {
            let (Ok(modifiers), Ok(name)) = (env.get_field_modifiers(class, field), env.get_field_name(class, field))
            else {
                continue;
            };
            let is_static = modifiers & ACC_STATIC != 0;
            if is_static == instance.is_some() || !name.signature.starts_with(b"L") && !name.signature.starts_with(b"[")
            {
                continue;
            }
            let value = match instance {
                Some(instance) => jni.get_object_field(instance, field),
                None => jni.get_static_object_field(class, field),
            };
            let is_it = !value.is_null() && jni.is_same_object(value, object);
            jni.delete_local_ref(value);
            let field = trace::modified_utf8::decode(&name.name);
            if is_it && says_something(&field) {
                let index = core.jvm.classes.resolve(jni, class).ok()?;
                let name = &core.jvm.classes.get(index)?.name;
                let is_jdk = JDK.iter().any(|package| name.starts_with(package));
                let holder = if is_jdk { Holder::Library } else { Holder::Program };
                return Some(FieldOrElement::Field { holder, class: index, field, is_static });
            }
        }
    }
    None
}

/// Whether a field is one that somebody has written. An inner class refers to its outer object, a lambda to what it uses; and a
/// thread to what it is parked for.
fn says_something(field: &str) -> bool {
    !field.starts_with("this$") && !field.starts_with("arg$") && field != "parkBlocker"
}
