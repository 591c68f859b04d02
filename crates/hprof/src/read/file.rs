//! A dump in a file, plain or packed by gzip, that can be read more than once.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;

use super::{ReadError, Reader};

/// Bytes of a packed file that are read at once.
const CHUNK: usize = 1 << 18;

/// A dump file.
#[derive(Debug)]
pub struct DumpFile {
    path: PathBuf,
    file: File,
    length: u64,
    is_packed: bool,
    consumed: Rc<Cell<u64>>,
}

impl DumpFile {
    /// Opens a file; whether it is a dump shows when it is read.
    ///
    /// # Errors
    /// It cannot be opened, is no file, or its first bytes cannot be read.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let open = || {
            let file = File::open(path)?;
            let metadata = file.metadata()?;
            match metadata.is_dir() {
                true => Err(ErrorKind::IsADirectory.into()),
                false => Ok((file, metadata.len())),
            }
        };
        let (file, length) = open().map_err(|source| ReadError::Open { path: path.to_owned(), source })?;
        Self::of(path, file, length)
    }

    /// A file that is open already; `path` is for error messages.
    ///
    /// # Errors
    /// Its first bytes cannot be read.
    pub fn of(path: &Path, file: File, length: u64) -> Result<Self, ReadError> {
        let mut dump =
            DumpFile { path: path.to_owned(), file, length, is_packed: false, consumed: Rc::new(Cell::new(0)) };
        let mut magic = [0; 2];
        let at_beginning = dump.stream()?.read_exact(&mut magic);
        dump.is_packed = at_beginning.is_ok() && magic == [0x1F, 0x8B];
        Ok(dump)
    }

    /// A reader at the beginning of the dump. Only one at a time: readers share the file's position.
    ///
    /// # Errors
    /// The file cannot be read, or its header is not that of a dump.
    pub fn reader(&self) -> Result<Reader<Box<dyn Read>>, ReadError> {
        let stream = self.stream()?;
        if self.is_packed {
            // HotSpot writes one gzip member for each piece.
            return Reader::new(Box::new(MultiGzDecoder::new(BufReader::with_capacity(CHUNK, stream))));
        }
        Reader::new(Box::new(stream))
    }

    /// The length of the file, packed as it is.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// How many bytes of the file the reader that was made last has used.
    pub fn consumed(&self) -> u64 {
        self.consumed.get()
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn stream(&self) -> Result<Counted, ReadError> {
        let rewound = || {
            let mut file = self.file.try_clone()?;
            io::Seek::rewind(&mut file)?;
            Ok(file)
        };
        let file = rewound().map_err(|source| ReadError::Open { path: self.path.clone(), source })?;
        self.consumed.set(0);
        Ok(Counted { file, consumed: Rc::clone(&self.consumed) })
    }
}

/// Counts what is read.
struct Counted {
    file: File,
    consumed: Rc<Cell<u64>>,
}

impl Read for Counted {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(out)?;
        self.consumed.set(self.consumed.get() + count as u64);
        Ok(count)
    }
}
