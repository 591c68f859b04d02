//! One request to a JVM, over its socket.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};

/// The first string of each request.
const VERSION: &str = "1";
/// Each request has as many strings behind its name.
const ARGUMENTS: usize = 3;
/// The most bytes of a string.
pub(crate) const LONGEST: usize = 1024;
/// Longer answers are cut, unless they are to be long.
pub(crate) const LONGEST_ANSWER: u64 = 4 << 20;

/// The bytes of a request.
pub(crate) fn request(command: &str, arguments: &[&str]) -> Vec<u8> {
    let strings = [VERSION, command].into_iter().chain(arguments.iter().copied());
    let strings = strings.chain([""; ARGUMENTS]).take(2 + ARGUMENTS);
    strings.flat_map(|string| string.bytes().chain([0])).collect()
}

/// Sends a request, and reads the answer to its end, or as much of it as `longest`. No wait is longer than the limit.
pub(crate) fn ask(socket: &Path, request: &[u8], limit: Duration, longest: u64) -> io::Result<Vec<u8>> {
    let deadline = Instant::now() + limit;
    let connection = socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    // Of connecting too, which waits while the JVM's queue is full.
    set_socket_timeout(&connection, Timeout::Send, Some(limit))?;
    connect(&connection, &SocketAddrUnix::new(socket)?)?;
    let mut connection = UnixStream::from(connection);
    connection.write_all(request)?;
    let mut answer = Vec::new();
    let mut piece = [0; 8192];
    while (answer.len() as u64) < longest {
        let left = deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero());
        connection.set_read_timeout(Some(left.ok_or(ErrorKind::TimedOut)?))?;
        match connection.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => answer.extend_from_slice(&piece[..length]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // It closes with what it did not read still there.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => break,
            Err(error) => return Err(error),
        }
    }
    Ok(answer)
}

/// Whether an error says that the time was over.
pub(crate) fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_five_strings() {
        assert_eq!(request("load", &["/a.so", "true", "x;y"]), b"1\0load\0/a.so\0true\0x;y\0");
        assert_eq!(request("properties", &[]), b"1\0properties\0\0\0\0");
    }
}
