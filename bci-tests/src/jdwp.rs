//! A debugger that stops threads and lets them go on: the one way to stop a thread wherever it is on every JDK.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

use crate::jdk::Jdk;

/// The JVM option; the JVM prints the port that it chose.
pub const OPTION: &str = "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0";

/// What it prints in front of the port.
pub const LISTENING: &str = "Listening for transport dt_socket at address: ";

const HANDSHAKE: &[u8] = b"JDWP-Handshake";

/// Command sets and commands.
const SUSPEND: [u8; 2] = [1, 8];
const RESUME: [u8; 2] = [1, 9];
const DISPOSE: [u8; 2] = [1, 6];
const REQUEST_EVENT: [u8; 2] = [15, 1];
const EVENT: [u8; 2] = [64, 100];

/// A thread ends; only it is stopped; no condition.
const STOP_WHAT_ENDS: [u8; 6] = [7, 1, 0, 0, 0, 0];

/// The bytes of a packet before its data.
const HEADER: u8 = 11;

/// How long the JVM may take to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whether this JDK has the debugger's side.
pub fn is_there(jdk: &Jdk) -> bool {
    jdk.home.join("lib/libjdwp.so").is_file()
}

/// Stops all threads so many times, each time for a moment.
///
/// # Errors
/// The JVM does not answer.
pub fn stop_and_go(port: u16, times: u32) -> io::Result<()> {
    let mut debugger = Debugger::connect(SocketAddr::from(([127, 0, 0, 1], port)))?;
    for _ in 0..times {
        debugger.suspend()?;
        thread::sleep(Duration::from_millis(30));
        debugger.resume()?;
        thread::sleep(Duration::from_millis(10));
    }
    debugger.leave()
}

/// A debugger of a JVM. It takes no other meanwhile.
#[derive(Debug)]
pub struct Debugger {
    jvm: TcpStream,
    /// The number of the last command.
    commands: u32,
}

impl Debugger {
    /// One that is connected.
    ///
    /// # Errors
    /// The JVM does not listen there.
    pub fn connect(address: SocketAddr) -> io::Result<Self> {
        let mut jvm = TcpStream::connect(address)?;
        jvm.set_read_timeout(Some(PATIENCE))?;
        jvm.write_all(HANDSHAKE)?;
        jvm.read_exact(&mut [0; HANDSHAKE.len()])?;
        Ok(Self { jvm, commands: 0 })
    }

    /// Stops all threads.
    ///
    /// # Errors
    /// The JVM does not answer.
    pub fn suspend(&mut self) -> io::Result<()> {
        self.ask(SUSPEND, &[])
    }

    /// Lets all threads go on.
    ///
    /// # Errors
    /// The JVM does not answer.
    pub fn resume(&mut self) -> io::Result<()> {
        self.ask(RESUME, &[])
    }

    /// From now on each thread that ends is stopped while the JVM tells its agents that it ends.
    ///
    /// # Errors
    /// The JVM does not answer.
    pub fn stop_what_ends(&mut self) -> io::Result<()> {
        self.ask(REQUEST_EVENT, &STOP_WHAT_ENDS)
    }

    /// Waits for an event.
    ///
    /// # Errors
    /// None comes.
    pub fn wait_for_event(&mut self) -> io::Result<()> {
        while self.read()?[9..] != EVENT {}
        Ok(())
    }

    /// Nothing is stopped any more.
    ///
    /// # Errors
    /// The JVM does not answer.
    pub fn leave(mut self) -> io::Result<()> {
        self.ask(DISPOSE, &[])
    }

    /// Sends a command, and waits for its reply; what else the JVM sends is gone over.
    fn ask(&mut self, command: [u8; 2], data: &[u8]) -> io::Result<()> {
        self.commands += 1;
        let id = self.commands.to_be_bytes();
        let mut packet = vec![0, 0, 0, HEADER + data.len() as u8];
        packet.extend(id);
        packet.push(0);
        packet.extend(command);
        packet.extend(data);
        self.jvm.write_all(&packet)?;
        loop {
            let header = self.read()?;
            let is_reply = header[8] & 0x80 != 0;
            if is_reply && header[4..8] == id {
                let error = u16::from_be_bytes([header[9], header[10]]);
                return if error == 0 { Ok(()) } else { Err(io::Error::other(format!("the JVM says error {error}"))) };
            }
        }
    }

    /// The header of the next packet.
    fn read(&mut self) -> io::Result<[u8; HEADER as usize]> {
        let mut header = [0; HEADER as usize];
        self.jvm.read_exact(&mut header)?;
        let [l0, l1, l2, l3, ..] = header;
        let rest = u64::from(u32::from_be_bytes([l0, l1, l2, l3])).saturating_sub(HEADER.into());
        io::copy(&mut (&self.jvm).take(rest), &mut io::sink())?;
        Ok(header)
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
                packet[8..].copy_from_slice(&[0x80, 0, 0]);
                debugger.write_all(&packet).unwrap();
            }
            commands
        });
        stop_and_go(port, 2).unwrap();
        assert_eq!(jvm.join().unwrap(), [8, 9, 8, 9, 6]);
    }
}
