//! `NewObject` with its list of arguments, as the System V ABI for x86-64 passes it.

use super::new_object_v;

/// Hands the arguments on to [`new_object_v`] as a `va_list`, as the VM's own `NewObject` does.
///
/// # Safety
/// In the place of JNI's `NewObject`.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn new_object() {
    std::arch::naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "sub rsp, 208",
        // The registers that arguments can be in.
        "mov [rbp - 176], rdi",
        "mov [rbp - 168], rsi",
        "mov [rbp - 160], rdx",
        "mov [rbp - 152], rcx",
        "mov [rbp - 144], r8",
        "mov [rbp - 136], r9",
        // At most that many are in vector registers.
        "test al, al",
        "je 2f",
        "movaps [rbp - 128], xmm0",
        "movaps [rbp - 112], xmm1",
        "movaps [rbp - 96], xmm2",
        "movaps [rbp - 80], xmm3",
        "movaps [rbp - 64], xmm4",
        "movaps [rbp - 48], xmm5",
        "movaps [rbp - 32], xmm6",
        "movaps [rbp - 16], xmm7",
        "2:",
        // The list begins behind environment, class and constructor.
        "mov dword ptr [rsp], 24",
        "mov dword ptr [rsp + 4], 48",
        "lea rax, [rbp + 16]",
        "mov [rsp + 8], rax",
        "lea rax, [rbp - 176]",
        "mov [rsp + 16], rax",
        "mov rcx, rsp",
        "call {new_object_v}",
        "leave",
        "ret",
        new_object_v = sym new_object_v,
    )
}
