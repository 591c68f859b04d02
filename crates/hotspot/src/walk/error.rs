//! Why a stack could not be walked.

/// Why a stack could not be walked. Samples that are lost are counted by these names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum WalkError {
    /// Another library has replaced the handler of faults, so no load is safe.
    NoSafeLoads,
    /// The thread was stopped while it blocked SIGSEGV or SIGBUS.
    SignalsBlocked,
    /// The stack pointer is not in the thread's stack, or the thread's own data cannot be read.
    NotOnStack,
    /// The code that was stopped, or a return address, is of a kind that nobody knows.
    UnknownCode,
    /// In the interpreter, where its frame is not complete and the method is not known.
    Interpreter,
    /// In a stub or adapter whose caller was not found.
    Stub,
    /// In compiled code whose caller was not found.
    Compiled,
    /// The debug information of compiled code is not what it should be.
    DebugInfo,
    /// A method's data are not what they should be.
    Method,
    /// In native code or the VM that Java calls directly, and the caller was not found on the stack.
    LeafCall,
    /// A frame whose caller lies below it, or outside of the stack.
    Order,
    /// The place where the thread left Java is not what it should be.
    Anchor,
    /// The table of methods or its memory for names is full.
    TableFull,
    /// There are more frames without a Java method than a stack may have.
    TooLong,
}

impl WalkError {
    /// All of them, by their number.
    pub const ALL: [WalkError; 14] = [
        WalkError::NoSafeLoads,
        WalkError::SignalsBlocked,
        WalkError::NotOnStack,
        WalkError::UnknownCode,
        WalkError::Interpreter,
        WalkError::Stub,
        WalkError::Compiled,
        WalkError::DebugInfo,
        WalkError::Method,
        WalkError::LeafCall,
        WalkError::Order,
        WalkError::Anchor,
        WalkError::TableFull,
        WalkError::TooLong,
    ];

    /// Its name in the trace.
    pub fn name(self) -> &'static str {
        match self {
            WalkError::NoSafeLoads => "noSafeLoads",
            WalkError::SignalsBlocked => "signalsBlocked",
            WalkError::NotOnStack => "notOnStack",
            WalkError::UnknownCode => "unknownCode",
            WalkError::Interpreter => "interpreter",
            WalkError::Stub => "stub",
            WalkError::Compiled => "compiled",
            WalkError::DebugInfo => "debugInfo",
            WalkError::Method => "method",
            WalkError::LeafCall => "leafCall",
            WalkError::Order => "order",
            WalkError::Anchor => "anchor",
            WalkError::TableFull => "tableFull",
            WalkError::TooLong => "tooLong",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_number_and_its_own_name() {
        for (number, error) in WalkError::ALL.into_iter().enumerate() {
            assert_eq!(error as usize, number);
            assert_eq!(WalkError::ALL.iter().filter(|other| other.name() == error.name()).count(), 1);
        }
    }
}
