//! The errors of JVM TI, with a name and a sentence for each.

use std::fmt;

use jvmti_sys::*;

/// The result of a JVM TI call.
pub type Result<T> = std::result::Result<T, Error>;

/// An error code of JVM TI; never `JVMTI_ERROR_NONE`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Error(jvmtiError);

impl Error {
    /// `Ok` for `JVMTI_ERROR_NONE`, the error for every other code.
    ///
    /// # Errors
    ///
    /// The error of that code.
    #[inline(always)]
    pub fn check(code: jvmtiError) -> Result<()> {
        if code == JVMTI_ERROR_NONE { Ok(()) } else { Err(Self(code)) }
    }

    /// The number in `jvmti.h`.
    pub fn code(self) -> jvmtiError {
        self.0
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, error {})", self.sentence(), self.name(), self.code())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.name(), self.code())
    }
}

impl std::error::Error for Error {}

/// Defines the constants, names and sentences from one row each.
macro_rules! errors {
    ($($constant:ident $code:ident $sentence:literal)*) => {
        impl Error {
            $(#[doc = concat!("`", stringify!($code), "`: ", $sentence, ".")]
            pub const $constant: Self = Self($code);)*

            /// The name in `jvmti.h`; a code that is not in JDK 25 has none of its own.
            pub fn name(self) -> &'static str {
                match self.0 {
                    $($code => stringify!($code),)*
                    _ => "an error code newer than this library",
                }
            }

            /// What is wrong, as a sentence without a full stop.
            fn sentence(self) -> &'static str {
                match self.0 {
                    $($code => $sentence,)*
                    _ => "the VM reports an error",
                }
            }
        }

        #[cfg(test)]
        const CODES: &[jvmtiError] = &[$($code,)*];
    };
}

errors! {
    INVALID_THREAD JVMTI_ERROR_INVALID_THREAD "the thread is not a valid thread"
    INVALID_THREAD_GROUP JVMTI_ERROR_INVALID_THREAD_GROUP "the thread group is not valid"
    INVALID_PRIORITY JVMTI_ERROR_INVALID_PRIORITY "the thread priority is out of range"
    THREAD_NOT_SUSPENDED JVMTI_ERROR_THREAD_NOT_SUSPENDED "the thread was not suspended"
    THREAD_SUSPENDED JVMTI_ERROR_THREAD_SUSPENDED "the thread is already suspended"
    THREAD_NOT_ALIVE JVMTI_ERROR_THREAD_NOT_ALIVE "the thread has not started yet or has ended"
    INVALID_OBJECT JVMTI_ERROR_INVALID_OBJECT "the object is not a valid object"
    INVALID_CLASS JVMTI_ERROR_INVALID_CLASS "the class is not a valid class"
    CLASS_NOT_PREPARED JVMTI_ERROR_CLASS_NOT_PREPARED "the class is loaded but not yet prepared"
    INVALID_METHODID JVMTI_ERROR_INVALID_METHODID "the method id is not valid"
    INVALID_LOCATION JVMTI_ERROR_INVALID_LOCATION "the location is not in the method"
    INVALID_FIELDID JVMTI_ERROR_INVALID_FIELDID "the field id is not valid"
    INVALID_MODULE JVMTI_ERROR_INVALID_MODULE "the module is not a valid module"
    NO_MORE_FRAMES JVMTI_ERROR_NO_MORE_FRAMES "the stack has no frame at this depth"
    OPAQUE_FRAME JVMTI_ERROR_OPAQUE_FRAME "the frame is native or cannot be changed"
    TYPE_MISMATCH JVMTI_ERROR_TYPE_MISMATCH "the variable has another type"
    INVALID_SLOT JVMTI_ERROR_INVALID_SLOT "the frame has no such variable slot"
    DUPLICATE JVMTI_ERROR_DUPLICATE "the item is already set"
    NOT_FOUND JVMTI_ERROR_NOT_FOUND "the item was not found"
    INVALID_MONITOR JVMTI_ERROR_INVALID_MONITOR "the raw monitor is not valid"
    NOT_MONITOR_OWNER JVMTI_ERROR_NOT_MONITOR_OWNER "the thread does not own the raw monitor"
    INTERRUPT JVMTI_ERROR_INTERRUPT "the call was interrupted"
    INVALID_CLASS_FORMAT JVMTI_ERROR_INVALID_CLASS_FORMAT "the new class file is malformed"
    CIRCULAR_CLASS_DEFINITION JVMTI_ERROR_CIRCULAR_CLASS_DEFINITION "the new class is its own superclass"
    FAILS_VERIFICATION JVMTI_ERROR_FAILS_VERIFICATION "the new class file does not pass the verifier"
    UNSUPPORTED_REDEFINITION_METHOD_ADDED JVMTI_ERROR_UNSUPPORTED_REDEFINITION_METHOD_ADDED "the new class version adds a method"
    UNSUPPORTED_REDEFINITION_SCHEMA_CHANGED JVMTI_ERROR_UNSUPPORTED_REDEFINITION_SCHEMA_CHANGED "the new class version changes a field"
    INVALID_TYPESTATE JVMTI_ERROR_INVALID_TYPESTATE "the thread is in a state that does not allow the call"
    UNSUPPORTED_REDEFINITION_HIERARCHY_CHANGED JVMTI_ERROR_UNSUPPORTED_REDEFINITION_HIERARCHY_CHANGED "the new class version changes a superclass or interface"
    UNSUPPORTED_REDEFINITION_METHOD_DELETED JVMTI_ERROR_UNSUPPORTED_REDEFINITION_METHOD_DELETED "the new class version lacks a method"
    UNSUPPORTED_VERSION JVMTI_ERROR_UNSUPPORTED_VERSION "the VM does not know the version of the new class file"
    NAMES_DONT_MATCH JVMTI_ERROR_NAMES_DONT_MATCH "the new class file has another class name"
    UNSUPPORTED_REDEFINITION_CLASS_MODIFIERS_CHANGED JVMTI_ERROR_UNSUPPORTED_REDEFINITION_CLASS_MODIFIERS_CHANGED "the new class version changes the class modifiers"
    UNSUPPORTED_REDEFINITION_METHOD_MODIFIERS_CHANGED JVMTI_ERROR_UNSUPPORTED_REDEFINITION_METHOD_MODIFIERS_CHANGED "the new class version changes the modifiers of a method"
    UNSUPPORTED_REDEFINITION_CLASS_ATTRIBUTE_CHANGED JVMTI_ERROR_UNSUPPORTED_REDEFINITION_CLASS_ATTRIBUTE_CHANGED "the new class version changes a class attribute that must stay"
    UNSUPPORTED_OPERATION JVMTI_ERROR_UNSUPPORTED_OPERATION "the VM does not support this for the given thread"
    UNMODIFIABLE_CLASS JVMTI_ERROR_UNMODIFIABLE_CLASS "the class cannot be modified"
    UNMODIFIABLE_MODULE JVMTI_ERROR_UNMODIFIABLE_MODULE "the module cannot be modified"
    NOT_AVAILABLE JVMTI_ERROR_NOT_AVAILABLE "this VM does not offer the function or capability"
    MUST_POSSESS_CAPABILITY JVMTI_ERROR_MUST_POSSESS_CAPABILITY "the environment lacks the capability that the call needs"
    NULL_POINTER JVMTI_ERROR_NULL_POINTER "a pointer that must not be null is null"
    ABSENT_INFORMATION JVMTI_ERROR_ABSENT_INFORMATION "the class file carries no such information"
    INVALID_EVENT_TYPE JVMTI_ERROR_INVALID_EVENT_TYPE "this VM does not know the event"
    ILLEGAL_ARGUMENT JVMTI_ERROR_ILLEGAL_ARGUMENT "an argument is out of its range"
    NATIVE_METHOD JVMTI_ERROR_NATIVE_METHOD "a native method has no such information"
    CLASS_LOADER_UNSUPPORTED JVMTI_ERROR_CLASS_LOADER_UNSUPPORTED "the class loader does not support the operation"
    OUT_OF_MEMORY JVMTI_ERROR_OUT_OF_MEMORY "the VM is out of native memory"
    ACCESS_DENIED JVMTI_ERROR_ACCESS_DENIED "the VM forbids the operation"
    WRONG_PHASE JVMTI_ERROR_WRONG_PHASE "the VM's current phase does not allow the call"
    INTERNAL JVMTI_ERROR_INTERNAL "the VM hit an error of its own"
    UNATTACHED_THREAD JVMTI_ERROR_UNATTACHED_THREAD "the calling thread is not attached to the VM"
    INVALID_ENVIRONMENT JVMTI_ERROR_INVALID_ENVIRONMENT "the JVM TI environment is disposed or not valid"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_of_the_header_has_its_name() {
        for &(name, code) in CONSTANTS.iter().filter(|(name, _)| name.starts_with("JVMTI_ERROR_")) {
            match name {
                "JVMTI_ERROR_NONE" => assert_eq!(Error::check(code), Ok(())),
                "JVMTI_ERROR_MAX" => assert!(CODES.iter().all(|&known| known <= code)),
                _ => assert_eq!(Error::check(code).expect_err("a code other than 0").name(), name),
            }
        }
    }

    #[test]
    fn an_unknown_code_keeps_its_number() {
        let error = Error::check(4711).expect_err("a code other than 0");
        assert_eq!(error.to_string(), "the VM reports an error (an error code newer than this library, error 4711)");
        assert_eq!(
            Error::WRONG_PHASE.to_string(),
            "the VM's current phase does not allow the call (JVMTI_ERROR_WRONG_PHASE, error 112)"
        );
    }
}
