//! The counters of the sites of one class that is rewritten.

use std::ops::Range;

use classfile::{MethodView, Op};

use crate::agent::core::Core;
use crate::agent::core::feature::RewriteRequest;
use crate::agent::counts::counters::{BytecodeSite, CounterKind};
use crate::agent::counts::ids::{CounterIndex, NameIndex, RewritingIndex, RewrittenMethodIndex};
use crate::agent::counts::rewritings::{Origin, Part, RewrittenMethod};
use crate::agent::counts::space::CounterSpace;

/// An instruction of the class.
#[derive(Clone, Copy)]
pub(super) struct At<'m> {
    pub(super) method: &'m MethodView<'m>,
    pub(super) pc: u16,
}

/// Hands out counters to sites.
pub(super) struct SiteCounters<'r> {
    core: &'static Core,
    pub(super) space: &'static CounterSpace,
    pub(super) request: RewriteRequest<'r>,
    origin: Origin,
    /// From the first site on.
    rewriting: Option<RewritingIndex>,
    /// The method whose instructions are looked at, from its first site on.
    method: Option<RewrittenMethodIndex>,
    /// The counters of the class so far, among others.
    counters: Range<u32>,
    /// Sites left alone because there are no more counters.
    pub(super) uncounted: u64,
}

impl<'r> SiteCounters<'r> {
    /// For one class; no site yet.
    ///
    /// # Safety
    /// The loader of the request is a live reference or null.
    pub(super) unsafe fn new(core: &'static Core, space: &'static CounterSpace, request: RewriteRequest<'r>) -> Self {
        SiteCounters {
            core,
            space,
            origin: Origin::of(request.loader, request.name),
            request,
            rewriting: None,
            method: None,
            counters: 0..0,
            uncounted: 0,
        }
    }

    /// The next method comes.
    pub(super) fn begin_method(&mut self) {
        self.method = None;
    }

    /// The class is rewritten.
    pub(super) fn end(&self) {
        if let Some(rewriting) = self.rewriting.filter(|_| !self.counters.is_empty()) {
            let part = Part { rewriting, counters: self.counters.clone() };
            // SAFETY: by the promise of who made this.
            unsafe { self.space.rewritings.end(self.core, self.request.jni, self.origin, part) };
        }
    }

    /// The number of a class by the name that the class file has.
    pub(super) fn name(&self, name: &[u8]) -> NameIndex {
        self.space.counters.name(name)
    }

    /// Counters of a site: pushes the number of the first. `None` if there are no more.
    pub(super) fn add(&mut self, at: At<'_>, kinds: &[CounterKind]) -> Option<Op<'static>> {
        let counters = &self.space.counters;
        // What is noted of a site takes memory.
        let site = if counters.has_room(kinds.len()) { self.site(at) } else { None };
        let Some(CounterIndex(index)) = site.and_then(|site| counters.append(Some(site), kinds)) else {
            self.uncounted += 1;
            return None;
        };
        let first = if self.counters.is_empty() { index } else { self.counters.start };
        self.counters = first..index + kinds.len() as u32;
        Some(Op::PushInt(index as i32))
    }

    fn site(&mut self, At { method, pc }: At<'_>) -> Option<BytecodeSite> {
        let code = match self.method {
            Some(code) => code,
            None => {
                let rewriting = self.rewriting(method.class_name())?;
                let lines = method.line_range().map(|(first, last)| (first.into(), last.into()));
                let (name, descriptor) = (method.name().into(), method.descriptor().into());
                let method = RewrittenMethod { rewriting, name, descriptor, lines };
                *self.method.insert(self.space.rewritings.add_method(method))
            }
        };
        Some(BytecodeSite { code, line: method.line(pc).map_or(0, u32::from) })
    }

    fn rewriting(&mut self, class: &[u8]) -> Option<RewritingIndex> {
        if self.rewriting.is_none() {
            let env = self.core.jvm.env;
            // SAFETY: by the promise of who made this.
            self.rewriting = unsafe { self.space.rewritings.begin(env, self.request.jni, class, self.origin) };
        }
        self.rewriting
    }
}
