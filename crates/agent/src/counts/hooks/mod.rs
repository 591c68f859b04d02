//! Inserts a call that counts at each site of a class.
//!
//! `opcodes` says which instructions are looked at, `method_kind` which methods are special, `insertions` what is inserted;
//! `site_counters` hands out the counters, and `counting_methods` are what is called.

mod counting_methods;
mod insertions;
mod method_kind;
mod opcodes;
mod site_counters;

use std::sync::LazyLock;

use classfile::{ClassFile, Insert, Instruction, Instrument, MemberRef, MethodView, Op, OpcodeSet, opcode};

use super::constants::Constants;
use super::counters::{CounterKind, NEW_INSTANCE_CALLER, NEW_INSTANCE_SITE};
use super::jdk_methods::{self, finds_archived_class};
use agent_core::core::feature::ClassPhase;
use agent_core::instrument::allocating_method::may_load_classes;
use agent_core::instrument::intrinsics::{CALLS, Made, MethodNames, Mode, is_new_instance, made_by_call};
use agent_core::instrument::{max_code_length, runs_once};
use counting_methods::{
    ANY_MADE, COMMON_TEXTS, HIDDEN, INSTANCE_MADE, MADE_MULTI, NATIVE_CALL, NOT_ARCHIVED, REFERENCES_MADE,
    argument_method,
};
use insertions::{Insertions, fixed_site};
use method_kind::MethodKind;
use site_counters::At;

pub(super) use opcodes::ALLOCATING_OPCODES;
pub(super) use site_counters::SiteCounters;

/// Names of all methods that hooks belong to for another reason than an instruction that allocates.
pub(super) static HOOKED_NAMES: LazyLock<MethodNames> =
    LazyLock::new(|| MethodNames::hooked(Mode::Counts, jdk_methods::NAMES));

/// Inserts a counter at each site of one class.
pub(super) struct CountHooks<'r, F> {
    insertions: Insertions<'r, F>,
    /// The class may call methods that get hooks.
    calls_hooked: bool,
    /// The class may be one of those of the JDK some of whose methods get other hooks.
    is_of_jdk: bool,
    /// The method whose instructions are looked at.
    method: MethodKind,
}

impl<'r, F: Fn(&[u8]) -> bool> CountHooks<'r, F> {
    /// Hooks for one class, whose sites get these counters.
    pub(super) fn new(sites: SiteCounters<'r>, constants: Option<&'static Constants>, filter: Option<F>) -> Self {
        let insertions = Insertions { sites, constants, filter };
        CountHooks { insertions, calls_hooked: true, is_of_jdk: true, method: MethodKind::Ordinary }
    }

    /// The class is rewritten. Returns how many sites were left alone because there are no more counters.
    pub(super) fn end(self) -> u64 {
        self.insertions.sites.end();
        self.insertions.sites.uncounted
    }

    fn counts_strings(&self, method: &MethodView<'_>) -> bool {
        self.insertions.counts_strings() && opcodes::has_room_for_constants(method, self.max_code_length(method))
    }
}

impl<F: Fn(&[u8]) -> bool> Instrument for CountHooks<'_, F> {
    fn opcodes(&self) -> OpcodeSet {
        match self.method {
            // The first instruction is looked at.
            MethodKind::ClassDefiner(_) | MethodKind::VmUpcall(_) => OpcodeSet::ALL,
            MethodKind::StaticInitialiser { counts_strings } => opcodes::opcodes(self.calls_hooked, counts_strings),
            _ => opcodes::opcodes(self.calls_hooked, false),
        }
    }

    fn class(&mut self, class: &ClassFile<'_>) {
        let names = &*HOOKED_NAMES;
        self.calls_hooked = class.pool().texts().any(|(_, text)| names.contains(text));
        self.is_of_jdk = class.name().starts_with(b"java/") || class.name().starts_with(b"jdk/");
    }

    fn common_texts(&self) -> &'static [&'static str] {
        if self.insertions.sites.request.phase == ClassPhase::Loading { &[] } else { COMMON_TEXTS }
    }

    fn method(&mut self, method: &MethodView<'_>) -> bool {
        self.insertions.sites.begin_method();
        if self.insertions.sites.request.phase == ClassPhase::Initialised && runs_once(method.name()) {
            return false;
        }
        self.method = if self.is_of_jdk { MethodKind::of_jdk(method) } else { MethodKind::of(method) };
        if matches!(self.method, MethodKind::StaticInitialiser { .. }) {
            self.method = MethodKind::StaticInitialiser { counts_strings: self.counts_strings(method) };
        }
        true
    }

    fn max_code_length(&self, method: &MethodView<'_>) -> u32 {
        match self.method {
            // It matters little whether what runs once can be compiled.
            MethodKind::StaticInitialiser { .. } => u32::from(u16::MAX),
            _ => max_code_length(method),
        }
    }

    fn instruction(&mut self, method: &MethodView<'_>, instruction: &Instruction<'_>, insert: &mut Insert<'_>) {
        let at = At { method, pc: instruction.pc() };
        match self.method {
            MethodKind::ReplacedByJit => {
                if instruction.member_operand().is_some_and(|callee| calls_new_instance(&callee)) {
                    fixed_site(NEW_INSTANCE_CALLER, insert);
                }
                return;
            }
            MethodKind::ClassDefiner(definer) if at.pc == 0 => {
                let class_file = definer.class_file;
                let hook = Op::InvokeStatic(&HIDDEN);
                let arguments = [Op::Aload(definer.host), Op::Aload(class_file), definer.flags];
                insert.before(&[&arguments[..], &[hook, Op::Astore(class_file)]].concat());
            }
            MethodKind::VmUpcall(arguments) if at.pc == 0 => {
                for &(variable, argument) in arguments {
                    insert.before(&[Op::Aload(variable), Op::InvokeStatic(argument_method(argument))]);
                }
            }
            _ => {}
        }
        match instruction.opcode() {
            opcode::NEW => {
                if let Some(name) = instruction.class_operand() {
                    self.insertions.instance(at, name, insert);
                }
            }
            opcode::NEWARRAY => {
                if let Some(kind) = instruction.array_kind() {
                    self.insertions.array(at, &[b'[', kind.descriptor()], insert);
                }
            }
            opcode::ANEWARRAY => match instruction.class_operand() {
                Some(array @ [b'[', ..]) => self.insertions.array(at, &[b"[", array].concat(), insert),
                Some(name) => self.insertions.array(at, &[b"[L", name, b";"].concat(), insert),
                None => {}
            },
            opcode::MULTIANEWARRAY => {
                if let (Some(array), Some(dimensions)) = (instruction.class_operand(), instruction.dimensions()) {
                    self.insertions.multi_array(at, array, dimensions, insert);
                }
            }
            opcode::LDC | opcode::LDC_W => {
                if let MethodKind::StaticInitialiser { counts_strings: true } = self.method
                    && let Some(text) = instruction.string_operand()
                {
                    self.insertions.string(text, insert);
                }
            }
            call if CALLS.contains(&call) => {
                if let Some(callee) = instruction.member_operand() {
                    self.call(at, call, &callee, insert);
                }
            }
            _ => {}
        }
    }
}

impl<F: Fn(&[u8]) -> bool> CountHooks<'_, F> {
    fn call(&mut self, at: At<'_>, opcode: u8, callee: &MemberRef<'_>, insert: &mut Insert<'_>) {
        if finds_archived_class(callee) {
            // What comes ready-made out of the CDS archive has no hooks; without it the JDK makes a new class.
            return insert.after(&[Op::InvokeStatic(&NOT_ARCHIVED)]);
        }
        if callee.owner == b"java/lang/Class" && may_load_classes(callee.name) {
            return insert.before(&[Op::InvokeStatic(&NATIVE_CALL)]);
        }
        if matches!(self.method, MethodKind::NewInstance) && callee.name == b"newArray" {
            return fixed_site(NEW_INSTANCE_SITE, insert);
        }
        if calls_new_instance(callee) {
            fixed_site(NEW_INSTANCE_CALLER, insert);
        }
        let Some(made) = made_by_call(Mode::Counts, opcode, callee) else { return };
        let name = |class| self.insertions.sites.name(class);
        match made {
            Made::Object => self.insertions.dynamic(at, CounterKind::DynamicSite, &INSTANCE_MADE, insert),
            Made::BareInstance => self.insertions.bare_instance(at, insert),
            Made::Primitives => self.insertions.uninitialized(at, insert),
            Made::References => self.insertions.dynamic(at, CounterKind::DynamicSite, &REFERENCES_MADE, insert),
            Made::AnyArray => self.insertions.dynamic(at, CounterKind::DynamicSite, &ANY_MADE, insert),
            Made::Clone(class) => {
                // Only on an `Object` may it be that of an array.
                let made = if class == b"java/lang/Object" { &ANY_MADE } else { &INSTANCE_MADE };
                self.insertions.dynamic(at, CounterKind::CloneSite(name(class)), made, insert)
            }
            Made::SuperClone(class) => {
                self.insertions.dynamic(at, CounterKind::SuperCloneSite(name(class)), &INSTANCE_MADE, insert)
            }
            Made::ArrayOfArrays => self.insertions.dynamic(at, CounterKind::DynamicSite, &MADE_MULTI, insert),
            Made::ProductOrGiven => self.insertions.product(at, insert),
            Made::Array(array) => self.insertions.primitives(at, array, insert),
            Made::Backtrace => self.insertions.backtrace(at, insert),
        }
    }
}

/// Whether the array is one that `Array.newInstance` has made and counted, and that its caller counts.
fn calls_new_instance(callee: &MemberRef<'_>) -> bool {
    is_new_instance(callee.owner, callee.name, callee.descriptor)
}
