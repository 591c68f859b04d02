//! The VM's own log, in memory: exact, on every JDK, and no private memory is read.
//!
//! The VM is asked as `jcmd PID VM.log` asks it, and writes its lines into a file that only this process has (a line takes some 5 us of
//! the thread that logs). What was read of the file is given back to the system.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::FileExt;

use jvmti::{Jni, run_diagnostic_command};

/// So much is read at a time, and given back.
const PIECE: usize = 64 << 10;
/// No line of the VM is longer.
const LONGEST_LINE: usize = 4096;

/// What the VM logs of some subjects.
pub(crate) struct VmLog {
    file: File,
    /// What has been read of it.
    read: u64,
    /// What has been given back of it.
    freed: u64,
    /// The beginning of a line whose end has not been written yet.
    rest: Vec<u8>,
    piece: Box<[u8]>,
}

impl VmLog {
    /// Has the VM log `what` (as `-Xlog` has it) from now on, each line with these decorators.
    ///
    /// # Errors
    /// Why it does not: part of a sentence.
    pub(crate) fn begin(jni: Jni, what: &str, decorators: &str) -> Result<VmLog, String> {
        // SAFETY: the name ends with NUL; a descriptor that is returned is nobody else's.
        let file = unsafe {
            let descriptor = libc::memfd_create(c"martini-log".as_ptr(), libc::MFD_CLOEXEC);
            if descriptor < 0 {
                return Err(format!("no memory for the JVM's log: {}", io::Error::last_os_error()));
            }
            File::from_raw_fd(descriptor)
        };
        let log = VmLog::of(file);
        log.command(jni, &format!("what={what} decorators={decorators} output_options=filecount=0"))?;
        Ok(log)
    }

    /// Where the VM writes.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Over a file that somebody writes.
    pub(crate) fn of(file: File) -> VmLog {
        let piece = vec![0; PIECE].into();
        VmLog { file, read: 0, freed: 0, rest: Vec::new(), piece }
    }

    /// Has the VM log no more, and forget the file.
    pub(crate) fn end(&self, jni: Jni) {
        // If it refuses that, it still logs into memory that it keeps.
        let _ = self.command(jni, "what=all=off");
    }

    fn command(&self, jni: Jni, arguments: &str) -> Result<(), String> {
        let command = format!("VM.log output=/proc/self/fd/{} {arguments}", self.file.as_raw_fd());
        let command = CString::new(command).map_err(|error| error.to_string())?;
        let answer = run_diagnostic_command(jni, &command).ok_or("this JVM has no diagnostic commands")?;
        let answer = answer.map_err(|error| format!("the JVM does not log: {error}"))?;
        // It prints nothing unless something is wrong.
        match String::from_utf8_lossy(&answer).trim() {
            "" => Ok(()),
            problem => Err(format!("the JVM does not log: {problem}")),
        }
    }

    /// Calls `visit` with each whole line that was logged since the last call.
    ///
    /// # Errors
    /// The log cannot be read.
    pub(crate) fn read(&mut self, mut visit: impl FnMut(&str)) -> io::Result<()> {
        loop {
            let length = match self.file.read_at(&mut self.piece, self.read) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if length == 0 {
                break;
            }
            self.read += length as u64;
            let piece = std::mem::take(&mut self.piece);
            self.add(&piece[..length], &mut visit);
            self.piece = piece;
        }
        self.give_back();
        Ok(())
    }

    fn add(&mut self, mut bytes: &[u8], visit: &mut impl FnMut(&str)) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            self.rest.extend_from_slice(&bytes[..end]);
            visit(&String::from_utf8_lossy(&self.rest));
            self.rest.clear();
            bytes = &bytes[end + 1..];
        }
        if self.rest.len() < LONGEST_LINE {
            self.rest.extend_from_slice(bytes);
        }
    }

    /// Gives the memory back of what was read.
    fn give_back(&mut self) {
        let whole = self.read - self.read % PIECE as u64;
        let length = whole - self.freed;
        if length == 0 {
            return;
        }
        let (Ok(offset), Ok(length)) = (i64::try_from(self.freed), i64::try_from(length)) else { return };
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: the descriptor is open. If it fails the memory stays in use.
        unsafe { libc::fallocate(self.file.as_raw_fd(), mode, offset, length) };
        self.freed = whole;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::MetadataExt;

    fn log(file: &File) -> VmLog {
        VmLog::of(file.try_clone().expect("a descriptor"))
    }

    #[test]
    fn lines_may_come_in_pieces_and_what_was_read_takes_no_memory() {
        let mut file = tempfile::tempfile().expect("a file");
        let mut log = log(&file);
        let mut found: Vec<String> = Vec::new();
        let all: Vec<_> =
            (0..5000).map(|number| format!("[{number}ns] a line of the usual length, nearly {number}")).collect();
        for piece in (all.join("\n") + "\n").as_bytes().chunks(777) {
            file.write_all(piece).expect("written");
            log.read(|line| found.push(line.to_owned())).expect("read");
        }
        assert!(found == all);
        let metadata = file.metadata().expect("metadata");
        assert!(metadata.size() > 3 * PIECE as u64 && metadata.blocks() * 512 <= 2 * PIECE as u64, "{metadata:?}");
    }

    #[test]
    fn a_line_that_does_not_end_takes_no_memory_either() {
        let mut file = tempfile::tempfile().expect("a file");
        let mut log = log(&file);
        file.write_all(&vec![b'x'; 4 * PIECE]).expect("written");
        file.write_all(b"\nshort\n").expect("written");
        let mut found = Vec::new();
        log.read(|line| found.push(line.to_owned())).expect("read");
        assert_eq!(found.last().map(String::as_str), Some("short"));
        assert!(log.rest.capacity() <= 4 * PIECE);
    }
}
