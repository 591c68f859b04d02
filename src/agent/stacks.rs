//! Where objects are allocated: call stacks, each kept once.
//!
//! The VM gives method and bytecode index per frame (`GetStackTrace`). A thread remembers the stacks it has seen, so that names
//! and lines are looked up once per stack, not once per object; and it knows most of them again by their return addresses
//! (`familiar`), so that the VM is hardly asked.
//!
//! The site is the innermost frame that runs bytecode. A native method that allocates (`Object.clone`) is passed over: when
//! it is compiled, its caller does the work and it is not on the stack at all.

use std::sync::{Mutex, PoisonError};

use jvmti::Env;
use jvmti::jni_sys::{jmethodID, jobject};
use jvmti::sys::jvmtiFrameInfo;
use rustc_hash::FxHashMap;
use trace::ids::StackId;

use super::classes::{Classes, Surroundings};
use super::familiar::{Answer, BYTES_OF_ENTRY, Familiar, Reading};
use super::methods::{MethodIndex, MethodRecord, Methods};
use super::table::Table;
use super::waits;

/// Number of a stack in [`Stacks`], counted from 1; 0 is "none".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct StackIndex(pub(crate) u32);

/// A method and a line in it; 0 if unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Site {
    pub(crate) method: MethodIndex,
    pub(crate) line: u32,
}

/// A call stack, innermost frame first; never empty.
#[derive(Debug)]
pub(crate) struct StackRecord {
    pub(crate) id: StackId,
    pub(crate) frames: Box<[Site]>,
}

/// All stacks met so far.
pub(crate) struct Stacks {
    table: Table<StackRecord>,
    by_frames: Mutex<FxHashMap<Box<[Site]>, StackIndex>>,
}

impl Stacks {
    pub(crate) fn new() -> Stacks {
        Stacks { table: Table::new(), by_frames: Mutex::default() }
    }

    /// The stack of that number, if it is not "none".
    pub(crate) fn get(&self, index: StackIndex) -> Option<&StackRecord> {
        self.table.get(index.0.checked_sub(1)?)
    }

    fn intern(&self, frames: &[Site], around: &impl Surroundings) -> StackIndex {
        let mut by_frames = self.by_frames.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&known) = by_frames.get(frames) {
            return known;
        }
        let record = |_| StackRecord { id: StackId(around.new_id()), frames: frames.into() };
        let index = StackIndex(self.table.push_with(record) + 1);
        by_frames.insert(frames.into(), index);
        index
    }
}

/// What the stack of an event begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Top {
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
fn is_bottom<S: Surroundings>(record: &MethodRecord, tables: &Tables<'_, S>) -> bool {
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
    familiar: Familiar<StackIndex>,
}

impl Top {
    /// Frames that are HeapProxy's in any case: its native method and the one that called it.
    fn skipped(self) -> usize {
        if matches!(self, Top::Method | Top::Wait) { 0 } else { 2 }
    }

    /// Frames asked for beyond those wanted; `Object.<init>` and two more constructors are the rule. Each frame costs, so
    /// what is rarer is asked for in a second try.
    fn extra(self) -> usize {
        match self {
            Top::Constructors => 3,
            // Arrays of primitives come by way of one more method of HeapProxy.
            Top::Hook => 1,
            // A native method.
            Top::Method => 1,
            Top::Wait => 3,
            Top::Park => 8,
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
pub(crate) struct Tables<'t, S> {
    pub(crate) env: Env,
    pub(crate) classes: &'t Classes,
    pub(crate) methods: &'t Methods,
    pub(crate) stacks: &'t Stacks,
    pub(crate) around: &'t S,
    pub(crate) reading: Reading<'t>,
}

impl<S: Surroundings> Tables<'_, S> {
    /// The method of a frame.
    ///
    /// # Safety
    /// `id` is that of a method that the VM gave.
    unsafe fn method(&self, id: usize) -> jvmti::Result<MethodIndex> {
        // SAFETY: by the caller's promise.
        unsafe { self.methods.resolve(self.env, self.reading.jni, id as jmethodID, self.classes, self.around) }
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
            familiar: Familiar::default(),
        }
    }

    /// The stack of the current thread.
    pub(crate) fn walk<S: Surroundings>(&mut self, top: Top, tables: &Tables<'_, S>) -> jvmti::Result<StackIndex> {
        // A frame of the VM's may stand for none of Java's.
        let most = top.skipped() + self.room(top) + 2;
        let was = match self.familiar.recall(top as u64, most, tables.reading) {
            Answer::Known(index) => return Ok(index),
            Answer::Untold => return Ok(self.ask(top, tables, true)?.0),
            Answer::Ask(was) => was,
        };
        let (index, room) = self.ask(top, tables, false)?;
        // Otherwise frames counted that the addresses do not reach.
        if room == self.room(top) || was.is_some() {
            self.familiar.learn(index, was, tables.reading);
        }
        Ok(index)
    }

    /// Frames that are read at first.
    fn room(&self, top: Top) -> usize {
        self.depth + top.extra()
    }

    /// The stack of the current thread, by asking the VM, and how many frames had to be read.
    fn ask<S: Surroundings>(
        &mut self,
        top: Top,
        tables: &Tables<'_, S>,
        remember: bool,
    ) -> jvmti::Result<(StackIndex, usize)> {
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
            let index =
                if frames.is_empty() { StackIndex::default() } else { tables.stacks.intern(&frames, tables.around) };
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
    pub(crate) unsafe fn walk_other<S: Surroundings>(
        &mut self,
        thread: jobject,
        tables: &Tables<'_, S>,
    ) -> jvmti::Result<StackIndex> {
        self.raw.resize(self.depth + PARKING_FRAMES, jvmtiFrameInfo::default());
        // SAFETY: by the caller's promise.
        let frames = unsafe { tables.env.get_stack_trace(thread, 0, &mut self.raw) }?;
        self.key.clear();
        self.key.extend(frames.iter().map(|f| (f.method as usize, f.location)));
        if let Some(&known) = self.seen.get(self.key.as_slice()) {
            return Ok(known);
        }
        let mut sites = Vec::with_capacity(self.key.len());
        for &(method, location) in &self.key {
            // SAFETY: the id comes from a frame; if its class is gone by now the VM calls it an error.
            let index = unsafe { tables.method(method) }?;
            let Some(record) = tables.methods.get(index) else { continue };
            let is_parking = || tables.classes.get(record.class).is_some_and(|c| c.name == waits::DOTTED_NAME);
            if sites.is_empty() && is_parking() {
                continue;
            }
            sites.push(Site { method: index, line: record.line(location) });
            if sites.len() == self.depth {
                break;
            }
        }
        let index = if sites.is_empty() { StackIndex::default() } else { tables.stacks.intern(&sites, tables.around) };
        self.note(index);
        Ok(index)
    }

    /// What `self.key` is, from now on.
    fn note(&mut self, index: StackIndex) {
        let bytes = BYTES_OF_ENTRY + size_of_val(self.key.as_slice());
        if self.seen.len() * bytes >= self.familiar.room() {
            self.seen = FxHashMap::default();
        }
        self.seen.insert(self.key.as_slice().into(), index);
    }

    /// Reads so many frames behind those skipped into `self.key`; true if there may be more.
    fn read<S: Surroundings>(&mut self, skipped: usize, room: usize, tables: &Tables<'_, S>) -> jvmti::Result<bool> {
        self.key.clear();
        self.raw.resize(room, jvmtiFrameInfo::default());
        // SAFETY: null is the current thread.
        let frames = unsafe { tables.env.get_stack_trace(std::ptr::null_mut(), skipped as i32, &mut self.raw) }?;
        self.key.extend(frames.iter().map(|f| (f.method as usize, f.location)));
        Ok(frames.len() == room)
    }

    /// The wanted frames of `self.key`: those from the allocation site on.
    fn resolve<S: Surroundings>(&self, top: Top, tables: &Tables<'_, S>) -> jvmti::Result<Vec<Site>> {
        let mut frames = Vec::with_capacity(self.depth);
        // In front of the site come HeapProxy, then Object.<init>, then constructors that delegated to it.
        let mut in_proxy = matches!(top, Top::Constructors | Top::Hook | Top::Park);
        let mut in_parking = top == Top::Park;
        let mut in_constructors = top == Top::Constructors;
        for &(method, location) in &self.key {
            // SAFETY: the id comes from a frame that is on the stack right now, so its class is alive.
            let index = unsafe { tables.method(method) }?;
            let Some(record) = tables.methods.get(index) else { continue };
            if frames.is_empty() && !in_proxy && location <= NATIVE {
                continue;
            }
            if in_proxy {
                let class = tables.classes.get(record.class);
                if class.is_some_and(|c| [super::proxy::DOTTED_NAME, waits::DOTTED_NAME].contains(&c.name.as_str())) {
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
            if top == Top::Wait && frames.is_empty() && is_in(&|class| class == "java.lang.Object") {
                continue;
            }
            if in_parking {
                // Of these only the outermost is kept, which the program calls.
                in_parking = is_in(&is_parking);
                if in_parking {
                    frames.clear();
                }
            }
            frames.push(Site { method: index, line: record.line(location) });
            if frames.len() == self.depth && !in_parking || is_bottom(record, tables) {
                break;
            }
        }
        Ok(frames)
    }
}
