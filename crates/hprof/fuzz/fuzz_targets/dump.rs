//! Any bytes: the reader neither panics nor hangs, delivers no more than it was given, and says the same when it skips.
//!
//! Run with `cargo +nightly fuzz run dump` in `crates/hprof`.

#![no_main]

use hprof::read::{Reader, Record};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    // Nobody guesses the header; the first byte chooses one.
    let bytes = &match input.split_first() {
        Some((first, rest)) if !input.starts_with(b"JAVA") => {
            let width = if first % 2 == 0 { 8 } else { 4 };
            [b"JAVA PROFILE 1.0.2\0\0\0\0", &[width][..], &[0; 8], rest].concat()
        }
        _ => input.to_vec(),
    };
    let (all, delivered) = read(bytes, false);
    assert!(delivered <= bytes.len());
    let (skipped, _) = read(bytes, true);
    assert_eq!(all, skipped);
});

/// How many records there are besides the pieces of arrays, and whether they end well; how many bytes arrays and fields have.
fn read(bytes: &[u8], skip: bool) -> ((usize, bool), usize) {
    let Ok(mut reader) = Reader::new(bytes) else {
        return ((0, false), 0);
    };
    reader.skip_elements(skip);
    reader.skip_contents(skip);
    let id_size = reader.id_size();
    let (mut records, mut delivered) = (0, 0);
    loop {
        match reader.next_record() {
            Ok(None) => return ((records, true), delivered),
            Err(_) => return ((records, false), delivered),
            Ok(Some(Record::Elements(ids))) => delivered += ids.len() * id_size,
            Ok(Some(Record::Contents(contents))) => delivered += contents.len(),
            Ok(Some(record)) => {
                if let Record::Instance { fields, .. } = record {
                    delivered += fields.len();
                }
                records += 1;
            }
        }
    }
}
