//! The second pass: who refers to whom.

use hprof::read::{ClassDump, DumpFile, Record};
use rustc_hash::FxHashMap;

use super::first::FoundObjects;
use super::{LoadError, Progress, STRIDE};
use crate::heap_dump::{ClassIndex, Lists, ObjectIndex, Referent, TooMany};

/// The references of a dump.
pub(super) struct Edges {
    pub(super) references: Lists,
    pub(super) referents: Vec<Referent>,
    pub(super) dangling: u64,
    pub(super) malformed_objects: u64,
}

struct SecondPass<'a> {
    objects: &'a FoundObjects,
    /// The classes of class objects.
    class_at: FxHashMap<ObjectIndex, ClassIndex>,
    /// Class objects to which their instances need no reference, because they are roots.
    keeps_itself: Vec<bool>,
    edges: Edges,
    /// The object that comes next.
    next: usize,
    /// The array whose elements are coming.
    open: bool,
}

pub(super) fn read(file: &DumpFile, objects: &FoundObjects, progress: Progress<'_>) -> Result<Edges, LoadError> {
    let mut reader = file.reader()?;
    reader.skip_contents(true);
    let is_root = |object: ObjectIndex| objects.roots.binary_search_by_key(&object, |root| root.object).is_ok();
    let keeps_itself = objects.classes.iter().map(|class| class.object.is_none_or(is_root)).collect();
    let count = objects.class_of.len();
    let edges =
        Edges { references: Lists::with_capacity(count), referents: Vec::new(), dangling: 0, malformed_objects: 0 };
    let class_at =
        (0..).zip(&objects.classes).filter_map(|(at, class)| Some((class.object?, ClassIndex(at)))).collect();
    let mut second = SecondPass { objects, class_at, keeps_itself, edges, next: 0, open: false };
    let mut records = 0_u64;
    // The first pass may have ended early; this one ends at the same object.
    while second.next < count || second.open {
        let Ok(Some(record)) = reader.next_record() else { break };
        second.record(&record)?;
        records += 1;
        if records.is_multiple_of(STRIDE) {
            progress("reading references", file.consumed());
        }
    }
    second.end_list()?;
    if second.next < count {
        return Err(LoadError::Changed);
    }
    second.edges.references.shrink();
    Ok(second.edges)
}

impl SecondPass<'_> {
    #[inline]
    fn record(&mut self, record: &Record<'_>) -> Result<(), LoadError> {
        match *record {
            Record::Elements(ids) => ids.iter().for_each(|id| self.refer(id)),
            Record::Instance { fields, .. } => {
                let index = self.begin()?;
                let own = self.objects.class_of[index.at()];
                self.fields(index, own, fields);
                self.own_class(own);
            }
            Record::ObjectArray { .. } => {
                let index = self.begin()?;
                self.own_class(self.objects.class_of[index.at()]);
            }
            Record::PrimitiveArray { .. } => {
                self.begin()?;
            }
            Record::Class(dump) => {
                let index = self.begin()?;
                self.class(index, dump);
            }
            _ => {}
        }
        Ok(())
    }

    /// Moves to the next object.
    #[inline]
    fn begin(&mut self) -> Result<ObjectIndex, LoadError> {
        self.end_list()?;
        if self.next >= self.objects.class_of.len() {
            return Err(LoadError::Changed);
        }
        self.open = true;
        self.next += 1;
        Ok(ObjectIndex(self.next as u32 - 1))
    }

    #[inline]
    fn end_list(&mut self) -> Result<(), TooMany> {
        if std::mem::take(&mut self.open) {
            self.edges.references.end_list()?;
        }
        Ok(())
    }

    #[inline]
    fn refer(&mut self, id: u64) {
        if id == 0 {
            return;
        }
        match self.objects.ids.find(id) {
            Some(target) => self.edges.references.push(target),
            None => self.edges.dangling += 1,
        }
    }

    #[inline]
    fn own_class(&mut self, class: ClassIndex) {
        if !self.keeps_itself[class.at()]
            && let Some(object) = self.objects.classes[class.at()].object
        {
            self.edges.references.push(object);
        }
    }

    #[inline]
    fn fields(&mut self, object: ObjectIndex, class: ClassIndex, fields: &[u8]) {
        let class_fields = &self.objects.class_fields;
        let strength = class_fields.of(class).strength;
        let mut rest = fields;
        for class in class_fields.hierarchy(class) {
            let declared = class_fields.of(class);
            let Some((own, up)) = rest.split_at_checked(declared.bytes as usize) else {
                self.edges.malformed_objects += 1;
                return;
            };
            for &offset in &declared.references {
                let id = read_id(&own[offset as usize..], class_fields.id_size);
                match strength {
                    Some(strength) if class_fields.referent == Some((class, offset)) => {
                        if id != 0
                            && let Some(target) = self.objects.ids.find(id)
                        {
                            self.edges.referents.push(Referent { owner: object, target, strength });
                        }
                    }
                    _ => self.refer(id),
                }
            }
            rest = up;
        }
        self.edges.malformed_objects += u64::from(!rest.is_empty());
    }

    fn class(&mut self, index: ObjectIndex, dump: &ClassDump) {
        let array = self.class_at.get(&index).and_then(|class| self.objects.arrays.get(class));
        array.iter().for_each(|&&array| self.edges.references.push(array));
        for id in [dump.superclass, dump.loader, dump.signers, dump.domain] {
            self.refer(id.0);
        }
        let constants = dump.constants.iter().map(|(_, value)| value);
        for value in constants.chain(dump.statics.iter().map(|(_, value)| value)) {
            if let Some(object) = value.object() {
                self.refer(object.0);
            }
        }
    }
}

#[inline]
fn read_id(bytes: &[u8], size: usize) -> u64 {
    match (size, bytes) {
        (8, &[a, b, c, d, e, f, g, h, ..]) => u64::from_be_bytes([a, b, c, d, e, f, g, h]),
        (_, &[a, b, c, d, ..]) => u32::from_be_bytes([a, b, c, d]).into(),
        _ => 0,
    }
}
