//! Writes a heap dump: the objects that are not in the trace yet, all roots, all references.
//!
//! The VM's dump is read several times, front to back: the ids that objects get need eight bytes each, everything else is
//! constant.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{Seek, SeekFrom};

use hprof::layouts::Layouts;
use hprof::read::{ReadError, Reader, Record as Dumped, Root};
use hprof::{BasicType, RootKind, ThreadSerial};
use rustc_hash::{FxHashMap, FxHashSet};
use trace::ids::{HeapDumpId, ObjectId};
use trace::model::{ArrayCode, GcRoot, HeapDumpDef, ObjAlloc, ObjectReference, Record, RootType};
use trace::time::Time;

use super::id_map::IdMap;
use super::{DumpData, DumpedClass, HeapDumps, VmDump};
use agent_base::clock::Ticks;
use agent_base::events::event::Event;
use agent_base::ids::{ClassIndex, ThreadIndex};
use agent_base::message::message;
use agent_base::objects::weak_refs::ObjectTag;
use agent_base::tables::classes::ClassRecord;
use agent_trace::{Document, Section, Unread};

/// A dump that is being written.
struct DumpInTrace<'s> {
    data: &'s DumpData,
    /// Ids of the objects that have none in the trace up to here.
    ids: IdMap,
    /// Tracked objects that come into the trace only after the dump.
    later: FxHashSet<ObjectId>,
    /// How many of them are in the dump: they get two ids.
    twice: u64,
    classes: FxHashMap<u64, DumpedClass>,
    /// Classes of arrays of primitives.
    primitive_arrays: FxHashMap<u8, ClassIndex>,
    threads: FxHashMap<ThreadSerial, ThreadIndex>,
    time: Time,
    /// Objects whose class is not known, which cannot be written.
    unknown: u64,
}

/// Writes heap dumps.
pub(super) struct DumpSection {
    dumps: &'static HeapDumps,
    ready: VecDeque<DumpData>,
}

impl DumpSection {
    pub(super) fn new(dumps: &'static HeapDumps) -> DumpSection {
        DumpSection { dumps, ready: VecDeque::new() }
    }
}

impl Section for DumpSection {
    fn horizon(&self, horizon: Ticks) -> Ticks {
        self.dumps.horizon(horizon)
    }

    fn gets_on(&self) -> bool {
        self.dumps.gets_on()
    }

    fn ready(&mut self, _horizon: Ticks) -> Vec<Ticks> {
        let new = self.dumps.take_ready();
        let times = new.iter().map(|dump| dump.time).collect();
        self.ready.extend(new);
        times
    }

    fn insert(&mut self, document: &mut Document, unread: Unread<'_>) {
        let Some(dump) = self.ready.pop_front() else { return };
        let time = document.time(dump.time);
        write(document, &dump, time, unread);
    }
}

/// Writes a dump.
fn write(document: &mut Document, data: &DumpData, time: Time, unread: Unread<'_>) {
    let name = Some(Cow::Borrowed(data.name.as_str()));
    let definition = |reasons: Vec<&str>| {
        let without_ids = (!reasons.is_empty()).then(|| Cow::Owned(reasons.join("; ")));
        HeapDumpDef { dump_id: data.id, name: name.clone(), time, without_ids }
    };
    let reason = Some(data.without_ids.as_str()).filter(|reason| !reason.is_empty());
    let Some(base) = &data.base else {
        return document.emit(|out| definition(reason.into_iter().collect()).write(out));
    };
    let mut dump = DumpInTrace {
        data,
        ids: IdMap::default(),
        later: not_written(unread),
        twice: 0,
        classes: data.classes.iter().map(|class| (class.address, *class)).collect(),
        primitive_arrays: FxHashMap::default(),
        threads: FxHashMap::default(),
        time,
        unknown: 0,
    };
    let written = give_ids(document, &mut dump, base).and_then(|layouts| {
        let twice = format!("{}: met by the trace while the dump was made", dump.twice);
        let reasons = reason.into_iter().chain((dump.twice > 0).then_some(&*twice));
        document.emit(|out| definition(reasons.collect()).write(out));
        roots(document, &mut dump, base)?;
        references(document, &dump, layouts, base)
    });
    if let Err(error) = written {
        document.core.count_lost("heap dump", 1);
        message(&format!("the heap dump in the trace is incomplete: {error}"));
    }
    document.core.count_lost("heap dump: object of an unknown class", dump.unknown);
}

/// Objects whose first event is not written yet. Those of tracked objects have all come: an object is tracked after its event.
fn not_written(unread: Unread<'_>) -> FxHashSet<ObjectId> {
    let mut objects = FxHashSet::default();
    unread.each(|event| {
        if let Event::Alloc { object, .. } | Event::Found { object, .. } = event {
            objects.insert(object);
        }
    });
    objects
}

/// Gives ids to the objects that are not in the trace, and writes them. Returns the fields of all classes.
fn give_ids(document: &mut Document, dump: &mut DumpInTrace, base: &VmDump) -> Result<Layouts, ReadError> {
    for class in &dump.data.classes {
        if let Some(record) = document.core.jvm.classes.get(class.index).filter(|record| record.array.is_array()) {
            // Arrays of arrays of primitives have the code of references.
            if record.array != ArrayCode::REFERENCE {
                dump.primitive_arrays.insert(record.array.0, class.index);
            }
        }
    }
    let mut reader = open(base, true)?;
    while let Some(record) = reader.next_record()? {
        // Nothing is written meanwhile.
        document.core.progress.step();
        let object = match record {
            Dumped::Class(class) => class.id,
            Dumped::Instance { id, .. } | Dumped::ObjectArray { id, .. } | Dumped::PrimitiveArray { id, .. } => id,
            _ => continue,
        };
        if dump.tracked(object.0).is_none() {
            dump.twice += u64::from(dump.data.tags.get(object.0).is_some());
            dump.ids.note(object.0);
        }
    }
    dump.ids.number();
    let mut reader = open(base, true)?;
    let (mut layouts, mut class_objects) = (Layouts::new(8), Vec::new());
    while let Some(record) = reader.next_record()? {
        let (address, class, length) = match record {
            Dumped::Class(class) => {
                layouts.add(class);
                class_objects.push(class.id.0);
                continue;
            }
            Dumped::Instance { id, class, .. } => (id.0, dump.classes.get(&class.0).copied(), None),
            Dumped::ObjectArray { id, class, length, .. } => (id.0, dump.classes.get(&class.0).copied(), Some(length)),
            Dumped::PrimitiveArray { id, kind, length, .. } => {
                let index = dump.primitive_arrays.get(&kind.code()).copied();
                let class = index.map(|index| DumpedClass { address: 0, index, bytes: 0, instance_bytes: 0 });
                (id.0, class, Some(length))
            }
            _ => continue,
        };
        let bytes = |class: DumpedClass, record: &ClassRecord| match length {
            Some(length) => document.core.layout(record.array).map_or(0, |layout| layout.bytes(length)),
            None => class.instance_bytes.into(),
        };
        announce(document, dump, address, class, bytes);
    }
    let class_of_classes = dump.data.classes.iter().copied().find(|class| {
        document.core.jvm.classes.get(class.index).is_some_and(|record| record.name == "java.lang.Class")
    });
    for address in class_objects {
        let bytes = dump.classes.get(&address).map_or(0, |class| class.bytes);
        announce(document, dump, address, class_of_classes, |_, _| bytes);
    }
    Ok(layouts)
}

/// Writes one object, unless it is in the trace already.
fn announce(
    document: &mut Document,
    dump: &mut DumpInTrace,
    address: u64,
    class: Option<DumpedClass>,
    bytes: impl FnOnce(DumpedClass, &ClassRecord) -> u64,
) {
    if dump.ids.get(address) != Some(0) {
        return;
    }
    let known = class.and_then(|class| Some((class, document.core.jvm.classes.get(class.index)?)));
    let Some((class, record)) = known else {
        dump.unknown += 1;
        return;
    };
    let object = ObjectId(document.core.jvm.ids.next());
    dump.ids.set(address, object.0);
    document.define_class(class.index);
    let element = ObjAlloc {
        thread: None,
        is_array: Some(record.array),
        size: bytes(class, record),
        obj_id: object,
        class: record.id,
        method: None,
        line: None,
        stack: None,
        time: dump.time,
    };
    document.emit(|out| element.write(out));
}

fn roots(document: &mut Document, dump: &mut DumpInTrace, base: &VmDump) -> Result<(), ReadError> {
    let threads: FxHashMap<u64, ThreadIndex> = dump.data.threads.iter().copied().collect();
    // What belongs to a thread may come before the thread.
    for pass in 0..2 {
        let mut reader = open(base, true)?;
        while let Some(record) = reader.next_record()? {
            document.core.progress.step();
            let Dumped::Root(root) = record else { continue };
            if pass > 0 {
                write_root(document, dump, root);
            } else if let (RootKind::ThreadObject, Some(serial)) = (root.kind, root.thread)
                && let Some(&thread) = threads.get(&root.object.0)
            {
                dump.threads.insert(serial, thread);
            }
        }
    }
    Ok(())
}

fn write_root(document: &mut Document, dump: &DumpInTrace, root: Root) {
    let Some(object) = dump.object(root.object.0) else { return };
    let root_type = match root.kind {
        RootKind::JniGlobal => RootType::JniGlobal,
        RootKind::JniLocal => RootType::JniLocal,
        RootKind::JavaFrame => RootType::JavaFrame,
        RootKind::NativeStack => RootType::NativeStack,
        RootKind::StickyClass => RootType::StickyClass,
        RootKind::ThreadBlock => RootType::ThreadBlock,
        RootKind::MonitorUsed => RootType::MonitorUsed,
        RootKind::ThreadObject => RootType::ThreadObject,
        RootKind::Unknown => RootType::Unknown,
    };
    let thread = root.thread.and_then(|serial| dump.threads.get(&serial)).copied();
    let thread = thread.filter(|&thread| !document.has_ended(thread));
    if let Some(thread) = thread {
        document.define_thread(thread);
    }
    let thread = thread.and_then(|thread| document.core.jvm.threads.get(thread)).map(|record| record.id);
    document.emit(|out| GcRoot { dump: dump.data.id, object, root_type, thread }.write(out));
}

fn references(
    document: &mut Document,
    dump: &DumpInTrace,
    mut layouts: Layouts,
    base: &VmDump,
) -> Result<(), ReadError> {
    let id = dump.data.id;
    let mut reader = open(base, false)?;
    reader.skip_contents(true);
    let mut array = None;
    let mut index = 0;
    while let Some(record) = reader.next_record()? {
        if document.is_full() || document.has_failed() {
            break;
        }
        match record {
            Dumped::Class(class) => {
                let Some(owner) = dump.object(class.id.0) else { continue };
                for referred in [class.superclass, class.loader, class.signers, class.domain] {
                    reference(document, id, owner, dump.object(referred.0), None);
                }
                for (number, (_, value)) in class.statics.iter().enumerate() {
                    if let Some(referred) = value.object() {
                        reference(document, id, owner, dump.object(referred.0), Some(number as i64));
                    }
                }
            }
            Dumped::Instance { id: instance, class, fields, .. } => {
                let Some(owner) = dump.object(instance.0) else { continue };
                for (number, field) in layouts.fields(class).unwrap_or_default().iter().enumerate() {
                    if field.kind == BasicType::Object
                        && let Some(bytes) = fields.get(field.offset as usize..).and_then(|f| f.first_chunk())
                    {
                        let referred = dump.object(u64::from_be_bytes(*bytes));
                        reference(document, id, owner, referred, Some(number as i64));
                    }
                }
            }
            Dumped::ObjectArray { id: own, .. } => {
                array = dump.object(own.0);
                index = 0;
            }
            Dumped::Elements(elements) => {
                for element in elements.iter() {
                    if let Some(owner) = array {
                        reference(document, id, owner, dump.object(element), Some(index));
                    }
                    index += 1;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn reference(document: &mut Document, dump: HeapDumpId, owner: ObjectId, object: Option<ObjectId>, index: Option<i64>) {
    if let Some(object) = object {
        document.emit(|out| ObjectReference { dump, owner, object, field_index: index }.write(out));
    }
}

impl DumpInTrace<'_> {
    /// The tracked object at an address, if it is in the trace already.
    fn tracked(&self, address: u64) -> Option<ObjectId> {
        self.data.tags.get(address).map(|tag| ObjectTag(tag).id()).filter(|object| !self.later.contains(object))
    }

    /// The object at an address, if the trace can name it.
    fn object(&self, address: u64) -> Option<ObjectId> {
        self.tracked(address).or_else(|| self.ids.get(address).map(ObjectId)).filter(|id| id.0 != 0)
    }
}

/// Reads the VM's dump from the beginning.
fn open(base: &VmDump, skip: bool) -> Result<Reader<&File>, ReadError> {
    let mut file = &base.0;
    file.seek(SeekFrom::Start(0)).map_err(|source| ReadError::Io { at: 0, source })?;
    let mut reader = Reader::new(file)?;
    reader.skip_contents(skip);
    reader.skip_elements(skip);
    Ok(reader)
}
