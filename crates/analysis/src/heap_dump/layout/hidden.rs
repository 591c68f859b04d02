//! Bytes of objects that no dump lists: fields that the JVM adds to its own classes, padding around fields that several threads
//! write, and the static fields that lie in class objects.

use hprof::BasicType::{self, Boolean, Int, Long, Object, Short};
use rustc_hash::FxHashMap;

use super::super::fields::{ClassFields, DeclaredFields};
use super::super::{Class, ClassIndex};
use super::{LayoutInput, ObjectLayout, neighbours};

/// Fields that HotSpot adds: `classfile/javaClasses.hpp`, `*_INJECTED_FIELDS`.
const INJECTED: [(&str, &[BasicType]); 7] = [
    ("java.lang.ClassLoader", &[Long]),
    ("java.lang.InternalError", &[Boolean]),
    ("java.lang.Module", &[Long]),
    ("java.lang.StackFrameInfo", &[Short]),
    ("java.lang.Thread", &[Long, Int, Short, Boolean]),
    ("java.lang.invoke.MemberName", &[Long]),
    ("java.lang.invoke.MethodHandleNatives$CallSiteContext", &[Long, Long]),
];

/// Classes with fields in cache lines of their own (`@Contended`). Their size is found by the distance to the next object.
const PADDED: [&str; 11] = [
    "java.lang.Thread",
    "java.util.concurrent.ConcurrentHashMap$CounterCell",
    "java.util.concurrent.Exchanger$Node",
    "java.util.concurrent.ForkJoinPool",
    "java.util.concurrent.ForkJoinPool$WorkQueue",
    "java.util.concurrent.SubmissionPublisher$BufferedSubscription",
    "java.util.concurrent.SubmissionPublisher$ConsumerSubscriber",
    "java.util.concurrent.atomic.Striped64$Cell",
    "java.util.concurrent.LinkedTransferQueue",
    "java.util.concurrent.SynchronousQueue$Transferer",
    "sun.nio.ch.Port",
];

/// Space around a group of such fields, on both sides.
const PADDING: u64 = 128;

/// The fields that HotSpot adds to a class.
pub(super) fn injected(class: &Class, declared: &DeclaredFields, class_fields: &ClassFields) -> &'static [BasicType] {
    match class.name.as_str() {
        // Threads have some since JDK 19, which moved other fields of theirs into a holder.
        "java.lang.Thread"
            if !declared.fields.iter().any(|&(name, _)| class_fields.names[name as usize] == "holder") =>
        {
            &[]
        }
        // Newer JDKs declare the first of the two in Java.
        "java.lang.invoke.ResolvedMethodName" if declared.fields.is_empty() => &[Object, Long],
        "java.lang.invoke.ResolvedMethodName" => &[Long],
        name => INJECTED.iter().find(|(class, _)| *class == name).map_or(&[], |(_, kinds)| kinds),
    }
}

/// Sizes of classes with hidden space, found by the distances between neighbours.
#[derive(Debug, Default)]
pub(super) struct HiddenSizes {
    /// Bytes of an instance.
    pub(super) padded: FxHashMap<ClassIndex, u64>,
    /// Bytes of a class object without static fields.
    pub(super) class_object: Option<u64>,
}

impl HiddenSizes {
    pub(super) fn by_neighbours(layout: &ObjectLayout, input: &LayoutInput<'_>, sizes: &[super::Size]) -> Self {
        let LayoutInput { classes, .. } = input;
        let mut least: FxHashMap<ClassIndex, u64> = FxHashMap::default();
        for (at, class) in classes.iter().enumerate() {
            if PADDED.contains(&class.name.as_str()) {
                least.insert(ClassIndex(at as u32), u64::MAX);
            }
        }
        let class_fields: FxHashMap<_, _> =
            classes.iter().zip(&input.class_fields.of_class).filter_map(|(c, s)| Some((c.object?, s))).collect();
        let mut class_object = None;
        for (object, distance) in neighbours(input) {
            if let Some(declared) = class_fields.get(&object) {
                let bare = distance.saturating_sub(layout.statics(declared, input.class_fields));
                class_object = Some(class_object.map_or(bare, |least: u64| least.min(bare)));
            } else if let Some(least) = least.get_mut(&input.class_of[object.at()]) {
                *least = (*least).min(distance);
            }
        }
        let is_padded = |class: ClassIndex, bytes: u64| match sizes[class.at()] {
            super::Size::Fixed(bare) => (bare + PADDING..bare + 8 * PADDING).contains(&bytes),
            super::Size::Array(_) => false,
        };
        HiddenSizes {
            padded: least.into_iter().filter(|&(class, bytes)| is_padded(class, bytes)).collect(),
            class_object,
        }
    }
}

impl ObjectLayout {
    /// Bytes of the static fields of a class in its class object: references, then the others from long to short. HotSpot's dumps have pseudo fields such as
    /// `<resolved_references>` among them.
    pub(super) fn statics(&self, declared: &DeclaredFields, class_fields: &ClassFields) -> u64 {
        let (mut references, mut long, mut short) = (0, 0, 0);
        for field in declared.statics.iter().filter(|field| !class_fields.names[field.name as usize].starts_with('<')) {
            match (field.value.kind, self.bytes(field.value.kind)) {
                (Object, bytes) => references += bytes,
                (_, 8) => long += 8,
                (_, bytes) => short += bytes,
            }
        }
        let begin = if long > 0 { references.next_multiple_of(8) } else { references };
        (begin + long + short).next_multiple_of(8)
    }
}
