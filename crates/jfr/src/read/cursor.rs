//! Numbers and texts as they stand in a recording.

use std::borrow::Cow;

use trace::modified_utf8;

use super::error::Damage;

/// A place in the bytes of a chunk, from which is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    pub(crate) at: usize,
    /// Numbers take as many bytes as they need, and not as many as their type has.
    is_compressed: bool,
}

/// A text, or where it is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Text<'a> {
    Null,
    Here(Cow<'a, str>),
    /// The number of a constant.
    Constant(u64),
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8], at: usize, is_compressed: bool) -> Self {
        Cursor { bytes, at, is_compressed }
    }

    pub(crate) fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], Damage> {
        let end = self.at.checked_add(length).filter(|&end| end <= self.bytes.len());
        let taken = &self.bytes[self.at..end.ok_or(Damage::TooShort)?];
        self.at += length;
        Ok(taken)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Damage> {
        Ok(self.take(1)?[0])
    }

    /// A number of so many bytes, the highest first.
    pub(crate) fn fixed(&mut self, width: usize) -> Result<u64, Damage> {
        Ok(self.take(width)?.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
    }

    /// A number whose type has `width` bytes.
    pub(crate) fn number(&mut self, width: usize) -> Result<u64, Damage> {
        if !self.is_compressed {
            return self.fixed(width);
        }
        let mut value = 0;
        for index in 0..9 {
            let byte = self.byte()?;
            // The ninth has eight bits.
            if index == 8 || byte < 0x80 {
                return Ok(value | u64::from(byte) << (7 * index));
            }
            value |= u64::from(byte & 0x7f) << (7 * index);
        }
        Ok(value)
    }

    /// How many things follow, each of which has a byte at least.
    pub(crate) fn count(&mut self) -> Result<usize, Damage> {
        let count = self.number(4)?;
        usize::try_from(count).ok().filter(|&count| count <= self.left()).ok_or(Damage::TooShort)
    }

    pub(crate) fn text(&mut self) -> Result<Text<'a>, Damage> {
        Ok(match self.byte()? {
            0 => Text::Null,
            1 => Text::Here("".into()),
            2 => Text::Constant(self.number(8)?),
            3 => {
                let length = self.count()?;
                // HotSpot writes its own names as it has them.
                Text::Here(modified_utf8::decode(self.take(length)?).into())
            }
            4 => {
                let length = self.count()?;
                let units: Result<Vec<u16>, Damage> = (0..length).map(|_| Ok(self.number(2)? as u16)).collect();
                Text::Here(String::from_utf16_lossy(&units?).into())
            }
            5 => {
                let length = self.count()?;
                Text::Here(self.take(length)?.iter().map(|&byte| char::from(byte)).collect::<String>().into())
            }
            _ => return Err(Damage::Text),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_one_to_nine_bytes() {
        for (bytes, value) in [
            (&[0][..], 0),
            (&[0x7f], 0x7f),
            (&[0x80, 1], 0x80),
            (&[0xff; 9], u64::MAX),
            (&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80], 1 << 63),
        ] {
            let mut cursor = Cursor::new(bytes, 0, true);
            assert_eq!((cursor.number(8), cursor.left()), (Ok(value), 0));
        }
        assert_eq!(Cursor::new(&[0x80], 0, true).number(8), Err(Damage::TooShort));
        assert_eq!(Cursor::new(&[1, 2, 3, 4], 0, false).number(4), Ok(0x0102_0304));
    }

    #[test]
    fn texts_stand_in_six_ways() {
        let text = |bytes| Cursor::new(bytes, 0, true).text();
        assert_eq!(text(&[0]), Ok(Text::Null));
        assert_eq!(text(&[1]), Ok(Text::Here("".into())));
        assert_eq!(text(&[2, 9]), Ok(Text::Constant(9)));
        assert_eq!(text(&[3, 2, 0xc3, 0xa4]), Ok(Text::Here("ä".into())));
        assert_eq!(text(&[3, 6, 0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]), Ok(Text::Here("😀".into())));
        assert_eq!(text(&[3, 4, 0xf0, 0x9f, 0x98, 0x80]), Ok(Text::Here("😀".into())));
        assert_eq!(text(&[4, 2, 0x41, 0xe4, 1]), Ok(Text::Here("Aä".into())));
        assert_eq!(text(&[5, 1, 0xe4]), Ok(Text::Here("ä".into())));
        assert_eq!(text(&[6]), Err(Damage::Text));
        // Longer than what there is.
        assert_eq!(text(&[3, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x41]), Err(Damage::TooShort));
        assert_eq!(text(&[3, 1, 0xff]), Ok(Text::Here("\u{fffd}".into())));
    }
}
