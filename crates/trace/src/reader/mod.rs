//! Reads a trace as a stream, in constant memory.
//!
//! Takes what profilers and workbenches really left behind: plain XML, gzip, or a zip whose every
//! entry is a document; documents without an end tag or cut off inside an element; no white space
//! between elements; elements and attributes that the format does not know.
//!
//! A scanner finds the tags in one large reused buffer, and `quick-xml` takes their attributes
//! apart where they lie, so that an element borrows its texts from the buffer. Elements that are
//! written as our writer writes them are read without either, in one pass
//! ([`next_events`](TraceReader::next_events)).

mod container;
mod error;
mod foreign;
mod scan;

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::counters;
use crate::model::{Attributes, Element, Irregularities, RecordError};

use container::Container;
pub use error::{Malformed, ReadError, ZipProblem};
pub use foreign::Foreign;
use scan::{Markup, Scanner, Tag};

/// A place in a document, before any packing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Bytes before it in its document.
    pub offset: u64,
    /// Number of its line, from 1. Some traces are one single line.
    pub line: u64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, byte {}", self.line, self.offset)
    }
}

/// How a document ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentEnd {
    /// With the root's end tag.
    Complete,
    /// Behind a complete element, without the end tag: the profiler was cut off, or the document is
    /// a bare fragment.
    Open,
    /// Inside an element, of which nothing is delivered.
    Cut {
        /// How many of its bytes were there.
        bytes: u64,
    },
}

impl DocumentEnd {
    /// Whether the end is missing.
    pub fn is_truncated(self) -> bool {
        self != Self::Complete
    }
}

/// What a reader delivers. Ids of one document say nothing about those of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A document begins.
    DocumentStart {
        /// Name of the zip entry, cut to a length and of characters that can be shown; empty outside a zip.
        name: &'a str,
    },
    /// An element.
    Element {
        /// The element.
        element: Element<'a>,
        /// Where it begins.
        at: Position,
        /// What was tolerated in it.
        irregularities: Irregularities,
    },
    /// The document has ended.
    DocumentEnd(DocumentEnd),
}

/// Reads the events of a trace one by one.
///
/// ```
/// use trace::model::Element;
/// use trace::reader::{Event, TraceReader};
///
/// let xml = br#"<TRACE><objFree objIdRef="7" time="1.000000000"/>"#;
/// let mut reader = TraceReader::new(&xml[..])?;
/// let mut freed = Vec::new();
/// while let Some(event) = reader.next_event()? {
///     if let Event::Element { element: Element::ObjFree(free), .. } = event {
///         freed.push(free.object.0);
///     }
/// }
/// assert_eq!(freed, [7]);
/// # Ok::<(), trace::reader::ReadError>(())
/// ```
pub struct TraceReader<R> {
    container: Container<R>,
    scanner: Scanner,
    state: State,
    total: Option<u64>,
    /// A tag that was no UTF-8, as text.
    latin: String,
}

/// Where in the sequence of documents the reader stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// No entry of the container is open.
    BetweenEntries,
    /// Inside an entry, outside a document.
    BetweenDocuments,
    /// Inside a document whose root tag has not been seen.
    BeforeRoot,
    /// Inside a document's root.
    InRoot,
    /// Nothing more comes.
    Finished,
}

/// One step of the reader, which borrows nothing yet.
enum Step {
    Start,
    Element(Tag),
    End(DocumentEnd),
    Finished,
}

impl TraceReader<File> {
    /// Opens a trace file.
    ///
    /// # Errors
    /// The file cannot be opened or is empty.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let open = || {
            let file = File::open(path)?;
            let metadata = file.metadata()?;
            if metadata.is_dir() {
                return Err(std::io::ErrorKind::IsADirectory.into());
            }
            // A pipe has no length.
            Ok((file, metadata.is_file().then_some(metadata.len())))
        };
        let (file, total) = open().map_err(|source| ReadError::Open { path: path.to_owned(), source })?;
        let mut reader = Self::new(file)?;
        reader.total = total;
        Ok(reader)
    }
}

impl<R: Read> TraceReader<R> {
    /// Reads a trace from anything; needs no buffering in between.
    ///
    /// # Errors
    /// The first bytes cannot be read, or there are none.
    pub fn new(read: R) -> Result<Self, ReadError> {
        Ok(Self {
            container: Container::new(read)?,
            scanner: Scanner::new(),
            state: State::BetweenEntries,
            total: None,
            latin: String::new(),
        })
    }

    /// How many bytes of the file have been used, packed as they are.
    pub fn consumed(&self) -> u64 {
        self.container.consumed()
    }

    /// The length of the file, if it is one.
    pub fn total(&self) -> Option<u64> {
        self.total
    }

    /// Delivers the next events, as many as can be had at once, and at least one; `false` behind the last. Reads faster than
    /// [`next_event`](Self::next_event), and delivers the same. It ends early if `take` gives `false`.
    ///
    /// # Errors
    /// As [`next_event`](Self::next_event), once what comes before has been delivered.
    pub fn next_events(&mut self, mut take: impl FnMut(Event<'_>) -> bool) -> Result<bool, ReadError> {
        let mut goes_on = true;
        if self.state == State::InRoot {
            self.scanner.usual(|element, at| {
                goes_on =
                    take(Event::Element { element: current(element), at, irregularities: Irregularities::default() });
                goes_on
            });
        }
        if !goes_on {
            return Ok(true);
        }
        let event = self.next_event()?;
        Ok(event.map(take).is_some())
    }

    /// The next event, or `None` behind the last.
    ///
    /// # Errors
    /// What cannot be read. The next call continues behind it; if that is impossible, it delivers
    /// the end of the document and then `None`. So a caller may report errors and always continue.
    pub fn next_event(&mut self) -> Result<Option<Event<'_>>, ReadError> {
        let tag = match self.step()? {
            Step::Start => {
                let name = &self.container.name;
                return Ok(Some(Event::DocumentStart { name }));
            }
            Step::End(end) => return Ok(Some(Event::DocumentEnd(end))),
            Step::Finished => return Ok(None),
            Step::Element(tag) => tag,
        };
        let text = text(self.scanner.content(&tag), &mut self.latin);
        let name = name_of(text);
        let attributes = Attributes::new(text, name.len());
        let mut irregularities = Irregularities::default();
        let element = match is_xml_name(name) {
            true => Element::read(name, attributes, &mut irregularities),
            false => Err(RecordError::Syntax),
        };
        match element {
            Ok(element) => Ok(Some(Event::Element { element: current(element), at: tag.at, irregularities })),
            Err(error) => Err(ReadError::Malformed { at: tag.at, name: printable(name), problem: error.into() }),
        }
    }

    fn step(&mut self) -> Result<Step, ReadError> {
        loop {
            match self.state {
                State::Finished => return Ok(Step::Finished),
                State::BetweenEntries => {
                    self.state = State::Finished;
                    if self.container.next_document()? {
                        self.state = State::BetweenDocuments;
                        self.scanner.start();
                        self.check_beginning()?;
                    }
                }
                State::BetweenDocuments => match self.scanner.peek(&mut self.container)? {
                    Some(Markup::Start | Markup::Prolog) => {
                        self.state = State::BeforeRoot;
                        return Ok(Step::Start);
                    }
                    Some(_) => self.scanner.skip(&mut self.container)?,
                    None => self.state = State::BetweenEntries,
                },
                State::BeforeRoot | State::InRoot => {
                    if let Some(step) = self.step_in_document()? {
                        return Ok(step);
                    }
                }
            }
        }
    }

    /// One piece of markup inside a document; `None` if it says nothing to the caller.
    fn step_in_document(&mut self) -> Result<Option<Step>, ReadError> {
        let markup = self.scanner.peek(&mut self.container)?;
        match markup {
            Some(Markup::Start | Markup::End) => {}
            // Only a second document has a prolog behind the root's start tag.
            Some(Markup::Prolog) if self.state == State::InRoot => {
                return Ok(Some(self.end(DocumentEnd::Open)));
            }
            Some(Markup::Prolog | Markup::Other) => {
                self.scanner.skip(&mut self.container)?;
                return Ok(None);
            }
            None => {
                self.state = State::BetweenEntries;
                return Ok(Some(Step::End(DocumentEnd::Open)));
            }
        }
        let Some(tag) = self.tag()? else {
            self.state = State::BetweenEntries;
            let bytes = self.scanner.left();
            self.scanner.start();
            return Ok(Some(Step::End(DocumentEnd::Cut { bytes })));
        };
        let name = name_of_bytes(self.scanner.content(&tag));
        let is_root = matches!(name, b"TRACE" | b"traceRoot");
        match (markup, self.state) {
            (Some(Markup::End), _) => {
                self.scanner.consume(&tag);
                Ok(is_root.then(|| self.end(DocumentEnd::Complete)))
            }
            // A second document follows without a prolog; its root tag is left for the next step.
            _ if is_root && self.state == State::InRoot => Ok(Some(self.end(DocumentEnd::Open))),
            _ if is_root => {
                self.scanner.consume(&tag);
                self.state = State::InRoot;
                Ok(tag.is_empty.then(|| self.end(DocumentEnd::Complete)))
            }
            _ => {
                self.scanner.consume(&tag);
                Ok(Some(Step::Element(tag)))
            }
        }
    }

    fn end(&mut self, end: DocumentEnd) -> Step {
        self.state = State::BetweenDocuments;
        Step::End(end)
    }

    fn tag(&mut self) -> Result<Option<Tag>, ReadError> {
        let result = self.scanner.tag(&mut self.container);
        if let Err(ReadError::TagTooLong { .. }) = result {
            self.scanner.skip_all(&mut self.container)?;
        }
        result
    }

    /// Refuses an entry that does not begin like XML, and goes to its end.
    fn check_beginning(&mut self) -> Result<(), ReadError> {
        let Some(found) = self.scanner.foreign_beginning(&mut self.container)? else { return Ok(()) };
        self.state = State::BetweenEntries;
        self.scanner.skip_all(&mut self.container)?;
        let (name, is_gzip) = (self.container.name.clone(), self.container.is_gzip());
        Err(ReadError::NotXml { name, is_gzip, found })
    }
}

/// An element with the key of today, if it is a counter.
#[inline(always)]
fn current(mut element: Element<'_>) -> Element<'_> {
    if let Element::MartiniCount(count) = &mut element {
        count.key = counters::current(std::mem::take(&mut count.key));
    }
    element
}

/// The tag as text. What is no UTF-8 is taken for Latin-1: old profilers wrote names as they came.
fn text<'a>(content: &'a [u8], latin: &'a mut String) -> &'a str {
    match std::str::from_utf8(content) {
        Ok(text) => text,
        Err(_) => {
            latin.clear();
            latin.extend(content.iter().map(|&byte| char::from(byte)));
            latin
        }
    }
}

fn name_of(content: &str) -> &str {
    &content[..name_of_bytes(content.as_bytes()).len()]
}

fn name_of_bytes(content: &[u8]) -> &[u8] {
    let end = content.iter().position(u8::is_ascii_whitespace);
    &content[..end.unwrap_or(content.len())]
}

/// Whether text can name an element; beyond ASCII everything may pass that a terminal can print.
fn is_xml_name(text: &str) -> bool {
    let starts = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | ':') || !c.is_ascii() && !c.is_control();
    let goes_on = |c: char| starts(c) || c.is_ascii_digit() || matches!(c, '.' | '-');
    text.starts_with(starts) && text.chars().all(goes_on)
}

/// A name for an error message; hostile ones may be megabytes long, or steer a terminal.
fn printable(name: &str) -> String {
    name.chars().take(200).map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

impl From<RecordError> for Malformed {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::Missing(attribute) => Self::Missing(attribute),
            RecordError::BadValue(attribute) => Self::BadValue(attribute),
            RecordError::Syntax => Self::Syntax,
            RecordError::TooMany => Self::TooManyAttributes,
        }
    }
}
