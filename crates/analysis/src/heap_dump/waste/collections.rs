//! Collections of the JDK that hold nothing, or much less than they have room for.

use hprof::BasicType;
use hprof::read::Fields;
use rustc_hash::FxHashMap;

use crate::heap_dump::load::{ClassFields, Loaded};
use crate::heap_dump::{ClassIndex, DumpId, ObjectIndex};

/// Collections by class, the field with the number of elements, and the one with the array that holds them.
const COLLECTIONS: [(&str, &str, &str); 10] = [
    ("java.util.ArrayList", "size", "elementData"),
    ("java.util.Vector", "elementCount", "elementData"),
    ("java.util.HashMap", "size", "table"),
    ("java.util.Hashtable", "count", "table"),
    ("java.util.WeakHashMap", "size", "table"),
    ("java.util.IdentityHashMap", "size", "table"),
    ("java.util.PriorityQueue", "size", "queue"),
    ("java.util.concurrent.ConcurrentHashMap", "baseCount", "table"),
    ("java.util.LinkedList", "size", ""),
    ("java.util.TreeMap", "size", ""),
];

/// A collection is sparse if it uses less than one in this many places.
const SPARSE: u64 = 4;

/// The collections of one class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CollectionRow {
    /// The class.
    pub class: String,
    /// How many there are.
    pub instances: u64,
    /// Those without elements.
    pub empty: u64,
    /// Bytes of the empty ones and of their arrays.
    pub empty_bytes: u64,
    /// Those with elements that use less than a quarter of their array.
    pub sparse: u64,
    /// Bytes of the unused places of the sparse ones.
    pub sparse_bytes: u64,
}

/// Where a class has what matters.
#[derive(Clone, Copy)]
struct CollectionFields {
    size: (usize, BasicType),
    store: Option<(usize, BasicType)>,
    /// The number of elements is not all in one field where this one is not null.
    split: Option<(usize, BasicType)>,
    /// Places in the array for one element.
    places: u64,
}

struct FoundCollection {
    object: ObjectIndex,
    size: u64,
    store: Option<ObjectIndex>,
    places: u64,
}

pub(super) struct Pass<'a> {
    loaded: &'a Loaded,
    layouts: Vec<Option<CollectionFields>>,
    found: Vec<FoundCollection>,
    /// The lengths of all arrays of references, in the order of the objects.
    lengths: Vec<(ObjectIndex, u32)>,
}

impl<'a> Pass<'a> {
    pub(super) fn new(loaded: &'a Loaded) -> Self {
        let classes = (0..loaded.graph.classes().len() as u32).map(ClassIndex);
        let layouts = classes.map(|class| layout(loaded, class)).collect();
        Pass { loaded, layouts, found: Vec::new(), lengths: Vec::new() }
    }

    #[inline]
    pub(super) fn instance(&mut self, object: ObjectIndex, class: ClassIndex, fields: &[u8]) {
        let Some(layout) = self.layouts[class.at()] else { return };
        let value = |(offset, kind)| Fields::at(fields, offset, kind, self.loaded.class_fields.id_size());
        let Some(size) = value(layout.size) else { return };
        if layout.split.and_then(value).is_some_and(|cells| cells.bits != 0) {
            return;
        }
        let store = layout.store.and_then(value).and_then(|store| store.object());
        let store = store.and_then(|id| self.loaded.graph.object(DumpId(id.0)));
        self.found.push(FoundCollection { object, size: size.bits, store, places: layout.places });
    }

    #[inline]
    pub(super) fn array(&mut self, object: ObjectIndex, length: u32) {
        self.lengths.push((object, length));
    }

    pub(super) fn finish(self) -> Vec<CollectionRow> {
        let graph = &self.loaded.graph;
        let mut rows: FxHashMap<&str, CollectionRow> = FxHashMap::default();
        for FoundCollection { object, size, store, places } in self.found {
            let row = rows.entry(graph.class_name(object)).or_default();
            let length = store.map_or(0, |store| {
                let at = self.lengths.binary_search_by_key(&store, |&(array, _)| array);
                at.map_or(0, |at| u64::from(self.lengths[at].1))
            });
            row.instances += 1;
            if size == 0 {
                row.empty += 1;
                // Empty collections share an array without elements.
                let array = store.filter(|_| length > 0).map_or(0, |store| graph.shallow(store));
                row.empty_bytes += graph.shallow(object) + array;
            } else if size.saturating_mul(places * SPARSE) < length {
                row.sparse += 1;
                row.sparse_bytes += (length - size * places) * self.loaded.layout.reference;
            }
        }
        rows.into_iter().map(|(class, row)| CollectionRow { class: class.to_owned(), ..row }).collect()
    }
}

/// How a class keeps its elements, if it is a known collection or extends one.
fn layout(loaded: &Loaded, class: ClassIndex) -> Option<CollectionFields> {
    /// No collection is further down.
    const DEEPEST: usize = 64;
    let class_fields: &ClassFields = &loaded.class_fields;
    let up = std::iter::successors(Some(class), |&class| loaded.graph.class(class).superclass).take(DEEPEST);
    let known = |class: ClassIndex| COLLECTIONS.iter().find(|(name, ..)| *name == loaded.graph.class(class).name);
    let (name, size, store) = up.filter_map(known).next()?;
    Some(CollectionFields {
        size: class_fields.field(class, size)?,
        store: class_fields.field(class, store),
        split: class_fields.field(class, "counterCells"),
        places: if name.ends_with("IdentityHashMap") { 2 } else { 1 },
    })
}
