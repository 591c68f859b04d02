//! What the agent could do in this JVM: the capabilities that it offers now, and which of HotSpot's layouts are known.

use jvmti::Jni;
use jvmti::sys::*;

use super::request::Lines;
use agent_core::core::Jvm;
use agent_core::vm::environments;
use hotspot::Hotspot;
use hotspot::safe_mode::{self, SafeMode};

/// What needs which capabilities in a JVM that runs.
const NEEDED: [(&str, &[&[Capability]]); 5] = [
    (
        "capabilities for --sampled",
        &[&[CAN_GENERATE_SAMPLED_OBJECT_ALLOC_EVENTS, CAN_GENERATE_GARBAGE_COLLECTION_EVENTS, CAN_TAG_OBJECTS]],
    ),
    ("capabilities for --heap", &[&environments::REWRITING, &[CAN_GENERATE_VM_OBJECT_ALLOC_EVENTS]]),
    ("capabilities for --locks", &[&environments::LOCKS]),
    ("capabilities for --cpu", &[&[CAN_GET_THREAD_CPU_TIME]]),
    ("capabilities for lines of code", &[&[CAN_GET_BYTECODES, CAN_GET_LINE_NUMBERS, CAN_GET_SOURCE_FILE_NAME]]),
];

/// A line for each: `yes`, or `without` if the JVM is recorded without it.
pub(super) fn lines(jvm: &'static Jvm, jni: Jni) -> Lines {
    let offered = jvm.env.get_potential_capabilities().unwrap_or_default();
    let of_needed = |lines: Lines, &(what, needed): &(&str, &[&[Capability]])| {
        let names = |is_offered: bool| {
            let some = needed.iter().copied().flatten().filter(|&&capability| offered.has(capability) == is_offered);
            some.map(|capability| capability.name()).collect::<Vec<_>>().join(", ")
        };
        match names(false) {
            missing if missing.is_empty() => lines.with("yes", format!("{what}: {}", names(true))),
            missing => lines.with("without", format!("{what}: the JVM does not offer {missing} now")),
        }
    };
    let lines = NEEDED.iter().fold(Lines::default(), of_needed);
    let reason = SafeMode::now(true, jvm.java);
    match jvm.hotspot(reason) {
        Some(hotspot) => with_layouts(lines, jvm, jni, hotspot),
        None => {
            let why = reason.and_then(SafeMode::message).unwrap_or_else(|| format!("{} is set", safe_mode::VARIABLE));
            lines.with("without", format!("the JVM's private memory: not read, so no --cpu, --wall or --ttsp; {why}"))
        }
    }
}

fn with_layouts(lines: Lines, jvm: &'static Jvm, jni: Jni, hotspot: &'static Hotspot) -> Lines {
    let known = |lines: Lines, what: &str, is_known: bool, without: &str| match is_known {
        true => lines.with("yes", format!("{what}: layout known, self-test passed")),
        false => lines.with("without", format!("{what}: unknown layout; {without}")),
    };
    hotspot.find_stacks(jvm.env, jni);
    hotspot.find_monitors(jvm.env, jni);
    let lines =
        known(lines, "return addresses", hotspot.stacks().is_some(), "every stack comes from JVMTI, which is slower");
    let lines = known(lines, "owners of locks", hotspot.monitors().is_some(), "some come from JVMTI");
    let lines = known(
        lines,
        "allocation buffers",
        hotspot.buffers(jvm.env, jni).is_some(),
        "samples are weighted by object size alone, which is less exact",
    );
    let lines = match hotspot.safepoints(jvm.env, jni) {
        Ok(_) => lines.with("yes", "symbols for --ttsp: found in libjvm"),
        Err(why) => lines.with("without", format!("symbols for --ttsp: {why}")),
    };
    let lines = match hotspot.perf_counters().and_then(|_| hotspot.class_states()) {
        Ok(_) => lines.with("yes", "counters and states of classes for --warmup: layout known"),
        Err(why) => lines.with("without", format!("counters and states of classes for --warmup: {why}")),
    };
    // The test compares lines.
    let walker = environments::with_lines(jvm.env, || hotspot.trusted_walker(jvm.env, jni, jvm.java).map(drop));
    match walker {
        Ok(()) => lines.with("yes", "stacks for --cpu and --wall: the walker passed its self-test"),
        Err(why) => lines.with("without", format!("stacks for --cpu and --wall: {why}")),
    }
}
