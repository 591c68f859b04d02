//! Loads on x86-64. Runs in signal handlers.
//!
//! Each load is a function whose first instruction is the load, so that the place of a fault is the function's address.

use libc::{REG_RIP, c_void, ucontext_t};

/// Whether there are such loads for this processor.
pub(super) const IS_SUPPORTED: bool = true;

/// What a load gives: in the two registers of a result.
#[repr(C)]
struct Loaded {
    value: usize,
    is_loaded: usize,
}

macro_rules! loads {
    ($($function:ident $public:ident $type:ty: $instruction:literal;)*) => {
        $(
            #[unsafe(naked)]
            extern "C" fn $function(address: usize) -> Loaded {
                std::arch::naked_asm!($instruction, "mov edx, 1", "ret")
            }

            #[inline]
            pub(super) fn $public(address: usize) -> Option<$type> {
                let loaded = $function(address);
                (loaded.is_loaded != 0).then_some(loaded.value as $type)
            }
        )*

        /// If the thread was stopped at a load, lets it go on behind it, with nothing loaded.
        ///
        /// # Safety
        /// A `ucontext_t` that the kernel passed to the calling handler.
        pub(super) unsafe fn skip_load(context: *mut c_void) -> bool {
            // SAFETY: by the caller's promise.
            let registers = unsafe { &mut (*context.cast::<ucontext_t>()).uc_mcontext.gregs };
            let pc = registers[REG_RIP as usize] as usize;
            let is_load = [$($function as extern "C" fn(usize) -> Loaded as *const () as usize),*].contains(&pc);
            if is_load {
                registers[REG_RIP as usize] = nothing_loaded as extern "C" fn() -> Loaded as *const () as i64;
            }
            is_load
        }
    };
}

loads! {
    load_word word usize: "mov rax, qword ptr [rdi]";
    load_u32 u32 u32: "mov eax, dword ptr [rdi]";
    load_u16 u16 u16: "movzx eax, word ptr [rdi]";
    load_u8 u8 u8: "movzx eax, byte ptr [rdi]";
}

/// Where a load that failed goes on: it returns to the load's caller.
#[unsafe(naked)]
extern "C" fn nothing_loaded() -> Loaded {
    std::arch::naked_asm!("xor eax, eax", "xor edx, edx", "ret")
}
