//! How the fields of instances follow from the classes of a dump.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::read::ClassDump;
use crate::{BasicType, ObjectId};

struct Class {
    superclass: ObjectId,
    fields: Box<[BasicType]>,
}

/// A field of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its type.
    pub kind: BasicType,
    /// Bytes in front of it.
    pub offset: u32,
}

/// The fields of instances of each class, in the order of the dump: those of the class, then those of its superclass, and so on.
#[derive(Default)]
pub struct Layouts {
    classes: FxHashMap<ObjectId, Class>,
    known: FxHashMap<ObjectId, Box<[Field]>>,
    id_size: usize,
}

impl Layouts {
    /// No classes yet, of a dump with ids of this many bytes.
    pub fn new(id_size: usize) -> Self {
        Layouts { id_size, ..Self::default() }
    }

    /// Takes a class in. All come before the first of their instances.
    pub fn add(&mut self, class: &ClassDump) {
        let fields = class.fields.iter().map(|&(_, kind)| kind).collect();
        self.classes.insert(class.id, Class { superclass: class.superclass, fields });
    }

    /// The fields of an instance; `None` if its class or a superclass of it has not come.
    pub fn fields(&mut self, class: ObjectId) -> Option<&[Field]> {
        match self.known.entry(class) {
            Entry::Occupied(known) => Some(known.into_mut()),
            Entry::Vacant(unknown) => {
                let (mut fields, mut offset, mut next) = (Vec::new(), 0, class);
                // A damaged dump may have a circle of superclasses.
                let mut depth = self.classes.len();
                while next.0 != 0 && depth > 0 {
                    let class = self.classes.get(&next)?;
                    for &kind in &class.fields {
                        fields.push(Field { kind, offset });
                        offset += kind.size(self.id_size) as u32;
                    }
                    next = class.superclass;
                    depth -= 1;
                }
                Some(unknown.insert(fields.into()))
            }
        }
    }
}
