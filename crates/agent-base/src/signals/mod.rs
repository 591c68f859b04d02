//! Loads that may fail without harm, for code that runs in a signal handler: a wrong address gives `None`.
//!
//! A load is one instruction at a known place. If it faults, the handler of SIGSEGV and SIGBUS that is installed here goes on
//! behind it; every other fault goes to the handler that was there before (HotSpot's), with that handler's mask and flags. It
//! costs 2 ns where nothing faults, a hundredth of what the kernel takes to copy a word (`hotspot::doubtful`).
//!
//! The handler is there for the engines that walk stacks in signal handlers, and for nothing else.

pub mod alone;
#[cfg(not(target_arch = "x86_64"))]
mod other;
pub mod own;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use libc::{c_int, c_void, siginfo_t};

#[cfg(not(target_arch = "x86_64"))]
use other as processor;
#[cfg(target_arch = "x86_64")]
use x86_64 as processor;

use crate::mutex::Mutex;

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
/// All functions but [`install`](SafeLoads::install) and [`check`](SafeLoads::check) may be called in a signal handler that does not block SIGSEGV or SIGBUS.
#[derive(Clone, Copy, Debug)]
pub struct SafeLoads(());

impl SafeLoads {
    /// Installs the handler of faults, once: a second call finds it installed. `is_watched`: the JVM compares its handlers with what
    /// it has installed (`-Xcheck:jni`), so there must be no other.
    ///
    /// # Errors
    /// Why it cannot be: one clause, such as "another library has replaced the handler of SIGSEGV or SIGBUS".
    pub fn install(is_watched: bool) -> Result<SafeLoads, String> {
        if !processor::IS_SUPPORTED {
            return Err("this processor is not x86-64".into());
        }
        if is_watched {
            return Err("with -Xcheck:jni the JVM prints a warning if anybody else handles SIGSEGV".into());
        }
        let mut is_installed = IS_INSTALLED.lock();
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
    pub fn check(self) -> bool {
        if !FAULTS.into_iter().all(is_ours) {
            IS_INTACT.store(false, Ordering::Release);
        }
        self.is_intact()
    }

    /// What the last [`check`](SafeLoads::check) said: before each walk, at no cost.
    pub fn is_intact(self) -> bool {
        IS_INTACT.load(Ordering::Acquire)
    }

    /// Puts back what was there before, unless another library has installed its own since.
    ///
    /// # Safety
    /// No load is running, and none begins before the next `install`.
    pub unsafe fn remove(self) {
        let mut is_installed = IS_INSTALLED.lock();
        IS_INTACT.store(false, Ordering::Release);
        // A library that stands before ours may call ours, so all stays then.
        if *is_installed && FAULTS.into_iter().all(is_ours) {
            FAULTS.iter().zip(&BEFORE).for_each(|(&signal, before)| restore_one(signal, before));
            *is_installed = false;
        }
    }

    /// The word at that address.
    #[inline]
    pub fn word(self, address: usize) -> Option<usize> {
        processor::word(address)
    }

    /// The 32 bits at that address.
    #[inline]
    pub fn u32(self, address: usize) -> Option<u32> {
        processor::u32(address)
    }

    /// The 16 bits at that address.
    #[inline]
    pub fn u16(self, address: usize) -> Option<u16> {
        processor::u16(address)
    }

    /// The byte at that address.
    #[inline]
    pub fn u8(self, address: usize) -> Option<u8> {
        processor::u8(address)
    }

    /// Fills `bytes` from that address; false if they are not all mapped.
    pub fn copy(self, address: usize, bytes: &mut [u8]) -> bool {
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
    let refused = || format!("cannot install a handler for signal {signal}: {}", std::io::Error::last_os_error());
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

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::alone::{alone, passes_alone};
    use super::*;

    /// A page, and nothing behind it.
    fn page() -> usize {
        // SAFETY: new pages, of which the second is given back.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let pages = libc::mmap(std::ptr::null_mut(), 8192, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            assert_ne!(pages, libc::MAP_FAILED);
            assert_eq!(libc::munmap(pages.byte_add(4096), 4096), 0);
            pages as usize
        }
    }

    extern "C" fn end_well(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
        // SAFETY: the kernel passes both.
        let is_complete =
            unsafe { (*info).si_signo == signal && (*info).si_addr() as usize == 16 && !context.is_null() };
        // SAFETY: ends the child.
        unsafe { libc::_exit(if is_complete { 7 } else { 8 }) };
    }

    fn handle(signal: c_int, handler: usize) {
        // SAFETY: all zeros are an action; the handler is of this kind, or a constant of the system.
        unsafe {
            let mut action = std::mem::zeroed::<libc::sigaction>();
            action.sa_sigaction = handler;
            action.sa_flags = libc::SA_SIGINFO;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }

    /// A fault that is not one of the loads.
    fn fault() {
        // SAFETY: none: it is to fault.
        unsafe { std::arch::asm!("mov {0}, qword ptr [{0}]", inout(reg) 16_usize => _) };
    }

    #[test]
    fn what_is_mapped_is_loaded_and_the_rest_is_not() {
        passes_alone(module_path!(), "what_is_mapped_is_loaded_and_the_rest_is_not", || {
            let loads = SafeLoads::install(false).expect("loads are safe");
            let end = page() + 4096;
            // SAFETY: the last word of the page.
            unsafe { ((end - 8) as *mut u64).write(0x8877_6655_4433_2211) };
            assert_eq!(loads.word(end - 8), Some(0x8877_6655_4433_2211));
            let parts = (loads.u32(end - 4), loads.u16(end - 2), loads.u8(end - 1));
            assert_eq!(parts, (Some(0x8877_6655), Some(0x8877), Some(0x88)));
            for wrong in [end, end - 7, 0, 8, usize::MAX - 7, 0xdead_0000_0000_0000] {
                assert_eq!(loads.word(wrong), None, "{wrong:x}");
            }
            assert_eq!((loads.u32(end - 3), loads.u16(end - 1), loads.u8(end)), (None, None, None));
            let mut bytes = [0; 11];
            assert!(!loads.copy(end - 10, &mut bytes) && loads.copy(end - 11, &mut bytes));
            assert_eq!(bytes, [0, 0, 0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88]);
            assert!(loads.check());
            assert!(SafeLoads::install(true).is_err_and(|reason| reason.contains("-Xcheck:jni")));
        });
    }

    /// A fault where this was the handler before.
    fn fault_behind(handler: usize) {
        let loads = SafeLoads::install(false).expect("loads are safe");
        // SAFETY: no load is running.
        unsafe { loads.remove() };
        handle(libc::SIGSEGV, handler);
        let loads = SafeLoads::install(false).expect("loads are safe");
        assert_eq!(loads.word(16), None);
        fault();
    }

    #[test]
    fn other_faults_go_where_they_went_before() {
        let body = || fault_behind(end_well as *const () as usize);
        if let Some(ended) = alone(module_path!(), "other_faults_go_where_they_went_before", body) {
            assert_eq!(ended.status.code(), Some(7), "{ended:?}");
        }
    }

    #[test]
    fn other_faults_end_the_process_if_nobody_handles_them() {
        let body = || fault_behind(libc::SIG_DFL);
        if let Some(ended) = alone(module_path!(), "other_faults_end_the_process_if_nobody_handles_them", body) {
            assert_eq!(ended.status.signal(), Some(libc::SIGSEGV), "{ended:?}");
        }
    }

    #[test]
    fn a_handler_of_somebody_else_is_noticed_and_kept() {
        let body = || {
            let loads = SafeLoads::install(false).expect("loads are safe");
            assert!(loads.check() && loads.is_intact());
            handle(libc::SIGSEGV, end_well as *const () as usize);
            assert!(!loads.check() && !loads.is_intact());
            assert!(SafeLoads::install(false).is_err());
            // SAFETY: no load is running.
            unsafe { loads.remove() };
            fault();
        };
        if let Some(ended) = alone(module_path!(), "a_handler_of_somebody_else_is_noticed_and_kept", body) {
            assert_eq!(ended.status.code(), Some(7), "{ended:?}");
        }
    }
}
