//! Any bytes: the reader neither panics nor hangs, the validator takes whatever it delivers, and
//! what is written again is read as the same.
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
    loop {
        match reader.next_event() {
            Ok(None) => break,
            Ok(Some(event)) => {
                validators.iter_mut().for_each(|validator| validator.event(&event));
                if let Event::Element { element, .. } = &event {
                    writer.write(element);
                }
            }
            Err(error) => validators.iter_mut().for_each(|validator| validator.error(&error)),
        }
    }
    let [strict, lenient] = validators.map(Validator::finish);
    assert!(strict.total() >= lenient.total());
    assert_comes_back(writer.bytes());
});

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
