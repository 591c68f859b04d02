//! The checks that ids are defined once and before they are used.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ids::{ClassId, FunctionId, HeapDumpId, MethodId, ObjectId, StackId, ThreadId};
use crate::model::Element;

use super::id_set::IdSet;
use super::{Findings, Rule};

/// The ids that are defined at a point of a document.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    node: String,
    process: String,
    agent: String,
    objects: IdSet,
    threads: FxHashSet<ThreadId>,
    /// Methods by class, since they end with it.
    classes: FxHashMap<ClassId, Vec<MethodId>>,
    methods: FxHashSet<MethodId>,
    stacks: FxHashSet<StackId>,
    functions: FxHashSet<FunctionId>,
    dumps: FxHashSet<HeapDumpId>,
}

impl Definitions {
    /// Checks that what an element refers to is defined.
    pub(super) fn references(&self, element: &Element<'_>, findings: &mut Findings) {
        let mut use_of = References { definitions: self, element, findings };
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
            Element::StackDef(e) => {
                e.frames.0.iter().for_each(|frame| use_of.method(Some(frame.method)));
                if let Some(types) = e.types.as_ref().filter(|types| types.0.len() != e.frames.0.len()) {
                    let text = || format!("stackDef has {} frames and {} types", e.frames.0.len(), types.0.len());
                    use_of.findings.add(Rule::Attributes, text);
                }
            }
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
            Element::AllocSample(e) => {
                use_of.class(e.class);
                use_of.method(e.method);
                use_of.stack(e.stack);
                use_of.thread(e.thread);
            }
            Element::LiveSample(e) => {
                use_of.class(e.class);
                use_of.method(e.method);
                use_of.stack(e.stack);
                use_of.thread(e.thread);
            }
            Element::CpuSample(e) => {
                use_of.thread(Some(e.thread));
                use_of.thread(e.virtual_thread);
                use_of.stack(e.stack);
                use_of.function(e.function);
            }
            Element::WallSample(e) => {
                use_of.thread(Some(e.thread));
                use_of.thread(e.virtual_thread);
                use_of.stack(e.stack);
                use_of.function(e.function);
            }
            Element::LateThread(e) => {
                use_of.thread(Some(e.thread));
                use_of.stack(e.stack);
                use_of.function(e.function);
            }
            Element::ThreadCount(e) => use_of.thread(Some(e.thread)),
            Element::Mark(e) => use_of.thread(Some(e.thread)),
            Element::ThreadCpu(e) => use_of.thread(Some(e.thread)),
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
            Element::ThreadSleep(e) => {
                use_of.thread(Some(e.thread));
                use_of.stack(e.stack);
            }
            Element::ThreadSlept(e) => use_of.thread(Some(e.thread)),
            Element::MonStillOwned(e) => {
                use_of.thread(e.thread);
                use_of.object(Some(e.object));
                use_of.thread(e.owner.filter(|owner| owner.0 != 0));
                use_of.stack(e.stack);
                use_of.stack(e.owner_stack);
            }
            Element::LockName(e) => {
                use_of.object(Some(e.object));
                use_of.class(e.class);
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
            | Element::FunctionDef(_)
            | Element::SafepointCount(_)
            | Element::Safepoint(_)
            | Element::HeapDumpDef(_)
            | Element::MartiniCount(_) => {}
        }
    }

    /// Takes over what an element defines or ends.
    pub(super) fn element(&mut self, element: &Element<'_>, findings: &mut Findings) {
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
            Element::FunctionDef(e) => (self.functions.insert(e.function_id), "function", e.function_id.0),
            Element::HeapDumpDef(e) => (self.dumps.insert(e.dump_id), "heap dump", e.dump_id.0),
            _ => return self.ends(element, findings),
        };
        if !is_new {
            findings.add(Rule::DefinedOnce, || format!("{kind} {id} is defined already"));
        } else if id == 0 {
            findings.add(Rule::DefinedOnce, || format!("{kind} 0 is defined, but 0 means none"));
        }
    }

    fn ends(&mut self, element: &Element<'_>, findings: &mut Findings) {
        match element {
            Element::ThreadEnd(e) => {
                self.threads.remove(&e.thread);
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
            }
            _ => {}
        }
    }
}

/// The checks of one element's references.
struct References<'a> {
    definitions: &'a Definitions,
    element: &'a Element<'a>,
    findings: &'a mut Findings,
}

impl References<'_> {
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
            self.check(self.definitions.threads.contains(&thread), "thread", thread.0);
        }
    }

    fn class(&mut self, class: ClassId) {
        self.check(self.definitions.classes.contains_key(&class), "class", class.0);
    }

    fn method(&mut self, method: Option<MethodId>) {
        if let Some(method) = method {
            self.check(self.definitions.methods.contains(&method), "method", method.0);
        }
    }

    fn stack(&mut self, stack: Option<StackId>) {
        if let Some(stack) = stack.filter(|stack| stack.0 != 0) {
            self.check(self.definitions.stacks.contains(&stack), "stack", stack.0);
        }
    }

    fn function(&mut self, function: Option<FunctionId>) {
        if let Some(function) = function.filter(|function| function.0 != 0) {
            self.check(self.definitions.functions.contains(&function), "function", function.0);
        }
    }

    fn dump(&mut self, dump: HeapDumpId) {
        self.check(self.definitions.dumps.contains(&dump), "heap dump", dump.0);
    }

    /// Old profilers refer to objects that they have not announced, or filtered out.
    fn object(&mut self, object: Option<ObjectId>) {
        if let Some(object) = object.filter(|object| object.0 != 0)
            && self.findings.is_strict()
        {
            self.check(self.definitions.objects.contains(object.0), "object", object.0);
        }
    }
}
