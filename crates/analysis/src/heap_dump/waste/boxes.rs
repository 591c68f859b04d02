//! Boxed values: numbers, characters and booleans that are objects.

use hprof::BasicType;
use hprof::read::Fields;

use crate::heap_dump::ClassIndex;
use crate::heap_dump::load::Loaded;

const BOXES: [&str; 8] = ["Boolean", "Byte", "Character", "Double", "Float", "Integer", "Long", "Short"];

/// The boxes of one class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoxRow {
    /// The class.
    pub class: String,
    /// How many there are.
    pub instances: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How many different values they have.
    pub distinct: u64,
    /// Bytes of those whose value another has, too.
    pub wasted: u64,
}

pub(super) struct Pass<'a> {
    loaded: &'a Loaded,
    /// For each class: which of the boxes it is, where its value is, and of what type.
    kind_of: Vec<Option<(usize, usize, BasicType)>>,
    values: [Vec<u64>; BOXES.len()],
    bytes: [u64; BOXES.len()],
}

impl<'a> Pass<'a> {
    pub(super) fn new(loaded: &'a Loaded) -> Self {
        let classes = loaded.graph.classes().iter().enumerate();
        let kind = |(at, class): (usize, &crate::heap_dump::Class)| {
            let name = class.name.strip_prefix("java.lang.")?;
            let kind = BOXES.iter().position(|&boxed| boxed == name)?;
            let (offset, value) = loaded.class_fields.field(ClassIndex(at as u32), "value")?;
            Some((kind, offset, value))
        };
        Pass { loaded, kind_of: classes.map(kind).collect(), values: Default::default(), bytes: Default::default() }
    }

    #[inline]
    pub(super) fn instance(&mut self, class: ClassIndex, fields: &[u8]) {
        let Some((kind, offset, value)) = self.kind_of[class.at()] else { return };
        let Some(value) = Fields::at(fields, offset, value, self.loaded.class_fields.id_size()) else { return };
        self.values[kind].push(value.bits);
    }

    pub(super) fn finish(mut self) -> Vec<BoxRow> {
        let graph = &self.loaded.graph;
        for object in graph.objects() {
            if let Some((kind, ..)) = self.kind_of[graph.class_of(object).at()] {
                self.bytes[kind] += graph.shallow(object);
            }
        }
        let mut rows = Vec::new();
        for ((name, mut values), bytes) in BOXES.iter().zip(self.values).zip(self.bytes) {
            let instances = values.len() as u64;
            values.sort_unstable();
            values.dedup();
            let distinct = values.len() as u64;
            if instances > 0 {
                let wasted = (instances - distinct) * (bytes / instances);
                rows.push(BoxRow { class: format!("java.lang.{name}"), instances, bytes, distinct, wasted });
            }
        }
        rows
    }
}
