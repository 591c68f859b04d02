//! The errors of JVM TI, with a name and a sentence for each.

use std::fmt;

use crate::{JVMTI_ERROR_NONE, jvmtiError};

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
    pub fn check(code: jvmtiError) -> Result<(), Self> {
        if code == JVMTI_ERROR_NONE { Ok(()) } else { Err(Self(code)) }
    }

    /// The number in `jvmti.h`.
    pub fn code(self) -> jvmtiError {
        self.0
    }

    /// Name and sentence, without a full stop.
    fn words(self) -> (&'static str, &'static str) {
        let known = ERRORS.iter().find(|(error, ..)| *error == self);
        known.map_or(("an error code newer than this library", "the VM reports an error"), |&(_, name, words)| {
            (name, words)
        })
    }

    /// The name in `jvmti.h`; a code that is not in JDK 25 has none of its own.
    pub fn name(self) -> &'static str {
        self.words().0
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, sentence) = self.words();
        write!(f, "{sentence} ({name}, error {})", self.code())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.name(), self.code())
    }
}

impl std::error::Error for Error {}

/// Defines the errors from one row each: code, constant, sentence.
macro_rules! errors {
    ($($code:literal $constant:ident $sentence:literal)*) => {
        impl Error {
            $(#[doc = concat!("`JVMTI_ERROR_", stringify!($constant), "`: ", $sentence, ".")]
            pub const $constant: Self = Self($code);)*
        }

        /// Every error, with its name in `jvmti.h` and what is wrong.
        pub const ERRORS: &[(Error, &str, &str)] =
            &[$((Error::$constant, concat!("JVMTI_ERROR_", stringify!($constant)), $sentence),)*];
    };
}

errors! {
    10 INVALID_THREAD "the thread is not a valid thread"
    11 INVALID_THREAD_GROUP "the thread group is not valid"
    12 INVALID_PRIORITY "the thread priority is out of range"
    13 THREAD_NOT_SUSPENDED "the thread was not suspended"
    14 THREAD_SUSPENDED "the thread is already suspended"
    15 THREAD_NOT_ALIVE "the thread has not started yet or has ended"
    20 INVALID_OBJECT "the object is not a valid object"
    21 INVALID_CLASS "the class is not a valid class"
    22 CLASS_NOT_PREPARED "the class is loaded but not yet prepared"
    23 INVALID_METHODID "the method id is not valid"
    24 INVALID_LOCATION "the location is not in the method"
    25 INVALID_FIELDID "the field id is not valid"
    26 INVALID_MODULE "the module is not a valid module"
    31 NO_MORE_FRAMES "the stack has no frame at this depth"
    32 OPAQUE_FRAME "the frame is native or cannot be changed"
    34 TYPE_MISMATCH "the variable has another type"
    35 INVALID_SLOT "the frame has no such variable slot"
    40 DUPLICATE "the item is already set"
    41 NOT_FOUND "the item was not found"
    50 INVALID_MONITOR "the raw monitor is not valid"
    51 NOT_MONITOR_OWNER "the thread does not own the raw monitor"
    52 INTERRUPT "the call was interrupted"
    60 INVALID_CLASS_FORMAT "the new class file is malformed"
    61 CIRCULAR_CLASS_DEFINITION "the new class is its own superclass"
    62 FAILS_VERIFICATION "the new class file does not pass the verifier"
    63 UNSUPPORTED_REDEFINITION_METHOD_ADDED "the new class version adds a method"
    64 UNSUPPORTED_REDEFINITION_SCHEMA_CHANGED "the new class version changes a field"
    65 INVALID_TYPESTATE "the thread is in a state that does not allow the call"
    66 UNSUPPORTED_REDEFINITION_HIERARCHY_CHANGED "the new class version changes a superclass or interface"
    67 UNSUPPORTED_REDEFINITION_METHOD_DELETED "the new class version lacks a method"
    68 UNSUPPORTED_VERSION "the VM does not know the version of the new class file"
    69 NAMES_DONT_MATCH "the new class file has another class name"
    70 UNSUPPORTED_REDEFINITION_CLASS_MODIFIERS_CHANGED "the new class version changes the class modifiers"
    71 UNSUPPORTED_REDEFINITION_METHOD_MODIFIERS_CHANGED "the new class version changes the modifiers of a method"
    72 UNSUPPORTED_REDEFINITION_CLASS_ATTRIBUTE_CHANGED "the new class version changes a class attribute that must stay"
    73 UNSUPPORTED_OPERATION "the VM does not support this for the given thread"
    79 UNMODIFIABLE_CLASS "the class cannot be modified"
    80 UNMODIFIABLE_MODULE "the module cannot be modified"
    98 NOT_AVAILABLE "this VM does not offer the function or capability"
    99 MUST_POSSESS_CAPABILITY "the environment lacks the capability that the call needs"
    100 NULL_POINTER "a pointer that must not be null is null"
    101 ABSENT_INFORMATION "the class file carries no such information"
    102 INVALID_EVENT_TYPE "this VM does not know the event"
    103 ILLEGAL_ARGUMENT "an argument is out of its range"
    104 NATIVE_METHOD "a native method has no such information"
    106 CLASS_LOADER_UNSUPPORTED "the class loader does not support the operation"
    110 OUT_OF_MEMORY "the VM is out of native memory"
    111 ACCESS_DENIED "the VM forbids the operation"
    112 WRONG_PHASE "the VM's current phase does not allow the call"
    113 INTERNAL "the VM hit an error of its own"
    115 UNATTACHED_THREAD "the calling thread is not attached to the VM"
    116 INVALID_ENVIRONMENT "the JVM TI environment is disposed or not valid"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_code_keeps_its_number() {
        let error = Error::check(4711).expect_err("a code other than 0");
        assert_eq!(error.to_string(), "the VM reports an error (an error code newer than this library, error 4711)");
        assert_eq!(
            Error::WRONG_PHASE.to_string(),
            "the VM's current phase does not allow the call (JVMTI_ERROR_WRONG_PHASE, error 112)"
        );
        assert_eq!(Error::check(JVMTI_ERROR_NONE), Ok(()));
    }
}
