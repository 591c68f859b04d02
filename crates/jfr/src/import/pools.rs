//! Classes, methods, stacks and threads: each once, although every chunk has numbers of its own for them.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use trace::model::ArrayCode;
use trace::names;

/// Things, each once, by numbers from 0 on.
#[derive(Debug)]
pub(super) struct Pool<K> {
    all: Vec<K>,
    index: FxHashMap<K, u32>,
}

impl<K> Default for Pool<K> {
    fn default() -> Self {
        Pool { all: Vec::new(), index: FxHashMap::default() }
    }
}

impl<K: Hash + Eq + Clone> Pool<K> {
    pub(super) fn of(&mut self, key: K) -> u32 {
        if let Some(&known) = self.index.get(&key) {
            return known;
        }
        let new = self.all.len() as u32;
        self.all.push(key.clone());
        self.index.insert(key, new);
        new
    }

    pub(super) fn get(&self, at: u32) -> &K {
        &self.all[at as usize]
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }
}

macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident),*) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(super) struct $name(pub(super) u32);)*
    };
}

numbers! {
    /// A class.
    ClassAt,
    /// A method of Java.
    MethodAt,
    /// A function of native code.
    FunctionAt,
    /// A stack of Java.
    StackAt,
    /// A thread.
    ThreadAt,
    /// A lock, or what else is waited for.
    LockAt
}

/// A class, by its name in source form.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Class {
    pub(super) name: Box<str>,
    pub(super) array: ArrayCode,
    pub(super) module: Box<str>,
}

impl Class {
    /// The class that the JVM calls so: `java/lang/String`, `[I`.
    pub(super) fn of_jvm(name: &str, module: &str) -> Class {
        // What stands behind the last slash of hidden classes is no name.
        let hidden = name.rsplit_once('/').filter(|(_, last)| last.starts_with("0x"));
        let text = match hidden {
            Some((class, number)) => format!("{}/{number}", names::class_name_of_internal(class)),
            None if name.starts_with('[') => names::class_name(name),
            None => names::class_name_of_internal(name),
        };
        Class { name: text.into(), array: names::array_code(name), module: module.into() }
    }

    /// A class of which nothing but a name is known.
    pub(super) fn named(name: &str) -> Class {
        Class { name: name.into(), array: ArrayCode::OBJECT, module: Box::default() }
    }
}

/// A method of Java.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Method {
    pub(super) class: ClassAt,
    pub(super) name: Box<str>,
    pub(super) descriptor: Box<str>,
}

/// A frame of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Frame {
    pub(super) method: MethodAt,
    pub(super) line: u32,
}

/// A thread; it may have another name later.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Thread {
    pub(super) java_id: i64,
    pub(super) os_id: i64,
    /// Its number as a constant, which is the same in all chunks; `martini export` writes threads of several JVMs.
    pub(super) key: u64,
}

/// What is said of a thread besides.
#[derive(Clone, Debug, Default)]
pub(super) struct ThreadNames {
    pub(super) name: Box<str>,
    pub(super) group: Box<str>,
    pub(super) parent: Box<str>,
}

/// What a thread waits for. Its address may be another one after a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Lock {
    pub(super) class: ClassAt,
    pub(super) address: i64,
}

/// A stack that was seen: what is Java of it, and what ran on top of that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Seen {
    pub(super) stack: Option<StackAt>,
    pub(super) function: Option<FunctionAt>,
    pub(super) is_kernel: bool,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Pools {
    pub(super) classes: Pool<Class>,
    pub(super) methods: Pool<Method>,
    /// Name and library.
    pub(super) functions: Pool<(Box<str>, Box<str>)>,
    pub(super) stacks: Pool<Box<[Frame]>>,
    pub(super) threads: Pool<Thread>,
    pub(super) thread_names: Vec<ThreadNames>,
    pub(super) locks: Pool<Lock>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_called_as_in_source() {
        for (jvm, name, array) in [
            ("java/lang/String", "java.lang.String", ArrayCode::OBJECT),
            ("[[I", "int[][]", ArrayCode::REFERENCE),
            ("[B", "byte[]", ArrayCode::BYTE),
            ("[Ljava/lang/String;", "java.lang.String[]", ArrayCode::REFERENCE),
            ("a/B$$Lambda+0x7f", "a.B$$Lambda/0x7f", ArrayCode::OBJECT),
            ("a/B$$Lambda/0x7f", "a.B$$Lambda/0x7f", ArrayCode::OBJECT),
            ("a/B$$Lambda$14/0x7f", "a.B$$Lambda$14/0x7f", ArrayCode::OBJECT),
        ] {
            let class = Class::of_jvm(jvm, "");
            assert_eq!((&*class.name, class.array), (name, array));
        }
    }
}
