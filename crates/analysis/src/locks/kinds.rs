//! Waits by all that they can have in common: what programs take that add them up themselves.

use rustc_hash::FxHashMap;

use super::durations::Durations;
use super::lock_names::LockName;
use super::looks::Estimate;
use super::report::LockReport;
use super::stacks::StackIndex;
use super::tables::WaitTotals;
use super::threads::ThreadName;
use crate::location::Location;
use crate::symbols::ClassIndex;

/// Waits that have everything in common.
#[derive(Clone, Debug)]
pub struct KindRow<'a> {
    /// They are waits for a lock that another thread owned, or may have owned.
    pub is_contended: bool,
    /// The class of what was waited for, if known.
    pub class: Option<&'a str>,
    /// Where the program keeps it, if known.
    pub name: Option<LockName<'a>>,
    /// Who waited: a thread, or those of a pool.
    pub waiter: ThreadName<'a>,
    /// Who owned it likewise, if known.
    pub owner: Option<ThreadName<'a>>,
    /// The line that names where they waited, if known.
    pub at: Option<Location<'a>>,
    /// Where they waited, innermost first.
    pub stack: Vec<Location<'a>>,
    /// The line that names where the owner was, if known.
    pub owner_at: Option<Location<'a>>,
    /// Where the owner was, innermost first.
    pub owner_stack: Vec<Location<'a>>,
    /// How long they took.
    pub waits: Durations,
    /// What is estimated of their time in all; `None` if all of it is exact.
    pub estimate: Option<Estimate>,
    /// How many of them had not ended when the trace did.
    pub open: u64,
}

#[derive(PartialEq, Eq, Hash)]
struct Group<'a> {
    is_contended: bool,
    class: Option<ClassIndex>,
    name: Option<LockName<'a>>,
    waiter: ThreadName<'a>,
    owner: Option<ThreadName<'a>>,
    stack: Option<StackIndex>,
    owner_stack: Option<StackIndex>,
}

impl LockReport {
    /// All waits that tables have, in no particular order; none if [that was not asked for](super::LockStats::with_each_kind).
    pub fn kinds(&self) -> Vec<KindRow<'_>> {
        let mut groups: FxHashMap<Group<'_>, WaitTotals> = FxHashMap::default();
        for (key, waits) in self.tables.kinds.iter().flat_map(|kinds| kinds.iter()) {
            let group = Group {
                is_contended: key.is_contended,
                class: key.class,
                name: key.monitor.and_then(|serial| self.lock_names.get(serial, &self.symbols)),
                waiter: self.threads.name(key.waiter, true),
                owner: key.owner.map(|owner| self.threads.name(owner, true)),
                stack: key.stack,
                owner_stack: key.owner_stack,
            };
            groups.entry(group).or_default().merge(waits);
        }
        groups.into_iter().map(|(group, totals)| self.kind(group, totals)).collect()
    }

    fn kind<'a>(&'a self, group: Group<'a>, totals: WaitTotals) -> KindRow<'a> {
        let named = |stack: Option<StackIndex>| {
            let site = stack.and_then(|stack| self.stacks.site(stack));
            site.map(|site| self.symbols.location(site))
        };
        KindRow {
            is_contended: group.is_contended,
            class: group.class.map(|class| self.class(class)),
            name: group.name,
            waiter: group.waiter,
            owner: group.owner,
            at: named(group.stack),
            stack: self.frames(group.stack),
            owner_at: named(group.owner_stack),
            owner_stack: self.frames(group.owner_stack),
            waits: if group.is_contended { totals.contended } else { totals.waited },
            estimate: totals.looks.estimate(),
            open: totals.open,
        }
    }
}
