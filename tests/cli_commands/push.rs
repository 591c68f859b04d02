//! `martini push`, `--redact`: what a server receives.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::thread::{self, JoinHandle};

use crate::support::{end, martini, recorded, run, written};

/// What a server was sent: the first line, the headers in lower case, and the body.
#[derive(Debug)]
struct Received {
    line: String,
    headers: String,
    body: Vec<u8>,
}

/// A server that gives these answers, one for each request. Its address, and what it was sent.
fn server(answers: &[&'static str]) -> (String, JoinHandle<Vec<Received>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let answers = answers.to_vec();
    let serve =
        move || answers.into_iter().map(|answer| request(listener.accept().unwrap().0, answer).unwrap()).collect();
    (address, thread::spawn(serve))
}

fn request(mut stream: TcpStream, answer: &str) -> io::Result<Received> {
    let mut bytes = Vec::new();
    let head = loop {
        let mut block = [0; 4096];
        let read = stream.read(&mut block)?;
        bytes.extend_from_slice(&block[..read]);
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        assert_ne!(read, 0, "a request without an end");
    };
    let mut body = bytes.split_off(head + 4);
    let text = String::from_utf8(bytes).unwrap();
    let (line, headers) = text.split_once("\r\n").unwrap();
    let headers = headers.to_lowercase();
    let length = headers.lines().find_map(|header| header.strip_prefix("content-length: ")).unwrap().trim();
    let missing = length.parse::<usize>().unwrap() - body.len();
    let from = body.len();
    body.resize(from + missing, 0);
    stream.read_exact(&mut body[from..])?;
    stream.write_all(answer.as_bytes())?;
    Ok(Received { line: line.to_owned(), headers, body })
}

const TAKEN: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

fn unpacked(bytes: &[u8], folder: &Path) -> Vec<u8> {
    let path = folder.join("packed.gz");
    fs::write(&path, bytes).unwrap();
    let output = Command::new("gzip").args(["-dc", path.to_str().unwrap()]).output().unwrap();
    assert!(output.status.success());
    output.stdout
}

#[test]
fn a_collector_receives_what_export_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = recorded(&folder, "a.trcxml", &[("shop.Cart.add", 1600), ("shop.Main.main", 320)]);
    let path = path.to_str().unwrap();
    let (address, served) = server(&[TAKEN]);
    let pushed = martini()
        .args(["push", path, "--to", &format!("otlp:http://{address}")])
        .env("MARTINI_PUSH_HEADERS", "X-Scope-OrgID=team")
        .output()
        .unwrap();
    let said = String::from_utf8(pushed.stdout).unwrap();
    assert_eq!(said, format!("{path}: pushed to http://{address}/v1development/profiles\n"));
    let received = served.join().unwrap().remove(0);
    assert_eq!(received.line, "POST /v1development/profiles HTTP/1.1");
    for header in
        ["content-type: application/x-protobuf", "otlp-profiles-development-version: 1", "x-scope-orgid: team"]
    {
        assert!(received.headers.contains(header), "{}", received.headers);
    }
    let exported = folder.path().join("a.otlp");
    assert_eq!(run(&["export", path, "--to", "otlp", "-o", exported.to_str().unwrap()]).status, 0);
    assert_eq!(unpacked(&received.body, folder.path()), fs::read(exported).unwrap());
}

#[test]
fn pyroscope_receives_what_export_writes_and_names_that_must_not_leave_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = recorded(&folder, "a.trcxml", &[("shop.Cart.add", 1600), ("till.Main.main", 320)]);
    let path = path.to_str().unwrap();
    let (address, served) = server(&[TAKEN, TAKEN]);
    let to = format!("pyroscope:http://{address}");
    assert_eq!(run(&["push", path, "--to", &to]).status, 0);
    let without = ["push", path, "--to", &to, "--redact", "shop.*"];
    let redacted = end(martini().args(without).env("MARTINI_REDACT_KEY", "k"));
    assert_eq!((redacted.status, redacted.err.as_str()), (0, ""));
    let [plain, redacted] = served.join().unwrap().try_into().unwrap();
    assert_eq!(plain.line, "POST /push.v1.PusherService/Push HTTP/1.1");
    let exported = folder.path().join("a.pb.gz");
    assert_eq!(run(&["export", path, "--to", "pprof", "-o", exported.to_str().unwrap()]).status, 0);
    let exported = fs::read(exported).unwrap();
    assert!(plain.body.windows(exported.len()).any(|window| window == exported), "the profile is in the message");
    let profile = |body: &[u8]| {
        let at = body.windows(3).position(|window| window == [0x1f, 0x8b, 8]).unwrap();
        String::from_utf8_lossy(&unpacked_start(&body[at..], folder.path())).into_owned()
    };
    let (plain, redacted) = (profile(&plain.body), profile(&redacted.body));
    assert!(plain.contains("shop.Cart.add") && plain.contains("till.Main.main"), "{plain}");
    assert!(!redacted.contains("Cart") && redacted.contains("till.Main.main"), "{redacted}");
}

/// The same of what has something behind it.
fn unpacked_start(bytes: &[u8], folder: &Path) -> Vec<u8> {
    let path = folder.join("packed.gz");
    fs::write(&path, bytes).unwrap();
    // It complains about what follows.
    Command::new("gzip").args(["-dcq", path.to_str().unwrap()]).output().unwrap().stdout
}

#[test]
fn what_a_server_does_not_take_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = recorded(&folder, "a.trcxml", &[("shop.Cart.add", 1600)]);
    let path = path.to_str().unwrap();
    let refusal = "HTTP/1.1 401 Unauthorized\r\ncontent-length: 8\r\nconnection: close\r\n\r\nno\x07token";
    let partial = "HTTP/1.1 200 OK\r\ncontent-length: 8\r\nconnection: close\r\n\r\n\x0a\x06\x08\x02\x12\x02no";
    let (address, served) = server(&[refusal, partial]);
    let to = format!("otlp:http://{address}");
    let refused = run(&["push", path, "--to", &to]);
    let url = format!("http://{address}/v1development/profiles");
    assert_eq!(
        (refused.status, refused.err),
        (2, format!("martini: {path} is not pushed: {url} answered 401: notoken\n"))
    );
    let taken = run(&["push", path, "--to", &to]);
    assert_eq!((taken.status, taken.out), (0, format!("{path}: pushed to {url}, but 2 profiles were rejected: no\n")));
    served.join().unwrap();
    // Nobody listens there any more.
    let unreached = run(&["push", path, "--to", &to]);
    assert!(unreached.status == 2 && unreached.err.contains(" cannot be reached: "), "{}", unreached.err);
    let empty = written("<TRACE>\n<traceEnd time=\"1.5\"/>\n</TRACE>\n");
    let nothing = run(&["push", empty.path(), "--to", &to]);
    assert_eq!((nothing.status, nothing.out), (0, format!("{}: has nothing to push\n", empty.path())));
}
