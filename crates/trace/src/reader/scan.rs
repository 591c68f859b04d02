//! Finds the tags of a document in one large buffer that is refilled and reused.

use std::io::Read;

use super::Position;
use super::container::Container;
use super::error::ReadError;
use super::foreign::{self, Foreign};
use crate::model::Element;

/// What fits a level-2 cache, and so many elements that moving the rest of one costs nothing.
const BUFFER: usize = 256 * 1024;

/// The longest tag that is read. A Java name has at most 64 KiB; escaped, six times that.
const MAX_TAG: usize = 16 * 1024 * 1024;

/// The kind of markup that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Markup {
    /// `<name ...>` or `<name .../>`
    Start,
    /// `</name>`
    End,
    /// `<?xml ...?>`
    Prolog,
    /// A comment, CDATA, a declaration, or another processing instruction.
    Other,
}

/// A whole tag in the buffer; valid until the scanner is asked for more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tag {
    from: usize,
    to: usize,
    /// Where reading continues.
    next: usize,
    /// Whether it ends with `/>`.
    pub(crate) is_empty: bool,
    /// Where its `<` stands.
    pub(crate) at: Position,
}

pub(crate) struct Scanner {
    buffer: Vec<u8>,
    /// What is in use of the buffer and not consumed.
    start: usize,
    end: usize,
    /// Where `start` stands in the document.
    at: Position,
    /// Whether the document has no more bytes.
    at_end: bool,
}

impl Scanner {
    pub(crate) fn new() -> Self {
        Self { buffer: vec![0; BUFFER], start: 0, end: 0, at: Position { offset: 0, line: 1 }, at_end: false }
    }

    /// Forgets everything, for a new entry of the container.
    pub(crate) fn start(&mut self) {
        self.start = 0;
        self.end = 0;
        self.at = Position { offset: 0, line: 1 };
        self.at_end = false;
    }

    /// How many bytes are there and not consumed.
    pub(crate) fn left(&self) -> u64 {
        (self.end - self.start) as u64
    }

    /// The text of a tag: name and attributes, without brackets and slashes.
    pub(crate) fn content(&self, tag: &Tag) -> &[u8] {
        &self.buffer[tag.from..tag.to]
    }

    /// What the document is if it does not begin with `<`, behind a byte-order mark and white space.
    pub(crate) fn foreign_beginning<R: Read>(
        &mut self,
        input: &mut Container<R>,
    ) -> Result<Option<Foreign>, ReadError> {
        while self.end < foreign::ENOUGH && self.more(input)? {}
        if let Some(known) = Foreign::of(self.rest()) {
            return Ok(Some(known));
        }
        if self.rest().starts_with("\u{feff}".as_bytes()) {
            self.advance(3);
        }
        loop {
            let blank = |byte: &u8| !byte.is_ascii_whitespace();
            match self.rest().iter().position(blank) {
                Some(at) => return Ok((self.rest()[at] != b'<').then_some(Foreign::Unknown)),
                None => self.advance(self.rest().len()),
            }
            if !self.more(input)? {
                // White space only: there is nothing to complain about.
                return Ok(None);
            }
        }
    }

    /// Takes elements that are written in the usual way, as long as one follows the other in the buffer and `take` wants more.
    pub(crate) fn usual<'a>(&'a mut self, mut take: impl FnMut(Element<'a>, Position) -> bool) {
        let text = &self.buffer[self.start..self.end];
        let mut next = self.at;
        loop {
            let mut at = next;
            let mut rest = &text[(at.offset - self.at.offset) as usize..];
            while let [space @ (b' ' | b'\t' | b'\r' | b'\n'), behind @ ..] = rest {
                at.line += u64::from(*space == b'\n');
                at.offset += 1;
                rest = behind;
            }
            let Some((element, behind)) = rest.strip_prefix(b"<").and_then(Element::read_usual) else { break };
            next = Position { offset: at.offset + (rest.len() - behind.len()) as u64, ..at };
            if !take(element, at) {
                break;
            }
        }
        self.start += (next.offset - self.at.offset) as usize;
        self.at = next;
    }

    /// Goes to the next `<` and says what it begins; `None` if there is none.
    pub(crate) fn peek<R: Read>(&mut self, input: &mut Container<R>) -> Result<Option<Markup>, ReadError> {
        while memchr::memchr(b'<', self.rest()).is_none() {
            self.advance(self.rest().len());
            if !self.more(input)? {
                return Ok(None);
            }
        }
        self.advance(memchr::memchr(b'<', self.rest()).unwrap_or(0));
        while self.rest().len() < b"<?xml ".len() && self.more(input)? {}
        Ok(Some(match self.rest() {
            [_, b'?', b'x', b'm', b'l', next, ..] if next.is_ascii_whitespace() => Markup::Prolog,
            [_, b'?' | b'!', ..] => Markup::Other,
            [_, b'/', ..] => Markup::End,
            _ => Markup::Start,
        }))
    }

    /// The tag that begins at the next `<`, which [`peek`](Self::peek) has found; `None` if the
    /// document ends before it does.
    pub(crate) fn tag<R: Read>(&mut self, input: &mut Container<R>) -> Result<Option<Tag>, ReadError> {
        let mut search = TagEnd::default();
        loop {
            if let Some(end) = search.find(self.rest()) {
                return Ok(Some(self.tag_of(end)));
            }
            if self.rest().len() >= MAX_TAG {
                return Err(ReadError::TagTooLong { at: self.at, limit: MAX_TAG });
            }
            if !self.more(input)? {
                return Ok(None);
            }
        }
    }

    fn tag_of(&self, end: End) -> Tag {
        let (to, width) = match end {
            End::Closed(at) => (at, 1),
            End::Broken(at) => (at, 0),
        };
        let content = &self.rest()[1..to];
        let content = content.strip_prefix(b"/").unwrap_or(content);
        let is_empty = content.ends_with(b"/");
        Tag {
            from: self.start + to - content.len(),
            to: self.start + to - usize::from(is_empty),
            next: self.start + to + width,
            is_empty,
            at: self.at,
        }
    }

    /// Goes behind a tag; its content stays in the buffer until more is asked for.
    pub(crate) fn consume(&mut self, tag: &Tag) {
        self.advance(tag.next - self.start);
    }

    /// Goes behind a comment, CDATA, a declaration, a processing instruction or a tag.
    pub(crate) fn skip<R: Read>(&mut self, input: &mut Container<R>) -> Result<(), ReadError> {
        while self.rest().len() < b"<![CDATA[".len() && self.more(input)? {}
        let rest = self.rest();
        let end: &[u8] = if rest.starts_with(b"<!--") {
            b"-->"
        } else if rest.starts_with(b"<![CDATA[") {
            b"]]>"
        } else if rest.starts_with(b"<?") {
            b"?>"
        } else if rest.starts_with(b"<!") {
            return self.skip_declaration(input);
        } else {
            b">"
        };
        // Behind the opening, so that `<!-->` does not count as a whole comment.
        self.advance(4.min(self.rest().len()).min(end.len() + 1));
        loop {
            if let Some(found) = memchr::memmem::find(self.rest(), end) {
                self.advance(found + end.len());
                return Ok(());
            }
            // The end may have arrived in part.
            self.advance((self.rest().len() + 1).saturating_sub(end.len()));
            if !self.more(input)? {
                self.advance(self.rest().len());
                return Ok(());
            }
        }
    }

    /// Goes behind `<!DOCTYPE ... [ ... ]>`. What it declares is not used: an entity that it defines
    /// is unknown to us, so nothing can expand.
    fn skip_declaration<R: Read>(&mut self, input: &mut Container<R>) -> Result<(), ReadError> {
        let mut depth = 0_u64;
        let mut quote = None;
        loop {
            let mut end = None;
            for (at, &byte) in self.rest().iter().enumerate() {
                match (quote, byte) {
                    (Some(open), _) if byte == open => quote = None,
                    (Some(_), _) => {}
                    (None, b'"' | b'\'') => quote = Some(byte),
                    (None, b'[') => depth += 1,
                    (None, b']') => depth = depth.saturating_sub(1),
                    (None, b'>') if depth == 0 => {
                        end = Some(at);
                        break;
                    }
                    _ => {}
                }
            }
            self.advance(end.map_or(self.rest().len(), |at| at + 1));
            if end.is_some() || !self.more(input)? {
                return Ok(());
            }
        }
    }

    /// Goes to the end of the document.
    pub(crate) fn skip_all<R: Read>(&mut self, input: &mut Container<R>) -> Result<(), ReadError> {
        loop {
            self.advance(self.rest().len());
            if !self.more(input)? {
                return Ok(());
            }
        }
    }

    fn rest(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    fn advance(&mut self, count: usize) {
        let passed = &self.buffer[self.start..self.start + count];
        self.at.line += memchr::memchr_iter(b'\n', passed).count() as u64;
        self.at.offset += count as u64;
        self.start += count;
    }

    /// Reads some more of the document behind what is there; `false` if it has ended.
    fn more<R: Read>(&mut self, input: &mut Container<R>) -> Result<bool, ReadError> {
        if self.at_end {
            return Ok(false);
        }
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        let count = input.read(&mut self.buffer[self.end..])?;
        self.end += count;
        self.at_end = count == 0;
        Ok(count > 0)
    }
}

/// The search for the end of a tag, which can be taken up again when more of the tag is there.
#[derive(Default)]
struct TagEnd {
    searched: usize,
    quote: Option<u8>,
}

/// Where a tag ends.
enum End {
    /// At its `>`.
    Closed(usize),
    /// Before a `<` between quotes, which XML does not allow: a quote is missing, and what follows
    /// is the next tag.
    Broken(usize),
}

impl TagEnd {
    /// The end of the tag at the beginning of `text`.
    fn find(&mut self, text: &[u8]) -> Option<End> {
        if self.searched == 0
            && let Some(end) = memchr::memchr(b'>', text)
        {
            // Nearly every tag holds no `'`, and no `>` between its `"`; counting is much faster
            // than going from quote to quote.
            let tag = &text[..end];
            let quotes = memchr::memchr_iter(b'"', tag).count();
            if quotes.is_multiple_of(2) && memchr::memchr(b'\'', tag).is_none() {
                return Some(End::Closed(end));
            }
        }
        while let Some(rest) = text.get(self.searched..) {
            let found = match self.quote {
                Some(quote) => memchr::memchr2(quote, b'<', rest),
                None => memchr::memchr3(b'>', b'"', b'\'', rest),
            };
            let Some(found) = found else {
                break;
            };
            let at = self.searched + found;
            self.searched = at + 1;
            match (self.quote, text[at]) {
                (Some(_), b'<') => return Some(End::Broken(at)),
                (Some(_), _) => self.quote = None,
                (None, b'>') => return Some(End::Closed(at)),
                (None, quote) => self.quote = Some(quote),
            }
        }
        self.searched = text.len();
        None
    }
}
