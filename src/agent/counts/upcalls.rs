//! Methods of the JDK that the VM calls, with objects that it made for that.

use classfile::MethodView;
use jvmti::Jni;
use jvmti::jni_sys::jobject;

use super::Counts;
use super::counters::AllocationSite;
use super::threads::CountsThread;
use crate::agent::core::context::ThreadContext;

/// What the VM hands over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Given {
    /// An object that it made.
    Fresh,
    /// An array that it made; anything else was there before.
    Array,
}

/// A method that the VM calls.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Upcall {
    /// By local variable, what it is given.
    pub(super) given: &'static [(u8, Given)],
}

impl Upcall {
    /// That method, if it is one.
    pub(super) fn of(method: &MethodView<'_>) -> Option<Upcall> {
        let is_called = method.class_name() == b"java/lang/invoke/MethodHandleNatives";
        is_called.then(|| Upcall::resolving(method.name(), method.descriptor()))?
    }

    /// By which the VM resolves method handles, in `MethodHandleNatives`.
    fn resolving(name: &[u8], descriptor: &[u8]) -> Option<Upcall> {
        // Older VMs give the index of a constant, too.
        let has_index = descriptor.starts_with(b"(Ljava/lang/Object;I");
        let given: &[(u8, Given)] = match name {
            b"findMethodHandleType" => &[(1, Given::Fresh)],
            b"linkMethod" => &[(5, Given::Fresh)],
            b"linkMethodHandleConstant" => &[(3, Given::Fresh)],
            b"linkCallSite" if has_index => &[(5, Given::Array), (6, Given::Fresh)],
            b"linkCallSite" => &[(4, Given::Array), (5, Given::Fresh)],
            b"linkDynamicConstant" if has_index => &[(5, Given::Array)],
            b"linkDynamicConstant" => &[(4, Given::Array)],
            _ => return None,
        };
        Some(Upcall { given })
    }
}

/// The VM calls a method with that object, which it made.
///
/// # Safety
/// `object` is a live reference.
pub(super) unsafe fn given(
    counts: &Counts,
    jni: Jni,
    thread: &ThreadContext,
    state: &mut CountsThread,
    object: jobject,
) {
    let core = counts.core;
    // SAFETY: by the caller's promise; the class is a local reference, deleted here.
    let found = unsafe {
        let class = jni.get_object_class(object);
        let found = core.jvm.classes.resolve(jni, class);
        jni.delete_local_ref(class);
        found.and_then(|class| Ok((class, core.jvm.env.get_object_size(object)?)))
    };
    match found {
        Ok((class, bytes)) if counts.is_string(class) => {
            // SAFETY: by the caller's promise.
            unsafe { counts.count_string(jni, thread, state, object, bytes as u64) }
        }
        Ok((class, bytes)) => {
            counts.count_vm_object(thread, state, AllocationSite { class, location: None }, bytes as u64)
        }
        Err(error) => core.count_failure("VM object", error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is fresh, and what may be an array, by the name of its type.
    fn handed_over(name: &str, types: &[&str]) -> Vec<(String, Given)> {
        let descriptor = format!("({})Ljava/lang/Object;", types.concat());
        let upcall = Upcall::resolving(name.as_bytes(), descriptor.as_bytes()).expect("the VM calls it");
        upcall.given.iter().map(|&(variable, given)| (types[variable as usize].to_owned(), given)).collect()
    }

    #[test]
    fn appendices_and_arguments_are_found_in_every_vm() {
        const OBJECT: &str = "Ljava/lang/Object;";
        let site = [OBJECT, OBJECT, OBJECT, OBJECT, OBJECT, "[Ljava/lang/Object;"];
        let expected = [(OBJECT.to_owned(), Given::Array), ("[Ljava/lang/Object;".to_owned(), Given::Fresh)];
        assert_eq!(handed_over("linkCallSite", &site), expected);
        let with_index = [OBJECT, "I", OBJECT, OBJECT, OBJECT, OBJECT, "[Ljava/lang/Object;"];
        assert_eq!(handed_over("linkCallSite", &with_index), expected);
        assert_eq!(Upcall::resolving(b"linkCallSiteImpl", b"()V"), None);
    }
}
