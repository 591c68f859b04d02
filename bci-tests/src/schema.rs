//! Whether a trace is what the schemas allow.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::martini::workspace;
use crate::suite::log;

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

/// Panics unless each element of the trace obeys the schema, as `xmllint` sees it. The trace must have one element per
/// line, and may lack its end. Without `xmllint` nothing is checked, and that is said.
///
/// `xmllint` takes longer for a trace than all else that a test does with it, so of elements of
/// the same `Form` it gets the first.
#[track_caller]
pub fn check(file: &Path, schema: Schema) {
    if !have_xmllint() {
        return;
    }
    let mut trace = BufReader::new(File::open(file).unwrap_or_else(|e| panic!("{}: {e}", file.display())));
    let mut prolog = Vec::new();
    for _ in 0..2 {
        trace.read_until(b'\n', &mut prolog).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    }
    assert!(prolog.ends_with(b"\n<TRACE>\n"), "{} begins otherwise", file.display());
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
    let document = BufWriter::new(xmllint.stdin.take().expect("asked for above"));
    let written = write_one_of_each(&mut prolog.as_slice().chain(trace), document);
    let status = xmllint.wait().expect("the process is ours");
    let complaints = complaints.join().expect("the reader does not panic").expect("xmllint writes text");
    let first: Vec<&str> = complaints.lines().take(10).collect();
    assert!(status.success(), "{} against {}:\n{}", file.display(), schema.file(), first.join("\n"));
    written.unwrap_or_else(|e| panic!("{}: {e}", file.display()));
}

/// Writes of all elements of the same form the first, as a document with an end.
fn write_one_of_each(trace: &mut impl BufRead, mut document: impl Write) -> io::Result<()> {
    const END: &[u8] = b"</TRACE>\n";
    let mut seen: HashSet<Form> = HashSet::new();
    let (mut line, mut form) = (Vec::new(), Form::default());
    while trace.read_until(b'\n', &mut line)? > 0 {
        form.take(&line);
        if line != END && !seen.contains(&form) {
            document.write_all(&line)?;
            seen.insert(form.clone());
        }
        line.clear();
    }
    document.write_all(END)?;
    document.flush()
}

/// What of an element decides whether the schemas allow it: all but the very digits of numbers of four to nine digits. Neither
/// schema has a type that distinguishes two such numbers, unless one is longer or begins with 0.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct Form(Vec<u8>);

impl Form {
    /// Becomes that of an element.
    fn take(&mut self, element: &[u8]) {
        self.0.clear();
        for run in element.chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()) {
            if run[0].is_ascii_digit() && (4..=9).contains(&run.len()) {
                let digit = if run[0] == b'0' { b'0' } else { b'1' };
                self.0.resize(self.0.len() + run.len(), digit);
            } else {
                self.0.extend_from_slice(run);
            }
        }
    }
}

fn have_xmllint() -> bool {
    static HAVE: OnceLock<bool> = OnceLock::new();
    *HAVE.get_or_init(|| {
        let quiet = Command::new("xmllint").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        let have = quiet.is_ok_and(|status| status.success());
        if !have {
            log("skipped\tschemas of all traces\tno xmllint (Debian's libxml2-utils has it)");
        }
        have
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(trace: &str) -> String {
        let mut document = Vec::new();
        write_one_of_each(&mut trace.as_bytes(), &mut document).expect("both are in memory");
        String::from_utf8(document).expect("what went in was text")
    }

    #[test]
    fn of_elements_that_differ_in_numbers_alone_the_first_is_checked() {
        let trace = "<TRACE>\n<a id=\"1234\" t=\"7.000000001\"/>\n<a id=\"5678\" t=\"7.000000002\"/>\n</TRACE>\n";
        assert_eq!(written(trace), "<TRACE>\n<a id=\"1234\" t=\"7.000000001\"/>\n</TRACE>\n");
    }

    #[test]
    fn what_a_schema_can_distinguish_is_checked() {
        let values =
            ["0", "1", "3", "12", "255", "256", "1234", "0123", "12345", "4294967295", "4294967296", "-1", "1a", ""];
        let lines: String = values.iter().map(|value| format!("<a v=\"{value}\"/>\n")).collect();
        let trace = format!("<TRACE>\n{lines}<b v=\"1\"/>\n<a w=\"1\"/>\n");
        assert_eq!(written(&trace), format!("{trace}</TRACE>\n"), "and it gets an end");
    }

    #[test]
    fn a_bad_element_among_good_ones_is_found() {
        if !have_xmllint() {
            return;
        }
        let object = |kind: &str, id: u32| {
            format!("<objAlloc isArray=\"{kind}\" size=\"16\" objId=\"{id}\" classIdRef=\"7\" time=\"1.000000000\"/>\n")
        };
        let mut trace = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TRACE>\n");
        (0..5000).for_each(|id| trace += &object(if id == 4321 { "12" } else { "2" }, id));
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(&file, trace).expect("the file is ours");
        assert!(std::panic::catch_unwind(|| check(file.path(), Schema::Strict)).is_err());
    }
}
