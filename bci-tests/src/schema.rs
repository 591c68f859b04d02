//! Whether a trace is what the schemas and the validator allow.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use trace::reader::TraceReader;
use trace::validate::{self, Profile, Rule, Validator};

use crate::martini::workspace;
use crate::say::say;

/// The two schemas.
#[derive(Clone, Copy, Debug)]
pub enum Schema {
    /// What Martini writes.
    Strict,
    /// What Martini reads.
    Lenient,
}

impl Schema {
    fn file(self) -> &'static str {
        match self {
            Self::Strict => "schemas/martini-trace.xsd",
            Self::Lenient => "schemas/tptp-trace.xsd",
        }
    }
}

/// Elements in one document for `xmllint`: it gives up on documents of more than five million.
const ELEMENTS_AT_ONCE: usize = 2_000_000;

/// Panics unless each element of the trace obeys the schema, as `xmllint` sees it. The trace must have one element per
/// line, and may lack its end. Without `xmllint` nothing is checked, and that is said.
#[track_caller]
pub fn check(file: &Path, schema: Schema) {
    if !have_xmllint() {
        return;
    }
    let file_name = file.display();
    let trace = BufReader::new(File::open(file).unwrap_or_else(|e| panic!("{file_name}: {e}")));
    let mut lines = trace.split(b'\n').map(|line| line.unwrap_or_else(|e| panic!("{file_name}: {e}")));
    let prolog = [lines.next().unwrap_or_default(), lines.next().unwrap_or_default()];
    assert_eq!(prolog[1], b"<TRACE>", "{file_name} begins otherwise");
    let mut lines = lines.filter(|line| line != b"</TRACE>").peekable();
    while lines.peek().is_some() {
        check_document(file, schema, lines.by_ref().take(ELEMENTS_AT_ONCE));
    }
}

/// Checks some elements as a document of their own.
#[track_caller]
fn check_document(file: &Path, schema: Schema, elements: impl Iterator<Item = Vec<u8>>) {
    // With --stream the memory does not grow with the trace.
    let mut xmllint = Command::new("xmllint")
        .args(["--noout", "--nonet", "--huge", "--stream", "--schema"])
        .arg(workspace().join(schema.file()))
        .arg("-")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("xmllint was there a moment ago");
    let mut stderr = xmllint.stderr.take().expect("asked for above");
    let complaints = std::thread::spawn(move || {
        let mut text = String::new();
        stderr.read_to_string(&mut text).map(|_| text)
    });
    let mut document = BufWriter::new(xmllint.stdin.take().expect("asked for above"));
    let write = || -> io::Result<()> {
        document.write_all(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TRACE>\n")?;
        for element in elements {
            document.write_all(&element)?;
            document.write_all(b"\n")?;
        }
        document.write_all(b"</TRACE>\n")?;
        document.flush()
    };
    let written = write();
    drop(document);
    let status = xmllint.wait().expect("the process is ours");
    let complaints = complaints.join().expect("the reader does not panic").expect("xmllint writes text");
    let first: Vec<&str> = complaints.lines().take(10).collect();
    assert!(status.success(), "{} against {}:\n{}", file.display(), schema.file(), first.join("\n"));
    written.expect("xmllint reads to the end of a valid document");
}

/// Panics unless the validator finds nothing wrong: definitions before use, no use of the dead, collections in pairs,
/// times in order, an end.
#[track_caller]
pub fn validate(file: &Path) {
    judge(file, &[]);
}

/// The same for a trace that nobody could finish.
#[track_caller]
pub fn validate_unfinished(file: &Path) {
    judge(file, &[Rule::Ending]);
}

#[track_caller]
fn judge(file: &Path, waived: &[Rule]) {
    let mut reader = TraceReader::open(file).unwrap_or_else(|e| panic!("{e}"));
    let report = validate::validate(&mut reader, Validator::new(Profile::Strict, 20), |_| {});
    let violations: Vec<String> =
        report.violations.iter().filter(|v| !waived.contains(&v.rule)).map(ToString::to_string).collect();
    let broken = report.broken.keys().filter(|rule| !waived.contains(rule)).count();
    assert!(broken == 0, "{}:\n{}", file.display(), violations.join("\n"));
}

fn have_xmllint() -> bool {
    static HAVE: OnceLock<bool> = OnceLock::new();
    *HAVE.get_or_init(|| {
        let quiet = Command::new("xmllint").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        let have = quiet.is_ok_and(|status| status.success());
        if !have {
            say("no xmllint here: traces are not checked against the schemas (Debian's libxml2-utils has it)");
        }
        have
    })
}
