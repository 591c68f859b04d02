//! The constant pool (JVMS 4.4): entries are found by offset and read when asked for.

use crate::error::ParseError;
use crate::read::{Reader, u16_at};

pub(crate) const UTF8: u8 = 1;
pub(crate) const INTEGER: u8 = 3;
pub(crate) const FLOAT: u8 = 4;
pub(crate) const LONG: u8 = 5;
pub(crate) const DOUBLE: u8 = 6;
pub(crate) const CLASS: u8 = 7;
pub(crate) const STRING: u8 = 8;
pub(crate) const FIELD: u8 = 9;
pub(crate) const METHOD: u8 = 10;
pub(crate) const INTERFACE_METHOD: u8 = 11;
pub(crate) const NAME_AND_TYPE: u8 = 12;
pub(crate) const METHOD_HANDLE: u8 = 15;
pub(crate) const METHOD_TYPE: u8 = 16;
pub(crate) const DYNAMIC: u8 = 17;
pub(crate) const INVOKE_DYNAMIC: u8 = 18;
pub(crate) const MODULE: u8 = 19;
pub(crate) const PACKAGE: u8 = 20;

/// Size of an entry by its tag, tag and the length of a Utf8 included, its text not; 0 for no entry.
const SIZES: [u8; 21] = {
    let mut sizes = [0; 21];
    let mut tag = 0;
    while tag < sizes.len() {
        let size = match tag as u8 {
            UTF8 | CLASS | STRING | METHOD_TYPE | MODULE | PACKAGE => 3,
            METHOD_HANDLE => 4,
            INTEGER | FLOAT | FIELD | METHOD | INTERFACE_METHOD | NAME_AND_TYPE | DYNAMIC | INVOKE_DYNAMIC => 5,
            LONG | DOUBLE => 9,
            _ => 0,
        };
        sizes[tag] = size;
        tag += 1;
    }
    sizes
};

/// One entry of the constant pool, with the indexes it holds left unresolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // the names are those of JVMS 4.4
pub enum Constant<'a> {
    Utf8(&'a [u8]),
    Integer(i32),
    Float(u32),
    Long(i64),
    Double(u64),
    Class { name: u16 },
    String { utf8: u16 },
    Field { class: u16, name_and_type: u16 },
    Method { class: u16, name_and_type: u16 },
    InterfaceMethod { class: u16, name_and_type: u16 },
    NameAndType { name: u16, descriptor: u16 },
    MethodHandle { kind: u8, reference: u16 },
    MethodType { descriptor: u16 },
    Dynamic { bootstrap: u16, name_and_type: u16 },
    InvokeDynamic { bootstrap: u16, name_and_type: u16 },
    Module { name: u16 },
    Package { name: u16 },
}

/// The constant pool of one class, borrowed from its bytes.
#[derive(Debug, Clone)]
pub struct ConstantPool<'a> {
    bytes: &'a [u8],
    /// Byte offset of the tag of each entry; 0 for index 0 and the second slot of long and double.
    offsets: Vec<u32>,
    end: usize,
}

impl<'a> ConstantPool<'a> {
    /// Reads the pool that begins (with its count) at `start` of the class.
    pub(crate) fn parse(bytes: &'a [u8], start: usize) -> Result<Self, ParseError> {
        let mut reader = Reader::at(bytes, start);
        let count = usize::from(reader.u16()?);
        if count == 0 {
            return Err(ParseError::BadPoolCount);
        }
        // A count the bytes cannot hold (an entry takes 3 bytes or more) must not reserve memory.
        let mut offsets = Vec::with_capacity(count.min(bytes.len() / 3 + 1) + 1);
        offsets.push(0);
        let mut at = reader.position();
        while offsets.len() < count {
            let offset = at;
            // The smallest entry is a tag and a u16, which for a Utf8 is its length.
            let head = bytes.get(offset..).and_then(|rest| rest.first_chunk::<3>());
            let &[tag, high, low] = head.ok_or(ParseError::Truncated { offset })?;
            // Offsets are u32: JVMTI hands over lengths of 31 bits.
            offsets.push(u32::try_from(offset).map_err(|_| ParseError::Truncated { offset })?);
            let size = SIZES.get(usize::from(tag)).copied().unwrap_or(0);
            if size == 0 {
                return Err(ParseError::UnknownConstant { tag, offset });
            }
            // A look-up instead of a match: the order of tags is beyond any branch predictor.
            let text = if tag == UTF8 { usize::from(u16::from_be_bytes([high, low])) } else { 0 };
            at += usize::from(size) + text;
            if matches!(tag, LONG | DOUBLE) {
                offsets.push(0);
            }
        }
        if offsets.len() != count {
            return Err(ParseError::BadPoolCount);
        }
        if at > bytes.len() {
            let last = offsets.last().map_or(start, |&offset| offset as usize);
            return Err(ParseError::Truncated { offset: last });
        }
        Ok(ConstantPool { bytes, offsets, end: at })
    }

    /// `constant_pool_count`: one more than the highest index, as the class file counts.
    pub fn count(&self) -> u16 {
        // The count was read as a u16, so this never loses anything.
        self.offsets.len() as u16
    }

    /// The offset behind the last entry.
    pub(crate) fn end(&self) -> usize {
        self.end
    }

    /// Tag of the entry and what follows the tag, up to the end of the class.
    #[inline]
    fn entry(&self, index: u16) -> Option<(u8, &'a [u8])> {
        match self.offsets.get(usize::from(index)) {
            None | Some(0) => None,
            Some(&offset) => {
                let (tag, rest) = self.bytes.get(offset as usize..)?.split_first()?;
                Some((*tag, rest))
            }
        }
    }

    /// The entry at `index`, or nothing for index 0, the second slot of a long or double, and beyond the end.
    pub fn get(&self, index: u16) -> Option<Constant<'a>> {
        let (tag, rest) = self.entry(index)?;
        let mut reader = Reader::new(rest);
        let mut u16 = || reader.u16().ok();
        Some(match tag {
            UTF8 => Constant::Utf8(self.utf8(index)?),
            INTEGER => Constant::Integer(i32::from_be_bytes(*rest.first_chunk()?)),
            FLOAT => Constant::Float(u32::from_be_bytes(*rest.first_chunk()?)),
            LONG => Constant::Long(i64::from_be_bytes(*rest.first_chunk()?)),
            DOUBLE => Constant::Double(u64::from_be_bytes(*rest.first_chunk()?)),
            CLASS => Constant::Class { name: u16()? },
            STRING => Constant::String { utf8: u16()? },
            FIELD => Constant::Field { class: u16()?, name_and_type: u16()? },
            METHOD => Constant::Method { class: u16()?, name_and_type: u16()? },
            INTERFACE_METHOD => Constant::InterfaceMethod { class: u16()?, name_and_type: u16()? },
            NAME_AND_TYPE => Constant::NameAndType { name: u16()?, descriptor: u16()? },
            METHOD_HANDLE => Constant::MethodHandle { kind: *rest.first()?, reference: u16_at(rest, 1)? },
            METHOD_TYPE => Constant::MethodType { descriptor: u16()? },
            DYNAMIC => Constant::Dynamic { bootstrap: u16()?, name_and_type: u16()? },
            INVOKE_DYNAMIC => Constant::InvokeDynamic { bootstrap: u16()?, name_and_type: u16()? },
            MODULE => Constant::Module { name: u16()? },
            PACKAGE => Constant::Package { name: u16()? },
            _ => return None,
        })
    }

    /// The bytes of a Utf8 entry, in modified UTF-8.
    #[inline]
    pub fn utf8(&self, index: u16) -> Option<&'a [u8]> {
        let (tag, rest) = self.entry(index)?;
        if tag != UTF8 {
            return None;
        }
        let length = usize::from(u16_at(rest, 0)?);
        rest.get(2..2 + length)
    }

    /// The index and the bytes of all Utf8 entries.
    pub fn texts(&self) -> impl Iterator<Item = (u16, &'a [u8])> {
        (1..self.count()).filter_map(|index| Some((index, self.utf8(index)?)))
    }

    /// Those of some texts that are in the pool, with their index.
    pub(crate) fn find_texts(&self, wanted: &'static [&'static str]) -> Vec<(&'static str, u16)> {
        if wanted.is_empty() {
            return Vec::new();
        }
        let known = |(index, text)| Some((*wanted.iter().find(|wanted| wanted.as_bytes() == text)?, index));
        self.texts().filter_map(known).collect()
    }

    /// The name of a Class entry, in internal form (`java/lang/String`, `[I`).
    #[inline]
    pub fn class_name(&self, index: u16) -> Option<&'a [u8]> {
        let (tag, rest) = self.entry(index)?;
        if tag != CLASS {
            return None;
        }
        self.utf8(u16_at(rest, 0)?)
    }

    /// Name and descriptor of a NameAndType entry.
    pub fn name_and_type(&self, index: u16) -> Option<(&'a [u8], &'a [u8])> {
        match self.get(index)? {
            Constant::NameAndType { name, descriptor } => Some((self.utf8(name)?, self.utf8(descriptor)?)),
            _ => None,
        }
    }
}
