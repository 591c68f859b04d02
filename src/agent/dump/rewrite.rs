//! From the VM's dump to ours: with the trace's ids, with allocation stacks, or without the contents of primitives.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use hprof::layouts::Layouts;
use hprof::martini::{self, Martini};
use hprof::read::{ClassDump, Frame, Reader, Record, Root};
use hprof::write::Writer;
use hprof::{BasicType, ClassSerial, FrameId, NameId, ObjectId, StackSerial, ThreadSerial, Value};
use rustc_hash::FxHashMap;

use super::super::Agent;
use super::super::stacks::StackIndex;
use super::Snapshot;
use super::id_map::IdMap;

/// The VM numbers threads' stacks from 1 on.
const FIRST_STACK: u32 = 1 << 30;
/// The VM numbers frames from 1 on, and its names are addresses.
const FIRST_FRAME: u64 = 1 << 40;
/// The stack without frames that the VM gives to what it loads and allocates.
const NO_STACK: StackSerial = StackSerial(1);

/// What an object is called in the new dump.
pub(crate) struct Names<'m> {
    pub(crate) ids: &'m IdMap,
    /// Added to addresses, so that they are no ids of the trace.
    pub(crate) offset: u64,
}

impl Names<'_> {
    /// Id and allocation stack.
    #[inline]
    fn object(&self, agent: &Agent, address: ObjectId) -> (ObjectId, StackSerial) {
        match self.ids.get(address.0) {
            Some(tag) => {
                let (id, stack) = agent.tags.untag(tag as i64);
                (ObjectId(id.0), if stack.0 == 0 { NO_STACK } else { StackSerial(FIRST_STACK + stack.0) })
            }
            None if address.0 == 0 => (address, NO_STACK),
            None => (ObjectId(address.0 + self.offset), NO_STACK),
        }
    }

    #[inline]
    fn id(&self, agent: &Agent, address: ObjectId) -> ObjectId {
        self.object(agent, address).0
    }
}

struct Rewriter<'m> {
    agent: &'static Agent,
    names: &'m Names<'m>,
    zero: bool,
    snapshot: &'m Snapshot,
    writer: Writer<BufWriter<File>>,
    layouts: Layouts,
    serials: FxHashMap<ObjectId, ClassSerial>,
    in_heap: bool,
    fields: Vec<u8>,
}

/// Writes the dump anew.
///
/// # Errors
/// What cannot be read or written: one sentence.
pub(crate) fn rewrite(
    agent: &'static Agent,
    snapshot: &Snapshot,
    names: &Names,
    base: &Path,
    to: &Path,
) -> Result<(), String> {
    let reading = |e: &dyn std::fmt::Display| format!("the JVM's dump {} cannot be read: {e}", base.display());
    let writing = |e: io::Error| format!("the dump {} cannot be written: {e}", to.display());
    let input = File::open(base).map_err(|e| reading(&e))?;
    let mut reader = Reader::new(input).map_err(|e| reading(&e))?;
    let out = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(to).map_err(writing)?;
    let writer = Writer::new(BufWriter::with_capacity(1 << 20, out), reader.millis()).map_err(writing)?;
    let mut rewriter = Rewriter {
        agent,
        names,
        zero: agent.options.dump.contents == super::options::DumpContents::Zero,
        snapshot,
        writer,
        layouts: Layouts::new(8),
        serials: FxHashMap::default(),
        in_heap: false,
        fields: Vec::new(),
    };
    while let Some(record) = reader.next_record().map_err(|e| reading(&e))? {
        rewriter.record(record).map_err(writing)?;
    }
    rewriter.writer.finish().map_err(writing)?;
    Ok(())
}

impl Rewriter<'_> {
    fn id(&self, address: ObjectId) -> ObjectId {
        self.names.id(self.agent, address)
    }

    fn record(&mut self, record: Record) -> io::Result<()> {
        let is_heap = matches!(record, Record::Root(_) | Record::Class(_) | Record::Instance { .. })
            || matches!(record, Record::ObjectArray { .. } | Record::PrimitiveArray { .. });
        if is_heap && !self.in_heap {
            self.in_heap = true;
            self.stacks()?;
            self.martini()?;
        }
        match record {
            Record::Name { id, text } => self.writer.name(id, text),
            Record::LoadClass { serial, class, name } => {
                self.serials.insert(class, serial);
                self.writer.load_class(serial, self.id(class), NO_STACK, name)
            }
            Record::Frame(frame) => self.writer.frame(&frame),
            Record::Trace { serial, thread, frames } => self.writer.trace(serial, thread, frames.iter().map(FrameId)),
            Record::Root(root) => self.writer.root(&Root { object: self.id(root.object), ..root }),
            Record::Class(class) => self.class(class),
            Record::Instance { id, class, fields, .. } => self.instance(id, class, fields),
            Record::ObjectArray { id, class, length, .. } => {
                let (id, stack) = self.names.object(self.agent, id);
                self.writer.object_array(id, stack, self.id(class), length)
            }
            Record::Elements(ids) => {
                let (agent, names) = (self.agent, self.names);
                self.writer.elements(ids.iter().map(|id| names.id(agent, ObjectId(id))))
            }
            Record::PrimitiveArray { id, kind, length, .. } => {
                let (id, stack) = self.names.object(self.agent, id);
                self.writer.primitive_array(id, stack, kind, length)
            }
            Record::Contents(bytes) if self.zero => {
                self.fields.clear();
                self.fields.resize(bytes.len(), 0);
                self.writer.contents(&self.fields)
            }
            Record::Contents(bytes) => self.writer.contents(bytes),
            Record::Other => Ok(()),
        }
    }

    fn value(&self, value: Value) -> Value {
        let bits = match value.kind {
            BasicType::Object => self.id(ObjectId(value.bits)).0,
            _ if self.zero => 0,
            _ => value.bits,
        };
        Value { bits, ..value }
    }

    fn class(&mut self, class: &ClassDump) -> io::Result<()> {
        self.layouts.add(class);
        let dump = ClassDump {
            id: self.id(class.id),
            stack: class.stack,
            superclass: self.id(class.superclass),
            loader: self.id(class.loader),
            signers: self.id(class.signers),
            domain: self.id(class.domain),
            instance_size: class.instance_size,
            constants: class.constants.iter().map(|&(index, value)| (index, self.value(value))).collect(),
            statics: class.statics.iter().map(|&(name, value)| (name, self.value(value))).collect(),
            fields: class.fields.clone(),
        };
        self.writer.class(&dump)
    }

    fn instance(&mut self, object: ObjectId, class: ObjectId, fields: &[u8]) -> io::Result<()> {
        let missing =
            || io::Error::new(io::ErrorKind::InvalidData, format!("class {class} of object {object} is missing"));
        let layout = self.layouts.fields(class).ok_or_else(missing)?;
        self.fields.clear();
        match self.zero {
            true => self.fields.resize(fields.len(), 0),
            false => self.fields.extend_from_slice(fields),
        }
        for field in layout.iter().filter(|field| field.kind == BasicType::Object) {
            let place = field.offset as usize..field.offset as usize + 8;
            if let (Some(from), Some(to)) = (fields.get(place.clone()), self.fields.get_mut(place)) {
                let address = from.try_into().map_or(0, u64::from_be_bytes);
                to.copy_from_slice(&self.names.id(self.agent, ObjectId(address)).0.to_be_bytes());
            }
        }
        let (id, stack) = self.names.object(self.agent, object);
        let class = self.names.id(self.agent, class);
        self.writer.instance(id, stack, class, &self.fields)
    }

    /// The allocation stacks that the agent has met.
    fn stacks(&mut self) -> io::Result<()> {
        let (mut next_name, mut next_frame) = (1, FIRST_FRAME);
        let mut names = FxHashMap::<&'static str, NameId>::default();
        let addresses: FxHashMap<_, _> =
            self.snapshot.classes.iter().map(|class| (class.index, class.address)).collect();
        for number in 1.. {
            let Some(stack) = self.agent.stacks.get(StackIndex(number)) else { return Ok(()) };
            let first = next_frame;
            for site in &stack.frames {
                let Some(method) = self.agent.methods.get(site.method) else { continue };
                let class = self.agent.classes.get(method.class);
                let source = class.map_or("", |class| &class.source);
                let mut name = |text: &'static str| -> io::Result<NameId> {
                    if text.is_empty() {
                        return Ok(NameId(0));
                    }
                    if let Some(&known) = names.get(text) {
                        return Ok(known);
                    }
                    let id = NameId(next_name);
                    next_name += 1;
                    names.insert(text, id);
                    self.writer.name(id, text.as_bytes())?;
                    Ok(id)
                };
                let (method_name, signature, source) = (name(&method.name)?, name(&method.signature)?, name(source)?);
                let address = addresses.get(&method.class).map(|&address| ObjectId(address));
                let frame = Frame {
                    id: FrameId(next_frame),
                    method: method_name,
                    signature,
                    source,
                    class: address.and_then(|address| self.serials.get(&address)).copied().unwrap_or_default(),
                    line: if site.line > 0 { site.line as i32 } else { -1 },
                };
                next_frame += 1;
                self.writer.frame(&frame)?;
            }
            let frames = (first..next_frame).map(FrameId).collect::<Vec<_>>().into_iter();
            self.writer.trace(StackSerial(FIRST_STACK + number), ThreadSerial(0), frames)?;
        }
        Ok(())
    }

    fn martini(&mut self) -> io::Result<()> {
        let instance_bytes = self.snapshot.classes.iter().filter(|class| class.instance_bytes > 0);
        let generations = self.snapshot.generations.iter().filter(|_| self.agent.follows_objects());
        let martini = Martini {
            dump_id: self.snapshot.id.0,
            collections: self.snapshot.collections.0,
            generations: generations.map(|&(first, collections)| (ObjectId(first.0), collections)).collect(),
            instance_bytes: instance_bytes
                .map(|class| (self.id(ObjectId(class.address)), class.instance_bytes))
                .collect(),
        };
        let texts = martini.encode();
        let ids = (martini::FIRST.0..).map(NameId);
        ids.zip(texts).try_for_each(|(id, text)| self.writer.name(id, text.as_bytes()))
    }
}
