//! Loads that may fail without harm, for code that runs in a signal handler: a wrong address gives `None`.
//!
//! A load is one instruction at a known place. If it faults, the handler of SIGSEGV and SIGBUS that is installed here goes on
//! behind it; every other fault goes to the handler that was there before (HotSpot's), with that handler's mask and flags. It
//! costs 2 ns where nothing faults, a hundredth of what the kernel takes to copy a word (`hotspot::doubtful`).
//!
//! The handler is there for the engines that walk stacks in signal handlers, and for nothing else.

#[cfg(not(target_arch = "x86_64"))]
mod other;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use libc::{c_int, c_void, siginfo_t};

#[cfg(not(target_arch = "x86_64"))]
use other as processor;
#[cfg(target_arch = "x86_64")]
use x86_64 as processor;

/// The signals of a load that fails.
const FAULTS: [c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// What was there before our handler, for each of `FAULTS`.
static BEFORE: [Before; 2] = [Before::new(), Before::new()];
/// Whether our handler stands before those.
static IS_INSTALLED: Mutex<bool> = Mutex::new(false);
/// Cleared when somebody else was seen to have installed a handler.
static IS_INTACT: AtomicBool = AtomicBool::new(false);

/// The handler of faults is installed, so loads may fail.
///
/// All functions but [`install`](SafeLoads::install), [`check`](SafeLoads::check) and [`remove`](SafeLoads::remove) may be called
/// in a signal handler that does not block SIGSEGV or SIGBUS.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SafeLoads(());

impl SafeLoads {
    /// Installs the handler of faults, once: a second call finds it installed.
    ///
    /// # Errors
    /// Why it cannot be: one clause, such as "the handler of SIGSEGV was replaced".
    pub(crate) fn install() -> Result<SafeLoads, String> {
        if !processor::IS_SUPPORTED {
            return Err("this processor is not x86-64".into());
        }
        let mut is_installed = IS_INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_installed {
            for (index, &signal) in FAULTS.iter().enumerate() {
                if let Err(reason) = install_one(signal, &BEFORE[index]) {
                    FAULTS.iter().zip(&BEFORE).take(index).for_each(|(&signal, before)| restore_one(signal, before));
                    return Err(reason);
                }
            }
            *is_installed = true;
        }
        if !FAULTS.into_iter().all(is_ours) {
            // Once more would make a circle, if the other handler calls ours.
            return Err("another library has replaced the handler of SIGSEGV or SIGBUS".into());
        }
        IS_INTACT.store(true, Ordering::Release);
        Ok(SafeLoads(()))
    }

    /// Whether no other library has replaced the handler since: asks the kernel, two system calls. To be called now and then, on
    /// any thread, outside of signal handlers; once it is false, [`is_intact`](SafeLoads::is_intact) is too.
    pub(crate) fn check(self) -> bool {
        if !FAULTS.into_iter().all(is_ours) {
            IS_INTACT.store(false, Ordering::Release);
        }
        self.is_intact()
    }

    /// What the last [`check`](SafeLoads::check) said: before each walk, at no cost.
    pub(crate) fn is_intact(self) -> bool {
        IS_INTACT.load(Ordering::Acquire)
    }

    /// Puts back what was there before, unless another library has installed its own since.
    ///
    /// # Safety
    /// No load is running, and none begins before the next `install`.
    pub(crate) unsafe fn remove(self) {
        let mut is_installed = IS_INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
        IS_INTACT.store(false, Ordering::Release);
        // A library that stands before ours may call ours, so all stays then.
        if *is_installed && FAULTS.into_iter().all(is_ours) {
            FAULTS.iter().zip(&BEFORE).for_each(|(&signal, before)| restore_one(signal, before));
            *is_installed = false;
        }
    }

    /// The word at that address.
    #[inline]
    pub(crate) fn word(self, address: usize) -> Option<usize> {
        processor::word(address)
    }

    /// The 32 bits at that address.
    #[inline]
    pub(crate) fn u32(self, address: usize) -> Option<u32> {
        processor::u32(address)
    }

    /// The 16 bits at that address.
    #[inline]
    pub(crate) fn u16(self, address: usize) -> Option<u16> {
        processor::u16(address)
    }

    /// The byte at that address.
    #[inline]
    pub(crate) fn u8(self, address: usize) -> Option<u8> {
        processor::u8(address)
    }

    /// Fills `bytes` from that address; false if they are not all mapped.
    pub(crate) fn copy(self, address: usize, bytes: &mut [u8]) -> bool {
        let mut at = address;
        let mut words = bytes.chunks_exact_mut(size_of::<usize>());
        for place in &mut words {
            let Some(word) = self.word(at) else { return false };
            place.copy_from_slice(&word.to_ne_bytes());
            at = at.wrapping_add(size_of::<usize>());
        }
        for place in words.into_remainder() {
            let Some(byte) = self.u8(at) else { return false };
            *place = byte;
            at = at.wrapping_add(1);
        }
        true
    }
}

/// An action that was installed before ours. Written under the lock, before ours is installed; read in the handler.
struct Before {
    handler: AtomicUsize,
    flags: AtomicUsize,
}

impl Before {
    const fn new() -> Before {
        Before { handler: AtomicUsize::new(libc::SIG_DFL), flags: AtomicUsize::new(0) }
    }
}

/// The present action.
fn action(signal: c_int) -> Option<libc::sigaction> {
    // SAFETY: the kernel fills in the action, of which all zeros are a value.
    unsafe {
        let mut action = std::mem::zeroed::<libc::sigaction>();
        (libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0).then_some(action)
    }
}

fn is_ours(signal: c_int) -> bool {
    action(signal).is_some_and(|action| action.sa_sigaction == on_fault as *const () as usize)
}

fn install_one(signal: c_int, before: &Before) -> Result<(), String> {
    let refused = || format!("the kernel refuses a handler of signal {signal}: {}", std::io::Error::last_os_error());
    let mut action = action(signal).ok_or_else(refused)?;
    before.handler.store(action.sa_sigaction, Ordering::Release);
    before.flags.store(action.sa_flags as usize, Ordering::Release);
    let is_default = [libc::SIG_DFL, libc::SIG_IGN].contains(&action.sa_sigaction);
    // The mask and the stack stay those that the handler before wants. A fault in a handler must come through.
    action.sa_flags |= libc::SA_SIGINFO | libc::SA_NODEFER | if is_default { libc::SA_ONSTACK } else { 0 };
    action.sa_flags &= !libc::SA_RESETHAND;
    action.sa_sigaction = on_fault as *const () as usize;
    // SAFETY: the action has a handler of the kind that its flags name.
    let is_installed = unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) } == 0;
    is_installed.then_some(()).ok_or_else(refused)
}

fn restore_one(signal: c_int, before: &Before) {
    let Some(mut action) = action(signal) else { return };
    action.sa_sigaction = before.handler.load(Ordering::Acquire);
    action.sa_flags = before.flags.load(Ordering::Acquire) as c_int;
    // SAFETY: handler and flags are those that were installed before.
    unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
}

/// The handler of faults. Runs in a signal handler: no lock, no allocation.
extern "C" fn on_fault(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes the context of the thread that it has stopped.
    if unsafe { processor::skip_load(context) } {
        return;
    }
    let before = &BEFORE[usize::from(signal != FAULTS[0])];
    let handler = before.handler.load(Ordering::Acquire);
    let flags = before.flags.load(Ordering::Acquire) as c_int;
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        restore_one(signal, before);
        // SAFETY: the kernel passes a live description. What is not sent by somebody faults again at once.
        unsafe {
            if (*info).si_code <= 0 {
                libc::raise(signal);
            }
        }
    } else if flags & libc::SA_SIGINFO != 0 {
        // SAFETY: by these flags it is a function of this kind.
        unsafe {
            let handler = std::mem::transmute::<usize, extern "C" fn(c_int, *mut siginfo_t, *mut c_void)>(handler);
            handler(signal, info, context);
        }
    } else {
        // SAFETY: by these flags it is a function of this kind.
        unsafe { std::mem::transmute::<usize, extern "C" fn(c_int)>(handler)(signal) };
    }
}
