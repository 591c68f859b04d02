//! Reads of addresses that nothing proves: a wrong one gives `None`, and no signal.
//!
//! The kernel copies the bytes and returns an error where nothing is mapped: `process_vm_readv` of the own process, or a pipe
//! where a filter of system calls forbids that. It takes a fifth of a microsecond, so hot paths do not read in this way: what
//! they read is proven by ranges or by the VM's own rules (docs/internals/hotspot.md).

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use libc::{c_int, c_void};

use agent_base::mutex::Mutex;

/// How bytes are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Way {
    Process,
    Pipe,
}

/// The first way that works here.
static WAY: AtomicU8 = AtomicU8::new(Way::Process as u8);

/// The word at that address.
pub(crate) fn word(address: usize) -> Option<usize> {
    let mut bytes = [0; size_of::<usize>()];
    read(address, &mut bytes).then(|| usize::from_ne_bytes(bytes))
}

/// The 32 bits at that address.
pub(crate) fn half(address: usize) -> Option<u32> {
    let mut bytes = [0; 4];
    read(address, &mut bytes).then(|| u32::from_ne_bytes(bytes))
}

/// The byte at that address.
pub(crate) fn byte(address: usize) -> Option<u8> {
    let mut bytes = [0];
    read(address, &mut bytes).then(|| bytes[0])
}

/// So many bytes from that address on; read in pieces that fit into a pipe.
pub(crate) fn bytes(address: usize, length: usize) -> Option<Vec<u8>> {
    const PIECE: usize = 4096;
    let mut bytes = vec![0; length];
    let are_read = bytes.chunks_mut(PIECE).enumerate().all(|(index, piece)| read(address + index * PIECE, piece));
    are_read.then_some(bytes)
}

/// Whether that text stands at that address, with a NUL behind it.
pub(crate) fn is_text(address: usize, text: &std::ffi::CStr) -> bool {
    begins_with(address, text.to_bytes_with_nul())
}

/// Whether a text that begins so stands at that address.
pub(crate) fn begins_with(address: usize, beginning: &[u8]) -> bool {
    (address..).zip(beginning).all(|(at, &wanted)| byte(at) == Some(wanted))
}

/// Fills `bytes` from that address; false if they are not all mapped.
fn read(address: usize, bytes: &mut [u8]) -> bool {
    if WAY.load(Ordering::Relaxed) == Way::Process as u8 {
        match by_process(address, bytes) {
            Ok(is_read) => return is_read,
            Err(Forbidden) => WAY.store(Way::Pipe as u8, Ordering::Relaxed),
        }
    }
    by_pipe(address, bytes)
}

/// The system call does not exist here, or is not allowed.
struct Forbidden;

fn by_process(address: usize, bytes: &mut [u8]) -> Result<bool, Forbidden> {
    let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let remote = libc::iovec { iov_base: address as *mut c_void, iov_len: bytes.len() };
    // SAFETY: the kernel writes into `bytes` only, and checks what it reads.
    let read = unsafe { libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0) };
    if read < 0 && [libc::EPERM, libc::ENOSYS, libc::EACCES].contains(&errno()) {
        return Err(Forbidden);
    }
    Ok(usize::try_from(read) == Ok(bytes.len()))
}

fn by_pipe(address: usize, bytes: &mut [u8]) -> bool {
    static PIPE: OnceLock<Option<Mutex<[c_int; 2]>>> = OnceLock::new();
    let pipe = PIPE.get_or_init(|| {
        let mut ends = [0; 2];
        // SAFETY: the kernel fills in both ends.
        let made = unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK) } == 0;
        made.then(|| Mutex::new(ends))
    });
    let Some(pipe) = pipe else { return false };
    let ends = pipe.lock();
    let [out, into] = *ends;
    // SAFETY: the kernel checks what it copies into the pipe, and writes into `bytes` only. The pipe is empty before and after.
    unsafe {
        let written = libc::write(into, address as *const c_void, bytes.len());
        let Ok(written) = usize::try_from(written) else { return false };
        let read = libc::read(out, bytes.as_mut_ptr().cast(), written);
        written == bytes.len() && usize::try_from(read) == Ok(written)
    }
}

fn errno() -> c_int {
    // SAFETY: the address of this thread's own.
    unsafe { *libc::__errno_location() }
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn what_is_mapped_is_read_and_the_rest_is_unknown() {
        let page = page();
        let last = page + 4096 - 8;
        // SAFETY: the last word of the page.
        unsafe { (last as *mut usize).write(0x0065_646f_6d6e_0007) };
        for read in [by_pipe as fn(usize, &mut [u8]) -> bool, |at, bytes| by_process(at, bytes).is_ok_and(|read| read)]
        {
            let mut bytes = [0; 8];
            assert!(read(last, &mut bytes));
            assert_eq!(usize::from_ne_bytes(bytes), 0x0065_646f_6d6e_0007);
            for wrong in [page + 4096, last + 1, 0, 8, usize::MAX - 7, 0xdead_0000_0000_0000] {
                assert!(!read(wrong, &mut bytes), "{wrong:x}");
            }
            assert!(read(last, &mut bytes), "a wrong address leaves nothing behind");
        }
        assert_eq!(word(last), Some(0x0065_646f_6d6e_0007));
        assert_eq!((half(last), byte(last)), (Some(0x6d6e_0007), Some(7)));
        assert_eq!((word(page + 4096), half(4), byte(0)), (None, None, None));
    }

    #[test]
    fn texts_are_compared_up_to_the_end_of_what_is_mapped() {
        let end = page() + 4096;
        let text = c"nmethod";
        // SAFETY: the last bytes of the page.
        unsafe { std::ptr::copy_nonoverlapping(text.as_ptr().cast::<u8>(), (end - 8) as *mut u8, 8) };
        assert!(is_text(end - 8, text));
        assert!(!is_text(end - 8, c"native nmethod"));
        assert!(!is_text(end - 7, text));
        assert!(is_text(end - 1, c""));
        assert!(!is_text(end, text) && !is_text(0, text));
    }
}
