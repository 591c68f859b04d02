//! The samples of a trace, by thread.

use std::collections::{BTreeMap, HashMap};

use bci_tests::read::TraceData;
use trace::ids::{MethodId, StackId, ThreadId};
use trace::model::{Element, ThreadKind, ThreadState};

/// What the trace says of one thread, in nanoseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Thread {
    pub(crate) name: String,
    pub(crate) kind: Option<ThreadKind>,
    /// What it had of the processors.
    pub(crate) cpu: Option<u64>,
    /// What its samples stand for.
    pub(crate) sampled: u64,
    /// Of that, what has no stack, by reason.
    pub(crate) lost: BTreeMap<String, u64>,
    /// What its samples stand for, by the method on top of the Java stack.
    pub(crate) methods: BTreeMap<String, u64>,
    /// What samples stand for while it carried a virtual thread.
    pub(crate) carried: HashMap<ThreadId, u64>,
    /// What looks at it stand for.
    pub(crate) wall: u64,
    pub(crate) states: Vec<ThreadState>,
}

/// All of it.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    pub(crate) threads: HashMap<ThreadId, Thread>,
    /// The counters: key with detail.
    pub(crate) counts: BTreeMap<String, u64>,
    classes: HashMap<u64, String>,
    methods: HashMap<MethodId, String>,
    stacks: HashMap<StackId, String>,
    pub(crate) shutdown: bool,
}

impl Samples {
    /// The thread of that name.
    #[track_caller]
    pub(crate) fn of(&self, name: &str) -> &Thread {
        let found = self.threads.values().find(|thread| thread.name == name);
        found.unwrap_or_else(|| panic!("no thread {name} in {:?}", self.threads))
    }

    /// The value of a counter; 0 if it is not there.
    pub(crate) fn count(&self, key: &str) -> u64 {
        self.counts.get(key).copied().unwrap_or(0)
    }
}

impl TraceData for Samples {
    fn element(&mut self, element: &Element<'_>) {
        match element {
            Element::ThreadStart(e) => {
                let thread = self.threads.entry(e.thread_id).or_default();
                thread.name = e.thread_name.to_string();
                thread.kind = e.kind;
            }
            Element::ThreadCpu(e) => self.threads.entry(e.thread).or_default().cpu = Some(e.cpu.0),
            Element::ClassDef(e) => drop(self.classes.insert(e.class_id.0, e.name.to_string())),
            Element::MethodDef(e) => {
                let class = self.classes.get(&e.class.0).expect("a class is defined before its methods");
                self.methods.insert(e.method_id, format!("{class}.{}", e.name));
            }
            Element::StackDef(e) => {
                let types = e.types.as_ref();
                assert!(types.is_none_or(|types| types.0.len() == e.frames.0.len()), "a type for each frame: {e:?}");
                let top = e.frames.0.first().and_then(|frame| self.methods.get(&frame.method));
                self.stacks.insert(e.stack_id, top.cloned().unwrap_or_default());
            }
            Element::CpuSample(e) => {
                let thread = self.threads.entry(e.thread).or_default();
                thread.sampled += e.cpu.0;
                if let Some(why) = &e.lost {
                    *thread.lost.entry(why.to_string()).or_default() += e.cpu.0;
                }
                if let Some(stack) = e.stack {
                    let top = self.stacks.get(&stack).expect("a stack is defined before its use");
                    *thread.methods.entry(top.clone()).or_default() += e.cpu.0;
                }
                if let Some(mounted) = e.virtual_thread {
                    *thread.carried.entry(mounted).or_default() += e.cpu.0;
                }
            }
            Element::WallSample(e) => {
                let thread = self.threads.entry(e.thread).or_default();
                thread.wall += e.wall.0;
                thread.states.push(e.state);
            }
            Element::MartiniCount(e) => {
                let detail = e.detail.as_deref().map(|detail| format!(" {detail}")).unwrap_or_default();
                self.counts.insert(format!("{}{detail}", e.key), e.value);
            }
            Element::RuntimeShutdown(_) => self.shutdown = true,
            _ => {}
        }
    }
}
