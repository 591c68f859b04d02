//! What the checks want of a trace.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use trace::ids::{ClassId, MethodId, ThreadId};
use trace::model::Element;
use trace::reader::{DocumentEnd, Event, TraceReader};
use trace::validate::{Profile, Report, Validator};

/// The class whose instances a program counts itself.
const KNOWN: &str = "torture.Known";

/// How many violations are described.
const VIOLATIONS: usize = 5;

/// It.
#[derive(Default)]
pub(super) struct Facts {
    /// What the validator says.
    pub(super) report: Report,
    /// Bytes of an element at the end that is cut.
    pub(super) cut: u64,
    /// Instances of the class that programs count, one by one. Without thread are those that a heap dump in the trace has but could not
    /// identify: they stand there once more.
    pub(super) known_objects: u64,
    /// The same, by sites.
    pub(super) known_counted: u64,
    /// Every `martiniCount`.
    pub(super) counts: BTreeMap<(String, String), u64>,
    /// Nanoseconds of CPU time of each thread: what its samples stand for, and what it had.
    pub(super) cpu: HashMap<ThreadId, (u64, Option<u64>)>,
    classes: HashMap<ClassId, bool>,
    /// What was reported last of each site of that class.
    sites: HashMap<(ClassId, Option<MethodId>, Option<i64>, bool), u64>,
}

impl Facts {
    /// Reads a trace; an error says why it cannot be read.
    pub(super) fn read(file: &Path) -> Result<Self, String> {
        let mut reader = TraceReader::open(file).map_err(|e| e.to_string())?;
        let mut validator = Validator::new(Profile::Strict, VIOLATIONS);
        let mut facts = Self::default();
        while let Some(event) = reader.next_event().map_err(|e| e.to_string())? {
            validator.event(&event);
            match event {
                Event::Element { element, .. } => facts.take(&element),
                Event::DocumentEnd(DocumentEnd::Cut { bytes }) => facts.cut = bytes,
                Event::DocumentStart { .. } | Event::DocumentEnd(_) => {}
            }
        }
        facts.known_counted = facts.sites.values().sum();
        facts.report = validator.finish();
        Ok(facts)
    }

    fn take(&mut self, element: &Element<'_>) {
        match element {
            Element::ClassDef(class) => {
                self.classes.insert(class.class_id, class.name == KNOWN);
            }
            Element::ObjAlloc(object) if object.thread.is_some() && self.is_known(object.class) => {
                self.known_objects += 1
            }
            Element::AllocCount(count) if self.is_known(count.class) => {
                self.sites.insert((count.class, count.method, count.line, count.source.is_some()), count.instances);
            }
            Element::CpuSample(sample) => self.cpu.entry(sample.thread).or_default().0 += sample.cpu.0,
            Element::ThreadCpu(thread) => self.cpu.entry(thread.thread).or_default().1 = Some(thread.cpu.0),
            Element::MartiniCount(count) => {
                let detail = count.detail.as_deref().unwrap_or_default().to_owned();
                *self.counts.entry((count.key.to_string(), detail)).or_default() += count.value;
            }
            _ => {}
        }
    }

    fn is_known(&self, class: ClassId) -> bool {
        self.classes.get(&class).copied().unwrap_or_default()
    }

    /// The sum of a key over all its details.
    pub(super) fn sum(&self, key: &str) -> u64 {
        self.counts.iter().filter(|((of, _), _)| of == key).map(|(_, value)| value).sum()
    }

    /// Whether the trace says this.
    pub(super) fn has(&self, key: &str) -> bool {
        self.counts.keys().any(|(of, _)| of == key)
    }
}
