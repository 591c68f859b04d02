//! Tomcat with a small shop (`real/tomcat/Server.java`), and clients that ask it all the time. And Tomcat with servlets that hand requests
//! over to other threads (`real/tomcat/Asynchronous.java`).

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::{java, programs};

/// What the server is compiled and runs with.
pub const JARS: [&str; 2] = ["tomcat-embed-core-10.1.34.jar", "tomcat-annotations-api-10.1.34.jar"];
/// Clients that ask all the time, each on a connection of its own.
const CLIENTS: u32 = 16;
/// So many right answers, and one more, are load enough to compare with.
pub const ENOUGH: u64 = 100;
/// More than the server keeps at hand.
const PRODUCTS: u32 = 100;
/// An answer takes this long only if it never comes.
const PATIENCE: Duration = Duration::from_secs(30);

/// The jars of the server, if they are here.
pub fn jars() -> Option<[PathBuf; 2]> {
    let folder = programs::jars()?;
    let jars = JARS.map(|jar| folder.join(jar));
    jars.iter().all(|jar| jar.is_file()).then_some(jars)
}

/// The compiled server and its jars.
pub fn class_path() -> Vec<PathBuf> {
    static CLASSES: OnceLock<PathBuf> = OnceLock::new();
    compiled(&CLASSES, "tomcat/Server.java")
}

/// The compiled program whose servlets hand requests over, and the jars.
pub fn asynchronous() -> Vec<PathBuf> {
    static CLASSES: OnceLock<PathBuf> = OnceLock::new();
    compiled(&CLASSES, "tomcat/Asynchronous.java")
}

fn compiled(once: &OnceLock<PathBuf>, source: &str) -> Vec<PathBuf> {
    let jars = jars().expect("looked at before");
    let path = std::env::join_paths(&jars).expect("no colons");
    let classes = once.get_or_init(|| java::compile_real(source, &path));
    [classes.clone()].into_iter().chain(jars).collect()
}

/// The page that the server gives for a product.
fn page(product: u32) -> String {
    let row = |row| format!("<tr><td>{product}</td><td>{:x}</td></tr>\n", product * 31 + row);
    let rows: String = (0..40).map(row).collect();
    format!("<html><table>\n{rows}</table></html>\n")
}

/// One request on a connection that stays open; true if the answer is the right page.
fn ask(stream: &mut BufReader<TcpStream>, product: u32) -> io::Result<bool> {
    write!(stream.get_mut(), "GET /?product={product} HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
    let (mut line, mut is_ok, mut length) = (String::new(), false, 0);
    for number in 0.. {
        line.clear();
        if stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let header = line.trim_end().to_ascii_lowercase();
        if number == 0 {
            is_ok = header.starts_with("http/1.1 200");
        } else if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().map_err(io::Error::other)?;
        } else if header.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(is_ok && body == page(product).as_bytes())
}

/// What became of the requests.
#[derive(Debug, Default, PartialEq)]
pub struct Load {
    /// Right answers.
    pub answered: u64,
    /// What went wrong.
    pub failed: Vec<String>,
}

/// Asks for so long, with all clients, and until there are [`ENOUGH`] answers.
pub fn load(port: u16, seconds: u64) -> Load {
    let until = Instant::now() + Duration::from_secs(seconds);
    load_while(port, move |answered| Instant::now() < until || answered <= ENOUGH)
}

/// Asks with all clients, as long as that is true of the number of right answers so far.
pub fn load_while(port: u16, goes_on: impl Fn(u64) -> bool + Clone + Send + 'static) -> Load {
    load_with(CLIENTS, port, goes_on)
}

/// The same with so many clients.
pub fn load_with(clients: u32, port: u16, goes_on: impl Fn(u64) -> bool + Clone + Send + 'static) -> Load {
    let answered = Arc::new(AtomicU64::new(0));
    let client = move |client: u32, goes_on: &dyn Fn(u64) -> bool, answered: &AtomicU64| {
        let mut load = Load::default();
        let connect = || {
            let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_nodelay(true)?;
            Ok::<_, io::Error>(BufReader::new(stream))
        };
        let mut stream = connect();
        let mut next = client;
        while goes_on(answered.load(Relaxed)) && load.failed.len() < 10 {
            next = next.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let product = (next >> 16) % PRODUCTS;
            match stream.as_mut().map_err(|e| e.to_string()).and_then(|s| ask(s, product).map_err(|e| e.to_string())) {
                Ok(true) => {
                    load.answered += 1;
                    answered.fetch_add(1, Relaxed);
                }
                Ok(false) => load.failed.push(format!("another answer than the page of {product}")),
                Err(error) => {
                    load.failed.push(error);
                    stream = connect();
                }
            }
        }
        load
    };
    let clients: Vec<_> = (0..clients)
        .map(|number| {
            let (goes_on, answered) = (goes_on.clone(), answered.clone());
            std::thread::spawn(move || client(number, &goes_on, &answered))
        })
        .collect();
    let mut sum = Load::default();
    for client in clients {
        let load = client.join().expect("it does not panic");
        sum.answered += load.answered;
        sum.failed.extend(load.failed);
    }
    sum
}
