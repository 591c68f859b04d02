//! System calls on x86-64; for other processors nothing is known, and no stack is walked there. Runs in a signal handler.

use agent_base::signals::SafeLoads;

/// The instruction `syscall`: its two bytes.
const SYSCALL: u16 = u16::from_le_bytes([0x0f, 0x05]);

/// Whether a thread that a signal has interrupted there was in a system call: behind the instruction, or at it if it is to be made
/// again. A thread that was just about to make one, or had just returned, looks the same; one that was in the kernel for a page
/// fault or an interrupt does not.
pub(super) fn is_in_kernel(loads: SafeLoads, pc: usize) -> bool {
    cfg!(target_arch = "x86_64") && [pc.wrapping_sub(2), pc].into_iter().any(|at| loads.u16(at) == Some(SYSCALL))
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use agent_base::signals::alone::passes_alone;

    #[test]
    fn the_instruction_before_or_at_the_address_is_seen() {
        passes_alone(module_path!(), "the_instruction_before_or_at_the_address_is_seen", || {
            let loads = SafeLoads::install(false).expect("nobody else handles faults here");
            let mut code = [0x90_u8; 64];
            code[20..22].copy_from_slice(&[0x0f, 0x05]);
            let base = code.as_ptr() as usize;
            let seen: Vec<usize> = (2..62).filter(|offset| is_in_kernel(loads, base + offset)).collect();
            assert_eq!(seen, [20, 22]);
            assert!(!is_in_kernel(loads, 0));
        });
    }
}
