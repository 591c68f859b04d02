//! The methods of MartiniCounts that rewritten code calls.

use classfile::StaticMethod;

use crate::counts::jdk_methods::Argument;
use agent_base::helpers::COUNTS;

const fn method(name: &'static str, descriptor: &'static str) -> StaticMethod {
    StaticMethod { class: COUNTS.internal_name, name, descriptor }
}

/// The name of the most frequent hooks: nearly every class has this text among its constants already, for its methods' attribute.
/// HotSpot searches the whole pool of a class that it redefines for each constant that is new, which is a large part of a
/// redefinition's cost.
const COMMON_NAME: &str = "Code";
/// Texts that these hooks share with other constants of a class.
pub(super) const COMMON_TEXTS: &[&str] = &[COMMON_NAME, "(I)V", "(II)V"];

pub(super) static INSTANCE: StaticMethod = method(COMMON_NAME, "(I)V");
static ARRAY_1: StaticMethod = method("array1", "(II)V");
static ARRAY_2: StaticMethod = method("array2", "(II)V");
static ARRAY_4: StaticMethod = method("array4", "(II)V");
static ARRAY_8: StaticMethod = method("array8", "(II)V");
static REFERENCES: StaticMethod = method(COMMON_NAME, "(II)V");
pub(super) static MULTI: StaticMethod = method("multi", "([Ljava/lang/Object;I)V");
pub(super) static PRIMITIVES: StaticMethod = method("primitives", "(Ljava/lang/Object;I)V");
pub(super) static INSTANCE_MADE: StaticMethod = method(COMMON_NAME, "(Ljava/lang/Object;I)V");
pub(super) static REFERENCES_MADE: StaticMethod = method("references", "(Ljava/lang/Object;I)V");
pub(super) static ANY_MADE: StaticMethod = method("any", "(Ljava/lang/Object;I)V");
/// Before the call, with the class of the instance.
pub(super) static BARE: StaticMethod = method("bare", "(Ljava/lang/Class;I)V");
/// Before the call, with the class of the elements and the length.
pub(super) static UNINITIALIZED: StaticMethod = method("uninitialized", "(Ljava/lang/Class;II)V");
pub(super) static MADE_MULTI: StaticMethod = method("madeMulti", "(Ljava/lang/Object;I)V");
pub(super) static PRODUCT: StaticMethod = method("product", "([I[II)V");

static ARGUMENT: StaticMethod = method("argument", "(Ljava/lang/Object;)V");
static ARRAY_ARGUMENT: StaticMethod = method("arrayArgument", "(Ljava/lang/Object;)V");
pub(super) static HIDDEN: StaticMethod = method("hidden", "(Ljava/lang/Class;[BI)[B");
pub(super) static NOT_ARCHIVED: StaticMethod = method("notArchived", "(Ljava/lang/Class;)Ljava/lang/Class;");
pub(super) static NATIVE_CALL: StaticMethod = method("nativeCall", "()V");
pub(super) static CONSTANT: StaticMethod = method("constant", "(I)V");
pub(super) static VM_BEGIN: StaticMethod = method("vmBegin", "()V");
pub(super) static VM_END: StaticMethod = method("vmEnd", "(I)V");

/// Counts an array, by its descriptor, from its length.
pub(super) fn array_method(descriptor: &[u8]) -> &'static StaticMethod {
    match descriptor.get(1) {
        Some(b'Z' | b'B') => &ARRAY_1,
        Some(b'C' | b'S') => &ARRAY_2,
        Some(b'I' | b'F') => &ARRAY_4,
        Some(b'J' | b'D') => &ARRAY_8,
        _ => &REFERENCES,
    }
}

/// Counts an argument that the VM passes.
pub(super) fn argument_method(argument: Argument) -> &'static StaticMethod {
    match argument {
        Argument::New => &ARGUMENT,
        Argument::NewIfArray => &ARRAY_ARGUMENT,
    }
}
