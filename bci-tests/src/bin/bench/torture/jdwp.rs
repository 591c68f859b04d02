//! A debugger that stops all threads and lets them go on: the one way to stop a thread wherever it is on every JDK.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::thread;
use std::time::Duration;

use bci_tests::jdk::Jdk;

/// The JVM option; the JVM prints the port that it chose.
pub(super) const OPTION: &str = "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0";

/// What it prints in front of the port.
pub(super) const LISTENING: &str = "Listening for transport dt_socket at address: ";

const HANDSHAKE: &[u8] = b"JDWP-Handshake";

/// Command set and command of the virtual machine.
const SUSPEND: [u8; 2] = [1, 8];
const RESUME: [u8; 2] = [1, 9];
const DISPOSE: [u8; 2] = [1, 6];

/// The bytes of a packet before its data.
const HEADER: u8 = 11;

/// How long the JVM may take to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whether this JDK has the debugger's side.
pub(super) fn is_there(jdk: &Jdk) -> bool {
    has_library(&jdk.home)
}

fn has_library(home: &Path) -> bool {
    home.join("lib/libjdwp.so").is_file()
}

/// Stops all threads so many times, each time for a moment.
pub(super) fn stop_and_go(port: u16, times: u32) -> io::Result<()> {
    let mut jvm = TcpStream::connect(("127.0.0.1", port))?;
    jvm.set_read_timeout(Some(PATIENCE))?;
    jvm.write_all(HANDSHAKE)?;
    jvm.read_exact(&mut [0; HANDSHAKE.len()])?;
    for id in 0..times {
        ask(&mut jvm, 2 * id + 1, SUSPEND)?;
        thread::sleep(Duration::from_millis(30));
        ask(&mut jvm, 2 * id + 2, RESUME)?;
        thread::sleep(Duration::from_millis(10));
    }
    ask(&mut jvm, u32::MAX, DISPOSE)
}

/// Sends a command without data, and waits for its reply; what else the JVM sends is gone over.
fn ask(jvm: &mut TcpStream, id: u32, command: [u8; 2]) -> io::Result<()> {
    let mut packet = vec![0, 0, 0, HEADER];
    packet.extend(id.to_be_bytes());
    packet.push(0);
    packet.extend(command);
    jvm.write_all(&packet)?;
    loop {
        let mut header = [0; HEADER as usize];
        jvm.read_exact(&mut header)?;
        let [l0, l1, l2, l3, i0, i1, i2, i3, flags, ..] = header;
        let length = u32::from_be_bytes([l0, l1, l2, l3]);
        io::copy(&mut jvm.take(u64::from(length).saturating_sub(HEADER.into())), &mut io::sink())?;
        let is_reply = flags & 0x80 != 0;
        if is_reply && u32::from_be_bytes([i0, i1, i2, i3]) == id {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn it_stops_and_goes_and_leaves() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let jvm = thread::spawn(move || {
            let (mut debugger, _) = listener.accept().unwrap();
            let mut shaken = [0; HANDSHAKE.len()];
            debugger.read_exact(&mut shaken).unwrap();
            debugger.write_all(&shaken).unwrap();
            // An event that nobody asked for.
            debugger.write_all(&[0, 0, 0, 12, 0, 0, 0, 9, 0, 64, 100, 7]).unwrap();
            let mut commands = Vec::new();
            let mut packet = [0; HEADER as usize];
            while debugger.read_exact(&mut packet).is_ok() {
                commands.push(packet[10]);
                packet[8] = 0x80;
                debugger.write_all(&packet).unwrap();
            }
            commands
        });
        stop_and_go(port, 2).unwrap();
        assert_eq!(jvm.join().unwrap(), [8, 9, 8, 9, 6]);
    }
}
