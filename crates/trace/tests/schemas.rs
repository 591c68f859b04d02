//! Both schemas, by xmllint: good documents pass, each kind of broken one fails.

mod common;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use quick_xml::events::Event;
use trace::model::{Element, ElementSpec, Presence};

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
        "time" | "cpuTime" | "queuedTime" | "wallTime" | "syncTime" | "totalTime" | "late" => "1.000000000",
        "mode" | "methodMode" => "INCLUDE",
        "genericPattern" | "methodGenericPattern" => "NONE",
        "type" => "Unknown",
        "frames" => "",
        "isArray" => "2",
        "source" => "vm",
        "state" => "RUNNABLE",
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

/// Elements and attributes of a schema, in the form of the model's table.
fn declared(schema_name: &str) -> Vec<(String, Vec<(String, bool)>)> {
    let text = std::fs::read_to_string(schema(schema_name)).unwrap();
    let mut reader = quick_xml::Reader::from_str(&text);
    let mut elements: Vec<(String, Vec<(String, bool)>)> = Vec::new();
    let mut in_group = false;
    loop {
        let event = reader.read_event().unwrap();
        let (Event::Start(tag) | Event::Empty(tag)) = &event else {
            if matches!(event, Event::Eof) {
                return elements;
            }
            continue;
        };
        let get = |name: &str| tag.try_get_attribute(name).unwrap().map(|found| found.value.into_owned());
        match tag.name().as_ref() {
            "xs:attributeGroup" => in_group = get("name").is_some(),
            // A named type in the strict schema, an element with a type of its own in the lenient one.
            "xs:complexType" | "xs:element" => {
                in_group = false;
                if let (Some(name), None) = (get("name"), get("type")) {
                    elements.push((name, Vec::new()));
                }
            }
            "xs:attribute" if !in_group => {
                let needed = get("use").as_deref() == Some("required");
                elements.last_mut().unwrap().1.push((get("name").unwrap(), needed));
            }
            _ => {}
        }
    }
}

#[test]
fn the_schemas_declare_what_the_table_declares() {
    for (name, is_strict) in [(STRICT, true), (LENIENT, false)] {
        let declared: Vec<_> = declared(name).into_iter().filter(|(_, attributes)| !attributes.is_empty()).collect();
        let table: Vec<_> = Element::SPECS
            .iter()
            .map(|spec| {
                let attributes = spec.attributes.iter();
                let attributes =
                    attributes.filter(|a| !(is_strict && (spec.name, a.name) == ("classDef", "threadIdRef")));
                let attributes = attributes.map(|a| {
                    let needed = match a.presence {
                        Presence::Required => true,
                        Presence::Expected => is_strict,
                        Presence::Optional => false,
                    };
                    (a.name.to_owned(), needed)
                });
                (spec.name.to_owned(), attributes.collect::<Vec<_>>())
            })
            .collect();
        assert_eq!(declared, table, "{name}");
    }
}
