//! Changes a dump where it lies: the ids of objects, their stacks, the values of primitives. Nothing gets longer or shorter, so
//! several threads change segments of the heap side by side, each a mebibyte at a time. ([`take_globals`], which goes first,
//! makes it shorter.)

mod classes;
mod globals;
mod window;

use std::fs::File;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rustc_hash::FxHashMap;

use crate::format::{record, sub_record};
use crate::read::ReadError;
use crate::{BasicType, ClassSerial, ObjectId, StackSerial};
use classes::{Class, References};
pub use globals::take_globals;
use window::{Window, read};

/// Behind the name of the format: the width of ids, and the time.
const HEADER: u64 = 31;
/// Elements of arrays are changed in pieces of this many bytes.
const PIECE: u64 = 1 << 16;

/// What becomes of a dump.
pub trait Changes: Sync {
    /// The new id of an object; never asked of null.
    fn id(&self, object: ObjectId) -> ObjectId;

    /// The new id of an object whose own record this is, and the stack of its allocation if it gets another one.
    fn object(&self, object: ObjectId) -> (ObjectId, Option<StackSerial>);

    /// Whether all values of primitives become 0.
    fn zeroes(&self) -> bool;
}

/// A dump that was changed.
#[derive(Debug)]
pub struct Patched {
    /// The number of each class, by the id that it had.
    pub serials: FxHashMap<ObjectId, ClassSerial>,
    /// Where the end record stands: more records may follow from here, and another end.
    pub end: u64,
    /// Objects whose class is not in the dump. Where their references lie is not known, so their fields are all 0.
    pub classless: u64,
}

/// Changes a dump with ids of 8 bytes whose classes come in front of all objects, as HotSpot writes them; with so many threads
/// beside the calling one as can be had.
///
/// # Errors
/// The dump is damaged, or cannot be read or written. It is of no use then.
pub fn patch(file: &File, changes: &impl Changes, threads: usize) -> Result<Patched, ReadError> {
    let Index { segments, end, serials } = index(file, changes)?;
    let references = References::new(&find_classes(file, &segments)?);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut patcher = Patcher {
            window: Window::new(file),
            changes,
            references: &references,
            last: None,
            zeroes: changes.zeroes(),
            classless: 0,
        };
        while let Some(segment) = segments.get(next.fetch_add(1, Ordering::Relaxed)) {
            patcher.segment(segment)?;
        }
        patcher.window.flush()?;
        Ok(patcher.classless)
    };
    let classless = thread::scope(|scope| {
        let others: Vec<_> =
            (0..threads).map_while(|_| thread::Builder::new().spawn_scoped(scope, work).ok()).collect();
        let own = work();
        others.into_iter().fold(own, |sum, other| {
            let number = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            Ok::<u64, ReadError>(sum? + number?)
        })
    })?;
    Ok(Patched { serials, end, classless })
}

struct Index {
    /// Bodies of the records of the heap.
    segments: Vec<Range<u64>>,
    serials: FxHashMap<ObjectId, ClassSerial>,
    end: u64,
}

/// Goes over the records, and changes those of loaded classes.
fn index(file: &File, changes: &impl Changes) -> Result<Index, ReadError> {
    let (mut segments, mut serials) = (Vec::new(), FxHashMap::default());
    let end = records(file, |tag, body| {
        match tag {
            record::HEAP_DUMP | record::HEAP_DUMP_SEGMENT => segments.push(body),
            record::LOAD_CLASS => {
                let mut window = Window::new(file);
                window.enter(&body)?;
                let class = window.change(body.start, 16, "a loaded class")?;
                let id = ObjectId(id_of(&class[4..]));
                serials.insert(id, ClassSerial(number(class)));
                class[4..12].copy_from_slice(&changes.id(id).0.to_be_bytes());
                window.flush()?;
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(Index { segments, end, serials })
}

/// Bodies of the records of the heap.
fn segments(file: &File) -> Result<Vec<Range<u64>>, ReadError> {
    let mut segments = Vec::new();
    records(file, |tag, body| {
        segments.extend(matches!(tag, record::HEAP_DUMP | record::HEAP_DUMP_SEGMENT).then_some(body));
        Ok(())
    })?;
    Ok(segments)
}

/// Calls `visit` with the tag and the body of each record; returns where the end record stands.
fn records(file: &File, mut visit: impl FnMut(u8, Range<u64>) -> Result<(), ReadError>) -> Result<u64, ReadError> {
    let mut header = [0; HEADER as usize];
    read(file, &mut header, 0, "its header")?;
    if !matches!(&header[..19], b"JAVA PROFILE 1.0.1\0" | b"JAVA PROFILE 1.0.2\0") {
        return Err(ReadError::NotHprof);
    }
    match number(&header[19..]) {
        8 => {}
        other => return Err(ReadError::IdSize(other)),
    }
    let length = file.metadata().map_err(|source| ReadError::Io { at: 0, source })?.len();
    let mut at = HEADER;
    loop {
        let mut head = [0; 9];
        read(file, &mut head, at, "a record")?;
        let body = at + 9..at + 9 + u64::from(number(&head[5..]));
        if body.end > length {
            return Err(ReadError::Truncated { at: length, what: "a record" });
        }
        match head[0] {
            record::HEAP_DUMP_END => return Ok(at),
            record::NAME..=record::CONTROL_SETTINGS | record::HEAP_DUMP_SEGMENT => {
                at = body.end;
                visit(head[0], body)?;
            }
            tag => return Err(ReadError::Tag { at, tag, level: "record" }),
        }
    }
}

/// All classes, which stand in front of the objects.
fn find_classes(file: &File, segments: &[Range<u64>]) -> Result<FxHashMap<ObjectId, Class>, ReadError> {
    let mut classes = FxHashMap::default();
    let mut window = Window::new(file);
    for segment in segments {
        window.enter(segment)?;
        let mut at = segment.start;
        while at < segment.end {
            at = match window.look(at, 1, "the heap")?[0] {
                sub_record::CLASS_DUMP => {
                    let head = window.look(at, 21, "a class")?;
                    let (id, superclass) = (ObjectId(id_of(&head[1..])), ObjectId(id_of(&head[13..])));
                    let mut fields = Vec::new();
                    let end = classes::walk(&mut window, at, |_, _| {}, |kind| fields.push(kind))?;
                    classes.insert(id, Class { superclass, fields });
                    end
                }
                tag => match root_length(tag) {
                    Some(length) => at + length as u64,
                    None => return Ok(classes),
                },
            }
        }
    }
    Ok(classes)
}

struct Patcher<'a, C> {
    window: Window<'a>,
    changes: &'a C,
    references: &'a References,
    /// The class of the last instance, the id that it gets, and its references if it is in the dump.
    last: Option<(ObjectId, ObjectId, Option<&'a [u32]>)>,
    classless: u64,
    zeroes: bool,
}

impl<C: Changes> Patcher<'_, C> {
    fn segment(&mut self, segment: &Range<u64>) -> Result<(), ReadError> {
        self.window.enter(segment)?;
        let mut at = segment.start;
        while at < segment.end {
            at = match self.window.look(at, 1, "the heap")?[0] {
                sub_record::INSTANCE_DUMP => self.instance(at)?,
                sub_record::OBJECT_ARRAY_DUMP => self.object_array(at)?,
                sub_record::PRIMITIVE_ARRAY_DUMP => self.primitive_array(at)?,
                sub_record::CLASS_DUMP => self.class(at)?,
                tag => {
                    let length = root_length(tag).ok_or(ReadError::Tag { at, tag, level: "sub-record" })?;
                    let root = self.window.change(at, length, "a root")?;
                    rename(self.changes, &mut root[1..]);
                    at + length as u64
                }
            };
        }
        if at > segment.end { Err(ReadError::Misfit { at: segment.start, what: "an array" }) } else { Ok(()) }
    }

    fn instance(&mut self, at: u64) -> Result<u64, ReadError> {
        const HEAD: usize = 25;
        const WHAT: &str = "an object";
        let head = self.window.look(at, HEAD, WHAT)?;
        let (class, length) = (ObjectId(id_of(&head[13..])), number(&head[21..]) as usize);
        let (id, references) = match self.last {
            Some((last, id, references)) if last == class => (id, references),
            _ => {
                let references = self.references.of(class);
                let id = self.changes.id(class);
                self.last = Some((class, id, references));
                (id, references)
            }
        };
        let whole = self.window.change(at, HEAD + length, WHAT)?;
        name(self.changes, whole);
        whole[13..21].copy_from_slice(&id.0.to_be_bytes());
        let mut primitives = HEAD;
        for &offset in references.unwrap_or_default() {
            let place = HEAD + offset as usize;
            let field = whole.get_mut(place..place + 8).ok_or(ReadError::Misfit { at, what: WHAT })?;
            rename(self.changes, field);
            if self.zeroes {
                whole[primitives..place].fill(0);
                primitives = place + 8;
            }
        }
        if self.zeroes || references.is_none() {
            whole[primitives..].fill(0);
        }
        self.classless += u64::from(references.is_none());
        Ok(at + whole.len() as u64)
    }

    fn object_array(&mut self, at: u64) -> Result<u64, ReadError> {
        const HEAD: usize = 25;
        const WHAT: &str = "an array";
        let head = self.window.change(at, HEAD, WHAT)?;
        name(self.changes, head);
        rename(self.changes, &mut head[17..]);
        let (mut next, length) = (at + HEAD as u64, u64::from(number(&head[13..])) * 8);
        let end = next + length;
        while next < end {
            let piece = PIECE.min(end - next);
            for element in self.window.change(next, piece as usize, WHAT)?.chunks_exact_mut(8) {
                rename(self.changes, element);
            }
            next += piece;
        }
        Ok(end)
    }

    fn primitive_array(&mut self, at: u64) -> Result<u64, ReadError> {
        const HEAD: usize = 18;
        const WHAT: &str = "an array";
        let head = self.window.change(at, HEAD, WHAT)?;
        name(self.changes, head);
        let code = head[17];
        let kind = BasicType::of_code(code).ok_or(ReadError::Type { at: at + 17, code })?;
        let (mut next, length) = (at + HEAD as u64, u64::from(number(&head[13..])) * kind.size(8) as u64);
        let end = next + length;
        while self.zeroes && next < end {
            let piece = PIECE.min(end - next);
            self.window.change(next, piece as usize, WHAT)?.fill(0);
            next += piece;
        }
        Ok(end)
    }

    fn class(&mut self, at: u64) -> Result<u64, ReadError> {
        let (changes, zeroes) = (self.changes, self.zeroes);
        let value = |kind, bytes: &mut [u8]| match kind {
            BasicType::Object => rename(changes, bytes),
            _ if zeroes => bytes.fill(0),
            _ => {}
        };
        let end = classes::walk(&mut self.window, at, |_, _| {}, |_| {})?;
        // All of it in memory, whatever its length.
        self.window.change(at, (end - at) as usize, "a class")?;
        classes::walk(&mut self.window, at, value, |_| {})?;
        let head = self.window.change(at, 45, "a class")?;
        for place in classes::IDS {
            rename(self.changes, &mut head[place..]);
        }
        Ok(end)
    }
}

/// Changes id and stack of a record's own object.
#[inline]
fn name(changes: &impl Changes, record: &mut [u8]) {
    let (id, stack) = changes.object(ObjectId(id_of(&record[1..])));
    record[1..9].copy_from_slice(&id.0.to_be_bytes());
    if let Some(stack) = stack {
        record[9..13].copy_from_slice(&stack.0.to_be_bytes());
    }
}

/// Changes the id at the beginning, unless it is null.
#[inline]
fn rename(changes: &impl Changes, bytes: &mut [u8]) {
    let id = id_of(bytes);
    if id != 0 {
        bytes[..8].copy_from_slice(&changes.id(ObjectId(id)).0.to_be_bytes());
    }
}

/// Bytes of a root.
fn root_length(tag: u8) -> Option<usize> {
    Some(match tag {
        sub_record::ROOT_UNKNOWN | sub_record::ROOT_STICKY_CLASS | sub_record::ROOT_MONITOR_USED => 9,
        sub_record::ROOT_NATIVE_STACK | sub_record::ROOT_THREAD_BLOCK => 13,
        sub_record::ROOT_JNI_GLOBAL
        | sub_record::ROOT_JNI_LOCAL
        | sub_record::ROOT_JAVA_FRAME
        | sub_record::ROOT_THREAD_OBJECT => 17,
        _ => return None,
    })
}

#[inline]
fn number(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |&four| u32::from_be_bytes(four))
}

#[inline]
fn id_of(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |&eight| u64::from_be_bytes(eight))
}
