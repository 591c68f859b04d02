//! What a trace shows without a dump: the lifetimes of an object and the definitions of a class.

use ::trace::filter::Pattern;
use ::trace::generated::plain_name;
use ::trace::ids::{ClassId, MethodId, ObjectId, StackId, ThreadId};
use ::trace::model::{Element, Frame};
use ::trace::names;
use ::trace::time::Time;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use crate::render::human;

/// What is wanted of one object or one class. Ids are reused, so an id may have had several lifetimes.
#[derive(Debug, Default)]
pub(crate) struct History {
    object: Option<ObjectId>,
    class: Option<String>,
    classes: FxHashMap<ClassId, (String, String)>,
    methods: FxHashMap<MethodId, (ClassId, String)>,
    stacks: FxHashMap<StackId, Vec<Frame>>,
    threads: FxHashMap<ThreadId, String>,
    pub(crate) lifetimes: Vec<Lifetime>,
    pub(crate) definitions: Vec<Definition>,
}

/// One object that had the id.
#[derive(Debug)]
pub(crate) struct Lifetime {
    pub(crate) class: String,
    pub(crate) size: u64,
    pub(crate) thread: Option<String>,
    pub(crate) frames: Vec<String>,
    pub(crate) allocated: Time,
    pub(crate) freed: Option<Time>,
    pub(crate) collections: u64,
    is_open: bool,
}

/// One class that had the id or the name.
#[derive(Debug)]
pub(crate) struct Definition {
    pub(crate) id: ClassId,
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) object: Option<ObjectId>,
    pub(crate) time: Time,
    pub(crate) unloaded: Option<Time>,
}

impl History {
    pub(crate) fn of(object: Option<u64>, class: Option<&str>) -> Self {
        History {
            object: object.map(ObjectId),
            class: class.map(|class| plain_name(class).into_owned()),
            ..Self::default()
        }
    }

    pub(crate) fn element(&mut self, element: &Element<'_>) {
        if self.object.is_none() && self.class.is_none() {
            return;
        }
        match element {
            Element::ClassDef(class) => {
                let source = class.source_name.as_deref().unwrap_or_default().to_owned();
                let name = plain_name(&class.name).into_owned();
                self.classes.insert(class.class_id, (name.clone(), source.clone()));
                let is_wanted = |wanted: &str| {
                    let pattern = || wanted.parse::<Pattern>().ok().filter(|_| !wanted.contains('*'));
                    wanted == name
                        || is_id(wanted, class.class_id.0)
                        || pattern().is_some_and(|pattern| pattern.matches(&name))
                };
                if self.class.as_deref().is_some_and(is_wanted) {
                    let id = class.class_id;
                    let object = class.object.filter(|object| object.0 != 0);
                    self.definitions.push(Definition { id, name, source, object, time: class.time, unloaded: None });
                }
            }
            Element::ClassUnload(unload) => {
                for definition in self.definitions.iter_mut().rev().take_while(|known| known.unloaded.is_none()) {
                    if definition.id == unload.class {
                        definition.unloaded = Some(unload.time);
                    }
                }
            }
            Element::MethodDef(method) => {
                self.methods.insert(method.method_id, (method.class, method.name.to_string()));
            }
            Element::StackDef(stack) if self.object.is_some() => {
                self.stacks.insert(stack.stack_id, stack.frames.0.to_vec());
            }
            Element::ThreadStart(thread) => {
                self.threads.insert(thread.thread_id, thread.thread_name.to_string());
            }
            Element::ObjAlloc(alloc) if Some(alloc.obj_id) == self.object => {
                let site = alloc.method.map(|method| {
                    let line = alloc.line.and_then(|line| u32::try_from(line).ok()).unwrap_or(0);
                    Frame { method, line }
                });
                let stack = alloc.stack.and_then(|stack| self.stacks.get(&stack));
                let frames = stack.map_or_else(|| site.into_iter().collect(), Clone::clone);
                self.lifetimes.push(Lifetime {
                    class: self.classes.get(&alloc.class).map_or_else(String::new, |(name, _)| name.clone()),
                    size: alloc.size,
                    thread: alloc.thread.and_then(|thread| self.threads.get(&thread).cloned()),
                    frames: frames.iter().map(|frame| self.frame(*frame)).collect(),
                    allocated: alloc.time,
                    freed: None,
                    collections: 0,
                    is_open: true,
                });
            }
            Element::ObjFree(free) if Some(free.object) == self.object => {
                if let Some(lifetime) = self.lifetimes.last_mut().filter(|lifetime| lifetime.is_open) {
                    lifetime.freed = Some(free.time);
                    lifetime.is_open = false;
                }
            }
            Element::GcFinish(finish) => {
                if let Some(lifetime) =
                    self.lifetimes.last_mut().filter(|lifetime| lifetime.is_open && finish.time > lifetime.allocated)
                {
                    lifetime.collections += 1;
                }
            }
            _ => {}
        }
    }

    /// All ids lose their meaning.
    pub(crate) fn end_document(&mut self) {
        let (object, class) = (self.object, self.class.take());
        let (lifetimes, definitions) = (std::mem::take(&mut self.lifetimes), std::mem::take(&mut self.definitions));
        *self = History { object, class, lifetimes, definitions, ..Self::default() };
        self.lifetimes.iter_mut().for_each(|lifetime| lifetime.is_open = false);
    }

    fn frame(&self, frame: Frame) -> String {
        let Some((class, method)) = self.methods.get(&frame.method) else {
            return format!("(undefined method {})", frame.method);
        };
        let (class, source) =
            self.classes.get(class).map_or(("(undefined class)", ""), |(name, source)| (name, source));
        let line = Some(frame.line).filter(|&line| line > 0);
        analysis::allocations::Location { class, method, signature: "", source, line }.to_string()
    }
}

/// Whether a text is this id, decimal.
fn is_id(text: &str, id: u64) -> bool {
    text.parse() == Ok(id)
}

/// A lifetime in lines.
pub(crate) fn lifetime_text(lifetime: &Lifetime) -> Vec<String> {
    let mut lines = vec![format!("{}, {}", human::printable(&lifetime.class), human::bytes(lifetime.size))];
    let by = lifetime.thread.as_ref().map_or_else(String::new, |name| format!(" by thread {name:?}"));
    lines.push(human::printable(&format!("allocated at {}{by}", lifetime.allocated)));
    lines.extend(lifetime.frames.iter().map(|frame| human::printable(&format!("  at {frame}"))));
    let survived = human::counted(lifetime.collections, "collection", "collections");
    lines.push(match lifetime.freed {
        Some(time) => format!("freed at {time}, after {survived} that it survived"),
        None => format!("alive at the end, after {survived}"),
    });
    lines
}

pub(crate) fn lifetime_json(lifetime: &Lifetime) -> Value {
    json!({
        "class": lifetime.class, "bytes": lifetime.size, "thread": lifetime.thread, "frames": lifetime.frames,
        "allocated_nanos": lifetime.allocated.0, "freed_nanos": lifetime.freed.map(|time| time.0),
        "collections": lifetime.collections,
    })
}

/// A class's definitions in the trace.
pub(crate) fn definition_text(definition: &Definition) -> String {
    let Definition { id, name, source, time, .. } = definition;
    let source = if source.is_empty() { String::new() } else { format!(" of {source}") };
    let unloaded = definition.unloaded.map_or_else(String::new, |time| format!(", unloaded at {time}"));
    let object = definition.object.map_or_else(String::new, |object| format!(", class object {object}"));
    human::printable(&format!("class {id}: {name}{source}, loaded at {time}{unloaded}{object}"))
}

pub(crate) fn definition_json(definition: &Definition) -> Value {
    json!({
        "id": definition.id.0, "name": definition.name, "source": definition.source,
        "class_object": definition.object.map(|object| object.0), "loaded_nanos": definition.time.0,
        "unloaded_nanos": definition.unloaded.map(|time| time.0), "package": names::package(&definition.name),
    })
}
