//! What objects and roots are called.

use std::io::{self, Write};

use analysis::heap_dump::contents::{Described, Wanted};
use analysis::heap_dump::{DumpId, GraphRoot, ObjectIndex, RootKind};
use serde_json::{Map, Value, json};

use super::source::{Data, Heap};
use crate::render::human;
use crate::render::page::Page;

/// Characters of a text that are shown.
const TEXT: usize = 60;

/// Names objects with what was looked up of them.
pub(crate) struct Names<'a> {
    pub(crate) heap: &'a Heap,
    pub(crate) described: Described,
}

impl Names<'_> {
    /// An object: `demo.Node @ 0x7f10`, `class demo.Node`, with its text if it is a string or a thread.
    pub(crate) fn object(&self, object: ObjectIndex) -> String {
        let graph = self.heap.graph();
        let mut name = match graph.as_class(object) {
            Some(class) => format!("class {}", graph.class(class).name),
            None => format!("{} @ {}", graph.class_name(object), graph.id(object)),
        };
        if let Some(text) = self.text(object) {
            name.push_str(&format!(" {:?}", text.chars().take(TEXT).collect::<String>()));
        }
        human::printable(&name)
    }

    /// The class of an object; of a class object, that class.
    pub(crate) fn class(&self, object: ObjectIndex) -> &str {
        let graph = self.heap.graph();
        graph.as_class(object).map_or_else(|| graph.class_name(object), |class| &graph.class(class).name)
    }

    /// The text of a string, the name of a thread.
    pub(crate) fn text(&self, object: ObjectIndex) -> Option<String> {
        let Data::Dump(_, loaded) = &self.heap.data else { return None };
        let string = match self.described.field(object, "name") {
            Some(name) if self.heap.graph().class_name(object).contains("Thread") => {
                self.heap.graph().object(DumpId(name.object()?.0))?
            }
            _ => object,
        };
        self.described.text(loaded, string)
    }

    /// The field or element by which an object refers to another.
    pub(crate) fn link(&self, owner: ObjectIndex, target: ObjectIndex) -> String {
        human::printable(self.described.name(owner, target).unwrap_or("->"))
    }

    /// Why an object is a root: `local variable of thread "main"`.
    pub(crate) fn root(&self, root: &GraphRoot) -> String {
        let kind = root_name(root.kind);
        match root.thread.filter(|&thread| thread != root.object) {
            Some(thread) => match self.text(thread) {
                Some(name) => human::printable(&format!("{kind} of thread {name:?}")),
                None => format!("{kind} of {}", self.object(thread)),
            },
            None => kind.to_owned(),
        }
    }

    /// A path as lines: the root's reason, the root, then each step behind the field that leads to it.
    pub(crate) fn path(&self, path: &[ObjectIndex]) -> Vec<String> {
        let Some(&first) = path.first() else { return Vec::new() };
        let roots = self.heap.graph().roots_of(first);
        // A live thread is on its own stack, too.
        let shown = roots.iter().find(|root| root.kind == RootKind::ThreadObject).or_else(|| roots.first());
        let reason = shown.map_or_else(String::new, |root| self.root(root));
        let mut lines = vec![format!("root: {reason}"), self.object(first)];
        let links: Vec<String> = path.windows(2).map(|pair| self.link(pair[0], pair[1])).collect();
        let width = links.iter().map(|link| link.chars().count()).max().unwrap_or(0).min(40);
        for (link, &object) in links.iter().zip(&path[1..]) {
            lines.push(format!("{link:width$}  {}", self.object(object)));
        }
        lines
    }

    /// Writes paths, each with an empty line behind it.
    pub(crate) fn write_paths(&self, paths: &[Vec<ObjectIndex>], out: &mut Page<'_>) -> io::Result<()> {
        for path in paths {
            for line in self.path(path) {
                out.write_sentence(2, &line)?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    /// An object as JSON.
    pub(crate) fn object_json(&self, object: ObjectIndex) -> Map<String, Value> {
        let graph = self.heap.graph();
        let value = json!({
            "id": graph.id(object).to_string(),
            "class": graph.class_name(object),
            "is_class": graph.as_class(object).map(|class| graph.class(class).name.clone()),
            "text": self.text(object),
            "shallow_bytes": graph.shallow(object),
            "retained_bytes": self.heap.dominators.retained(object),
        });
        match value {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }

    /// A path as JSON.
    pub(crate) fn path_json(&self, path: &[ObjectIndex]) -> Value {
        let Some(&first) = path.first() else { return Value::Null };
        let steps = path.iter().enumerate().map(|(at, &object)| {
            let mut step = self.object_json(object);
            let by = at.checked_sub(1).and_then(|before| self.described.name(path[before], object));
            step.insert("by".to_owned(), json!(by));
            Value::Object(step)
        });
        let roots = self.heap.graph().roots_of(first).iter().map(|root| self.root(root)).collect::<Vec<_>>();
        json!({ "roots": roots, "steps": steps.collect::<Vec<_>>() })
    }
}

/// Wants what naming the objects of a path takes.
pub(crate) fn want_path(heap: &Heap, wanted: &mut Wanted, path: &[ObjectIndex]) {
    wanted.path(path);
    for &object in path {
        want_name(heap, wanted, object);
    }
    if let Some(&first) = path.first() {
        for thread in heap.graph().roots_of(first).iter().filter_map(|root| root.thread) {
            want_name(heap, wanted, thread);
        }
    }
}

/// Wants what naming an object takes: the text of a string, the name of a thread.
pub(crate) fn want_name(heap: &Heap, wanted: &mut Wanted, object: ObjectIndex) {
    let Data::Dump(_, loaded) = &heap.data else { return };
    wanted.text(loaded, object);
    if heap.graph().roots_of(object).iter().any(|root| root.kind == RootKind::ThreadObject) {
        wanted.objects.insert(object);
        for &referred in heap.graph().references(object) {
            wanted.text(loaded, referred);
        }
    }
}

/// The words for a kind of root.
pub(crate) fn root_name(kind: RootKind) -> &'static str {
    match kind {
        RootKind::JniGlobal => "JNI global reference",
        RootKind::JniLocal => "JNI local reference",
        RootKind::JavaFrame => "local variable",
        RootKind::NativeStack => "native stack",
        RootKind::StickyClass => "system class",
        RootKind::ThreadBlock => "thread block",
        RootKind::MonitorUsed => "monitor in use",
        RootKind::ThreadObject => "live thread",
        RootKind::Unknown => "root of unknown kind",
    }
}
