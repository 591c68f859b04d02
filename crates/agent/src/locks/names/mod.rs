//! Names of locks (`locknames`): the field of the program's in which a lock lies, `demo.Cache.lock`.
//!
//! JVMTI says nothing of that but in a walk over the heap, so it is asked once, when all else of the recording is written, and only
//! for those objects for which threads waited longest. A lock of `java.util.concurrent` lies in objects of the JDK: it takes a
//! walk for each step from the inside to an object of the program's.

mod asking;
mod fields;
mod walk;

use std::time::{Duration, Instant};

use jvmti::jni_sys::{jclass, jlong, jobject};
use jvmti::sys::{CAN_TAG_OBJECTS, JVMTI_VERSION_11, jvmtiCapabilities};
use jvmti::{Env, Jni};
use trace::ids::ObjectId;

use agent_base::ids::ClassIndex;
use agent_core::core::Core;
pub(crate) use asking::{NameAsker, NameRequest};
use fields::{FieldOrElement, Holder};
use walk::{Graph, NodeIndex};

/// So many objects are looked for.
pub(crate) const MOST: usize = 100;
/// The walks take no more processor time. It is not the time of a clock, so that they find as much on a busy machine.
const MOST_WORK: Duration = Duration::from_secs(1);
/// The program stands still no longer on whatever machine.
const LONGEST: Duration = Duration::from_secs(4);
/// Steps from the lock to the program's object: the value of a hash table is in a node, in an array, in the map.
const MOST_STEPS: usize = 4;
/// Ways from one lock that are followed further.
const MOST_WAYS: usize = 4;

/// A lock that has a name.
#[derive(Debug)]
pub(crate) struct LockName {
    pub(crate) object: ObjectId,
    /// The class that declares the field, or that is the lock itself.
    pub(crate) class: ClassIndex,
    /// The field, and what is between it and the lock; `None` if the class is the lock.
    pub(crate) field: Option<String>,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct LockNames {
    pub(crate) names: Vec<LockName>,
    /// The time was over before all was looked at.
    pub(crate) is_cut: bool,
}

/// One way from a lock outwards.
struct Way {
    /// Which lock, of those that are looked for.
    lock: usize,
    /// The object that it has reached.
    end: NodeIndex,
    /// Fields and arrays from there to the lock.
    path: Vec<Step>,
}

/// A step from an object into one that it refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Field(String),
    Element,
}

/// Looks for the fields in which objects lie.
///
/// # Errors
/// What the VM refuses.
fn find(core: &Core, jni: Jni, wanted: &[ObjectId]) -> jvmti::Result<LockNames> {
    let mut search = Search::new(core, jni, wanted)?;
    let result = search.run();
    search.release();
    result?;
    let Search { found, fallbacks, graph, .. } = search;
    let names = found.into_iter().zip(fallbacks).filter_map(|(found, fallback)| found.or(fallback)).collect();
    Ok(LockNames { names, is_cut: graph.is_cut })
}

struct Search<'s> {
    core: &'s Core,
    jni: Jni,
    /// One of its own: other parts of the agent have other tags.
    env: Env,
    graph: Graph,
    /// A local reference for each node of the graph; null if there is none any more.
    objects: Vec<jobject>,
    class_of_classes: jclass,
    ways: Vec<Way>,
    locks: Vec<ObjectId>,
    /// For each lock: a field of the program's.
    found: Vec<Option<LockName>>,
    /// For each lock: a field of the JDK's, if there is no other.
    fallbacks: Vec<Option<LockName>>,
}

impl<'s> Search<'s> {
    fn new(core: &'s Core, jni: Jni, wanted: &[ObjectId]) -> jvmti::Result<Search<'s>> {
        let env = core.jvm.vm.get_env(JVMTI_VERSION_11).map_err(|_| jvmti::Error::NOT_AVAILABLE)?;
        env.add_capabilities(jvmtiCapabilities::of(&[CAN_TAG_OBJECTS]))?;
        let class_of_classes = jni.find_class(c"java/lang/Class").map_err(|_| {
            jni.exception_clear();
            jvmti::Error::INTERNAL
        })?;
        let mut search = Search {
            core,
            jni,
            env,
            graph: Graph::new(MOST_WORK, Instant::now() + LONGEST),
            objects: Vec::new(),
            class_of_classes,
            ways: Vec::new(),
            locks: Vec::new(),
            found: Vec::new(),
            fallbacks: Vec::new(),
        };
        for (object, id) in core.tags.of_monitors(jni, wanted)? {
            search.add_lock(object, id)?;
        }
        Ok(search)
    }

    /// Takes over a local reference to a lock.
    fn add_lock(&mut self, object: jobject, id: ObjectId) -> jvmti::Result<()> {
        let (core, jni) = (self.core, self.jni);
        // SAFETY: live local references; the class is deleted at once.
        unsafe {
            let class = jni.get_object_class(object);
            let index = core.jvm.classes.resolve(jni, class);
            jni.delete_local_ref(class);
            let is_class = jni.is_instance_of(object, self.class_of_classes);
            let name = index.ok().and_then(|index| core.jvm.classes.get(index)).map_or("", |class| class.name.as_str());
            // Those of the JVM's own threads, and threads, which have names.
            if !is_class && (name.starts_with("java.lang.ref.") || name == "java.lang.Thread") {
                jni.delete_local_ref(object);
                return Ok(());
            }
            let of_class = if is_class { core.jvm.classes.resolve(jni, object).ok() } else { None };
            let lock = self.locks.len();
            self.locks.push(id);
            self.found.push(of_class.map(|class| LockName { object: id, class, field: None }));
            self.fallbacks.push(None);
            let node = self.graph.add();
            self.objects.push(object);
            self.env.set_tag(object, node.tag())?;
            if of_class.is_none() {
                self.ways.push(Way { lock, end: node, path: Vec::new() });
            }
        }
        Ok(())
    }

    fn run(&mut self) -> jvmti::Result<()> {
        for _ in 0..MOST_STEPS {
            let ways: Vec<Way> = std::mem::take(&mut self.ways);
            let ways: Vec<Way> = ways.into_iter().filter(|way| self.found[way.lock].is_none()).collect();
            if ways.is_empty() || self.graph.is_cut {
                return Ok(());
            }
            self.graph.look_for(ways.iter().map(|way| way.end));
            self.graph.walk(self.core.jvm, self.jni, self.env)?;
            self.fetch()?;
            for way in ways {
                self.go_on(&way);
            }
        }
        Ok(())
    }

    /// References to the objects that the walk has found.
    fn fetch(&mut self) -> jvmti::Result<()> {
        let known = self.objects.len();
        let tags: Vec<jlong> = self.graph.nodes().skip(known).map(NodeIndex::tag).collect();
        self.objects.resize(known + tags.len(), std::ptr::null_mut());
        if tags.is_empty() {
            return Ok(());
        }
        self.jni.expect_local_refs(tags.len());
        let (objects, tags) = self.env.get_objects_with_tags(&tags)?;
        for (&object, &tag) in objects.iter().zip(tags.iter()) {
            if let Some(node) = NodeIndex::of_tag(tag) {
                self.objects[node.0] = object;
            }
        }
        Ok(())
    }

    /// Names the lock of a way, or follows the way one step further.
    fn go_on(&mut self, way: &Way) {
        let parents = self.graph.parents(way.end);
        for parent in parents {
            let (holder, object) = (self.objects[parent.0], self.objects[way.end.0]);
            if holder.is_null() || object.is_null() || self.found[way.lock].is_some() {
                continue;
            }
            // SAFETY: live local references.
            let Some(place) = (unsafe { fields::place(self.core, self.jni, self.class_of_classes, holder, object) })
            else {
                continue;
            };
            match place {
                FieldOrElement::Field { holder: Holder::Program, class, field, .. } => {
                    self.found[way.lock] = Some(self.name(way, class, field));
                }
                FieldOrElement::Field { holder: Holder::Library, class, field, is_static } => {
                    if self.fallbacks[way.lock].is_none() && (is_static || way.path.is_empty() && field != SYNC) {
                        self.fallbacks[way.lock] = Some(self.name(way, class, field.clone()));
                    }
                    if !is_static {
                        self.follow(way, parent, Step::Field(field));
                    }
                }
                FieldOrElement::Element => self.follow(way, parent, Step::Element),
            }
        }
    }

    fn follow(&mut self, way: &Way, end: NodeIndex, step: Step) {
        if self.ways.iter().filter(|other| other.lock == way.lock).count() < MOST_WAYS {
            let path = [&[step][..], &way.path].concat();
            self.ways.push(Way { lock: way.lock, end, path });
        }
    }

    fn name(&self, way: &Way, class: ClassIndex, field: String) -> LockName {
        LockName { object: self.locks[way.lock], class, field: Some(described(field, &way.path)) }
    }

    /// Removes the tags, and the references.
    fn release(&mut self) {
        for object in std::mem::take(&mut self.objects).into_iter().filter(|object| !object.is_null()) {
            // SAFETY: live local references that are not used any more. A tag that stays means nothing to anybody.
            unsafe {
                let _ = self.env.set_tag(object, 0);
                self.jni.delete_local_ref(object);
            }
        }
        // SAFETY: as above.
        unsafe { self.jni.delete_local_ref(self.class_of_classes) };
    }
}

/// The field of locks and semaphores in which the part lies for which threads wait.
const SYNC: &str = "sync";

/// A field of the program's, and the way from there to the lock: `queue.notEmpty`; `[]` stands for all inside a collection.
fn described(field: String, path: &[Step]) -> String {
    if path.contains(&Step::Element) {
        return field + "[]";
    }
    path.iter().fold(field, |text, step| match step {
        Step::Field(name) if name != SYNC => format!("{text}.{name}"),
        _ => text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_a_lock_is_shortened_where_it_says_nothing() {
        let field = |name: &str| Step::Field(name.into());
        let described = |path: &[Step]| described("it".into(), path);
        assert_eq!(described(&[]), "it");
        assert_eq!(described(&[field("sync")]), "it");
        assert_eq!(described(&[field("notEmpty")]), "it.notEmpty");
        assert_eq!(described(&[field("takeLock"), field("sync")]), "it.takeLock");
        assert_eq!(described(&[Step::Element]), "it[]");
        assert_eq!(described(&[field("table"), Step::Element, field("val")]), "it[]");
    }
}
