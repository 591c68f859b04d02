//! What the instances of each class consist of.

use hprof::{BasicType, Value};

use crate::heap_dump::graph::superclasses_first;
use crate::heap_dump::{Class, ClassIndex, Strength};

/// A static field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaticField {
    /// Its name, a number in [`ClassFields::names`].
    pub name: u32,
    /// Its value.
    pub value: Value,
}

/// What a class adds to its instances.
#[derive(Clone, Debug, Default)]
pub struct DeclaredFields {
    /// Its fields in their order: a number in [`ClassFields::names`] and a type.
    pub fields: Box<[(u32, BasicType)]>,
    /// Its static fields.
    pub statics: Box<[StaticField]>,
    /// Bytes of its fields in the dump.
    pub bytes: u32,
    /// Bytes of an instance as the dumper says; see [`ClassDump::instance_size`](hprof::read::ClassDump::instance_size).
    pub instance_size: u32,
    /// Where among those bytes there are references.
    pub references: Box<[u32]>,
    /// The nearest superclass that has fields, too.
    pub next: Option<ClassIndex>,
    /// How its instances hold their referents, for reference classes.
    pub strength: Option<Strength>,
}

/// What the instances of all classes consist of.
#[derive(Debug, Default)]
pub struct ClassFields {
    /// Names of fields.
    pub names: Vec<String>,
    pub(crate) of_class: Vec<DeclaredFields>,
    /// The class `java.lang.ref.Reference`, and where in its fields the referent is.
    pub(crate) referent: Option<(ClassIndex, u32)>,
    pub(crate) id_size: usize,
}

/// No hierarchy is deeper; a longer way up is a circle.
const DEEPEST: usize = 10_000;

impl ClassFields {
    /// What a class adds to its instances.
    pub fn of(&self, class: ClassIndex) -> &DeclaredFields {
        &self.of_class[class.at()]
    }

    /// The width of ids in the dump.
    pub fn id_size(&self) -> usize {
        self.id_size
    }

    /// A class, if it adds fields, and those of its superclasses that do: the order in which an instance has its fields.
    pub fn hierarchy(&self, class: ClassIndex) -> impl Iterator<Item = ClassIndex> {
        let first = if self.of(class).bytes > 0 { Some(class) } else { self.of(class).next };
        std::iter::successors(first, |&class| self.of(class).next).take(DEEPEST)
    }

    /// Where among an instance's fields in the dump one is, and its type.
    pub fn field(&self, class: ClassIndex, name: &str) -> Option<(usize, BasicType)> {
        let mut offset = 0;
        for class in self.hierarchy(class) {
            for &(field, kind) in &self.of(class).fields {
                if self.names[field as usize] == name {
                    return Some((offset, kind));
                }
                offset += kind.size(self.id_size);
            }
        }
        None
    }

    /// Derives what follows from the fields, the names and the superclasses.
    pub(super) fn link(&mut self, classes: &[Class]) {
        for (at, class) in classes.iter().enumerate() {
            let mut references = Vec::new();
            let mut offset = 0;
            for &(name, kind) in &self.of_class[at].fields {
                if kind == BasicType::Object {
                    references.push(offset);
                    if self.names[name as usize] == "referent" && class.name == "java.lang.ref.Reference" {
                        self.referent = Some((ClassIndex(at as u32), offset));
                    }
                }
                offset += kind.size(self.id_size) as u32;
            }
            self.of_class[at].references = references.into();
            self.of_class[at].bytes = offset;
        }
        self.inherit(classes);
    }

    /// Passes down what subclasses inherit.
    fn inherit(&mut self, classes: &[Class]) {
        for index in superclasses_first(classes) {
            let up = classes[index.at()].superclass;
            let inherited = up.and_then(|up| self.of(up).strength);
            let next = up.and_then(|up| if self.of(up).bytes > 0 { Some(up) } else { self.of(up).next });
            let declared = &mut self.of_class[index.at()];
            declared.strength = strength(&classes[index.at()].name).or(inherited);
            declared.next = next;
        }
    }
}

fn strength(class: &str) -> Option<Strength> {
    match class.strip_prefix("java.lang.ref.")? {
        "SoftReference" => Some(Strength::Soft),
        "WeakReference" => Some(Strength::Weak),
        "PhantomReference" => Some(Strength::Phantom),
        "FinalReference" => Some(Strength::Final),
        _ => None,
    }
}
