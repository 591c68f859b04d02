//! Names, each once: texts, and the frames of stacks.

use std::hash::Hash;

use analysis::allocations::Location;
use analysis::call_tree::Label;
use analysis::own_code::{OwnCode, is_jdk};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value, json};

use crate::render::human::{count, printable};

/// Longer names are cut: nobody reads them to their end.
const LONGEST: usize = 600;

/// Number of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TextIndex(u32);

/// Number of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FrameIndex(pub(super) u32);

/// Whose code a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Whose {
    Own,
    Runtime,
    Jdk,
    /// No Java.
    Native,
}

/// What distinguishes frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Frame {
    /// Nothing if it is no Java.
    class: Option<TextIndex>,
    method: TextIndex,
    source: Option<TextIndex>,
    line: Option<u32>,
    whose: Whose,
}

/// All names.
pub(super) struct Names {
    own: OwnCode,
    texts: Numbers<String>,
    frames: Numbers<Frame>,
    /// Texts that are written; a trace may name a million threads of which none is shown.
    kept: FxHashSet<i64>,
    /// Whose code classes are.
    classes: FxHashMap<TextIndex, Whose>,
}

/// What is numbered.
pub(super) struct Numbers<T> {
    pub(super) items: Vec<T>,
    index: FxHashMap<T, u32>,
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Numbers { items: Vec::new(), index: FxHashMap::default() }
    }
}

impl Numbers<String> {
    /// The number of a text, which is copied if it is new.
    pub(super) fn of_text(&mut self, text: &str) -> u32 {
        match self.index.get(text) {
            Some(&known) => known,
            None => self.of(text.to_owned()),
        }
    }
}

impl<T: Clone + Eq + Hash> Numbers<T> {
    fn of(&mut self, item: T) -> u32 {
        let new = self.items.len() as u32;
        *self.index.entry(item).or_insert_with_key(|item| {
            self.items.push(item.clone());
            new
        })
    }
}

impl Names {
    pub(super) fn new(own: OwnCode) -> Names {
        Names {
            own,
            texts: Numbers::default(),
            frames: Numbers::default(),
            kept: FxHashSet::default(),
            classes: FxHashMap::default(),
        }
    }

    /// The number of a text.
    pub(super) fn text(&mut self, text: &str) -> TextIndex {
        TextIndex(self.texts.of_text(text))
    }

    /// The number of a text, as it is written; -1 of none.
    pub(super) fn number(&mut self, text: Option<&str>) -> i64 {
        text.map_or(-1, |text| i64::from(self.text(text).0))
    }

    /// Has a text written, and gives its number back.
    pub(super) fn keep(&mut self, number: i64) -> i64 {
        self.kept.insert(number);
        number
    }

    /// The frame of a line.
    pub(super) fn line(&mut self, at: &Location<'_>) -> FrameIndex {
        let class = self.text(at.class);
        let whose = match self.classes.get(&class) {
            Some(&known) => known,
            None => {
                let whose = match self.own.known_package(at.class) {
                    _ if is_jdk(at.class) => Whose::Jdk,
                    None => Whose::Own,
                    Some(_) => Whose::Runtime,
                };
                self.classes.insert(class, whose);
                whose
            }
        };
        let method = self.text(trace::names::jvm_method_name(at.method));
        let source = (!at.source.is_empty()).then(|| self.text(at.source));
        FrameIndex(self.frames.of(Frame { class: Some(class), method, source, line: at.line, whose }))
    }

    /// Of frames, innermost first, the innermost one of the user's own.
    pub(super) fn own(&self, frames: &[FrameIndex]) -> Option<FrameIndex> {
        frames.iter().copied().find(|frame| self.frames.items[frame.0 as usize].whose == Whose::Own)
    }

    /// A frame that is no Java.
    pub(super) fn other(&mut self, text: &str) -> FrameIndex {
        let method = self.text(text);
        FrameIndex(self.frames.of(Frame { class: None, method, source: None, line: None, whose: Whose::Native }))
    }

    /// What a node of a call tree stands for, as a frame.
    pub(super) fn label(&mut self, label: &Label<'_>) -> FrameIndex {
        match label {
            Label::Line(at) => self.line(at),
            label => self.other(&label.to_string()),
        }
    }

    /// All names of frames, and the texts that are kept; others are empty. What is longer than [`LONGEST`] is cut.
    pub(super) fn json(mut self) -> Value {
        for frame in &self.frames.items {
            let texts = [frame.class, Some(frame.method), frame.source].into_iter().flatten();
            self.kept.extend(texts.map(|text| i64::from(text.0)));
        }
        let shown = |(number, text): (i64, &String)| {
            if self.kept.contains(&number) { shown(text) } else { String::new() }
        };
        let frames = &self.frames.items;
        let text = |text: Option<TextIndex>| text.map_or(-1, |text| i64::from(text.0));
        json!({
            "texts": (0..).zip(&self.texts.items).map(shown).collect::<Vec<_>>(),
            "class": frames.iter().map(|frame| text(frame.class)).collect::<Vec<_>>(),
            "method": frames.iter().map(|frame| frame.method.0).collect::<Vec<_>>(),
            "source": frames.iter().map(|frame| text(frame.source)).collect::<Vec<_>>(),
            "line": frames.iter().map(|frame| frame.line.map_or(-1, i64::from)).collect::<Vec<_>>(),
            "whose": frames.iter().map(|frame| frame.whose as u8).collect::<Vec<_>>(),
        })
    }
}

/// A text as it is shown.
pub(super) fn shown(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}… ({} characters)", printable(&text[..end]), count(text.chars().count() as u64)),
        None => printable(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbered_once_and_cut_if_they_are_long() {
        let mut names = Names::new(OwnCode::default());
        let at = |line| Location { class: "a.A", method: "-init-", signature: "", source: "A.java", line: Some(line) };
        let [one, other, again] = [1, 2, 1].map(|line| names.line(&at(line)));
        assert_eq!((one == again, one == other), (true, false));
        let jdk = Location { class: "java.util.List", method: "add", signature: "", source: "", line: None };
        names.line(&jdk);
        names.other("(kernel)");
        let thread = names.number(Some("worker"));
        names.keep(thread);
        names.number(Some("of nothing that is shown"));
        let json = names.json();
        assert_eq!(json["whose"], json!([0, 0, 2, 3]));
        assert_eq!(
            json["texts"],
            json!(["a.A", "<init>", "A.java", "java.util.List", "add", "(kernel)", "worker", ""])
        );
        assert_eq!(json["class"], json!([0, 0, 3, -1]));
        assert_eq!(shown(&"x".repeat(65_536)).chars().count(), LONGEST + "… (65,536 characters)".chars().count());
        assert_eq!(shown("a\nb"), "a\\nb");
    }
}
