//! The checks that ids are defined once and before they are used.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ids::{ClassId, Id, MethodId};
use crate::model::{AttributeSpec, Element, Presence};

use super::id_set::IdSet;
use super::{Findings, Rule};

/// The ids that are defined at a point of a document.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    node: String,
    process: String,
    agent: String,
    objects: IdSet,
    others: FxHashSet<Id>,
    /// Methods by class, since they end with it.
    methods: FxHashMap<ClassId, Vec<MethodId>>,
}

impl Definitions {
    /// Checks that what an element refers to is defined.
    pub(super) fn references(&self, element: &Element<'_>, findings: &mut Findings) {
        element.each_id(|attribute, id| {
            if !is_definition(attribute) && !is_none(attribute, id) && !is_pardoned(element, id, findings) {
                let is_defined = match id {
                    Id::Object(object) => self.objects.contains(object.0),
                    other => self.others.contains(&other),
                };
                if !is_defined {
                    let (name, kind, id) = (element.name(), id.kind(), id.number());
                    let text = || format!("{name} refers to {kind} {id}, which is not defined at this point");
                    findings.add(Rule::DefineBeforeUse, text);
                }
            }
        });
        let mut unique = |attribute: &str, found: &str, defined: &str| {
            // One known converter leaves these ids empty.
            if found != defined && (findings.is_strict() || !found.is_empty() && !defined.is_empty()) {
                let name = element.name();
                let text = || format!("{name} has {attribute}={found:?}, but {defined:?} was defined");
                findings.add(Rule::DefineBeforeUse, text);
            }
        };
        match element {
            Element::ProcessCreate(e) => unique("nodeIdRef", &e.node_id, &self.node),
            Element::AgentCreate(e) => unique("processIdRef", &e.process_id, &self.process),
            Element::AgentDestroy(e) => unique("agentIdRef", &e.agent_id, &self.agent),
            Element::TraceStart(e) => unique("agentIdRef", &e.agent_id, &self.agent),
            Element::StackDef(e) => {
                if let Some(types) = e.types.as_ref().filter(|types| types.0.len() != e.frames.0.len()) {
                    let text = || format!("stackDef has {} frames and {} types", e.frames.0.len(), types.0.len());
                    findings.add(Rule::Attributes, text);
                }
            }
            Element::Other(_) => {
                let text = || format!("{} is an element that the format does not have", element.name());
                findings.add(Rule::Elements, text);
            }
            _ => {}
        }
    }

    /// Takes over what an element defines or ends.
    pub(super) fn element(&mut self, element: &Element<'_>, findings: &mut Findings) {
        match element {
            Element::Node(e) => (*e.node_id).clone_into(&mut self.node),
            Element::ProcessCreate(e) => (*e.process_id).clone_into(&mut self.process),
            Element::AgentCreate(e) => (*e.agent_id).clone_into(&mut self.agent),
            Element::MethodDef(e) if self.others.contains(&Id::Class(e.class)) => {
                self.methods.entry(e.class).or_default().push(e.method_id);
            }
            Element::ThreadEnd(e) => _ = self.others.remove(&Id::Thread(e.thread)),
            Element::ClassUnload(e) => {
                self.others.remove(&Id::Class(e.class));
                for method in self.methods.remove(&e.class).unwrap_or_default() {
                    self.others.remove(&Id::Method(method));
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
        element.each_id(|attribute, id| {
            if is_definition(attribute) {
                self.define(id, findings);
            }
        });
    }

    fn define(&mut self, id: Id, findings: &mut Findings) {
        let is_new = match id {
            Id::Object(object) => self.objects.insert(object.0),
            other => self.others.insert(other),
        };
        let (kind, id) = (id.kind(), id.number());
        if !is_new {
            findings.add(Rule::DefinedOnce, || format!("{kind} {id} is defined already"));
        } else if id == 0 {
            findings.add(Rule::DefinedOnce, || format!("{kind} 0 is defined, but 0 means none"));
        }
    }
}

/// Whether an attribute says which id its element defines: `threadId` does, `threadIdRef` refers to one.
fn is_definition(attribute: AttributeSpec) -> bool {
    attribute.name.ends_with("Id")
}

/// Whether an id is 0 where that means none.
fn is_none(attribute: AttributeSpec, id: Id) -> bool {
    id.number() == 0
        && match id {
            Id::Thread(_) => attribute.name == "threadOwner" || attribute.presence == Presence::Expected,
            Id::Object(_) | Id::Stack(_) | Id::Function(_) => true,
            Id::Class(_) | Id::Method(_) | Id::HeapDump(_) => false,
        }
}

/// Whether an id need not be defined: in `objFree` another check sees to that, and old profilers were lax.
fn is_pardoned(element: &Element<'_>, id: Id, findings: &Findings) -> bool {
    match (element, id) {
        (Element::ObjFree(_), Id::Object(_)) => true,
        // They refer to objects that they have not announced, or filtered out.
        (_, Id::Object(_)) => !findings.is_strict(),
        // Real JVMPI traces have exits whose method is that of another call.
        (Element::MethodExit(_), Id::Method(_) | Id::Class(_)) => !findings.is_strict(),
        _ => false,
    }
}
