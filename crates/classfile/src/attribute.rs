//! Attributes (JVMS 4.7): a name and bytes, wherever they hang.

use crate::error::ParseError;
use crate::pool::ConstantPool;
use crate::read::{Reader, Short};

/// One attribute, its content unread.
#[derive(Debug, Clone, Copy)]
pub struct Attribute<'a> {
    /// Its name; empty when the name index leads to no Utf8 constant (only inside a Code attribute,
    /// which is not read when the class is).
    pub name: &'a [u8],
    /// The constant-pool index of the name.
    pub name_index: u16,
    /// Its content, without the six bytes of name and length.
    pub data: &'a [u8],
    /// Offset of `data` in the slice the attribute was read from.
    pub offset: usize,
}

/// Walks a table of attributes. Ends early where the bytes end early.
#[derive(Debug, Clone)]
pub struct Attributes<'p, 'a> {
    pool: &'p ConstantPool<'a>,
    reader: Reader<'a>,
    left: u16,
}

impl<'p, 'a> Attributes<'p, 'a> {
    /// The table whose count stands where `reader` is.
    pub(crate) fn new(pool: &'p ConstantPool<'a>, mut reader: Reader<'a>) -> Result<Self, Short> {
        let left = reader.u16()?;
        Ok(Attributes { pool, reader, left })
    }

    /// A table without entries.
    pub(crate) fn empty(pool: &'p ConstantPool<'a>) -> Self {
        Attributes { pool, reader: Reader::new(&[]), left: 0 }
    }

    /// The number of attributes not yet walked.
    pub(crate) fn left(&self) -> u16 {
        self.left
    }

    /// Where the next attribute begins, or the table ends.
    pub(crate) fn position(&self) -> usize {
        self.reader.position()
    }

    /// The next attribute, or why it cannot be read.
    #[inline]
    pub(crate) fn try_next(&mut self) -> Result<Option<Attribute<'a>>, Short> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let name_index = self.reader.u16()?;
        let length = self.reader.u32()?;
        let offset = self.reader.position();
        // On a 32-bit machine the cast could only cut lengths the slice cannot have anyway.
        let data = self.reader.take(length as usize)?;
        Ok(Some(Attribute { name: self.pool.utf8(name_index).unwrap_or_default(), name_index, data, offset }))
    }

    /// Checks that each attribute has a name and fits, and returns the offset behind the table.
    pub(crate) fn check(mut self) -> Result<usize, ParseError> {
        while self.left > 0 {
            let offset = self.reader.position();
            if let Some(attribute) = self.try_next()?
                && self.pool.utf8(attribute.name_index).is_none()
            {
                return Err(ParseError::BadIndex {
                    index: attribute.name_index,
                    offset,
                    expected: "a Utf8 (attribute name)",
                });
            }
        }
        Ok(self.position())
    }
}

impl<'a> Iterator for Attributes<'_, 'a> {
    type Item = Attribute<'a>;

    fn next(&mut self) -> Option<Attribute<'a>> {
        self.try_next().ok().flatten()
    }
}
