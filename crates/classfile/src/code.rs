//! The Code attribute (JVMS 4.7.3).

use crate::attribute::{Attribute, Attributes};
use crate::error::Refusal;
use crate::instruction::Instructions;
use crate::lines::LineTable;
use crate::pool::ConstantPool;
use crate::read::Reader;

/// Widths of `max_stack`, `max_locals` and `code_length`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeLayout {
    /// 1, 1 and 2 bytes: class files before version 45.3 (JDK 1.0).
    Short,
    /// 2, 2 and 4 bytes.
    Normal,
}

/// One entry of the exception table; `end` is exclusive, `catch_type` 0 catches everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // the names are those of JVMS 4.7.3
pub struct ExceptionHandler {
    pub start: u16,
    pub end: u16,
    pub handler: u16,
    pub catch_type: u16,
}

/// A Code attribute, taken apart into its four parts.
#[derive(Debug, Clone, Copy)]
pub struct Code<'c, 'a> {
    pub(crate) pool: &'c ConstantPool<'a>,
    pub(crate) layout: CodeLayout,
    max_stack: u16,
    max_locals: u16,
    bytes: &'a [u8],
    exceptions: &'a [u8],
    /// The attribute table with its count, up to the end of the Code attribute.
    attributes: &'a [u8],
}

impl<'c, 'a> Code<'c, 'a> {
    /// Takes a Code attribute apart; `may_be_short` in class files before version 45.3.
    pub(crate) fn parse(
        pool: &'c ConstantPool<'a>,
        may_be_short: bool,
        attribute: &Attribute<'a>,
    ) -> Result<Self, Refusal> {
        match Code::parse_as(CodeLayout::Normal, pool, attribute.data) {
            // JDK 11 and newer read all versions in the normal way, JDK 8 those before 45.3 in the short one.
            // Code of one kind that holds together when read as the other is next to impossible.
            Err(_) if may_be_short => Code::parse_as(CodeLayout::Short, pool, attribute.data),
            parsed => parsed,
        }
    }

    fn parse_as(layout: CodeLayout, pool: &'c ConstantPool<'a>, data: &'a [u8]) -> Result<Self, Refusal> {
        let mut reader = Reader::new(data);
        let (max_stack, max_locals, length) = match layout {
            CodeLayout::Short => (u16::from(reader.u8()?), u16::from(reader.u8()?), u32::from(reader.u16()?)),
            CodeLayout::Normal => (reader.u16()?, reader.u16()?, reader.u32()?),
        };
        if length > 65_535 {
            return Err(Refusal::MalformedCode);
        }
        let bytes = reader.take(length as usize)?;
        let handlers = usize::from(reader.u16()?);
        let exceptions = reader.take(handlers * 8)?;
        let attributes = &data[reader.position()..];
        let mut walk = Attributes::new(pool, Reader::new(attributes))?;
        while walk.try_next()?.is_some() {}
        if walk.position() != attributes.len() {
            return Err(Refusal::MalformedCode);
        }
        Ok(Code { pool, layout, max_stack, max_locals, bytes, exceptions, attributes })
    }

    /// How the fields in front of the code are laid out.
    pub fn layout(&self) -> CodeLayout {
        self.layout
    }

    /// The instructions' bytes, at most 65,535.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The operand stack's depth, in slots.
    pub fn max_stack(&self) -> u16 {
        self.max_stack
    }

    /// The number of local variables, in slots.
    pub fn max_locals(&self) -> u16 {
        self.max_locals
    }

    /// The instructions in order, up to the first that cannot be read.
    pub fn instructions(&self) -> Instructions<'c, 'a> {
        Instructions::new(self.pool, self.bytes)
    }

    /// The exception table in order.
    pub fn exception_handlers(&self) -> impl ExactSizeIterator<Item = ExceptionHandler> + use<'a> {
        let (entries, _) = self.exceptions.as_chunks::<8>();
        entries.iter().map(|e| {
            let field = |at: usize| u16::from_be_bytes([e[at], e[at + 1]]);
            ExceptionHandler { start: field(0), end: field(2), handler: field(4), catch_type: field(6) }
        })
    }

    /// The attributes of the code.
    pub fn attributes(&self) -> Attributes<'c, 'a> {
        Attributes::new(self.pool, Reader::new(self.attributes)).unwrap_or_else(|_| Attributes::empty(self.pool))
    }

    /// All LineNumberTable attributes as one table, sorted for look-up.
    pub fn lines(&self) -> LineTable {
        LineTable::new(self.attributes())
    }
}
