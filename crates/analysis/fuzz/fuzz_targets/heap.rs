//! Any bytes as a heap dump, or as changes of one that has everything: all that can be asked of it has an answer, and the answers
//! agree with each other.
//!
//! Run with `cargo +nightly fuzz run heap` in `crates/analysis`.

#![no_main]

#[path = "../../tests/analysis/small_dump.rs"]
mod small_dump;

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use small_dump::{Spool, exercise, small_dump};

thread_local! {
    static SPOOL: RefCell<Spool> = RefCell::new(Spool::new());
    static WHOLE: Vec<u8> = small_dump();
}

fuzz_target!(|input: &[u8]| {
    let bytes = if input.starts_with(b"JAVA") { input.to_vec() } else { changed(input) };
    SPOOL.with_borrow_mut(|spool| exercise(&spool.dump(&bytes)));
});

/// The dump with changes: places and bytes to put there, three bytes each.
fn changed(input: &[u8]) -> Vec<u8> {
    let mut bytes = WHOLE.with(Vec::clone);
    let length = bytes.len();
    for change in input.chunks_exact(3) {
        let at = usize::from(u16::from_be_bytes([change[0], change[1]]));
        // Beyond the end it says where to cut.
        match bytes.get_mut(at) {
            Some(byte) => *byte = change[2],
            None => bytes.truncate(at % length),
        }
    }
    bytes
}
