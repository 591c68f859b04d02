//! Where HotSpot puts the fields of a class, as far as the size of its instances depends on that: since JDK 15
//! `classfile/fieldLayoutBuilder.cpp`, before that `ClassFileParser::layout_fields` of `classfile/classFileParser.cpp`.

use hprof::BasicType;

use super::super::Class;
use super::super::fields::ClassFields;
use super::super::graph::superclasses_first;
use super::ObjectLayout;
use super::hidden::{self, HiddenSizes};

/// How fields are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// From JDK 15 on: fields fill the gaps that superclasses left.
    Filling,
    /// Before: fields come behind those of the superclass, whose end is rounded up to the width of a reference.
    Appending,
}

/// How the instances of a class fill their memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Packed {
    end: u64,
    /// Offset and length of what is free before the end.
    gaps: Vec<(u64, u64)>,
}

/// No class has more; a hostile dump may.
const MAX_GAPS: usize = 64;

impl Packed {
    /// Where the last field ends.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// The instances of all classes.
    pub(super) fn all(
        layout: &ObjectLayout,
        classes: &[Class],
        class_fields: &ClassFields,
        hidden_sizes: &HiddenSizes,
    ) -> Vec<Self> {
        let mut done: Vec<Option<Packed>> = vec![None; classes.len()];
        for index in superclasses_first(classes) {
            let class = &classes[index.at()];
            let above = class.superclass.and_then(|up| done[up.at()].clone());
            let mut packed = above.unwrap_or(Packed { end: layout.header, gaps: Vec::new() });
            let declared = class_fields.of(index);
            let kinds = declared.fields.iter().map(|&(_, kind)| kind);
            let fields = Fields::new(kinds.chain(hidden::injected(class, declared, class_fields).iter().copied()));
            match hidden_sizes.padded.get(&index) {
                Some(&end) => packed = Packed { end, gaps: Vec::new() },
                None => packed.add(layout, fields, &class.name),
            }
            done[index.at()] = Some(packed);
        }
        done.into_iter().map(Option::unwrap_or_default).collect()
    }

    /// Adds the fields of a class.
    fn add(&mut self, layout: &ObjectLayout, fields: Fields, class: &str) {
        match layout.packing {
            Packing::Filling => {
                for bytes in [8, 4, 2, 1] {
                    self.fill(bytes, fields.primitives[bytes as usize]);
                }
                self.fill(layout.reference, fields.references);
            }
            Packing::Appending => self.append(layout, fields, REFERENCES_FIRST.contains(&class)),
        }
    }

    /// Puts fields into the smallest gap that takes them, or behind all others.
    fn fill(&mut self, bytes: u64, count: usize) {
        for added in 0..count {
            let aligned = |offset: u64| offset.next_multiple_of(bytes);
            let fitting = self
                .gaps
                .iter()
                .enumerate()
                .filter(|(_, (offset, length))| aligned(*offset) + bytes <= offset + length);
            match fitting.min_by_key(|(_, (offset, length))| (*length, std::cmp::Reverse(*offset))).map(|(at, _)| at) {
                Some(at) => {
                    let (offset, length) = self.gaps.swap_remove(at);
                    self.gap(offset, aligned(offset));
                    self.gap(aligned(offset) + bytes, offset + length);
                }
                None => {
                    let offset = aligned(self.end);
                    self.gap(self.end, offset);
                    self.end = offset + bytes * (count - added) as u64;
                    return;
                }
            }
        }
    }

    fn gap(&mut self, begin: u64, end: u64) {
        if begin < end && self.gaps.len() < MAX_GAPS {
            self.gaps.push((begin, end - begin));
        }
    }

    /// Puts fields behind all others, long ones first, with smaller ones in the gap before those.
    fn append(&mut self, layout: &ObjectLayout, fields: Fields, references_first: bool) {
        let Fields { mut primitives, mut references } = fields;
        if references_first {
            self.end =
                self.end.next_multiple_of(layout.reference) + layout.reference * std::mem::take(&mut references) as u64;
        }
        if primitives[8] > 0 {
            let begin = self.end.next_multiple_of(8);
            let mut gap = begin - self.end;
            for bytes in [4, 2, 1].into_iter().filter(|_| !references_first) {
                while gap >= bytes && primitives[bytes as usize] > 0 {
                    primitives[bytes as usize] -= 1;
                    gap -= bytes;
                }
            }
            if gap >= layout.reference && references > 0 {
                references -= 1;
            }
            self.end = begin;
        }
        for bytes in [8, 4, 2, 1] {
            self.end += bytes * primitives[bytes as usize] as u64;
        }
        if references > 0 {
            self.end = self.end.next_multiple_of(layout.reference) + layout.reference * references as u64;
        }
        self.end = self.end.next_multiple_of(layout.reference);
    }
}

/// How many fields of each width a class has.
#[derive(Clone, Copy, Debug, Default)]
struct Fields {
    /// By bytes.
    primitives: [usize; 9],
    references: usize,
}

impl Fields {
    fn new(kinds: impl Iterator<Item = BasicType>) -> Self {
        let mut fields = Fields::default();
        for kind in kinds {
            match kind {
                BasicType::Object => fields.references += 1,
                kind => fields.primitives[kind.size(8)] += 1,
            }
        }
        fields
    }
}

/// Classes that have their references in front of other fields, and no gaps filled, where fields are appended (`ClassFileParser::layout_fields`).
const REFERENCES_FIRST: [&str; 16] = [
    "java.lang.AssertionStatusDirectives",
    "java.lang.Boolean",
    "java.lang.Byte",
    "java.lang.Character",
    "java.lang.Class",
    "java.lang.ClassLoader",
    "java.lang.Double",
    "java.lang.Float",
    "java.lang.Integer",
    "java.lang.Long",
    "java.lang.Short",
    "java.lang.StackTraceElement",
    "java.lang.String",
    "java.lang.Throwable",
    "java.lang.ref.Reference",
    "java.lang.ref.SoftReference",
];
