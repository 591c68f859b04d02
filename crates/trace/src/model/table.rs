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
pub(crate) type Attributes<'a> = quick_xml::events::attributes::Attributes<'a>;

/// A struct of the model that can be made from the attributes of a tag.
pub(crate) trait ReadRecord<'a>: Sized {
    fn read(attributes: Attributes<'a>, irregularities: &mut Irregularities) -> Result<Self, RecordError>;

    /// The record whose attributes begin `text`, and what stands behind its `/>`; `None` unless it is written in the usual way, which is that
    /// of our own writer: all attributes that it must have, in their order, each behind one space.
    fn read_usual(text: &'a [u8]) -> Option<(Self, &'a [u8])>;
}

/// What stands behind the end of a tag, in front of which a writer that fills pages has left blanks.
pub(crate) fn behind_the_end(mut text: &[u8]) -> Option<&[u8]> {
    while let Some(behind) = text.strip_prefix(b" ") {
        text = behind;
    }
    text.strip_prefix(b"/>")
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

            /// Takes each text in the element, to change it.
            pub fn each_text(&mut self, mut take: impl FnMut(&mut Text<$life>)) {
                match self {
                    $( Self::$name(_record) => {
                        $( elements!(@each_text $presence _record.$field, take); )*
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

            /// The element that begins behind `<` in `text`, and what stands behind its `/>`; `None` unless it is one of the table that is
            /// written in the usual way.
            #[inline(always)]
            pub(crate) fn read_usual(text: &$life [u8]) -> Option<(Self, &$life [u8])> {
                let end = text.iter().position(|byte| !byte.is_ascii_alphanumeric())?;
                let (name, attributes) = text.split_at(end);
                match std::str::from_utf8(name).ok()? {
                    $( $tag => $name::read_usual(attributes).map(|(record, rest)| (Self::$name(record), rest)), )*
                    _ => None,
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

                #[inline]
                fn read_usual(text: &$life [u8]) -> Option<(Self, &$life [u8])> {
                    $( let ($field, text) = elements!(@usual $presence $type, text, $attribute); )*
                    Some((Self { $( $field, )* }, behind_the_end(text)?))
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

    (@each_text Optional $value:expr, $take:expr) => {
        if let Some(value) = &mut $value {
            value.each_text(&mut $take);
        }
    };
    (@each_text $presence:ident $value:expr, $take:expr) => {
        $value.each_text(&mut $take);
    };

    (@put $value:expr, $out:ident, $attribute:literal) => {
        $out.extend_from_slice(concat!(" ", $attribute, "=\"").as_bytes());
        $value.write($out);
        $out.push(b'"');
    };

    (@usual Optional $type:ty, $text:ident, $attribute:literal) => {
        match $text.strip_prefix(concat!(" ", $attribute, "=\"").as_bytes()) {
            Some(value) => {
                let (value, rest) = <$type as Attribute>::read_usual(value)?;
                (Some(value), rest)
            }
            None => (None, $text),
        }
    };
    (@usual $presence:ident $type:ty, $text:ident, $attribute:literal) => {
        <$type as Attribute>::read_usual($text.strip_prefix(concat!(" ", $attribute, "=\"").as_bytes())?)?
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
    mut attributes: Attributes<'a>,
    mut take: impl FnMut(&str, &'a str) -> Result<(), RecordError>,
) -> Result<(), RecordError> {
    // Duplicates are counted by the generated readers, for less.
    attributes.with_checks(false);
    let mut count = 0;
    for attribute in attributes {
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
