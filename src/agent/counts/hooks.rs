//! Which instructions get a counter, and the call that counts.

use std::ops::Range;
use std::sync::LazyLock;

use classfile::{
    ArrayKind, ClassFile, Insert, Instruction, Instrument, MemberRef, MethodView, Op, OpcodeSet, StaticMethod, opcode,
};

use super::constants::ConstantIndex;
use super::counters::{ARRAY_MADE, ARRAY_TAKEN, BytecodeSite, CounterIndex, CounterKind};
use super::rewritings::{Origin, Part, RewritingIndex, RewrittenMethod, RewrittenMethodIndex};
use super::space::CounterSpace;
use super::upcalls::{Given, Upcall};
use crate::agent::core::Core;
use crate::agent::core::feature::{ClassPhase, RewriteRequest};
use crate::agent::helpers::COUNTS;
use crate::agent::instrument::intrinsics::{
    CALLS, Made, MethodNames, Mode, is_body_replaced, is_new_instance, made_by_call,
};
use crate::agent::instrument::{max_code_length, runs_once};

/// The instructions that allocate.
pub(super) const ALLOCATING_OPCODES: &[u8] =
    &[opcode::NEW, opcode::NEWARRAY, opcode::ANEWARRAY, opcode::MULTIANEWARRAY];
/// The ones that push constants, which the VM makes when they are first used.
const CONSTANTS: &[u8] = &[opcode::LDC, opcode::LDC_W];

/// The instructions to look at: those that allocate, and others. Calls are by far the most frequent.
const fn with(calls: bool, constants: bool) -> OpcodeSet {
    OpcodeSet::of(ALLOCATING_OPCODES).and(if calls { CALLS } else { &[] }).and(if constants { CONSTANTS } else { &[] })
}
const OPCODES: [[OpcodeSet; 2]; 2] = [[with(false, false), with(false, true)], [with(true, false), with(true, true)]];

/// Names of all methods that hooks belong to for another reason than an instruction that allocates.
pub(super) static HOOKED_NAMES: LazyLock<MethodNames> =
    LazyLock::new(|| MethodNames::looked_at(Mode::Counts, OTHER_HOOKED_NAMES));
const OTHER_HOOKED_NAMES: &[&[u8]] =
    &[b"getDeclaredMethods0", b"findFromArchive", b"defineClass", b"defineAnonymousClass"];

const fn hook(name: &'static str, descriptor: &'static str) -> StaticMethod {
    StaticMethod { class: COUNTS.internal_name, name, descriptor }
}

/// The name of the most frequent hooks: nearly every class has this text among its constants already, for its methods' attribute.
/// HotSpot searches the whole pool of a class that it redefines for each constant that is new, which is a large part of a
/// redefinition's cost.
const COMMON_NAME: &str = "Code";
const COMMON_TEXTS: &[&str] = &[COMMON_NAME, "(I)V", "(II)V"];

static INSTANCE: StaticMethod = hook(COMMON_NAME, "(I)V");
static ARRAY_1: StaticMethod = hook("array1", "(II)V");
static ARRAY_2: StaticMethod = hook("array2", "(II)V");
static ARRAY_4: StaticMethod = hook("array4", "(II)V");
static ARRAY_8: StaticMethod = hook("array8", "(II)V");
static REFERENCES: StaticMethod = hook(COMMON_NAME, "(II)V");
static MULTI: StaticMethod = hook("multi", "([Ljava/lang/Object;I)V");
static PRIMITIVES: StaticMethod = hook("primitives", "(Ljava/lang/Object;I)V");
static MADE: StaticMethod = hook(COMMON_NAME, "(Ljava/lang/Object;I)V");
static MADE_MULTI: StaticMethod = hook("madeMulti", "(Ljava/lang/Object;I)V");
static PRODUCT: StaticMethod = hook("product", "([I[II)V");

static GIVEN: StaticMethod = hook("given", "(Ljava/lang/Object;)V");
static GIVEN_ARRAY: StaticMethod = hook("givenArray", "(Ljava/lang/Object;)V");
static HIDDEN: StaticMethod = hook("hidden", "([BI)[B");
static NONE: StaticMethod = hook("none", "(Ljava/lang/Class;)Ljava/lang/Class;");
static NATIVE_CALL: StaticMethod = hook("nativeCall", "()V");
static CONSTANT: StaticMethod = hook("constant", "(I)V");
static VM_BEGIN: StaticMethod = hook("vmBegin", "()V");
static VM_END: StaticMethod = hook("vmEnd", "(I)V");

/// What is called with what the VM hands over.
fn given_hook(given: Given) -> &'static StaticMethod {
    match given {
        Given::Fresh => &GIVEN,
        Given::Array => &GIVEN_ARRAY,
    }
}

/// An instruction of the class that is rewritten.
#[derive(Clone, Copy)]
struct At<'m> {
    method: &'m MethodView<'m>,
    pc: u16,
}

/// Inserts a counter at each site of one class.
pub(super) struct CountHooks<'r, F> {
    core: &'static Core,
    space: &'static CounterSpace,
    request: RewriteRequest<'r>,
    origin: Origin,
    /// Once there is a site.
    rewriting: Option<RewritingIndex>,
    /// The method at hand, once it has a site.
    code: Option<RewrittenMethodIndex>,
    /// Its counters so far, among others.
    counters: Range<u32>,
    /// Whether the class of a descriptor is wanted; `None` if all are.
    filter: Option<F>,
    /// Sites left alone because there are no more counters.
    pub(super) uncounted: u64,
    /// The class may call methods that get hooks.
    calls_hooked: bool,
    /// The class may be one of those of the JDK some of whose methods get other hooks.
    is_jdks: bool,
    /// The method at hand defines hidden classes.
    definer: Option<Definer>,
    /// The VM calls the method at hand.
    upcall: Option<Upcall>,
    /// The method at hand is replaced by the JIT, and counted where it is called.
    is_replaced: bool,
    /// It is `Array.newInstance` of one dimension, which method handles call without naming it.
    makes_array: bool,
    /// The method at hand is a static initialiser, which runs once.
    is_initialiser: bool,
    /// So the strings that the VM makes for it are counted, if there is room; in all methods that costs more than it tells.
    counts_constants: bool,
}

impl<'r, F: Fn(&[u8]) -> bool> CountHooks<'r, F> {
    /// Hooks for one class.
    ///
    /// # Safety
    /// The loader of the request is a live reference or null.
    pub(super) unsafe fn new(
        core: &'static Core,
        space: &'static CounterSpace,
        request: RewriteRequest<'r>,
        filter: Option<F>,
    ) -> Self {
        CountHooks {
            core,
            space,
            origin: Origin::of(request.loader, request.name),
            request,
            rewriting: None,
            code: None,
            counters: 0..0,
            filter,
            uncounted: 0,
            calls_hooked: true,
            is_jdks: true,
            definer: None,
            upcall: None,
            is_replaced: false,
            makes_array: false,
            is_initialiser: false,
            counts_constants: false,
        }
    }

    /// Whether objects are wanted whose class's descriptor has these parts.
    fn includes(&self, descriptor: &[&[u8]]) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter(&descriptor.concat()))
    }

    /// The class is rewritten.
    pub(super) fn end(&self) {
        if let Some(rewriting) = self.rewriting.filter(|_| !self.counters.is_empty()) {
            let part = Part { rewriting, counters: self.counters.clone() };
            // SAFETY: by the promise of who made this.
            unsafe { self.space.rewritings.end(self.core, self.request.jni, self.origin, part) };
        }
    }

    fn counters(&mut self, at: At<'_>, kinds: &[CounterKind]) -> Option<Op<'static>> {
        let counters = &self.space.counters;
        // What is noted of a site takes memory.
        let site = if counters.has_room(kinds.len()) { self.site(at) } else { None };
        let Some(CounterIndex(index)) = site.and_then(|site| counters.append(Some(site), kinds)) else {
            self.uncounted += 1;
            return None;
        };
        let first = if self.counters.is_empty() { index } else { self.counters.start };
        self.counters = first..index + kinds.len() as u32;
        Some(Op::PushInt(index as i32))
    }

    fn site(&mut self, At { method, pc }: At<'_>) -> Option<BytecodeSite> {
        let code = match self.code {
            Some(code) => code,
            None => {
                let rewriting = self.rewriting(method.class_name())?;
                let lines = method.line_range().map(|(first, last)| (first.into(), last.into()));
                let (name, descriptor) = (method.name().into(), method.descriptor().into());
                *self.code.insert(self.space.rewritings.add_method(RewrittenMethod {
                    rewriting,
                    name,
                    descriptor,
                    lines,
                }))
            }
        };
        Some(BytecodeSite { code, line: method.line(pc).map_or(0, u32::from) })
    }

    fn rewriting(&mut self, class: &[u8]) -> Option<RewritingIndex> {
        if self.rewriting.is_none() {
            let env = self.core.jvm.env;
            // SAFETY: by the promise of who made this.
            self.rewriting = unsafe { self.space.rewritings.begin(env, self.request.jni, class, self.origin) };
        }
        self.rewriting
    }

    fn instance(&mut self, at: At<'_>, name: &[u8], insert: &mut Insert<'_>) {
        if !self.includes(&[b"L", name, b";"]) {
            return;
        }
        if let Some(counter) = self.counters(at, &[CounterKind::Instances(self.space.counters.name(name))]) {
            let ops = [counter, Op::InvokeStatic(&INSTANCE)];
            // C2 turns whole chains of appending into two allocations, unless something is in between (OptimizeStringConcat).
            if matches!(name, b"java/lang/StringBuilder" | b"java/lang/StringBuffer") {
                insert.after(&ops);
            } else {
                insert.before(&ops);
            }
        }
    }

    fn array(&mut self, at: At<'_>, descriptor: &[u8], insert: &mut Insert<'_>) {
        let hook = match descriptor.get(1) {
            Some(b'Z' | b'B') => &ARRAY_1,
            Some(b'C' | b'S') => &ARRAY_2,
            Some(b'I' | b'F') => &ARRAY_4,
            Some(b'J' | b'D') => &ARRAY_8,
            _ => &REFERENCES,
        };
        if !self.includes(&[descriptor]) {
            return;
        }
        if let Some(counter) =
            self.counters(at, &[CounterKind::Arrays(self.space.counters.name(descriptor)), CounterKind::Bytes])
        {
            insert.before(&[Op::Dup, counter, Op::InvokeStatic(hook)]);
        }
    }

    /// An array that the verifier takes for some object.
    fn primitives(&mut self, at: At<'_>, descriptor: &[u8], insert: &mut Insert<'_>) {
        if !self.includes(&[descriptor]) {
            return;
        }
        if let Some(counter) =
            self.counters(at, &[CounterKind::Arrays(self.space.counters.name(descriptor)), CounterKind::Bytes])
        {
            insert.after(&[Op::Dup, counter, Op::InvokeStatic(&PRIMITIVES)]);
        }
    }

    fn multi_array(&mut self, at: At<'_>, descriptor: &[u8], dimensions: u8, insert: &mut Insert<'_>) {
        if dimensions == 1 {
            return self.array(at, descriptor, insert);
        }
        let levels = (0..usize::from(dimensions)).filter_map(|level| descriptor.get(level..));
        // All levels or none: which of them are wanted is decided when they are told.
        let mut kinds = Vec::new();
        let mut included = false;
        for level in levels {
            included |= self.includes(&[level]);
            kinds.extend([CounterKind::Arrays(self.space.counters.name(level)), CounterKind::Bytes]);
        }
        if included && let Some(counter) = self.counters(at, &kinds) {
            insert.after(&[Op::Dup, counter, Op::InvokeStatic(&MULTI)]);
        }
    }

    /// The VM's record of the stack, which holds no object that anybody could hand over.
    fn backtrace(&mut self, at: At<'_>, insert: &mut Insert<'_>) {
        if !self.includes(&[BACKTRACE]) {
            return;
        }
        if let Some(counter) =
            self.counters(at, &[CounterKind::ByTheVm(self.space.counters.name(BACKTRACE)), CounterKind::Bytes])
        {
            insert.before(&[Op::InvokeStatic(&VM_BEGIN)]);
            insert.after(&[counter, Op::InvokeStatic(&VM_END)]);
        }
    }

    /// A string constant.
    fn string(&self, text: &[u8], insert: &mut Insert<'_>) {
        if let Some(ConstantIndex(number)) = self.space.constants.as_ref().and_then(|constants| constants.number(text))
        {
            insert.before(&[Op::PushInt(number as i32), Op::InvokeStatic(&CONSTANT)]);
        }
    }

    fn product(&mut self, at: At<'_>, insert: &mut Insert<'_>) {
        if !self.includes(&[b"[I"]) {
            return;
        }
        if let Some(counter) =
            self.counters(at, &[CounterKind::Arrays(self.space.counters.name(b"[I")), CounterKind::Bytes])
        {
            insert.after(&[Op::Dup, Op::Aload(PRODUCT_GIVEN), counter, Op::InvokeStatic(&PRODUCT)]);
        }
    }

    fn made(&mut self, at: At<'_>, kind: CounterKind, hook: &'static StaticMethod, insert: &mut Insert<'_>) {
        if let Some(site) = self.counters(at, &[kind]) {
            insert.after(&[Op::Dup, site, Op::InvokeStatic(hook)]);
        }
    }
}

impl<F: Fn(&[u8]) -> bool> Instrument for CountHooks<'_, F> {
    fn opcodes(&self) -> OpcodeSet {
        if self.definer.is_some() || self.upcall.is_some() {
            OpcodeSet::ALL
        } else {
            OPCODES[usize::from(self.calls_hooked)][usize::from(self.counts_constants)]
        }
    }

    fn class(&mut self, class: &ClassFile<'_>) {
        let names = &*HOOKED_NAMES;
        self.calls_hooked = class.pool().texts().any(|(_, text)| names.contains(text));
        self.is_jdks = class.name().starts_with(b"java/") || class.name().starts_with(b"jdk/");
    }

    fn common_texts(&self) -> &'static [&'static str] {
        if self.request.phase == ClassPhase::Loading { &[] } else { COMMON_TEXTS }
    }

    fn method(&mut self, method: &MethodView<'_>) -> bool {
        self.code = None;
        if self.request.phase == ClassPhase::Initialised && runs_once(method.name()) {
            return false;
        }
        self.is_initialiser = method.name() == b"<clinit>";
        if self.is_jdks {
            self.definer = Definer::of(method);
            self.upcall = Upcall::of(method);
            self.is_replaced = is_body_replaced(method.class_name(), method.name(), method.descriptor());
            self.makes_array = is_new_instance(method.class_name(), method.name(), method.descriptor());
        }
        self.counts_constants = self.is_initialiser
            && self.space.constants.is_some()
            && !self.is_replaced
            && self.includes(&[b"Ljava/lang/String;"])
            && has_room(method.code().bytes(), self.max_code_length(method));
        true
    }

    fn max_code_length(&self, method: &MethodView<'_>) -> u32 {
        // It matters little whether what runs once can be compiled.
        if self.is_initialiser { u32::from(u16::MAX) } else { max_code_length(method) }
    }

    fn instruction(&mut self, method: &MethodView<'_>, instruction: &Instruction<'_>, insert: &mut Insert<'_>) {
        let at = At { method, pc: instruction.pc() };
        if self.is_replaced {
            // Its caller counts, so that nothing in it may.
            if instruction.member_operand().is_some_and(|callee| calls_new_instance(&callee)) {
                taken(insert);
            }
            return;
        }
        if let Some(definer) = self.definer.as_ref().filter(|_| instruction.pc() == 0) {
            let Definer { class, flags } = *definer;
            insert.before(&[Op::Aload(class), flags, Op::InvokeStatic(&HIDDEN), Op::Astore(class)]);
        }
        if let Some(upcall) = self.upcall.as_ref().filter(|_| instruction.pc() == 0) {
            for &(variable, given) in upcall.given {
                insert.before(&[Op::Aload(variable), Op::InvokeStatic(given_hook(given))]);
            }
        }
        match instruction.opcode() {
            opcode::NEW => {
                if let Some(name) = instruction.class_operand() {
                    self.instance(at, name, insert);
                }
            }
            opcode::NEWARRAY => {
                if let Some(kind) = instruction.array_kind() {
                    self.array(at, &[b'[', descriptor(kind)], insert);
                }
            }
            opcode::ANEWARRAY => match instruction.class_operand() {
                Some(array @ [b'[', ..]) => self.array(at, &[b"[", array].concat(), insert),
                Some(name) => self.array(at, &[b"[L", name, b";"].concat(), insert),
                None => {}
            },
            opcode::MULTIANEWARRAY => {
                if let (Some(array), Some(dimensions)) = (instruction.class_operand(), instruction.dimensions()) {
                    self.multi_array(at, array, dimensions, insert);
                }
            }
            invoke @ (opcode::INVOKEVIRTUAL | opcode::INVOKESPECIAL | opcode::INVOKESTATIC) => {
                if let Some(callee) = instruction.member_operand() {
                    self.call(at, invoke, &callee, insert);
                }
            }
            opcode::LDC | opcode::LDC_W if self.counts_constants => {
                if let Some(text) = instruction.string_operand() {
                    self.string(text, insert);
                }
            }
            _ => {}
        }
    }
}

impl<F: Fn(&[u8]) -> bool> CountHooks<'_, F> {
    fn call(&mut self, at: At<'_>, opcode: u8, callee: &MemberRef<'_>, insert: &mut Insert<'_>) {
        if (callee.owner, callee.name) == (b"java/lang/invoke/LambdaProxyClassArchive", b"findFromArchive")
            && callee.descriptor.ends_with(b")Ljava/lang/Class;")
        {
            // What comes ready-made out of the CDS archive has no hooks; without it the JDK makes a new class.
            return insert.after(&[Op::InvokeStatic(&NONE)]);
        }
        if callee.owner == b"java/lang/Class" && may_load_classes(callee.name) {
            return insert.before(&[Op::InvokeStatic(&NATIVE_CALL)]);
        }
        if self.makes_array && callee.name == b"newArray" {
            return insert.after(&[Op::Dup, Op::PushInt(ARRAY_MADE.0 as i32), Op::InvokeStatic(&MADE)]);
        }
        if calls_new_instance(callee) {
            taken(insert);
        }
        let name = |class| self.space.counters.name(class);
        match made_by_call(Mode::Counts, opcode, callee) {
            Some(Made::Object | Made::BareInstance) => self.made(at, CounterKind::DynamicSite, &MADE, insert),
            Some(Made::Clone(class)) => self.made(at, CounterKind::CloneSite(name(class)), &MADE, insert),
            Some(Made::SuperClone(class)) => self.made(at, CounterKind::SuperCloneSite(name(class)), &MADE, insert),
            Some(Made::ArrayOfArrays) => self.made(at, CounterKind::DynamicSite, &MADE_MULTI, insert),
            Some(Made::ProductOrGiven) => self.product(at, insert),
            Some(Made::Array(array)) => self.primitives(at, array, insert),
            Some(Made::Backtrace) => self.backtrace(at, insert),
            None => {}
        }
    }
}

/// Whether code may count each of its constants too, so that it stays far below the length that it may have: what the hooks of
/// constants take must not cost it those of its sites.
fn has_room(code: &[u8], most: u32) -> bool {
    /// `dup`, `sipush`, `invokestatic`.
    const GROWTH: usize = 7;
    // Jumps may grow, too.
    let most = most as usize * 15 / 16;
    // No instruction that gets a hook is shorter than two bytes.
    if code.len() + code.len() / 2 * GROWTH <= most {
        return true;
    }
    let is_hooked = |opcode| ALLOCATING_OPCODES.contains(&opcode) || matches!(opcode, opcode::LDC | opcode::LDC_W);
    code.len() + classfile::walk(code).filter(|&(_, opcode)| is_hooked(opcode)).count() * GROWTH <= most
}

fn calls_new_instance(callee: &MemberRef<'_>) -> bool {
    is_new_instance(callee.owner, callee.name, callee.descriptor)
}

/// The array that `Array.newInstance` has made and counted is counted by its caller.
fn taken(insert: &mut Insert<'_>) {
    insert.after(&[Op::Dup, Op::PushInt(ARRAY_TAKEN.0 as i32), Op::InvokeStatic(&MADE)]);
}

/// The class that stands for all arrays of a backtrace: the outermost is one.
const BACKTRACE: &[u8] = b"[Ljava/lang/Object;";

/// A method of the JDK through which all hidden classes come, which no class file load hook sees.
#[derive(Debug, Clone, Copy)]
struct Definer {
    /// Local variable with the class file.
    class: u8,
    /// Pushes the flags of `ClassLoader.defineClass0`.
    flags: Op<'static>,
}

impl Definer {
    /// `HIDDEN_CLASS` of `java.lang.invoke.MethodHandleNatives.Constants`.
    const HIDDEN_CLASS: i32 = 2;

    fn of(method: &MethodView<'_>) -> Option<Definer> {
        const LOOKUP: &[u8] = b"(Ljava/lang/ClassLoader;Ljava/lang/Class;Ljava/lang/String;[BLjava/security/ProtectionDomain;ZILjava/lang/Object;)Ljava/lang/Class;";
        const ANONYMOUS: &[u8] = b"(Ljava/lang/Class;[B[Ljava/lang/Object;)Ljava/lang/Class;";
        match (method.class_name(), method.name(), method.descriptor()) {
            // JavaLangAccess, from JDK 15 on.
            (class, b"defineClass", LOOKUP) if class.starts_with(b"java/lang/System$") => {
                Some(Definer { class: 4, flags: Op::Iload(7) })
            }
            (b"jdk/internal/misc/Unsafe", b"defineAnonymousClass", ANONYMOUS) => {
                Some(Definer { class: 2, flags: Op::PushInt(Self::HIDDEN_CLASS) })
            }
            _ => None,
        }
    }
}

/// The last parameter of `BigInteger.multiplyToLen`, the only caller of `implMultiplyToLen`: room for the product, if any.
const PRODUCT_GIVEN: u8 = 4;

/// Whether a native method of `java.lang.Class` makes objects after it has loaded classes, which may run Java code.
pub(super) fn may_load_classes(name: &[u8]) -> bool {
    matches!(name, b"getDeclaredMethods0" | b"getDeclaredConstructors0" | b"getDeclaredFields0")
}

fn descriptor(kind: ArrayKind) -> u8 {
    match kind {
        ArrayKind::Boolean => b'Z',
        ArrayKind::Char => b'C',
        ArrayKind::Float => b'F',
        ArrayKind::Double => b'D',
        ArrayKind::Byte => b'B',
        ArrayKind::Short => b'S',
        ArrayKind::Int => b'I',
        ArrayKind::Long => b'J',
    }
}
