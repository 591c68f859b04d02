//! What can be wrong with a class file, and why a method may be left as it was.

use thiserror::Error;

/// The bytes are not a class file. Offsets count from the first byte of the class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseError {
    /// The first four bytes are not `CAFEBABE`.
    #[error("not a class file: the first four bytes are not CAFEBABE")]
    BadMagic,
    /// A structure runs past the end of the bytes.
    #[error("class file is truncated: the structure at byte {offset} runs past the end")]
    Truncated {
        /// Where the read that failed began.
        offset: usize,
    },
    /// A constant-pool entry has a tag that no class-file version defines.
    #[error("class file has a constant of unknown tag {tag} at byte {offset}")]
    UnknownConstant {
        /// The tag found.
        tag: u8,
        /// Where the entry begins.
        offset: usize,
    },
    /// `constant_pool_count` is zero, or a two-slot constant runs past it.
    #[error("class file has a constant pool whose count does not match its entries")]
    BadPoolCount,
    /// An index does not lead to a constant of the kind its place demands.
    #[error("class file refers at byte {offset} to constant {index}, which is not {expected}")]
    BadIndex {
        /// The index found.
        index: u16,
        /// Where it is written.
        offset: usize,
        /// The kind it should lead to.
        expected: &'static str,
    },
    /// Bytes follow the last attribute of the class.
    #[error("class file has trailing bytes at byte {offset}")]
    TrailingBytes {
        /// Where the class ends.
        offset: usize,
    },
}

/// Why a method was left as it was. Each reason is counted and reported by the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The Code attribute does not hold together, an opcode is unknown, or an instruction runs past the end.
    #[error("the code has an unknown or incomplete instruction")]
    MalformedCode,
    /// A branch or switch leads outside the code or into the middle of an instruction.
    #[error("a branch target is not an instruction")]
    BadBranchTarget,
    /// An exception-table entry names no instruction.
    #[error("an exception table entry does not point to an instruction")]
    MalformedExceptionTable,
    /// The StackMapTable does not hold together or names no instruction.
    #[error("cannot read the StackMapTable")]
    MalformedStackMap,
    /// A line-number or local-variable table does not hold together or leaves the code.
    #[error("cannot read a line number or local variable table")]
    MalformedDebugTable,
    /// A type-annotation attribute does not hold together.
    #[error("cannot read the type annotations of the code")]
    MalformedTypeAnnotations,
    /// The rewritten code would exceed 65,535 bytes (JVMS 4.7.3).
    #[error("the code would exceed 65535 bytes")]
    CodeTooLarge,
    /// The rewritten code would exceed what the caller allows
    /// ([`max_code_length`](crate::Instrument::max_code_length)): what HotSpot compiles, as the agent has it.
    #[error("the method would grow beyond 8,000 bytes, which the JIT does not compile")]
    CodeBeyondLimit,
    /// The operand stack would exceed 65,535 slots (255 before version 45.3).
    #[error("the operand stack would exceed its limit")]
    StackTooDeep,
    /// The constant pool has no room for the constants that the insertion needs.
    #[error("the constant pool is full")]
    ConstantPoolFull,
    /// Widening branches did not come to an end within 32 rounds, each of which made more branches too long, or
    /// needs room behind code that runs over its own end.
    #[error("a branch would exceed 16 bits and cannot be widened")]
    BranchTooFar,
    /// Relays need stack-map frames written out in full, and these are out of proportion.
    #[error("the stack map frames would become too large")]
    FramesTooLarge,
    /// The operations to insert do not leave the stack as deep as they found it, call a method whose
    /// descriptor cannot be read, or stand after an instruction that never continues.
    #[error("the inserted operations are not balanced or can never run")]
    InvalidInsertion,
}
