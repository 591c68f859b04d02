//! Rewrites entry points: they call MartiniRequests when they begin and at each of their ends. Departures call it when they return.

use classfile::opcode::{ARETURN, DRETURN, FRETURN, IRETURN, LRETURN, RETURN};
use classfile::{Bracket, ClassFile, Insert, Instruction, Instrument, MethodView, Op, OpcodeSet, StaticMethod};
use jvmti::jni_sys::jclass;

use super::Requests;
use super::entry_points::{ClassEntries, EntryNumber, EntryPoints};
use agent_base::helpers::{Helper, REQUESTS};
use agent_core::core::feature::{RewriteRequest, Rewriter};
use agent_core::instrument::max_code_length;
use agent_core::instrument::retransform::{internal_name, names_one};

const fn method(name: &'static str) -> StaticMethod {
    StaticMethod { class: REQUESTS.internal_name, name, descriptor: "(I)V" }
}

static BEGIN: StaticMethod = method("begin");
static END: StaticMethod = method("end");
static UNWOUND: StaticMethod = method("unwound");

impl Rewriter for Requests {
    unsafe fn rewrite(&self, class: &ClassFile<'_>, request: RewriteRequest<'_>) -> Option<Vec<u8>> {
        // A hidden class keeps its hooks when a recording ends, and the next one has other numbers.
        request.loader?;
        // Before VMInit the VM's first classes run, before MartiniRequests is there, if they are rewritten at all.
        if !request.is_initialised {
            return None;
        }
        let entries = self.points.of_class(class)?;
        let mut calls = EntryCalls { points: &self.points, entries, entry: None, departs: false };
        self.core.rewriting.note(class.name(), classfile::rewrite_class(class, &mut calls))
    }

    fn helper(&self) -> Option<&'static Helper> {
        Some(&REQUESTS)
    }

    fn concerns(&self, class: &ClassFile<'_>) -> bool {
        self.points.of_class(class).is_some()
    }

    fn considers(&self, name: &[u8]) -> bool {
        self.points.may_have(name)
    }

    unsafe fn wants(&self, class: jclass) -> bool {
        let env = self.core.jvm.env;
        // SAFETY: by the caller's promise.
        unsafe {
            let Ok(signature) = env.get_class_signature(class) else { return false };
            let is_named = internal_name(&signature).is_some_and(|name| self.points.is_of_that_name(name));
            is_named || self.listens.get() == Some(&true) && names_one(env, class, &EntryPoints::interfaces())
        }
    }

    fn rewrites_all(&self) -> bool {
        true
    }
}

/// Puts the calls into a class.
struct EntryCalls<'e> {
    points: &'e EntryPoints,
    entries: ClassEntries,
    /// That of the current method.
    entry: Option<EntryNumber>,
    /// Whether it is a departure.
    departs: bool,
}

impl Instrument for EntryCalls<'_> {
    fn method(&mut self, method: &MethodView<'_>) -> bool {
        self.entry = self.points.of_method(&self.entries, method);
        self.departs = self.entries.departs(method);
        self.entry.is_some() || self.departs
    }

    fn bracket(&self, _: &MethodView<'_>) -> Option<Bracket> {
        self.entry.map(|EntryNumber(argument)| Bracket { begin: BEGIN, unwound: UNWOUND, argument })
    }

    fn opcodes(&self) -> OpcodeSet {
        const RETURNS: OpcodeSet = OpcodeSet::of(&[IRETURN, LRETURN, FRETURN, DRETURN, ARETURN, RETURN]);
        RETURNS
    }

    fn max_code_length(&self, method: &MethodView<'_>) -> u32 {
        max_code_length(method)
    }

    fn instruction(&mut self, _: &MethodView<'_>, _: &Instruction<'_>, insert: &mut Insert<'_>) {
        let departure = self.departs.then_some(EntryNumber::DEPARTURE);
        for EntryNumber(entry) in departure.into_iter().chain(self.entry) {
            insert.before(&[Op::PushInt(entry), Op::InvokeStatic(&END)]);
        }
    }
}
