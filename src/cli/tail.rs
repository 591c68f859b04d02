//! The truth about a trace from its end alone, however long it is.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use analysis::truth::{Doubt, Truth};
use anyhow::Context;
use trace::model::Element;
use trace::reader::{Event, TraceReader};

use super::reading;

/// The agent's counts and the tail take far less.
const END: u64 = 256 << 10;

/// What a zip begins with.
const ZIP: &[u8] = b"PK";

/// Reads the truth about a trace: of a plain one from its last bytes, of a zip from all of it, in constant memory.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn truth(path: &Path) -> anyhow::Result<Truth> {
    let unreadable = || format!("cannot read {}", path.display());
    let mut file = File::open(path).with_context(unreadable)?;
    let mut beginning = [0; ZIP.len()];
    let is_zip = file.read_exact(&mut beginning).is_ok() && beginning == ZIP;
    if is_zip {
        let reader = TraceReader::open(path).map_err(|error| reading::named(path, error))?;
        return Ok(truth_of(reader));
    }
    let length = file.seek(SeekFrom::End(0)).with_context(unreadable)?;
    file.seek(SeekFrom::Start(length.saturating_sub(END))).with_context(unreadable)?;
    let mut end = Vec::new();
    file.take(END).read_to_end(&mut end).with_context(unreadable)?;
    let first =
        if length > END { end.windows(2).position(|pair| pair == b"\n<").map_or(end.len(), |at| at + 1) } else { 0 };
    match TraceReader::new(&end[first..]) {
        Ok(reader) => Ok(truth_of(reader)),
        // Nothing of a trace is there.
        Err(_) => Ok(Truth { doubt: Some(Doubt::CutOff), ..Truth::default() }),
    }
}

fn truth_of<R: Read>(mut reader: TraceReader<R>) -> Truth {
    let mut truth = Truth::default();
    let (mut has_accounts, mut has_ended) = (false, false);
    loop {
        match reader.next_event() {
            Ok(Some(Event::Element { element: Element::MartiniCount(count), .. })) => {
                has_accounts |= truth.note(&count);
            }
            Ok(Some(Event::Element { element: Element::TraceEnd(_), .. })) => has_ended = true,
            Ok(Some(_)) => {}
            Ok(None) => break,
            // What is damaged may be an account.
            Err(_) => truth.add_doubt(Doubt::CutOff),
        }
    }
    if !has_ended {
        truth.add_doubt(Doubt::CutOff);
    } else if !has_accounts {
        truth.add_doubt(Doubt::NoAccounts);
    }
    truth.settle();
    truth
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use analysis::truth::Millionths;
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

    fn truth_in(bytes: &[u8]) -> Truth {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        truth(file.path()).unwrap()
    }

    #[test]
    fn the_end_is_found_in_traces_of_any_length() {
        for padding in [0, 1, 5_000, 50_000] {
            let text = document(padding, END_OF_TRACE);
            assert_eq!(truth_in(text.as_bytes()).seen(), Some(Millionths(900_000)), "{padding}");
            let mut zip = ZipWriter::new(Vec::new(), "trace.trcxml").unwrap();
            zip.write_all(text.as_bytes()).unwrap();
            assert_eq!(truth_in(&zip.finish().unwrap()).seen(), Some(Millionths(900_000)), "{padding}");
        }
    }

    #[test]
    fn what_has_no_end_is_doubted() {
        let cut = END_OF_TRACE.replace("<traceEnd time=\"1.000000000\"/>\n</TRACE>\n", "");
        for (text, doubt) in [
            (document(50_000, ""), Doubt::CutOff),
            (document(3, &cut), Doubt::CutOff),
            (document(3, "<traceEnd time=\"1.000000000\"/>\n</TRACE>\n"), Doubt::NoAccounts),
            (String::new(), Doubt::CutOff),
            ("no trace".repeat(100_000), Doubt::CutOff),
        ] {
            let truth = truth_in(text.as_bytes());
            assert_eq!((truth.seen(), truth.doubt), (None, Some(doubt)));
        }
    }
}
