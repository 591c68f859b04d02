//! From the VM's frames to a stack of the program.
//!
//! The VM gives method and bytecode index per frame (`GetStackTrace`). A thread remembers the stacks it has seen, so that names
//! and lines are looked up once per stack, not once per object; and it identifies most of them by their return addresses
//! (`cache`), so that the VM is hardly asked.
//!
//! The site is the innermost frame that runs bytecode. A native method that allocates (`Object.clone`) is passed over: when
//! it is compiled, its caller does the work and it is not on the stack at all.

use jvmti::Env;
use jvmti::jni_sys::{jmethodID, jobject};
use jvmti::sys::jvmtiFrameInfo;
use rustc_hash::FxHashMap;

use super::Stacks;
use super::cache::{BYTES_OF_ENTRY, Lookup, StackCache, StackReader};
use crate::agent::helpers::is_helper_frame;
use crate::agent::ids::{CodeLocation, MethodIndex, StackIndex};
use crate::agent::tables::classes::Classes;
use crate::agent::tables::methods::{MethodRecord, Methods};

/// What the stack of an event begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FramesToSkip {
    /// HeapProxy, `Object.<init>` and the constructors of the object.
    Constructors,
    /// HeapProxy.
    Hook,
    /// The method that made the VM allocate, or that blocks.
    Method,
    /// The methods of `Object` that wait.
    Wait,
    /// MartiniParking, and what parks for the lock or queue that the program uses.
    Park,
}

/// Whether a method of that class is a detail of how `java.util.concurrent` waits, unless the program calls it.
fn is_parking(class: &str) -> bool {
    class.starts_with("java.util.concurrent.locks.") || class == "java.util.concurrent.ForkJoinPool"
}

/// Whether a virtual thread begins in this method: what lies below it is its carrier's, which only one way to walk shows.
fn is_bottom(record: &MethodRecord, tables: &Tables<'_>) -> bool {
    record.name == "enter" && tables.classes.get(record.class).is_some_and(|c| c.name == "jdk.internal.vm.Continuation")
}

type RawFrame = (usize, i64);

/// One thread's view of the stacks: buffers, and what it has seen already.
pub(crate) struct StackWalker {
    /// Frames wanted; at least 1.
    depth: usize,
    raw: Vec<jvmtiFrameInfo>,
    seen: FxHashMap<Box<[RawFrame]>, StackIndex>,
    key: Vec<RawFrame>,
    cache: StackCache<StackIndex>,
}

impl FramesToSkip {
    /// Frames that are HeapProxy's in any case: its native method and the one that called it.
    fn skipped(self) -> usize {
        if matches!(self, FramesToSkip::Method | FramesToSkip::Wait) { 0 } else { 2 }
    }

    /// Frames asked for beyond those wanted; `Object.<init>` and two more constructors are the rule. Each frame costs, so
    /// what is rarer is asked for in a second try.
    fn extra(self) -> usize {
        match self {
            FramesToSkip::Constructors => 3,
            // Arrays of primitives come by way of one more method of HeapProxy.
            FramesToSkip::Hook => 1,
            // A native method.
            FramesToSkip::Method => 1,
            FramesToSkip::Wait => 3,
            FramesToSkip::Park => 8,
        }
    }
}

/// So many frames of MartiniParking may be on top of a thread that parks.
const PARKING_FRAMES: usize = 4;
/// The bytecode index of a native method.
const NATIVE: i64 = -1;
/// A deeper chain of constructors than this ends the search for the site.
const MOST_FRAMES: usize = 1024;
/// Stands for a stack whose beginning alone does not reach the site.
const DEEPER: StackIndex = StackIndex(u32::MAX);

/// What walking needs.
pub(crate) struct Tables<'t> {
    pub(crate) env: Env,
    pub(crate) classes: &'t Classes,
    pub(crate) methods: &'t Methods,
    pub(crate) stacks: &'t Stacks,
    pub(crate) reader: StackReader<'t>,
}

impl Tables<'_> {
    /// The method of a frame.
    ///
    /// # Safety
    /// `id` is that of a method that the VM gave.
    unsafe fn method(&self, id: usize) -> jvmti::Result<MethodIndex> {
        // SAFETY: by the caller's promise.
        unsafe { self.methods.resolve(self.reader.jni, id as jmethodID, self.classes) }
    }
}

impl StackWalker {
    /// A walker that keeps that many frames.
    pub(crate) fn new(depth: usize) -> StackWalker {
        StackWalker {
            depth,
            raw: Vec::new(),
            seen: FxHashMap::default(),
            key: Vec::new(),
            cache: StackCache::default(),
        }
    }

    /// The stack of the current thread.
    pub(crate) fn walk(&mut self, top: FramesToSkip, tables: &Tables<'_>) -> jvmti::Result<StackIndex> {
        // A frame of the VM's may stand for none of Java's.
        let most = top.skipped() + self.room(top) + 2;
        let was = match self.cache.look_up(top as u64, most, tables.reader) {
            Lookup::Hit(index) => return Ok(index),
            Lookup::Uncacheable => return Ok(self.ask(top, tables, true)?.0),
            Lookup::Miss(was) => was,
        };
        let (index, room) = self.ask(top, tables, false)?;
        // Otherwise frames counted that the addresses do not reach.
        if room == self.room(top) || was.is_some() {
            self.cache.insert(index, was, tables.reader);
        }
        Ok(index)
    }

    /// Frames that are read at first.
    fn room(&self, top: FramesToSkip) -> usize {
        self.depth + top.extra()
    }

    /// The stack of the current thread, by asking the VM, and how many frames had to be read.
    fn ask(&mut self, top: FramesToSkip, tables: &Tables<'_>, remember: bool) -> jvmti::Result<(StackIndex, usize)> {
        let mut room = self.room(top);
        loop {
            let cut_off = self.read(top.skipped(), room, tables)?;
            let seen = self.seen.get(self.key.as_slice()).copied();
            if let Some(known) = seen.filter(|&known| known != DEEPER) {
                return Ok((known, room));
            }
            // A stack that is too short for this room may be complete in the next, with the same key.
            let frames = if seen.is_none() || !cut_off { self.resolve(top, tables)? } else { Vec::new() };
            if frames.len() < self.depth && cut_off && room < MOST_FRAMES {
                self.note(DEEPER);
                room *= 4;
                continue;
            }
            let index = if frames.is_empty() { StackIndex::default() } else { tables.stacks.intern(&frames) };
            if remember {
                self.note(index);
            }
            return Ok((index, room));
        }
    }

    /// The stack of another thread, from its innermost frame on that is not MartiniParking's; that thread stops for it.
    ///
    /// # Safety
    /// `thread` is a live reference to a thread.
    pub(crate) unsafe fn walk_other(&mut self, thread: jobject, tables: &Tables<'_>) -> jvmti::Result<StackIndex> {
        self.raw.resize(self.depth + PARKING_FRAMES, jvmtiFrameInfo::default());
        // SAFETY: by the caller's promise.
        let frames = unsafe { tables.env.get_stack_trace(thread, 0, &mut self.raw) }?;
        self.key.clear();
        self.key.extend(frames.iter().map(|f| (f.method as usize, f.location)));
        if let Some(&known) = self.seen.get(self.key.as_slice()) {
            return Ok(known);
        }
        let mut locations = Vec::with_capacity(self.key.len());
        for &(method, location) in &self.key {
            // SAFETY: the id comes from a frame; if its class is gone by now the VM calls it an error.
            let index = unsafe { tables.method(method) }?;
            let Some(record) = tables.methods.get(index) else { continue };
            let is_helper = || tables.classes.get(record.class).is_some_and(|c| is_helper_frame(&c.name));
            if locations.is_empty() && is_helper() {
                continue;
            }
            locations.push(CodeLocation { method: index, line: record.line(location) });
            if locations.len() == self.depth {
                break;
            }
        }
        let index = if locations.is_empty() { StackIndex::default() } else { tables.stacks.intern(&locations) };
        self.note(index);
        Ok(index)
    }

    /// What `self.key` is, from now on.
    fn note(&mut self, index: StackIndex) {
        let bytes = BYTES_OF_ENTRY + size_of_val(self.key.as_slice());
        if self.seen.len() * bytes >= self.cache.room() {
            self.seen = FxHashMap::default();
        }
        self.seen.insert(self.key.as_slice().into(), index);
    }

    /// Reads so many frames behind those skipped into `self.key`; true if there may be more.
    fn read(&mut self, skipped: usize, room: usize, tables: &Tables<'_>) -> jvmti::Result<bool> {
        self.key.clear();
        self.raw.resize(room, jvmtiFrameInfo::default());
        // SAFETY: null is the current thread.
        let frames = unsafe { tables.env.get_stack_trace(std::ptr::null_mut(), skipped as i32, &mut self.raw) }?;
        self.key.extend(frames.iter().map(|f| (f.method as usize, f.location)));
        Ok(frames.len() == room)
    }

    /// The wanted frames of `self.key`: those from the allocation site on.
    fn resolve(&self, top: FramesToSkip, tables: &Tables<'_>) -> jvmti::Result<Vec<CodeLocation>> {
        let mut frames = Vec::with_capacity(self.depth);
        // In front of the site come HeapProxy, then Object.<init>, then constructors that delegated to it.
        let mut in_proxy = matches!(top, FramesToSkip::Constructors | FramesToSkip::Hook | FramesToSkip::Park);
        let mut in_parking = top == FramesToSkip::Park;
        let mut in_constructors = top == FramesToSkip::Constructors;
        for &(method, location) in &self.key {
            // SAFETY: the id comes from a frame that is on the stack right now, so its class is alive.
            let index = unsafe { tables.method(method) }?;
            let Some(record) = tables.methods.get(index) else { continue };
            if frames.is_empty() && !in_proxy && location <= NATIVE {
                continue;
            }
            if in_proxy {
                let class = tables.classes.get(record.class);
                if class.is_some_and(|c| is_helper_frame(&c.name)) {
                    continue;
                }
                in_proxy = false;
                if in_constructors {
                    // This one is Object.<init>.
                    continue;
                }
            }
            if in_constructors && record.delegates_at(location) {
                continue;
            }
            in_constructors = false;
            let is_in =
                |belongs: &dyn Fn(&str) -> bool| tables.classes.get(record.class).is_some_and(|c| belongs(&c.name));
            if top == FramesToSkip::Wait && frames.is_empty() && is_in(&|class| class == "java.lang.Object") {
                continue;
            }
            if in_parking {
                // Of these only the outermost is kept, which the program calls.
                in_parking = is_in(&is_parking);
                if in_parking {
                    frames.clear();
                }
            }
            frames.push(CodeLocation { method: index, line: record.line(location) });
            if frames.len() == self.depth && !in_parking || is_bottom(record, tables) {
                break;
            }
        }
        Ok(frames)
    }
}
