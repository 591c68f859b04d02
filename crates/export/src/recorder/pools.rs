//! What events refer to by number, each once. 0 is nothing.

use std::collections::BTreeMap;
use std::hash::Hash;

use rustc_hash::FxHashMap;
use trace::names;

/// A kind of constants.
#[derive(Debug)]
pub(crate) struct Pool<K>(FxHashMap<K, u64>);

impl<K> Default for Pool<K> {
    fn default() -> Self {
        Pool(FxHashMap::default())
    }
}

impl<K: Hash + Eq> Pool<K> {
    /// The number of a constant.
    pub(crate) fn of(&mut self, key: K) -> u64 {
        self.note(key).0
    }

    /// The same, and whether it is new.
    pub(crate) fn note(&mut self, key: K) -> (u64, bool) {
        let new = self.0.len() as u64 + 1;
        let number = *self.0.entry(key).or_insert(new);
        (number, number == new)
    }

    /// In the order of their numbers.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = (u64, &K)> {
        self.0.iter().map(|(key, &number)| (number, key)).collect::<BTreeMap<u64, &K>>().into_iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// How a frame ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Ran {
    Interpreted = 1,
    Compiled = 2,
    Inlined = 3,
    Native = 4,
    Unknown = 5,
}

/// A method of Java, or what else code is called by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Method {
    /// Of Java the class; otherwise the library, or that it is not of Java.
    pub(crate) class: u64,
    pub(crate) name: Box<str>,
    /// The JVM's descriptor; empty if there is none.
    pub(crate) descriptor: Box<str>,
    /// The source file, or the library; empty if it is not known.
    pub(crate) file: Box<str>,
    pub(crate) is_java: bool,
}

/// A frame of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    pub(crate) method: u64,
    pub(crate) line: u32,
    pub(crate) ran: Ran,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Thread {
    pub(crate) name: Box<str>,
    /// Its number in the trace, and in which of its documents.
    pub(crate) id: u64,
    pub(crate) document: u64,
    pub(crate) is_java: bool,
    pub(crate) is_virtual: bool,
    pub(crate) group: u64,
}

/// All constants.
#[derive(Debug, Default)]
pub(crate) struct Pools {
    pub(crate) classes: Pool<Box<str>>,
    pub(crate) methods: Pool<Method>,
    pub(crate) stacks: Pool<Box<[Frame]>>,
    pub(crate) groups: Pool<Box<str>>,
    pub(crate) threads: Pool<Thread>,
}

/// The class of frames that are none of Java, and of no known library.
const NOT_JAVA: &str = "(not Java)";

impl Pools {
    /// A class, by its name in source form.
    pub(super) fn class(&mut self, name: &str) -> u64 {
        self.classes.of(name.into())
    }

    pub(super) fn method(&mut self, class: &str, name: &str, descriptor: &str, file: &str) -> u64 {
        let class = self.class(class);
        let name = names::jvm_method_name(name).into();
        self.methods.of(Method { class, name, descriptor: descriptor.into(), file: file.into(), is_java: true })
    }

    /// A function of native code, or what else is no method of Java.
    pub(super) fn function(&mut self, library: &str, name: &str) -> u64 {
        let class = self.class(if library.is_empty() { NOT_JAVA } else { library });
        let (name, descriptor) = (name.into(), Box::default());
        self.methods.of(Method { class, name, descriptor, file: library.into(), is_java: false })
    }

    /// A stack, innermost frame first; 0 if it has none.
    pub(super) fn stack(&mut self, frames: Vec<Frame>) -> u64 {
        if frames.is_empty() { 0 } else { self.stacks.of(frames.into()) }
    }

    pub(super) fn group(&mut self, name: &str) -> u64 {
        if name.is_empty() { 0 } else { self.groups.of(name.into()) }
    }

    pub(super) fn thread(&mut self, thread: Thread) -> u64 {
        self.threads.of(thread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_constant_has_one_number_from_1_on() {
        let mut pools = Pools::default();
        assert_eq!((pools.class("a"), pools.class("b"), pools.class("a")), (1, 2, 1));
        let method = pools.method("a", "-init-", "()V", "");
        assert_eq!((method, pools.method("a", "<init>", "()V", "")), (1, 1));
        let frame = Frame { method, line: 3, ran: Ran::Unknown };
        assert_eq!((pools.stack(vec![]), pools.stack(vec![frame]), pools.stack(vec![frame])), (0, 1, 1));
        assert_eq!(pools.group(""), 0);
    }
}
