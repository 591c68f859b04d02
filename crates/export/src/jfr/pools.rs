//! The constants of a chunk: what events refer to by number. 0 is nothing.

use std::collections::BTreeMap;
use std::hash::Hash;

use rustc_hash::FxHashMap;
use trace::names;

use super::encode::{event, flag, number, text};
use super::types::{CLASS, FRAME_TYPE, GC_WHEN, METHOD, STACK, SYMBOL, THREAD, THREAD_GROUP, THREAD_STATE};

/// The type of the event that holds them.
const CHECKPOINT: u64 = 1;

/// How a frame ran; the numbers are places in this list, from 1.
const FRAME_TYPES: [&str; 5] = ["Interpreted", "JIT compiled", "Inlined", "Native", "Unknown"];

/// The number of the state of a thread that runs.
pub(super) const RUNNABLE: u64 = 1;

/// The number of the moment behind a collection.
pub(super) const AFTER: u64 = 1;

/// A kind of constants, each once.
#[derive(Debug)]
struct Pool<K>(FxHashMap<K, u64>);

impl<K> Default for Pool<K> {
    fn default() -> Self {
        Pool(FxHashMap::default())
    }
}

impl<K: Hash + Eq> Pool<K> {
    fn of(&mut self, key: K) -> u64 {
        let new = self.0.len() as u64 + 1;
        *self.0.entry(key).or_insert(new)
    }

    /// In the order of their numbers, each as `write` writes it.
    fn write(&self, write: impl Fn(&K, &mut Vec<u8>)) -> Vec<u8> {
        let ordered: BTreeMap<u64, &K> = self.0.iter().map(|(key, &number)| (number, key)).collect();
        let mut out = Vec::new();
        for (at, key) in ordered {
            number(&mut out, at);
            write(key, &mut out);
        }
        out
    }
}

/// How a frame ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Ran {
    Interpreted = 1,
    Compiled = 2,
    Inlined = 3,
    Native = 4,
    Unknown = 5,
}

/// A frame of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Frame {
    pub(super) method: u64,
    pub(super) line: u32,
    pub(super) ran: Ran,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Thread {
    pub(super) name: Box<str>,
    /// Its number in the trace, and in which of its documents.
    pub(super) id: u64,
    pub(super) document: u64,
    pub(super) is_java: bool,
    pub(super) is_virtual: bool,
    pub(super) group: u64,
}

/// All constants.
#[derive(Debug, Default)]
pub(super) struct Pools {
    symbols: Pool<Box<str>>,
    classes: Pool<u64>,
    methods: Pool<[u64; 3]>,
    stacks: Pool<Box<[Frame]>>,
    groups: Pool<Box<str>>,
    threads: Pool<Thread>,
}

impl Pools {
    /// A class, by its name in source form.
    pub(super) fn class(&mut self, name: &str) -> u64 {
        let symbol = self.symbols.of(internal_name(name).into());
        self.classes.of(symbol)
    }

    pub(super) fn method(&mut self, class: &str, name: &str, descriptor: &str) -> u64 {
        let class = self.class(class);
        let name = self.symbols.of(names::jvm_method_name(name).into());
        let descriptor = self.symbols.of(if descriptor.is_empty() { "()V" } else { descriptor }.into());
        self.methods.of([class, name, descriptor])
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

    /// The event that holds them all.
    pub(super) fn checkpoint(&self) -> Vec<u8> {
        let class = |symbol: &u64, out: &mut Vec<u8>| {
            number(out, *symbol);
            number(out, 0);
            flag(out, false);
        };
        let method = |method: &[u64; 3], out: &mut Vec<u8>| {
            method.iter().for_each(|&part| number(out, part));
            number(out, 0);
            flag(out, false);
        };
        let mut lists = vec![
            (SYMBOL, self.symbols.0.len(), self.symbols.write(|symbol, out| text(out, symbol))),
            (CLASS, self.classes.0.len(), self.classes.write(class)),
            (METHOD, self.methods.0.len(), self.methods.write(method)),
            (STACK, self.stacks.0.len(), self.stacks.write(|frames, out| write_stack(frames, out))),
            (THREAD, self.threads.0.len(), self.threads.write(write_thread)),
            (THREAD_GROUP, self.groups.0.len(), self.groups.write(|name, out| write_group(name, out))),
        ];
        for (kind, all) in
            [(FRAME_TYPE, &FRAME_TYPES[..]), (THREAD_STATE, &["STATE_RUNNABLE"]), (GC_WHEN, &["After GC"])]
        {
            let mut out = Vec::new();
            for (at, name) in (1..).zip(all) {
                number(&mut out, at);
                text(&mut out, name);
            }
            lists.push((kind, all.len(), out));
        }
        // Readers refuse an empty list.
        lists.retain(|(_, length, _)| *length > 0);
        let mut body = Vec::new();
        // When it was written, how long that took, where the one before it is.
        [0, 0, 0].into_iter().for_each(|value| number(&mut body, value));
        flag(&mut body, false);
        number(&mut body, lists.len() as u64);
        for (kind, length, constants) in lists {
            number(&mut body, kind);
            number(&mut body, length as u64);
            body.extend(constants);
        }
        let mut out = Vec::new();
        event(&mut out, CHECKPOINT, &body);
        out
    }
}

fn write_stack(frames: &[Frame], out: &mut Vec<u8>) {
    flag(out, false);
    number(out, frames.len() as u64);
    for frame in frames {
        number(out, frame.method);
        number(out, frame.line.into());
        number(out, 0);
        number(out, frame.ran as u64);
    }
}

fn write_thread(thread: &Thread, out: &mut Vec<u8>) {
    text(out, &thread.name);
    number(out, 0);
    text(out, if thread.is_java { &thread.name } else { "" });
    number(out, if thread.is_java { thread.id } else { 0 });
    number(out, thread.group);
    flag(out, thread.is_virtual);
}

fn write_group(name: &str, out: &mut Vec<u8>) {
    number(out, 0);
    text(out, name);
}

/// The JVM's name of a class: `java/lang/String`, `[I`, `[Ljava/lang/String;`.
fn internal_name(name: &str) -> String {
    let element = names::element_name(name);
    let dimensions = (name.len() - element.len()) / 2;
    if dimensions == 0 {
        return name.replace('.', "/");
    }
    let code = match element {
        "boolean" => "Z",
        "byte" => "B",
        "char" => "C",
        "short" => "S",
        "int" => "I",
        "long" => "J",
        "float" => "F",
        "double" => "D",
        _ => "",
    };
    let arrays = "[".repeat(dimensions);
    if code.is_empty() { format!("{arrays}L{};", element.replace('.', "/")) } else { format!("{arrays}{code}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_called_as_the_jvm_calls_them() {
        for (name, internal) in [
            ("int[][]", "[[I"),
            ("java.lang.String[]", "[Ljava/lang/String;"),
            ("a.B$C", "a/B$C"),
            ("byte", "byte"),
            ("", ""),
        ] {
            assert_eq!(internal_name(name), internal);
        }
    }

    #[test]
    fn each_constant_has_one_number_from_1_on() {
        let mut pools = Pools::default();
        assert_eq!((pools.class("a"), pools.class("b"), pools.class("a")), (1, 2, 1));
        let method = pools.method("a", "-init-", "()V");
        assert_eq!((method, pools.method("a", "<init>", "")), (1, 1));
        let frame = Frame { method, line: 3, ran: Ran::Unknown };
        assert_eq!((pools.stack(vec![]), pools.stack(vec![frame]), pools.stack(vec![frame])), (0, 1, 1));
        assert_eq!(pools.group(""), 0);
    }
}
