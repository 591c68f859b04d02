//! Samples, added up where they have everything in common.

use rustc_hash::FxHashMap;
use trace::model::ThreadState;
use trace::time::Nanos;

use super::TypedStack;
use crate::call_tree::Spread;
use crate::symbols::ThreadIndex;

/// More different combinations than this are added to one of their thread's without a stack.
const MAX_CELLS: usize = 1 << 20;
/// More different reasons are one.
const MAX_REASONS: usize = 64;
/// Why samples beyond have no stack.
const TOO_MANY: &str = "too many different stacks to keep";

/// Number of a function of native code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FunctionIndex(u32);

/// Number of a reason why a stack was not found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ReasonIndex(u32);

/// What samples are kept apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CellKey {
    /// The platform thread.
    pub(super) thread: ThreadIndex,
    /// The virtual thread that it carried.
    pub(super) virtual_thread: Option<ThreadIndex>,
    pub(super) stack: Option<TypedStack>,
    /// What ran on top of it.
    pub(super) function: Option<FunctionIndex>,
    pub(super) is_kernel: bool,
    /// Why there is no stack.
    pub(super) lost: Option<ReasonIndex>,
    /// Of samples of the time.
    pub(super) state: Option<ThreadState>,
}

/// A number of samples, and for how long they stand.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Weight {
    pub(super) samples: u64,
    pub(super) time: Nanos,
    /// Of each sample the length squared, added up, in square nanoseconds: the variance of the sum (Horvitz and Thompson, 1952), where
    /// a sample is rare.
    squares: f64,
}

impl Weight {
    pub(super) fn add(&mut self, other: &Weight) {
        self.samples = self.samples.saturating_add(other.samples);
        self.time = Nanos(self.time.0.saturating_add(other.time.0));
        self.squares += other.squares;
    }

    /// As samples that a whole is spread by.
    pub(super) fn spread(&self) -> Spread {
        Spread { samples: self.samples, weight: self.time.0 as f64, variance: self.squares }
    }
}

/// All samples.
#[derive(Clone, Debug, Default)]
pub(super) struct Samples {
    cells: FxHashMap<CellKey, Weight>,
    functions: Vec<(Box<str>, Box<str>)>,
    function_index: FxHashMap<(Box<str>, Box<str>), FunctionIndex>,
    reasons: Vec<Box<str>>,
}

impl Samples {
    /// Enters a sample; without its stack if there are too many different ones. Gives back what it is entered as.
    pub(super) fn add(&mut self, key: CellKey, length: Nanos) -> CellKey {
        let key = if self.cells.len() < MAX_CELLS || self.cells.contains_key(&key) { key } else { self.rest(key) };
        let squares = (length.0 as f64).powi(2);
        self.cells.entry(key).or_default().add(&Weight { samples: 1, time: length, squares });
        key
    }

    /// The number of a function; functions of one name and library are one.
    pub(super) fn function(&mut self, name: &str, library: &str) -> FunctionIndex {
        let function = (Box::from(name), Box::from(library));
        let new = FunctionIndex(u32::try_from(self.functions.len()).expect("fewer than 2^32 functions"));
        *self.function_index.entry(function).or_insert_with_key(|function| {
            self.functions.push(function.clone());
            new
        })
    }

    /// The number of a reason.
    pub(super) fn reason(&mut self, reason: &str) -> ReasonIndex {
        let reason = if self.reasons.len() < MAX_REASONS { reason } else { "other" };
        let at = self.reasons.iter().position(|known| **known == *reason).unwrap_or_else(|| {
            self.reasons.push(reason.into());
            self.reasons.len() - 1
        });
        ReasonIndex(at as u32)
    }

    /// Of each combination what was sampled, in an order that does not depend on chance.
    pub(super) fn cells(&self) -> Vec<(CellKey, Weight)> {
        let mut cells: Vec<(CellKey, Weight)> = self.cells.iter().map(|(&key, &weight)| (key, weight)).collect();
        cells.sort_unstable_by_key(|(key, _)| {
            let of_thread = (key.thread.rank(), key.virtual_thread.map(ThreadIndex::rank));
            let code = (key.stack.map(TypedStack::rank), key.function.map(|function| function.0), key.is_kernel);
            (of_thread, code, key.lost.map(|reason| reason.0), key.state.map(|state| state as u8))
        });
        cells
    }

    /// Name and library of a function; the library is empty if it is not known.
    pub(super) fn function_name(&self, index: FunctionIndex) -> (&str, &str) {
        let (name, library) = &self.functions[index.0 as usize];
        (name, library)
    }

    /// A reason in words.
    pub(super) fn reason_text(&self, index: ReasonIndex) -> &str {
        &self.reasons[index.0 as usize]
    }

    fn rest(&mut self, key: CellKey) -> CellKey {
        CellKey { stack: None, function: None, virtual_thread: None, lost: Some(self.reason(TOO_MANY)), ..key }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_a_hostile_trace_do_not_pile_up() {
        let mut samples = Samples::default();
        let first = samples.reason("deep");
        for number in 0..1000 {
            samples.reason(&number.to_string());
        }
        assert_eq!(samples.reasons.len(), MAX_REASONS + 1);
        let last = samples.reason("yet another");
        assert_eq!((samples.reason_text(first), samples.reason_text(last)), ("deep", "other"));
    }

    #[test]
    fn functions_of_one_name_and_library_are_one() {
        let mut samples = Samples::default();
        let copy = samples.function("memcpy", "libc.so.6");
        assert_eq!(samples.function("memcpy", "libc.so.6"), copy);
        assert_ne!(samples.function("memcpy", "libjvm.so"), copy);
        assert_eq!(samples.function_name(copy), ("memcpy", "libc.so.6"));
    }
}
