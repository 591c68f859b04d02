//! `next_events` delivers what `next_event` does: the same elements, at the same places, and the same errors, whatever it reads.

mod common;

use std::io::{self, Read};

use proptest::prelude::*;
use trace::model::Element;
use trace::reader::{Event, TraceReader};

/// Bytes that mean something in XML or in a value, and some that do not.
const HOSTILE: &[u8] = b"\"'<>/= \n\t&0-.x\0\x7f\xc3";

/// All that a reader delivers, one event at a time.
fn slowly(input: impl Read) -> Vec<String> {
    let Ok(mut reader) = TraceReader::new(input) else { return Vec::new() };
    let mut delivered = Vec::new();
    loop {
        match reader.next_event() {
            Ok(Some(event)) => delivered.push(format!("{event:?}")),
            Ok(None) => return delivered,
            Err(error) => delivered.push(error.to_string()),
        }
    }
}

/// All that it delivers, as many as it has.
fn quickly(input: impl Read) -> Vec<String> {
    let Ok(mut reader) = TraceReader::new(input) else { return Vec::new() };
    let mut delivered = Vec::new();
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

/// Delivers a few bytes at a time.
struct Trickle<'a>(&'a [u8], usize);

impl Read for Trickle<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = out.len().min(self.1);
        self.0.read(&mut out[..count])
    }
}

/// A trace of one element, and another behind it.
fn around(line: &[u8]) -> Vec<u8> {
    [b"<TRACE>\n", line, b"<gcStart time=\"1.000000000\"/>\n</TRACE>\n"].concat()
}

/// The first element of each kind in the examples.
fn one_of_each() -> Vec<&'static str> {
    let name = |line: &str| line.split([' ', '/']).next().map(str::to_owned);
    let mut lines: Vec<&str> = common::EXAMPLES.iter().flat_map(|example| example.lines()).collect();
    lines.retain(|line| line.ends_with("/>"));
    lines.sort_by_key(|line| name(line));
    lines.dedup_by_key(|line| name(line));
    lines
}

#[test]
fn what_we_write_is_taken_all_at_once() {
    for example in common::EXAMPLES.into_iter().chain([common::JVMPI]) {
        let mut reader = TraceReader::new(example.as_bytes()).expect("a trace");
        let (mut calls, mut events) = (0, 0);
        while reader
            .next_events(|_| {
                events += 1;
                true
            })
            .expect("a trace")
        {
            calls += 1;
        }
        let unusual = example.bytes().filter(|byte| !byte.is_ascii()).count();
        assert!(calls <= 4 + unusual, "{calls} calls for {events} events: {example}");
    }
}

#[test]
fn examples_in_pieces() {
    for example in common::EXAMPLES.into_iter().chain([common::JVMPI]) {
        for piece in [1, 7, 100, 100_000] {
            assert_eq!(quickly(Trickle(example.as_bytes(), piece)), slowly(example.as_bytes()));
        }
    }
}

#[test]
fn elements_that_are_cut_or_damaged_at_any_byte() {
    let lines = one_of_each();
    assert!(lines.len() > 40, "{}", lines.len());
    for line in lines {
        for at in 0..line.len() {
            let cut = around(&line.as_bytes()[..at]);
            assert_eq!(quickly(&cut[..]), slowly(&cut[..]), "{line} cut at {at}");
            let ended = &cut[.."<TRACE>\n".len() + at];
            assert_eq!(quickly(ended), slowly(ended), "{line} ended at {at}");
            for blank in [" ", "\t", "\n"] {
                let text = around([&line[..at], blank, &line[at..]].concat().as_bytes());
                assert_eq!(quickly(&text[..]), slowly(&text[..]), "{line} with {blank:?} at {at}");
            }
            let mut damaged = line.as_bytes().to_vec();
            for &byte in HOSTILE {
                damaged[at] = byte;
                let text = around(&damaged);
                assert_eq!(quickly(&text[..]), slowly(&text[..]), "{line} with {byte:#x} at {at}");
            }
        }
    }
}

#[test]
fn it_ends_early_if_asked_to() {
    let mut reader = TraceReader::new(common::HEAP.as_bytes()).expect("a trace");
    let (mut one_by_one, mut more) = (Vec::new(), true);
    while more {
        let take = |event: Event<'_>| {
            one_by_one.push(format!("{event:?}"));
            false
        };
        more = reader.next_events(take).expect("a trace");
    }
    assert_eq!(one_by_one, slowly(common::HEAP.as_bytes()));
}

proptest! {
    #[test]
    fn any_elements(lines in prop::collection::vec(common::any_element_line(), 1..8)) {
        let text = around(lines.concat().as_bytes());
        prop_assert_eq!(quickly(&text[..]), slowly(&text[..]));
    }

    #[test]
    fn any_damage(
        lines in prop::collection::vec(common::any_element_line(), 1..4),
        damage in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(HOSTILE)), 1..4),
    ) {
        let mut text = around(lines.concat().as_bytes());
        for (at, byte) in damage {
            *at.get_mut(&mut text) = byte;
        }
        prop_assert_eq!(quickly(&text[..]), slowly(&text[..]));
    }

    #[test]
    fn any_attributes(
        name in prop::sample::select(Element::SPECS).prop_map(|spec| spec.name),
        text in "( |time|objIdRef|=\"|\"|1|18446744073709551615|0|[.]|123456789|/|>|<|\n|é|&amp;|-){0,40}",
    ) {
        let text = around(format!("<{name}{text}/>").as_bytes());
        prop_assert_eq!(quickly(&text[..]), slowly(&text[..]));
    }
}
