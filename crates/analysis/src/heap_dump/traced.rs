//! From the heap dump of a trace to a graph: `heapDumpDef`, `gcRoot` and `objectReference` over the objects that are alive by then.
//!
//! A trace knows what no other dump does, where and when an object was allocated; it knows neither the values of fields nor
//! superclasses.

use hprof::RootKind;
use rustc_hash::FxHashMap;
use trace::ids::{ClassId, HeapDumpId, MethodId, ObjectId, StackId, ThreadId};
use trace::model::{Element, Frame, GcRoot, HeapDumpDef, ObjAlloc, ObjectReference, RootType};
use trace::time::Time;

use super::ids::IdMap;
use super::{
    Ages, Class, ClassIndex, DumpProblems, Graph, GraphRoot, Lists, ObjectIndex, Origins, Referent, Referents, Sizes,
    Strength, TooMany,
};
use crate::location::Location;
use trace::generated::plain_name;

/// A dump in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpInTrace {
    /// Its id.
    pub id: HeapDumpId,
    /// Its label; may be empty.
    pub name: String,
    /// When it was taken.
    pub time: Time,
    /// Which objects have no id of the trace in it although the trace has them, and why. Empty if there are none.
    pub without_ids: String,
}

/// Gathers a dump from the elements of a trace.
#[derive(Debug, Default)]
pub struct TracedDump {
    /// The dump to take; without it the last.
    wanted: Option<HeapDumpId>,
    dumps: Vec<DumpInTrace>,
    classes: Vec<Class>,
    class_objects: Vec<Option<ObjectId>>,
    class_ids: FxHashMap<ClassId, ClassIndex>,
    sources: FxHashMap<ClassIndex, String>,
    methods: FxHashMap<MethodId, (ClassIndex, String)>,
    stacks: FxHashMap<StackId, Vec<Frame>>,
    threads: FxHashMap<ThreadId, ObjectId>,
    live: FxHashMap<ObjectId, LiveObject>,
    collections: Vec<Time>,
    site_index: FxHashMap<SiteKey, u32>,
    sites: Vec<Vec<String>>,
    open: Option<OpenDump>,
    undefined_classes: u64,
}

/// What identifies a site.
type SiteKey = (Option<StackId>, Option<MethodId>, Option<i64>);

#[derive(Clone, Copy, Debug)]
struct LiveObject {
    class: ClassIndex,
    size: u64,
    /// When it was allocated; `None` if it was only announced, some time after that.
    time: Option<Time>,
    /// From 1; 0 for none.
    site: u32,
}

/// The dump that is being gathered.
#[derive(Debug)]
struct OpenDump {
    id: HeapDumpId,
    ids: IdMap,
    /// Objects that were announced after the dump began.
    late: FxHashMap<ObjectId, ObjectIndex>,
    late_ids: Vec<u64>,
    class_of: Vec<ClassIndex>,
    sizes: Sizes,
    site_of: Vec<u32>,
    age_of: Vec<u32>,
    roots: Vec<GraphRoot>,
    references: Vec<(ObjectIndex, ObjectIndex)>,
    referents: Vec<Referent>,
    problems: DumpProblems,
    /// The classes as they were named then, because ids are reused.
    classes: Vec<Class>,
    class_objects: Vec<Option<ObjectId>>,
}

impl TracedDump {
    /// Takes the dump with an id, or the last one.
    pub fn new(wanted: Option<HeapDumpId>) -> Self {
        TracedDump { wanted, ..Self::default() }
    }

    /// The dumps that the trace has, in their order.
    pub fn dumps(&self) -> &[DumpInTrace] {
        &self.dumps
    }

    /// Takes in the next element.
    ///
    /// # Errors
    /// There are more objects than the analysis can number.
    pub fn element(&mut self, element: &Element<'_>) -> Result<(), TooMany> {
        match element {
            Element::ClassDef(class) => {
                let index = ClassIndex(self.classes.len() as u32);
                self.classes.push(Class { name: plain_name(&class.name).into_owned(), ..Class::default() });
                self.class_objects.push(class.object.filter(|object| object.0 != 0));
                self.class_ids.insert(class.class_id, index);
                if let Some(source) = class.source_name.as_deref().filter(|source| !source.is_empty()) {
                    self.sources.insert(index, source.to_owned());
                }
            }
            Element::MethodDef(method) => {
                let class = self.class(method.class);
                self.methods.insert(method.method_id, (class, method.name.to_string()));
            }
            Element::StackDef(stack) => {
                self.stacks.insert(stack.stack_id, stack.frames.0.to_vec());
                self.site_index.retain(|key, _| key.0 != Some(stack.stack_id));
            }
            Element::ThreadStart(thread) => {
                self.threads.extend(thread.object.filter(|id| id.0 != 0).map(|object| (thread.thread_id, object)));
            }
            Element::ObjAlloc(alloc) => self.allocated(alloc),
            Element::ObjFree(free) => {
                self.live.remove(&free.object);
            }
            Element::GcFinish(finish) => self.collections.push(finish.time),
            Element::HeapDumpDef(dump) => self.begin(dump)?,
            Element::GcRoot(root) => self.root(root)?,
            Element::ObjectReference(reference) => self.reference(reference)?,
            _ => {}
        }
        Ok(())
    }

    /// Ends a document: all ids lose their meaning.
    pub fn end_document(&mut self) {
        self.class_ids.clear();
        self.methods.clear();
        self.stacks.clear();
        self.threads.clear();
        self.live.clear();
        self.collections.clear();
        self.site_index.clear();
        if let Some(dump) = &mut self.open {
            // Elements of another document do not belong to it.
            dump.id = HeapDumpId(u64::MAX);
        }
    }

    /// The graph; `None` if the trace has no such dump.
    ///
    /// # Errors
    /// There are more references than the analysis can number.
    pub fn finish(self) -> Result<Option<Graph>, TooMany> {
        let Some(mut dump) = self.open else { return Ok(None) };
        let mut ids: Vec<u64> = (0..dump.ids.len() as u32).map(|index| dump.ids.id(ObjectIndex(index))).collect();
        ids.append(&mut dump.late_ids);
        let (ids, repeated) = IdMap::new(ids);
        dump.problems.repeated = repeated;
        dump.problems.unknown_classes = self.undefined_classes;
        for (class, object) in dump.classes.iter_mut().zip(&dump.class_objects) {
            class.object = object.and_then(|object| ids.find(object.0));
        }
        let objects = dump.class_of.len();
        let references = Lists::of_pairs(objects, || dump.references.iter().copied())?;
        drop(dump.references);
        let referrers = references.reversed()?;
        dump.roots.sort_unstable_by_key(|root| (root.object, root.kind, root.thread));
        dump.roots.dedup();
        let has_sites = dump.site_of.iter().any(|&site| site > 0);
        let origins = Origins {
            sites: self.sites,
            site_of: if has_sites { dump.site_of } else { Vec::new() },
            ages: Ages::Each(dump.age_of),
        };
        Ok(Some(Graph {
            classes: dump.classes,
            ids,
            class_of: dump.class_of,
            sizes: dump.sizes,
            references,
            referrers,
            referents: Referents::new(dump.referents),
            roots: dump.roots,
            origins,
            problems: dump.problems,
        }))
    }

    fn class(&mut self, id: ClassId) -> ClassIndex {
        if let Some(&class) = self.class_ids.get(&id) {
            return class;
        }
        self.undefined_classes += 1;
        let index = ClassIndex(self.classes.len() as u32);
        self.classes.push(Class { name: format!("(undefined class {id})"), ..Class::default() });
        self.class_objects.push(None);
        self.class_ids.insert(id, index);
        index
    }

    fn allocated(&mut self, alloc: &ObjAlloc) {
        let class = self.class(alloc.class);
        let key = (alloc.stack, alloc.method, alloc.line);
        let site = match key {
            (None, None, _) => 0,
            key => match self.site_index.get(&key) {
                Some(&site) => site,
                None => {
                    let text = self.site_text(key);
                    self.sites.push(text);
                    let site = self.sites.len() as u32;
                    self.site_index.insert(key, site);
                    site
                }
            },
        };
        // An `objAlloc` without a thread announces an object that was there before.
        let time = alloc.thread.map(|_| alloc.time);
        self.live.insert(alloc.obj_id, LiveObject { class, size: alloc.size, time, site });
    }

    fn site_text(&self, (stack, method, line): SiteKey) -> Vec<String> {
        let frames = stack.and_then(|stack| self.stacks.get(&stack)).filter(|frames| !frames.is_empty());
        let text = |method: MethodId, line: Option<u32>| match self.methods.get(&method) {
            Some((class, method)) => {
                let source = self.sources.get(class).map_or("", String::as_str);
                Location { class: &self.classes[class.at()].name, method, signature: "", source, line }.to_string()
            }
            None => format!("(undefined method {method})"),
        };
        let known = |line: u32| Some(line).filter(|&line| line > 0);
        match (frames, method) {
            (Some(frames), _) => frames.iter().map(|frame| text(frame.method, known(frame.line))).collect(),
            (None, Some(method)) => {
                let line = line.and_then(|line| u32::try_from(line).ok()).and_then(known);
                vec![text(method, line)]
            }
            (None, None) => Vec::new(),
        }
    }

    fn begin(&mut self, dump: &HeapDumpDef<'_>) -> Result<(), TooMany> {
        let name = dump.name.as_deref().unwrap_or_default().to_owned();
        let without_ids = dump.without_ids.as_deref().unwrap_or_default().to_owned();
        self.dumps.push(DumpInTrace { id: dump.dump_id, name, time: dump.time, without_ids });
        if self.wanted.is_some_and(|wanted| wanted != dump.dump_id) {
            return Ok(());
        }
        // The one before takes memory.
        self.open = None;
        let mut live: Vec<(ObjectId, LiveObject)> = self.live.iter().map(|(&id, &live)| (id, live)).collect();
        live.sort_unstable_by_key(|(id, _)| *id);
        if live.len() > ObjectIndex::MOST {
            return Err(TooMany);
        }
        self.collections.sort_unstable();
        let (ids, _) = IdMap::new(live.iter().map(|(id, _)| id.0).collect());
        let mut open = OpenDump {
            id: dump.dump_id,
            ids,
            late: FxHashMap::default(),
            late_ids: Vec::new(),
            class_of: Vec::with_capacity(live.len()),
            sizes: Sizes::default(),
            site_of: Vec::with_capacity(live.len()),
            age_of: Vec::with_capacity(live.len()),
            roots: Vec::new(),
            references: Vec::new(),
            referents: Vec::new(),
            problems: DumpProblems::default(),
            classes: self.classes.clone(),
            class_objects: self.class_objects.clone(),
        };
        for (_, object) in &live {
            open.push(object, &self.collections);
        }
        self.open = Some(open);
        Ok(())
    }

    /// An object of the dump that is being gathered.
    fn object(&mut self, id: ObjectId) -> Result<Option<ObjectIndex>, TooMany> {
        let Some(dump) = &mut self.open else { return Ok(None) };
        if let Some(known) = dump.ids.find(id.0).or_else(|| dump.late.get(&id).copied()) {
            return Ok(Some(known));
        }
        let Some(live) = self.live.get(&id) else { return Ok(None) };
        if dump.class_of.len() >= ObjectIndex::MOST {
            return Err(TooMany);
        }
        let index = ObjectIndex(dump.class_of.len() as u32);
        dump.push(live, &self.collections);
        dump.late.insert(id, index);
        dump.late_ids.push(id.0);
        if dump.classes.len() < self.classes.len() {
            dump.classes.extend_from_slice(&self.classes[dump.classes.len()..]);
            dump.class_objects.extend_from_slice(&self.class_objects[dump.class_objects.len()..]);
        }
        Ok(Some(index))
    }

    fn root(&mut self, root: &GcRoot) -> Result<(), TooMany> {
        if self.open.as_ref().is_none_or(|dump| dump.id != root.dump) {
            return Ok(());
        }
        let thread = match root.thread.and_then(|thread| self.threads.get(&thread).copied()) {
            Some(thread) => self.object(thread)?,
            None => None,
        };
        let object = self.object(root.object)?;
        let Some(dump) = &mut self.open else { return Ok(()) };
        match object {
            Some(object) => dump.roots.push(GraphRoot { object, kind: root_kind(root.root_type), thread }),
            None => dump.problems.unknown_roots += 1,
        }
        Ok(())
    }

    fn reference(&mut self, reference: &ObjectReference) -> Result<(), TooMany> {
        if self.open.as_ref().is_none_or(|dump| dump.id != reference.dump) {
            return Ok(());
        }
        let (owner, target) = (self.object(reference.owner)?, self.object(reference.object)?);
        let Some(dump) = &mut self.open else { return Ok(()) };
        let (Some(owner), Some(target)) = (owner, target) else {
            dump.problems.dangling += 1;
            return Ok(());
        };
        let strength = strength(&dump.classes[dump.class_of[owner.at()].at()].name);
        match strength {
            // The referent is the first field of all.
            Some(strength) if reference.field_index == Some(0) => {
                dump.referents.push(Referent { owner, target, strength });
            }
            _ => dump.references.push((owner, target)),
        }
        Ok(())
    }
}

impl OpenDump {
    fn push(&mut self, object: &LiveObject, collections: &[Time]) {
        self.class_of.push(object.class);
        self.sizes.push(object.size);
        self.site_of.push(object.site);
        // A collection that ended at the very time of the allocation does not count, as in TPTP's views.
        let age = |time| collections.len() - collections.partition_point(|&end| end <= time);
        self.age_of.push(object.time.map_or(Ages::NONE, |time| age(time) as u32));
    }
}

fn root_kind(kind: RootType) -> RootKind {
    match kind {
        RootType::JniGlobal => RootKind::JniGlobal,
        RootType::JniLocal => RootKind::JniLocal,
        RootType::JavaFrame => RootKind::JavaFrame,
        RootType::NativeStack => RootKind::NativeStack,
        RootType::StickyClass => RootKind::StickyClass,
        RootType::ThreadBlock => RootKind::ThreadBlock,
        RootType::MonitorUsed => RootKind::MonitorUsed,
        RootType::ThreadObject => RootKind::ThreadObject,
        RootType::Unknown => RootKind::Unknown,
    }
}

/// How the JDK's own reference classes hold their referents. Others are not recognised, since a trace has no superclasses.
fn strength(class: &str) -> Option<Strength> {
    Some(match class {
        "java.lang.ref.SoftReference" => Strength::Soft,
        "java.lang.ref.WeakReference"
        | "java.lang.ThreadLocal$ThreadLocalMap$Entry"
        | "java.util.WeakHashMap$Entry"
        | "java.lang.invoke.MethodType$ConcurrentWeakInternSet$WeakEntry" => Strength::Weak,
        "java.lang.ref.PhantomReference"
        | "java.lang.ref.Cleaner$Cleanable"
        | "jdk.internal.ref.Cleaner"
        | "jdk.internal.ref.CleanerImpl$PhantomCleanableRef" => Strength::Phantom,
        "java.lang.ref.FinalReference" | "java.lang.ref.Finalizer" => Strength::Final,
        _ => return None,
    })
}
