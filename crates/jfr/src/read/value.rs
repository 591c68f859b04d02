//! Values of fields.

use std::borrow::Cow;

use super::cursor::{Cursor, Text};
use super::error::Damage;
use super::types::{Basic, Field, Types};

/// Values inside each other.
const MAX_DEPTH: u32 = 16;

/// Where a value with fields stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    pub(crate) of: u64,
    pub(crate) at: usize,
    /// Nothing of it is behind that.
    pub(crate) end: usize,
}

/// The number of a constant of a type; 0 is nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Constant {
    pub(crate) of: u64,
    /// Its number.
    pub key: u64,
}

/// What a field holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'c> {
    /// Nothing, or what nobody asks for.
    None,
    /// A whole number, or a truth value.
    Number(i64),
    /// A text.
    Text(Cow<'c, str>),
    /// A value with fields.
    Object(Object),
    /// The number of a constant.
    Constant(Constant),
    /// Values with fields.
    Objects(Vec<Object>),
}

/// Reads what a field holds.
pub(crate) fn read<'c>(types: &Types, cursor: &mut Cursor<'c>, field: &Field) -> Result<Value<'c>, Damage> {
    if field.is_array {
        let count = cursor.count()?;
        let mut objects = Vec::new();
        for _ in 0..count {
            if let Value::Object(object) = one(types, cursor, field, 0)? {
                objects.push(object);
            }
        }
        return Ok(Value::Objects(objects));
    }
    one(types, cursor, field, 0)
}

/// Passes over what all fields of a type hold.
pub(crate) fn skip_fields(types: &Types, cursor: &mut Cursor<'_>, of: u64, depth: u32) -> Result<(), Damage> {
    let of = types.get(of)?;
    if let Some(basic) = of.basic {
        return basic_value(cursor, basic, 0).map(drop);
    }
    // Each value takes a byte at least, so that no length is without an end.
    if of.fields.is_empty() || depth > MAX_DEPTH {
        return Err(Damage::Types);
    }
    for field in &of.fields {
        let count = if field.is_array { cursor.count()? } else { 1 };
        for _ in 0..count {
            if field.is_constant {
                cursor.number(8)?;
            } else {
                skip_fields(types, cursor, field.of, depth + 1)?;
            }
        }
    }
    Ok(())
}

fn one<'c>(types: &Types, cursor: &mut Cursor<'c>, field: &Field, depth: u32) -> Result<Value<'c>, Damage> {
    if field.is_constant {
        return Ok(Value::Constant(Constant { of: field.of, key: cursor.number(8)? }));
    }
    if let Some(basic) = types.get(field.of)?.basic {
        return basic_value(cursor, basic, field.of);
    }
    let at = cursor.at;
    skip_fields(types, cursor, field.of, depth + 1)?;
    Ok(Value::Object(Object { of: field.of, at, end: cursor.at }))
}

fn basic_value<'c>(cursor: &mut Cursor<'c>, basic: Basic, of: u64) -> Result<Value<'c>, Damage> {
    Ok(match basic {
        Basic::Byte => Value::Number(i64::from(cursor.byte()?.cast_signed())),
        Basic::Number(width) => {
            let number = cursor.number(width)?;
            // Compressed ones that are negative have all their bytes, but only those of their type.
            Value::Number(if width == 4 { i64::from((number as u32).cast_signed()) } else { number.cast_signed() })
        }
        Basic::Float => cursor.fixed(4).map(|_| Value::None)?,
        Basic::Double => cursor.fixed(8).map(|_| Value::None)?,
        Basic::Text => match cursor.text()? {
            Text::Null => Value::None,
            Text::Here(text) => Value::Text(text),
            Text::Constant(key) => Value::Constant(Constant { of, key }),
        },
    })
}

/// Reads a value of a type without fields.
pub(crate) fn read_basic<'c>(types: &Types, cursor: &mut Cursor<'c>, of: u64) -> Result<Value<'c>, Damage> {
    let basic = types.get(of)?.basic.ok_or(Damage::Types)?;
    basic_value(cursor, basic, of)
}
