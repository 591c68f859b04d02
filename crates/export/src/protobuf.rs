//! Writes messages of Protocol Buffers: what the formats of pprof, OpenTelemetry and Perfetto need of them.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

/// A message that is being written. Numbers that are 0 and empty texts are left out, as the third version of the language does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message(Vec<u8>);

impl Message {
    /// Adds a number.
    pub(crate) fn int(&mut self, field: u32, value: u64) {
        if value > 0 {
            self.number(field, value);
        }
    }

    /// Adds a number that counts also if it is 0.
    pub(crate) fn number(&mut self, field: u32, value: u64) {
        self.tag(field, 0);
        varint(&mut self.0, value);
    }

    /// Adds a number of eight bytes.
    pub(crate) fn fixed64(&mut self, field: u32, value: u64) {
        self.tag(field, 1);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// Adds a text.
    pub(crate) fn text(&mut self, field: u32, text: &str) {
        if !text.is_empty() {
            self.bytes(field, text.as_bytes());
        }
    }

    /// Adds a text to a list of texts: an empty one counts.
    pub(crate) fn text_of_list(&mut self, field: u32, text: &str) {
        self.bytes(field, text.as_bytes());
    }

    /// Adds a message.
    pub(crate) fn message(&mut self, field: u32, message: &Message) {
        self.bytes(field, &message.0);
    }

    /// Adds numbers as one block.
    pub(crate) fn packed(&mut self, field: u32, values: impl IntoIterator<Item = u64>) {
        let mut block = Vec::new();
        values.into_iter().for_each(|value| varint(&mut block, value));
        if !block.is_empty() {
            self.bytes(field, &block);
        }
    }

    /// Adds all fields of a part of the same message.
    pub(crate) fn append(&mut self, part: Message) {
        self.0.extend(part.0);
    }

    /// What was written.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// Adds bytes.
    pub(crate) fn bytes(&mut self, field: u32, bytes: &[u8]) {
        self.tag(field, 2);
        varint(&mut self.0, bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn tag(&mut self, field: u32, wire: u64) {
        varint(&mut self.0, u64::from(field) << 3 | wire);
    }
}

/// Texts, each once; the first is empty.
#[derive(Debug)]
pub(crate) struct Texts<'a> {
    all: Vec<Cow<'a, str>>,
    index: FxHashMap<Cow<'a, str>, u64>,
}

impl<'a> Texts<'a> {
    pub(crate) fn new() -> Self {
        let mut texts = Texts { all: Vec::new(), index: FxHashMap::default() };
        texts.of("");
        texts
    }

    /// The number of a text.
    pub(crate) fn of(&mut self, text: impl Into<Cow<'a, str>>) -> u64 {
        let text = text.into();
        if let Some(&known) = self.index.get(&text) {
            return known;
        }
        let new = self.all.len() as u64;
        self.all.push(text.clone());
        self.index.insert(text, new);
        new
    }

    /// Writes all as a list.
    pub(crate) fn write(&self, field: u32, message: &mut Message) {
        self.all.iter().for_each(|text| message.text_of_list(field, text));
    }
}

/// The formats have signed numbers.
pub(crate) fn signed(number: u64) -> u64 {
    number.min(i64::MAX as u64)
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_as_the_encoding_says() {
        let mut inner = Message::default();
        inner.int(1, 150);
        inner.int(2, 0);
        let mut outer = Message::default();
        outer.message(3, &inner);
        outer.text_of_list(6, "");
        outer.packed(4, [3, 270, 86_942]);
        outer.packed(5, []);
        outer.int(16, u64::MAX);
        outer.text(7, "");
        outer.number(7, 0);
        outer.fixed64(1, 1);
        // The first and the third are examples of the documentation of the encoding.
        let expected: [&[u8]; 6] = [
            &[0x1a, 3, 0x08, 0x96, 0x01],
            &[0x32, 0],
            &[0x22, 6, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05],
            &[0x80, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
            &[0x38, 0],
            &[0x09, 1, 0, 0, 0, 0, 0, 0, 0],
        ];
        assert_eq!(outer.into_bytes(), expected.concat());
    }
}
