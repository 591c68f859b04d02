//! The start of a JVM: what was initialised, compiled and loaded when, and the JVM's own counters.

use trace::generated::plain_name;
use trace::model::{ClassInit, ClassLoad, CodeTier, Compilation, JvmCounter};
use trace::names;
use trace::time::Time;

use super::{Event, Recorder};

/// A static initialiser that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InitialiserEvent {
    pub(crate) class: u64,
    pub(crate) thread: u64,
    pub(crate) since: Time,
    pub(crate) until: Time,
    pub(crate) stack: u64,
}

/// A method that was compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CompilationEvent {
    pub(crate) id: u64,
    pub(crate) method: u64,
    pub(crate) tier: CodeTier,
    pub(crate) is_osr: bool,
    pub(crate) since: Time,
    pub(crate) until: Time,
}

impl CompilationEvent {
    /// The compiler, as people call it.
    pub(crate) fn compiler(&self) -> &'static str {
        if self.tier == CodeTier::C2 { "C2" } else { "C1" }
    }

    /// HotSpot's number of the tier.
    pub(crate) fn level(&self) -> u64 {
        self.tier as u64
    }
}

impl Recorder {
    pub(super) fn initialised(&mut self, init: &ClassInit<'_>) {
        let thread = init.thread.map_or(0, |thread| self.thread(thread));
        let class = self.recording.pools.class(&plain_name(&names::class_name_of_internal(&init.class)));
        let stack = self.stack(init.stack);
        let until = Time(init.time.0.saturating_add(init.took.0));
        let event = InitialiserEvent { class, thread, since: init.time, until, stack };
        self.recording.events.push(Event::Initialiser(event));
    }

    /// What is put around native methods takes no time, and is left out.
    pub(super) fn compiled(&mut self, compilation: &Compilation<'_>) {
        let &Compilation { id, tier, time: since, took, .. } = compilation;
        if tier == CodeTier::Native {
            return;
        }
        let (class, name) = compilation.method.split_once("::").unwrap_or(("", &compilation.method));
        let method = self.recording.pools.method(&plain_name(class), name, "", "");
        let until = Time(since.0.saturating_add(took.0));
        let is_osr = compilation.osr.is_some();
        self.recording.events.push(Event::Compilation(CompilationEvent { id, method, tier, is_osr, since, until }));
    }

    pub(super) fn loaded(&mut self, load: &ClassLoad<'_>) {
        let class = self.recording.pools.class(&plain_name(&load.class));
        self.recording.events.push(Event::ClassLoad { class, time: load.time });
    }

    pub(super) fn counted(&mut self, counter: &JvmCounter<'_>) {
        let values = match self.recording.counters.get_mut(&*counter.name) {
            Some(values) => values,
            None => self.recording.counters.entry((&*counter.name).into()).or_default(),
        };
        values.push((counter.time, counter.value));
    }
}
