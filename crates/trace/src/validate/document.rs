//! The checks within one document.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ids::{ClassId, HeapDumpId, MethodId, ObjectId, StackId, ThreadId};
use crate::model::{Element, Flag, Irregularities};
use crate::time::Time;

use super::counts::Counts;
use super::id_set::IdSet;
use super::{Findings, Rule};

/// How far a document has come. The order is the order in a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    #[default]
    Nothing,
    Node,
    Process,
    Agent,
    /// Collection has begun; filters may come.
    Started,
    Options,
    Events,
    /// Collection has ended; it may begin again.
    Stopped,
    /// The agent has left.
    Left,
}

/// A thread, and whether it parks: a thread that parks may be blocked on a monitor as well.
type Waiter = (ThreadId, bool);

fn waiter(thread: ThreadId, parked: Option<Flag>) -> Waiter {
    (thread, parked == Some(Flag::Yes))
}

/// What is known of a document at a point.
#[derive(Debug, Default)]
pub(crate) struct Document {
    stage: Stage,
    node: String,
    process: String,
    agent: String,
    time: Time,
    in_gc: bool,
    objects: IdSet,
    threads: FxHashSet<ThreadId>,
    /// Methods by class, since they go with it.
    classes: FxHashMap<ClassId, Vec<MethodId>>,
    methods: FxHashSet<MethodId>,
    stacks: FxHashSet<StackId>,
    dumps: FxHashSet<HeapDumpId>,
    counts: Counts,
    /// The monitor that a thread is blocked on.
    blocked: FxHashMap<Waiter, ObjectId>,
    /// The monitor that a thread waits for.
    waiting: FxHashMap<Waiter, ObjectId>,
}

impl Document {
    /// Checks an element against everything before it.
    pub(crate) fn element(&mut self, element: &Element<'_>, irregularities: Irregularities, findings: &mut Findings) {
        if irregularities != Irregularities::default() {
            findings.add(Rule::Attributes, || {
                let Irregularities { missing, unknown, repeated } = irregularities;
                format!(
                    "{} has {missing} missing, {unknown} unknown and {repeated} repeated attributes",
                    element.name()
                )
            });
        }
        self.order(element, findings);
        self.uses(element, findings);
        self.changes(element, findings);
        self.counts.element(element, findings);
        if let Some(time) = time_of(element) {
            self.time(time, element.name(), findings);
        }
    }

    /// Checks the end of a document that has one.
    pub(crate) fn end(&mut self, findings: &mut Findings) {
        if self.stage != Stage::Left {
            findings.add(Rule::Ending, || "the document ends without traceEnd and agentDestroy".to_owned());
        }
        if self.in_gc && findings.is_strict() {
            findings.add(Rule::GcPairs, || "the document ends inside a collection".to_owned());
        }
    }

    fn order(&mut self, element: &Element<'_>, findings: &mut Findings) {
        let (allowed, next) = match element {
            Element::Node(_) => (self.stage == Stage::Nothing, Stage::Node),
            Element::ProcessCreate(_) => (self.stage == Stage::Node, Stage::Process),
            Element::AgentCreate(_) => (self.stage == Stage::Process, Stage::Agent),
            Element::TraceStart(_) => (matches!(self.stage, Stage::Agent | Stage::Stopped), Stage::Started),
            Element::Filter(_) => (self.stage == Stage::Started, Stage::Started),
            Element::TraceOption(_) => (matches!(self.stage, Stage::Started | Stage::Options), Stage::Options),
            Element::TraceEnd(_) => ((Stage::Started..=Stage::Events).contains(&self.stage), Stage::Stopped),
            Element::AgentDestroy(_) => (self.stage == Stage::Stopped, Stage::Left),
            _ => ((Stage::Started..=Stage::Events).contains(&self.stage), Stage::Events),
        };
        if allowed {
            self.stage = next;
            return;
        }
        let is_tail = matches!(element, Element::TraceEnd(_) | Element::AgentDestroy(_));
        let stage = self.stage;
        let rule = if stage >= Stage::Stopped || is_tail { Rule::Tail } else { Rule::Head };
        findings.add(rule, || format!("{} cannot come {}", element.name(), stage.describe()));
        // What has begun stays begun; but each element behind the end is one too many.
        if stage < Stage::Stopped {
            self.stage = stage.max(next);
        }
    }

    /// Checks that what an element refers to is defined.
    fn uses(&self, element: &Element<'_>, findings: &mut Findings) {
        let mut use_of = Uses { document: self, element, findings };
        match element {
            Element::ProcessCreate(e) => use_of.unique("nodeIdRef", &e.node_id, &self.node),
            Element::AgentCreate(e) => use_of.unique("processIdRef", &e.process_id, &self.process),
            Element::AgentDestroy(e) => use_of.unique("agentIdRef", &e.agent_id, &self.agent),
            Element::TraceStart(e) => use_of.unique("agentIdRef", &e.agent_id, &self.agent),
            Element::ThreadStart(e) => use_of.object(e.object),
            Element::ThreadEnd(e) => use_of.thread(Some(e.thread)),
            Element::ClassDef(e) => {
                use_of.thread(e.thread);
                use_of.object(e.object);
            }
            Element::ClassUnload(e) => {
                use_of.class(e.class);
                use_of.thread(e.thread);
            }
            Element::MethodDef(e) => use_of.class(e.class),
            Element::MethodEntry(e) => {
                use_of.thread(Some(e.thread));
                use_of.method(Some(e.method));
                use_of.object(e.object);
                use_of.class(e.class);
            }
            Element::MethodExit(e) => {
                use_of.thread(Some(e.thread));
                // Real JVMPI traces have exits whose method is that of another call.
                if use_of.findings.is_strict() {
                    use_of.method(Some(e.method));
                    use_of.class(e.class);
                }
                use_of.object(e.object);
            }
            Element::StackDef(e) => e.frames.0.iter().for_each(|frame| use_of.method(Some(frame.method))),
            Element::ObjAlloc(e) => {
                use_of.thread(e.thread);
                use_of.class(e.class);
                use_of.method(e.method);
                use_of.stack(e.stack);
            }
            Element::AllocCount(e) => {
                use_of.class(e.class);
                use_of.method(e.method);
            }
            Element::ThreadCount(e) => use_of.thread(Some(e.thread)),
            Element::LiveCount(e) => use_of.class(e.class),
            Element::ObjFree(e) => use_of.thread(e.thread),
            Element::GcStart(e) => use_of.thread(e.thread),
            Element::MonContendedEnter(e) => {
                use_of.thread(Some(e.thread));
                use_of.object(Some(e.object));
                use_of.thread(e.owner.filter(|owner| owner.0 != 0));
                use_of.object(e.owner_object);
                use_of.stack(e.stack);
                use_of.stack(e.owner_stack);
            }
            Element::MonContendedEntered(e) => {
                use_of.thread(Some(e.thread));
                use_of.object(Some(e.object));
            }
            Element::MonWait(e) => {
                use_of.thread(Some(e.thread));
                use_of.object(Some(e.object));
                use_of.stack(e.stack);
            }
            Element::MonWaited(e) => {
                use_of.thread(Some(e.thread));
                use_of.object(Some(e.object));
            }
            Element::MonStillOwned(e) => {
                use_of.thread(e.thread);
                use_of.object(Some(e.object));
                use_of.thread(e.owner.filter(|owner| owner.0 != 0));
                use_of.stack(e.stack);
                use_of.stack(e.owner_stack);
            }
            Element::MonitorUsage(e) => {
                use_of.object(Some(e.object));
                use_of.thread(e.owner.filter(|owner| owner.0 != 0));
                e.waiters.0.iter().chain(e.notify_waiters.0.iter()).for_each(|&thread| use_of.thread(Some(thread)));
            }
            Element::ThreadInfo(e) => {
                use_of.thread(Some(e.thread));
                use_of.object(e.object);
                use_of.stack(e.stack);
            }
            Element::GcRoot(e) => {
                use_of.dump(e.dump);
                use_of.object(Some(e.object));
                use_of.thread(e.thread);
            }
            Element::ObjectReference(e) => {
                use_of.dump(e.dump);
                use_of.object(Some(e.owner));
                use_of.object(Some(e.object));
            }
            Element::RuntimeInitDone(e) => use_of.thread(Some(e.thread).filter(|thread| thread.0 != 0)),
            Element::RuntimeShutdown(e) => use_of.thread(e.thread),
            Element::Other(_) => {
                let text = || format!("{} is an element that the format does not have", element.name());
                use_of.findings.add(Rule::Elements, text);
            }
            Element::Node(_)
            | Element::TraceEnd(_)
            | Element::Filter(_)
            | Element::TraceOption(_)
            | Element::GcFinish(_)
            | Element::HeapDumpDef(_)
            | Element::MartiniCount(_) => {}
        }
    }

    /// Takes over what an element defines, undefines, opens and closes.
    fn changes(&mut self, element: &Element<'_>, findings: &mut Findings) {
        let (is_new, kind, id) = match element {
            Element::Node(e) => return (*e.node_id).clone_into(&mut self.node),
            Element::ProcessCreate(e) => return (*e.process_id).clone_into(&mut self.process),
            Element::AgentCreate(e) => return (*e.agent_id).clone_into(&mut self.agent),
            Element::ThreadStart(e) => (self.threads.insert(e.thread_id), "thread", e.thread_id.0),
            Element::ClassDef(e) => {
                let is_new = !self.classes.contains_key(&e.class_id);
                self.classes.entry(e.class_id).or_default();
                (is_new, "class", e.class_id.0)
            }
            Element::MethodDef(e) => {
                if let Some(methods) = self.classes.get_mut(&e.class) {
                    methods.push(e.method_id);
                }
                (self.methods.insert(e.method_id), "method", e.method_id.0)
            }
            Element::ObjAlloc(e) => (self.objects.insert(e.obj_id.0), "object", e.obj_id.0),
            Element::StackDef(e) => (self.stacks.insert(e.stack_id), "stack", e.stack_id.0),
            Element::HeapDumpDef(e) => (self.dumps.insert(e.dump_id), "heap dump", e.dump_id.0),
            _ => return self.closes(element, findings),
        };
        if !is_new {
            findings.add(Rule::DefinedOnce, || format!("{kind} {id} is defined already"));
        } else if id == 0 {
            findings.add(Rule::DefinedOnce, || format!("{kind} 0 is defined, but 0 means none"));
        }
    }

    fn closes(&mut self, element: &Element<'_>, findings: &mut Findings) {
        match element {
            Element::ThreadEnd(e) => {
                self.threads.remove(&e.thread);
                for waiter in [false, true].map(|parked| (e.thread, parked)) {
                    let (blocked, waiting) = (self.blocked.remove(&waiter), self.waiting.remove(&waiter));
                    if let Some(object) = blocked.or(waiting) {
                        let thread = e.thread;
                        let text = || format!("thread {thread} ends while it is blocked on or waits for {object}");
                        findings.add(Rule::MonitorPairs, text);
                    }
                }
            }
            Element::ClassUnload(e) => {
                for method in self.classes.remove(&e.class).unwrap_or_default() {
                    self.methods.remove(&method);
                }
            }
            Element::ObjFree(e) => {
                let object = e.object;
                if !self.objects.remove(object.0) {
                    let text = || format!("object {object} is freed, but it was never allocated or is freed already");
                    findings.add(Rule::FreedOnce, text);
                }
                if !self.in_gc {
                    findings.add(Rule::FreeInGc, || format!("object {object} is freed outside a collection"));
                }
            }
            Element::GcStart(_) => {
                if self.in_gc {
                    findings.add(Rule::GcPairs, || "a collection starts inside another".to_owned());
                }
                self.in_gc = true;
            }
            Element::GcFinish(_) => {
                if !self.in_gc {
                    findings.add(Rule::GcPairs, || "a collection finishes that has not started".to_owned());
                }
                self.in_gc = false;
            }
            Element::MonContendedEnter(e) => {
                open(&mut self.blocked, waiter(e.thread, e.parked), e.object, "is blocked on", findings);
            }
            Element::MonContendedEntered(e) => {
                close(&mut self.blocked, waiter(e.thread, e.parked), e.object, "was not blocked on", findings);
            }
            Element::MonWait(e) => open(&mut self.waiting, waiter(e.thread, e.parked), e.object, "waits for", findings),
            Element::MonWaited(e) => {
                close(&mut self.waiting, waiter(e.thread, e.parked), e.object, "did not wait for", findings);
            }
            _ => {}
        }
    }

    fn time(&mut self, time: Time, name: &str, findings: &mut Findings) {
        if time < self.time {
            let before = self.time;
            findings.add(Rule::Times, || format!("{name} is of {time}, but {before} was written before"));
        }
        self.time = self.time.max(time);
    }
}

impl Stage {
    fn describe(self) -> &'static str {
        match self {
            Self::Nothing => "at the beginning",
            Self::Node => "right after node",
            Self::Process => "right after processCreate",
            Self::Agent => "right after agentCreate",
            Self::Started => "after traceStart",
            Self::Options => "after the options",
            Self::Events => "after the events have begun",
            Self::Stopped => "after traceEnd",
            Self::Left => "after agentDestroy",
        }
    }
}

/// The checks of one element's references.
struct Uses<'a> {
    document: &'a Document,
    element: &'a Element<'a>,
    findings: &'a mut Findings,
}

impl Uses<'_> {
    fn check(&mut self, is_defined: bool, kind: &str, id: u64) {
        if !is_defined {
            let name = self.element.name();
            let text = || format!("{name} refers to {kind} {id}, which is not defined at this point");
            self.findings.add(Rule::DefineBeforeUse, text);
        }
    }

    fn unique(&mut self, attribute: &str, found: &str, defined: &str) {
        // One known converter leaves these ids empty.
        if found != defined && (self.findings.is_strict() || !found.is_empty() && !defined.is_empty()) {
            let name = self.element.name();
            let text = || format!("{name} has {attribute}={found:?}, but {defined:?} was defined");
            self.findings.add(Rule::DefineBeforeUse, text);
        }
    }

    fn thread(&mut self, thread: Option<ThreadId>) {
        if let Some(thread) = thread {
            self.check(self.document.threads.contains(&thread), "thread", thread.0);
        }
    }

    fn class(&mut self, class: ClassId) {
        self.check(self.document.classes.contains_key(&class), "class", class.0);
    }

    fn method(&mut self, method: Option<MethodId>) {
        if let Some(method) = method {
            self.check(self.document.methods.contains(&method), "method", method.0);
        }
    }

    fn stack(&mut self, stack: Option<StackId>) {
        if let Some(stack) = stack.filter(|stack| stack.0 != 0) {
            self.check(self.document.stacks.contains(&stack), "stack", stack.0);
        }
    }

    fn dump(&mut self, dump: HeapDumpId) {
        self.check(self.document.dumps.contains(&dump), "heap dump", dump.0);
    }

    /// Old profilers refer to objects that they have not announced, or filtered out.
    fn object(&mut self, object: Option<ObjectId>) {
        if let Some(object) = object.filter(|object| object.0 != 0)
            && self.findings.is_strict()
        {
            self.check(self.document.objects.contains(object.0), "object", object.0);
        }
    }
}

fn open(
    monitors: &mut FxHashMap<Waiter, ObjectId>,
    waiter: Waiter,
    object: ObjectId,
    state: &str,
    findings: &mut Findings,
) {
    if let Some(before) = monitors.insert(waiter, object) {
        let thread = waiter.0;
        let text = || format!("thread {thread} {state} monitor {object} while it still {state} {before}");
        findings.add(Rule::MonitorPairs, text);
    }
}

fn close(
    monitors: &mut FxHashMap<Waiter, ObjectId>,
    waiter: Waiter,
    object: ObjectId,
    state: &str,
    findings: &mut Findings,
) {
    if monitors.remove(&waiter) != Some(object) {
        let thread = waiter.0;
        let text = || format!("thread {thread} goes on, but it {state} monitor {object}");
        findings.add(Rule::MonitorPairs, text);
    }
}

/// The time of an element, if it must not run back. Classes and threads are defined late, with the
/// time at which they came to be.
fn time_of(element: &Element<'_>) -> Option<Time> {
    Some(match element {
        Element::Node(e) => e.time,
        Element::ProcessCreate(e) => e.time,
        Element::AgentCreate(e) => e.time,
        Element::AgentDestroy(e) => e.time,
        Element::TraceStart(e) => e.time,
        Element::TraceEnd(e) => e.time,
        Element::ThreadEnd(e) => e.time,
        Element::ClassUnload(e) => e.time,
        Element::MethodEntry(e) => e.time,
        Element::MethodExit(e) => e.time,
        Element::ObjAlloc(e) => e.time,
        Element::AllocCount(e) => e.time,
        Element::ThreadCount(e) => e.time,
        Element::LiveCount(e) => e.time,
        Element::ObjFree(e) => e.time,
        Element::GcStart(e) => e.time,
        Element::GcFinish(e) => e.time,
        Element::MonContendedEnter(e) => e.time,
        Element::MonContendedEntered(e) => e.time,
        Element::MonWait(e) => e.time,
        Element::MonWaited(e) => e.time,
        Element::MonStillOwned(e) => e.time,
        Element::MonitorUsage(e) => e.time,
        Element::ThreadInfo(e) => e.time,
        Element::HeapDumpDef(e) => e.time,
        Element::RuntimeInitDone(e) => e.time,
        Element::RuntimeShutdown(e) => e.time,
        Element::ThreadStart(_)
        | Element::ClassDef(_)
        | Element::Filter(_)
        | Element::TraceOption(_)
        | Element::MethodDef(_)
        | Element::StackDef(_)
        | Element::GcRoot(_)
        | Element::ObjectReference(_)
        | Element::MartiniCount(_)
        | Element::Other(_) => return None,
    })
}
