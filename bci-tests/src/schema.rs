//! Whether a trace is what the schemas and the validator allow.

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

/// Panics unless the XML document obeys the schema, as `xmllint` sees it. Without `xmllint` nothing is checked, and
/// that is said.
#[track_caller]
pub fn check(document: &Path, schema: Schema) {
    if !have_xmllint() {
        return;
    }
    // With --stream the memory does not grow with the trace.
    let checked = Command::new("xmllint")
        .args(["--noout", "--nonet", "--huge", "--stream", "--schema"])
        .arg(workspace().join(schema.file()))
        .arg(document)
        .output()
        .expect("xmllint was there a moment ago");
    let complaints = String::from_utf8_lossy(&checked.stderr);
    let first: Vec<&str> = complaints.lines().take(10).collect();
    assert!(checked.status.success(), "{} against {}:\n{}", document.display(), schema.file(), first.join("\n"));
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
