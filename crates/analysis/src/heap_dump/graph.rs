//! The graph: objects, classes, references, roots.

use hprof::RootKind;
use hprof::martini::Martini;
use hprof::read::Skipped;

use super::csr::Lists;
use super::ids::IdMap;
use super::referents::{Referent, Referents};
use super::sizes::Sizes;
use super::{ClassIndex, DumpId, ObjectIndex};

/// Why the collector keeps an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphRoot {
    /// The object.
    pub object: ObjectIndex,
    /// The reason.
    pub kind: RootKind,
    /// The thread that has it on its stack, as an object of the dump.
    pub thread: Option<ObjectIndex>,
}

/// A class.
#[derive(Clone, Debug, Default)]
pub struct Class {
    /// Its name as in source (`int[][]`, `java.util.Map$Entry`).
    pub name: String,
    /// Its superclass; `None` where the dump does not have it.
    pub superclass: Option<ClassIndex>,
    /// The class object.
    pub object: Option<ObjectIndex>,
    /// Its loader; `None` for the boot loader, and where the dump does not have it.
    pub loader: Option<ObjectIndex>,
}

/// All classes, each behind its superclass. Damaged hierarchies may be circular; a circle is cut at some class.
pub(super) fn superclasses_first(classes: &[Class]) -> Vec<ClassIndex> {
    let mut order = Vec::with_capacity(classes.len());
    let mut is_seen = vec![false; classes.len()];
    for at in 0..classes.len() {
        let begin = order.len();
        let mut class = Some(ClassIndex(at as u32));
        while let Some(index) = class.filter(|class| !is_seen[class.at()]) {
            is_seen[index.at()] = true;
            order.push(index);
            class = classes[index.at()].superclass;
        }
        order[begin..].reverse();
    }
    order
}

/// Where an object was allocated, and how many collections it has survived.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    /// The texts of sites: frames, innermost first.
    pub sites: Vec<Vec<String>>,
    /// The site of each object, from 1; 0 for none. Empty if the dump has none.
    pub site_of: Vec<u32>,
    /// How old objects are.
    pub ages: Ages,
}

/// How many collections objects have survived.
#[derive(Clone, Debug, Default)]
pub enum Ages {
    /// The dump has no ages.
    #[default]
    Unknown,
    /// Each object has one, [`Ages::NONE`] if it is not known.
    Each(Vec<u32>),
    /// The age follows from an object's id, if it is one of Martini's.
    ById(Box<Martini>),
}

impl Ages {
    /// Stands for an age that is not known.
    pub const NONE: u32 = u32::MAX;
}

/// What may be wrong with a dump without making it useless.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DumpProblems {
    /// References to objects that the dump does not have.
    pub dangling: u64,
    /// Objects with the id of an earlier one.
    pub repeated: u64,
    /// Roots that are no object of the dump.
    pub unknown_roots: u64,
    /// Classes that are used without a definition.
    pub unknown_classes: u64,
    /// Objects whose fields are not what their class says.
    pub malformed_objects: u64,
    /// What of the dump was stepped over.
    pub skipped: Skipped,
    /// Why the rest of the dump could not be read.
    pub broken: Option<String>,
    /// Which objects have no id of the trace although it has them, and why. Empty if there are none.
    pub without_ids: String,
}

/// The objects of a heap and who refers to whom.
#[derive(Debug)]
pub struct Graph {
    pub(crate) classes: Vec<Class>,
    pub(crate) ids: IdMap,
    pub(crate) class_of: Vec<ClassIndex>,
    pub(crate) sizes: Sizes,
    /// References to others, those of reference objects to their referents aside.
    pub(crate) references: Lists,
    /// The same the other way round.
    pub(crate) referrers: Lists,
    pub(crate) referents: Referents,
    /// Sorted by object.
    pub(crate) roots: Vec<GraphRoot>,
    pub(crate) origins: Origins,
    pub(crate) problems: DumpProblems,
}

impl Graph {
    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.class_of.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.class_of.is_empty()
    }

    /// All objects.
    pub fn objects(&self) -> impl Iterator<Item = ObjectIndex> + use<> {
        (0..self.class_of.len() as u32).map(ObjectIndex)
    }

    /// All classes.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// A class.
    pub fn class(&self, index: ClassIndex) -> &Class {
        &self.classes[index.at()]
    }

    /// The class of an object.
    #[inline]
    pub fn class_of(&self, object: ObjectIndex) -> ClassIndex {
        self.class_of[object.at()]
    }

    /// The name of an object's class.
    pub fn class_name(&self, object: ObjectIndex) -> &str {
        &self.class(self.class_of(object)).name
    }

    /// The class that an object is, if it is a class object.
    pub fn as_class(&self, object: ObjectIndex) -> Option<ClassIndex> {
        let found = self.classes.iter().position(|class| class.object == Some(object))?;
        Some(ClassIndex(found as u32))
    }

    /// The classes of a name; several loaders may have one each.
    pub fn classes_named(&self, name: &str) -> impl Iterator<Item = ClassIndex> {
        let named = self.classes.iter().enumerate().filter(move |(_, class)| class.name == name);
        named.map(|(index, _)| ClassIndex(index as u32))
    }

    /// The id of an object in its dump.
    pub fn id(&self, object: ObjectIndex) -> DumpId {
        DumpId(self.ids.id(object))
    }

    /// The object with an id.
    pub fn object(&self, id: DumpId) -> Option<ObjectIndex> {
        self.ids.find(id.0)
    }

    /// Bytes of an object itself.
    pub fn shallow(&self, object: ObjectIndex) -> u64 {
        self.sizes.get(object)
    }

    /// The objects that an object refers to, in the order of its fields or elements; a class object to its superclass, loader and
    /// static fields. Without what it holds as a soft, weak, phantom or final reference, and without its own class where that is
    /// a root.
    pub fn references(&self, object: ObjectIndex) -> &[ObjectIndex] {
        self.references.of(object)
    }

    /// The objects that refer to an object; the reverse of [`Graph::references`].
    pub fn referrers(&self, object: ObjectIndex) -> &[ObjectIndex] {
        self.referrers.of(object)
    }

    /// What an object refers to as a reference object.
    pub fn referent(&self, object: ObjectIndex) -> Option<Referent> {
        self.referents.of_owner(object)
    }

    /// The reference objects that refer to an object.
    pub fn referents_to(&self, object: ObjectIndex) -> &[Referent] {
        self.referents.to_target(object)
    }

    /// How many references there are.
    pub fn reference_count(&self) -> usize {
        self.references.items() + self.referents.len()
    }

    /// The roots, sorted by object.
    pub fn roots(&self) -> &[GraphRoot] {
        &self.roots
    }

    /// The roots that an object is.
    pub fn roots_of(&self, object: ObjectIndex) -> &[GraphRoot] {
        let begin = self.roots.partition_point(|root| root.object < object);
        let count = self.roots[begin..].partition_point(|root| root.object == object);
        &self.roots[begin..begin + count]
    }

    /// Whether an object is a root.
    pub fn is_root(&self, object: ObjectIndex) -> bool {
        !self.roots_of(object).is_empty()
    }

    /// All sites of the dump: their frames, innermost first.
    pub fn sites(&self) -> &[Vec<String>] {
        &self.origins.sites
    }

    /// Where an object was allocated: the frames, innermost first; `None` if the dump does not have them.
    pub fn site(&self, object: ObjectIndex) -> Option<&[String]> {
        let site = *self.origins.site_of.get(object.at())?;
        self.origins.sites.get(site.checked_sub(1)? as usize).map(Vec::as_slice).filter(|frames| !frames.is_empty())
    }

    /// How many collections an object has survived; `None` if that is not known.
    pub fn age(&self, object: ObjectIndex) -> Option<u32> {
        match &self.origins.ages {
            Ages::Unknown => None,
            Ages::Each(ages) => ages.get(object.at()).copied().filter(|&age| age != Ages::NONE),
            Ages::ById(martini) => u32::try_from(martini.age(hprof::ObjectId(self.id(object).0))?).ok(),
        }
    }

    /// Whether the dump has ages of its objects, at least of those that were tracked.
    pub fn has_ages(&self) -> bool {
        !matches!(self.origins.ages, Ages::Unknown)
    }

    /// What was found wrong with the dump.
    pub fn problems(&self) -> &DumpProblems {
        &self.problems
    }

    /// The objects that are roots, each once, in their order.
    pub(crate) fn root_objects(&self) -> impl Iterator<Item = ObjectIndex> {
        let mut before = ObjectIndex::NONE;
        self.roots
            .iter()
            .map(|root| root.object)
            .filter(move |&object| std::mem::replace(&mut before, object) != object)
    }

    /// One after the other what an object keeps alive.
    #[inline]
    pub(crate) fn held(&self, object: ObjectIndex, position: u32) -> Option<ObjectIndex> {
        let list = self.references.of(object);
        match list.get(position as usize) {
            Some(&target) => Some(target),
            None if position as usize == list.len() => {
                self.referent(object).filter(|referent| referent.strength.holds()).map(|referent| referent.target)
            }
            None => None,
        }
    }

    /// The objects that keep an object alive.
    #[inline]
    pub(crate) fn for_each_holder(&self, object: ObjectIndex, mut visit: impl FnMut(ObjectIndex)) {
        for &holder in self.referrers.of(object) {
            visit(holder);
        }
        for referent in self.referents.to_target(object) {
            if referent.strength.holds() {
                visit(referent.owner);
            }
        }
    }
}
