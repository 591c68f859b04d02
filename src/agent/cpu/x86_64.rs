//! System calls on x86-64. Runs in a signal handler.

/// The instruction `syscall`.
const SYSCALL: [u8; 2] = [0x0f, 0x05];
/// Code is mapped in pages of so many bytes, or more.
const PAGE: usize = 4096;

/// Whether a thread that a signal has interrupted there was in a system call: behind the instruction, or at it if it is to be made
/// again. A thread that was just about to make one, or had just returned, looks the same; one that was in the kernel for a page
/// fault or an interrupt does not.
///
/// # Safety
/// The thread executes what is at `pc`.
pub(super) unsafe fn is_in_kernel(pc: usize) -> bool {
    let read = |at: usize| {
        // SAFETY: code that lies in the page of what is executed, and so is mapped and read like that.
        [0, 1].map(|offset| unsafe { ((at + offset) as *const u8).read_volatile() })
    };
    let in_page = pc % PAGE;
    (in_page >= 2 && read(pc - 2) == SYSCALL) || (in_page <= PAGE - 2 && read(pc) == SYSCALL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_instruction_before_or_at_the_address_is_seen() {
        #[repr(align(4096))]
        struct Page([u8; 4096]);
        let mut page = Box::new(Page([0x90; 4096]));
        page.0[100..102].copy_from_slice(&SYSCALL);
        page.0[4094..].copy_from_slice(&SYSCALL);
        let base = page.0.as_ptr() as usize;
        // SAFETY: all addresses are in the page.
        let seen: Vec<usize> = (0..4096).filter(|offset| unsafe { is_in_kernel(base + offset) }).collect();
        assert_eq!(seen, [100, 102, 4094]);
    }
}
