//! Writes a heap trace of a wanted size to standard output, to measure readers with:
//!
//! ```text
//! cargo run --release -p analysis --example make_trace -- 500 > big.trcxml
//! time martini stats big.trcxml
//! ```
//!
//! The first argument is the size in MiB, the second the number of objects alive at one time (default 200,000). One object in
//! fifty is kept to the end of the trace or the next turn of its slot, the others die in the next collection, as in most programs.

use std::io::{self, Write};

use trace::ids::{ClassId, MethodId, ObjectId, ThreadId};
use trace::model::{
    AgentCreate, AgentDestroy, ArrayCode, ClassDef, GcFinish, GcStart, MethodDef, Node, ObjAlloc, ObjFree,
    ProcessCreate, ThreadStart, TraceEnd, TraceStart,
};
use trace::time::Time;
use trace::writer::XmlWriter;

const CLASSES: u64 = 1000;
const METHODS: u64 = 4000;
const THREADS: u64 = 16;
const FIRST_OBJECT: u64 = 100_000;
const START: u64 = 1_767_606_400_000_000_000;
/// Objects between two collections.
const NURSERY: u64 = 100_000;

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>());
    let (Some(Ok(mebibytes)), Some(Ok(live))) = (arguments.next(), arguments.next().or(Some(Ok(200_000)))) else {
        eprintln!("usage: make_trace MEBIBYTES [LIVE_OBJECTS] > FILE");
        std::process::exit(2);
    };
    let mut out = io::stdout().lock();
    let mut writer = XmlWriter::with_capacity(1 << 20);
    head(&mut writer);
    let mut random = Random(88_172_645_463_325_252);
    let mut nursery = Vec::new();
    let mut old = vec![0; live as usize];
    let mut time = START;
    let mut written: u64 = 0;
    for object in FIRST_OBJECT.. {
        time += 1 + random.below(400);
        writer.write(&alloc(object, time, &mut random));
        nursery.push(object);
        if nursery.len() as u64 == NURSERY {
            collect(&mut writer, &mut nursery, &mut old, &mut time, &mut random);
        }
        if writer.bytes().len() > 1 << 19 {
            written += writer.bytes().len() as u64;
            out.write_all(writer.bytes())?;
            writer.clear();
            if written >= mebibytes << 20 {
                break;
            }
        }
    }
    writer.write(&TraceEnd { time: Time(time) });
    writer.write(&AgentDestroy { agent_id: "a".into(), time: Time(time) });
    writer.end_document();
    out.write_all(writer.bytes())
}

/// A xorshift generator: the same trace every time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

fn head(writer: &mut XmlWriter) {
    let time = Time(START);
    writer.start_document();
    writer.write(&Node {
        node_id: "n".into(),
        hostname: "bench".into(),
        ip_address: "127.0.0.1".into(),
        timezone: 0,
        time,
    });
    writer.write(&ProcessCreate {
        process_id: "p".into(),
        pid: 1,
        node_id: "n".into(),
        time,
        name: None,
        java_version: None,
    });
    writer.write(&AgentCreate {
        agent_id: "a".into(),
        version: "2.000".into(),
        process_id: "p".into(),
        agent_name: "make_trace".into(),
        agent_type: "Profiler".into(),
        agent_parameters: "".into(),
        time,
        imported_from: None,
    });
    writer.write(&TraceStart { trace_id: "t".into(), agent_id: "a".into(), time });
    for id in 1..=THREADS {
        writer.write(&ThreadStart {
            thread_id: ThreadId(id),
            time,
            thread_name: format!("worker-{id}").into(),
            group_name: "main".into(),
            parent_name: "system".into(),
            object: Some(ObjectId(0)),
            kind: None,
        });
    }
    for id in 1..=CLASSES {
        writer.write(&ClassDef {
            thread: None,
            name: format!("com.acme.part{}.Class{id}", id % 50).into(),
            source_name: Some(format!("Class{id}.java").into()),
            class_id: ClassId(1000 + id),
            object: None,
            time,
            module: None,
        });
    }
    for id in 1..=METHODS {
        writer.write(&MethodDef {
            name: format!("method{id}").into(),
            signature: "(Ljava/lang/String;I)V".into(),
            start_line: Some(10),
            end_line: Some(90),
            method_id: MethodId(10_000 + id),
            class: ClassId(1001 + id % CLASSES),
        });
    }
}

fn alloc(object: u64, time: u64, random: &mut Random) -> ObjAlloc {
    // Few classes make most of the objects.
    let rank = random.below(CLASSES) * random.below(CLASSES) / CLASSES;
    let method = rank * 4 + random.below(4);
    ObjAlloc {
        thread: Some(ThreadId(1 + method % THREADS)),
        is_array: Some(ArrayCode::OBJECT),
        size: 16 + 8 * random.below(20),
        obj_id: ObjectId(object),
        class: ClassId(1001 + rank),
        method: Some(MethodId(10_001 + method)),
        line: Some(10 + (method % 80) as i64),
        stack: None,
        time: Time(time),
    }
}

fn collect(writer: &mut XmlWriter, nursery: &mut Vec<u64>, old: &mut [u64], time: &mut u64, random: &mut Random) {
    writer.write(&GcStart { time: Time(*time), thread: None });
    for object in nursery.drain(..) {
        let dead = if object % 50 == 0 {
            let slot = random.below(old.len() as u64) as usize;
            std::mem::replace(&mut old[slot], object)
        } else {
            object
        };
        if dead != 0 {
            *time += 10;
            writer.write(&ObjFree { object: ObjectId(dead), time: Time(*time), thread: None });
        }
    }
    *time += 100_000;
    writer.write(&GcFinish { time: Time(*time), used_objects: None, used_space: None, total_space: None });
}
