//! Names of classes, frames and stacks, each once, by the ids of their content.

use analysis::allocations::Location;
use analysis::call_tree::Label;
use analysis::own_code::OwnCode;
use rustc_hash::FxHashMap;
use trace::names::jvm_method_name;

use crate::columns::{Rows, row};
use crate::content::ContentId;
use crate::schema::{CLASS, FRAME, STACK, Table};

/// Between the parts of a frame: no name has it.
const SEPARATOR: u8 = 0;

/// Two different names with one id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("two different rows of table {table} have the id {id}")]
pub struct Collision {
    /// The table.
    pub table: &'static str,
    /// The id.
    pub id: i64,
}

/// The checks of ids that are known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known(FxHashMap<i64, i64>);

impl Known {
    /// Takes in an id. Whether it is new.
    pub(crate) fn add(&mut self, table: &'static Table, content: ContentId) -> Result<bool, Collision> {
        match self.0.insert(content.id, content.check) {
            None => Ok(true),
            Some(check) if check == content.check => Ok(false),
            Some(_) => Err(Collision { table: table.name, id: content.id }),
        }
    }
}

/// The names of one trace.
#[derive(Debug)]
pub(crate) struct Names {
    own: OwnCode,
    known: [Known; 3],
    pub(crate) classes: Rows,
    pub(crate) frames: Rows,
    pub(crate) stacks: Rows,
    key: Vec<u8>,
}

impl Names {
    pub(crate) fn new() -> Names {
        Names {
            own: OwnCode::default(),
            known: Default::default(),
            classes: Rows::new(&CLASS),
            frames: Rows::new(&FRAME),
            stacks: Rows::new(&STACK),
            key: Vec::new(),
        }
    }

    /// The id of a class.
    pub(crate) fn class(&mut self, name: &str) -> Result<i64, Collision> {
        let content = ContentId::of(name.as_bytes());
        if self.known[0].add(&CLASS, content)? {
            self.classes.push(row![content.id, content.check, name]);
        }
        Ok(content.id)
    }

    /// The id of a line of code.
    pub(crate) fn line(&mut self, at: Location<'_>) -> Result<i64, Collision> {
        let is_own = self.own.is_nearest(at.class);
        self.frame(at, is_own)
    }

    /// The id of what is on a stack: of native code the class is its library, of all else there is a text instead of a method.
    pub(crate) fn label(&mut self, label: &Label<'_>) -> Result<i64, Collision> {
        let nowhere = Location { class: "", method: "", signature: "", source: "", line: None };
        match label {
            Label::Line(at) => self.line(*at),
            Label::Function { name, library } => {
                self.frame(Location { class: library, method: name, ..nowhere }, false)
            }
            other => self.frame(Location { method: &other.to_string(), ..nowhere }, false),
        }
    }

    fn frame(&mut self, at: Location<'_>, is_own: bool) -> Result<i64, Collision> {
        let method = jvm_method_name(at.method);
        self.key.clear();
        for part in [at.class, method, at.signature, at.source] {
            self.key.extend_from_slice(part.as_bytes());
            self.key.push(SEPARATOR);
        }
        self.key.extend_from_slice(&at.line.unwrap_or(0).to_le_bytes());
        let content = ContentId::of(&self.key);
        if self.known[1].add(&FRAME, content)? {
            let line = at.line.map(u64::from);
            let row = row![content.id, content.check, at.class, method, at.signature, at.source, line, is_own];
            self.frames.push(row);
        }
        Ok(content.id)
    }

    /// The id of a stack of frames, innermost first; `None` if it has none.
    pub(crate) fn stack(&mut self, frames: &[i64]) -> Result<Option<i64>, Collision> {
        if frames.is_empty() {
            return Ok(None);
        }
        self.key.clear();
        frames.iter().for_each(|frame| self.key.extend_from_slice(&frame.to_le_bytes()));
        let content = ContentId::of(&self.key);
        if self.known[2].add(&STACK, content)? {
            for (depth, &frame) in (0_i64..).zip(frames) {
                self.stacks.push(row![content.id, content.check, depth, frame]);
            }
        }
        Ok(Some(content.id))
    }

    /// The id of a stack of lines, innermost first.
    pub(crate) fn lines(&mut self, lines: &[Location<'_>]) -> Result<Option<i64>, Collision> {
        let frames: Vec<i64> = lines.iter().map(|&at| self.line(at)).collect::<Result<_, _>>()?;
        self.stack(&frames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Location<'_> =
        Location { class: "shop.Cart", method: "-init-", signature: "()V", source: "", line: None };

    #[test]
    fn names_are_there_once() {
        let mut names = Names::new();
        let [one, other] = [AT, Location { line: Some(7), ..AT }].map(|at| names.line(at).unwrap());
        assert_eq!(names.line(AT), Ok(one));
        assert_ne!(one, other);
        let stack = names.stack(&[one, other]).unwrap();
        assert_ne!(names.stack(&[other, one]), Ok(stack));
        assert_eq!((names.stack(&[one, other]), names.stack(&[])), (Ok(stack), Ok(None)));
        assert_eq!((names.frames.len(), names.stacks.len()), (2, 4));
        assert_eq!((names.class("a.A"), names.class("a.A")), (names.class("a.A"), names.class("a.A")));
        assert_eq!(names.classes.len(), 1);
    }

    #[test]
    fn native_code_is_nobodys_own() {
        let mut names = Names::new();
        names.line(AT).unwrap();
        names.label(&Label::Function { name: "memcpy", library: "libc.so.6" }).unwrap();
        names.label(&Label::Kernel).unwrap();
        assert_eq!(names.frames.ints("is_own"), [Some(1), Some(0), Some(0)]);
    }

    #[test]
    fn a_collision_is_found() {
        let mut known = Known::default();
        let content = ContentId { id: 7, check: 1 };
        assert_eq!((known.add(&CLASS, content), known.add(&CLASS, content)), (Ok(true), Ok(false)));
        let other = known.add(&CLASS, ContentId { check: 2, ..content });
        assert_eq!(other.unwrap_err().to_string(), "two different rows of table class have the id 7");
    }
}
