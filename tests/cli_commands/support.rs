//! Runs the command, and finds what it works on.

use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use bci_tests::documents;
use serde_json::Value;
use tempfile::{NamedTempFile, TempDir};

/// What a run of the command left.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Its exit code.
    pub(crate) status: i32,
    /// What it wrote to stdout.
    pub(crate) out: String,
    /// What it wrote to stderr.
    pub(crate) err: String,
}

/// The command, in an environment that does not change what it does, with room for all that it has to say.
pub(crate) fn martini() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_martini"));
    command.env_remove("MARTINI_AGENT").env_remove("JAVA_TOOL_OPTIONS").env_remove("CLICOLOR_FORCE");
    command.env("COLUMNS", "1000").stdin(Stdio::null());
    command
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Ended {
            status: output.status.code().expect("it ends by itself"),
            out: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            err: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
        }
    }
}

/// Runs a command to its end.
pub(crate) fn end(command: &mut Command) -> Ended {
    let output = command.output().expect("the command starts");
    documents::check(command, &output.stdout);
    output.into()
}

/// Runs a command to its end, with that in a pipe as its input.
pub(crate) fn end_with_input(command: &mut Command, input: &[u8]) -> Ended {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the command starts");
    child.stdin.take().expect("it is a pipe").write_all(input).expect("the command reads it");
    let output = child.wait_with_output().expect("it ends");
    documents::check(command, &output.stdout);
    output.into()
}

/// Runs `martini` with arguments.
pub(crate) fn run(arguments: &[&str]) -> Ended {
    end(martini().args(arguments))
}

/// What a command says as JSON, without anything on stderr.
pub(crate) fn json(arguments: &[&str]) -> Value {
    let ended = run(&[arguments, &["--json"]].concat());
    assert_eq!((ended.status, ended.err.as_str()), (0, ""), "{arguments:?}");
    serde_json::from_str(&ended.out).expect("the output is JSON")
}

/// What it says of the first trace.
pub(crate) fn trace_json(arguments: &[&str]) -> Value {
    json(arguments)["traces"][0].take()
}

/// A file that is removed when this is dropped.
pub(crate) struct Written(NamedTempFile);

/// Makes a file with these contents.
pub(crate) fn written(contents: impl AsRef<[u8]>) -> Written {
    let mut file = NamedTempFile::new().expect("there is a folder for it");
    file.write_all(contents.as_ref()).expect("it can be written");
    Written(file)
}

impl Written {
    /// Where it is.
    pub(crate) fn path(&self) -> &str {
        self.0.path().to_str().expect("temporary files have UTF-8 names")
    }
}

/// The path of a trace in tests/traces.
pub(crate) fn trace(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/traces").join(name);
    path.to_str().expect("the project lies at a UTF-8 path").to_owned()
}

/// The text of a trace in tests/traces.
pub(crate) fn text(name: &str) -> String {
    std::fs::read_to_string(trace(name)).expect("the trace is there")
}

/// A trace of a program of which each method allocates so many bytes, in arrays.
pub(crate) fn recorded(folder: &TempDir, name: &str, methods: &[(&str, u64)]) -> PathBuf {
    let kept = text("counts.trcxml");
    let (head, _) = kept.split_once("<classDef name=\"demo.Main\"").expect("a class");
    let mut xml = format!("{head}<classDef name=\"byte[]\" sourceName=\"\" classId=\"3\" time=\"1767606400.15\"/>\n");
    for (id, (method, bytes)) in (10..).step_by(2).zip(methods) {
        let (class, method) = method.rsplit_once('.').expect("a class and a method");
        let next = id + 1;
        let source = class.rsplit('.').next().expect("a name");
        _ = write!(
            xml,
            "<classDef name=\"{class}\" sourceName=\"{source}.java\" classId=\"{id}\" time=\"1767606400.22\"/>\n\
             <methodDef name=\"{method}\" signature=\"()V\" startLineNumber=\"1\" endLineNumber=\"9\" \
             methodId=\"{next}\" classIdRef=\"{id}\"/>\n\
             <allocCount isArray=\"8\" classIdRef=\"3\" methodIdRef=\"{next}\" lineNumber=\"{id}\" instances=\"{}\" \
             bytes=\"{bytes}\" time=\"1767606401.5\"/>\n",
            bytes / 16
        );
    }
    xml.push_str("<traceEnd time=\"1767606401.5\"/>\n</TRACE>\n");
    let path = folder.path().join(name);
    std::fs::write(&path, xml).expect("the trace can be written");
    path
}
