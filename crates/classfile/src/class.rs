//! A parsed class: where its parts are, with each read when asked for.

use crate::attribute::{Attribute, Attributes};
use crate::code::Code;
use crate::error::{ParseError, Refusal};
use crate::pool::{Constant, ConstantPool};
use crate::read::Reader;

/// Access flags (JVMS 4.1, 4.6) that callers of this crate ask for.
pub mod access {
    /// `static` method.
    pub const STATIC: u16 = 0x0008;
    /// `native` method.
    pub const NATIVE: u16 = 0x0100;
    /// Interface rather than class.
    pub const INTERFACE: u16 = 0x0200;
    /// `abstract` method or class.
    pub const ABSTRACT: u16 = 0x0400;
    /// Made by the compiler, not in the source.
    pub const SYNTHETIC: u16 = 0x1000;
}

/// A class file whose structure has been checked, borrowed from its bytes.
///
/// Checked are the constant pool's tags and lengths and the frame of interfaces, fields, methods and
/// attributes down to their names. The content of attributes, Code included, is not: it is read, and
/// may be refused, when someone asks.
#[derive(Debug, Clone)]
pub struct ClassFile<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) pool: ConstantPool<'a>,
    name: &'a [u8],
    super_name: Option<&'a [u8]>,
    /// Offsets of the counts of the tables.
    fields: usize,
    pub(crate) methods: usize,
    attributes: usize,
}

impl<'a> ClassFile<'a> {
    /// Reads the structure of a class file (JVMS 4.1). Takes one allocation, for the pool's offsets.
    ///
    /// # Errors
    ///
    /// The bytes do not begin as a class file does, end early, or hold an index that leads to nothing of its kind.
    pub fn parse(bytes: &'a [u8]) -> Result<ClassFile<'a>, ParseError> {
        if bytes.get(..4) != Some(&[0xCA, 0xFE, 0xBA, 0xBE]) {
            return Err(ParseError::BadMagic);
        }
        let pool = ConstantPool::parse(bytes, 8)?;
        let mut reader = Reader::at(bytes, pool.end());
        reader.skip(2)?;
        let class_at = reader.position();
        let index = reader.u16()?;
        let name = pool.class_name(index).ok_or(ParseError::BadIndex {
            index,
            offset: class_at,
            expected: "a Class (this_class)",
        })?;
        let super_at = reader.position();
        let super_name = match reader.u16()? {
            0 => None,
            index => Some(pool.class_name(index).ok_or(ParseError::BadIndex {
                index,
                offset: super_at,
                expected: "a Class (super_class)",
            })?),
        };
        let interfaces = usize::from(reader.u16()?);
        reader.skip(interfaces * 2)?;

        let fields = reader.position();
        let methods = check_members(bytes, &pool, fields)?;
        let attributes = check_members(bytes, &pool, methods)?;
        let end = Attributes::new(&pool, Reader::at(bytes, attributes))?.check()?;
        if end != bytes.len() {
            return Err(ParseError::TrailingBytes { offset: end });
        }
        Ok(ClassFile { bytes, pool, name, super_name, fields, methods, attributes })
    }

    /// The bytes this class was read from.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The constant pool.
    #[inline]
    pub fn pool(&self) -> &ConstantPool<'a> {
        &self.pool
    }

    /// `this_class`, in internal form (`java/lang/String`), modified UTF-8.
    #[inline]
    pub fn name(&self) -> &'a [u8] {
        self.name
    }

    /// `super_class`, in internal form; nothing for `java/lang/Object` and `module-info`.
    pub fn super_name(&self) -> Option<&'a [u8]> {
        self.super_name
    }

    /// Major version: 45 for JDK 1.1, 52 for JDK 8, 61 for JDK 17.
    pub fn major_version(&self) -> u16 {
        self.u16_at(6)
    }

    /// Minor version: 3 for JDK 1.1, 65535 for preview features.
    pub fn minor_version(&self) -> u16 {
        self.u16_at(4)
    }

    /// The class's access flags (JVMS table 4.1-B).
    pub fn access_flags(&self) -> u16 {
        self.u16_at(self.pool.end())
    }

    /// The names of the direct superinterfaces, in internal form.
    pub fn interfaces(&self) -> impl Iterator<Item = &'a [u8]> + '_ {
        let table = self.pool.end() + 6;
        (0..self.interface_count()).filter_map(move |i| self.pool.class_name(self.u16_at(table + 2 + 2 * i)))
    }

    pub(crate) fn interface_count(&self) -> usize {
        usize::from(self.u16_at(self.pool.end() + 6))
    }

    /// The fields.
    pub fn fields(&self) -> Members<'_, 'a> {
        Members::new(self, self.fields)
    }

    /// The methods.
    pub fn methods(&self) -> Members<'_, 'a> {
        Members::new(self, self.methods)
    }

    /// The attributes of the class itself.
    pub fn attributes(&self) -> Attributes<'_, 'a> {
        self.table_at(self.attributes)
    }

    /// The SourceFile attribute (JVMS 4.7.10).
    pub fn source_file(&self) -> Option<&'a [u8]> {
        let attribute = self.attributes().find(|a| a.name == b"SourceFile")?;
        self.pool.utf8(crate::read::u16_at(attribute.data, 0)?)
    }

    /// Takes a Code attribute of this class apart.
    #[inline]
    pub(crate) fn parse_code(&self, attribute: &Attribute<'a>) -> Result<Code<'_, 'a>, Refusal> {
        let may_be_short = self.major_version() == 45 && self.minor_version() < 3;
        Code::parse(&self.pool, may_be_short, attribute)
    }

    /// A `u16` at a place that `parse` has found to exist.
    fn u16_at(&self, at: usize) -> u16 {
        crate::read::u16_at(self.bytes, at).unwrap_or(0)
    }

    /// An attribute table at a place that `parse` has walked.
    fn table_at(&self, at: usize) -> Attributes<'_, 'a> {
        // `parse` has read this count; an empty table is the harmless answer to the impossible.
        Attributes::new(&self.pool, Reader::at(self.bytes, at)).unwrap_or_else(|_| Attributes::empty(&self.pool))
    }
}

/// Walks a field or method table from its count at `start`; returns the offset behind it.
fn check_members(bytes: &[u8], pool: &ConstantPool<'_>, start: usize) -> Result<usize, ParseError> {
    let mut reader = Reader::at(bytes, start);
    for _ in 0..reader.u16()? {
        reader.skip(2)?;
        for expected in ["a Utf8 (member name)", "a Utf8 (descriptor)"] {
            let offset = reader.position();
            let index = reader.u16()?;
            if pool.utf8(index).is_none() {
                return Err(ParseError::BadIndex { index, offset, expected });
            }
        }
        let end = Attributes::new(pool, reader)?.check()?;
        reader = Reader::at(bytes, end);
    }
    Ok(reader.position())
}

/// A field or a method.
#[derive(Debug, Clone, Copy)]
pub struct Member<'c, 'a> {
    pub(crate) class: &'c ClassFile<'a>,
    /// Offset of the access flags.
    pub(crate) start: usize,
    name: &'a [u8],
    descriptor: &'a [u8],
    code: Option<Attribute<'a>>,
}

impl<'c, 'a> Member<'c, 'a> {
    /// Its name, modified UTF-8.
    #[inline]
    pub fn name(&self) -> &'a [u8] {
        self.name
    }

    /// Its descriptor, such as `(I)V`.
    #[inline]
    pub fn descriptor(&self) -> &'a [u8] {
        self.descriptor
    }

    /// Its access flags (JVMS tables 4.5-A and 4.6-A).
    pub fn access_flags(&self) -> u16 {
        self.class.u16_at(self.start)
    }

    /// The class it belongs to.
    #[inline]
    pub fn class(&self) -> &'c ClassFile<'a> {
        self.class
    }

    /// Its attributes; offsets count from the start of the class.
    pub fn attributes(&self) -> Attributes<'c, 'a> {
        self.class.table_at(self.start + 6)
    }

    /// The string that a static field begins with, in modified UTF-8, if that is a constant.
    pub fn constant_string(&self) -> Option<&'a [u8]> {
        const ACC_STATIC: u16 = 8;
        if self.descriptor != b"Ljava/lang/String;" || self.access_flags() & ACC_STATIC == 0 {
            return None;
        }
        let value = self.attributes().find(|attribute| attribute.name == b"ConstantValue")?;
        match self.class.pool.get(crate::read::u16_at(value.data, 0)?)? {
            Constant::String { utf8 } => self.class.pool.utf8(utf8),
            _ => None,
        }
    }

    /// Its first Code attribute, if it has one that holds together.
    pub fn code(&self) -> Option<Code<'c, 'a>> {
        self.class.parse_code(&self.code?).ok()
    }

    /// Its first Code attribute.
    #[inline]
    pub(crate) fn code_attribute(&self) -> Option<Attribute<'a>> {
        self.code
    }
}

/// Walks fields or methods.
#[derive(Debug, Clone)]
pub struct Members<'c, 'a> {
    class: &'c ClassFile<'a>,
    at: usize,
    left: u16,
}

impl<'c, 'a> Members<'c, 'a> {
    fn new(class: &'c ClassFile<'a>, start: usize) -> Self {
        Members { class, at: start + 2, left: class.u16_at(start) }
    }
}

impl Members<'_, '_> {
    /// The number of members not yet walked.
    pub(crate) fn left(&self) -> u16 {
        self.left
    }
}

impl<'c, 'a> Iterator for Members<'c, 'a> {
    type Item = Member<'c, 'a>;

    fn next(&mut self) -> Option<Member<'c, 'a>> {
        self.left = self.left.checked_sub(1)?;
        let class = self.class;
        let mut member = Member {
            code: None,
            class,
            start: self.at,
            name: class.pool.utf8(class.u16_at(self.at + 2))?,
            descriptor: class.pool.utf8(class.u16_at(self.at + 4))?,
        };
        let mut attributes = member.attributes();
        while let Some(attribute) = attributes.try_next().ok()? {
            if member.code.is_none() && attribute.name == b"Code" {
                member.code = Some(attribute);
            }
        }
        self.at = attributes.position();
        Some(member)
    }
}
