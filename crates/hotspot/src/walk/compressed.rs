//! The compressed streams in which HotSpot keeps debug information and line numbers. Runs in signal handlers.

use agent_base::signals::SafeLoads;

/// How numbers are written: the lower 6 bits of the value in each byte but the last, at most 5 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Bytes from 192 on have a successor (up to JDK 19).
    All,
    /// No byte is 0: those from 192 on have a successor, and each counts one less (from JDK 20 on).
    NoZero,
}

impl Encoding {
    /// That of a feature release.
    pub(super) fn of(java: u32) -> Encoding {
        if java >= 20 { Encoding::NoZero } else { Encoding::All }
    }

    fn excluded(self) -> u32 {
        match self {
            Encoding::All => 0,
            Encoding::NoZero => 1,
        }
    }
}

/// The smallest byte that has a successor.
const FIRST_HIGH: u32 = 192;
/// Bits that each further byte is worth more.
const BITS: u32 = 6;
const MAX_BYTES: u32 = 5;

/// Reads a stream up to its end; `None` is a byte that is not there, or that no such stream has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    loads: SafeLoads,
    encoding: Encoding,
    at: usize,
    end: usize,
}

impl Stream {
    pub(super) fn new(loads: SafeLoads, encoding: Encoding, at: usize, end: usize) -> Stream {
        Stream { loads, encoding, at, end }
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        if self.at >= self.end {
            return None;
        }
        let byte = self.loads.u8(self.at)?;
        self.at += 1;
        Some(byte)
    }

    pub(super) fn unsigned(&mut self) -> Option<u32> {
        let mut sum = 0_u32;
        for index in 0..MAX_BYTES {
            let byte = u32::from(self.byte()?);
            let value = byte.checked_sub(self.encoding.excluded())?;
            sum = sum.wrapping_add(value.wrapping_shl(BITS * index));
            if byte < FIRST_HIGH {
                break;
            }
        }
        Some(sum)
    }

    pub(super) fn signed(&mut self) -> Option<i32> {
        let value = self.unsigned()?;
        Some((value >> 1) as i32 ^ -((value & 1) as i32))
    }
}

/// The line of a bytecode index, out of a method's table of lines: that of the last entry at or before it. 0: there is none.
pub(super) fn line_of(mut table: Stream, bytecode_index: u32) -> Option<u16> {
    /// A byte that both differences fit into has 3 bits for the line.
    const LINE_BITS: u32 = 3;
    /// Both differences follow as numbers.
    const ESCAPE: u8 = 0xff;
    let (mut index, mut line) = (0_i32, 0_i32);
    let mut best: Option<(i32, i32)> = None;
    let wanted = i32::try_from(bytecode_index).ok()?;
    loop {
        match table.byte()? {
            0 => break,
            ESCAPE => {
                index = index.wrapping_add(table.signed()?);
                line = line.wrapping_add(table.signed()?);
            }
            both => {
                index = index.wrapping_add(i32::from(both >> LINE_BITS));
                line = line.wrapping_add(i32::from(both & ((1 << LINE_BITS) - 1)));
            }
        }
        // Entries need not be in order.
        if index <= wanted && best.is_none_or(|(best, _)| index >= best) {
            best = Some((index, line));
        }
    }
    u16::try_from(best.map_or(0, |(_, line)| line)).ok()
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use agent_base::signals::alone::passes_alone;

    fn stream(bytes: &[u8], encoding: Encoding) -> Stream {
        let loads = SafeLoads::install(false).expect("loads are safe");
        let at = bytes.as_ptr() as usize;
        Stream::new(loads, encoding, at, at + bytes.len())
    }

    /// By the definition of the encoding.
    fn written(mut value: u32, encoding: Encoding) -> Vec<u8> {
        let excluded = encoding.excluded();
        let low = FIRST_HIGH - excluded;
        let mut bytes = Vec::new();
        for _ in 1..MAX_BYTES {
            if value < low {
                break;
            }
            value -= low;
            bytes.push((low + (value & 63) + excluded) as u8);
            value >>= BITS;
        }
        bytes.push((value + excluded) as u8);
        bytes
    }

    #[test]
    fn numbers_of_all_lengths_are_read() {
        passes_alone(module_path!(), "numbers_of_all_lengths_are_read", || {
            for encoding in [Encoding::All, Encoding::NoZero] {
                for value in (0..70_000).chain([1 << 20, 1 << 24, 1 << 30, u32::MAX / 3, u32::MAX]) {
                    let bytes = written(value, encoding);
                    let mut stream = stream(&bytes, encoding);
                    assert_eq!(stream.unsigned(), Some(value), "{encoding:?} {bytes:?}");
                    assert_eq!(stream.unsigned(), None, "{value} ends with its bytes");
                }
            }
            assert_eq!(stream(&[0], Encoding::NoZero).unsigned(), None);
            assert_eq!(stream(&[192], Encoding::All).unsigned(), None, "cut off");
            let signed = |byte| stream(&[byte], Encoding::All).signed();
            assert_eq!([0, 1, 2, 3, 4].map(signed), [Some(0), Some(-1), Some(1), Some(-2), Some(2)]);
            assert_eq!((Encoding::of(19), Encoding::of(20)), (Encoding::All, Encoding::NoZero));
        });
    }

    #[test]
    fn a_line_is_that_of_the_last_entry_before() {
        passes_alone(module_path!(), "a_line_is_that_of_the_last_entry_before", || {
            // 0: line 10 (escaped); 3: line 12; 5: line 2 (escaped, backwards); 36 and 38: lines 3 and 10.
            let table = [0xff, 0, 20, 3 << 3 | 2, 0xff, 4, 19, 31 << 3 | 1, 2 << 3 | 7, 0];
            let line = |index| line_of(stream(&table, Encoding::All), index);
            assert_eq!(
                [0, 2, 3, 4, 5, 35, 36, 37, 38, 9_999].map(line),
                [10, 10, 12, 12, 2, 2, 3, 3, 10, 10].map(Some)
            );
            assert_eq!(line_of(stream(&[0], Encoding::All), 7), Some(0));
            assert_eq!(line_of(stream(&table[..4], Encoding::All), 7), None, "no end");
            let later = [0xff, 20, 20, 0];
            assert_eq!(line_of(stream(&later, Encoding::All), 3), Some(0));
        });
    }
}
