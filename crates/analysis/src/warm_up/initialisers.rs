//! Static initialisers that took long: how long each took itself, and which line made it run.

use rustc_hash::FxHashMap;
use trace::filter::Pattern;
use trace::model::{ClassInit, Flag};
use trace::names;
use trace::time::Nanos;

use super::report::WarmUpReport;
use crate::location::Location;
use crate::own_code::OwnCode;
use crate::stacks::StackIndex;
use crate::symbols::{SiteIndex, ThreadIndex};

/// So many are kept.
const MOST: usize = 1 << 18;
/// Times are those of looks, a millisecond apart or more: so much later an inner one may seem to end.
const LOOSE: u64 = 20_000_000;

#[derive(Clone, Debug)]
pub(super) struct Initialiser {
    class: String,
    thread: Option<ThreadIndex>,
    begun: Nanos,
    took: Nanos,
    runs_on: bool,
    stack: Option<StackIndex>,
    lost: Option<String>,
}

/// Those of a trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Initialisers(Vec<Initialiser>);

/// A static initialiser.
#[derive(Clone, Debug, PartialEq)]
pub struct InitialiserRow<'a> {
    /// Its class.
    pub class: &'a str,
    /// The thread that ran it, if that is known.
    pub thread: Option<&'a str>,
    /// When it began, after the beginning of the recording.
    pub begun: Nanos,
    /// How long it ran.
    pub total: Nanos,
    /// Of that, without other initialisers that it made run and that are in rows of their own.
    pub own: Nanos,
    /// It had not ended when the recording did.
    pub runs_on: bool,
    /// The line that made it run: the innermost one that its reader can change, outside of the initialiser.
    pub caused_by: Option<Location<'a>>,
    /// Its frame and those further out, innermost first; empty if they are not known.
    pub stack: Vec<Location<'a>>,
    /// Why they are not known.
    pub lost: Option<&'a str>,
}

impl Initialisers {
    pub(super) fn add(
        &mut self,
        init: &ClassInit<'_>,
        thread: Option<ThreadIndex>,
        stack: Option<StackIndex>,
        begun: Nanos,
    ) {
        if self.0.len() < MOST {
            self.0.push(Initialiser {
                class: names::class_name_of_internal(&init.class),
                thread,
                begun,
                took: init.took,
                runs_on: init.running == Some(Flag::Yes),
                stack,
                lost: init.lost.as_deref().map(str::to_owned),
            });
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What each took without those inside of it on the same thread.
    fn own_times(&self) -> Vec<Nanos> {
        let mut own: Vec<Nanos> = self.0.iter().map(|init| init.took).collect();
        let mut by_thread: FxHashMap<Option<ThreadIndex>, Vec<usize>> = FxHashMap::default();
        (0..self.0.len()).for_each(|index| by_thread.entry(self.0[index].thread).or_default().push(index));
        by_thread.remove(&None);
        for mut indices in by_thread.into_values() {
            indices.sort_by_key(|&index| (self.0[index].begun, std::cmp::Reverse(self.0[index].took)));
            let mut open: Vec<usize> = Vec::new();
            for index in indices {
                let (begun, end) = (self.0[index].begun.0, self.0[index].begun.0.saturating_add(self.0[index].took.0));
                let is_around = |&outer: &usize| {
                    let outer = &self.0[outer];
                    let outer_end = outer.begun.0.saturating_add(outer.took.0);
                    begun < outer_end && end <= outer_end.saturating_add(LOOSE)
                };
                while open.last().is_some_and(|outer| !is_around(outer)) {
                    open.pop();
                }
                if let Some(&outer) = open.last() {
                    own[outer].0 = own[outer].0.saturating_sub(self.0[index].took.0);
                }
                open.push(index);
            }
        }
        own
    }
}

impl WarmUpReport {
    /// Static initialisers that ran for a millisecond or more, the one that took longest itself first; `own` are patterns for what is the
    /// reader's own code.
    pub fn initialisers(&self, own: Vec<Pattern>) -> Vec<InitialiserRow<'_>> {
        let mut code = OwnCode::new(own);
        let all = &self.stats().initialisers;
        let mut rows: Vec<_> =
            all.0.iter().zip(all.own_times()).map(|(init, own)| self.row(init, own, &mut code)).collect();
        rows.sort_by(|a, b| (b.own, b.total).cmp(&(a.own, a.total)).then_with(|| a.class.cmp(b.class)));
        rows
    }

    fn row<'a>(&'a self, init: &'a Initialiser, own: Nanos, code: &mut OwnCode) -> InitialiserRow<'a> {
        let symbols = &self.stats().symbols;
        let frames: &[SiteIndex] = init.stack.map_or(&[], |stack| self.stats().stacks.frames(stack));
        let outside = frames.get(1..).unwrap_or_default();
        InitialiserRow {
            class: &init.class,
            thread: init.thread.map(|thread| &*symbols.thread_name(thread).name),
            begun: init.begun,
            total: init.took,
            own,
            runs_on: init.runs_on,
            caused_by: code.frame(outside, symbols).map(|site| symbols.location(site)),
            stack: frames.iter().map(|&site| symbols.location(site)).collect(),
            lost: init.lost.as_deref(),
        }
    }
}
