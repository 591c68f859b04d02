//! How large objects are. A dump lists the fields of a class, but not the headers, gaps and reference widths of the JVM that wrote it.
//! Those are found by trying every layout that HotSpot has, and keeping the one that fits the addresses.

mod hidden;
mod packing;

use std::fmt;

use hprof::BasicType;
use rustc_hash::FxHashMap;

use super::fields::ClassFields;
use super::ids::IdMap;
use super::{Class, ClassIndex, DumpId, ObjectIndex, Sizes};
use hidden::HiddenSizes;
use packing::Packed;
pub use packing::Packing;

/// The class of class objects.
pub(crate) const CLASS: &str = "java.lang.Class";

/// The class of stacks of virtual threads that are not running.
const STACK_CHUNK: &str = "jdk.internal.vm.StackChunk";

/// Number of neighbours that are compared while layouts are tried.
const SAMPLE: usize = 1 << 18;

/// How HotSpot lays out the objects of one heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectLayout {
    /// Bytes of a reference.
    pub reference: u64,
    /// Bytes of the header of an object that is no array.
    pub header: u64,
    /// Bytes of the header of an array, its length included.
    pub array_header: u64,
    /// Objects begin at multiples of this.
    pub alignment: u64,
    /// How fields are packed.
    pub packing: Packing,
    /// How well it fits the addresses.
    pub fit: Fit,
}

/// How well a layout fits the addresses of a dump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fit {
    /// Neighbours in memory that were compared; 0 if the ids of the dump are no addresses.
    pub compared: u64,
    /// Objects that end exactly where the next begins.
    pub touching: u64,
    /// Objects that would reach into the next.
    pub overlapping: u64,
}

/// What is known of the objects before their sizes are.
pub(crate) struct LayoutInput<'a> {
    /// Smaller ids are no addresses.
    pub(crate) first_address: u64,
    /// Bytes of an instance, where the dump says so.
    pub(crate) stated: FxHashMap<ClassIndex, u64>,
    pub(crate) ids: &'a IdMap,
    pub(crate) classes: &'a [Class],
    pub(crate) class_fields: &'a ClassFields,
    pub(crate) class_of: &'a [ClassIndex],
    pub(crate) lengths: &'a [u32],
}

impl LayoutInput<'_> {
    /// The objects whose ids are addresses, by their addresses.
    fn addresses(&self) -> impl Iterator<Item = (DumpId, ObjectIndex)> {
        self.ids.by_id().skip_while(|(id, _)| id.0 < self.first_address)
    }
}

/// The size of a class's instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    Fixed(u64),
    /// By length: bytes of an element.
    Array(u64),
}

impl ObjectLayout {
    /// The layout that fits best.
    pub(crate) fn of(input: &LayoutInput<'_>) -> Self {
        let alignment = alignment(input);
        let candidates = candidates(input.class_fields.id_size(), alignment.unwrap_or(8));
        let mut best = candidates[0];
        if alignment.is_none() {
            return best;
        }
        let mut most = (0, i64::MIN);
        for mut candidate in candidates {
            let sizes = candidate.class_sizes(input, &HiddenSizes::default());
            for (object, distance) in neighbours(input).take(SAMPLE) {
                let bytes = candidate.size(sizes[input.class_of[object.at()].at()], input.lengths[object.at()]);
                candidate.fit.compared += 1;
                candidate.fit.touching += u64::from(bytes == distance);
                candidate.fit.overlapping += u64::from(bytes > distance);
            }
            let agree = input.stated.iter().filter(|(class, bytes)| sizes[class.at()] == Size::Fixed(**bytes)).count();
            let points = (agree, candidate.fit.touching as i64 - 10 * candidate.fit.overlapping as i64);
            if points > most {
                most = points;
                best = candidate;
            }
        }
        best
    }

    /// The sizes of all objects.
    pub(crate) fn sizes(&self, input: &LayoutInput<'_>) -> Sizes {
        let hidden_sizes = match self.fit.compared {
            0 => HiddenSizes::default(),
            _ => HiddenSizes::by_neighbours(self, input, &self.class_sizes(input, &HiddenSizes::default())),
        };
        let mut classes = self.class_sizes(input, &hidden_sizes);
        for (class, &bytes) in &input.stated {
            // Of these two no instance is like the other.
            if !matches!(input.classes[class.at()].name.as_str(), CLASS | STACK_CHUNK) {
                classes[class.at()] = Size::Fixed(bytes);
            }
        }
        if let (Some(bytes), Some(class)) =
            (hidden_sizes.class_object, input.classes.iter().position(|c| c.name == CLASS))
        {
            classes[class] = Size::Fixed(bytes);
        }
        let mut sizes = Sizes::default();
        for (class, &length) in input.class_of.iter().zip(input.lengths) {
            sizes.push(self.size(classes[class.at()], length));
        }
        for (class, declared) in input.classes.iter().zip(&input.class_fields.of_class) {
            if let Some(object) = class.object {
                sizes.set(
                    object,
                    (sizes.get(object) + self.statics(declared, input.class_fields)).next_multiple_of(self.alignment),
                );
            }
        }
        sizes
    }

    fn size(&self, size: Size, length: u32) -> u64 {
        match size {
            Size::Fixed(bytes) => bytes,
            Size::Array(element) => {
                // Long elements begin at multiples of 8.
                let header = if element == 8 { self.array_header.next_multiple_of(8) } else { self.array_header };
                (header + element * u64::from(length)).next_multiple_of(self.alignment)
            }
        }
    }

    /// The sizes of the instances of each class.
    fn class_sizes(&self, input: &LayoutInput<'_>, hidden_sizes: &HiddenSizes) -> Vec<Size> {
        let packed = Packed::all(self, input.classes, input.class_fields, hidden_sizes);
        let element = |class: &Class| match class.name.strip_suffix("[]") {
            Some("boolean" | "byte") => Some(1),
            Some("char" | "short") => Some(2),
            Some("int" | "float") => Some(4),
            Some("long" | "double") => Some(8),
            Some(_) => Some(self.reference),
            None => None,
        };
        let sizes = input.classes.iter().zip(packed).map(|(class, packed)| match element(class) {
            Some(element) => Size::Array(element),
            None => Size::Fixed(packed.end().next_multiple_of(self.alignment)),
        });
        sizes.collect()
    }

    /// Bytes of a field or element.
    pub(crate) fn bytes(&self, kind: BasicType) -> u64 {
        match kind {
            BasicType::Object => self.reference,
            kind => kind.size(8) as u64,
        }
    }
}

/// All layouts of HotSpot, the usual one first.
fn candidates(id_size: usize, alignment: u64) -> Vec<ObjectLayout> {
    // References, header, header of arrays.
    let widths: &[(u64, u64, u64)] = match id_size {
        4 => &[(4, 8, 12)],
        // Compressed references and class pointers; neither; class pointers only; references only; and the compact headers of
        // JDK 24, with and without compressed references.
        _ => &[(4, 12, 16), (8, 16, 24), (8, 12, 16), (4, 16, 24), (4, 16, 20), (8, 16, 20), (4, 8, 12), (8, 8, 12)],
    };
    let mut all = Vec::new();
    for &(reference, header, array_header) in widths {
        for packing in [Packing::Filling, Packing::Appending] {
            all.push(ObjectLayout { reference, header, array_header, alignment, packing, fit: Fit::default() });
        }
    }
    all
}

/// What all addresses are multiples of; `None` if the ids are none.
fn alignment(input: &LayoutInput<'_>) -> Option<u64> {
    let common = input.addresses().fold(0, |bits, (id, _)| bits | id.0);
    (common > 0).then(|| 1_u64 << common.trailing_zeros()).filter(|&alignment| alignment >= 8).map(|a| a.min(256))
}

/// Objects with the distance to the next one in memory, where that is not absurd.
fn neighbours(input: &LayoutInput<'_>) -> impl Iterator<Item = (ObjectIndex, u64)> {
    let next = input.addresses().skip(1);
    input
        .addresses()
        .zip(next)
        .map(|((id, object), (next, _))| (object, next.0 - id.0))
        .filter(|&(_, distance)| distance > 0)
}

impl fmt::Display for ObjectLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ObjectLayout { reference, header, alignment, .. } = self;
        write!(f, "references of {reference} bytes, headers of {header}, objects at multiples of {alignment}")
    }
}
