//! Damaged dumps: an error or fewer records, never a panic, never memory beyond the input's size.

mod common;

use common::{every_record, read_all};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn flipped_bits_do_no_harm(flips in prop::collection::vec((0..10_000_usize, 0..8_u32), 1..6), wide: bool) {
        let mut bytes = every_record(if wide { 8 } else { 4 });
        for (at, bit) in flips {
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
        }
        let _ = read_all(&bytes);
    }

    #[test]
    fn any_bytes_behind_a_header_do_no_harm(rest in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut bytes = b"JAVA PROFILE 1.0.2\0\0\0\0\x08\0\0\0\0\0\0\0\0\x1C\0\0\0\0\0\0\xFF\xFF".to_vec();
        bytes.extend(rest);
        let _ = read_all(&bytes);
    }
}
