//! The registers of the thread that was stopped, as a signal handler gets them.

use libc::c_void;

/// What a walk begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// Program counter.
    pub pc: usize,
    /// Stack pointer.
    pub sp: usize,
    /// Frame pointer.
    pub fp: usize,
    /// While the interpreter enters a method, or an adapter calls one: the `Method` (x86-64: rbx).
    pub method: usize,
    /// While the interpreter runs a method: its bytecode; while it enters one: the caller's stack pointer (x86-64: r13).
    pub bytecode: usize,
    /// In an adapter or at the beginning of a method: the return address, if it was taken from the stack (x86-64: rax).
    pub result: usize,
    /// The thread blocks SIGSEGV or SIGBUS, so that no load may fail.
    pub blocks_faults: bool,
}

impl Registers {
    /// For a walk of the calling thread, which is in native code that Java or the VM called: any place in the frame of this function
    /// will do, since the thread has noted where it left Java.
    #[inline(never)]
    pub fn here() -> Registers {
        let place = 0_usize;
        let sp = std::hint::black_box(&raw const place) as usize;
        let pc = Registers::here as fn() -> Registers as *const () as usize;
        Registers { pc, sp, fp: 0, method: 0, bytecode: 0, result: 0, blocks_faults: false }
    }

    /// Those of the thread that a signal handler has interrupted.
    ///
    /// # Safety
    /// The third argument of the handler, a `ucontext_t`, while the handler runs.
    #[cfg(target_arch = "x86_64")]
    pub unsafe fn of(context: *const c_void) -> Registers {
        // SAFETY: by the caller's promise; a set of signals that the kernel has filled in.
        unsafe {
            let context = &*context.cast::<libc::ucontext_t>();
            let register = |number: libc::c_int| context.uc_mcontext.gregs[number as usize] as usize;
            let blocks = |signal| libc::sigismember(&raw const context.uc_sigmask, signal) != 0;
            Registers {
                pc: register(libc::REG_RIP),
                sp: register(libc::REG_RSP),
                fp: register(libc::REG_RBP),
                method: register(libc::REG_RBX),
                bytecode: register(libc::REG_R13),
                result: register(libc::REG_RAX),
                blocks_faults: blocks(libc::SIGSEGV) || blocks(libc::SIGBUS),
            }
        }
    }

    /// None on processors for which no walker exists.
    ///
    /// # Safety
    /// As on x86-64.
    #[cfg(not(target_arch = "x86_64"))]
    pub unsafe fn of(_: *const c_void) -> Registers {
        Registers { pc: 0, sp: 0, fp: 0, method: 0, bytecode: 0, result: 0, blocks_faults: true }
    }
}
