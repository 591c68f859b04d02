//! What a thread does on a processor, as the stack of a sample shows it.

use trace::names;

use crate::location::Location;
use crate::warm_up::CodeKind;

/// What a thread does on a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Work {
    /// Looking for classes, defining and linking them, as far as class loaders and the linker of call sites do it.
    Loading,
    /// Making exceptions: walking the stack for them.
    Exceptions,
    /// Bytecode in the interpreter.
    Interpreted,
    /// Compiled code.
    Compiled,
    /// Native methods, and functions of the JVM.
    Native,
    /// Its stack was not found, or the trace does not say how it ran.
    Other,
}

impl Work {
    /// All of them.
    pub const ALL: [Work; 6] =
        [Work::Loading, Work::Exceptions, Work::Interpreted, Work::Compiled, Work::Native, Work::Other];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Work::Loading => "loading",
            Work::Exceptions => "exceptions",
            Work::Interpreted => "interpreted",
            Work::Compiled => "compiled",
            Work::Native => "native",
            Work::Other => "other-cpu",
        }
    }

    /// Of a stack with these frames, of which the innermost ran like that, if that is known.
    pub(super) fn of<'a>(frames: impl Iterator<Item = Location<'a>>, ran: Option<CodeKind>) -> Work {
        let mut loads = false;
        for frame in frames {
            if frame.class == "java.lang.Throwable" && frame.method == "fillInStackTrace" {
                return Work::Exceptions;
            }
            loads |= is_loading(&frame);
        }
        match ran {
            _ if loads => Work::Loading,
            Some(CodeKind::Interpreted) => Work::Interpreted,
            Some(CodeKind::C1 | CodeKind::C2) => Work::Compiled,
            Some(CodeKind::Native) => Work::Native,
            None => Work::Other,
        }
    }
}

/// Whether a class loader or the linker of call sites is at work.
fn is_loading(frame: &Location<'_>) -> bool {
    let begins = |beginnings: &[&str]| beginnings.iter().any(|begin| frame.method.starts_with(begin));
    match frame.class {
        "java.lang.Class" => begins(&["forName"]),
        "java.lang.invoke.MethodHandleNatives" => begins(&["link"]),
        // Their constructors and resources are looked up for other reasons.
        class if class.contains("Loader") => {
            let is_constructor = names::jvm_method_name(frame.method).starts_with('<');
            !is_constructor && begins(&["loadClass", "findClass", "defineClass"])
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loaders_and_exceptions_are_known_by_their_frames() {
        let work = |frames: &[(&'static str, &'static str)], ran| {
            let frame = |&(class, method): &(&'static str, &'static str)| Location {
                class,
                method,
                signature: "",
                source: "",
                line: None,
            };
            Work::of(frames.iter().map(frame), ran)
        };
        let own = ("shop.Orders", "handle");
        assert_eq!(work(&[own], Some(CodeKind::C2)), Work::Compiled);
        assert_eq!(work(&[own], None), Work::Other);
        let zip = ("java.util.zip.Inflater", "inflate");
        let loader = ("jdk.internal.loader.BuiltinClassLoader", "loadClassOrNull");
        assert_eq!(work(&[zip, loader, own], Some(CodeKind::Interpreted)), Work::Loading);
        assert_eq!(work(&[("java.lang.invoke.MethodHandleNatives", "linkCallSite"), own], None), Work::Loading);
        // A resource of the program is no class.
        assert_eq!(work(&[zip, ("java.lang.ClassLoader", "getResource"), own], Some(CodeKind::C1)), Work::Compiled);
        let exception = ("java.lang.Throwable", "fillInStackTrace");
        assert_eq!(work(&[exception, loader, own], Some(CodeKind::Native)), Work::Exceptions);
    }
}
