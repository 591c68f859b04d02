//! Strings of equal text.

use std::hash::{DefaultHasher, Hasher};

use hprof::BasicType;
use hprof::read::Fields;

use crate::heap_dump::load::Loaded;
use crate::heap_dump::{ClassIndex, ObjectIndex};

/// All strings of a dump.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strings {
    /// How many there are.
    pub strings: u64,
    /// Their bytes, those of their characters included.
    pub bytes: u64,
    /// How many different texts they have.
    pub distinct: u64,
    /// Bytes of those whose text another has, too.
    pub wasted: u64,
    /// The texts that waste most, in this order.
    pub duplicates: Vec<Duplicate>,
}

/// Strings of one text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// One of the strings.
    pub example: ObjectIndex,
    /// How many there are.
    pub strings: u64,
    /// Bytes of all but one.
    pub wasted: u64,
}

/// A string, as it is sorted: by its text, then by its array.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    hash: u64,
    coder: u8,
    array: ObjectIndex,
    string: ObjectIndex,
}

pub(super) struct Pass<'a> {
    loaded: &'a Loaded,
    class: Option<ClassIndex>,
    coder: Option<(usize, BasicType)>,
    strings: Vec<Entry>,
    /// The arrays of the strings in their order, with the hash of their contents.
    arrays: Vec<(ObjectIndex, u64)>,
    /// The array that is being read, a position in `arrays`.
    open: Option<usize>,
    next: usize,
    hasher: DefaultHasher,
}

impl<'a> Pass<'a> {
    pub(super) fn new(loaded: &'a Loaded) -> Self {
        let graph = &loaded.graph;
        // Only the class of the boot loader is the real one.
        let class = graph.classes_named("java.lang.String").find(|&class| graph.class(class).loader.is_none());
        let mut pass = Pass {
            loaded,
            class,
            coder: class.and_then(|class| loaded.class_fields.field(class, "coder")),
            strings: Vec::new(),
            arrays: Vec::new(),
            open: None,
            next: 0,
            hasher: DefaultHasher::new(),
        };
        for object in graph.objects().filter(|&object| Some(graph.class_of(object)) == class) {
            if let Some(array) = pass.array_of(object) {
                pass.arrays.push((array, 0));
            }
        }
        pass.arrays.sort_unstable();
        pass.arrays.dedup();
        pass
    }

    /// The characters of a string are all that it refers to, its class aside.
    fn array_of(&self, string: ObjectIndex) -> Option<ObjectIndex> {
        let graph = &self.loaded.graph;
        graph.references(string).iter().copied().find(|&to| matches!(graph.class_name(to), "byte[]" | "char[]"))
    }

    #[inline]
    pub(super) fn instance(&mut self, object: ObjectIndex, class: ClassIndex, fields: &[u8]) {
        if Some(class) != self.class {
            return;
        }
        let Some(array) = self.array_of(object) else { return };
        let coder =
            self.coder.and_then(|(offset, kind)| Fields::at(fields, offset, kind, self.loaded.class_fields.id_size()));
        let coder = coder.map_or(0, |coder| coder.bits as u8);
        self.strings.push(Entry { hash: 0, coder, array, string: object });
    }

    #[inline]
    pub(super) fn array(&mut self, object: ObjectIndex) {
        self.end_array();
        if self.arrays.get(self.next).is_some_and(|&(array, _)| array == object) {
            self.open = Some(self.next);
        }
        // Objects come in the order of their numbers.
        while self.arrays.get(self.next).is_some_and(|&(array, _)| array <= object) {
            self.next += 1;
        }
    }

    #[inline]
    pub(super) fn contents(&mut self, bytes: &[u8]) {
        if self.open.is_some() {
            self.hasher.write(bytes);
        }
    }

    fn end_array(&mut self) {
        if let Some(open) = self.open.take() {
            self.arrays[open].1 = std::mem::take(&mut self.hasher).finish();
        }
    }

    pub(super) fn finish(mut self, most: usize) -> Strings {
        self.end_array();
        let graph = &self.loaded.graph;
        for entry in &mut self.strings {
            if let Ok(at) = self.arrays.binary_search_by_key(&entry.array, |&(array, _)| array) {
                entry.hash = self.arrays[at].1;
            }
        }
        self.strings.sort_unstable();
        let mut sum = Strings::default();
        for same in self.strings.chunk_by(|a, b| (a.hash, a.coder) == (b.hash, b.coder)) {
            // Strings may share an array, which counts once.
            let arrays = same.chunk_by(|a, b| a.array == b.array);
            let bytes = same.iter().map(|entry| graph.shallow(entry.string)).sum::<u64>()
                + arrays.map(|shared| graph.shallow(shared[0].array)).sum::<u64>();
            let one = graph.shallow(same[0].string) + graph.shallow(same[0].array);
            let wasted = bytes.saturating_sub(one);
            sum.strings += same.len() as u64;
            sum.bytes += bytes;
            sum.distinct += 1;
            sum.wasted += wasted;
            if wasted > 0 {
                let strings = same.len() as u64;
                sum.duplicates.push(Duplicate { example: same[0].string, strings, wasted });
            }
        }
        sum.duplicates.sort_unstable_by_key(|duplicate| (std::cmp::Reverse(duplicate.wasted), duplicate.example));
        sum.duplicates.truncate(most);
        sum
    }
}
