//! Any bytes: the reader neither panics nor hangs, delivers the same one by one and at once, the
//! validator takes whatever it delivers, and what is written again is read as the same.
//!
//! Run with `cargo +nightly fuzz run reader` in `crates/trace`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trace::model::Irregularities;
use trace::reader::{Event, TraceReader};
use trace::validate::{Profile, Validator};
use trace::writer::XmlWriter;

fuzz_target!(|bytes: &[u8]| {
    let mut validators = [Profile::Strict, Profile::Lenient].map(|profile| Validator::new(profile, 10));
    let Ok(mut reader) = TraceReader::new(bytes) else {
        return;
    };
    let mut writer = XmlWriter::default();
    let mut at_once = all_at_once(bytes).into_iter();
    loop {
        match reader.next_event() {
            Ok(None) => break,
            Ok(Some(event)) => {
                assert_eq!(at_once.next(), Some(format!("{event:?}")));
                validators.iter_mut().for_each(|validator| validator.event(&event));
                if let Event::Element { element, .. } = &event {
                    writer.write(element);
                }
            }
            Err(error) => {
                assert_eq!(at_once.next(), Some(error.to_string()));
                validators.iter_mut().for_each(|validator| validator.error(&error));
            }
        }
    }
    assert_eq!(at_once.next(), None);
    let [strict, lenient] = validators.map(Validator::finish);
    assert!(strict.total() >= lenient.total());
    assert_comes_back(writer.bytes());
});

/// Everything that `next_events` delivers.
fn all_at_once(bytes: &[u8]) -> Vec<String> {
    let mut delivered = Vec::new();
    let Ok(mut reader) = TraceReader::new(bytes) else { return delivered };
    loop {
        let more = reader.next_events(|event| {
            delivered.push(format!("{event:?}"));
            true
        });
        match more {
            Ok(true) => {}
            Ok(false) => return delivered,
            Err(error) => delivered.push(error.to_string()),
        }
    }
}

/// What was written is read without complaint, and as what it was.
fn assert_comes_back(text: &[u8]) {
    let Ok(mut reader) = TraceReader::new(text) else {
        return;
    };
    let mut writer = XmlWriter::default();
    while let Some(event) = reader.next_event().expect("our own text") {
        if let Event::Element { element, irregularities, .. } = event {
            writer.write(&element);
            assert_eq!(irregularities, Irregularities::default());
        }
    }
    assert!(writer.bytes() == text);
}
