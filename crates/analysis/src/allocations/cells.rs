//! Cells: objects that have class, thread, site and stack in common. All numbers of allocations are kept by them.

use rustc_hash::FxHashMap;
use trace::ids::{ClassId, MethodId, StackId, ThreadId};
use trace::model::Element;

use super::totals::ObjectTotals;
use crate::location::Location;
use crate::stacks::{StackIndex, Stacks};
use crate::symbols::{ClassIndex, SiteIndex, Symbols, ThreadIndex};

/// Number of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CellIndex(pub(super) u32);

/// What the objects of a cell have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Cell {
    pub(super) class: ClassIndex,
    pub(super) thread: Option<ThreadIndex>,
    /// The innermost frame.
    pub(super) site: Option<SiteIndex>,
    pub(super) stack: Option<StackIndex>,
    /// Sites are counted, and these objects are not: samples are all that is known of them.
    pub(super) is_uncounted: bool,
}

/// The same in the ids of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct CellIds {
    pub(super) class: ClassId,
    pub(super) thread: Option<ThreadId>,
    pub(super) method: Option<MethodId>,
    pub(super) line: Option<i64>,
    pub(super) stack: Option<StackId>,
}

/// A thread as it was announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadSubject<'a> {
    /// The thread's name; several threads may share one.
    pub name: &'a str,
    /// The name of its thread group; empty if unknown.
    pub group: &'a str,
    /// Its id in its document, which another thread may bear later.
    pub id: ThreadId,
    /// Its rank among all threads of the trace in the order of their definitions, from 0. Unlike the id, it is unique.
    pub rank: usize,
}

/// All cells, their numbers, and the names behind them.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    symbols: Symbols,
    stacks: Stacks,
    cells: Vec<Cell>,
    totals: Vec<ObjectTotals>,
    index: FxHashMap<Cell, CellIndex>,
    /// One look-up instead of five: of single objects this is the hot path. Emptied whenever an id changes its meaning.
    shortcut: FxHashMap<CellIds, CellIndex>,
    undefined_stacks: u64,
}

impl Cells {
    /// Takes in the definition of a name.
    pub(super) fn define(&mut self, element: &Element<'_>) {
        let is_redefined = match element {
            Element::ClassDef(_) | Element::MethodDef(_) => self.symbols.define_code(element),
            Element::ThreadStart(thread) => {
                self.symbols.define_thread(thread.thread_id, &thread.thread_name, &thread.group_name)
            }
            Element::StackDef(stack) => self.stacks.define(stack.stack_id, self.symbols.sites(&stack.frames)),
            _ => false,
        };
        if is_redefined {
            self.shortcut.clear();
        }
    }

    /// All ids lose their meaning: the next document has its own.
    pub(super) fn end_document(&mut self) {
        self.symbols.end_document();
        self.stacks.end_document();
        self.shortcut.clear();
    }

    /// The cell of a single object. If it has no site but a stack, its site is the innermost frame of that.
    pub(super) fn of_object(&mut self, ids: CellIds) -> CellIndex {
        if let Some(&known) = self.shortcut.get(&ids) {
            return known;
        }
        let cell = self.named(ids);
        let innermost = cell.stack.and_then(|stack| self.stacks.frames(stack).first().copied());
        let index = self.intern(Cell { site: cell.site.or(innermost), ..cell });
        self.shortcut.insert(ids, index);
        index
    }

    /// The cell of what is not reported object by object.
    pub(super) fn of(&mut self, ids: CellIds) -> CellIndex {
        let cell = self.named(ids);
        self.intern(cell)
    }

    /// The cell of all objects of a site, whoever allocated them.
    pub(super) fn of_site(&mut self, cell: Cell) -> CellIndex {
        self.intern(Cell { thread: None, stack: None, ..cell })
    }

    /// The cell of objects of a cell that nobody counted, on one stack and thread.
    pub(super) fn uncounted(&mut self, cell: Cell) -> CellIndex {
        self.intern(Cell { is_uncounted: true, ..cell })
    }

    fn named(&mut self, ids: CellIds) -> Cell {
        Cell {
            class: self.symbols.class(ids.class),
            thread: ids.thread.map(|thread| self.symbols.thread(thread)),
            site: ids.method.map(|method| self.symbols.site(method, ids.line.and_then(line))),
            stack: ids.stack.map(|stack| self.stack(stack)),
            is_uncounted: false,
        }
    }

    /// The stack behind an id; an undefined id gets an empty one.
    pub(super) fn stack(&mut self, id: StackId) -> StackIndex {
        self.stacks.get(id).unwrap_or_else(|| {
            self.undefined_stacks += 1;
            let empty = self.stacks.intern(Vec::new());
            self.stacks.define(id, Vec::new());
            empty
        })
    }

    /// The thread behind an id.
    pub(super) fn thread_of(&mut self, id: ThreadId) -> ThreadIndex {
        self.symbols.thread(id)
    }

    fn intern(&mut self, cell: Cell) -> CellIndex {
        *self.index.entry(cell).or_insert_with(|| {
            self.cells.push(cell);
            self.totals.push(ObjectTotals::default());
            CellIndex(u32::try_from(self.cells.len() - 1).expect("fewer than 2^32 combinations of names"))
        })
    }

    /// The number of a cell, if there is one.
    pub(super) fn find(&self, cell: Cell) -> Option<CellIndex> {
        self.index.get(&cell).copied()
    }

    pub(super) fn cell(&self, index: CellIndex) -> Cell {
        self.cells[index.0 as usize]
    }

    pub(super) fn totals(&self, index: CellIndex) -> &ObjectTotals {
        &self.totals[index.0 as usize]
    }

    pub(super) fn totals_mut(&mut self, index: CellIndex) -> &mut ObjectTotals {
        &mut self.totals[index.0 as usize]
    }

    /// All of them, in the order in which they were found.
    pub(super) fn iter(&self) -> impl Iterator<Item = (CellIndex, Cell, &ObjectTotals)> {
        (0..).map(CellIndex).zip(&self.cells).zip(&self.totals).map(|((index, &cell), totals)| (index, cell, totals))
    }

    /// Classes, threads, methods and stacks that were referred to without a definition.
    pub(super) fn undefined(&self) -> u64 {
        self.symbols.undefined() + self.undefined_stacks
    }

    pub(super) fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    pub(super) fn stacks(&self) -> &Stacks {
        &self.stacks
    }

    pub(super) fn class(&self, cell: Cell) -> &str {
        &self.symbols.class_name(cell.class).name
    }

    pub(super) fn thread(&self, index: ThreadIndex) -> ThreadSubject<'_> {
        let thread = self.symbols.thread_name(index);
        ThreadSubject { name: &thread.name, group: &thread.group, id: thread.id, rank: index.rank() }
    }

    pub(super) fn location(&self, site: SiteIndex) -> Location<'_> {
        self.symbols.location(site)
    }

    /// The stack of a cell, innermost frame first; empty where none is known.
    pub(super) fn stack_of(&self, cell: Cell) -> &[SiteIndex] {
        cell.stack.map_or(&[], |stack| self.stacks.frames(stack))
    }
}

/// A source line as the trace gives it; 0 and negative numbers stand for "unknown" and "native".
fn line(number: i64) -> Option<u32> {
    u32::try_from(number).ok().filter(|&line| line > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_below_one_are_unknown() {
        assert_eq!(line(7), Some(7));
        assert_eq!((line(0), line(-1), line(i64::MAX)), (None, None, None));
    }
}
