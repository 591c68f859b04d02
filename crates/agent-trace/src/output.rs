//! The trace's file: plain, a pipe, or a zip.
//!
//! A file must end with a complete element even if the JVM is killed in the middle of a write. The kernel copies a write page
//! by page and may stop between two pages, never inside one; so no element crosses the end of a page ([`Pages`]).

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use trace::file::{IfTaken, Kind, NewFile, Refusal, create};
use trace::zip::{TRACE_ENTRY, ZipWriter};

use agent_options::Format;

use agent_base::events::progress::Progress;

const PAGE: u64 = 4096;

/// Text goes to a pipe or device in pieces of this size, so that it shows whether bytes flow.
const PIECE: usize = libc::PIPE_BUF;

/// The file itself.
struct Written {
    file: File,
    /// The largest part that is written at a time.
    piece: usize,
    progress: Arc<Progress>,
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(&bytes[..bytes.len().min(self.piece)])?;
        self.progress.step();
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

enum Sink {
    Stream(Written),
    /// A zip that has no byte yet: the program does not start until the file is open, and a full pipe would take none.
    NewZip(Option<Written>),
    Zip(Box<ZipWriter<Written>>),
}

/// The open trace file.
pub struct Output {
    sink: Sink,
    /// The file.
    pub path: PathBuf,
    /// Set for plain XML in a regular file.
    pages: Option<Pages>,
    progress: Arc<Progress>,
}

impl Output {
    /// Opens the file, empties it and locks it against other JVMs. `%p` in the path becomes the process id.
    ///
    /// # Errors
    /// Why it is not written: one sentence.
    pub fn open(path: &Path, format: Format, kind: Kind, if_taken: IfTaken) -> Result<Output, Refusal> {
        let path = PathBuf::from(path.to_string_lossy().replace("%p", &std::process::id().to_string()));
        let NewFile { file, path, is_regular } = create(&path, kind, if_taken)?;
        let pages = (is_regular && format == Format::Xml).then(Pages::default);
        let progress = Arc::<Progress>::default();
        let piece = if is_regular { usize::MAX } else { PIECE };
        let file = Written { file, piece, progress: progress.clone() };
        let sink = match format {
            Format::Xml => Sink::Stream(file),
            Format::Zip => Sink::NewZip(Some(file)),
        };
        Ok(Output { sink, path, pages, progress })
    }

    /// Shows whether text is taken.
    pub fn progress(&self) -> &Arc<Progress> {
        &self.progress
    }

    /// The page arithmetic of the text that is to be written, if this output needs it.
    pub(crate) fn pages(&mut self) -> Option<&mut Pages> {
        self.pages.as_mut()
    }

    /// Writes whole elements.
    ///
    /// # Errors
    /// The file takes no more.
    pub fn write(&mut self, text: &[u8]) -> io::Result<()> {
        if let Sink::NewZip(file) = &mut self.sink
            && let Some(file) = file.take()
        {
            self.sink = Sink::Zip(Box::new(ZipWriter::new(file, TRACE_ENTRY)?));
        }
        match &mut self.sink {
            Sink::Stream(file) => file.write_all(text)?,
            Sink::NewZip(_) => {}
            Sink::Zip(zip) => zip.write_all(text)?,
        }
        if let Some(pages) = &mut self.pages {
            pages.written += text.len() as u64;
        }
        Ok(())
    }

    /// Lets a reader see what was written so far.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Stream(_) | Sink::NewZip(_) => Ok(()),
            Sink::Zip(zip) => zip.flush(),
        }
    }

    /// Ends the file.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self.sink {
            Sink::Stream(_) | Sink::NewZip(_) => Ok(()),
            Sink::Zip(zip) => zip.finish().map(drop),
        }
    }

    /// After a write that failed half-way: cuts off the incomplete element.
    pub(crate) fn cut_back(&mut self) {
        if let (Sink::Stream(file), Some(pages)) = (&self.sink, &self.pages)
            && let Ok(metadata) = file.file.metadata()
        {
            // Where a page ends an element ends; so does everything written before this write.
            let _ = file.file.set_len((metadata.len() / PAGE * PAGE).max(pages.written));
        }
    }
}

/// Keeps elements from crossing the ends of pages.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    /// Bytes in the file, in front of the text that is being made.
    written: u64,
}

impl Pages {
    /// Called when `text` has grown by one element that begins at `start`: moves it to the next page if it crosses into it,
    /// and fills the gap with blanks at the end of the element before.
    pub(crate) fn align(&self, text: &mut Vec<u8>, start: usize) {
        let begins = self.written + start as u64;
        let ends = self.written + text.len() as u64;
        let gap = (PAGE - begins % PAGE) % PAGE;
        if begins / PAGE == (ends - 1) / PAGE || gap == 0 || text.len() - start > PAGE as usize {
            return;
        }
        let blanks = std::iter::repeat_n(b' ', gap as usize);
        match text[..start].strip_suffix(b"/>\n") {
            Some(before) => {
                let at = before.len();
                text.splice(at..at, blanks);
            }
            // Nothing before it that could be widened: a line of blanks.
            None => drop(text.splice(start..start, blanks.take(gap as usize - 1).chain([b'\n']))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use trace::file::TRACE;

    proptest! {
        #[test]
        fn every_page_ends_with_a_complete_element(
            lengths in prop::collection::vec(4usize..400, 1..300),
            drains in prop::collection::vec(any::<bool>(), 300),
        ) {
            let mut pages = Pages::default();
            let (mut file, mut text) = (Vec::new(), Vec::new());
            for (length, drain) in lengths.iter().zip(&drains) {
                let start = text.len();
                text.push(b'<');
                text.extend(std::iter::repeat_n(b'x', length - 4));
                text.extend(b"/>\n");
                pages.align(&mut text, start);
                if *drain {
                    pages.written += text.len() as u64;
                    file.append(&mut text);
                }
            }
            file.append(&mut text);
            for end in (PAGE as usize..file.len()).step_by(PAGE as usize) {
                prop_assert_eq!(file[end - 1], b'\n');
            }
            let elements = file.split(|&b| b == b'\n').filter(|l| l.iter().any(|&b| b != b' ')).count();
            prop_assert_eq!(elements, lengths.len());
            prop_assert_eq!(file.iter().filter(|&&b| b == b'x').count(), lengths.iter().map(|l| l - 4).sum::<usize>());
        }
    }

    #[test]
    fn the_process_id_is_in_the_name() {
        let dir = tempfile::tempdir().unwrap();
        let open = || Output::open(&dir.path().join("a-%p.trcxml"), Format::Xml, TRACE, IfTaken::Next).ok().unwrap();
        let (first, second) = (open(), open());
        assert!(first.path.ends_with(format!("a-{}.trcxml", std::process::id())));
        assert!(second.path.ends_with(format!("a-{}-2.trcxml", std::process::id())));
    }
}
