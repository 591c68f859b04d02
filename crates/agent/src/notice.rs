//! What wakes the watching thread: a line in the VM's log, the time, or the end of the recording.
//!
//! The VM must never wait for the agent, so its log is a file and no pipe; the kernel says when somebody has written to it (inotify).

use std::fs::{File, OpenOptions};
use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use libc::{POLLIN, c_int, pollfd};

use agent_base::clock::Ticks;

/// Says when a line is written to a file.
pub(crate) struct LineNotice(OwnedFd);

impl LineNotice {
    /// For that file, which gets an empty line: not every kernel says of every file when it is written to.
    ///
    /// # Errors
    /// There is no such notice, or too many are in use.
    pub(crate) fn of(file: &File) -> io::Result<LineNotice> {
        let path = format!("/proc/self/fd/{}\0", file.as_raw_fd());
        // SAFETY: a descriptor that is returned is nobody else's; the path ends with NUL.
        let notice = unsafe {
            let descriptor = libc::inotify_init1(libc::IN_CLOEXEC | libc::IN_NONBLOCK);
            if descriptor < 0 {
                return Err(io::Error::last_os_error());
            }
            let notice = LineNotice(OwnedFd::from_raw_fd(descriptor));
            if libc::inotify_add_watch(descriptor, path.as_ptr().cast(), libc::IN_MODIFY) < 0 {
                return Err(io::Error::last_os_error());
            }
            notice
        };
        OpenOptions::new().append(true).open(path.trim_end_matches('\0'))?.write_all(b"\n")?;
        if notice.take() { Ok(notice) } else { Err(io::ErrorKind::Unsupported.into()) }
    }

    /// Whether something was written since the last call.
    pub(crate) fn take(&self) -> bool {
        // Room for some events; they are all the same, so the kernel keeps one.
        let mut events = [0_u64; 64];
        // SAFETY: the descriptor is open and does not block; the kernel writes at most so many bytes.
        unsafe { libc::read(self.0.as_raw_fd(), events.as_mut_ptr().cast(), size_of_val(&events)) > 0 }
    }
}

/// Ends the waiting.
pub(crate) struct Ender(PipeWriter);

impl Ender {
    /// From now on nobody waits.
    pub(crate) fn end(mut self) {
        // Written, not only closed: a process forked by the program may have it open, too.
        let _ = self.0.write(&[0]);
    }
}

/// What has ended the waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Woken {
    /// A line was written.
    Line,
    /// The time has come.
    Time,
    /// The recording ends.
    End,
}

/// Where the watching thread waits.
pub(crate) struct Waiting(PipeReader);

impl Waiting {
    /// And who ends that.
    ///
    /// # Errors
    /// The system has no descriptors left.
    pub(crate) fn new() -> io::Result<(Waiting, Ender)> {
        io::pipe().map(|(reader, writer)| (Waiting(reader), Ender(writer)))
    }

    /// Waits until that time, or until a line is written, if `notice` is there.
    pub(crate) fn until(&self, time: Ticks, notice: Option<&LineNotice>) -> Woken {
        let end = pollfd { fd: self.0.as_raw_fd(), events: POLLIN, revents: 0 };
        // One that is negative is left out.
        let line = pollfd { fd: notice.map_or(-1, |notice| notice.0.as_raw_fd()), ..end };
        let mut polled = [end, line];
        let millis = time.0.saturating_sub(Ticks::now().0).div_ceil(1_000_000);
        let millis = c_int::try_from(millis).unwrap_or(c_int::MAX);
        // SAFETY: there are two. If it fails, some time passes less.
        unsafe { libc::poll(polled.as_mut_ptr(), 2, millis) };
        match polled {
            [end, _] if end.revents != 0 => Woken::End,
            [_, line] if line.revents != 0 => Woken::Line,
            _ => Woken::Time,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: Ticks = Ticks(u64::MAX);

    #[test]
    fn lines_time_and_end_wake() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        let notice = LineNotice::of(file.as_file()).expect("this kernel says when a file is written to");
        let (waiting, ender) = Waiting::new().expect("a pipe");
        assert_eq!(waiting.until(Ticks::now(), Some(&notice)), Woken::Time);
        file.write_all(b"one\ntwo\n").expect("written");
        assert_eq!(waiting.until(FAR, Some(&notice)), Woken::Line);
        // Until it is taken.
        assert_eq!(waiting.until(FAR, Some(&notice)), Woken::Line);
        assert_eq!(waiting.until(Ticks::now(), None), Woken::Time);
        assert_eq!((notice.take(), notice.take()), (true, false));
        ender.end();
        assert_eq!(waiting.until(FAR, Some(&notice)), Woken::End);
        assert_eq!(waiting.until(FAR, None), Woken::End);
    }

    #[test]
    fn the_end_reaches_who_waits() {
        let (waiting, ender) = Waiting::new().expect("a pipe");
        let thread = std::thread::spawn(move || waiting.until(FAR, None));
        ender.end();
        assert_eq!(thread.join().expect("it does not panic"), Woken::End);
    }
}
