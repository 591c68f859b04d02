//! The tables of the message, each thing in them once. The first of each is empty and stands for none.

use analysis::call_tree::Label;
use rustc_hash::FxHashMap;

use crate::frame::Frame;
use crate::protobuf::{Message, Texts};

/// A table that is being written.
struct Table<K> {
    index: FxHashMap<K, u64>,
    field: u32,
    rows: Message,
}

impl<K: std::hash::Hash + Eq> Table<K> {
    fn new(field: u32) -> Self {
        let mut rows = Message::default();
        rows.message(field, &Message::default());
        Table { index: FxHashMap::default(), field, rows }
    }

    /// The number of a row; `row` makes it, if it is new.
    fn of(&mut self, key: K, row: impl FnOnce(&mut Message)) -> u64 {
        let new = self.index.len() as u64 + 1;
        let number = *self.index.entry(key).or_insert(new);
        if number == new {
            let mut message = Message::default();
            row(&mut message);
            self.rows.message(self.field, &message);
        }
        number
    }
}

/// All tables.
pub(super) struct Dictionary<'a> {
    texts: Texts<'a>,
    mappings: Table<u64>,
    locations: Table<[u64; 4]>,
    /// Which location a frame is; several may be one.
    known: FxHashMap<Label<'a>, u64>,
    functions: Table<[u64; 3]>,
    stacks: Table<Vec<u64>>,
    attributes: Table<(u64, &'a str)>,
}

impl<'a> Dictionary<'a> {
    pub(super) fn new() -> Self {
        Dictionary {
            texts: Texts::new(),
            mappings: Table::new(1),
            locations: Table::new(2),
            known: FxHashMap::default(),
            functions: Table::new(3),
            stacks: Table::new(7),
            attributes: Table::new(6),
        }
    }

    /// A kind of value and its unit.
    pub(super) fn value_type(&mut self, (kind, unit): (&'static str, &'static str)) -> Message {
        let mut message = Message::default();
        message.int(1, self.texts.of(kind));
        message.int(2, self.texts.of(unit));
        message
    }

    /// A text that belongs to a sample or a place.
    pub(super) fn attribute(&mut self, key: &'static str, text: &'a str) -> u64 {
        let key = self.texts.of(key);
        self.attributes.of((key, text), |row| {
            let mut value = Message::default();
            value.text(1, text);
            row.int(1, key);
            row.message(2, &value);
        })
    }

    /// A call stack, innermost first.
    pub(super) fn stack(&mut self, frames: &[Label<'a>]) -> u64 {
        let locations: Vec<u64> = frames.iter().map(|&frame| self.location(frame)).collect();
        self.stacks.of(locations.clone(), |row| row.packed(1, locations))
    }

    fn location(&mut self, label: Label<'a>) -> u64 {
        if let Some(&known) = self.known.get(&label) {
            return known;
        }
        let Frame { name, signature, mut file, line } = Frame::of(&label);
        let mut mapping = 0;
        // As the semantic conventions of profiles call them.
        let kind = match label {
            Label::Line(_) => Some("jvm"),
            Label::Function { library, .. } => {
                file = "";
                if !library.is_empty() {
                    let library = self.texts.of(library);
                    mapping = self.mappings.of(library, |row| row.int(4, library));
                }
                Some("native")
            }
            Label::Kernel => Some("kernel"),
            _ => None,
        };
        let system_name = if signature.is_empty() { String::new() } else { format!("{name}{signature}") };
        let names = [self.texts.of(name), self.texts.of(system_name), self.texts.of(file)];
        let function = self.functions.of(names, |row| (1..).zip(names).for_each(|(field, text)| row.int(field, text)));
        let kind = kind.map_or(0, |kind| self.attribute("profile.frame.type", kind));
        let line = line.map_or(0, u64::from);
        let location = self.locations.of([mapping, function, line, kind], |row| {
            let mut at = Message::default();
            at.int(1, function);
            at.int(2, line);
            row.int(1, mapping);
            row.message(3, &at);
            row.packed(4, (kind > 0).then_some(kind));
        });
        self.known.insert(label, location);
        location
    }

    /// The message that holds the tables.
    pub(super) fn into_message(self) -> Message {
        let mut message = Message::default();
        for rows in [
            self.mappings.rows,
            self.locations.rows,
            self.functions.rows,
            self.stacks.rows,
            self.attributes.rows,
            // No sample belongs to a request.
            Table::<u64>::new(4).rows,
        ] {
            message.append(rows);
        }
        self.texts.write(5, &mut message);
        message
    }
}
