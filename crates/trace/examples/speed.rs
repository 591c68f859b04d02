//! How fast traces are written and read: `cargo run --release -p trace --example speed`.
//!
//! Prints the best of many short rounds, since other work on the machine only ever slows a round down.

use std::io::Write;
use std::time::Instant;

use trace::ids::{ClassId, MethodId, ObjectId, StackId, ThreadId};
use trace::model::{ArrayCode, Element, ObjAlloc, ObjFree, Record};
use trace::reader::{Event, TraceReader};
use trace::time::Time;
use trace::validate::{Profile, Validator, validate};
use trace::writer::XmlWriter;
use trace::zip::ZipWriter;

const ELEMENTS: u64 = 20_000;
const ROUNDS: usize = 200;
/// 5 January 2026, and then about a million events a second.
const START: u64 = 1_767_606_400_000_000_000;

fn main() {
    let plain = |id: u64| ObjAlloc {
        thread: Some(ThreadId(1)),
        is_array: Some(ArrayCode::OBJECT),
        size: 16 + id % 64 * 8,
        obj_id: ObjectId(id + 1000),
        class: ClassId(7 + id % 900),
        method: None,
        line: None,
        stack: None,
        time: Time(START + id * 1013),
    };
    let with_site = |id: u64| ObjAlloc {
        method: Some(MethodId(8 + id % 900)),
        line: Some((id % 3000) as i64),
        stack: Some(StackId(id % 5000)),
        ..plain(id)
    };
    let free = |id: u64| ObjFree { object: ObjectId(id + 1000), time: Time(START + id * 1013), thread: None };

    let trace = write("write objAlloc", plain);
    write("write objAlloc with site and stack", with_site);
    write("write objFree", free);

    let zipped = measure("zip objAlloc", trace.len(), || {
        let mut zip = ZipWriter::new(Vec::new(), "trace.xml").expect("memory");
        zip.write_all(&trace).expect("memory");
        zip.finish().expect("memory")
    });
    println!("{:40} {:.1} times smaller", "", trace.len() as f64 / zipped.len() as f64);
    measure("read objAlloc", trace.len(), || read(&trace));
    measure("read objAlloc from zip", trace.len(), || read(&zipped));
    measure("validate objAlloc", trace.len(), || {
        let mut reader = TraceReader::new(trace.as_slice()).expect("memory");
        validate(&mut reader, Validator::new(Profile::Strict, 0), |_| ())
    });
}

fn write<R: Record>(name: &str, record: impl Fn(u64) -> R) -> Vec<u8> {
    let mut writer = XmlWriter::with_capacity(8 << 20);
    let mut round = || {
        writer.clear();
        (0..ELEMENTS).for_each(|id| writer.write(&record(id)));
        writer.bytes().len()
    };
    let length = round();
    measure(name, length, round);
    writer.bytes().to_owned()
}

fn read(trace: &[u8]) -> u64 {
    let mut reader = TraceReader::new(trace).expect("memory");
    let mut bytes = 0;
    while let Some(event) = reader.next_event().expect("a trace of ours") {
        if let Event::Element { element: Element::ObjAlloc(object), .. } = event {
            bytes += object.size;
        }
    }
    bytes
}

fn measure<T>(name: &str, bytes: usize, mut work: impl FnMut() -> T) -> T {
    let mut best = f64::INFINITY;
    let mut result = None;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let made = std::hint::black_box(work());
        best = best.min(start.elapsed().as_secs_f64());
        result = Some(made);
    }
    let nanos = best * 1e9 / ELEMENTS as f64;
    println!("{name:40} {nanos:7.1} ns/element {:8.0} MB/s", bytes as f64 / best / 1e6);
    result.expect("at least one round")
}
