//! What several tests need: the fixtures, reading in one go, and documents made from the table.

#![allow(dead_code, reason = "each test program uses its own part")]

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use trace::model::{AttributeSpec, Element, ElementSpec, Presence};
use trace::reader::{DocumentEnd, Event, ReadError, TraceReader};
use trace::zip::ZipWriter;

pub(crate) const HEAP: &str = include_str!("../fixtures/heap.xml");
pub(crate) const THREADS: &str = include_str!("../fixtures/threads.xml");
pub(crate) const DUMP: &str = include_str!("../fixtures/dump.xml");
pub(crate) const COUNTS: &str = include_str!("../fixtures/counts.xml");
pub(crate) const SAMPLES: &str = include_str!("../fixtures/samples.xml");
/// In the shape of the JVMPI agent's traces: nothing between elements, no end tag, lazy definitions,
/// an exit of a method that was never defined, times that run back.
pub(crate) const JVMPI: &str = include_str!("../fixtures/jvmpi.xml");

pub(crate) const EXAMPLES: [&str; 5] = [HEAP, THREADS, DUMP, COUNTS, SAMPLES];

/// Everything a reader delivers, for comparing.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Read {
    pub(crate) names: Vec<String>,
    /// The elements as the writer writes them.
    pub(crate) lines: Vec<String>,
    pub(crate) ends: Vec<DocumentEnd>,
    pub(crate) errors: Vec<String>,
    pub(crate) missing: u64,
    pub(crate) unknown: u64,
    pub(crate) repeated: u64,
}

pub(crate) fn read(input: impl std::io::Read) -> Read {
    let mut result = Read::default();
    let mut reader = match TraceReader::new(input) {
        Ok(reader) => reader,
        Err(error) => {
            result.errors.push(error.to_string());
            return result;
        }
    };
    loop {
        match reader.next_event() {
            Ok(None) => break,
            Ok(Some(Event::DocumentStart { name })) => result.names.push(name.to_owned()),
            Ok(Some(Event::DocumentEnd(end))) => result.ends.push(end),
            Ok(Some(Event::Element { element, irregularities, .. })) => {
                result.lines.push(line(&element));
                result.missing += u64::from(irregularities.missing);
                result.unknown += u64::from(irregularities.unknown);
                result.repeated += u64::from(irregularities.repeated);
            }
            Err(error) => result.errors.push(error.to_string()),
        }
    }
    assert_eq!(result.names.len(), result.ends.len(), "a document without beginning or end");
    let after_the_end: Result<Option<Event<'_>>, ReadError> = reader.next_event();
    assert!(matches!(after_the_end, Ok(None)));
    result
}

pub(crate) fn line(element: &Element<'_>) -> String {
    let mut writer = trace::writer::XmlWriter::default();
    writer.write(element);
    String::from_utf8(writer.bytes().to_owned()).expect("the writer writes UTF-8")
}

/// The element lines of an example.
pub(crate) fn lines(example: &str) -> Vec<String> {
    let elements = example.lines().filter(|line| line.ends_with("/>"));
    elements.map(|line| format!("{line}\n")).collect()
}

pub(crate) fn zip(name: &str, text: &[u8]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Vec::new(), name).unwrap();
    zip.write_all(text).unwrap();
    zip.finish().unwrap()
}

pub(crate) fn gzip(text: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(text).unwrap();
    gzip.finish().unwrap()
}

/// Escapes as the format's description says, one character after the other.
pub(crate) fn escaped(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let mut out = String::new();
    for (at, &character) in characters.iter().enumerate() {
        let hex: String = characters[at..].iter().skip(2).take(4).collect();
        let unit = u16::from_str_radix(&hex, 16).ok().filter(|_| hex.len() == 4 && !hex.starts_with('+'));
        let is_surrogate = unit.is_some_and(|unit| unit >> 11 == 0xD800 >> 11);
        let spells = characters.get(at + 1) == Some(&'u') && unit.is_some() && !is_surrogate;
        match character {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&apos;",
            '\t' => out += "&#9;",
            '\n' => out += "&#10;",
            '\r' => out += "&#13;",
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => out += &format!("\\u{:04x}", character as u32),
            '\\' if spells => out += "\\u005c",
            other => out.push(other),
        }
    }
    out
}

/// A text such as Java may give, unescaped: any characters, and much of what needs care.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z$. ]{0,12}",
        any::<String>(),
        r#"(\\|u|\\u[0-9a-f]{4}|\\ud[89c]00|[&<>"';#\t\n\r\x00\x1f]|￾|😀){0,8}"#,
    ]
}

/// One element of the table as the writer should write it: any values, optional attributes or not.
pub(crate) fn element_line(spec: &'static ElementSpec) -> BoxedStrategy<String> {
    let attributes: Vec<_> = spec.attributes.iter().map(attribute).collect();
    attributes.prop_map(move |values| format!("<{}{}/>\n", spec.name, values.concat())).boxed()
}

/// Any element that the model knows.
pub(crate) fn any_element_line() -> impl Strategy<Value = String> {
    prop::sample::select(Element::SPECS).prop_flat_map(element_line_of)
}

fn element_line_of(spec: ElementSpec) -> BoxedStrategy<String> {
    let spec = Element::SPECS.iter().find(|known| known.name == spec.name).expect("from the table");
    element_line(spec)
}

fn attribute(spec: &AttributeSpec) -> BoxedStrategy<String> {
    let AttributeSpec { name, presence, .. } = *spec;
    let value = value(name).prop_map(move |value| format!(" {name}=\"{value}\""));
    match presence {
        Presence::Optional => prop_oneof![Just(String::new()), value].boxed(),
        Presence::Required | Presence::Expected => value.boxed(),
    }
}

fn value(name: &str) -> BoxedStrategy<String> {
    match name {
        "time" | "overhead" | "baseTime" | "cpuTime" | "queuedTime" | "wallTime" | "syncTime" | "totalTime"
        | "late" | "readyTime" | "lookInterval" => {
            any::<u64>().prop_map(|nanos| trace::time::Time(nanos).to_string()).boxed()
        }
        "mode" | "methodMode" => prop::sample::select(vec!["INCLUDE", "EXCLUDE"]).prop_map_into().boxed(),
        "genericPattern" | "methodGenericPattern" => {
            prop::sample::select(vec!["NONE", "PREFIX", "SUFFIX"]).prop_map_into().boxed()
        }
        "type" => prop::sample::select(vec!["JNIGlobal", "StickyClass", "Unknown"]).prop_map_into().boxed(),
        "isArray" => prop::sample::select(vec!["0", "2", "4", "8", "11"]).prop_map_into().boxed(),
        "source" => Just("vm".to_owned()).boxed(),
        "kind" => prop::sample::select(vec!["vm", "native"]).prop_map_into().boxed(),
        "types" => "[I1234Ni]{0,4}".boxed(),
        "parked" | "daemon" | "kernel" | "osr" | "running" | "failed" | "handedOver" | "used" => {
            prop::sample::select(vec!["0", "1"]).prop_map_into().boxed()
        }
        "reason" => prop::sample::select(vec!["notified", "timeout", "interrupted"]).prop_map_into().boxed(),
        "state" => prop::sample::select(vec!["BLOCKED", "TIMED_WAITING"]).prop_map_into().boxed(),
        "refusal" => prop::sample::select(vec!["unknown", "missing", "otherJvm", "classPath"]).prop_map_into().boxed(),
        "tier" => prop::sample::select(vec!["native", "c1", "c1-limited", "c1-full", "c2"]).prop_map_into().boxed(),
        "waiterIdRefs" | "notifyWaiterIdRefs" => prop::collection::vec(any::<u64>(), 0..4)
            .prop_map(|threads| threads.iter().map(u64::to_string).collect::<Vec<_>>().join(" "))
            .boxed(),
        "frames" => prop::collection::vec((any::<u64>(), any::<u32>()), 0..4)
            .prop_map(|frames| {
                let frames = frames.iter().map(|(method, line)| format!("{method}:{line}"));
                frames.collect::<Vec<_>>().join(" ")
            })
            .boxed(),
        "timezone" | "fieldIdx" => any::<i32>().prop_map(|n| n.to_string()).boxed(),
        "startLineNumber" | "endLineNumber" | "lineNumber" => any::<u32>().prop_map(|n| n.to_string()).boxed(),
        "nodeId" | "nodeIdRef" | "processId" | "processIdRef" | "agentId" | "agentIdRef" | "traceId" | "hostname"
        | "ipaddress" | "name" | "version" | "agentName" | "agentType" | "agentParameters" | "pattern"
        | "methodPattern" | "threadName" | "groupName" | "parentName" | "sourceName" | "signature" | "key"
        | "detail" | "library" | "lost" | "operation" => text().prop_map(|text| escaped(&text)).boxed(),
        // An option's value is a text, a count's is a number; digits are both.
        _ => any::<u64>().prop_map(|n| n.to_string()).boxed(),
    }
}
