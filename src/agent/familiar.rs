//! What a thread has found out about its stacks, so that it need not ask the VM again where it has been before.

use rustc_hash::FxHashMap;

use super::Agent;
use super::clock::Ticks;
use super::code_cache::{Code, Pc};
use super::return_addresses::{Lasting, Layout, Places};
use super::share::Share;
use jvmti::Jni;

/// One in so many stacks that are known is asked for all the same.
const CHECK_EVERY: u32 = 4096;
/// What an entry of a map takes beside the key that it points to, roughly: half of a map is empty.
pub(crate) const BYTES_OF_ENTRY: usize = 64;
/// The same of an address, of which a thread remembers a quarter of what it may.
const BYTES_OF_PLACE: usize = 2 * (size_of::<Pc>() + size_of::<Code>());

/// One thread's answers to a question about its innermost frames, by the return addresses that tell these frames.
pub(crate) struct Familiar<T> {
    known: FxHashMap<Box<[u64]>, T>,
    key: Vec<u64>,
    places: Places,
    hits: u32,
    /// What `known` takes, roughly.
    bytes: usize,
    share: Share,
}

/// How return addresses are read.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'r> {
    pub(crate) jni: Jni,
    /// None where frames do not lie as we know it.
    pub(crate) layout: Option<&'r Layout>,
    /// When the last collection ended.
    pub(crate) generation: Ticks,
}

/// What is known of the current stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer<T> {
    Known(T),
    /// Ask the VM, and then [`Familiar::learn`]. What is known already shall be compared.
    Ask(Option<T>),
    /// This stack cannot be told from others.
    Untold,
}

impl<T> Default for Familiar<T> {
    fn default() -> Self {
        Familiar {
            known: FxHashMap::default(),
            key: Vec::new(),
            places: Places::default(),
            hits: 0,
            bytes: 0,
            share: Share::default(),
        }
    }
}

impl<T: Copy + PartialEq> Familiar<T> {
    /// What is known of the current thread's innermost `most` frames, asked in the sense of `question`. The thread is in native
    /// code that Java code or the VM called.
    pub(crate) fn recall(&mut self, question: u64, most: usize, reading: Reading<'_>) -> Answer<T> {
        let Some(layout) = reading.layout else { return Answer::Untold };
        self.key.clear();
        self.key.push(question);
        match layout.read(reading.jni, most, &mut self.places, &mut self.key) {
            Some(Lasting::ForEver) => {}
            Some(Lasting::UntilCollection) => self.key.push(reading.generation.0),
            None => {
                self.bound_places();
                return Answer::Untold;
            }
        }
        let Some(&known) = self.known.get(self.key.as_slice()) else {
            self.bound_places();
            return Answer::Ask(None);
        };
        self.hits = self.hits.wrapping_add(1);
        if self.hits.is_multiple_of(CHECK_EVERY) { Answer::Ask(Some(known)) } else { Answer::Known(known) }
    }

    /// What the VM said of the stack that was asked for last, where it was known to be `was`.
    pub(crate) fn learn(&mut self, answer: T, was: Option<T>, reading: Reading<'_>) {
        if let Some(layout) = reading.layout.filter(|_| was.is_some_and(|was| was != answer)) {
            layout.was_mistaken();
        }
        if self.bytes >= self.share.bytes() {
            self.known = FxHashMap::default();
            self.bytes = 0;
        }
        if self.known.insert(self.key.as_slice().into(), answer).is_none() {
            self.bytes += BYTES_OF_ENTRY + size_of_val(self.key.as_slice());
        }
    }

    /// Only where a stack was not known: those that are bring no new addresses.
    fn bound_places(&mut self) {
        if self.places.len() >= self.share.bytes() / BYTES_OF_PLACE / 4 {
            self.places = Places::default();
        }
    }

    /// Bytes that a thread may take to remember whatever else it is told of stacks.
    pub(crate) fn room(&mut self) -> usize {
        self.share.bytes()
    }
}

impl Agent {
    /// How the current thread reads return addresses.
    pub(crate) fn reading(&self, jni: Jni) -> Reading<'_> {
        Reading { jni, layout: self.return_addresses.get().and_then(Option::as_ref), generation: self.gc.generation() }
    }
}
