//! Any bytes: the reader of lock logs neither panics nor hangs, and what is written again is read as the same.
//!
//! Run with `cargo +nightly fuzz run locklog` in `crates/trace`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trace::locklog::{LockLogReader, LogItem, write_event, write_start};

fuzz_target!(|bytes: &[u8]| {
    let mut written = Vec::new();
    let mut reader = LockLogReader::new(bytes);
    loop {
        match reader.next_item() {
            Ok(Some(item)) => write(&item, &mut written),
            Ok(None) => break,
            Err(_) => {}
        }
    }
    assert!(reader.consumed() == bytes.len() as u64);
    // What was written is read without complaint, and as what it was.
    let mut again = Vec::new();
    let mut reader = LockLogReader::new(&written[..]);
    while let Some(item) = reader.next_item().expect("our own text") {
        write(&item, &mut again);
    }
    assert!(again == written);
});

fn write(item: &LogItem<'_>, out: &mut Vec<u8>) {
    match item {
        LogItem::Start(clock) => write_start(clock, out),
        LogItem::Event(event) => {
            let frames = event.frames.iter().map(|frame| (&*frame.class, &*frame.method));
            write_event(event.since_start, event.kind, &event.thread, frames, out);
        }
    }
}
