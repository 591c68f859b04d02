//! The methods that were on stacks, with their names: a table that signal handlers of all threads fill without locks.
//!
//! A method is found by its address; since another one may come to lie there once its class has gone, the addresses of its constant
//! part and names have to be the same too, and the numbers that the VM has drawn for these texts and their lengths. Names are copied once, into memory that never moves; what is full stays full. Two
//! threads that meet a method at the same time may give it two numbers.

use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use super::MethodNames;
use super::error::WalkError;
use super::frame::MethodNumber;
use super::method::{MAX_SOURCE_NAME, Symbol, VmMethod};
use agent_base::signals::SafeLoads;

/// Places in the table: a power of two. 4 MiB, of which the kernel provides what is used.
const SLOTS: usize = 1 << 16;
/// Bytes for all names, also provided as they are used.
const TEXT_BYTES: usize = 12 << 20;
/// So many places are tried.
const PROBES: usize = 64;

const FREE: u8 = 0;
const BUSY: u8 = 1;
const READY: u8 = 2;

/// A place in the table. All zeros: free.
struct Slot {
    method: AtomicUsize,
    constant: AtomicUsize,
    class_name: AtomicUsize,
    name: AtomicUsize,
    signature: AtomicUsize,
    /// The numbers of its texts, 16 bits each: class, name, signature.
    hashes: AtomicU64,
    /// Their lengths, and what else is known of it.
    lengths: AtomicU64,
    /// Where they begin in the memory for names.
    text: AtomicU32,
    state: AtomicU8,
}

/// Set in `lengths`: the frames of a virtual thread end in front of this one.
const IS_BOTTOM: u64 = 1 << 63;
/// Bits of `lengths` with that of the source file's name, which no other method's name depends on.
const SOURCE: u64 = (MAX_SOURCE_NAME as u64) << SOURCE_SHIFT;
const SOURCE_SHIFT: u32 = 48;

/// All methods that were met.
pub(super) struct Methods {
    slots: Box<[Slot]>,
    text: Box<[AtomicU8]>,
    used_text: AtomicU32,
}

/// A method's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) number: MethodNumber,
    /// It is the VM's method below which the frames are those of the carrier of a virtual thread.
    pub(super) is_bottom: bool,
}

/// A slice of zeros that takes memory only where it is written.
fn zeros<T>(length: usize) -> Box<[T]> {
    let layout = Layout::array::<T>(length).expect("a table of a few MiB");
    // SAFETY: the layout is not empty; the types used here are made of atomic integers, for which all zeros are a value.
    unsafe {
        let memory = alloc_zeroed(layout).cast::<T>();
        if memory.is_null() {
            handle_alloc_error(layout);
        }
        Box::from_raw(std::ptr::slice_from_raw_parts_mut(memory, length))
    }
}

impl Methods {
    pub(super) fn new() -> Methods {
        Methods { slots: zeros(SLOTS), text: zeros(TEXT_BYTES), used_text: AtomicU32::new(0) }
    }

    /// The number of a method, which has a frame on the calling thread's stack. Runs in a signal handler.
    pub(super) fn number_of(&self, loads: SafeLoads, method: &VmMethod) -> Result<Known, WalkError> {
        let first = hash(method);
        for probe in 0..PROBES {
            let index = (first + probe) % SLOTS;
            let slot = &self.slots[index];
            let is_taken = slot.state.compare_exchange(FREE, BUSY, Ordering::AcqRel, Ordering::Acquire);
            let is_bottom = match is_taken {
                Ok(_) => {
                    let lengths = self.fill(loads, slot, method);
                    slot.state.store(if lengths.is_ok() { READY } else { FREE }, Ordering::Release);
                    lengths? & IS_BOTTOM != 0
                }
                Err(READY) if slot.is(method) => slot.lengths.load(Ordering::Relaxed) & IS_BOTTOM != 0,
                Err(_) => continue,
            };
            return Ok(Known { number: MethodNumber(index as u32), is_bottom });
        }
        Err(WalkError::TableFull)
    }

    fn fill(&self, loads: SafeLoads, slot: &Slot, method: &VmMethod) -> Result<u64, WalkError> {
        let texts = || method.texts().into_iter().chain(method.source);
        let bytes = texts().map(|text| u32::from(text.length)).sum::<u32>();
        let take = |used: u32| used.checked_add(bytes).filter(|&end| end as usize <= TEXT_BYTES);
        let begin = self.used_text.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        let begin = begin.map_err(|_| WalkError::TableFull)?;
        let mut at = begin as usize;
        let source = method.source.map_or(0, |name| u64::from(name.length) << SOURCE_SHIFT);
        let lengths = method.lengths() | source | if is_enter_special(loads, method) { IS_BOTTOM } else { 0 };
        for text in texts() {
            self.copy(loads, text, at)?;
            at += usize::from(text.length);
        }
        slot.method.store(method.address, Ordering::Relaxed);
        slot.constant.store(method.constant, Ordering::Relaxed);
        slot.class_name.store(method.class_name.address, Ordering::Relaxed);
        slot.name.store(method.name.address, Ordering::Relaxed);
        slot.signature.store(method.signature.address, Ordering::Relaxed);
        slot.hashes.store(method.hashes(), Ordering::Relaxed);
        slot.text.store(begin, Ordering::Relaxed);
        slot.lengths.store(lengths, Ordering::Relaxed);
        Ok(lengths)
    }

    fn copy(&self, loads: SafeLoads, text: Symbol, to: usize) -> Result<(), WalkError> {
        for index in 0..usize::from(text.length) {
            let byte = loads.u8(text.body + index).ok_or(WalkError::Method)?;
            self.text[to + index].store(byte, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The names of a method, on any thread.
    pub(super) fn names(&self, number: MethodNumber) -> Option<MethodNames<'_>> {
        let slot = self.slots.get(number.0 as usize)?;
        if slot.state.load(Ordering::Acquire) != READY {
            return None;
        }
        let lengths = slot.lengths.load(Ordering::Relaxed);
        let mut at = slot.text.load(Ordering::Relaxed) as usize;
        let mut next = |length: u16| {
            let begin = at;
            at += usize::from(length);
            self.bytes(begin, length.into())
        };
        let length = |index: u32| (lengths >> (16 * index)) as u16;
        let source = ((lengths & SOURCE) >> SOURCE_SHIFT) as u16;
        Some(MethodNames {
            class: next(length(0))?,
            name: next(length(1))?,
            signature: next(length(2))?,
            source: next(source)?,
        })
    }

    fn bytes(&self, at: usize, length: usize) -> Option<&[u8]> {
        let bytes = self.text.get(at..at + length)?;
        // SAFETY: bytes of a method that is ready are not written any more.
        Some(unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast::<u8>(), bytes.len()) })
    }
}

impl Slot {
    fn is(&self, method: &VmMethod) -> bool {
        self.method.load(Ordering::Relaxed) == method.address
            && self.constant.load(Ordering::Relaxed) == method.constant
            && self.class_name.load(Ordering::Relaxed) == method.class_name.address
            && self.name.load(Ordering::Relaxed) == method.name.address
            && self.signature.load(Ordering::Relaxed) == method.signature.address
            && self.hashes.load(Ordering::Relaxed) == method.hashes()
            && self.lengths.load(Ordering::Relaxed) & !(IS_BOTTOM | SOURCE) == method.lengths()
    }
}

impl VmMethod {
    fn texts(&self) -> [Symbol; 3] {
        [self.class_name, self.name, self.signature]
    }

    fn hashes(&self) -> u64 {
        three(self.texts().map(|text| text.hash))
    }

    fn lengths(&self) -> u64 {
        three(self.texts().map(|text| text.length))
    }
}

/// Three numbers in one, the first one lowest.
fn three(numbers: [u16; 3]) -> u64 {
    numbers.into_iter().rev().fold(0, |all, number| all << 16 | u64::from(number))
}

/// Methods lie at multiples of 8, many in a row.
fn hash(method: &VmMethod) -> usize {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed =
        (method.address as u64 >> 3).wrapping_mul(ODD) ^ (method.name.address as u64 >> 3).wrapping_mul(ODD << 7 | 1);
    (mixed >> 40) as usize
}

/// Whether it is the native method in whose frame a virtual thread begins.
fn is_enter_special(loads: SafeLoads, method: &VmMethod) -> bool {
    let is = |symbol: Symbol, text: &[u8]| {
        usize::from(symbol.length) == text.len()
            && text.iter().enumerate().all(|(index, &byte)| loads.u8(symbol.body + index) == Some(byte))
    };
    is(method.name, b"enterSpecial") && is(method.class_name, b"jdk/internal/vm/Continuation")
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use agent_base::signals::alone::passes_alone;

    fn symbol(text: &'static str) -> Symbol {
        Symbol { address: text.as_ptr() as usize, body: text.as_ptr() as usize, length: text.len() as u16, hash: 7 }
    }

    fn method(address: usize, class_name: &'static str, name: &'static str) -> VmMethod {
        VmMethod::for_tests(address, symbol(class_name), symbol(name), symbol("()V"))
    }

    #[test]
    fn a_method_keeps_its_number_and_names() {
        passes_alone(module_path!(), "a_method_keeps_its_number_and_names", || {
            let loads = SafeLoads::install(false).expect("loads are safe");
            let methods = Methods::new();
            let number = |method: &VmMethod| methods.number_of(loads, method).expect("there is room");
            let first = method(0x1000, "a/A", "run");
            let known = number(&first);
            assert_eq!(number(&first), known);
            let names = methods.names(known.number).expect("it is known");
            assert_eq!((names.class, names.name, names.signature), (&b"a/A"[..], &b"run"[..], &b"()V"[..]));
            assert_eq!(names.source, b"");
            let mut sourced = method(0x3000, "a/A", "go");
            sourced.source = Some(symbol("A.java"));
            let names = methods.names(number(&sourced).number).expect("it is known");
            assert_eq!((names.signature, names.source), (&b"()V"[..], &b"A.java"[..]));
            assert_eq!(number(&sourced), number(&sourced));
            // Another class, whose method lies where the first one lay.
            let later = method(0x1000, "b/B", "run");
            assert_ne!(number(&later).number, known.number);
            // Another text that lies where the first one lay, and another signature.
            let mut other = first;
            other.class_name.hash += 1;
            assert_ne!(number(&other).number, known.number);
            let mut other = first;
            other.signature.address += 8;
            assert_ne!(number(&other).number, known.number);
            assert_eq!(number(&first), known);
            assert!(
                !known.is_bottom && number(&method(0x2000, "jdk/internal/vm/Continuation", "enterSpecial")).is_bottom
            );
            assert_eq!(methods.names(MethodNumber(u32::MAX)), None);
        });
    }

    #[test]
    fn what_is_full_is_an_error_and_what_is_known_stays() {
        passes_alone(module_path!(), "what_is_full_is_an_error_and_what_is_known_stays", || {
            let loads = SafeLoads::install(false).expect("loads are safe");
            let methods = Methods::new();
            let first = methods.number_of(loads, &method(8, "a/A", "run")).expect("there is room");
            let full = (2..)
                .map(|number| methods.number_of(loads, &method(number * 8, "a/A", "run")))
                .position(|n| n.is_err());
            assert!(full.is_some_and(|number| number > SLOTS / 2), "{full:?}");
            assert_eq!(methods.number_of(loads, &method(8, "a/A", "run")), Ok(first));
            // A text that is not mapped, and one that does not fit.
            let methods = Methods::new();
            let mut broken = method(8, "a/A", "run");
            broken.name = Symbol { address: 1, body: 8, length: 3, hash: 0 };
            assert_eq!(methods.number_of(loads, &broken), Err(WalkError::Method));
            methods.used_text.store(TEXT_BYTES as u32 - 2, Ordering::Relaxed);
            assert_eq!(methods.number_of(loads, &method(8, "a/A", "run")), Err(WalkError::TableFull));
        });
    }
}
