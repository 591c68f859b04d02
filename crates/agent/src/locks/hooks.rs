//! Rewrites the classes by which threads park and sleep: their methods call a helper class when they begin and when they end.

use std::sync::atomic::{AtomicBool, Ordering};

use classfile::{ClassFile, Insert, Instruction, Instrument, MethodView, Op, OpcodeSet, StaticMethod, opcode};
use jvmti::jni_sys::jclass;

use agent_options::FIRST_TO_KEEP_CODE;

use agent_base::helpers::{Helper, PARKING, SLEEP};
use agent_core::core::Core;
use agent_core::core::feature::{RewriteRequest, Rewriter};

/// What is called at the beginning of a method, with the instructions that pass on the arguments. It has the name and descriptor of
/// that method, or, if that is no static one, the descriptor without the object.
type Begin = (StaticMethod, &'static [Op<'static>]);

/// A class with methods to hook.
struct Hooked {
    /// Its internal name.
    class: &'static [u8],
    begins: &'static [Begin],
    /// What is called at the end of each of these methods.
    end: StaticMethod,
}

const fn method(helper: &'static Helper, name: &'static str, descriptor: &'static str) -> StaticMethod {
    StaticMethod { class: helper.internal_name, name, descriptor }
}

/// The methods that park.
static PARKS: Hooked = Hooked {
    class: b"java/util/concurrent/locks/LockSupport",
    begins: &[
        (method(&PARKING, "park", "(Ljava/lang/Object;)V"), &[Op::Aload0]),
        (method(&PARKING, "parkNanos", "(Ljava/lang/Object;J)V"), &[Op::Aload0, Op::Lload(1)]),
        (method(&PARKING, "parkUntil", "(Ljava/lang/Object;J)V"), &[Op::Aload0, Op::Lload(1)]),
        (method(&PARKING, "park", "()V"), &[]),
        (method(&PARKING, "parkNanos", "(J)V"), &[Op::Lload(0)]),
        (method(&PARKING, "parkUntil", "(J)V"), &[Op::Lload(0)]),
    ],
    end: method(&PARKING, "parked", "()V"),
};

/// The first release that reports which virtual thread runs on a carrier.
const FIRST_WITH_VIRTUAL: u32 = 21;

/// By what virtual threads sleep.
static SLEEPS: Hooked = Hooked {
    class: b"java/lang/VirtualThread",
    begins: &[(method(&SLEEP, "sleepNanos", "(J)V"), &[Op::Lload(1)])],
    end: method(&SLEEP, "slept", "()V"),
};

/// Rewrites these classes, and no others.
pub(super) struct WaitHooks {
    core: &'static Core,
    classes: Vec<&'static Hooked>,
    /// The helper class of sleeping threads is not there, so nothing may call it.
    without_sleep: AtomicBool,
}

impl WaitHooks {
    /// For a recording, which shows parks or not.
    pub(super) fn new(core: &'static Core, parks: bool) -> WaitHooks {
        // Whoever attaches with locks alone expects that nothing is rewritten.
        let is_cheap = parks || !core.is_late || core.jvm.java >= FIRST_TO_KEEP_CODE;
        let sleeps = is_cheap && core.jvm.java >= FIRST_WITH_VIRTUAL;
        let classes = [(parks, &PARKS), (sleeps, &SLEEPS)];
        let classes = classes.into_iter().filter(|(is_hooked, _)| *is_hooked).map(|(_, hooked)| hooked).collect();
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
        self.core.rewriting.note(class.name(), classfile::rewrite_class(class, &mut WaitCalls { hooked, begin: None }))
    }

    fn helper(&self) -> Option<&'static Helper> {
        // It rewrites classes of the boot loader alone.
        None
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
