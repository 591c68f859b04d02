//! The calls that HotSpot's JIT replaces by an allocation of its own (its intrinsics), which no bytecode performs: rewritten
//! code has a hook behind such a call.
//!
//! A new JDK is compared with this table, `INTRINSICS` (`vmIntrinsics.hpp`). The modes hook different calls:
//!
//! - `heap=events` reports what the call returns, unless the object has a tag. While the method is interpreted, its own bytecode or the
//!   VM reports the object, which has its tag then.
//! - `heap=counts` has no tags. So each object is counted in one place: where the method is called.

use std::sync::LazyLock;

use classfile::{MemberRef, opcode};

/// The instructions that call such methods.
pub const CALLS: &[u8] = &[opcode::INVOKEVIRTUAL, opcode::INVOKESPECIAL, opcode::INVOKESTATIC];

/// A mode of recording whose rewritten code has hooks at calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// `heap=events`.
    Events,
    /// `heap=counts`.
    Counts,
}

/// What a call makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made<'c> {
    /// A complete instance of a class that is known when it is made.
    Object,
    /// An array of references, of a class that is known when it is made.
    References,
    /// An array of a class that is known when it is made.
    AnyArray,
    /// An array of the primitive class that is the call's first argument, with the length that is its second.
    Primitives,
    /// An instance whose constructor has not run, and may run later.
    BareInstance,
    /// An array of exactly that class, which holds no references. Its static type may be `Object`.
    Array(&'c [u8]),
    /// An array and the arrays in it.
    ArrayOfArrays,
    /// An array of `int`, unless it is the one that the caller gave.
    ProductOrGiven,
    /// Arrays that no Java code ever sees.
    Backtrace,
    /// An instance, if the object whose `clone` is called inherits that of `Object`. Its static class is the named one.
    Clone(&'c [u8]),
    /// An instance, if the named class inherits the `clone` of `Object`.
    SuperClone(&'c [u8]),
}

/// What the JIT replaces, and so what must not be counted besides the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Replaced {
    /// A native method, or what leads to one: the VM reports the objects that the native method makes. Any overload counts as it.
    Native,
    /// A Java method, whole: its bytecode may never run.
    Body,
}

/// A method that the JIT may replace.
struct Intrinsic {
    class: &'static [u8],
    method: &'static [u8],
    descriptor: &'static [u8],
    replaced: Replaced,
    made: Made<'static>,
    /// The modes that hook its calls.
    hooked_by: &'static [Mode],
}

const BOTH: &[Mode] = &[Mode::Events, Mode::Counts];
const COUNTS: &[Mode] = &[Mode::Counts];
const EVENTS: &[Mode] = &[Mode::Events];

const ARRAY: &[u8] = b"java/lang/reflect/Array";
const UNSAFE: &[u8] = b"jdk/internal/misc/Unsafe";
const UTF16: &[u8] = b"java/lang/StringUTF16";
const CLASS_AND_LENGTH: &[u8] = b"(Ljava/lang/Class;I)Ljava/lang/Object;";
const CLASS_AND_LENGTHS: &[u8] = b"(Ljava/lang/Class;[I)Ljava/lang/Object;";

/// All but `clone`, which depends on the class and the instruction ([`clone_made`]).
const INTRINSICS: &[Intrinsic] = &[
    Intrinsic {
        class: b"java/util/Arrays",
        method: b"copyOf",
        descriptor: b"([Ljava/lang/Object;ILjava/lang/Class;)[Ljava/lang/Object;",
        replaced: Replaced::Body,
        made: Made::References,
        hooked_by: BOTH,
    },
    Intrinsic {
        class: b"java/util/Arrays",
        method: b"copyOfRange",
        descriptor: b"([Ljava/lang/Object;IILjava/lang/Class;)[Ljava/lang/Object;",
        replaced: Replaced::Body,
        made: Made::References,
        hooked_by: BOTH,
    },
    Intrinsic {
        class: UNSAFE,
        method: b"allocateUninitializedArray0",
        descriptor: CLASS_AND_LENGTH,
        replaced: Replaced::Body,
        made: Made::Primitives,
        hooked_by: BOTH,
    },
    Intrinsic {
        class: UNSAFE,
        method: b"allocateInstance",
        descriptor: b"(Ljava/lang/Class;)Ljava/lang/Object;",
        replaced: Replaced::Native,
        made: Made::BareInstance,
        hooked_by: BOTH,
    },
    Intrinsic {
        class: UTF16,
        method: b"toBytes",
        descriptor: b"([CII)[B",
        replaced: Replaced::Body,
        made: Made::Array(b"[B"),
        hooked_by: BOTH,
    },
    // Not replaced itself: `toBytes` makes its array by it, unless the JIT replaces `toBytes`.
    Intrinsic {
        class: UTF16,
        method: b"newBytesFor",
        descriptor: b"(I)[B",
        replaced: Replaced::Body,
        made: Made::Array(b"[B"),
        hooked_by: COUNTS,
    },
    Intrinsic {
        class: b"java/math/BigInteger",
        method: b"implMultiplyToLen",
        descriptor: b"([II[II[I)[I",
        replaced: Replaced::Body,
        made: Made::ProductOrGiven,
        hooked_by: COUNTS,
    },
    // `heap=counts` counts in the callers of `newInstance`, below.
    Intrinsic {
        class: ARRAY,
        method: b"newArray",
        descriptor: CLASS_AND_LENGTH,
        replaced: Replaced::Native,
        made: Made::AnyArray,
        hooked_by: EVENTS,
    },
    Intrinsic {
        class: ARRAY,
        method: b"newInstance",
        descriptor: CLASS_AND_LENGTH,
        replaced: Replaced::Native,
        made: Made::AnyArray,
        hooked_by: COUNTS,
    },
    Intrinsic {
        class: ARRAY,
        method: b"newInstance",
        descriptor: CLASS_AND_LENGTHS,
        replaced: Replaced::Native,
        made: Made::ArrayOfArrays,
        hooked_by: COUNTS,
    },
    Intrinsic {
        class: ARRAY,
        method: b"multiNewArray",
        descriptor: CLASS_AND_LENGTHS,
        replaced: Replaced::Native,
        made: Made::ArrayOfArrays,
        hooked_by: &[],
    },
    Intrinsic {
        class: b"java/lang/Throwable",
        method: b"fillInStackTrace",
        descriptor: b"(I)Ljava/lang/Throwable;",
        replaced: Replaced::Native,
        made: Made::Backtrace,
        hooked_by: COUNTS,
    },
];

const CLONE: &[u8] = b"clone";

/// What a call makes that the JIT may replace, if the mode hooks the call.
pub fn made_by_call<'c>(mode: Mode, opcode: u8, callee: &MemberRef<'c>) -> Option<Made<'c>> {
    if callee.name == CLONE && callee.descriptor == b"()Ljava/lang/Object;" {
        return clone_made(opcode, callee.owner);
    }
    let row = Intrinsic::of(callee.owner, callee.name, callee.descriptor);
    row.filter(|row| row.hooked_by.contains(&mode)).map(|row| row.made)
}

/// What a call of `clone` makes. Classes other than arrays and `Object` may have a `clone` of their own, which may return
/// anything.
fn clone_made(opcode: u8, owner: &[u8]) -> Option<Made<'_>> {
    match (opcode, owner) {
        (opcode::INVOKEVIRTUAL, [b'[', element]) if *element != b'[' => Some(Made::Array(owner)),
        (opcode::INVOKEVIRTUAL, [b'[', ..]) => Some(Made::References),
        (opcode::INVOKESPECIAL, b"java/lang/Object") => Some(Made::Object),
        (opcode::INVOKEVIRTUAL, _) => Some(Made::Clone(owner)),
        (opcode::INVOKESPECIAL, _) => Some(Made::SuperClone(owner)),
        _ => None,
    }
}

/// Whether the JIT may replace the method's body, so that `heap=counts` counts nothing in it.
pub fn is_body_replaced(class: &[u8], name: &[u8], descriptor: &[u8]) -> bool {
    Intrinsic::of(class, name, descriptor).is_some_and(|row| row.replaced == Replaced::Body)
}

/// Whether `heap=counts` counts what a method of that dotted name makes where it is called.
pub(crate) fn is_counted_by_caller(class: &str, name: &str, descriptor: &str) -> bool {
    if name.as_bytes() == CLONE {
        return class == "java.lang.Object";
    }
    // Most methods have none of these names.
    INTRINSICS.iter().filter(|row| row.method == name.as_bytes()).any(|row| {
        is_dotted(row.class, class) && (row.replaced == Replaced::Native || row.descriptor == descriptor.as_bytes())
    })
}

/// Whether that is `Array.newInstance` of one dimension, the caller of `newArray`.
pub fn is_new_instance(class: &[u8], name: &[u8], descriptor: &[u8]) -> bool {
    (class, name, descriptor) == (ARRAY, b"newInstance", CLASS_AND_LENGTH)
}

impl Intrinsic {
    #[inline]
    fn of(class: &[u8], name: &[u8], descriptor: &[u8]) -> Option<&'static Intrinsic> {
        // Asked about nearly every method and call of every class: the length excludes most.
        let may_be = DESCRIPTOR_LENGTHS.checked_shr(descriptor.len() as u32).is_some_and(|lengths| lengths & 1 == 1);
        let is = |row: &&Intrinsic| row.descriptor == descriptor && row.method == name && row.class == class;
        if may_be { INTRINSICS.iter().find(is) } else { None }
    }
}

/// For each length whether a descriptor of [`INTRINSICS`] has it.
const DESCRIPTOR_LENGTHS: u64 = {
    let (mut lengths, mut row) = (0, 0);
    while row < INTRINSICS.len() {
        lengths |= 1 << INTRINSICS[row].descriptor.len();
        row += 1;
    }
    lengths
};

/// Whether a dotted name is that of the class with that internal name.
fn is_dotted(internal: &[u8], dotted: &str) -> bool {
    let dotted = dotted.bytes().map(|byte| if byte == b'.' { b'/' } else { byte });
    internal.iter().copied().eq(dotted)
}

/// Names of methods.
pub struct MethodNames {
    names: Vec<&'static [u8]>,
    /// For each length whether a name has it: so most texts of a class need no comparison.
    lengths: u64,
}

impl MethodNames {
    /// The names of the methods whose calls a mode hooks, and others: a constant pool without any of them calls none of the methods.
    pub fn hooked(mode: Mode, others: &[&'static [u8]]) -> MethodNames {
        let hooked = INTRINSICS.iter().filter(|row| row.hooked_by.contains(&mode)).map(|row| row.method);
        let mut names: Vec<_> = [CLONE].into_iter().chain(hooked).chain(others.iter().copied()).collect();
        names.sort_unstable();
        names.dedup();
        let lengths = names.iter().fold(0, |lengths, name| lengths | 1 << name.len());
        MethodNames { names, lengths }
    }

    /// All of them.
    pub fn all(&self) -> &[&'static [u8]] {
        &self.names
    }

    /// Whether that is one of them.
    pub fn contains(&self, text: &[u8]) -> bool {
        self.lengths.checked_shr(text.len() as u32).is_some_and(|lengths| lengths & 1 == 1)
            && self.names.contains(&text)
    }
}

/// The names of the methods whose calls `heap=events` hooks.
pub static NAMES_OF_EVENTS: LazyLock<MethodNames> = LazyLock::new(|| MethodNames::hooked(Mode::Events, &[]));

#[cfg(test)]
mod tests {
    use super::*;

    fn events_see(opcode: u8, callee: &MemberRef<'_>) -> String {
        match made_by_call(Mode::Events, opcode, callee) {
            Some(Made::Object | Made::References | Made::AnyArray | Made::Primitives | Made::Array(_)) => "object",
            Some(Made::BareInstance) => "bare",
            Some(Made::Clone(_) | Made::SuperClone(_)) | None => "-",
            Some(made) => panic!("heap=events has no hook for {made:?}"),
        }
        .to_owned()
    }

    fn counts_see(opcode: u8, callee: &MemberRef<'_>) -> String {
        let text = String::from_utf8_lossy;
        match made_by_call(Mode::Counts, opcode, callee) {
            Some(Made::Object) => "object".to_owned(),
            Some(Made::BareInstance) => "bare".to_owned(),
            Some(Made::References) => "references".to_owned(),
            Some(Made::AnyArray) => "array".to_owned(),
            Some(Made::Primitives) => "primitives".to_owned(),
            Some(Made::Array(array)) => text(array).into_owned(),
            Some(Made::ArrayOfArrays) => "arrays".to_owned(),
            Some(Made::ProductOrGiven) => "product".to_owned(),
            Some(Made::Backtrace) => "backtrace".to_owned(),
            Some(Made::Clone(class)) => format!("clone {}", text(class)),
            Some(Made::SuperClone(class)) => format!("super {}", text(class)),
            None => "-".to_owned(),
        }
    }

    const CLASS_AND_LENGTH: &str = "(Ljava/lang/Class;I)Ljava/lang/Object;";
    const CLASS_AND_LENGTHS: &str = "(Ljava/lang/Class;[I)Ljava/lang/Object;";
    const COPY: &str = "([Ljava/lang/Object;ILjava/lang/Class;)[Ljava/lang/Object;";
    const COPY_RANGE: &str = "([Ljava/lang/Object;IILjava/lang/Class;)[Ljava/lang/Object;";
    const INSTANCE: &str = "(Ljava/lang/Class;)Ljava/lang/Object;";
    const UNSAFE: &str = "jdk/internal/misc/Unsafe";
    const ARRAY: &str = "java/lang/reflect/Array";

    /// Class, method, descriptor; what the call makes as `heap=events` and `heap=counts` see it (`-`: no hook); whether
    /// the method's own bytecode is not counted, and whether what a native makes in it is counted by its caller.
    const DECISIONS: &[(&str, &str, &str, &str, &str, bool, bool)] = &[
        ("java/util/Arrays", "copyOf", COPY, "object", "references", true, true),
        ("java/util/Arrays", "copyOfRange", COPY_RANGE, "object", "references", true, true),
        (UNSAFE, "allocateUninitializedArray0", CLASS_AND_LENGTH, "object", "primitives", true, true),
        ("java/lang/StringUTF16", "toBytes", "([CII)[B", "object", "[B", true, true),
        ("java/lang/StringUTF16", "newBytesFor", "(I)[B", "-", "[B", true, true),
        ("java/math/BigInteger", "implMultiplyToLen", "([II[II[I)[I", "-", "product", true, true),
        (UNSAFE, "allocateInstance", INSTANCE, "bare", "bare", false, true),
        (ARRAY, "newArray", CLASS_AND_LENGTH, "object", "-", false, true),
        (ARRAY, "newInstance", CLASS_AND_LENGTH, "-", "array", false, true),
        (ARRAY, "newInstance", CLASS_AND_LENGTHS, "-", "arrays", false, true),
        (ARRAY, "multiNewArray", CLASS_AND_LENGTHS, "-", "-", false, true),
        ("java/lang/Throwable", "fillInStackTrace", "(I)Ljava/lang/Throwable;", "-", "backtrace", false, true),
        // All overloads lead to the native.
        ("java/lang/Throwable", "fillInStackTrace", "()Ljava/lang/Throwable;", "-", "-", false, true),
        (ARRAY, "newArray", CLASS_AND_LENGTHS, "-", "-", false, true),
        (ARRAY, "newInstance", INSTANCE, "-", "-", false, true),
        (UNSAFE, "allocateInstance", CLASS_AND_LENGTH, "-", "-", false, true),
        // Near misses: another descriptor, another class, another name.
        ("java/util/Arrays", "copyOf", "([Ljava/lang/Object;I)[Ljava/lang/Object;", "-", "-", false, false),
        ("java/util/Arrays", "copyOf", "([BI)[B", "-", "-", false, false),
        ("java/util/Arrays", "copyOf", COPY_RANGE, "-", "-", false, false),
        ("java/util/Arrays", "copyOfRange", COPY, "-", "-", false, false),
        ("java/util/Arrays", "copyOfRange", "([BII)[B", "-", "-", false, false),
        ("java/util/Arrays", "clone", "()[Ljava/lang/Object;", "-", "-", false, false),
        (UNSAFE, "allocateUninitializedArray", CLASS_AND_LENGTH, "-", "-", false, false),
        (UNSAFE, "allocateUninitializedArray0", INSTANCE, "-", "-", false, false),
        ("sun/misc/Unsafe", "allocateInstance", INSTANCE, "-", "-", false, false),
        (UNSAFE, "allocate", INSTANCE, "-", "-", false, false),
        ("java/lang/StringUTF16", "toBytes", "(C)[B", "-", "-", false, false),
        ("java/lang/StringUTF16", "newBytesFor", "(II)[B", "-", "-", false, false),
        ("java/lang/StringLatin1", "toBytes", "([CII)[B", "-", "-", false, false),
        ("java/math/BigInteger", "multiplyToLen", "([II[II[I)[I", "-", "-", false, false),
        ("java/math/BigInteger", "implMultiplyToLen", "([II[II)[I", "-", "-", false, false),
        ("java/lang/Class", "newInstance", "()Ljava/lang/Object;", "-", "-", false, false),
        (
            "java/lang/reflect/Constructor",
            "newInstance",
            "([Ljava/lang/Object;)Ljava/lang/Object;",
            "-",
            "-",
            false,
            false,
        ),
        ("java/lang/Exception", "fillInStackTrace", "(I)Ljava/lang/Throwable;", "-", "-", false, false),
        ("java/lang/Object", "clone", "()V", "-", "-", false, true),
        ("Foo", "copyOf", COPY, "-", "-", false, false),
    ];

    /// Opcode, class whose `clone` is called; what the call makes as `heap=events` and `heap=counts` see it.
    const CLONES: &[(u8, &str, &str, &str)] = &[
        (opcode::INVOKEVIRTUAL, "[I", "object", "[I"),
        (opcode::INVOKEVIRTUAL, "[[I", "object", "references"),
        (opcode::INVOKEVIRTUAL, "[LFoo;", "object", "references"),
        (opcode::INVOKEVIRTUAL, "Foo", "-", "clone Foo"),
        (opcode::INVOKEVIRTUAL, "java/lang/Object", "-", "clone java/lang/Object"),
        (opcode::INVOKEVIRTUAL, "[", "object", "references"),
        (opcode::INVOKESPECIAL, "java/lang/Object", "object", "object"),
        (opcode::INVOKESPECIAL, "Foo", "-", "super Foo"),
        (opcode::INVOKESPECIAL, "[I", "-", "super [I"),
        (opcode::INVOKESTATIC, "Foo", "-", "-"),
        (opcode::INVOKESTATIC, "[I", "-", "-"),
        (opcode::INVOKESTATIC, "java/lang/Object", "-", "-"),
        (opcode::INVOKEINTERFACE, "Foo", "-", "-"),
    ];

    #[test]
    fn every_mode_hooks_its_calls_only() {
        for &(class, method, descriptor, events, counts, is_body, by_caller) in DECISIONS {
            let callee =
                MemberRef { owner: class.as_bytes(), name: method.as_bytes(), descriptor: descriptor.as_bytes() };
            for opcode in [opcode::INVOKEVIRTUAL, opcode::INVOKESPECIAL, opcode::INVOKESTATIC] {
                assert_eq!(events_see(opcode, &callee), events, "{class}.{method}{descriptor}");
                assert_eq!(counts_see(opcode, &callee), counts, "{class}.{method}{descriptor}");
            }
            let is_replaced = is_body_replaced(callee.owner, callee.name, callee.descriptor);
            assert_eq!(is_replaced, is_body, "{class}.{method}{descriptor}");
            let dotted = class.replace('/', ".");
            assert_eq!(is_counted_by_caller(&dotted, method, descriptor), by_caller, "{class}.{method}{descriptor}");
        }
        for &(opcode, owner, events, counts) in CLONES {
            let clone = MemberRef { owner: owner.as_bytes(), name: b"clone", descriptor: b"()Ljava/lang/Object;" };
            assert_eq!(events_see(opcode, &clone), events, "{opcode} {owner}");
            assert_eq!(counts_see(opcode, &clone), counts, "{opcode} {owner}");
            let is_object = owner == "java/lang/Object";
            assert_eq!(is_counted_by_caller(&owner.replace('/', "."), "clone", "()Ljava/lang/Object;"), is_object);
        }
    }

    #[test]
    fn names_are_those_of_the_calls_that_a_mode_hooks() {
        let sorted = |names: &[&'static [u8]]| {
            let mut names: Vec<&str> = names.iter().map(|name| std::str::from_utf8(name).expect("ASCII")).collect();
            names.sort_unstable();
            names.join(" ")
        };
        assert_eq!(
            sorted(NAMES_OF_EVENTS.all()),
            "allocateInstance allocateUninitializedArray0 clone copyOf copyOfRange newArray toBytes"
        );
        assert_eq!(
            sorted(MethodNames::hooked(Mode::Counts, &[]).all()),
            "allocateInstance allocateUninitializedArray0 clone copyOf copyOfRange fillInStackTrace implMultiplyToLen newBytesFor newInstance toBytes"
        );
    }
}
