//! A small dump with one of everything, made by hand, and all that can be asked of a dump. Shared with the fuzz target.

#![allow(dead_code, reason = "each user needs a part")]

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use analysis::heap_dump::contents::{Wanted, describe};
use analysis::heap_dump::load::{Loaded, load};
use analysis::heap_dump::waste::{Waste, waste};
use analysis::heap_dump::{Dominators, Excluded, histogram, sites, suspects};
use hprof::martini::{self, Martini};
use hprof::read::{ClassDump, DumpFile, Frame, Root};
use hprof::write::Writer;
use hprof::{BasicType, ClassSerial, FrameId, NameId, ObjectId, RootKind, StackSerial, ThreadSerial, Value};

/// Ids from here on are addresses.
pub(crate) const FIRST_ADDRESS: u64 = 0x1_0000;

/// Name, superclass (a number in the list of classes, 0 for none), fields, bytes of an instance.
type Class = (&'static str, u64, &'static [(&'static str, BasicType)], u32);

/// The classes, which have numbers from 1.
const CLASSES: [Class; 14] = [
    ("java/lang/Object", 0, &[], 16),
    ("java/lang/Class", 1, &[], 0),
    ("java/lang/String", 1, &[("value", BasicType::Object), ("coder", BasicType::Byte)], 24),
    ("[B", 1, &[], 0),
    ("[Ljava/lang/Object;", 1, &[], 0),
    ("java/util/ArrayList", 1, &[("size", BasicType::Int), ("elementData", BasicType::Object)], 24),
    ("java/lang/Integer", 1, &[("value", BasicType::Int)], 16),
    ("java/lang/ref/Reference", 1, &[("referent", BasicType::Object)], 0),
    ("java/lang/ref/WeakReference", 8, &[], 16),
    ("java/lang/Thread", 1, &[("name", BasicType::Object)], 16),
    ("demo/Node", 1, &[("next", BasicType::Object)], 16),
    ("demo/Main", 1, &[], 16),
    ("java/util/HashMap", 1, &[("size", BasicType::Int), ("table", BasicType::Object)], 24),
    ("[I", 1, &[], 0),
];

/// All kinds of roots; object 5, a thread, is one of each.
pub(crate) const KINDS: [RootKind; 9] = [
    RootKind::JniGlobal,
    RootKind::JniLocal,
    RootKind::JavaFrame,
    RootKind::NativeStack,
    RootKind::StickyClass,
    RootKind::ThreadBlock,
    RootKind::MonitorUsed,
    RootKind::ThreadObject,
    RootKind::Unknown,
];

/// The class object of a class, by its number from 1.
pub(crate) fn class(number: u64) -> ObjectId {
    ObjectId(FIRST_ADDRESS + number * 0x108)
}

/// One of everything. The objects 1 to 99 were followed: those below 50 survived three collections, the others one. Objects 10 to 29 were
/// made by `demo.Main.make` for `java.util.X.add`, the nodes from 30 on by `demo.Main.main`.
pub(crate) fn small_dump() -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut Writer::new(&mut bytes, 1).expect("memory")).expect("memory");
    // The end record.
    bytes.extend([0x2C, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes
}

fn write(dump: &mut Writer<&mut Vec<u8>>) -> std::io::Result<()> {
    const NONE: StackSerial = StackSerial(1);
    let names: Vec<&str> = CLASSES.iter().map(|class| class.0).collect();
    let fields = ["value", "coder", "size", "elementData", "referent", "name", "next", "table", "roots", "number"];
    let texts = names.iter().chain(&fields).chain(&["main", "make", "add", "Main.java"]);
    for (at, text) in (1..).zip(texts.clone()) {
        dump.name(NameId(at), text.as_bytes())?;
    }
    let name = |wanted: &str| NameId(texts.clone().position(|text| *text == wanted).map_or(0, |at| at as u64 + 1));
    for (at, _) in (1..).zip(CLASSES) {
        dump.load_class(ClassSerial(at), class(at.into()), NONE, NameId(at.into()))?;
    }
    dump.trace(NONE, ThreadSerial(0), std::iter::empty())?;

    for (kind, object) in KINDS.iter().map(|&kind| (kind, 5)).chain([(RootKind::JavaFrame, 30)]) {
        let stack = (kind == RootKind::ThreadObject).then_some(NONE);
        let thread = Some(ThreadSerial(1));
        dump.root(&Root { kind, object: ObjectId(object), thread, stack, frame: Some(0) })?;
    }
    for (at, (_, superclass, fields, _)) in (1..).zip(CLASSES) {
        let reference = |id| Value { kind: BasicType::Object, bits: id };
        let number = Value { kind: BasicType::Long, bits: 7 };
        dump.class(&ClassDump {
            id: class(at),
            superclass: if superclass == 0 { ObjectId(0) } else { class(superclass) },
            statics: if at == 12 { vec![(name("roots"), reference(6)), (name("number"), number)] } else { Vec::new() },
            fields: fields.iter().map(|&(field, kind)| (name(field), kind)).collect(),
            ..ClassDump::default()
        })?;
    }
    let reference = |id: u64| id.to_be_bytes().to_vec();
    let number_and_reference = |number: u32, id: u64| [&number.to_be_bytes()[..], &id.to_be_bytes()].concat();
    let add = StackSerial(7);
    // A thread by its name; strings, of which three say the same and two share their characters.
    dump.instance(ObjectId(5), NONE, class(10), &reference(12))?;
    let mut string = |id: u64, array: u64| {
        let fields = [&array.to_be_bytes()[..], &[0]].concat();
        dump.instance(ObjectId(id), add, class(3), &fields)
    };
    for (id, array) in [(10, 14), (11, 15), (12, 16), (13, 14)] {
        string(id, array)?;
    }
    for (id, text) in [(14, "same"), (15, "same"), (16, "other")] {
        dump.primitive_array(ObjectId(id), add, BasicType::Byte, text.len() as u32)?;
        dump.contents(text.as_bytes())?;
    }
    // Lists: one empty, one with one of ten places in use.
    dump.instance(ObjectId(17), add, class(6), &number_and_reference(0, 19))?;
    dump.instance(ObjectId(18), add, class(6), &number_and_reference(1, 20))?;
    for (id, first) in [(19, 0), (20, 10)] {
        dump.object_array(ObjectId(id), add, class(5), 10)?;
        dump.elements([first, 0, 0, 0, 0, 0, 0, 0, 0, 0].into_iter().map(ObjectId))?;
    }
    for (id, value) in [(21, 7_u32), (22, 7), (23, 8)] {
        dump.instance(ObjectId(id), add, class(7), &value.to_be_bytes())?;
    }
    dump.instance(ObjectId(24), add, class(9), &reference(52))?;
    dump.instance(ObjectId(25), add, class(13), &number_and_reference(0, 0))?;
    // What the class holds: all of them.
    dump.object_array(ObjectId(6), NONE, class(5), 14)?;
    dump.elements(
        [10, 11, 12, 13, 17, 18, 21, 22, 23, 24, 25, 30, FIRST_ADDRESS + 0x8000, 0].into_iter().map(ObjectId),
    )?;
    // A chain from a local variable, a circle, garbage, and something that nobody followed.
    let main = StackSerial(8);
    for (id, next) in [(30, 31), (31, 32), (32, 0), (50, 51), (51, 50), (52, 0)] {
        dump.instance(ObjectId(id), main, class(11), &reference(next))?;
    }
    dump.primitive_array(ObjectId(FIRST_ADDRESS + 0x8000), NONE, BasicType::Int, 3)?;
    dump.contents(&[0; 12])?;

    // As Martini writes them, behind the heap.
    let frame = |id, method, class, line| Frame {
        id: FrameId(id),
        method: name(method),
        signature: NameId(0),
        source: name("Main.java"),
        class: ClassSerial(class),
        line,
    };
    for frame in [frame(1, "add", 6, 3), frame(2, "make", 12, 20), frame(3, "main", 12, 30)] {
        dump.frame(&frame)?;
    }
    dump.trace(add, ThreadSerial(0), [1, 2, 3].map(FrameId).into_iter())?;
    dump.trace(main, ThreadSerial(0), [FrameId(3)].into_iter())?;
    let sizes = (1..).zip(CLASSES).filter(|(_, class)| class.3 > 0);
    let martini = Martini {
        dump_id: 99,
        collections: 5,
        end: ObjectId(100),
        generations: vec![(ObjectId(0), 2), (ObjectId(50), 4)],
        instance_bytes: sizes.map(|(at, of)| (class(at), of.3)).collect(),
        without_ids: String::new(),
    };
    (martini::FIRST.0..).zip(martini.encode()).try_for_each(|(id, text)| dump.name(NameId(id), text.as_bytes()))?;
    // Ends the segment that is open.
    dump.name(NameId(999), b"end")
}

/// A file that holds one dump after the other.
pub(crate) struct Spool(File);

impl Spool {
    /// An empty file that nobody else sees.
    pub(crate) fn new() -> Self {
        Spool(tempfile::tempfile().expect("a temporary file"))
    }

    /// A dump of these bytes.
    pub(crate) fn dump(&mut self, bytes: &[u8]) -> DumpFile {
        self.0.set_len(0).and_then(|()| self.0.seek(SeekFrom::Start(0))).expect("a temporary file");
        self.0.write_all(bytes).expect("there is room");
        let file = self.0.try_clone().expect("a temporary file");
        DumpFile::of(Path::new("dump"), file, bytes.len() as u64).expect("it can be read")
    }
}

/// Reads a dump and looks for waste.
pub(crate) fn read(file: &DumpFile) -> (Loaded, Waste) {
    let loaded = load(file, &mut |_, _| {}).expect("it is a dump");
    let waste = waste(file, &loaded, 10, &mut |_, _| {}).expect("it was read before");
    (loaded, waste)
}

/// Asks for everything that can be asked of a dump, damaged or not, and checks that the answers agree with each other.
pub(crate) fn exercise(file: &DumpFile) {
    let Ok(loaded) = load(file, &mut |_, _| {}) else { return };
    let graph = &loaded.graph;
    let dominators = Dominators::of(graph).expect("it is small");
    let rows = histogram(graph, &dominators);
    assert_eq!(rows.iter().map(|row| row.instances).sum::<u64>(), graph.len() as u64);
    let lines = sites(graph, &dominators, graph.objects());
    assert!(lines.is_empty() || lines.iter().map(|row| row.instances).sum::<u64>() == graph.len() as u64);
    suspects(graph, &dominators, 0.01, 10);
    let mut wanted = Wanted::default();
    for object in graph.objects() {
        wanted.objects.insert(object);
        for path in graph.paths(object, Excluded::default(), 2) {
            wanted.path(&path);
        }
        for link in graph.referred(object, Excluded::WEAK) {
            assert!(graph.referring(link.object, Excluded::WEAK).iter().any(|back| back.object == object));
        }
        assert_eq!(graph.id(object).0, graph.id(graph.object(graph.id(object)).expect("it has an id")).0);
        let _ = (graph.site(object), graph.age(object), graph.shallow(object), graph.roots_of(object));
    }
    describe(file, &loaded, &wanted, &mut |_, _| {}).expect("it was read before");
    let found = waste(file, &loaded, 10, &mut |_, _| {}).expect("it was read before");
    assert!(found.strings.wasted <= found.strings.bytes && found.strings.distinct <= found.strings.strings);
}
