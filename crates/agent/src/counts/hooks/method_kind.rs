//! What a method is for the hooks: most are ordinary.

use classfile::MethodView;

use crate::counts::jdk_methods::{Arguments, ClassDefiner, vm_arguments};
use agent_core::instrument::intrinsics::{is_body_replaced, is_new_instance};

/// What the method is whose instructions are looked at.
#[derive(Clone, Copy, Debug)]
pub(super) enum MethodKind {
    Ordinary,
    /// It runs once. The strings that the VM makes for it are counted, if there is room; in other methods that costs more than it
    /// is worth.
    StaticInitialiser {
        counts_strings: bool,
    },
    /// The JIT replaces it, and its callers count: nothing in it may.
    ReplacedByJit,
    /// `Array.newInstance` of one dimension, which method handles call without naming it.
    NewInstance,
    /// It defines hidden classes.
    ClassDefiner(ClassDefiner),
    /// The VM calls it, with objects that it has made.
    VmUpcall(Arguments),
}

impl MethodKind {
    /// Of a method in any class.
    pub(super) fn of(method: &MethodView<'_>) -> MethodKind {
        if method.name() == b"<clinit>" {
            return MethodKind::StaticInitialiser { counts_strings: false };
        }
        MethodKind::Ordinary
    }

    /// Of a method in a class that may be one of the JDK's.
    pub(super) fn of_jdk(method: &MethodView<'_>) -> MethodKind {
        let (class, name, descriptor) = (method.class_name(), method.name(), method.descriptor());
        if let Some(definer) = ClassDefiner::of(method) {
            MethodKind::ClassDefiner(definer)
        } else if let Some(arguments) = vm_arguments(method) {
            MethodKind::VmUpcall(arguments)
        } else if is_body_replaced(class, name, descriptor) {
            MethodKind::ReplacedByJit
        } else if is_new_instance(class, name, descriptor) {
            MethodKind::NewInstance
        } else {
            MethodKind::of(method)
        }
    }
}
