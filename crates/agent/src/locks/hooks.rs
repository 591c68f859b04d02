//! Rewrites the classes by which threads park and sleep: their methods call a helper class when they begin and when they end.

use std::sync::atomic::{AtomicBool, Ordering};

use classfile::{ClassFile, Insert, Instruction, Instrument, MethodView, Op, OpcodeSet, StaticMethod, opcode};
use jvmti::jni_sys::jclass;

use agent_base::helpers::SLEEP;
use agent_core::core::Core;
use agent_core::core::feature::{RewriteRequest, Rewriter};

/// What is called at the beginning of a method, with the instructions that pass on the arguments. It has the name and descriptor of
/// that method, or, if that is no static one, the descriptor without the object.
pub(super) type Begin = (StaticMethod, &'static [Op<'static>]);

/// A class with methods to hook.
pub(super) struct Hooked {
    /// Its internal name.
    pub(super) class: &'static [u8],
    pub(super) begins: &'static [Begin],
    /// What is called at the end of each of these methods.
    pub(super) end: StaticMethod,
}

/// Rewrites these classes, and no others.
pub(super) struct WaitHooks {
    core: &'static Core,
    classes: Vec<&'static Hooked>,
    /// The helper class of sleeping threads is not there, so nothing may call it.
    without_sleep: AtomicBool,
}

impl WaitHooks {
    /// For a recording.
    pub(super) fn new(core: &'static Core, classes: Vec<&'static Hooked>) -> WaitHooks {
        WaitHooks { core, classes, without_sleep: AtomicBool::new(false) }
    }

    /// Whether there is nothing to rewrite.
    pub(super) fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// Leaves the classes as they are by which threads sleep.
    pub(super) fn leave_sleep(&self) {
        self.without_sleep.store(true, Ordering::Relaxed);
    }

    fn of_class(&self, name: &[u8]) -> Option<&'static Hooked> {
        let hooked = self.classes.iter().copied().find(|hooked| hooked.class == name)?;
        let is_left = self.without_sleep.load(Ordering::Relaxed) && hooked.end.class == SLEEP.internal_name;
        (!is_left).then_some(hooked)
    }
}

impl Rewriter for WaitHooks {
    unsafe fn rewrite(&self, class: &ClassFile<'_>, request: RewriteRequest<'_>) -> Option<Vec<u8>> {
        let hooked = self.of_class(request.name)?;
        self.core.rewriting.note(classfile::rewrite_class(class, &mut WaitCalls { hooked, begin: None }))
    }

    fn considers(&self, name: &[u8]) -> bool {
        self.of_class(name).is_some()
    }

    unsafe fn wants(&self, _: jclass) -> bool {
        true
    }

    fn rewrites_all(&self) -> bool {
        false
    }
}

/// Puts the calls into a class.
struct WaitCalls {
    hooked: &'static Hooked,
    /// That of the current method.
    begin: Option<&'static Begin>,
}

impl Instrument for WaitCalls {
    fn method(&mut self, method: &MethodView<'_>) -> bool {
        let is_it = |(hook, _): &&Begin| {
            hook.name.as_bytes() == method.name() && hook.descriptor.as_bytes() == method.descriptor()
        };
        self.begin = self.hooked.begins.iter().find(is_it);
        self.begin.is_some()
    }

    fn opcodes(&self) -> OpcodeSet {
        OpcodeSet::ALL
    }

    fn instruction(&mut self, _: &MethodView<'_>, instruction: &Instruction<'_>, insert: &mut Insert<'_>) {
        let Some((hook, arguments)) = self.begin else { return };
        if instruction.pc() == 0 {
            insert.before(&[arguments, &[Op::InvokeStatic(hook)][..]].concat());
        }
        if matches!(instruction.opcode(), opcode::RETURN | opcode::ATHROW) {
            insert.before(&[Op::InvokeStatic(&self.hooked.end)]);
        }
    }
}
