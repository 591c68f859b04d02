//! A small dump, whole in memory, to ask for what a test knows of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::path::Path;

use hprof::layouts::Layouts;
use hprof::martini::Martini;
use hprof::read::{ClassDump, Frame, Reader, Record, Root};
use hprof::{BasicType, FrameId, NameId, ObjectId, RootKind, StackSerial};

struct Instance {
    class: u64,
    stack: StackSerial,
    fields: Vec<u8>,
}

/// A dump.
pub(crate) struct Dump {
    names: HashMap<NameId, String>,
    class_names: HashMap<u64, String>,
    classes: HashMap<u64, ClassDump>,
    instances: HashMap<u64, Instance>,
    object_arrays: HashMap<u64, (u64, Vec<u64>)>,
    primitive_arrays: HashMap<u64, (BasicType, Vec<u8>)>,
    frames: HashMap<FrameId, Frame>,
    stacks: HashMap<StackSerial, Vec<FrameId>>,
    class_serials: HashMap<u32, u64>,
    roots: Vec<Root>,
    layouts: std::cell::RefCell<Layouts>,
    /// What only Martini knows.
    pub(crate) martini: Martini,
}

impl Dump {
    /// Reads a dump.
    pub(crate) fn read(path: &Path) -> Dump {
        let mut reader = Reader::new(File::open(path).expect("the dump is there")).expect("it is a dump");
        let mut dump = Dump {
            names: HashMap::new(),
            class_names: HashMap::new(),
            classes: HashMap::new(),
            instances: HashMap::new(),
            object_arrays: HashMap::new(),
            primitive_arrays: HashMap::new(),
            frames: HashMap::new(),
            stacks: HashMap::new(),
            class_serials: HashMap::new(),
            roots: Vec::new(),
            layouts: Layouts::new(8).into(),
            martini: Martini::default(),
        };
        let mut array = 0;
        while let Some(record) = reader.next_record().expect("the dump is whole") {
            match record {
                Record::Name { id, text } => {
                    if !dump.martini.take(id, text) {
                        dump.names.insert(id, String::from_utf8_lossy(text).into_owned());
                    }
                }
                Record::LoadClass { serial, class, name } => {
                    dump.class_names.insert(class.0, dump.names[&name].replace('/', "."));
                    dump.class_serials.insert(serial.0, class.0);
                }
                Record::Frame(frame) => drop(dump.frames.insert(frame.id, frame)),
                Record::Trace { serial, frames, .. } => {
                    dump.stacks.insert(serial, frames.iter().map(FrameId).collect());
                }
                Record::Root(root) => dump.roots.push(root),
                Record::Class(class) => {
                    dump.layouts.get_mut().add(class);
                    dump.classes.insert(class.id.0, class.clone());
                }
                Record::Instance { id, stack, class, fields } => {
                    let instance = Instance { class: class.0, stack, fields: fields.to_vec() };
                    assert!(dump.instances.insert(id.0, instance).is_none(), "object {id} is there twice");
                }
                Record::ObjectArray { id, class, .. } => {
                    array = id.0;
                    dump.object_arrays.insert(array, (class.0, Vec::new()));
                }
                Record::Elements(ids) => {
                    dump.object_arrays.get_mut(&array).expect("begun").1.extend(ids.iter());
                }
                Record::PrimitiveArray { id, kind, .. } => {
                    array = id.0;
                    dump.primitive_arrays.insert(array, (kind, Vec::new()));
                }
                Record::Contents(bytes) => {
                    dump.primitive_arrays.get_mut(&array).expect("begun").1.extend_from_slice(bytes);
                }
                Record::Other => {}
            }
        }
        dump
    }

    /// The class of that name, of the application's loader if there are several.
    pub(crate) fn class(&self, name: &str) -> u64 {
        let found = self.class_names.iter().find(|(id, n)| *n == name && self.classes.contains_key(id));
        *found.unwrap_or_else(|| panic!("no class {name}")).0
    }

    fn name(&self, id: NameId) -> &str {
        self.names.get(&id).map_or("", String::as_str)
    }

    /// What a static field refers to.
    pub(crate) fn static_reference(&self, class: u64, field: &str) -> u64 {
        let statics = &self.classes[&class].statics;
        let (_, value) = statics.iter().find(|(name, _)| self.name(*name) == field).expect("a static field");
        value.object().map_or(0, |id| id.0)
    }

    /// The bits of a static field.
    pub(crate) fn static_number(&self, class: u64, field: &str) -> u64 {
        let statics = &self.classes[&class].statics;
        statics.iter().find(|(name, _)| self.name(*name) == field).expect("a static field").1.bits
    }

    /// The class of an object.
    pub(crate) fn class_name_of(&self, object: u64) -> &str {
        let class = self.instances.get(&object).map(|i| i.class);
        let class = class.or_else(|| self.object_arrays.get(&object).map(|a| a.0));
        let primitives = || self.primitive_arrays.get(&object).map_or("?", |(kind, _)| array_name(*kind));
        class.map_or_else(primitives, |class| &self.class_names[&class])
    }

    fn field(&self, object: u64, field: &str) -> (BasicType, u64) {
        let instance = &self.instances[&object];
        let mut class = instance.class;
        let mut layouts = self.layouts.borrow_mut();
        let mut places = layouts.fields(ObjectId(class)).expect("a class").iter();
        loop {
            let dump = &self.classes[&class];
            for (name, kind) in &dump.fields {
                let place = places.next().expect("as many as the classes have");
                assert_eq!(place.kind, *kind);
                if self.name(*name) == field {
                    let bytes = &instance.fields[place.offset as usize..][..kind.size(8)];
                    return (*kind, bytes.iter().fold(0, |bits, &byte| bits << 8 | u64::from(byte)));
                }
            }
            class = dump.superclass.0;
            assert_ne!(class, 0, "{} has no field {field}", self.class_name_of(object));
        }
    }

    /// What a field of an object refers to; 0 for null.
    pub(crate) fn reference(&self, object: u64, field: &str) -> u64 {
        let (kind, bits) = self.field(object, field);
        assert_eq!(kind, BasicType::Object);
        bits
    }

    /// The bits of a field that is no reference.
    pub(crate) fn number(&self, object: u64, field: &str) -> i64 {
        let (kind, bits) = self.field(object, field);
        assert_ne!(kind, BasicType::Object);
        bits as i64
    }

    /// The elements of an array of references.
    pub(crate) fn elements(&self, array: u64) -> &[u64] {
        &self.object_arrays[&array].1
    }

    /// The bytes of an array of primitives.
    pub(crate) fn contents(&self, array: u64) -> &[u8] {
        &self.primitive_arrays[&array].1
    }

    /// The loader of an object's class.
    pub(crate) fn loader_of(&self, object: u64) -> u64 {
        self.classes[&self.instances[&object].class].loader.0
    }

    /// The instances of a class.
    pub(crate) fn of_class(&self, name: &str) -> Vec<u64> {
        self.instances.keys().copied().filter(|&object| self.class_name_of(object) == name).collect()
    }

    /// The one instance of a class.
    pub(crate) fn only(&self, name: &str) -> u64 {
        let [only] = self.of_class(name)[..] else { panic!("not one {name}: {:?}", self.of_class(name)) };
        only
    }

    /// The objects with a field that refers to an object.
    pub(crate) fn owners(&self, object: u64) -> Vec<u64> {
        let mut layouts = self.layouts.borrow_mut();
        let refers = |layouts: &mut Layouts, instance: &Instance| {
            let fields = layouts.fields(ObjectId(instance.class)).expect("a class");
            let references = fields.iter().filter(|field| field.kind == BasicType::Object);
            references.map(|f| &instance.fields[f.offset as usize..][..8]).any(|bytes| bytes == object.to_be_bytes())
        };
        let owners = self.instances.iter().filter(|(_, instance)| refers(&mut layouts, instance));
        owners.map(|(&id, _)| id).collect()
    }

    /// Why an object is kept for its own sake.
    pub(crate) fn roots_of(&self, object: u64) -> Vec<Root> {
        self.roots.iter().copied().filter(|root| root.object.0 == object).collect()
    }

    /// All kinds of roots.
    pub(crate) fn root_kinds(&self) -> BTreeSet<RootKind> {
        self.roots.iter().map(|root| root.kind).collect()
    }

    /// The roots: kind, class of the object or the class that it is, class of the thread and its frame.
    pub(crate) fn root_names(&self) -> impl Iterator<Item = String> {
        let threads = self.roots.iter().filter(|root| root.kind == RootKind::ThreadObject);
        let threads: HashMap<_, _> = threads.map(|root| (root.thread, self.class_name_of(root.object.0))).collect();
        self.roots.iter().map(move |root| {
            let object = root.object.0;
            let itself = self.class_names.get(&object).map(|name| format!("class {name}"));
            let class = itself.unwrap_or_else(|| self.class_name_of(object).to_owned());
            let thread = threads.get(&root.thread).filter(|_| root.thread.is_some()).unwrap_or(&"no thread");
            format!("{:?} {class} of {thread}, frame {:?}", root.kind, root.frame)
        })
    }

    /// Where an object was allocated: classes and methods, innermost first.
    pub(crate) fn allocation_stack(&self, object: u64) -> Vec<String> {
        let frames = self.stacks.get(&self.instances[&object].stack).expect("a stack");
        let names = frames.iter().map(|id| {
            let frame = &self.frames[id];
            let class = self.class_serials.get(&frame.class.0).map_or("?", |class| &self.class_names[class]);
            format!("{class}.{}", self.name(frame.method))
        });
        names.collect()
    }

    /// Objects by class, in the JVM's spelling.
    pub(crate) fn histogram(&self) -> BTreeMap<String, u64> {
        let mut histogram = BTreeMap::new();
        let instances = self.instances.values().map(|i| i.class).chain(self.object_arrays.values().map(|a| a.0));
        for class in instances {
            let family = bci_tests::histogram::family(&self.class_names[&class]);
            *histogram.entry(family.to_owned()).or_default() += 1;
        }
        for (kind, _) in self.primitive_arrays.values() {
            *histogram.entry(array_name(*kind).to_owned()).or_default() += 1;
        }
        *histogram.entry("java.lang.Class".to_owned()).or_default() += self.classes.len() as u64;
        histogram
    }

    /// Whether no primitive has a value.
    pub(crate) fn all_contents_are_zero(&self) -> bool {
        let mut layouts = self.layouts.borrow_mut();
        let statics = self.classes.values().flat_map(|class| &class.statics);
        let mut values = statics.filter(|(_, value)| value.kind != BasicType::Object);
        self.primitive_arrays.values().all(|(_, bytes)| bytes.iter().all(|&byte| byte == 0))
            && values.all(|(_, value)| value.bits == 0)
            && self.instances.values().all(|instance| {
                let fields = layouts.fields(ObjectId(instance.class)).expect("a class");
                let mut primitives = fields.iter().filter(|field| field.kind != BasicType::Object);
                primitives.all(|f| instance.fields[f.offset as usize..][..f.kind.size(8)].iter().all(|&b| b == 0))
            })
    }
}

/// The class of an array of primitives, in the JVM's spelling.
fn array_name(kind: BasicType) -> &'static str {
    match kind {
        BasicType::Boolean => "[Z",
        BasicType::Char => "[C",
        BasicType::Float => "[F",
        BasicType::Double => "[D",
        BasicType::Byte => "[B",
        BasicType::Short => "[S",
        BasicType::Int => "[I",
        BasicType::Long => "[J",
        BasicType::Object => panic!("an array of primitives"),
    }
}
