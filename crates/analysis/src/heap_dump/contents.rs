//! What is in chosen objects of an HPROF file: fields, elements, texts, and by what an object refers to another.

use hprof::read::{ClassDump, DumpFile, Fields, Record};
use hprof::{BasicType, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::load::{LoadError, Loaded, Progress, STRIDE};
use super::{DumpId, ObjectIndex};

/// Elements and bytes of an array that are kept.
const KEPT: usize = 512;

/// What to look at.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Objects whose contents are wanted.
    pub objects: FxHashSet<ObjectIndex>,
    /// References whose names are wanted, from owner to target.
    pub links: FxHashSet<(ObjectIndex, ObjectIndex)>,
}

/// What is in an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Contents {
    /// The fields of an instance by name, or the static fields of a class.
    Fields(Vec<(String, Value)>),
    /// The first elements of an array.
    Elements(Vec<Value>),
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Described {
    contents: FxHashMap<ObjectIndex, Contents>,
    names: FxHashMap<(ObjectIndex, ObjectIndex), String>,
}

impl Wanted {
    /// Wants the text of an object, if it is a string: the object and its array of characters.
    pub fn text(&mut self, loaded: &Loaded, object: ObjectIndex) {
        if loaded.graph.class_name(object) == "java.lang.String" {
            self.objects.insert(object);
            self.objects.extend(loaded.graph.references(object));
        }
    }

    /// Wants the names of the references along a path.
    pub fn path(&mut self, path: &[ObjectIndex]) {
        self.links.extend(path.windows(2).map(|pair| (pair[0], pair[1])));
    }
}

impl Described {
    /// What is in an object; `None` if it was not wanted.
    pub fn contents(&self, object: ObjectIndex) -> Option<&Contents> {
        self.contents.get(&object)
    }

    /// The field, or the element, by which one object refers to another.
    pub fn name(&self, owner: ObjectIndex, target: ObjectIndex) -> Option<&str> {
        self.names.get(&(owner, target)).map(String::as_str)
    }

    /// The value of a field.
    pub fn field(&self, object: ObjectIndex, name: &str) -> Option<Value> {
        let Contents::Fields(fields) = self.contents(object)? else { return None };
        fields.iter().find(|(field, _)| field == name).map(|&(_, value)| value)
    }

    /// The text of a string, or the beginning of a long one.
    pub fn text(&self, loaded: &Loaded, string: ObjectIndex) -> Option<String> {
        let array = loaded.graph.object(DumpId(self.field(string, "value")?.object()?.0))?;
        let Contents::Elements(elements) = self.contents(array)? else { return None };
        let units = elements.iter().map(|element| element.bits);
        // Since JDK 9 a string is an array of bytes, Latin-1 or UTF-16 in the byte order of the machine.
        let is_wide = self.field(string, "coder").is_some_and(|coder| coder.bits == 1);
        let units: Vec<u16> = match is_wide {
            false => units.map(|unit| unit as u16).collect(),
            true => {
                let bytes: Vec<u8> = units.map(|byte| byte as u8).collect();
                bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect()
            }
        };
        Some(String::from_utf16_lossy(&units))
    }
}

/// Looks at chosen objects, in one pass over the file.
///
/// # Errors
/// The file cannot be read any more.
pub fn describe(
    file: &DumpFile,
    loaded: &Loaded,
    wanted: &Wanted,
    progress: Progress<'_>,
) -> Result<Described, LoadError> {
    let owners: FxHashSet<ObjectIndex> = wanted.links.iter().map(|&(owner, _)| owner).collect();
    let mut pass = Pass { loaded, wanted, owners, found: Described::default(), array: None, position: 0 };
    for_each_object(file, loaded.graph.len(), progress, |object, record| pass.record(object, record))?;
    Ok(pass.found)
}

/// Calls for every record of an object, and for the pieces of arrays, with the number of the object.
pub(super) fn for_each_object(
    file: &DumpFile,
    objects: usize,
    progress: Progress<'_>,
    mut visit: impl FnMut(ObjectIndex, &Record<'_>),
) -> Result<(), LoadError> {
    let mut reader = file.reader()?;
    let mut next = 0_usize;
    let mut records = 0_u64;
    while next <= objects {
        // Where the dump breaks off is known.
        let Ok(Some(record)) = reader.next_record() else { break };
        match record {
            Record::Class(_) | Record::Instance { .. } | Record::ObjectArray { .. } | Record::PrimitiveArray { .. } => {
                if next == objects {
                    break;
                }
                next += 1;
            }
            Record::Elements(_) | Record::Contents(_) => {}
            _ => continue,
        }
        if next > 0 {
            visit(ObjectIndex(next as u32 - 1), &record);
        }
        records += 1;
        if records.is_multiple_of(STRIDE) {
            progress("reading contents", file.consumed());
        }
    }
    if next < objects { Err(LoadError::Changed) } else { Ok(()) }
}

struct Pass<'a> {
    loaded: &'a Loaded,
    wanted: &'a Wanted,
    owners: FxHashSet<ObjectIndex>,
    found: Described,
    /// The type of the array whose pieces are coming, and how far they have.
    array: Option<BasicType>,
    position: usize,
}

impl Pass<'_> {
    fn record(&mut self, object: ObjectIndex, record: &Record<'_>) {
        if !self.wanted.objects.contains(&object) && !self.owners.contains(&object) {
            return;
        }
        match *record {
            Record::Instance { fields, .. } => {
                let fields = self.fields(object, fields);
                for (name, value) in &fields {
                    self.link(object, *value, || name.clone());
                }
                self.own_class(object);
                self.keep(object, Contents::Fields(fields));
            }
            Record::Class(dump) => self.class(object, dump),
            Record::ObjectArray { .. } => self.begin_array(object, BasicType::Object),
            Record::PrimitiveArray { kind, .. } => self.begin_array(object, kind),
            Record::Elements(ids) => {
                for id in ids.iter() {
                    let position = self.position;
                    self.element(object, Value { kind: BasicType::Object, bits: id });
                    self.link(object, Value { kind: BasicType::Object, bits: id }, || format!("[{position}]"));
                }
            }
            Record::Contents(bytes) => {
                let Some(kind) = self.array else { return };
                let mut values = Fields::new(bytes, 8);
                while self.position < KEPT
                    && let Some(value) = values.next(kind)
                {
                    self.element(object, value);
                }
            }
            _ => {}
        }
    }

    fn begin_array(&mut self, object: ObjectIndex, kind: BasicType) {
        self.array = Some(kind);
        self.position = 0;
        self.own_class(object);
        self.keep(object, Contents::Elements(Vec::new()));
    }

    fn element(&mut self, object: ObjectIndex, value: Value) {
        if self.position < KEPT
            && let Some(Contents::Elements(elements)) = self.found.contents.get_mut(&object)
        {
            elements.push(value);
        }
        self.position += 1;
    }

    fn keep(&mut self, object: ObjectIndex, contents: Contents) {
        if self.wanted.objects.contains(&object) {
            self.found.contents.insert(object, contents);
        }
    }

    /// The fields of an instance; the one of several with the same name that counts is the lowest class's, which comes first.
    fn fields(&self, object: ObjectIndex, bytes: &[u8]) -> Vec<(String, Value)> {
        let class_fields = &self.loaded.class_fields;
        let mut values = Fields::new(bytes, class_fields.id_size());
        let mut fields = Vec::new();
        for class in class_fields.hierarchy(self.loaded.graph.class_of(object)) {
            for &(name, kind) in &class_fields.of(class).fields {
                let Some(value) = values.next(kind) else { return fields };
                fields.push((class_fields.names[name as usize].clone(), value));
            }
        }
        fields
    }

    fn class(&mut self, object: ObjectIndex, dump: &ClassDump) {
        let reference = |id: hprof::ObjectId| Value { kind: BasicType::Object, bits: id.0 };
        let parts = [
            ("<superclass>", dump.superclass),
            ("<class loader>", dump.loader),
            ("<signers>", dump.signers),
            ("<protection domain>", dump.domain),
        ];
        let class_fields = &self.loaded.class_fields;
        let class = self.loaded.graph.as_class(object);
        let statics = class.map_or(&[][..], |class| &class_fields.of(class).statics);
        let statics = statics.iter().map(|field| (class_fields.names[field.name as usize].clone(), field.value));
        let fields: Vec<(String, Value)> = statics.collect();
        for (name, value) in &fields {
            self.link(object, *value, || if name.starts_with('<') { name.clone() } else { format!("static {name}") });
        }
        for (name, id) in parts {
            self.link(object, reference(id), || name.to_owned());
        }
        // What a class keeps without a field of its own.
        for &(owner, target) in self.wanted.links.iter().filter(|(owner, _)| *owner == object) {
            if self.loaded.graph.as_class(target).is_some_and(|class| {
                let name = &self.loaded.graph.class(class).name;
                name.ends_with("[]")
            }) {
                self.found.names.entry((owner, target)).or_insert_with(|| "<array class>".to_owned());
            }
        }
        for &(index, value) in &dump.constants {
            self.link(object, value, || format!("<constant {index}>"));
        }
        self.keep(object, Contents::Fields(fields));
    }

    /// The first name that leads to a wanted target stays.
    fn link(&mut self, owner: ObjectIndex, value: Value, name: impl FnOnce() -> String) {
        let Some(target) = value.object().and_then(|id| self.loaded.graph.object(DumpId(id.0))) else { return };
        if self.wanted.links.contains(&(owner, target)) {
            self.found.names.entry((owner, target)).or_insert_with(name);
        }
    }

    fn own_class(&mut self, owner: ObjectIndex) {
        let class = self.loaded.graph.class(self.loaded.graph.class_of(owner));
        if let Some(target) = class.object
            && self.wanted.links.contains(&(owner, target))
        {
            self.found.names.entry((owner, target)).or_insert_with(|| "<class>".to_owned());
        }
    }
}
