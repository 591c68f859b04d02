//! Completes the VM's dump: with the trace's ids, with allocation stacks, or without the contents of primitives.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom};

use hprof::martini::{self, Martini};
use hprof::patch::{Changes, patch};
use hprof::read::Frame;
use hprof::write::Writer;
use hprof::{ClassSerial, FrameId, NameId, ObjectId, StackSerial, ThreadSerial};
use rustc_hash::FxHashMap;

use agent_options::DumpContents;

use super::DumpData;
use agent_base::ids::StackIndex;
use agent_base::objects::weak_refs::ObjectTag;
use agent_core::core::Core;

/// The VM numbers threads' stacks from 1 on.
const FIRST_STACK: u32 = 1 << 30;
/// The VM numbers frames from 1 on, and its names are addresses.
const FIRST_FRAME: u64 = 1 << 40;
/// More threads than this gain nothing while the program runs.
const MAX_THREADS: usize = 4;

/// The ids of objects in the new dump.
struct Names<'s> {
    data: &'s DumpData,
    /// Added to addresses, so that they differ from all ids of the trace.
    offset: u64,
    zeroes: bool,
    /// Ids of the trace are smaller.
    end: u64,
}

impl Changes for Names<'_> {
    #[inline]
    fn id(&self, address: ObjectId) -> ObjectId {
        self.object(address).0
    }

    #[inline]
    fn object(&self, address: ObjectId) -> (ObjectId, Option<StackSerial>) {
        match self.data.tags.get(address.0).map(ObjectTag) {
            Some(tag) => {
                let stack = Some(tag.stack()).filter(|stack| stack.0 != 0);
                (ObjectId(tag.id().0), stack.map(|stack| StackSerial(FIRST_STACK + stack.0)))
            }
            None => (ObjectId(address.0.wrapping_add(self.offset)), None),
        }
    }

    fn zeroes(&self) -> bool {
        self.zeroes
    }
}

/// Completes the VM's dump, in its place. The trace has ids below `end`; `offset` is added to the addresses of objects that
/// have no id.
///
/// # Errors
/// What cannot be read or written: one sentence. The dump is of no use then.
pub(crate) fn complete(
    core: &'static Core,
    data: &DumpData,
    end: u64,
    offset: u64,
    mut file: File,
) -> Result<(), String> {
    let writing = |e: io::Error| format!("cannot write the dump: {e}");
    let names = Names { data, offset, zeroes: core.options.dump.contents == DumpContents::Zero, end };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    let patched = patch(&file, &names, threads - 1).map_err(|e| format!("cannot complete the JVM's dump: {e}"))?;
    core.count_lost("heap dump: class of an object", patched.classless);
    file.seek(SeekFrom::Start(patched.end)).map_err(writing)?;
    let writer = Writer::resume(BufWriter::new(file));
    let mut addition = Addition { core, names, serials: patched.serials, writer };
    addition.stacks().and_then(|()| addition.martini()).map_err(writing)?;
    addition.writer.finish().map_err(writing)?;
    Ok(())
}

/// What is added to the end.
struct Addition<'s> {
    core: &'static Core,
    names: Names<'s>,
    /// Numbers of classes, by their addresses.
    serials: FxHashMap<ObjectId, ClassSerial>,
    writer: Writer<BufWriter<File>>,
}

impl Addition<'_> {
    /// The allocation stacks that the agent has seen.
    fn stacks(&mut self) -> io::Result<()> {
        let (mut next_name, mut next_frame) = (1, FIRST_FRAME);
        let mut names = FxHashMap::<&'static str, NameId>::default();
        let addresses: FxHashMap<_, _> =
            self.names.data.classes.iter().map(|class| (class.index, class.address)).collect();
        for number in 1.. {
            let Some(stack) = self.core.jvm.stacks.get(StackIndex(number)) else { return Ok(()) };
            let first = next_frame;
            for site in &stack.frames {
                let Some(method) = self.core.jvm.methods.get(site.method) else { continue };
                let class = self.core.jvm.classes.get(method.class);
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
        let instance_bytes = self.names.data.classes.iter().filter(|class| class.instance_bytes > 0);
        let generations = self.names.data.generations.iter().filter(|_| self.core.source.tracks_objects());
        let martini = Martini {
            dump_id: self.names.data.id.0,
            collections: self.names.data.collections.0,
            end: ObjectId(self.names.end),
            without_ids: self.names.data.without_ids.clone(),
            generations: generations.map(|&(first, collections)| (ObjectId(first.0), collections)).collect(),
            instance_bytes: instance_bytes
                .map(|class| (self.names.id(ObjectId(class.address)), class.instance_bytes))
                .collect(),
        };
        let texts = martini.encode();
        let ids = (martini::FIRST.0..).map(NameId);
        ids.zip(texts).try_for_each(|(id, text)| self.writer.name(id, text.as_bytes()))
    }
}
