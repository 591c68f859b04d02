//! The counters of the sites of one class that is rewritten.

use std::ops::Range;

use classfile::{MethodView, Op};

use crate::counts::counters::{BytecodeSite, CounterKind, Counters};
use crate::counts::ids::{CounterIndex, NameIndex, RewritingIndex, RewrittenMethodIndex};
use crate::counts::reuse::EarlierSites;
use crate::counts::rewritings::{Origin, Part, Rewritings, RewrittenMethod};
use agent_core::core::Core;
use agent_core::core::feature::{ClassPhase, RewriteRequest};

/// An instruction of the class.
#[derive(Clone, Copy)]
pub(super) struct At<'m> {
    pub(super) method: &'m MethodView<'m>,
    pub(super) pc: u16,
}

/// Hands out counters to sites.
pub(in crate::counts) struct SiteCounters<'r> {
    core: &'static Core,
    counters: &'static Counters,
    rewritings: &'static Rewritings,
    pub(super) request: RewriteRequest<'r>,
    origin: Origin,
    /// From the first site on.
    rewriting: Option<RewritingIndex>,
    /// The method whose instructions are looked at, from its first site on.
    method: Option<RewrittenMethodIndex>,
    /// The new counters of the class so far, among others.
    new: Range<u32>,
    /// What it had when it was rewritten before.
    earlier: EarlierSites,
    earlier_counters: Vec<Range<u32>>,
    /// Sites left alone because there are no more counters.
    pub(super) uncounted: u64,
}

impl<'r> SiteCounters<'r> {
    /// For one class; no site yet.
    ///
    /// # Safety
    /// The loader of the request is a live reference or null.
    pub(in crate::counts) unsafe fn new(
        core: &'static Core,
        counters: &'static Counters,
        rewritings: &'static Rewritings,
        request: RewriteRequest<'r>,
    ) -> Self {
        SiteCounters {
            core,
            counters,
            rewritings,
            origin: Origin::of(request.loader, request.name),
            request,
            rewriting: None,
            method: None,
            new: 0..0,
            earlier: EarlierSites::default(),
            earlier_counters: Vec::new(),
            uncounted: 0,
        }
    }

    /// The next method comes.
    pub(super) fn begin_method(&mut self) {
        self.method = None;
    }

    /// The class is rewritten.
    pub(super) fn end(&self) {
        let Some(rewriting) = self.rewriting else { return };
        let part = |counters| Part { rewriting, counters };
        let new = (!self.new.is_empty()).then(|| self.new.clone());
        if let Some(counters) = &new {
            self.rewritings.note_counters(&part(counters.clone()));
        }
        // An attempt to load the class that came to nothing has left its counters.
        let earlier = self.earlier_counters.iter().filter(|_| self.request.phase == ClassPhase::Loading);
        for counters in earlier.chain(&new) {
            // SAFETY: by the promise of who made this.
            unsafe { self.rewritings.end(self.core, self.request.jni, self.origin, part(counters.clone())) };
        }
    }

    /// The number of a class by the name that the class file has.
    pub(super) fn name(&self, name: &[u8]) -> NameIndex {
        self.counters.name(name)
    }

    /// Counters of a site, those that it had before if the class is rewritten again: pushes the number of the first. `None` if there are
    /// no more.
    pub(super) fn add(&mut self, at: At<'_>, kinds: &[CounterKind]) -> Option<Op<'static>> {
        let site = self.site(at, self.counters.has_room(kinds.len()));
        let Some(CounterIndex(index)) = site.and_then(|site| self.counters_of(site, kinds)) else {
            self.uncounted += 1;
            return None;
        };
        Some(Op::PushInt(index as i32))
    }

    fn counters_of(&mut self, site: BytecodeSite, kinds: &[CounterKind]) -> Option<CounterIndex> {
        if let Some(known) = self.earlier.take(site, kinds) {
            return Some(known);
        }
        let CounterIndex(index) = self.counters.append(Some(site), kinds)?;
        let first = if self.new.is_empty() { index } else { self.new.start };
        self.new = first..index + kinds.len() as u32;
        Some(CounterIndex(index))
    }

    fn site(&mut self, At { method, pc }: At<'_>, has_room: bool) -> Option<BytecodeSite> {
        let code = match self.method {
            Some(code) => code,
            None => {
                let rewriting = self.rewriting(method.class_name())?;
                let code = match self.earlier.method(method.name(), method.descriptor()) {
                    Some(known) => known,
                    // What is noted of a method takes memory.
                    None if !has_room => return None,
                    None => {
                        let lines = method.line_range().map(|(first, last)| (first.into(), last.into()));
                        let (name, descriptor) = (method.name().into(), method.descriptor().into());
                        self.rewritings.add_method(RewrittenMethod { rewriting, name, descriptor, lines })
                    }
                };
                *self.method.insert(code)
            }
        };
        Some(BytecodeSite { code, line: method.line(pc).map_or(0, u32::from) })
    }

    fn rewriting(&mut self, class: &[u8]) -> Option<RewritingIndex> {
        if self.rewriting.is_none() {
            let (env, rewritings) = (self.core.jvm.env, self.rewritings);
            // SAFETY: by the promise of who made this.
            let begun = unsafe { rewritings.begin(env, self.request.jni, class, self.origin) }?;
            if !begun.counters.is_empty() {
                self.earlier = EarlierSites::of(begun.rewriting, &begun.counters, rewritings, self.counters);
                self.earlier_counters = begun.counters;
            }
            self.rewriting = Some(begun.rewriting);
        }
        self.rewriting
    }
}
