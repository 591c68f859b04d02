//! The tables of a thread: texts, functions, frames, and stacks as a tree.

use std::borrow::Cow;
use std::hash::Hash;

use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use crate::recorder::constants::Constants;
use crate::recorder::pools::{self, Ran};

/// Rows, each once, by their places.
#[derive(Debug)]
struct Rows<K> {
    all: Vec<K>,
    index: FxHashMap<K, usize>,
}

impl<K> Default for Rows<K> {
    fn default() -> Self {
        Rows { all: Vec::new(), index: FxHashMap::default() }
    }
}

impl<K: Hash + Eq + Clone> Rows<K> {
    fn of(&mut self, key: K) -> usize {
        if let Some(&known) = self.index.get(&key) {
            return known;
        }
        let new = self.all.len();
        self.all.push(key.clone());
        self.index.insert(key, new);
        new
    }

    fn column<T: Into<Value>>(&self, of: impl Fn(&K) -> T) -> Value {
        self.all.iter().map(|row| of(row).into()).collect::<Vec<Value>>().into()
    }
}

/// A place among [`categories`], and among the parts of that.
type Category = (u64, u64);

const OTHER: Category = (0, 0);
const NATIVE: Category = (2, 0);

/// The category of markers of waits.
pub(super) const WAITS: u64 = 3;

/// The parts of Java are how a frame ran.
pub(super) fn categories() -> Value {
    json!([
        { "name": "Other", "color": "grey", "subcategories": ["Other"] },
        { "name": "Java", "color": "yellow", "subcategories": ["Other", "Interpreted", "JIT compiled", "Inlined"] },
        { "name": "Native", "color": "blue", "subcategories": ["Other"] },
        { "name": "Waits", "color": "orange", "subcategories": ["Other"] },
    ])
}

fn category(is_java: bool, ran: Ran) -> Category {
    match ran {
        Ran::Interpreted => (1, 1),
        Ran::Compiled => (1, 2),
        Ran::Inlined => (1, 3),
        Ran::Unknown if is_java => (1, 0),
        Ran::Native | Ran::Unknown => NATIVE,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Frame {
    function: usize,
    line: Option<u32>,
    category: Category,
}

/// The tables of a thread.
#[derive(Debug, Default)]
pub(super) struct Tables<'a> {
    texts: Rows<Cow<'a, str>>,
    /// Names and files.
    functions: Rows<(usize, Option<usize>)>,
    frames: Rows<Frame>,
    /// Callers, and what they call.
    stacks: Rows<(Option<usize>, usize)>,
}

impl<'a> Tables<'a> {
    pub(super) fn text(&mut self, text: impl Into<Cow<'a, str>>) -> usize {
        self.texts.of(text.into())
    }

    /// A stack, of which the class of objects is the innermost frame; `None` if it has no frame.
    pub(super) fn stack(&mut self, constants: &Constants<'a>, stack: u64, class: Option<&'a str>) -> Option<usize> {
        let mut inner = None;
        for frame in constants.frames(stack).iter().rev() {
            let frame = self.frame(constants, frame);
            inner = Some(self.stacks.of((inner, frame)));
        }
        let Some(class) = class else { return inner };
        let name = self.text(class);
        let function = self.functions.of((name, None));
        let frame = self.frames.of(Frame { function, line: None, category: OTHER });
        Some(self.stacks.of((inner, frame)))
    }

    fn frame(&mut self, constants: &Constants<'a>, frame: &pools::Frame) -> usize {
        let (name, file, is_java) = match constants.method(frame.method) {
            Some((method, name)) => (name, &*method.file, method.is_java),
            None => (String::new(), "", false),
        };
        let name = self.text(name);
        let file = (!file.is_empty()).then(|| self.text(file));
        let function = self.functions.of((name, file));
        let line = (frame.line > 0).then_some(frame.line);
        self.frames.of(Frame { function, line, category: category(is_java, frame.ran) })
    }

    /// All of them, as members of the thread.
    pub(super) fn json(&self) -> [(&'static str, Value); 6] {
        let (functions, frames) = (&self.functions, &self.frames);
        let all = |length: usize, value: Value| vec![value; length];
        let nothing = |rows: usize| all(rows, Value::Null);
        let (of_functions, of_frames) = (functions.all.len(), frames.all.len());
        [
            ("stringArray", self.texts.column(|text| text.to_string())),
            (
                "funcTable",
                json!({
                    "length": of_functions,
                    "name": functions.column(|row| row.0),
                    "fileName": functions.column(|row| row.1),
                    "isJS": all(of_functions, false.into()),
                    "relevantForJS": all(of_functions, false.into()),
                    "resource": all(of_functions, (-1).into()),
                    "lineNumber": nothing(of_functions),
                    "columnNumber": nothing(of_functions),
                }),
            ),
            (
                "frameTable",
                json!({
                    "length": of_frames,
                    "func": frames.column(|row| row.function),
                    "line": frames.column(|row| row.line),
                    "category": frames.column(|row| row.category.0),
                    "subcategory": frames.column(|row| row.category.1),
                    "address": all(of_frames, (-1).into()),
                    "inlineDepth": all(of_frames, 0.into()),
                    "nativeSymbol": nothing(of_frames),
                    "innerWindowID": all(of_frames, 0.into()),
                    "column": nothing(of_frames),
                }),
            ),
            (
                "stackTable",
                json!({
                    "length": self.stacks.all.len(),
                    "prefix": self.stacks.column(|row| row.0),
                    "frame": self.stacks.column(|row| row.1),
                }),
            ),
            ("resourceTable", json!({ "length": 0, "lib": [], "name": [], "host": [], "type": [] })),
            ("nativeSymbols", json!({ "length": 0, "address": [], "functionSize": [], "libIndex": [], "name": [] })),
        ]
    }
}
