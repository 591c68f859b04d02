//! What a trace says of threads that wait for each other, in the form in which tests ask for it.

use std::collections::HashMap;

use trace::ids::{ClassId, MethodId, ObjectId, StackId, ThreadId};
use trace::model::{Element, Flag, WaitEnd};
use trace::time::Time;

use crate::read::TraceData;

/// How a thread waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// It was blocked on a lock.
    Blocked,
    /// It waited for something else.
    Waited,
}

/// One time that a thread waited.
#[derive(Clone, Debug)]
pub struct Wait {
    /// How.
    pub kind: Kind,
    /// By parking, not on a monitor.
    pub parked: bool,
    /// Name of the thread.
    pub thread: String,
    /// Name of the thread that owned the lock.
    pub owner: Option<String>,
    /// The class of the monitor.
    pub class: String,
    /// The monitor.
    pub object: ObjectId,
    /// Whether the monitor's `objAlloc` names the thread that allocated it.
    pub is_allocated: bool,
    /// The limit in milliseconds.
    pub limit_millis: u64,
    /// What `monWaited` gives as the time that it took.
    pub waited_millis: u64,
    /// When it began.
    pub begin: Time,
    /// How long it took; none if the trace does not have its end.
    pub nanos: Option<u64>,
    /// What ended it.
    pub reason: Option<WaitEnd>,
    /// Class and method of each frame of the thread, and of the owner, innermost first.
    pub stack: Vec<String>,
    /// The same of the owner.
    pub owner_stack: Vec<String>,
}

/// A thread that is still blocked at the end, and who owns the lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Still {
    /// Name of the thread.
    pub thread: String,
    /// Name of the owner.
    pub owner: Option<String>,
    /// By parking, not on a monitor.
    pub parked: bool,
}

/// What `monitorUsage` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Name of the owner.
    pub owner: Option<String>,
    /// How many times it has entered.
    pub entry_count: Option<u64>,
    /// Names of the threads that wait to enter.
    pub waiters: Vec<String>,
}

/// All of a trace.
#[derive(Debug, Default)]
pub struct Waits {
    /// Every wait, in the order in which they began.
    pub waits: Vec<Wait>,
    /// Who is blocked at the end.
    pub still: Vec<Still>,
    /// The answers to data requests: monitors.
    pub usages: Vec<Usage>,
    /// And threads: name and state.
    pub infos: Vec<(String, String)>,
    /// What the trace says about its own completeness.
    pub counts: HashMap<String, u64>,
    threads: HashMap<ThreadId, String>,
    classes: HashMap<ClassId, String>,
    objects: HashMap<ObjectId, (ClassId, bool)>,
    lock_names: HashMap<ObjectId, String>,
    methods: HashMap<MethodId, String>,
    stacks: HashMap<StackId, Vec<String>>,
    open: HashMap<(ThreadId, Kind, bool), usize>,
}

impl Waits {
    /// The waits of threads that count: whose names begin with `t-`.
    pub fn counted(&self) -> impl Iterator<Item = &Wait> {
        self.waits.iter().filter(|wait| wait.thread.starts_with("t-"))
    }

    /// A number that says how complete the trace is; 0 if it is not there.
    pub fn count(&self, key: &str) -> u64 {
        self.counts.get(key).copied().unwrap_or(0)
    }

    /// The class and field in which a lock lies.
    pub fn lock_name(&self, lock: ObjectId) -> Option<&str> {
        self.lock_names.get(&lock).map(String::as_str)
    }

    fn name(&self, thread: ThreadId) -> String {
        self.threads[&thread].clone()
    }

    fn stack(&self, stack: Option<StackId>) -> Vec<String> {
        stack.map(|stack| self.stacks[&stack].clone()).unwrap_or_default()
    }

    fn begin(&mut self, id: ThreadId, object: ObjectId, wait: Wait) {
        let (class, is_allocated) = self.objects[&object];
        let class = self.classes[&class].clone();
        let before = self.open.insert((id, wait.kind, wait.parked), self.waits.len());
        assert!(before.is_none(), "{wait:?} begins while another has not ended");
        self.waits.push(Wait { thread: self.name(id), class, object, is_allocated, ..wait });
    }

    fn end(&mut self, id: ThreadId, kind: Kind, parked: Option<Flag>, time: Time, reason: Option<WaitEnd>) -> usize {
        let key = (id, kind, parked == Some(Flag::Yes));
        let index = self.open.remove(&key).unwrap_or_else(|| panic!("{} has not begun", self.name(id)));
        let wait = &mut self.waits[index];
        wait.nanos = Some(time.0 - wait.begin.0);
        wait.reason = reason;
        index
    }
}

impl TraceData for Waits {
    fn element(&mut self, element: &Element<'_>) {
        let wait = |kind, parked: Option<Flag>, begin| Wait {
            kind,
            parked: parked == Some(Flag::Yes),
            thread: String::new(),
            owner: None,
            class: String::new(),
            object: ObjectId(0),
            is_allocated: false,
            limit_millis: 0,
            waited_millis: 0,
            begin,
            nanos: None,
            reason: None,
            stack: Vec::new(),
            owner_stack: Vec::new(),
        };
        match element {
            Element::ThreadStart(e) => drop(self.threads.insert(e.thread_id, e.thread_name.to_string())),
            Element::ClassDef(e) => drop(self.classes.insert(e.class_id, e.name.to_string())),
            Element::ObjAlloc(e) => drop(self.objects.insert(e.obj_id, (e.class, e.thread.is_some()))),
            Element::MethodDef(e) => {
                let name = format!("{}.{}", self.classes[&e.class], e.name);
                self.methods.insert(e.method_id, name);
            }
            Element::StackDef(e) => {
                let frames = e.frames.0.iter().map(|frame| self.methods[&frame.method].clone()).collect();
                self.stacks.insert(e.stack_id, frames);
            }
            Element::MonContendedEnter(e) => {
                let owner = e.owner.map(|owner| self.name(owner));
                let (stack, owner_stack) = (self.stack(e.stack), self.stack(e.owner_stack));
                let wait = wait(Kind::Blocked, e.parked, e.time);
                self.begin(e.thread, e.object, Wait { owner, stack, owner_stack, ..wait });
            }
            Element::MonContendedEntered(e) => drop(self.end(e.thread, Kind::Blocked, e.parked, e.time, None)),
            Element::MonWait(e) => {
                let stack = self.stack(e.stack);
                let wait = wait(Kind::Waited, e.parked, e.time);
                self.begin(e.thread, e.object, Wait { stack, limit_millis: e.timeout_millis, ..wait });
            }
            Element::MonWaited(e) => {
                let index = self.end(e.thread, Kind::Waited, e.parked, e.time, e.reason);
                self.waits[index].waited_millis = e.timeout_millis;
            }
            Element::MonStillOwned(e) => {
                let thread = self.name(e.thread.expect("Martini says who is blocked"));
                let owner = e.owner.map(|owner| self.name(owner));
                self.still.push(Still { thread, owner, parked: e.parked == Some(Flag::Yes) });
            }
            Element::LockName(e) => {
                let name = format!("{}.{}", self.classes[&e.class], e.field.as_deref().unwrap_or("class"));
                assert!(self.lock_names.insert(e.object, name).is_none(), "a lock has one name");
            }
            Element::MonitorUsage(e) => {
                let waiters = e.waiters.0.iter().map(|&thread| self.name(thread)).collect();
                let owner = e.owner.map(|owner| self.name(owner));
                self.usages.push(Usage { owner, entry_count: e.entry_count, waiters });
            }
            Element::ThreadInfo(e) => self.infos.push((e.name.to_string(), e.state.to_string())),
            Element::MartiniCount(e) => *self.counts.entry(e.key.to_string()).or_default() += e.value,
            _ => {}
        }
    }
}
