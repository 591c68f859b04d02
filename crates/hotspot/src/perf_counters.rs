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
        let counters = PerfCounters { start, bytes };
        let Some(all) = counters.copy() else { return Err("their layout is unknown") };
        let is_right = half(&all, 0) == Some(MAGIC as usize) && all.get(VERSION_AT) == Some(&MAJOR_VERSION);
        let mut loaded = 0_u64;
        counters.each_in(&all, |name, counter| {
            if LOADED.contains(&name) {
                loaded = loaded.saturating_add(counter.value());
            }
        });
        if is_right && loaded >= LOADED_AT_LEAST { Ok(counters) } else { Err("their layout is unknown") }
    }

    /// The memory as it is now: each look at an address that nothing proves is a system call.
    fn copy(&self) -> Option<Vec<u8>> {
        let used = doubtful::half(self.start.checked_add(USED_AT)?)? as usize;
        (used <= self.bytes).then(|| doubtful::bytes(self.start, used))?
    }

    /// How many there are now.
    pub fn number(&self) -> usize {
        doubtful::half(self.start + NUMBER_AT).unwrap_or(0) as usize
    }

    /// Visits all that are numbers, with their names. The VM adds more as it starts, and takes none away.
    pub fn each(&self, visit: impl FnMut(&str, PerfCounter)) {
        if let Some(all) = self.copy() {
            self.each_in(&all, visit);
        }
    }

    /// Those in a copy of the memory.
    fn each_in(&self, all: &[u8], mut visit: impl FnMut(&str, PerfCounter)) {
        let (Some(mut at), Some(entries)) = (half(all, FIRST_AT), half(all, NUMBER_AT)) else { return };
        for _ in 0..entries.min(MOST_ENTRIES) {
            let Some(length) = half(all, at).filter(|&length| length >= ENTRY_BYTES) else { return };
            let Some(entry) = at.checked_add(length).and_then(|end| all.get(at..end)) else { return };
            if let (Some(name), Some(value)) = (name(entry), value_at(entry, at)) {
                visit(name, PerfCounter { address: self.start + at + value });
            }
            at += length;
        }
    }
}

fn half(all: &[u8], at: usize) -> Option<usize> {
    let bytes = all.get(at..at.checked_add(4)?)?.try_into().ok()?;
    Some(u32::from_ne_bytes(bytes) as usize)
}

/// The name of an entry, which ends with NUL.
fn name(entry: &[u8]) -> Option<&str> {
    let name = entry.get(half(entry, NAME_AT)?..)?;
    let name = &name[..name.len().min(LONGEST_NAME)];
    std::str::from_utf8(name.split(|&byte| byte == 0).next()?).ok()
}

/// Where in an entry that begins there its value is, if that is a number.
fn value_at(entry: &[u8], at: usize) -> Option<usize> {
    let value = half(entry, VALUE_AT)?;
    let is_number = half(entry, ELEMENTS_AT) == Some(0) && entry.get(TYPE_AT) == Some(&LONG);
    let fits = value.checked_add(8).is_some_and(|end| end <= entry.len()) && (at + value).is_multiple_of(8);
    (is_number && fits).then_some(value)
}

impl PerfCounter {
    /// Its value now; times are nanoseconds, which are what HotSpot's ticks are on Linux.
    pub fn value(self) -> u64 {
        // SAFETY: aligned, and inside of memory that the VM never gives back.
        unsafe { load(self.address) as u64 }
    }
}
