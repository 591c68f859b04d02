//! The VM's own counters (`jvmstat`): what `jcmd PID PerfCounter.print` prints, read where the VM keeps them.
//!
//! They lie one behind the other in memory that is never given back (`PerfMemory`), each with its name, in the published layout of
//! `hsperfdata` files, version 2. Reading one is a load. A VM with `-XX:-UsePerfData` has none.

use jvmti::Field;

use super::doubtful;
use super::memory::load;

/// What the memory begins with.
const MAGIC: u32 = u32::from_ne_bytes([0xca, 0xfe, 0xc0, 0xc0]);
const MAJOR_VERSION: u8 = 2;
/// In the beginning: the version, how many bytes are used, where the first entry is, and how many there are.
const VERSION_AT: usize = 5;
const USED_AT: usize = 8;
const FIRST_AT: usize = 24;
const NUMBER_AT: usize = 28;
/// In an entry: its length, where its name is, how many elements it has, its type, and where its value is.
const NAME_AT: usize = 4;
const ELEMENTS_AT: usize = 8;
const TYPE_AT: usize = 12;
const VALUE_AT: usize = 16;
/// The beginning of an entry, without name and value.
const ENTRY_BYTES: usize = 20;
/// No VM has more.
const MOST_ENTRIES: usize = 10_000;
const LONGEST_NAME: usize = 200;
/// A number of 64 bits (`J` in descriptors).
const LONG: u8 = b'J';

/// How many classes are loaded, from an archive or not, of which every VM has some hundred.
const LOADED: [&str; 2] = ["java.cls.loadedClasses", "java.cls.sharedLoadedClasses"];
const LOADED_AT_LEAST: u64 = 100;

/// A counter of the VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerfCounter {
    /// Where its value is, which other threads write.
    address: usize,
}

/// The counters of this VM.
#[derive(Clone, Copy, Debug)]
pub struct PerfCounters {
    start: usize,
    bytes: usize,
}

impl PerfCounters {
    /// The counters of this VM; from VMStart on. `address` finds a symbol of libjvm.
    ///
    /// # Errors
    /// Why they are not known: part of a sentence.
    pub(crate) fn find(mut address: impl FnMut(&str) -> Option<usize>) -> Result<PerfCounters, &'static str> {
        let mut value = |name, symbol| {
            let exported = Field::find(c"PerfMemory", name).map(|field| field.address as usize).filter(|&at| at != 0);
            exported.or_else(|| address(symbol)).and_then(doubtful::word)
        };
        let start = value(c"_start", "_ZN10PerfMemory6_startE").ok_or("the JVM does not export where they are")?;
        let end = value(c"_end", "_ZN10PerfMemory4_endE").ok_or("the JVM does not export where they end")?;
        if start == 0 {
            return Err("the JVM has none (-XX:-UsePerfData)");
        }
        let bytes = end.checked_sub(start).filter(|&bytes| bytes > NUMBER_AT).ok_or("their layout is unknown")?;
        let is_right = doubtful::half(start) == Some(MAGIC)
            && doubtful::byte(start + VERSION_AT) == Some(MAJOR_VERSION)
            && doubtful::half(end - 4).is_some();
        let counters = PerfCounters { start, bytes };
        let loaded = || LOADED.iter().filter_map(|name| counters.value_of(name)).fold(0, u64::saturating_add);
        let is_known = is_right && loaded() >= LOADED_AT_LEAST;
        if is_known { Ok(counters) } else { Err("their layout is unknown") }
    }

    fn value_of(&self, name: &str) -> Option<u64> {
        let mut found = None;
        self.each(|candidate, counter| {
            if candidate == name {
                found = Some(counter.value());
            }
        });
        found
    }

    /// How many there are now.
    pub fn number(&self) -> usize {
        doubtful::half(self.start + NUMBER_AT).unwrap_or(0) as usize
    }

    /// Visits all that are numbers, with their names. The VM adds more as it starts, and takes none away.
    pub fn each(&self, mut visit: impl FnMut(&str, PerfCounter)) {
        let half = |at: usize| self.is_inside(at, 4).then(|| doubtful::half(self.start + at)).flatten();
        let number = |at: usize| half(at).map(|number| number as usize);
        let (Some(mut at), Some(entries), Some(used)) = (number(FIRST_AT), number(NUMBER_AT), number(USED_AT)) else {
            return;
        };
        for _ in 0..entries.min(MOST_ENTRIES) {
            let Some(length) = number(at).filter(|&length| length >= ENTRY_BYTES && at + length <= used) else {
                return;
            };
            let (Some(name), Some(elements), Some(value)) =
                (number(at + NAME_AT), number(at + ELEMENTS_AT), number(at + VALUE_AT))
            else {
                return;
            };
            let byte = |offset| doubtful::byte(self.start + at + offset);
            let place = at + value;
            let is_number = elements == 0 && byte(TYPE_AT) == Some(LONG) && value + 8 <= length && place % 8 == 0;
            if is_number
                && self.is_inside(place, 8)
                && let Some(name) = self.name(at + name, at + length)
            {
                visit(&name, PerfCounter { address: self.start + place });
            }
            at += length;
        }
    }

    fn is_inside(&self, at: usize, bytes: usize) -> bool {
        at.checked_add(bytes).is_some_and(|end| end <= self.bytes)
    }

    /// The name that begins there and ends with NUL before `end`.
    fn name(&self, at: usize, end: usize) -> Option<String> {
        let longest = end.checked_sub(at)?.min(LONGEST_NAME);
        let bytes = (at..at + longest).map_while(|at| doubtful::byte(self.start + at)).take_while(|&byte| byte != 0);
        String::from_utf8(bytes.collect()).ok()
    }
}

impl PerfCounter {
    /// Its value now; times are nanoseconds, which are what HotSpot's ticks are on Linux.
    pub fn value(self) -> u64 {
        // SAFETY: aligned, and inside of memory that the VM never gives back.
        unsafe { load(self.address) as u64 }
    }
}
