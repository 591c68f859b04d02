//! Traces that were damaged or made up to hurt: the statistics may be odd, but there are some, and they agree with themselves.

use analysis::allocations::{AllocationReport, AllocationStats, By};
use proptest::prelude::*;
use trace::reader::{Event, TraceReader};

const EXAMPLE: &str = include_str!("../../../tests/traces/heap.trcxml");

fn read(bytes: &[u8]) -> AllocationReport {
    let mut stats = AllocationStats::new();
    if let Ok(mut reader) = TraceReader::new(bytes) {
        loop {
            match reader.next_event() {
                Ok(Some(Event::Element { element, .. })) => stats.element(&element),
                Ok(Some(Event::DocumentEnd(_))) => stats.end_document(),
                Ok(None) => break,
                Ok(Some(Event::DocumentStart { .. })) | Err(_) => {}
            }
        }
    }
    stats.finish()
}

/// Every object is in exactly one row of every table.
fn check(report: &AllocationReport) {
    let sum = report.sum(|_| true);
    assert_eq!(sum.total(), report.facts().allocations);
    for by in [By::Package, By::Class, By::Site, By::Line, By::Method, By::Module, By::Thread] {
        let rows = report.rows(by, |_| true);
        assert_eq!(rows.iter().map(|row| row.totals.total()).sum::<u64>(), sum.total());
        assert_eq!(rows.iter().map(|row| row.totals.live()).sum::<u64>(), sum.live());
        for row in rows {
            assert!(!row.subject.to_string().is_empty());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_text_is_counted_as_far_as_it_makes_sense(
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..40),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = EXAMPLE.as_bytes().to_vec();
        for (index, byte) in edits {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(bytes.len()) + 1);
        check(&read(&bytes));
    }

    #[test]
    fn numbers_of_any_size_are_taken(
        numbers in proptest::collection::vec(prop_oneof![0_u64..9, any::<u64>(), Just(u64::MAX)], 1..300),
    ) {
        // Every number of the example is replaced, so that ids clash, times run back and sizes explode.
        let mut numbers = numbers.iter().cycle();
        let body = &EXAMPLE[EXAMPLE.find("<threadStart").unwrap()..];
        let mut text = String::from("<TRACE>");
        for (index, piece) in body.split("=\"").enumerate() {
            if index > 0 {
                text.push_str("=\"");
            }
            let digits = piece.bytes().take_while(u8::is_ascii_digit).count();
            // These two have a smaller range, and the element would not be read.
            let keeps = text.ends_with("isArray=\"") || text.ends_with("lineNumber=\"");
            if !keeps && digits > 0 && piece[digits..].starts_with('"') {
                text.push_str(&numbers.next().unwrap().to_string());
                text.push_str(&piece[digits..]);
            } else {
                text.push_str(piece);
            }
        }
        let report = read(text.as_bytes());
        prop_assert!(report.facts().allocations > 0);
        check(&report);
    }
}
