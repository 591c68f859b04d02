//! Both schemas, by xmllint: good documents pass, each kind of broken one fails.

mod common;
mod generated;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use trace::model::{Element, ElementSpec, Presence};

use generated::Schema;

fn schema(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas").join(name)
}

const STRICT: &str = "martini-trace.xsd";
const LENIENT: &str = "tptp-trace.xsd";

/// What xmllint says against a document, or `None` if it is valid.
fn complaint(schema_name: &str, document: &str) -> Option<String> {
    let mut xmllint = Command::new("xmllint")
        .args(["--noout", "--stream", "--huge", "--schema"])
        .arg(schema(schema_name))
        .arg("-")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = xmllint.stdin.take().unwrap();
    let document = document.to_owned();
    // xmllint may stop reading at an error, so a broken pipe says nothing.
    let feeder = std::thread::spawn(move || drop(input.write_all(document.as_bytes())));
    let output = xmllint.wait_with_output().unwrap();
    feeder.join().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!text.contains("Schemas parser error"), "{schema_name} is no schema: {text}");
    (!output.status.success()).then_some(text)
}

fn has_xmllint() -> bool {
    let found = Command::new("xmllint").arg("--version").output().is_ok();
    if !found {
        eprintln!("SKIPPED: xmllint is not installed (Debian: libxml2-utils), so no schema was tested");
    }
    found
}

fn assert_valid(schema: &str, document: &str) {
    if let Some(text) = complaint(schema, document) {
        panic!("{schema}: {text}{document}");
    }
}

fn assert_invalid(schema: &str, document: &str) {
    assert!(complaint(schema, document).is_some(), "{schema} accepts {document}");
}

#[test]
fn the_examples_are_valid() {
    if !has_xmllint() {
        return;
    }
    for example in common::EXAMPLES {
        assert_valid(STRICT, example);
        assert_valid(LENIENT, example);
    }
}

#[test]
fn jvmpi_traces_are_lenient_ones() {
    if !has_xmllint() {
        return;
    }
    let closed = format!("{}</TRACE>", common::JVMPI);
    assert_valid(LENIENT, &closed);
    assert_invalid(STRICT, &closed);
    assert_invalid(LENIENT, common::JVMPI);
}

#[test]
fn whatever_the_writer_writes_is_valid() {
    if !has_xmllint() {
        return;
    }
    let mut runner = TestRunner::deterministic();
    let mut document = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TRACE>\n".to_owned();
    for spec in Element::SPECS {
        for _ in 0..100 {
            let line = common::element_line(spec).new_tree(&mut runner).unwrap().current();
            // Martini leaves out the one attribute that only old traces have.
            if !line.starts_with("<classDef threadIdRef") {
                document += &line;
            }
        }
    }
    document += "</TRACE>\n";
    assert_valid(STRICT, &document);
    assert_valid(LENIENT, &document);
}

/// A minimal valid element: all that must be there.
fn minimal(spec: &ElementSpec, without: Option<&str>) -> String {
    let value = |name: &str| match name {
        "time" | "cpuTime" | "queuedTime" | "wallTime" | "syncTime" | "totalTime" | "late" | "lookInterval" => {
            "1.000000000"
        }
        "mode" | "methodMode" => "INCLUDE",
        "genericPattern" | "methodGenericPattern" => "NONE",
        "type" => "Unknown",
        "frames" => "",
        "isArray" => "2",
        "source" => "vm",
        "state" => "RUNNABLE",
        "tier" => "c2",
        _ => "1",
    };
    let needed = spec.attributes.iter().filter(|a| a.presence != Presence::Optional && Some(a.name) != without);
    let attributes: String = needed.map(|a| format!(" {}=\"{}\"", a.name, value(a.name))).collect();
    format!("<TRACE><{}{attributes}/></TRACE>", spec.name)
}

#[test]
fn every_needed_attribute_is_demanded() {
    if !has_xmllint() {
        return;
    }
    for spec in Element::SPECS {
        assert_valid(STRICT, &minimal(spec, None));
        for attribute in spec.attributes {
            let document = minimal(spec, Some(attribute.name));
            match attribute.presence {
                Presence::Optional => {}
                Presence::Expected => {
                    assert_invalid(STRICT, &document);
                    assert_valid(LENIENT, &document);
                }
                Presence::Required => {
                    assert_invalid(STRICT, &document);
                    assert_invalid(LENIENT, &document);
                }
            }
        }
    }
}

#[test]
fn broken_documents_are_refused() {
    if !has_xmllint() {
        return;
    }
    let heap = common::HEAP;
    for (from, to, lenient_too) in [
        ("</TRACE>", "", true),
        ("time=\"1767606400.231500000\"", "time=\"1767606400.2315\"", false),
        ("time=\"1767606400.231500000\"", "time=\"now\"", true),
        ("isArray=\"8\"", "isArray=\"3\"", false),
        ("isArray=\"8\"", "isArray=\"true\"", false),
        ("size=\"1040\"", "size=\"-1040\"", true),
        ("objId=\"15\"", "objId=\"0x0F\"", true),
        ("objId=\"15\"", "objId=\"015\"", false),
        ("mode=\"EXCLUDE\"", "mode=\"exclude\"", true),
        ("genericPattern=\"SUFFIX\"", "genericPattern=\"*\"", true),
        ("<gcStart ", "<gcBegin ", false),
        ("<gcStart ", "<gcStart hue=\"1\" ", false),
        ("<gcStart ", "text <gcStart ", true),
        ("<classDef ", "<classDef threadIdRef=\"1\" ", false),
        ("<TRACE>", "<TRACE xmlns=\"urn:x\">", true),
        ("&amp; co", "& co", true),
    ] {
        assert!(heap.contains(from), "{from}");
        let broken = heap.replacen(from, to, 1);
        assert_invalid(STRICT, &broken);
        assert_eq!(complaint(LENIENT, &broken).is_some(), lenient_too, "{from} -> {to}");
    }
}

#[test]
fn the_schemas_are_those_of_the_table() {
    for made in [Schema::Strict, Schema::Lenient] {
        let (path, expected) = (schema(made.file()), made.text());
        if std::env::var_os("MARTINI_UPDATE").is_some_and(|value| value == "1") {
            std::fs::write(&path, &expected).unwrap();
        }
        let found = std::fs::read_to_string(&path).unwrap();
        let differing = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
        assert!(
            found == expected,
            "schemas/{} differs from the table, first in {differing:?}; \
             write it again: MARTINI_UPDATE=1 cargo test -p trace of_the_table",
            made.file()
        );
    }
}
