//! Asks a JVM that runs to load an agent, by HotSpot's protocol.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::process::LIMIT;

/// The JVM opens its socket within so long.
const LONGEST_OPENING: Duration = Duration::from_secs(30);

/// Has the JVM of that number load a library as an agent, with these options; its answer. The JVM runs in our namespaces.
///
/// # Errors
/// It does not answer.
pub fn load(pid: u32, library: &Path, options: &str) -> io::Result<String> {
    let mut stream = connect(pid)?;
    stream.set_read_timeout(Some(LIMIT))?;
    let library = library.to_str().ok_or(io::ErrorKind::InvalidInput)?;
    for word in ["1", "load", library, "true", options] {
        stream.write_all(word.as_bytes())?;
        stream.write_all(&[0])?;
    }
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// Connects to the socket that the JVM opens if it finds a file and is sent SIGQUIT.
fn connect(pid: u32) -> io::Result<UnixStream> {
    let socket = PathBuf::from(format!("/tmp/.java_pid{pid}"));
    if let Ok(stream) = UnixStream::connect(&socket) {
        return Ok(stream);
    }
    let asked = PathBuf::from(format!("/proc/{pid}/cwd/.attach_pid{pid}"));
    File::create(&asked)?;
    let begun = Instant::now();
    let connected = loop {
        Command::new("kill").arg("-QUIT").arg(pid.to_string()).status()?;
        std::thread::sleep(Duration::from_millis(50));
        match UnixStream::connect(&socket) {
            Ok(stream) => break Ok(stream),
            Err(error) if begun.elapsed() > LONGEST_OPENING => break Err(error),
            Err(_) => {}
        }
    };
    fs::remove_file(asked)?;
    connected
}
