//! Recordings that were damaged or made up to hurt: there is one sentence, or a trace that breaks no rule.

use std::io::Cursor;

use analysis::call_tree::Label;
use analysis::weighted::WeightedStack;
use export::{Profiles, Recorder};
use jfr::{Import, Recording};
use proptest::prelude::*;
use trace::reader::{Event, TraceReader};
use trace::validate::{Profile, Validator, validate};

/// A recording of all that `martini export` writes.
fn example() -> Vec<u8> {
    let mut recorder = Recorder::new();
    let elements = [
        &include_bytes!("../../../tests/traces/explain.trcxml")[..],
        include_bytes!("../../../tests/traces/cpu.trcxml"),
        include_bytes!("../../../tests/traces/waits.trcxml"),
    ];
    for text in elements {
        let mut reader = TraceReader::new(text).unwrap();
        while let Ok(Some(event)) = reader.next_event() {
            match event {
                Event::Element { element, .. } => recorder.element(&element),
                Event::DocumentEnd(_) => recorder.end_document(),
                Event::DocumentStart { .. } => {}
            }
        }
    }
    let allocated = vec![WeightedStack {
        thread: Some("main"),
        class: Some("int[]"),
        frames: vec![Label::Code("a.B")],
        count: 3,
        weight: 300,
    }];
    export::jfr(&recorder.finish(&Profiles { allocated, ..Profiles::default() }))
}

fn read(bytes: &[u8]) -> Result<Import, jfr::Error> {
    Recording::new(Cursor::new(bytes)).and_then(|mut recording| Import::read(&mut recording))
}

/// Reads a recording; what can be read becomes a trace that is valid.
fn check(bytes: &[u8]) -> bool {
    match read(bytes) {
        Ok(import) => {
            let mut text = Vec::new();
            import.write(&mut text).unwrap();
            let mut reader = TraceReader::new(&text[..]).unwrap();
            let report = validate(&mut reader, Validator::new(Profile::Strict, 3), |_| {});
            assert!(report.is_valid(), "{report:?}");
            true
        }
        Err(error) => {
            assert!(!error.to_string().contains('\n'), "{error}");
            false
        }
    }
}

#[test]
fn the_example_is_read() {
    let import = read(&example()).unwrap();
    let sums = import.sums();
    assert!(sums.allocations == 1 && sums.cpu > 300 && sums.waits > 20 && sums.pauses > 3, "{sums:?}");
    assert!(check(&example()));
}

#[test]
fn what_is_cut_off_anywhere_is_an_error() {
    let whole = example();
    for length in (0..whole.len()).step_by(97).chain(0..80) {
        assert!(!check(&whole[..length]), "{length}");
    }
}

#[test]
fn what_comes_after_the_first_chunk_is_lost_if_it_is_damaged() {
    let mut bytes = example();
    let whole = read(&bytes).unwrap();
    bytes.extend_from_slice(&example()[..200]);
    let import = read(&bytes).unwrap();
    assert_eq!(import.sums(), whole.sums());
    assert!(import.losses().broken.unwrap().contains("damaged"));
    assert_eq!(whole.losses().broken, None);
}

/// A chunk that is nothing but its header, as a writer leaves it that had no event.
fn empty_chunk() -> Vec<u8> {
    let mut chunk = example()[..68].to_vec();
    for (at, number) in [(8, 68), (16, 0), (24, 0)] {
        chunk[at..at + 8].copy_from_slice(&u64::to_be_bytes(number));
    }
    chunk
}

#[test]
fn chunks_without_events_are_stepped_over() {
    let (one, none) = (example(), empty_chunk());
    let whole = read(&one).unwrap().sums();
    for chunks in [&[&none, &one][..], &[&one, &none], &[&none, &none, &one, &none]] {
        let bytes = chunks.iter().copied().flatten().copied().collect::<Vec<u8>>();
        let import = read(&bytes).unwrap();
        assert_eq!(import.sums(), whole);
        let losses = import.losses();
        assert_eq!((losses.empty_chunks, losses.broken), (chunks.len() as u64 - 1, None));
        assert!(check(&bytes));
    }
    let nothing = read(&none).unwrap();
    assert_eq!((nothing.sums().cpu, nothing.losses().empty_chunks), (0, 1));
    assert!(check(&none));
}

#[test]
fn a_damaged_chunk_is_stepped_over_wherever_it_stands() {
    let one = example();
    let whole = read(&one).unwrap().sums();
    // Its metadata is elsewhere; an event has no end.
    for (at, bytes) in [(24, &[0xff; 8][..]), (68, &[0x80, 0x80, 0x80, 0x80])] {
        let mut damaged = one.clone();
        damaged[at..at + bytes.len()].copy_from_slice(bytes);
        assert!(read(&damaged).unwrap_err().to_string().contains("in the chunk at byte 0"));
        for (chunks, begin) in [([&damaged, &one], 0), ([&one, &damaged], one.len())] {
            let bytes = chunks.map(Vec::as_slice).concat();
            let import = read(&bytes).unwrap();
            let losses = import.losses();
            assert_eq!((import.sums(), losses.damaged_chunks.0, losses.broken), (whole, 1, None));
            assert!(losses.damaged_chunks.1.unwrap().ends_with(&format!("in the chunk at byte {begin}")));
            assert!(check(&bytes));
        }
    }
}

#[test]
fn an_event_whose_fields_make_no_sense_is_stepped_over() {
    let one = example();
    let whole = read(&one).unwrap();
    assert_eq!(whole.losses().damaged_events, 0);
    // The last byte of an event is that of its last field; as a number it then goes on behind the end.
    let metadata = u64::from_be_bytes(one[24..32].try_into().unwrap()) as usize;
    let (mut at, mut ends) = (68, Vec::new());
    while at < one.len() {
        let (mut size, mut shift, mut from) = (0_usize, 0, at);
        while one[from] & 0x80 != 0 {
            size |= usize::from(one[from] & 0x7f) << shift;
            (shift, from) = (shift + 7, from + 1);
        }
        size |= usize::from(one[from]) << shift;
        // Neither the types nor the constants.
        if at != metadata && one[from + 1] > 1 {
            ends.push(at + size - 1);
        }
        at += size;
    }
    let sum = |import: &Import| {
        let sums = import.sums();
        sums.allocations + sums.cpu + sums.wall + sums.waits + sums.pauses
    };
    // Not every event is one of which a trace has something.
    let is_one_left_out = ends.into_iter().filter(|&end| one[end] < 0x80).take(50).any(|end| {
        let mut bytes = one.clone();
        bytes[end] |= 0x80;
        let import = read(&bytes).unwrap();
        assert!(check(&bytes) && import.losses().damaged_events <= 1, "{:?}", import.losses());
        import.losses().damaged_events == 1 && sum(&import) == sum(&whole) - 1
    });
    assert!(is_one_left_out);
}

#[test]
fn two_chunks_are_one_recording() {
    let one = example();
    let two = [&one[..], &one].concat();
    // The same threads wait twice at the same times.
    let (one, two) = (read(&one).unwrap().sums(), read(&two).unwrap());
    assert_eq!(two.sums().cpu, 2 * one.cpu);
    assert_eq!((two.sums().waits, two.sums().pauses), (one.waits, one.pauses));
    assert!(two.losses().overlapping >= one.waits + one.pauses, "{:?}", two.losses());
    assert!(check(&[&example()[..], &example()].concat()));
}

#[test]
fn a_recording_that_is_still_written_is_called_so() {
    let mut bytes = example();
    bytes[8..16].fill(0);
    assert!(read(&bytes).unwrap_err().to_string().contains("incomplete flight recording"));
    assert!(read(b"<TRACE>").unwrap_err().to_string().contains("does not start with `FLR`"));
    assert!(read(b"\x1f\x8b\x08").unwrap_err().to_string().contains("gunzip"));
    bytes[5] = 9;
    assert!(read(&bytes).unwrap_err().to_string().contains("of version 9"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn bytes_that_are_other_ones_do_no_harm(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8)) {
        let mut bytes = example();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        check(&bytes);
    }

    #[test]
    fn numbers_of_the_header_may_be_anything(at in 4_usize..68, number in any::<[u8; 8]>()) {
        let mut bytes = example();
        bytes[at..at + 8].copy_from_slice(&number);
        check(&bytes);
    }

    #[test]
    fn declarations_of_types_may_be_anything(change in any::<prop::sample::Index>(), new in prop::collection::vec(any::<u8>(), 1..4)) {
        let mut bytes = example();
        let at = u64::from_be_bytes(bytes[24..32].try_into().unwrap()) as usize;
        let at = at + change.index(bytes.len() - at - new.len());
        bytes[at..at + new.len()].copy_from_slice(&new);
        check(&bytes);
    }
}
