//! From the VM's frames to a stack of the program.
//!
//! The VM gives method and bytecode index per frame (`GetStackTrace`). A thread keeps the stacks that it has seen, so that
//! names and lines are looked up once per stack, not once per object; and it identifies most of them by their return addresses
//! (`cache`), so that it rarely asks the VM.
//!
//! The site is the innermost frame that runs bytecode. A native method that allocates (`Object.clone`) is passed over: when
//! it is compiled, its caller does the work and it is not on the stack at all.

use jvmti::Env;
use jvmti::jni_sys::{jmethodID, jobject};
use jvmti::sys::jvmtiFrameInfo;
use rustc_hash::FxHashMap;

use super::Stacks;
use super::cache::{BYTES_OF_ENTRY, Lookup, StackCache, StackReader};
use agent_base::helpers::is_helper_frame;
use agent_base::ids::{CodeLocation, MethodIndex, StackIndex};
use agent_base::tables::classes::Classes;
use agent_base::tables::methods::{MethodRecord, Methods};
use hotspot::comparisons::Mismatch;

/// Which frames at the top of a stack are not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FramesToSkip {
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
    /// MartiniSleep, and the methods of threads that sleep.
    Sleep,
}

/// Whether a method of that class is a detail of how `java.util.concurrent` waits, unless the program calls it.
fn is_parking(class: &str) -> bool {
    class.starts_with("java.util.concurrent.locks.") || class == "java.util.concurrent.ForkJoinPool"
}

/// Whether a virtual thread begins in this method. The frames below it are its carrier's, and the VM shows them in some
/// cases only.
fn is_bottom(record: &MethodRecord, tables: &Tables<'_>) -> bool {
    record.name == "enter" && tables.classes.get(record.class).is_some_and(|c| c.name == "jdk.internal.vm.Continuation")
}

type RawFrame = (usize, i64);

/// One thread's view of the stacks: buffers, and what it has seen already.
pub struct StackWalker {
    /// Frames wanted; at least 1.
    depth: usize,
    raw: Vec<jvmtiFrameInfo>,
    seen: FxHashMap<Box<[RawFrame]>, StackIndex>,
    /// In which epoch of redefined classes they were seen.
    seen_in: u64,
    key: Vec<RawFrame>,
    cache: StackCache<StackIndex>,
}

/// What a frame belongs to, from the innermost one on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StackPart {
    /// A helper class.
    Helper,
    /// Constructors of the object that call another one for it.
    Constructors,
    /// The methods of `Object` that wait.
    WaitMethods,
    /// What parks on behalf of a lock or queue.
    Parking,
    /// The methods of threads that sleep.
    Sleeping,
    /// The program.
    Program,
}

impl FramesToSkip {
    fn first_part(self) -> StackPart {
        match self {
            FramesToSkip::Constructors | FramesToSkip::Hook | FramesToSkip::Park | FramesToSkip::Sleep => {
                StackPart::Helper
            }
            FramesToSkip::Method => StackPart::Program,
            FramesToSkip::Wait => StackPart::WaitMethods,
        }
    }

    fn part_behind_helper(self) -> StackPart {
        match self {
            FramesToSkip::Constructors => StackPart::Constructors,
            FramesToSkip::Park => StackPart::Parking,
            FramesToSkip::Sleep => StackPart::Sleeping,
            FramesToSkip::Hook | FramesToSkip::Method | FramesToSkip::Wait => StackPart::Program,
        }
    }

    /// Frames that are HeapProxy's in each case: its native method and the caller of that.
    fn skipped(self) -> usize {
        if matches!(self, FramesToSkip::Method | FramesToSkip::Wait | FramesToSkip::Sleep) { 0 } else { 2 }
    }

    /// Frames asked for beyond those wanted; `Object.<init>` and two more constructors are usual. Each frame costs time, so
    /// more are asked for in a second try only.
    fn extra(self) -> usize {
        match self {
            FramesToSkip::Constructors => 3,
            // Arrays of primitives pass through one more method of HeapProxy.
            FramesToSkip::Hook => 1,
            // A native method.
            FramesToSkip::Method => 1,
            FramesToSkip::Wait => 3,
            FramesToSkip::Park => 8,
            // Those of MartiniSleep, and three of threads.
            FramesToSkip::Sleep => 5,
        }
    }
}

/// So many frames of MartiniParking may be on top of a thread that parks.
const PARKING_FRAMES: usize = 4;
/// The bytecode index of a native method.
const NATIVE: i64 = -1;
/// A deeper chain of constructors than this ends the search for the site.
const MAX_FRAMES: usize = 1024;
/// So many frames are asked for in the first try: nearly all stacks end within them.
const USUAL_FRAMES: usize = 64;
/// Means that these frames do not reach the site, and more are needed.
const DEEPER: StackIndex = StackIndex(u32::MAX);

/// What walking needs.
pub struct Tables<'t> {
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

    /// Whether two stacks say the same of where the thread is.
    fn are_alike(&self, one: StackIndex, other: StackIndex) -> bool {
        let frames = |stack| self.stacks.get(stack).map_or(&[][..], |record| &record.frames);
        let (ones, others) = (frames(one), frames(other));
        let are_alike = |(&one, &other)| self.methods.are_alike(one, other);
        one == other || ones.len() == others.len() && ones.iter().zip(others).all(are_alike)
    }

    /// Whether the ids of these frames' methods will not be those of other versions before the next epoch.
    fn are_settled(&self, frames: &[CodeLocation]) -> bool {
        let is_settled = |record: &MethodRecord| !self.methods.redefined.contains(record.class);
        frames.iter().all(|frame| self.methods.get(frame.method).is_none_or(is_settled))
    }
}

impl StackWalker {
    /// A walker that keeps that many frames.
    pub fn new(depth: usize) -> StackWalker {
        StackWalker {
            depth,
            raw: Vec::new(),
            seen: FxHashMap::default(),
            seen_in: 0,
            key: Vec::new(),
            cache: StackCache::default(),
        }
    }

    /// The stack of the current thread.
    ///
    /// # Errors
    /// A JVMTI call fails.
    pub fn walk(&mut self, skip: FramesToSkip, tables: &Tables<'_>) -> jvmti::Result<StackIndex> {
        // Two more, since some frames of the VM have no Java method.
        let max_frames = skip.skipped() + self.room(skip) + 2;
        let cached = match self.cache.look_up(skip as u64, max_frames, tables.reader) {
            Lookup::Hit(index) => return Ok(index),
            Lookup::Uncacheable => return Ok(self.walk_by_vm(skip, tables, true)?.0),
            Lookup::Miss(cached) => cached,
        };
        let (index, room) = self.walk_by_vm(skip, tables, false)?;
        let other = cached.filter(|&cached| !tables.are_alike(cached, index));
        // With more room the result depends on frames whose addresses are not in the key.
        if room <= self.room(skip) || cached.is_some() {
            self.cache.insert(index, cached.map(|_| other.is_none()), tables.reader);
        }
        if let Some((cached, layout)) = other.zip(tables.reader.layout) {
            layout.comparisons.keep(Mismatch { cached, found: index });
        }
        Ok(index)
    }

    /// Number of frames that are enough for nearly every stack of the wanted depth.
    fn room(&self, skip: FramesToSkip) -> usize {
        self.depth + skip.extra()
    }

    /// The stack of the current thread, by asking the VM, and how many frames had to be read.
    fn walk_by_vm(
        &mut self,
        skip: FramesToSkip,
        tables: &Tables<'_>,
        remember: bool,
    ) -> jvmti::Result<(StackIndex, usize)> {
        let mut room = self.room(skip).min(USUAL_FRAMES + skip.extra());
        loop {
            let cut_off = self.read(skip.skipped(), room, tables)?;
            let seen = self.seen_before(tables);
            if let Some(known) = seen.filter(|&known| known != DEEPER) {
                return Ok((known, room));
            }
            // A key that is marked DEEPER can also be that of a complete stack, if the stack was not cut off.
            let frames = if seen.is_none() || !cut_off { self.resolve(skip, tables)? } else { Vec::new() };
            if frames.len() < self.depth && cut_off && room < MAX_FRAMES {
                self.remember(DEEPER);
                room = if room < self.room(skip) { self.room(skip) } else { room * 4 };
                continue;
            }
            let index = if frames.is_empty() { StackIndex::default() } else { tables.stacks.intern(&frames) };
            if remember && tables.are_settled(&frames) {
                self.remember(index);
            }
            return Ok((index, room));
        }
    }

    /// The stack of another thread, from its innermost frame on that is not MartiniParking's; that thread stops for it.
    ///
    /// # Errors
    /// A JVMTI call fails.
    ///
    /// # Safety
    /// `thread` is a live reference to a thread.
    pub unsafe fn walk_other(&mut self, thread: jobject, tables: &Tables<'_>) -> jvmti::Result<StackIndex> {
        // SAFETY: by the caller's promise.
        if let Some(known) = unsafe { self.read_other(thread, PARKING_FRAMES, tables) }? {
            return Ok(known);
        }
        let mut locations = Vec::with_capacity(self.key.len());
        for &(method, location) in &self.key {
            // SAFETY: the id comes from a frame; if its class has been unloaded meanwhile, the VM returns an error.
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
        Ok(self.intern(&locations, tables))
    }

    /// The stack of another thread that is parked, as that thread would see it itself; that thread stops for it. A walker does either this
    /// or `walk_other`.
    ///
    /// # Errors
    /// A JVMTI call fails.
    ///
    /// # Safety
    /// `thread` is a live reference to a thread.
    pub unsafe fn walk_parked(&mut self, thread: jobject, tables: &Tables<'_>) -> jvmti::Result<StackIndex> {
        // SAFETY: by the caller's promise.
        if let Some(known) = unsafe { self.read_other(thread, FramesToSkip::Park.extra(), tables) }? {
            return Ok(known);
        }
        let locations = self.resolve(FramesToSkip::Park, tables)?;
        Ok(self.intern(&locations, tables))
    }

    /// Reads the frames of another thread, so many more than are wanted, into `self.key`. Its stack, if it was seen before.
    ///
    /// # Errors
    /// A JVMTI call fails.
    ///
    /// # Safety
    /// `thread` is a live reference to a thread.
    unsafe fn read_other(
        &mut self,
        thread: jobject,
        extra: usize,
        tables: &Tables<'_>,
    ) -> jvmti::Result<Option<StackIndex>> {
        self.raw.resize(self.depth + extra, jvmtiFrameInfo::default());
        // SAFETY: by the caller's promise.
        let frames = unsafe { tables.env.get_stack_trace(thread, 0, &mut self.raw) }?;
        self.key.clear();
        self.key.extend(frames.iter().map(|f| (f.method as usize, f.location)));
        Ok(self.seen_before(tables))
    }

    /// The stack of these frames, which is that of `self.key`.
    fn intern(&mut self, locations: &[CodeLocation], tables: &Tables<'_>) -> StackIndex {
        let index = if locations.is_empty() { StackIndex::default() } else { tables.stacks.intern(locations) };
        if tables.are_settled(locations) {
            self.remember(index);
        }
        index
    }

    /// The stack of `self.key`, if it was seen before and its methods are the same.
    fn seen_before(&mut self, tables: &Tables<'_>) -> Option<StackIndex> {
        if self.seen_in != tables.reader.epoch {
            self.seen = FxHashMap::default();
            self.seen_in = tables.reader.epoch;
        }
        self.seen.get(self.key.as_slice()).copied()
    }

    /// Keeps the stack of `self.key`.
    fn remember(&mut self, index: StackIndex) {
        let bytes = BYTES_OF_ENTRY + size_of_val(self.key.as_slice());
        if self.seen.len() * bytes >= self.cache.budget_bytes() {
            self.seen = FxHashMap::default();
        }
        self.seen.insert(self.key.as_slice().into(), index);
    }

    /// Reads so many frames after the skipped ones into `self.key`; true if there may be more.
    fn read(&mut self, skipped: usize, room: usize, tables: &Tables<'_>) -> jvmti::Result<bool> {
        self.key.clear();
        self.raw.resize(room, jvmtiFrameInfo::default());
        // SAFETY: null is the current thread.
        let frames = unsafe { tables.env.get_stack_trace(std::ptr::null_mut(), skipped as i32, &mut self.raw) }?;
        self.key.extend(frames.iter().map(|f| (f.method as usize, f.location)));
        Ok(frames.len() == room)
    }

    /// The wanted frames of `self.key`: those from the allocation site on.
    fn resolve(&self, skip: FramesToSkip, tables: &Tables<'_>) -> jvmti::Result<Vec<CodeLocation>> {
        let mut frames = Vec::with_capacity(self.depth.min(self.key.len()));
        let mut part = skip.first_part();
        for &(method, location) in &self.key {
            // SAFETY: the id comes from a frame; if that is another thread's, and its class has been unloaded meanwhile, the VM returns
            // an error.
            let index = unsafe { tables.method(method) }?;
            let Some(record) = tables.methods.get(index) else { continue };
            let class = tables.classes.get(record.class).map_or("", |class| &class.name);
            if part == StackPart::Helper {
                if is_helper_frame(class) {
                    continue;
                }
                part = skip.part_behind_helper();
                if part == StackPart::Constructors {
                    // This one is Object.<init>.
                    continue;
                }
            }
            if frames.is_empty() && location <= NATIVE {
                continue;
            }
            part = match part {
                StackPart::Constructors if record.delegates_at(location) => continue,
                StackPart::WaitMethods if class == "java.lang.Object" => continue,
                StackPart::Sleeping if matches!(class, "java.lang.Thread" | "java.lang.VirtualThread") => {
                    continue;
                }
                StackPart::Parking if is_parking(class) => {
                    // Of these only the outermost is kept, which the program calls.
                    frames.clear();
                    StackPart::Parking
                }
                _ => StackPart::Program,
            };
            frames.push(CodeLocation { method: index, line: record.line(location) });
            if frames.len() == self.depth && part != StackPart::Parking || is_bottom(record, tables) {
                break;
            }
        }
        Ok(frames)
    }
}
