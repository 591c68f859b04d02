//! What a trace recorded, in the form in which tests ask for it: every object with its class, its thread and its end.

use std::collections::HashMap;
use std::path::Path;

use trace::ids::{ClassId, ObjectId, ThreadId};
use trace::model::{ArrayCode, Element, ObjAlloc, ObjFree, ThreadCount};
use trace::time::Time;

use crate::read::{self, Judged, TraceData};

/// One recorded object.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    /// Index of its class's name in [`Recorded::names`].
    pub class: usize,
    /// Index of its thread's name in [`Recorded::names`]; none for objects reported without a thread.
    pub thread: Option<usize>,
    /// Shallow size in bytes.
    pub size: u64,
    /// What kind of array it is.
    pub array: ArrayCode,
    /// When it was allocated.
    pub born: Time,
    /// When it was freed.
    pub freed: Option<Time>,
    /// Whether its allocation site was recorded.
    pub has_site: bool,
}

/// A recorded trace.
#[derive(Debug, Default)]
pub struct Recorded {
    /// Names of classes and threads, each once.
    pub names: Vec<String>,
    /// All objects in the order of the trace.
    pub objects: Vec<Object>,
    /// When each collection ended.
    pub collections: Vec<Time>,
    /// When the VM was initialised.
    pub initialised: Option<Time>,
    /// Names of all threads that the trace introduced.
    pub threads: Vec<String>,
    /// Names of all classes that the trace introduced.
    pub classes: Vec<String>,
    /// What the trace says about its own completeness: key, detail, value.
    pub counts: Vec<(String, String, u64)>,
    /// The last account of each thread: name and numbers.
    pub accounts: Vec<(String, ThreadCount)>,
    /// Whether it ended as it should.
    pub complete: bool,
    by_name: HashMap<String, usize>,
    thread_names: HashMap<ThreadId, usize>,
    class_names: HashMap<ClassId, usize>,
    living: HashMap<ObjectId, usize>,
}

impl Recorded {
    /// Reads a trace of one document that is valid but for its end.
    ///
    /// # Panics
    /// If it cannot be read, or if an object is freed that does not live.
    pub fn read(path: &Path) -> Self {
        read::trace(path, Self::default(), Judged::NotJudged)
    }

    /// The objects of one class, in the order of the trace.
    pub fn of_class<'a>(&'a self, class: &str) -> impl Iterator<Item = &'a Object> {
        let index = self.by_name.get(class).copied();
        self.objects.iter().filter(move |object| Some(object.class) == index)
    }

    /// Number of objects by class name.
    pub fn by_class(&self) -> HashMap<&str, u64> {
        self.count(|_| true)
    }

    /// Number of objects that were not freed, by class name.
    pub fn living_by_class(&self) -> HashMap<&str, u64> {
        self.count(|object| object.freed.is_none())
    }

    fn count(&self, which: impl Fn(&Object) -> bool) -> HashMap<&str, u64> {
        let mut counts = HashMap::new();
        for object in self.objects.iter().filter(|object| which(object)) {
            *counts.entry(self.names[object.class].as_str()).or_default() += 1;
        }
        counts
    }

    fn born(&mut self, object: &ObjAlloc) {
        let class = *self.class_names.get(&object.class).expect("a class is defined before its first object");
        let thread = object.thread.map(|id| *self.thread_names.get(&id).expect("a thread starts before it allocates"));
        let index = self.objects.len();
        self.objects.push(Object {
            class,
            thread,
            size: object.size,
            array: object.is_array.unwrap_or_default(),
            born: object.time,
            freed: None,
            has_site: object.method.is_some(),
        });
        let before = self.living.insert(object.obj_id, index);
        assert!(before.is_none(), "object {} is allocated while it lives", object.obj_id);
    }

    fn freed(&mut self, free: &ObjFree) {
        let index = self.living.remove(&free.object);
        let index = index.unwrap_or_else(|| panic!("object {} is freed but does not live", free.object));
        self.objects[index].freed = Some(free.time);
    }

    fn name(&mut self, name: &str) -> usize {
        if let Some(&known) = self.by_name.get(name) {
            return known;
        }
        let index = self.names.len();
        self.names.push(name.to_owned());
        self.by_name.insert(name.to_owned(), index);
        index
    }
}

impl TraceData for Recorded {
    fn element(&mut self, element: &Element<'_>) {
        match element {
            Element::ThreadStart(start) => {
                self.threads.push(start.thread_name.to_string());
                let name = self.name(&start.thread_name);
                self.thread_names.insert(start.thread_id, name);
            }
            Element::ClassDef(class) => {
                self.classes.push(class.name.to_string());
                let name = self.name(&class.name);
                self.class_names.insert(class.class_id, name);
            }
            Element::ObjAlloc(object) => self.born(object),
            Element::ObjFree(free) => self.freed(free),
            Element::GcFinish(finish) => self.collections.push(finish.time),
            Element::RuntimeInitDone(done) => self.initialised = Some(done.time),
            Element::ThreadCount(count) => {
                let name = self.names[self.thread_names[&count.thread]].clone();
                self.accounts.retain(|(_, before)| before.thread != count.thread);
                self.accounts.push((name, count.clone()));
            }
            Element::MartiniCount(count) => {
                let detail = count.detail.as_deref().unwrap_or_default().to_owned();
                self.counts.push((count.key.to_string(), detail, count.value));
            }
            _ => {}
        }
    }

    fn end(&mut self, is_complete: bool) {
        self.complete = is_complete;
    }
}
