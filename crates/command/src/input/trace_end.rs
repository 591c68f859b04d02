//! How complete a trace is, from its end alone, however long it is.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use analysis::coverage::{Coverage, WhyUnknown};
use anyhow::Context;
use trace::model::Element;
use trace::reader::{Event, TraceReader};

use crate::input::reading;

/// The agent's counters and the footer take far less.
const END: u64 = 256 << 10;

/// What a zip begins with.
const ZIP: &[u8] = b"PK";

/// Reads how complete a trace is: of a plain one from its last bytes, of a zip from all of it, in constant memory.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn coverage(path: &Path) -> anyhow::Result<Coverage> {
    let unreadable = || format!("cannot read {}", path.display());
    let mut file = File::open(path).with_context(unreadable)?;
    let mut beginning = [0; ZIP.len()];
    let is_zip = file.read_exact(&mut beginning).is_ok() && beginning == ZIP;
    if is_zip {
        let reader = TraceReader::open(path).map_err(|error| reading::named(path, error))?;
        return Ok(coverage_of(reader));
    }
    let length = file.seek(SeekFrom::End(0)).with_context(unreadable)?;
    file.seek(SeekFrom::Start(length.saturating_sub(END))).with_context(unreadable)?;
    let mut end = Vec::new();
    file.take(END).read_to_end(&mut end).with_context(unreadable)?;
    let first =
        if length > END { end.windows(2).position(|pair| pair == b"\n<").map_or(end.len(), |at| at + 1) } else { 0 };
    match TraceReader::new(&end[first..]) {
        Ok(reader) => Ok(coverage_of(reader)),
        // Nothing of a trace is there.
        Err(_) => Ok(Coverage { why_unknown: Some(WhyUnknown::CutOff), ..Coverage::default() }),
    }
}

/// Whether a trace ends as its agent ends it. What cannot be read does not.
pub(crate) fn is_there(path: &Path) -> bool {
    coverage(path).is_ok_and(|coverage| coverage.why_unknown != Some(WhyUnknown::CutOff))
}

fn coverage_of<R: Read>(mut reader: TraceReader<R>) -> Coverage {
    let mut coverage = Coverage::default();
    let (mut has_accounts, mut has_ended) = (false, false);
    loop {
        match reader.next_event() {
            Ok(Some(Event::Element { element: Element::MartiniCount(count), .. })) => {
                has_accounts |= coverage.note(&count);
            }
            Ok(Some(Event::Element { element: Element::TraceEnd(_), .. })) => has_ended = true,
            Ok(Some(_)) => {}
            Ok(None) => break,
            // What is damaged may be an account.
            Err(_) => coverage.mark_unknown(WhyUnknown::CutOff),
        }
    }
    if !has_ended {
        coverage.mark_unknown(WhyUnknown::CutOff);
    } else if !has_accounts {
        coverage.mark_unknown(WhyUnknown::NoAccounts);
    }
    coverage.finish();
    coverage
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use analysis::coverage::Millionths;
    use trace::zip::ZipWriter;

    use super::*;

    fn document(padding: usize, end: &str) -> String {
        let events = "<gcStart time=\"1.000000000\"/>\n".repeat(padding);
        format!("<TRACE>\n{events}{end}")
    }

    const END_OF_TRACE: &str = "<martiniCount key=\"coverage.reported\" detail=\"events\" value=\"90\"/>\n\
                                <martiniCount key=\"coverage.accounted\" value=\"100\"/>\n\
                                <martiniCount key=\"coverage.missing\" value=\"10\"/>\n\
                                <traceEnd time=\"1.000000000\"/>\n</TRACE>\n";

    fn coverage_in(bytes: &[u8]) -> Coverage {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        coverage(file.path()).unwrap()
    }

    #[test]
    fn the_end_is_found_in_traces_of_any_length() {
        for padding in [0, 1, 5_000, 50_000] {
            let text = document(padding, END_OF_TRACE);
            assert_eq!(coverage_in(text.as_bytes()).seen(), Some(Millionths(900_000)), "{padding}");
            let mut zip = ZipWriter::new(Vec::new(), "trace.trcxml").unwrap();
            zip.write_all(text.as_bytes()).unwrap();
            assert_eq!(coverage_in(&zip.finish().unwrap()).seen(), Some(Millionths(900_000)), "{padding}");
        }
    }

    #[test]
    fn the_coverage_of_what_has_no_end_is_not_known() {
        let cut = END_OF_TRACE.replace("<traceEnd time=\"1.000000000\"/>\n</TRACE>\n", "");
        for (text, why) in [
            (document(50_000, ""), WhyUnknown::CutOff),
            (document(3, &cut), WhyUnknown::CutOff),
            (document(3, "<traceEnd time=\"1.000000000\"/>\n</TRACE>\n"), WhyUnknown::NoAccounts),
            (String::new(), WhyUnknown::CutOff),
            ("no trace".repeat(100_000), WhyUnknown::CutOff),
        ] {
            let coverage = coverage_in(text.as_bytes());
            assert_eq!((coverage.seen(), coverage.why_unknown), (None, Some(why)));
        }
    }
}
