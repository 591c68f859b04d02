//! Methods of the JDK that need hooks of their own: those that define hidden classes, those that the VM calls, and natives whose
//! objects the VM reports together with others.

use classfile::{MemberRef, MethodView, Op};

/// Names of the methods below that rewritten code defines or calls.
pub(super) const NAMES: &[&[u8]] =
    &[b"getDeclaredMethods0", b"findFromArchive", b"defineClass", b"defineAnonymousClass"];

/// A method of the JDK through which all hidden classes come, which no class file load hook sees.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClassDefiner {
    /// Local variable with the class beside which it is defined, whose loader it gets.
    pub(super) host: u8,
    /// Local variable with the class file.
    pub(super) class_file: u8,
    /// Pushes the flags of `ClassLoader.defineClass0`.
    pub(super) flags: Op<'static>,
}

impl ClassDefiner {
    /// `HIDDEN_CLASS` of `java.lang.invoke.MethodHandleNatives.Constants`.
    const HIDDEN_CLASS: i32 = 2;

    /// The method, if it defines hidden classes.
    pub(super) fn of(method: &MethodView<'_>) -> Option<ClassDefiner> {
        const LOOKUP: &[u8] = b"(Ljava/lang/ClassLoader;Ljava/lang/Class;Ljava/lang/String;[BLjava/security/ProtectionDomain;ZILjava/lang/Object;)Ljava/lang/Class;";
        const ANONYMOUS: &[u8] = b"(Ljava/lang/Class;[B[Ljava/lang/Object;)Ljava/lang/Class;";
        match (method.class_name(), method.name(), method.descriptor()) {
            // JavaLangAccess, from JDK 15 on.
            (class, b"defineClass", LOOKUP) if class.starts_with(b"java/lang/System$") => {
                Some(ClassDefiner { host: 2, class_file: 4, flags: Op::Iload(7) })
            }
            (b"jdk/internal/misc/Unsafe", b"defineAnonymousClass", ANONYMOUS) => {
                Some(ClassDefiner { host: 1, class_file: 2, flags: Op::PushInt(Self::HIDDEN_CLASS) })
            }
            _ => None,
        }
    }
}

/// An argument that the VM passes to a method that it calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    /// An object that the VM has made for the call.
    New,
    /// If it is an array, the VM has made it for the call; any other object existed before.
    NewIfArray,
}

/// Local variables that hold objects which the VM has made for a call.
pub(super) type Arguments = &'static [(u8, Argument)];

/// The arguments of a method that the VM calls, if it makes some of them: those by which it resolves method handles.
pub(super) fn vm_arguments(method: &MethodView<'_>) -> Option<Arguments> {
    let is_called = method.class_name() == b"java/lang/invoke/MethodHandleNatives";
    is_called.then(|| resolving_arguments(method.name(), method.descriptor()))?
}

fn resolving_arguments(name: &[u8], descriptor: &[u8]) -> Option<Arguments> {
    // Older VMs pass the index of a constant, too.
    let has_index = descriptor.starts_with(b"(Ljava/lang/Object;I");
    Some(match name {
        b"findMethodHandleType" => &[(1, Argument::New)],
        b"linkMethod" => &[(5, Argument::New)],
        b"linkMethodHandleConstant" => &[(3, Argument::New)],
        b"linkCallSite" if has_index => &[(5, Argument::NewIfArray), (6, Argument::New)],
        b"linkCallSite" => &[(4, Argument::NewIfArray), (5, Argument::New)],
        b"linkDynamicConstant" if has_index => &[(5, Argument::NewIfArray)],
        b"linkDynamicConstant" => &[(4, Argument::NewIfArray)],
        _ => return None,
    })
}

/// Whether a call returns a hidden class out of the CDS archive, or null.
pub(super) fn finds_archived_class(callee: &MemberRef<'_>) -> bool {
    (callee.owner, callee.name) == (b"java/lang/invoke/LambdaProxyClassArchive", b"findFromArchive")
        && callee.descriptor.ends_with(b")Ljava/lang/Class;")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The arguments of a method with parameters of these types, by the names of their types.
    fn made_by_the_vm(name: &str, types: &[&str]) -> Vec<(String, Argument)> {
        let descriptor = format!("({})Ljava/lang/Object;", types.concat());
        let arguments = resolving_arguments(name.as_bytes(), descriptor.as_bytes()).expect("the VM calls it");
        arguments.iter().map(|&(variable, argument)| (types[variable as usize].to_owned(), argument)).collect()
    }

    #[test]
    fn appendices_and_arguments_are_found_in_every_vm() {
        const OBJECT: &str = "Ljava/lang/Object;";
        let site = [OBJECT, OBJECT, OBJECT, OBJECT, OBJECT, "[Ljava/lang/Object;"];
        let expected = [(OBJECT.to_owned(), Argument::NewIfArray), ("[Ljava/lang/Object;".to_owned(), Argument::New)];
        assert_eq!(made_by_the_vm("linkCallSite", &site), expected);
        let with_index = [OBJECT, "I", OBJECT, OBJECT, OBJECT, OBJECT, "[Ljava/lang/Object;"];
        assert_eq!(made_by_the_vm("linkCallSite", &with_index), expected);
        assert_eq!(resolving_arguments(b"linkCallSiteImpl", b"()V"), None);
    }
}
