//! `NewObject` with its list of arguments, as the procedure call standard for AArch64 passes it.

use super::new_object_v;

/// Hands the arguments on to [`new_object_v`] as a `va_list`, as the VM's own `NewObject` does.
///
/// # Safety
/// In the place of JNI's `NewObject`.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn new_object() {
    std::arch::naked_asm!(
        "stp x29, x30, [sp, #-240]!",
        "mov x29, sp",
        // The registers that arguments can be in.
        "stp x0, x1, [sp, #16]",
        "stp x2, x3, [sp, #32]",
        "stp x4, x5, [sp, #48]",
        "stp x6, x7, [sp, #64]",
        "stp q0, q1, [sp, #80]",
        "stp q2, q3, [sp, #112]",
        "stp q4, q5, [sp, #144]",
        "stp q6, q7, [sp, #176]",
        // The list: on the stack, in general and in vector registers, and what is left of both.
        "add x9, sp, #240",
        "str x9, [sp, #208]",
        "add x9, sp, #80",
        "str x9, [sp, #216]",
        "add x9, sp, #208",
        "str x9, [sp, #224]",
        // It begins behind environment, class and constructor.
        "mov w9, #-40",
        "str w9, [sp, #232]",
        "mov w9, #-128",
        "str w9, [sp, #236]",
        "add x3, sp, #208",
        "bl {new_object_v}",
        "ldp x29, x30, [sp], #240",
        "ret",
        new_object_v = sym new_object_v,
    )
}
