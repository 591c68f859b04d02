//! `heap=events` and `heap=vm`: an event for every object that is allocated.
//!
//! Hooks of HeapProxy (`hooks`, `proxy`, `natives`) or events of the VM (`vm_event`) report it, as `core::source` decides.
//! Both end in `report`. `state` is what the recording and each thread keep for it.

mod class_codes;
mod hooks;
mod natives;
mod proxy;
mod report;
mod state;
mod unconstructed;
mod vm_event;

use classfile::ClassFile;
use jvmti::jni_sys::jclass;
use jvmti::sys::{JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, JVMTI_EVENT_VM_OBJECT_ALLOC, jvmtiEventCallbacks};
use jvmti::{HeapRoom, Jni};

use agent_base::helpers::{HEAP_PROXY, Helper};
use agent_base::ids::GcNumber;
use agent_core::core::Core;
use agent_core::core::feature::{End, Feature, RewriteRequest, Rewriter};
use agent_core::core::source::AllocationSource;
use agent_core::instrument::OBJECT;
use agent_core::instrument::intrinsics::NAMES_OF_EVENTS;
use agent_core::instrument::retransform::{has_site, names_one};
use hooks::{ARRAY_OPCODES, HeapHooks};
use proxy::{DIRECT, EARLY, ESCAPE};

pub use natives::NATIVES;
pub(crate) use proxy::define_proxy;
pub(crate) use state::HeapEvents;
pub(crate) use vm_event::INTERVAL;

impl Feature for HeapEvents {
    fn install(&'static self) {
        self.make_current();
    }

    fn callbacks(&self, _: &mut jvmtiEventCallbacks, objects: &mut jvmtiEventCallbacks) {
        objects.VMObjectAlloc = Some(vm_event::vm_object_alloc);
        objects.SampledObjectAlloc = Some(vm_event::sampled_object_alloc);
    }

    fn prepare(&'static self, jni: Jni) -> Result<(), String> {
        if self.core.source.has_hooks() {
            self.core.jvm.classes.measure_arrays(jni);
        }
        if self.core.source.rewrites() {
            let _ = self.proxy.set(define_proxy(self.core, jni)?);
        }
        Ok(())
    }

    fn begin(&'static self, jni: Jni) -> Result<(), String> {
        let source = self.core.source;
        if let Some(&proxy) = self.proxy.get().filter(|_| source.has_hooks()) {
            class_codes::number_primitive_arrays(self.core, proxy, jni)?;
        }
        let objects = self.core.tags.envs()[0];
        if source.is_by_vm_event() {
            objects.enable_event(JVMTI_EVENT_SAMPLED_OBJECT_ALLOC).map_err(|e| e.to_string())?;
        }
        if source.has_hooks() {
            objects.enable_event(JVMTI_EVENT_VM_OBJECT_ALLOC).map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    fn resume(&'static self, jni: Jni) {
        if let Some(proxy) = self.proxy.get() {
            proxy.set_boolean(jni, c"jvmInit", true);
        }
    }

    fn collected(&'static self, jni: Jni, _: GcNumber, _: GcNumber) {
        // A new table takes as much room as the old one: far less than this.
        let has_room = || HeapRoom::now(jni).is_none_or(|room| room.free >= room.max / 16);
        if let Some(proxy) = self.proxy.get().filter(|_| self.core.source.has_hooks() && has_room()) {
            // It forgets the classes that may be unloaded. Out of memory: they stay until the next collection.
            let _ = proxy.call(jni, c"purge");
        }
    }

    fn stopped(&'static self, jni: Jni, end: End) {
        if let Some(proxy) = self.proxy.get() {
            proxy.set_boolean(jni, c"jvmInit", false);
            self.core.count_lost("hook without stack or memory", proxy.lost(jni));
        }
        if end.is_survived() {
            let objects = self.core.tags.envs()[0];
            objects.disable_events(&[JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, JVMTI_EVENT_VM_OBJECT_ALLOC]);
        }
    }

    fn rewriter(&'static self) -> Option<&'static dyn Rewriter> {
        self.core.source.rewrites().then_some(self)
    }
}

/// Before reporting begins, with the VM's event enabled: makes the VM report all that the current thread allocates from then
/// on.
pub(crate) fn close_first_buffer(core: &Core, jni: Jni) {
    if core.source.is_by_vm_event() && !vm_event::close_buffer(jni) {
        core.count_lost("the first thread's allocation buffer stays open", 1);
    }
}

impl Rewriter for HeapEvents {
    unsafe fn rewrite(&self, class: &ClassFile<'_>, request: RewriteRequest<'_>) -> Option<Vec<u8>> {
        let hooks = match (self.core.source.has_hooks(), request.is_initialised) {
            (true, true) => &DIRECT,
            (true, false) => &EARLY,
            (false, _) => &ESCAPE,
        };
        self.core
            .rewriting
            .note(class.name(), classfile::rewrite_class(class, &mut HeapHooks::new(request.name, hooks)))
    }

    fn helper(&self) -> Option<&'static Helper> {
        Some(&HEAP_PROXY)
    }

    fn considers(&self, name: &[u8]) -> bool {
        // If the VM reports, to rewrite classes that are loaded already is not worth the time at the start, except for
        // `Object`. Later the JIT removes arrays, too.
        self.core.source != AllocationSource::VmAndEscape || self.core.is_late || name == OBJECT
    }

    unsafe fn wants(&self, class: jclass) -> bool {
        let env = self.core.jvm.env;
        // SAFETY: by the caller's promise.
        unsafe {
            env.get_class_signature(class).is_ok_and(|signature| *signature == *b"Ljava/lang/Object;")
                || has_site(env, class, ARRAY_OPCODES)
                || self.core.source.has_hooks() && names_one(env, class, NAMES_OF_EVENTS.all())
        }
    }

    fn rewrites_all(&self) -> bool {
        true
    }
}
