//! MartiniCounts' native methods.

use std::ptr::null_mut;

use classfile::ClassFile;
use jvmti::Jni;
use jvmti::jni_sys::{jbyteArray, jclass, jint, jlong, jobject};

use super::constants::ConstantIndex;
use super::current_thread::Here;
use super::feature::Counts;
use super::ids::CounterIndex;
use super::sites::DynamicCounters;
use super::vm_allocations;
use agent_base::clock::Ticks;
use agent_base::helpers::Natives;
use agent_base::ids::ClassIndex;
use agent_base::natives;
use agent_core::core::Core;
use agent_core::core::context::{enter, enter_for};
use agent_core::core::feature::{ClassPhase, RewriteRequest};
use agent_core::instrument::Instrumentation;

/// All of them.
pub static NATIVES: Natives = natives! {
    count(counter: jint, number: jlong, bytes: jlong), c"count", c"(IJJ)V";
    count_large(counter: jint, number: jlong, bytes: jlong), c"countLarge", c"(IJJ)V";
    use_constant(number: jint), c"useConstant", c"(I)V";
    rewritten(host: jclass, class: jbyteArray) -> jbyteArray, c"rewritten", c"(Ljava/lang/Class;[B)[B";
    note_call(), c"noteCall", c"()V";
    count_argument(object: jobject), c"countArgument", c"(Ljava/lang/Object;)V";
    account_begins(), c"accountBegins", c"()V";
    account_ends(counter: jint, number: jlong), c"accountEnds", c"(IJ)V";
    counters(site: jint, number: jint, class: jclass) -> jlong, c"counters", c"(IILjava/lang/Class;)J";
};

/// Enters the agent, while the recording reports.
fn on_thread(jni: Jni, body: impl FnOnce(&Counts, &mut Here<'_>)) {
    enter_for(jni, |counts: &Counts, jni, thread, state| {
        body(counts, &mut Here::new(&counts.threads, jni, thread, state));
    });
}

fn count(jni: Jni, counter: jint, number: jlong, bytes: jlong) {
    on_thread(jni, |counts, here| counts.count(here, number, CounterIndex(counter as u32), bytes as u64));
}

fn count_large(jni: Jni, counter: jint, number: jlong, bytes: jlong) {
    let (counter, bytes) = (CounterIndex(counter as u32), bytes as u64);
    on_thread(jni, |counts, here| {
        counts.count(here, number, counter, bytes);
        counts.threads.begin_large(jni, here.own(), counter, bytes);
    });
}

fn use_constant(jni: Jni, number: jint) {
    on_thread(jni, |counts, here| counts.strings.use_constant(here, ConstantIndex(number as u32)));
}

/// Null if there is nothing to rewrite.
fn rewritten(jni: Jni, host: jclass, class: jbyteArray) -> jbyteArray {
    let mut array = null_mut();
    let Some(core) = Core::open() else { return array };
    let is_on = |instrumentation: &&Instrumentation| instrumentation.is_initialised();
    let Some(instrumentation) = Instrumentation::current().filter(is_on) else { return array };
    // SAFETY: the VM passes a live array.
    let class = unsafe { jni.get_bytes(class) };
    let Ok(parsed) = ClassFile::parse(&class) else { return array };
    let name = parsed.name();
    // SAFETY: the VM passes a live class.
    let Ok(finder) = (unsafe { core.jvm.env.get_class_loader(host) }) else { return array };
    let request = RewriteRequest { jni, name, loader: None, finder, phase: ClassPhase::Loading, is_initialised: true };
    // SAFETY: a live reference or null.
    if let Some(bytes) = unsafe { instrumentation.rewrite(&parsed, request) } {
        enter(core, jni, Ticks::now, |local| {
            core.exclude(jni, local.thread.carrier, || match jni.new_bytes(&bytes) {
                Ok(copy) => array = copy,
                Err(_) => {
                    jni.exception_clear();
                    core.rewriting.refuse("class: no memory for it");
                }
            });
        });
    }
    array
}

fn note_call(_: Jni) {
    vm_allocations::note_call();
}

fn count_argument(jni: Jni, object: jobject) {
    // SAFETY: the VM passes a live reference.
    on_thread(jni, |counts, here| unsafe { counts.strings.count_argument(here, object) });
}

fn account_begins(jni: Jni) {
    on_thread(jni, |counts, here| here.state.account = counts.core.jvm.accounting.current_thread_bytes(jni));
}

fn account_ends(jni: Jni, counter: jint, number: jlong) {
    on_thread(jni, |counts, here| {
        let now = counts.core.jvm.accounting.current_thread_bytes(jni);
        let bytes = here.state.account.take().zip(now).and_then(|(before, now)| now.checked_sub(before));
        if let Some(bytes) = bytes.filter(|&bytes| bytes > 0) {
            counts.count(here, number, CounterIndex(counter as u32), bytes);
        }
    });
}

fn counters(jni: Jni, site: jint, number: jint, class: jclass) -> jlong {
    let mut found = None;
    on_thread(jni, |counts, here| {
        let (site, class_index) = (CounterIndex(site as u32), ClassIndex((number - 1) as u32));
        // SAFETY: the VM passes a live reference.
        found = unsafe { counts.sites.at_dynamic_site(here, site, class_index, class) };
    });
    match found {
        Some(DynamicCounters::First(counter)) => jlong::from(counter.0),
        Some(DynamicCounters::CountedElsewhere) => -1,
        // Counter 0 is never one of these.
        None => 0,
    }
}
