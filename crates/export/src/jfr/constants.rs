//! The constants of a chunk: what events refer to by number. 0 is nothing.

use trace::names;

use super::encode::{event, flag, number, text};
use super::types::{CLASS, FRAME_TYPE, GC_WHEN, METHOD, STACK, SYMBOL, THREAD, THREAD_GROUP, THREAD_STATE};
use crate::recorder::pools::{Frame, Pool, Pools, Thread};

/// The type of the event that holds them.
const CHECKPOINT: u64 = 1;

/// How a frame ran; the numbers are places in this list, from 1.
const FRAME_TYPES: [&str; 5] = ["Interpreted", "JIT compiled", "Inlined", "Native", "Unknown"];

/// The number of the state of a thread that runs.
pub(super) const RUNNABLE: u64 = 1;

/// The number of the moment behind a collection.
pub(super) const AFTER: u64 = 1;

/// Writes constants in the order of their numbers, each as `write` writes it.
fn list<'k, K: 'k>(constants: impl Iterator<Item = (u64, &'k K)>, write: impl Fn(&K, &mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    for (at, key) in constants {
        number(&mut out, at);
        write(key, &mut out);
    }
    out
}

/// The event that holds them all.
pub(super) fn checkpoint(pools: &Pools) -> Vec<u8> {
    let mut symbols: Pool<Box<str>> = Pool::default();
    let mut classes = Vec::new();
    for (at, name) in pools.classes.in_order() {
        [at, symbols.of(internal_name(name).into()), 0].into_iter().for_each(|value| number(&mut classes, value));
        flag(&mut classes, false);
    }
    let mut methods = Vec::new();
    for (at, method) in pools.methods.in_order() {
        let descriptor = if method.descriptor.is_empty() { "()V" } else { &method.descriptor };
        let (name, descriptor) = (symbols.of(method.name.clone()), symbols.of(descriptor.into()));
        [at, method.class, name, descriptor, 0].into_iter().for_each(|value| number(&mut methods, value));
        flag(&mut methods, false);
    }
    let mut lists = vec![
        (SYMBOL, symbols.len(), list(symbols.in_order(), |symbol, out| text(out, symbol))),
        (CLASS, pools.classes.len(), classes),
        (METHOD, pools.methods.len(), methods),
        (STACK, pools.stacks.len(), list(pools.stacks.in_order(), |frames, out| write_stack(frames, out))),
        (THREAD, pools.threads.len(), list(pools.threads.in_order(), write_thread)),
        (THREAD_GROUP, pools.groups.len(), list(pools.groups.in_order(), |name, out| write_group(name, out))),
    ];
    for (kind, all) in [(FRAME_TYPE, &FRAME_TYPES[..]), (THREAD_STATE, &["STATE_RUNNABLE"]), (GC_WHEN, &["After GC"])] {
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
}
