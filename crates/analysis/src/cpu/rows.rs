//! Tables of samples: by line, method, thread, kind of code ...

use std::collections::hash_map::Entry;

use rustc_hash::{FxHashMap, FxHashSet};
use trace::model::ThreadKind;
use trace::names;
use trace::time::Nanos;

use super::report::CpuReport;
use super::samples::{CellKey, Weight};
use super::subject::CpuSubject;
use crate::allocations::SiteNames;
use crate::explain::LEAST_SAMPLES;
use crate::stacks::StackIndex;
use crate::symbols::{SiteIndex, ThreadIndex};

/// What the rows of a table stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CpuBy {
    /// Lines of code.
    Line,
    /// Methods.
    Method,
    /// Classes of the code.
    Class,
    /// Packages of the code.
    Package,
    /// Modules of the code.
    Module,
    /// Threads; virtual ones by their own identity.
    Thread,
    /// Platform threads, with the virtual ones that they carried.
    Carrier,
    /// Functions of native code.
    Function,
    /// How the code ran.
    Kind,
}

impl CpuBy {
    /// All of them.
    pub const ALL: [CpuBy; 9] = [
        CpuBy::Line,
        CpuBy::Method,
        CpuBy::Class,
        CpuBy::Package,
        CpuBy::Module,
        CpuBy::Thread,
        CpuBy::Carrier,
        CpuBy::Function,
        CpuBy::Kind,
    ];

    /// Whether frames of stacks can be rows, so that one may be on a stack that another names.
    pub fn is_code(self) -> bool {
        match self {
            CpuBy::Line | CpuBy::Method | CpuBy::Class | CpuBy::Package | CpuBy::Module => true,
            CpuBy::Thread | CpuBy::Carrier | CpuBy::Function | CpuBy::Kind => false,
        }
    }
}

/// One row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuRow<'a> {
    /// What the row is about.
    pub subject: CpuSubject<'a>,
    /// How many samples it names.
    pub samples: u64,
    /// For how long they stand. The times of all rows add up to the whole.
    pub time: Nanos,
    /// How far `time` may be off with a confidence of 95 %.
    pub error: Nanos,
    /// The time of all samples that have it anywhere on their stack.
    pub total: Nanos,
    /// What ran innermost there, most first.
    pub inside: Vec<CpuInside<'a>>,
}

impl CpuRow<'_> {
    /// Whether so few samples say how long it took that it may be nearly anything.
    pub fn has_few_samples(&self) -> bool {
        (1..LEAST_SAMPLES).contains(&self.samples)
    }
}

/// What ran at a line of code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuInside<'a> {
    /// A method, a function or the kernel.
    pub subject: CpuSubject<'a>,
    /// For how long.
    pub time: Nanos,
}

impl CpuReport {
    /// The rows of a table, the largest first; code is that which names its stacks.
    pub fn rows<'a>(&'a self, by: CpuBy, names: &SiteNames) -> Vec<CpuRow<'a>> {
        let whole = self.whole();
        let mut rows: FxHashMap<CpuSubject<'a>, Weight> = FxHashMap::default();
        let mut inside: FxHashMap<CpuSubject<'a>, FxHashMap<CpuSubject<'a>, u64>> = FxHashMap::default();
        for (key, weight) in &self.cells {
            let subject = self.subject(key, by, names);
            rows.entry(subject).or_default().add(weight);
            if by == CpuBy::Line {
                let time = inside.entry(subject).or_default().entry(self.innermost(key)).or_default();
                *time = time.saturating_add(weight.time.0);
            }
        }
        let totals = if by.is_code() { self.totals(by) } else { FxHashMap::default() };
        for &subject in totals.keys() {
            rows.entry(subject).or_default();
        }
        let row = |(subject, weight): (CpuSubject<'a>, Weight)| {
            let total = totals.get(&subject).map_or(weight.time, |total| Nanos(total.0.max(weight.time.0)));
            let mut inside: Vec<CpuInside<'a>> = inside
                .remove(&subject)
                .unwrap_or_default()
                .into_iter()
                .map(|(subject, time)| CpuInside { subject, time: Nanos(time) })
                .collect();
            inside.sort_by(|a, b| b.time.cmp(&a.time).then_with(|| a.subject.cmp(&b.subject)));
            let error = self.error(&whole, &weight);
            CpuRow { subject, samples: weight.samples, time: weight.time, error, total, inside }
        };
        let mut rows: Vec<CpuRow<'a>> = rows.into_iter().map(row).collect();
        rows.sort_by(|a, b| (b.time, b.total).cmp(&(a.time, a.total)).then_with(|| a.subject.cmp(&b.subject)));
        rows
    }

    fn subject(&self, key: &CellKey, by: CpuBy, names: &SiteNames) -> CpuSubject<'_> {
        match by {
            CpuBy::Thread => self.named_thread(key.virtual_thread.unwrap_or(key.thread)),
            CpuBy::Carrier => self.named_thread(key.thread),
            CpuBy::Kind => CpuSubject::Kind(self.kind(key)),
            CpuBy::Function => match (key.function, self.frames(key)) {
                (Some(function), _) => {
                    let (name, library) = self.samples.function_name(function);
                    CpuSubject::Function(name, library)
                }
                (None, _) if key.is_kernel => CpuSubject::Kernel,
                (None, []) => self.without_frames(key),
                (None, _) => CpuSubject::JavaCode,
            },
            CpuBy::Line | CpuBy::Method | CpuBy::Class | CpuBy::Package | CpuBy::Module => {
                let innermost = self.frames(key).first().copied();
                let site = names.site(innermost, key.stack.map(|stack| stack.frames));
                site.map_or_else(|| self.without_frames(key), |site| self.code(site, by))
            }
        }
    }

    /// A thread as a row.
    fn named_thread(&self, thread: ThreadIndex) -> CpuSubject<'_> {
        let named = self.thread(thread);
        match self.threads.kind(thread) {
            Some(ThreadKind::Vm) => CpuSubject::VmThreads(named.name),
            Some(ThreadKind::Native) => CpuSubject::NativeThreads(named.name),
            None => CpuSubject::Thread(named),
        }
    }

    /// What a frame is called.
    fn code(&self, site: SiteIndex, by: CpuBy) -> CpuSubject<'_> {
        let at = self.symbols.location(site);
        match by {
            CpuBy::Line => CpuSubject::Line(at),
            CpuBy::Class => CpuSubject::Class(at.class),
            CpuBy::Package => CpuSubject::Package(names::package(at.class)),
            CpuBy::Module => CpuSubject::Module(self.symbols.module(site)),
            CpuBy::Method | CpuBy::Thread | CpuBy::Carrier | CpuBy::Function | CpuBy::Kind => {
                CpuSubject::Method(at.class, at.method)
            }
        }
    }

    /// What ran innermost.
    fn innermost(&self, key: &CellKey) -> CpuSubject<'_> {
        match (key.function, self.frames(key).first()) {
            (Some(function), _) => {
                let (name, library) = self.samples.function_name(function);
                CpuSubject::Function(name, library)
            }
            (None, _) if key.is_kernel => CpuSubject::Kernel,
            (None, Some(&site)) => self.code(site, CpuBy::Method),
            (None, None) => self.without_frames(key),
        }
    }

    /// How long each piece of code was on the stack, however often.
    fn totals(&self, by: CpuBy) -> FxHashMap<CpuSubject<'_>, Nanos> {
        let mut stacks: FxHashMap<StackIndex, u64> = FxHashMap::default();
        for (key, weight) in &self.cells {
            if let Some(stack) = key.stack {
                let time = stacks.entry(stack.frames).or_default();
                *time = time.saturating_add(weight.time.0);
            }
        }
        let mut numbers: FxHashMap<SiteIndex, usize> = FxHashMap::default();
        let mut known: FxHashMap<CpuSubject<'_>, usize> = FxHashMap::default();
        let mut totals: Vec<u64> = Vec::new();
        let mut seen: FxHashSet<usize> = FxHashSet::default();
        for (stack, time) in stacks {
            seen.clear();
            for &site in self.stacks.frames().frames(stack) {
                let number = match numbers.entry(site) {
                    Entry::Occupied(number) => *number.get(),
                    Entry::Vacant(new) => {
                        let next = known.len();
                        let number = *known.entry(self.code(site, by)).or_insert(next);
                        totals.resize(known.len(), 0);
                        *new.insert(number)
                    }
                };
                if seen.insert(number) {
                    totals[number] = totals[number].saturating_add(time);
                }
            }
        }
        known.into_iter().map(|(subject, number)| (subject, Nanos(totals[number]))).collect()
    }
}
