//! Look-ups of classes that failed: which loader was asked, and by which line.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use trace::filter::Pattern;
use trace::names;

use super::report::WarmUpReport;
use crate::location::Location;
use crate::own_code::OwnCode;
use crate::stacks::StackIndex;
use crate::symbols::{SiteIndex, Symbols};

/// Failed look-ups by stack.
#[derive(Clone, Debug, Default)]
pub(super) struct Lookups {
    ended: FxHashMap<Option<StackIndex>, u64>,
    /// In this document: cumulative.
    current: FxHashMap<Option<StackIndex>, u64>,
}

/// Look-ups that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct LookupRow<'a> {
    /// How many.
    pub count: u64,
    /// The loader's class, as far as its innermost frame shows it; empty if no stack is known.
    pub loader: &'a str,
    /// The innermost line that its reader can change, outside of class loaders.
    pub caused_by: Option<Location<'a>>,
    /// The stack of most of them, innermost frame first, without the exception's own; empty if it is not known.
    pub stack: Vec<Location<'a>>,
}

/// Look-ups of one loader by one line.
#[derive(Default)]
struct Group {
    count: u64,
    /// The most of one stack, and which.
    most: u64,
    stack: Option<StackIndex>,
}

impl Lookups {
    pub(super) fn set(&mut self, stack: Option<StackIndex>, count: u64) {
        self.current.insert(stack, count);
    }

    pub(super) fn end_document(&mut self) {
        for (stack, count) in self.current.drain() {
            let sum = self.ended.entry(stack).or_default();
            *sum = sum.saturating_add(count);
        }
    }
}

/// The frames of a stack without those of the exception itself.
fn without_exception<'s>(frames: &'s [SiteIndex], symbols: &Symbols) -> &'s [SiteIndex] {
    let is_own = |&site: &SiteIndex| {
        let at = symbols.location(site);
        let is_constructor = names::jvm_method_name(at.method) == "<init>";
        at.method == "fillInStackTrace"
            || (is_constructor && (at.class.ends_with("Exception") || at.class.ends_with("Throwable")))
    };
    let first = frames.iter().position(|site| !is_own(site)).unwrap_or(frames.len());
    &frames[first..]
}

/// Whether a method is one by which loaders look for classes.
fn is_of_loader(method: &str) -> bool {
    ["loadClass", "findClass", "forName"].iter().any(|begin| method.starts_with(begin))
}

impl WarmUpReport {
    /// Look-ups of classes that failed, the most frequent first; `own` are patterns for what is the reader's own code.
    pub fn failed_lookups(&self, own: Vec<Pattern>) -> Vec<LookupRow<'_>> {
        let (symbols, stacks) = (&self.stats().symbols, &self.stats().stacks);
        let mut code = OwnCode::new(own);
        let mut groups: BTreeMap<_, Group> = BTreeMap::new();
        let mut all: Vec<_> = self.stats().lookups.ended.iter().map(|(&stack, &count)| (stack, count)).collect();
        all.sort_by_key(|&(stack, _)| stack.map(StackIndex::rank));
        for (stack, count) in all {
            let frames = stack.map_or(&[][..], |stack| without_exception(stacks.frames(stack), symbols));
            let loader = frames.first().map_or("", |&site| symbols.location(site).class);
            let outside = frames.iter().position(|&site| !is_of_loader(symbols.location(site).method));
            let outside = &frames[outside.unwrap_or(frames.len())..];
            let caused_by = code.frame(outside, symbols).map(|site| symbols.location(site));
            let group = groups.entry((loader, caused_by)).or_default();
            group.count = group.count.saturating_add(count);
            if count > group.most {
                (group.most, group.stack) = (count, stack);
            }
        }
        let row = |((loader, caused_by), Group { count, stack, .. })| {
            let frames = stack.map_or(&[][..], |stack| without_exception(stacks.frames(stack), symbols));
            LookupRow { count, loader, caused_by, stack: frames.iter().map(|&site| symbols.location(site)).collect() }
        };
        let mut rows: Vec<_> = groups.into_iter().map(row).collect();
        rows.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.loader.cmp(b.loader)));
        rows
    }
}
