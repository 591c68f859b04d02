//! The types that a chunk declares: a tree of elements with attributes, all of whose texts are numbers in a list.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::cursor::{Cursor, Text};
use super::error::Damage;

/// Elements inside each other.
const MAX_DEPTH: u32 = 16;

/// More fields no type has, and longer names; what is looked up for every event is short then.
const MAX_FIELDS: usize = 256;
const MAX_NAME: usize = 4096;

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Basic {
    Byte,
    /// A number of so many bytes, if it is not compressed.
    Number(usize),
    Float,
    Double,
    Text,
}

impl Basic {
    fn of(name: &str) -> Option<Basic> {
        Some(match name {
            "boolean" | "byte" => Basic::Byte,
            "short" | "char" => Basic::Number(2),
            "int" => Basic::Number(4),
            "long" => Basic::Number(8),
            "float" => Basic::Float,
            "double" => Basic::Double,
            "java.lang.String" => Basic::Text,
            _ => return None,
        })
    }
}

/// A field of a type.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: Arc<str>,
    pub(crate) of: u64,
    /// It holds the number of a constant.
    pub(crate) is_constant: bool,
    pub(crate) is_array: bool,
    /// Annotations: the number of the type of each, and its value.
    annotations: Vec<(u64, Arc<str>)>,
}

/// In what a length of time is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Ticks,
    /// So many nanoseconds.
    Nanos(u64),
}

/// A type.
#[derive(Clone, Debug)]
pub(crate) struct Type {
    pub(crate) name: Arc<str>,
    pub(crate) basic: Option<Basic>,
    pub(crate) fields: Vec<Field>,
}

/// All types of a chunk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Types(FxHashMap<u64, Type>);

/// In what an element stands: in a type, or in the last field of one.
#[derive(Clone, Copy)]
enum Parent {
    Class(u64),
    Field(u64),
    Other,
}

/// An element of the tree.
struct Element<'t> {
    name: &'t Arc<str>,
    attributes: Vec<(&'t Arc<str>, &'t Arc<str>)>,
    children: usize,
}

impl<'t> Element<'t> {
    fn get(&self, name: &str) -> Option<&'t Arc<str>> {
        self.attributes.iter().find(|(known, _)| &***known == name).map(|&(_, value)| value)
    }

    fn says(&self, name: &str, value: &str) -> bool {
        self.get(name).is_some_and(|found| &**found == value)
    }

    /// A name that is not longer than names are.
    fn name(&self) -> Result<Arc<str>, Damage> {
        self.get("name").filter(|name| name.len() <= MAX_NAME).cloned().ok_or(Damage::Types)
    }

    fn number(&self, name: &str) -> Result<u64, Damage> {
        self.get(name).and_then(|value| value.parse().ok()).ok_or(Damage::Types)
    }
}

impl Types {
    /// Reads the event that declares them, from behind its type.
    pub(crate) fn read(cursor: &mut Cursor<'_>) -> Result<Types, Damage> {
        // When it was written, how long that took, and the number of the declaration.
        for _ in 0..3 {
            cursor.number(8)?;
        }
        let count = cursor.count()?;
        let mut texts: Vec<Arc<str>> = Vec::new();
        for _ in 0..count {
            texts.push(match cursor.text()? {
                Text::Here(text) => text.into(),
                Text::Null => "".into(),
                Text::Constant(_) => return Err(Damage::Text),
            });
        }
        let mut types = Types::default();
        types.element(cursor, &texts, Parent::Other, 0)?;
        Ok(types)
    }

    /// The type of a number.
    pub(crate) fn get(&self, id: u64) -> Result<&Type, Damage> {
        self.0.get(&id).ok_or(Damage::Types)
    }

    pub(crate) fn name(&self, id: u64) -> &str {
        self.0.get(&id).map_or("", |found| &found.name)
    }

    /// In what the length of time in a field is measured.
    pub(crate) fn unit(&self, field: &Field) -> Unit {
        let is_span = |class: u64| self.name(class) == "jdk.jfr.Timespan";
        let unit = field.annotations.iter().find(|(class, _)| is_span(*class)).map(|(_, value)| &**value);
        match unit {
            Some("TICKS") => Unit::Ticks,
            Some("MICROSECONDS") => Unit::Nanos(1_000),
            Some("MILLISECONDS") => Unit::Nanos(1_000_000),
            Some("SECONDS") => Unit::Nanos(1_000_000_000),
            _ => Unit::Nanos(1),
        }
    }

    fn element(
        &mut self,
        cursor: &mut Cursor<'_>,
        texts: &[Arc<str>],
        parent: Parent,
        depth: u32,
    ) -> Result<(), Damage> {
        if depth > MAX_DEPTH {
            return Err(Damage::Types);
        }
        let element = read_element(cursor, texts)?;
        let inside = match (&**element.name, parent) {
            ("class", _) => {
                let name = element.name()?;
                let id = element.number("id")?;
                self.0.insert(id, Type { basic: Basic::of(&name), name, fields: Vec::new() });
                Parent::Class(id)
            }
            ("field", Parent::Class(class)) => {
                let field = Field {
                    name: element.name()?,
                    of: element.number("class")?,
                    is_constant: element.says("constantPool", "true"),
                    is_array: element.get("dimension").is_some() && !element.says("dimension", "0"),
                    annotations: Vec::new(),
                };
                let fields = &mut self.0.get_mut(&class).ok_or(Damage::Types)?.fields;
                if fields.len() >= MAX_FIELDS {
                    return Err(Damage::Types);
                }
                fields.push(field);
                Parent::Field(class)
            }
            ("annotation", Parent::Field(class)) => {
                let field = self.0.get_mut(&class).and_then(|class| class.fields.last_mut()).ok_or(Damage::Types)?;
                field.annotations.push((element.number("class")?, element.get("value").cloned().unwrap_or_default()));
                Parent::Other
            }
            _ => Parent::Other,
        };
        (0..element.children).try_for_each(|_| self.element(cursor, texts, inside, depth + 1))
    }
}

fn read_element<'t>(cursor: &mut Cursor<'_>, texts: &'t [Arc<str>]) -> Result<Element<'t>, Damage> {
    let text = |cursor: &mut Cursor<'_>| -> Result<&'t Arc<str>, Damage> {
        let at = usize::try_from(cursor.number(4)?).map_err(|_| Damage::Types)?;
        texts.get(at).ok_or(Damage::Types)
    };
    let name = text(cursor)?;
    let attributes = cursor.count()?;
    let attributes = (0..attributes).map(|_| Ok((text(cursor)?, text(cursor)?))).collect::<Result<_, Damage>>()?;
    Ok(Element { name, attributes, children: cursor.count()? })
}
