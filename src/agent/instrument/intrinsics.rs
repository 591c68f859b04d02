//! Calls that HotSpot's JIT may replace by an allocation which no bytecode performs (its intrinsics): what they return is
//! looked at where they are called.
//!
//! While such a method is interpreted, its own bytecode or the VM tells of the object, which has its tag then.

use classfile::{MemberRef, opcode};

/// What a call returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Made {
    /// A complete object.
    Object,
    /// An instance without a constructor, which may run later.
    Bare,
}

/// The instructions that call.
pub(crate) const CALLS: &[u8] = &[opcode::INVOKEVIRTUAL, opcode::INVOKESPECIAL, opcode::INVOKESTATIC];

/// Names of the methods below: a class whose constant pool has none of them calls none of them.
pub(crate) const NAMES: &[&[u8]] = &[
    b"clone",
    b"copyOf",
    b"copyOfRange",
    b"newArray",
    b"allocateInstance",
    b"allocateUninitializedArray0",
    b"toBytes",
];

/// What a call returns if it may be replaced.
pub(crate) fn made_by(opcode: u8, callee: &MemberRef<'_>) -> Option<Made> {
    let MemberRef { owner, name, descriptor } = *callee;
    match (owner, name, descriptor) {
        (b"java/util/Arrays", b"copyOf", b"([Ljava/lang/Object;ILjava/lang/Class;)[Ljava/lang/Object;")
        | (b"java/util/Arrays", b"copyOfRange", b"([Ljava/lang/Object;IILjava/lang/Class;)[Ljava/lang/Object;")
        | (b"java/lang/reflect/Array", b"newArray", b"(Ljava/lang/Class;I)Ljava/lang/Object;")
        | (b"jdk/internal/misc/Unsafe", b"allocateUninitializedArray0", b"(Ljava/lang/Class;I)Ljava/lang/Object;")
        | (b"java/lang/StringUTF16", b"toBytes", b"([CII)[B") => Some(Made::Object),
        (b"jdk/internal/misc/Unsafe", b"allocateInstance", b"(Ljava/lang/Class;)Ljava/lang/Object;") => {
            Some(Made::Bare)
        }
        (_, b"clone", b"()Ljava/lang/Object;") => {
            // Any other class may have a `clone` of its own, which may return what it likes.
            let is_object = opcode == opcode::INVOKESPECIAL && owner == b"java/lang/Object";
            (is_object || opcode == opcode::INVOKEVIRTUAL && owner.starts_with(b"[")).then_some(Made::Object)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_clones_that_are_new_are_looked_at() {
        for (opcode, owner, expected) in [
            (opcode::INVOKEVIRTUAL, &b"[I"[..], Some(Made::Object)),
            (opcode::INVOKEVIRTUAL, b"[LFoo;", Some(Made::Object)),
            (opcode::INVOKESPECIAL, b"java/lang/Object", Some(Made::Object)),
            (opcode::INVOKESPECIAL, b"Foo", None),
            (opcode::INVOKEVIRTUAL, b"Foo", None),
            (opcode::INVOKEVIRTUAL, b"java/lang/Object", None),
        ] {
            let clone = MemberRef { owner, name: b"clone", descriptor: b"()Ljava/lang/Object;" };
            assert_eq!(made_by(opcode, &clone), expected, "{opcode} {owner:?}");
        }
    }

    #[test]
    fn every_callee_has_a_name_that_is_searched_for() {
        let unsafe_call = |name| MemberRef {
            owner: b"jdk/internal/misc/Unsafe",
            name,
            descriptor: b"(Ljava/lang/Class;)Ljava/lang/Object;",
        };
        assert_eq!(made_by(opcode::INVOKEVIRTUAL, &unsafe_call(b"allocateInstance")), Some(Made::Bare));
        assert_eq!(made_by(opcode::INVOKEVIRTUAL, &unsafe_call(b"allocate")), None);
        assert!(NAMES.contains(&&b"allocateInstance"[..]));
    }
}
