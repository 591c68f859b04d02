//! The names behind the ids of a trace: classes, threads, methods and allocation sites.
//!
//! Ids belong to one document and may be reused after their definition ended; names are kept for the whole trace. Classes and
//! methods that bear the same name (two class loaders, two documents) share one entry, threads never do. So do classes that the JDK
//! generated, whose names lose what is random in them.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use trace::ids::{ClassId, MethodId, ThreadId};
use trace::model::{Element, Frames};
use trace::names;

use crate::location::Location;
use trace::generated::plain_name;

macro_rules! index {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) struct $name(u32);
    )*};
}

index! {
    /// A class name of the trace.
    ClassIndex;
    /// A thread of the trace.
    ThreadIndex;
    /// A method of the trace.
    MethodIndex;
    /// A line of a method.
    SiteIndex;
}

impl SiteIndex {
    /// The place of the line in the order in which lines were found, from 0.
    pub(crate) fn rank(self) -> usize {
        self.0 as usize
    }

    /// The line at a place in that order.
    pub(crate) fn of_rank(rank: usize) -> SiteIndex {
        SiteIndex(rank as u32)
    }
}

impl ThreadIndex {
    /// The thread's place in the order of definitions, from 0.
    pub(crate) fn rank(self) -> usize {
        self.0 as usize
    }
}

/// A thread as it was announced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ThreadSymbol {
    pub(crate) id: ThreadId,
    pub(crate) name: String,
    pub(crate) group: String,
}

/// A class, and the source file it came from (empty if unknown).
#[derive(Clone, Debug)]
pub(crate) struct ClassSymbol {
    pub(crate) name: Box<str>,
    pub(crate) source: Box<str>,
    /// Empty for an unnamed module, and if the trace does not say.
    module: Box<str>,
}

/// A method of a class.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MethodSymbol {
    pub(crate) class: ClassIndex,
    pub(crate) name: Box<str>,
    pub(crate) signature: Box<str>,
}

/// A line of a method; no line if the trace has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SiteSymbol {
    pub(crate) method: MethodIndex,
    pub(crate) line: Option<u32>,
}

/// Values that are stored once and known by their position.
#[derive(Clone, Debug)]
struct Pool<T> {
    items: Vec<T>,
    index: FxHashMap<T, u32>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool { items: Vec::new(), index: FxHashMap::default() }
    }
}

impl<T: Clone + Eq + Hash> Pool<T> {
    fn intern(&mut self, item: T) -> u32 {
        if let Some(&known) = self.index.get(&item) {
            return known;
        }
        let new = position(self.items.len());
        self.items.push(item.clone());
        self.index.insert(item, new);
        new
    }
}

/// Positions are 32 bits wide: a trace would need four thousand million names to exceed them.
fn position(length: usize) -> u32 {
    u32::try_from(length).expect("fewer than 2^32 names")
}

/// All names, and what the ids of the current document stand for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Symbols {
    classes: Vec<ClassSymbol>,
    class_names: FxHashMap<Box<str>, ClassIndex>,
    threads: Vec<ThreadSymbol>,
    methods: Pool<MethodSymbol>,
    sites: Pool<SiteSymbol>,
    class_ids: FxHashMap<ClassId, ClassIndex>,
    thread_ids: FxHashMap<ThreadId, ThreadIndex>,
    method_ids: FxHashMap<MethodId, MethodIndex>,
    undefined: u64,
    has_modules: bool,
}

impl Symbols {
    /// Forgets the ids: the next document has its own.
    pub(crate) fn end_document(&mut self) {
        self.class_ids.clear();
        self.thread_ids.clear();
        self.method_ids.clear();
    }

    /// Ids that were used without a definition, each counted once per document.
    pub(crate) fn undefined(&self) -> u64 {
        self.undefined
    }

    /// Takes in what an element says of classes and methods; says whether an id meant another one before.
    pub(crate) fn define_code(&mut self, element: &Element<'_>) -> bool {
        match element {
            Element::ClassDef(class) => {
                let source = class.source_name.as_deref().unwrap_or("");
                let is_redefined = self.define_class(class.class_id, &class.name, source);
                if let Some(module) = &class.module {
                    self.define_module(class.class_id, module);
                }
                is_redefined
            }
            Element::MethodDef(method) => {
                self.define_method(method.method_id, method.class, &method.name, &method.signature)
            }
            _ => false,
        }
    }

    /// The places of a stack's frames, in their order.
    pub(crate) fn sites(&mut self, frames: &Frames<'_>) -> Vec<SiteIndex> {
        let line = |line: u32| Some(line).filter(|&line| line > 0);
        frames.0.iter().map(|frame| self.site(frame.method, line(frame.line))).collect()
    }

    /// Names a class; says whether its id meant another one before.
    fn define_class(&mut self, id: ClassId, name: &str, source: &str) -> bool {
        let class = self.class_named(&plain_name(name), source);
        self.class_ids.insert(id, class).is_some_and(|before| before != class)
    }

    /// Names a thread; says whether its id meant another one before.
    pub(crate) fn define_thread(&mut self, id: ThreadId, name: &str, group: &str) -> bool {
        let thread = ThreadIndex(position(self.threads.len()));
        self.threads.push(ThreadSymbol { id, name: name.to_owned(), group: group.to_owned() });
        self.thread_ids.insert(id, thread).is_some()
    }

    /// Names a method; says whether its id meant another one before.
    fn define_method(&mut self, id: MethodId, class: ClassId, name: &str, signature: &str) -> bool {
        let class = self.class(class);
        let method = MethodSymbol { class, name: name.into(), signature: signature.into() };
        let method = MethodIndex(self.methods.intern(method));
        self.method_ids.insert(id, method).is_some_and(|before| before != method)
    }

    /// Says in which module a class is that has just been named.
    fn define_module(&mut self, id: ClassId, module: &str) {
        let class = self.class(id);
        self.has_modules = true;
        let known = &mut self.classes[class.0 as usize].module;
        if known.is_empty() {
            *known = module.into();
        }
    }

    /// Whether the trace says of any class in which module it is.
    pub(crate) fn has_modules(&self) -> bool {
        self.has_modules
    }

    /// The module of a site's class; empty for an unnamed one.
    pub(crate) fn module(&self, site: SiteIndex) -> &str {
        let method = self.site_name(site).method;
        &self.class_name(self.method_name(method).class).module
    }

    /// A site as a frame of a tree: where it is, and its module.
    pub(crate) fn frame(&self, site: SiteIndex) -> (Location<'_>, &str) {
        (self.location(site), self.module(site))
    }

    /// The class behind an id; an undefined id gets a name that says so.
    pub(crate) fn class(&mut self, id: ClassId) -> ClassIndex {
        if let Some(&class) = self.class_ids.get(&id) {
            return class;
        }
        self.undefined += 1;
        let class = self.class_named(&format!("(undefined class {id})"), "");
        self.class_ids.insert(id, class);
        class
    }

    /// The thread behind an id; an undefined id gets a name that says so.
    pub(crate) fn thread(&mut self, id: ThreadId) -> ThreadIndex {
        if let Some(&thread) = self.thread_ids.get(&id) {
            return thread;
        }
        self.undefined += 1;
        self.define_thread(id, &format!("(undefined thread {id})"), "");
        self.thread_ids[&id]
    }

    /// The site at a line of a method; an undefined method gets a name that says so.
    pub(crate) fn site(&mut self, method: MethodId, line: Option<u32>) -> SiteIndex {
        let method = match self.method_ids.get(&method) {
            Some(&known) => known,
            None => {
                self.undefined += 1;
                let class = self.class_named("(undefined class)", "");
                let name = format!("(undefined method {method})").into();
                let index = MethodIndex(self.methods.intern(MethodSymbol { class, name, signature: "".into() }));
                self.method_ids.insert(method, index);
                index
            }
        };
        SiteIndex(self.sites.intern(SiteSymbol { method, line }))
    }

    /// The site of a method that is known by its names only.
    pub(crate) fn site_named(&mut self, class: &str, method: &str) -> SiteIndex {
        let class = self.class_named(&plain_name(class), "");
        let method = MethodSymbol { class, name: names::method_name(method).into(), signature: "".into() };
        let method = MethodIndex(self.methods.intern(method));
        SiteIndex(self.sites.intern(SiteSymbol { method, line: None }))
    }

    /// A site as it is shown.
    pub(crate) fn location(&self, site: SiteIndex) -> Location<'_> {
        let site = self.site_name(site);
        let method = self.method_name(site.method);
        let class = self.class_name(method.class);
        Location {
            class: &class.name,
            method: &method.name,
            signature: &method.signature,
            source: &class.source,
            line: site.line,
        }
    }

    pub(crate) fn class_name(&self, index: ClassIndex) -> &ClassSymbol {
        &self.classes[index.0 as usize]
    }

    pub(crate) fn thread_name(&self, index: ThreadIndex) -> &ThreadSymbol {
        &self.threads[index.rank()]
    }

    pub(crate) fn method_name(&self, index: MethodIndex) -> &MethodSymbol {
        &self.methods.items[index.0 as usize]
    }

    pub(crate) fn site_name(&self, index: SiteIndex) -> SiteSymbol {
        self.sites.items[index.0 as usize]
    }

    fn class_named(&mut self, name: &str, source: &str) -> ClassIndex {
        if let Some(&class) = self.class_names.get(name) {
            let known = &mut self.classes[class.0 as usize];
            if known.source.is_empty() {
                known.source = source.into();
            }
            return class;
        }
        let class = ClassIndex(position(self.classes.len()));
        self.classes.push(ClassSymbol { name: name.into(), source: source.into(), module: "".into() });
        self.class_names.insert(name.into(), class);
        class
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_id_that_comes_back_means_the_new_class() {
        let mut symbols = Symbols::default();
        symbols.define_class(ClassId(1), "a.A", "A.java");
        let a = symbols.class(ClassId(1));
        symbols.define_class(ClassId(1), "b.B", "");
        let b = symbols.class(ClassId(1));
        assert_eq!((&*symbols.class_name(a).name, &*symbols.class_name(b).name), ("a.A", "b.B"));
        assert_eq!(symbols.undefined(), 0);
    }

    #[test]
    fn generated_classes_and_their_methods_share_an_entry() {
        let mut symbols = Symbols::default();
        let at = |symbols: &mut Symbols, id, name: &str| {
            symbols.define_class(ClassId(id), name, "");
            symbols.define_method(MethodId(id), ClassId(id), "run", "()V");
            (symbols.class(ClassId(id)), symbols.site(MethodId(id), None))
        };
        let first = at(&mut symbols, 1, "a.Main$$Lambda$14/0x0000000800c03000");
        assert_eq!(at(&mut symbols, 2, "a.Main$$Lambda/0x00007f0000000000"), first);
        assert_eq!(symbols.site_named("a.Main$$Lambda$7", "run"), symbols.site_named("a.Main$$Lambda/0x1", "run"));
        assert_eq!(symbols.location(first.1).to_string(), "a.Main$$Lambda.run(Unknown Source)");
    }

    #[test]
    fn ids_end_with_their_document_and_names_stay() {
        let mut symbols = Symbols::default();
        symbols.define_class(ClassId(1), "a.A", "");
        let before = symbols.class(ClassId(1));
        symbols.end_document();
        let unknown = symbols.class(ClassId(1));
        assert_eq!(&*symbols.class_name(unknown).name, "(undefined class 1)");
        symbols.define_class(ClassId(9), "a.A", "A.java");
        assert_eq!(symbols.class(ClassId(9)), before);
        assert_eq!(&*symbols.class_name(before).source, "A.java");
    }

    #[test]
    fn a_site_is_in_the_module_of_its_class() {
        let mut symbols = Symbols::default();
        symbols.define_class(ClassId(1), "java.util.List", "");
        symbols.define_class(ClassId(2), "a.A", "");
        assert!(!symbols.has_modules());
        symbols.define_module(ClassId(1), "java.base");
        let [list, own] = ["java.util.List", "a.A"].map(|class| symbols.site_named(class, "run"));
        assert_eq!((symbols.module(list), symbols.module(own)), ("java.base", ""));
        assert!(symbols.has_modules());
    }

    #[test]
    fn threads_of_one_name_stay_apart() {
        let mut symbols = Symbols::default();
        symbols.define_thread(ThreadId(1), "worker", "main");
        let first = symbols.thread(ThreadId(1));
        symbols.define_thread(ThreadId(1), "worker", "main");
        assert_ne!(symbols.thread(ThreadId(1)), first);
    }

    #[test]
    fn an_undefined_id_is_counted_once() {
        let mut symbols = Symbols::default();
        for _ in 0..3 {
            symbols.class(ClassId(4));
            symbols.thread(ThreadId(4));
            symbols.site(MethodId(4), Some(10));
        }
        assert_eq!(symbols.undefined(), 3);
    }
}
