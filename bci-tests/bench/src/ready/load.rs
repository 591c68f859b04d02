//! Clients that ask a server all the time, and how long each answer took.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// An answer that does not come for so long never does.
const PATIENCE: Duration = Duration::from_secs(30);

/// Answers within a second: how long each took, in milliseconds.
pub(super) type Seconds = Vec<Vec<f64>>;

/// Asks with so many clients, each on a connection of its own, for so long.
///
/// # Errors
/// A request fails.
pub(super) fn load(port: u16, clients: u32, begun: Instant, time: Duration) -> Result<Seconds, String> {
    let seconds = Mutex::new(vec![Vec::new(); time.as_secs() as usize]);
    let number = AtomicU32::new(0);
    let client = || -> io::Result<()> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut stream = BufReader::new(stream);
        loop {
            let asked = Instant::now();
            ask(&mut stream, number.fetch_add(1, Ordering::Relaxed) % 1000)?;
            let second = begun.elapsed().as_secs() as usize;
            let mut seconds = seconds.lock().expect("no client panics");
            let Some(answers) = seconds.get_mut(second) else { return Ok(()) };
            answers.push(asked.elapsed().as_secs_f64() * 1e3);
        }
    };
    let ended = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..clients).map(|_| scope.spawn(client)).collect();
        clients.into_iter().try_for_each(|client| client.join().expect("no client panics"))
    });
    ended.map_err(|error| format!("a request failed: {error}"))?;
    Ok(seconds.into_inner().expect("no client panics"))
}

/// One request on a connection that stays open.
fn ask(stream: &mut BufReader<TcpStream>, number: u32) -> io::Result<()> {
    write!(stream.get_mut(), "GET /?product={number} HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
    let (mut line, mut length, mut is_first) = (String::new(), 0, true);
    loop {
        line.clear();
        if stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let header = line.trim_end().to_ascii_lowercase();
        if std::mem::take(&mut is_first) && !header.starts_with("http/1.1 200") {
            return Err(io::Error::other(header));
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
        if header.is_empty() {
            break;
        }
    }
    stream.read_exact(&mut vec![0; length])
}
