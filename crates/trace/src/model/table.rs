//! The macro that turns the table of elements into structs, writers, readers and a description.

use std::borrow::Cow;

/// How sure an attribute must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Without it the element means nothing: reading fails.
    Required,
    /// We always write it; when reading, an empty or zero value stands in and is counted, since
    /// some old traces leave it out.
    Expected,
    /// It may be absent.
    Optional,
}

/// One attribute of an element, as the table declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttributeSpec {
    /// The name in the trace.
    pub name: &'static str,
    /// Whether it must be there.
    pub presence: Presence,
    /// What the schemas call the form of its value.
    pub schema_type: &'static str,
}

/// One element, as the table declares it; attributes in the order in which they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElementSpec {
    /// The name in the trace.
    pub name: &'static str,
    /// What it says: lines of text.
    pub about: &'static [&'static str],
    /// The attributes, in their fixed order.
    pub attributes: &'static [AttributeSpec],
}

/// A struct of the model that can be written as one element.
pub trait Record {
    /// Appends the element, from `<` to `>` and a line feed.
    fn write(&self, out: &mut Vec<u8>);
}

/// Why the attributes of an element do not make a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordError {
    /// A required attribute is not there.
    Missing(&'static str),
    /// A value does not have the attribute's form.
    BadValue(&'static str),
    /// What stands in the tag is no list of attributes.
    Syntax,
    /// More attributes than any element has use for.
    TooMany,
}

/// What a reader tolerated in one element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Irregularities {
    /// Expected attributes that were absent, so that an empty or zero value stands in.
    pub missing: u8,
    /// Attributes that the format does not know.
    pub unknown: u8,
    /// Attributes given twice; the last one counts.
    pub repeated: u8,
}

/// Attributes that any element may carry and that the model leaves out.
pub(crate) fn is_common(name: &str) -> bool {
    matches!(
        name,
        "traceIdRef"
            | "collationValue"
            | "contextData"
            | "sequenceCounter"
            | "transientThreadId"
            | "transientThreadIdRef"
            | "transientObjId"
            | "transientObjIdRef"
            | "transientClassId"
            | "transientClassIdRef"
    )
}

/// No element has use for more; a tag with more is an attack or an accident.
const MAX_ATTRIBUTES: usize = 64;

/// The attributes of one tag, as the generated readers take them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attributes<'a> {
    /// A tag's content: its name and what follows.
    pub(crate) text: &'a str,
    /// Where the name ends.
    pub(crate) at: usize,
}

/// A struct of the model that can be made from the attributes of a tag.
pub(crate) trait ReadRecord<'a>: Sized {
    fn read(attributes: Attributes<'a>, irregularities: &mut Irregularities) -> Result<Self, RecordError>;
}

macro_rules! elements {
    (
        $(#[$enum_doc:meta])*
        enum $element:ident<$life:lifetime>;
        $(
            $(#[doc = $doc:literal])*
            $name:ident $(<$lt:lifetime>)? = $tag:literal {
                $(
                    $(#[$field_doc:meta])*
                    $presence:ident $field:ident: $type:ty = $attribute:literal,
                )*
            }
        )*
    ) => {
        $(#[$enum_doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum $element<$life> {
            $(
                $(#[doc = $doc])*
                $name($name $(<$lt>)?),
            )*
            /// An element without a struct of its own.
            Other(Other<$life>),
        }

        impl<$life> $element<$life> {
            /// Every element that the model knows, in the order of the table.
            pub const SPECS: &'static [ElementSpec] = &[
                $(
                    ElementSpec {
                        name: $tag,
                        about: &[ $( $doc ),* ],
                        attributes: &[
                            $( elements!(@spec $presence $type, $attribute), )*
                        ],
                    },
                )*
            ];

            /// The element's name in the trace.
            pub fn name(&self) -> &str {
                match self {
                    $( Self::$name(_) => $tag, )*
                    Self::Other(other) => &other.name,
                }
            }

            /// The attribute `time`, if the element has one.
            fn time(&self) -> Option<Time> {
                match self {
                    $( Self::$name(_record) => None $( .or(elements!(@time $field _record)) )*, )*
                    Self::Other(_) => None,
                }
            }

            /// Takes each id in the element, with the attribute in which it stands.
            pub(crate) fn each_id(&self, mut take: impl FnMut(AttributeSpec, Id)) {
                match self {
                    $( Self::$name(record) => {
                        $(
                            let spec = elements!(@spec $presence $type, $attribute);
                            elements!(@each_id $presence record.$field, |id| take(spec, id));
                        )*
                    } )*
                    Self::Other(_) => {}
                }
            }

            pub(crate) fn read(
                name: &$life str,
                attributes: Attributes<$life>,
                irregularities: &mut Irregularities,
            ) -> Result<Self, RecordError> {
                match name {
                    $( $tag => $name::read(attributes, irregularities).map(Self::$name), )*
                    _ => Ok(Self::Other(Other { name: name.into() })),
                }
            }
        }

        impl Record for $element<'_> {
            fn write(&self, out: &mut Vec<u8>) {
                match self {
                    $( Self::$name(record) => record.write(out), )*
                    Self::Other(other) => other.write(out),
                }
            }
        }

        $(
            $(#[doc = $doc])*
            #[derive(Clone, Debug, PartialEq, Eq)]
            pub struct $name $(<$lt>)? {
                $(
                    $(#[$field_doc])*
                    pub $field: elements!(@type $presence $type),
                )*
            }

            impl $(<$lt>)? Record for $name $(<$lt>)? {
                fn write(&self, out: &mut Vec<u8>) {
                    out.extend_from_slice(concat!("<", $tag).as_bytes());
                    $( elements!(@write $presence self.$field, out, $attribute); )*
                    out.extend_from_slice(b"/>\n");
                }
            }

            impl<$life> ReadRecord<$life> for $name $(<$lt>)? {
                fn read(
                    attributes: Attributes<$life>,
                    irregularities: &mut Irregularities,
                ) -> Result<Self, RecordError> {
                    $( let mut $field: Option<$type> = None; )*
                    for_each_attribute(attributes, |name, raw| {
                        match name {
                            $(
                                $attribute => {
                                    irregularities.repeated += u8::from($field.is_some());
                                    let value = <$type as Attribute>::read(raw);
                                    $field = Some(value.ok_or(RecordError::BadValue($attribute))?);
                                }
                            )*
                            _ => irregularities.unknown += u8::from(!is_common(name)),
                        }
                        Ok(())
                    })?;
                    Ok(Self {
                        $( $field: elements!(@take $presence $field, $attribute, irregularities), )*
                    })
                }
            }

            impl<$life> From<$name $(<$lt>)?> for $element<$life> {
                fn from(record: $name $(<$lt>)?) -> Self {
                    Self::$name(record)
                }
            }
        )*
    };

    (@spec $presence:ident $type:ty, $attribute:literal) => {
        AttributeSpec {
            name: $attribute,
            presence: Presence::$presence,
            schema_type: <$type as Attribute>::SCHEMA_TYPE,
        }
    };

    (@type Optional $type:ty) => { Option<$type> };
    (@type $presence:ident $type:ty) => { $type };

    (@write Optional $value:expr, $out:ident, $attribute:literal) => {
        if let Some(value) = &$value {
            elements!(@put value, $out, $attribute);
        }
    };
    (@write $presence:ident $value:expr, $out:ident, $attribute:literal) => {
        elements!(@put $value, $out, $attribute);
    };

    (@time time $record:ident) => { Some($record.time) };
    (@time $field:ident $record:ident) => { None };

    (@each_id Optional $value:expr, $take:expr) => {
        if let Some(value) = &$value {
            value.each_id(&mut $take);
        }
    };
    (@each_id $presence:ident $value:expr, $take:expr) => {
        $value.each_id(&mut $take);
    };

    (@put $value:expr, $out:ident, $attribute:literal) => {
        $out.extend_from_slice(concat!(" ", $attribute, "=\"").as_bytes());
        $value.write($out);
        $out.push(b'"');
    };

    (@take Required $field:ident, $attribute:literal, $irregularities:ident) => {
        $field.ok_or(RecordError::Missing($attribute))?
    };
    (@take Expected $field:ident, $attribute:literal, $irregularities:ident) => {
        $field.unwrap_or_else(|| {
            $irregularities.missing += 1;
            Default::default()
        })
    };
    (@take Optional $field:ident, $attribute:literal, $irregularities:ident) => {
        $field
    };
}
pub(crate) use elements;

/// Calls `take` with name and raw value of each attribute.
#[inline]
pub(crate) fn for_each_attribute<'a>(
    attributes: Attributes<'a>,
    mut take: impl FnMut(&str, &'a str) -> Result<(), RecordError>,
) -> Result<(), RecordError> {
    let Attributes { text, mut at } = attributes;
    let mut count = 0;
    while let Some((name, value, next)) = usual_attribute(text, at) {
        count += 1;
        if count > MAX_ATTRIBUTES {
            return Err(RecordError::TooMany);
        }
        take(name, value)?;
        at = next;
    }
    // What is not as usual; nearly always there is nothing left.
    if at == text.len() {
        return Ok(());
    }
    let mut unusual = quick_xml::events::attributes::Attributes::new(text, at);
    // Duplicates are counted by the generated readers, for less.
    unusual.with_checks(false);
    for attribute in unusual {
        count += 1;
        if count > MAX_ATTRIBUTES {
            return Err(RecordError::TooMany);
        }
        let attribute = attribute.map_err(|_| RecordError::Syntax)?;
        // quick-xml lends values out as they stand in the input, so `Owned` does not happen.
        if let Cow::Borrowed(raw) = attribute.value {
            take(attribute.key.as_ref(), raw)?;
        }
    }
    Ok(())
}

/// Name and raw value of the attribute at a place, and where the next begins: one space, a name of letters and digits, `="`, the value, `"`,
/// and then a space or the end. `None` of whatever is written otherwise.
#[inline]
fn usual_attribute(text: &str, at: usize) -> Option<(&str, &str, usize)> {
    let name = text.as_bytes().get(at..)?.strip_prefix(b" ")?;
    let length = name.iter().position(|byte| !byte.is_ascii_alphanumeric())?;
    let value = name[length..].strip_prefix(b"=\"").filter(|_| length > 0)?;
    let end = memchr::memchr(b'"', value)?;
    let (name_at, value_at) = (at + 1, at + 1 + length + 2);
    let next = value_at + end + 1;
    let ends = text.as_bytes().get(next).is_none_or(|&byte| byte == b' ');
    ends.then(|| (&text[name_at..name_at + length], &text[value_at..value_at + end], next))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What is taken, and how it ends.
    fn taken(
        text: &str,
        each: impl FnOnce(&mut dyn FnMut(&str, &str)) -> Result<(), RecordError>,
    ) -> (Vec<(String, String)>, String) {
        let mut taken = Vec::new();
        let ended = each(&mut |name, value| taken.push((name.to_owned(), value.to_owned())));
        (taken, format!("{text:?}: {ended:?}"))
    }

    /// The slow reader alone.
    fn slowly(text: &str, from: usize) -> (Vec<(String, String)>, String) {
        taken(text, |take| {
            let mut attributes = quick_xml::events::attributes::Attributes::new(text, from);
            attributes.with_checks(false);
            for (number, attribute) in attributes.enumerate() {
                if number >= MAX_ATTRIBUTES {
                    return Err(RecordError::TooMany);
                }
                let attribute = attribute.map_err(|_| RecordError::Syntax)?;
                take(attribute.key.as_ref(), &attribute.value);
            }
            Ok(())
        })
    }

    fn quickly(text: &str, from: usize) -> (Vec<(String, String)>, String) {
        taken(text, |take| {
            for_each_attribute(Attributes { text, at: from }, |name, value| {
                take(name, value);
                Ok(())
            })
        })
    }

    proptest! {
        /// Attributes, usual and unusual ones, and text that is none.
        #[test]
        fn both_readers_take_the_same(parts in proptest::collection::vec(part(), 0..12)) {
            let text = format!("name{}", parts.concat());
            prop_assert_eq!(quickly(&text, 4), slowly(&text, 4));
        }
    }

    #[test]
    fn both_readers_take_the_same_of_what_is_cut_anywhere() {
        let text = r#"objAlloc threadIdRef="3" time="1.5"  x = 'y' a="&lt;>" b="c"d="é" e ="#;
        for end in (0..=text.len()).filter(|&end| text.is_char_boundary(end)) {
            let text = &text[..end];
            let from = text.find(' ').unwrap_or(text.len());
            assert_eq!(quickly(text, from), slowly(text, from));
        }
        let many = format!("a{}", " b=\"\"".repeat(MAX_ATTRIBUTES + 1));
        assert_eq!(quickly(&many, 1), slowly(&many, 1));
    }

    fn part() -> impl Strategy<Value = String> {
        prop_oneof![
            6 => "[a-z]{1,8}".prop_flat_map(|name| "[ -~é]{0,10}".prop_map(move |value| format!(" {name}=\"{}\"", value.replace('"', "")))),
            1 => "[ a-z=\"'<>&/\n\t:.-]{1,6}",
        ]
    }
}
