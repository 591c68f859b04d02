//! The first pass: what objects, classes, roots and sites there are.

use hprof::martini::Martini;
use hprof::read::{ClassDump, DumpFile, Frame, ReadError, Record, Root, Skipped};
use hprof::{BasicType, ClassSerial, FrameId, NameId, ObjectId, StackSerial, ThreadSerial};
use rustc_hash::{FxHashMap, FxHashSet};
use trace::{modified_utf8, names};

use super::{ClassFields, DeclaredFields, StaticField};
use super::{LoadError, Progress, STRIDE};
use crate::heap_dump::ids::IdMap;
use crate::heap_dump::layout::{CLASS, LayoutInput, ObjectLayout};
use crate::heap_dump::{Ages, Class, ClassIndex, DumpProblems, GraphRoot, ObjectIndex, Origins, Sizes, TooMany};
use trace::generated::plain_name;

/// What the first pass gathers.
#[derive(Default)]
pub(super) struct FirstPass {
    names: FxHashMap<NameId, Box<str>>,
    class_ids: FxHashMap<ObjectId, ClassIndex>,
    serials: FxHashMap<ClassSerial, ObjectId>,
    classes: Vec<Class>,
    class_fields: Vec<DeclaredFields>,
    supers: Vec<(ObjectId, ObjectId)>,
    field_names: Vec<String>,
    field_name_index: FxHashMap<NameId, u32>,
    primitives: FxHashMap<u8, ClassIndex>,
    frames: FxHashMap<FrameId, Frame>,
    traces: FxHashMap<StackSerial, Vec<FrameId>>,
    /// Stacks without frames.
    empty: FxHashSet<StackSerial>,
    threads: FxHashMap<ThreadSerial, ObjectId>,
    roots: Vec<Root>,
    ids: Vec<u64>,
    class_of: Vec<ClassIndex>,
    /// The length of arrays, 0 for other objects.
    lengths: Vec<u32>,
    origins: Origins,
    site_index: FxHashMap<StackSerial, u32>,
    /// The site that the object before had: they come in runs.
    last_site: (StackSerial, u32),
    id_size: usize,
    millis: u64,
    martini: Martini,
    skipped: Skipped,
    broken: Option<String>,
}

/// What the first pass found, put in order.
pub(super) struct FoundObjects {
    pub(super) classes: Vec<Class>,
    pub(super) class_fields: ClassFields,
    pub(super) layout: ObjectLayout,
    pub(super) ids: IdMap,
    pub(super) class_of: Vec<ClassIndex>,
    pub(super) sizes: Sizes,
    pub(super) roots: Vec<GraphRoot>,
    /// The array class of each class that has one.
    pub(super) arrays: FxHashMap<ClassIndex, ObjectIndex>,
    pub(super) origins: Origins,
    pub(super) problems: DumpProblems,
    pub(super) millis: u64,
}

pub(super) fn read(file: &DumpFile, progress: Progress<'_>) -> Result<FirstPass, LoadError> {
    let mut reader = file.reader()?;
    reader.skip_contents(true);
    reader.skip_elements(true);
    let mut first = FirstPass { id_size: reader.id_size(), millis: reader.millis(), ..FirstPass::default() };
    let mut records = 0_u64;
    loop {
        match reader.next_record() {
            Ok(Some(record)) => first.record(&record)?,
            Ok(None) => break,
            Err(error @ ReadError::Io { .. }) => return Err(error.into()),
            Err(error) if first.ids.is_empty() => return Err(error.into()),
            Err(error) => {
                first.broken = Some(error.to_string());
                break;
            }
        }
        records += 1;
        if records.is_multiple_of(STRIDE) {
            progress("finding objects", file.consumed());
        }
    }
    first.skipped = reader.skipped();
    Ok(first)
}

impl FirstPass {
    fn record(&mut self, record: &Record<'_>) -> Result<(), TooMany> {
        match *record {
            Record::Name { id, text } if !self.martini.take(id, text) => {
                self.names.insert(id, modified_utf8::decode(text).into());
            }
            Record::LoadClass { serial, class, name } => {
                self.serials.insert(serial, class);
                let index = self.class_with(class);
                let name = self.name(name);
                self.classes[index.at()].name = class_name(&name);
                if let Some(kind) = primitive_array(&name) {
                    self.primitives.insert(kind.code(), index);
                }
            }
            Record::Frame(frame) => {
                self.frames.insert(frame.id, frame);
            }
            Record::Trace { serial, frames, .. } if frames.is_empty() => {
                self.empty.insert(serial);
            }
            Record::Trace { serial, frames, .. } => {
                self.traces.insert(serial, frames.iter().map(FrameId).collect());
            }
            Record::Root(root) => {
                if let (hprof::RootKind::ThreadObject, Some(thread)) = (root.kind, root.thread) {
                    self.threads.insert(thread, root.object);
                }
                self.roots.push(root);
            }
            Record::Class(dump) => self.class_dump(dump)?,
            Record::Instance { id, stack, class, .. } => {
                let class = self.class_with(class);
                self.object(id, stack, class, 0)?;
            }
            Record::ObjectArray { id, stack, class, length } => {
                let class = self.class_with(class);
                self.object(id, stack, class, length)?;
            }
            Record::PrimitiveArray { id, stack, kind, length } => {
                let class = self.primitive_class(kind);
                self.object(id, stack, class, length)?;
            }
            Record::Name { .. } | Record::Elements(_) | Record::Contents(_) | Record::Other => {}
        }
        Ok(())
    }

    #[inline]
    fn object(&mut self, id: ObjectId, stack: StackSerial, class: ClassIndex, length: u32) -> Result<(), TooMany> {
        if self.ids.len() >= ObjectIndex::MOST {
            return Err(TooMany);
        }
        self.ids.push(id.0);
        self.class_of.push(class);
        self.lengths.push(length);
        if stack != self.last_site.0 {
            self.last_site = (stack, self.site(stack));
        }
        let site = self.last_site.1;
        let site_of = &mut self.origins.site_of;
        if site > 0 || !site_of.is_empty() {
            site_of.resize(self.ids.len() - 1, 0);
            site_of.push(site);
        }
        Ok(())
    }

    /// The number of a site; 0 for a stack without frames, as JVMs give to every object. The others may come behind the objects.
    fn site(&mut self, stack: StackSerial) -> u32 {
        if stack.0 == 0 || self.empty.contains(&stack) {
            return 0;
        }
        let next = self.site_index.len() as u32 + 1;
        *self.site_index.entry(stack).or_insert(next)
    }

    fn class_dump(&mut self, dump: &ClassDump) -> Result<(), TooMany> {
        let index = self.class_with(dump.id);
        // Its class is java.lang.Class, which may not have come yet; the end puts it right.
        self.object(dump.id, dump.stack, index, 0)?;
        self.classes[index.at()].object = Some(ObjectIndex(self.ids.len() as u32 - 1));
        self.supers[index.at()] = (dump.superclass, dump.loader);
        let statics = dump.statics.iter().map(|&(name, value)| StaticField { name: self.field_name(name), value });
        let statics: Box<[StaticField]> = statics.collect();
        let fields = dump.fields.iter().map(|&(name, kind)| (self.field_name(name), kind)).collect();
        let instance_size = dump.instance_size;
        self.class_fields[index.at()] = DeclaredFields { fields, statics, instance_size, ..DeclaredFields::default() };
        Ok(())
    }

    #[inline]
    fn class_with(&mut self, id: ObjectId) -> ClassIndex {
        match self.class_ids.get(&id) {
            Some(&class) => class,
            None => {
                let class = self.new_class(String::new());
                self.class_ids.insert(id, class);
                class
            }
        }
    }

    fn new_class(&mut self, name: String) -> ClassIndex {
        self.classes.push(Class { name, ..Class::default() });
        self.class_fields.push(DeclaredFields::default());
        self.supers.push((ObjectId(0), ObjectId(0)));
        ClassIndex(self.classes.len() as u32 - 1)
    }

    fn primitive_class(&mut self, kind: BasicType) -> ClassIndex {
        match self.primitives.get(&kind.code()) {
            Some(&class) => class,
            None => {
                let class = self.new_class(format!("{}[]", kind.java_name()));
                self.primitives.insert(kind.code(), class);
                class
            }
        }
    }

    fn field_name(&mut self, name: NameId) -> u32 {
        if let Some(&index) = self.field_name_index.get(&name) {
            return index;
        }
        let text = self.name(name);
        self.field_names.push(text);
        let index = self.field_names.len() as u32 - 1;
        self.field_name_index.insert(name, index);
        index
    }

    fn name(&self, id: NameId) -> String {
        self.names.get(&id).map_or_else(|| format!("(name {:#x})", id.0), |name| name.to_string())
    }

    /// Puts everything in order; the ids have their numbers then.
    pub(super) fn finish(mut self) -> FoundObjects {
        let without_ids = std::mem::take(&mut self.martini.without_ids);
        let mut problems =
            DumpProblems { skipped: self.skipped, broken: self.broken.take(), without_ids, ..DumpProblems::default() };
        self.origins.sites = self.site_texts();
        if !self.origins.site_of.is_empty() {
            self.origins.site_of.resize(self.ids.len(), 0);
        }
        self.names = FxHashMap::default();
        self.class_objects();
        for (&id, &class) in &self.class_ids {
            if self.classes[class.at()].name.is_empty() {
                self.classes[class.at()].name = format!("(unknown class {:#x})", id.0);
                problems.unknown_classes += 1;
            }
        }
        let (ids, repeated) = IdMap::new(std::mem::take(&mut self.ids));
        problems.repeated = repeated;
        for (class, &(superclass, loader)) in self.supers.iter().enumerate() {
            self.classes[class].superclass = self.class_ids.get(&superclass).copied().filter(|&up| up.at() != class);
            self.classes[class].loader = ids.find(loader.0).filter(|_| loader.0 != 0);
        }
        let names = std::mem::take(&mut self.field_names);
        let of_class = std::mem::take(&mut self.class_fields);
        let mut class_fields = ClassFields { names, of_class, referent: None, id_size: self.id_size };
        class_fields.link(&self.classes);

        let mut roots = Vec::with_capacity(self.roots.len());
        for root in &self.roots {
            let Some(object) = ids.find(root.object.0) else {
                problems.unknown_roots += 1;
                continue;
            };
            let thread = root.thread.and_then(|thread| ids.find(self.threads.get(&thread)?.0));
            roots.push(GraphRoot { object, kind: root.kind, thread });
        }
        self.kept_classes(&mut roots);
        roots.sort_unstable_by_key(|root| (root.object, root.kind, root.thread));
        roots.dedup();

        let stated = self.martini.instance_bytes.iter();
        let stated = stated.filter_map(|&(class, bytes)| Some((*self.class_ids.get(&class)?, bytes.into()))).collect();
        let input = LayoutInput {
            first_address: self.martini.end.0,
            stated,
            ids: &ids,
            classes: &self.classes,
            class_fields: &class_fields,
            class_of: &self.class_of,
            lengths: &self.lengths,
        };
        let layout = ObjectLayout::of(&input);
        let sizes = layout.sizes(&input);
        // By their full names, of which the plain ones are not unique.
        let arrays = self.array_classes();
        for class in &mut self.classes {
            class.name = plain_name(&class.name).into_owned();
        }
        if !self.martini.generations.is_empty() {
            self.origins.ages = Ages::ById(Box::new(std::mem::take(&mut self.martini)));
        }
        let (classes, class_of, origins, millis) = (self.classes, self.class_of, self.origins, self.millis);
        FoundObjects { classes, class_fields, layout, ids, class_of, sizes, roots, arrays, origins, problems, millis }
    }

    /// Adds the classes that the JVM never unloads: those of its own loader. Its dumps leave out array classes, for instance.
    fn kept_classes(&self, roots: &mut Vec<GraphRoot>) {
        let listed: FxHashSet<ObjectIndex> = roots.iter().map(|root| root.object).collect();
        let own = self.classes.iter().zip(&self.supers).filter(|(_, (_, loader))| loader.0 == 0);
        let objects = own.filter_map(|(class, _)| class.object).filter(|object| !listed.contains(object));
        roots.extend(objects.map(|object| GraphRoot { object, kind: hprof::RootKind::StickyClass, thread: None }));
    }

    /// Which class has which array class; nothing in a dump says so, but the one keeps the other.
    fn array_classes(&self) -> FxHashMap<ClassIndex, ObjectIndex> {
        let by_name: FxHashMap<(&str, ObjectId), ClassIndex> = (0_u32..)
            .zip(&self.classes)
            .map(|(at, class)| ((class.name.as_str(), self.supers[at as usize].1), ClassIndex(at)))
            .collect();
        let arrays = self.classes.iter().zip(&self.supers).filter_map(|(class, (_, loader))| {
            let element = by_name.get(&(class.name.strip_suffix("[]")?, *loader))?;
            Some((*element, class.object?))
        });
        arrays.collect()
    }

    /// Gives all class objects their class.
    fn class_objects(&mut self) {
        let class = match self.classes.iter().position(|class| class.name == CLASS) {
            Some(at) => ClassIndex(at as u32),
            None => self.new_class(CLASS.to_owned()),
        };
        for index in 0..self.classes.len() {
            if let Some(object) = self.classes[index].object {
                self.class_of[object.at()] = class;
            }
        }
    }

    /// The frames of the sites in the order of their numbers.
    fn site_texts(&self) -> Vec<Vec<String>> {
        let mut texts = vec![Vec::new(); self.site_index.len()];
        for (stack, &number) in &self.site_index {
            let frames = self.traces.get(stack).into_iter().flatten();
            texts[number as usize - 1] =
                frames.filter_map(|frame| Some(self.frame_text(self.frames.get(frame)?))).collect();
        }
        texts
    }

    fn frame_text(&self, frame: &Frame) -> String {
        let class = self.serials.get(&frame.class).and_then(|id| self.class_ids.get(id));
        let class = class.map_or("(unknown class)", |class| &self.classes[class.at()].name);
        let class = &plain_name(class);
        let source = self.names.get(&frame.source).map_or("", |source| source);
        let line = u32::try_from(frame.line).ok().filter(|&line| line > 0);
        let method = self.name(frame.method);
        crate::location::Location { class, method: &method, signature: "", source, line }.to_string()
    }
}

/// A class name as traces spell it. Dumps have internal names, and descriptors for arrays.
fn class_name(name: &str) -> String {
    match name.starts_with('[') {
        true => names::class_name(name),
        false => names::class_name_of_internal(name),
    }
}

fn primitive_array(name: &str) -> Option<BasicType> {
    Some(match name {
        "[Z" => BasicType::Boolean,
        "[C" => BasicType::Char,
        "[F" => BasicType::Float,
        "[D" => BasicType::Double,
        "[B" => BasicType::Byte,
        "[S" => BasicType::Short,
        "[I" => BasicType::Int,
        "[J" => BasicType::Long,
        _ => return None,
    })
}
