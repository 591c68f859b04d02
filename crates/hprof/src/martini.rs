//! What only Martini knows of a dump: texts among the names of the dump, which other readers keep and never look at. (A record with
//! a tag of its own would be the format's way; hprof-slurp 0.10 panics at a tag that it does not know.)
//!
//! Each text has an id from [`FIRST`] on, begins with `martini/1`, followed by words that are separated by blanks, numbers in
//! decimal:
//!
//! | word | what |
//! |---|---|
//! | `d:N` | `heapDumpId` of the dump in the trace |
//! | `c:N` | collections that had ended when the heap was dumped |
//! | `n:ID` | ids of the trace are smaller; those from here on are addresses |
//! | `g:ID:N` | the first object allocated after N collections; in the order of both |
//! | `i:ID:BYTES` | an instance of the class with that class object takes BYTES bytes in the heap |
//! | `w:TEXT` | which objects have no id of the trace although it has them, and why; `_` stands for a blank |

use std::fmt::Write;

use crate::{NameId, ObjectId};

/// The id of the first text; the next ones follow it.
pub const FIRST: NameId = NameId(0x4D61_7274_696E_6900);

const PREFIX: &str = "martini/1";
/// A text is about as long as this at most; the format knows names of up to 65,535 bytes in class files.
const LONGEST: usize = 32 << 10;

/// What only Martini knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Martini {
    /// `heapDumpId` of the dump in the trace.
    pub dump_id: u64,
    /// Collections that had ended.
    pub collections: u64,
    /// Smaller ids are those of objects in the trace, others are addresses.
    pub end: ObjectId,
    /// The first object allocated after each number of collections, in the order of both. Empty if objects were not tracked.
    pub generations: Vec<(ObjectId, u64)>,
    /// What an instance of a class takes in the heap, by class object.
    pub instance_bytes: Vec<(ObjectId, u32)>,
    /// Which objects have no id of the trace although it has them, and why. Empty if there are none.
    pub without_ids: String,
}

impl Martini {
    /// Collections that an object had survived; `None` if it was not followed.
    pub fn age(&self, object: ObjectId) -> Option<u64> {
        if object >= self.end {
            return None;
        }
        let later = self.generations.partition_point(|&(first, _)| first <= object);
        let (_, born) = self.generations.get(later.checked_sub(1)?)?;
        self.collections.checked_sub(*born)
    }

    /// The texts, to be written as names from [`FIRST`] on.
    pub fn encode(&self) -> Vec<String> {
        let words = [format!("d:{}", self.dump_id), format!("c:{}", self.collections), format!("n:{}", self.end)];
        let words = words.into_iter();
        let words = words.chain(self.generations.iter().map(|(first, number)| format!("g:{first}:{number}")));
        let without = Some(&self.without_ids).filter(|text| !text.is_empty());
        let words = words.chain(without.map(|text| format!("w:{}", text.replace(char::is_whitespace, "_"))));
        let words = words.chain(self.instance_bytes.iter().map(|(class, bytes)| format!("i:{class}:{bytes}")));
        let mut texts = vec![PREFIX.to_owned()];
        for word in words {
            if texts.last().is_some_and(|text| text.len() > LONGEST) {
                texts.push(PREFIX.to_owned());
            }
            if let Some(text) = texts.last_mut() {
                // Writing to a string does not fail.
                let _ = write!(text, " {word}");
            }
        }
        texts
    }

    /// Takes in a name of a dump; false if it is none of these texts, or a damaged one.
    pub fn take(&mut self, id: NameId, text: &[u8]) -> bool {
        let words = std::str::from_utf8(text).ok().filter(|_| id >= FIRST).and_then(|text| text.strip_prefix(PREFIX));
        words.is_some_and(|words| words.split_ascii_whitespace().all(|word| self.word(word).is_some()))
    }

    fn word(&mut self, word: &str) -> Option<()> {
        let (kind, rest) = word.split_once(':')?;
        if kind == "w" {
            self.without_ids = rest.replace('_', " ");
            return Some(());
        }
        match (kind, rest.split_once(':')) {
            ("d", None) => self.dump_id = rest.parse().ok()?,
            ("c", None) => self.collections = rest.parse().ok()?,
            ("n", None) => self.end = ObjectId(rest.parse().ok()?),
            ("g", Some((first, number))) => {
                self.generations.push((ObjectId(first.parse().ok()?), number.parse().ok()?));
            }
            ("i", Some((class, bytes))) => {
                self.instance_bytes.push((ObjectId(class.parse().ok()?), bytes.parse().ok()?));
            }
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_as_they_were() {
        let martini = Martini {
            dump_id: 7,
            collections: 5,
            end: ObjectId(5001),
            generations: vec![(ObjectId(0), 0), (ObjectId(100), 2), (ObjectId(200), 5)],
            instance_bytes: (1..10_000).map(|n| (ObjectId(n << 33), n as u32)).collect(),
            without_ids: "all: that is why".into(),
        };
        let texts = martini.encode();
        assert!(texts.len() > 2 && texts.iter().all(|text| text.len() < 65_536));
        let mut back = Martini::default();
        assert!(texts.iter().all(|text| back.take(FIRST, text.as_bytes())));
        assert_eq!(back, martini);
        let ages = [0, 1, 99, 100, 199, 200, 5000].map(|id| martini.age(ObjectId(id)));
        assert_eq!(ages, [5, 5, 5, 3, 3, 0, 0].map(Some));
        assert_eq!(martini.age(ObjectId(5001)), None, "an address");
    }

    #[test]
    fn other_names_are_none_of_them() {
        let mut martini = Martini::default();
        for text in ["value", "martini/2 d:1", "martini/1 d:x", "martini/1 z:1", "martini/1 g:1"] {
            assert!(!martini.take(FIRST, text.as_bytes()), "{text}");
        }
        assert!(!martini.take(NameId(1), b"martini/1 d:1"));
        assert_eq!(martini, Martini::default());
    }
}
