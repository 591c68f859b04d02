//! A recording, from its options to the end of its trace: which features it has, and in which order they begin and end.
//!
//! One JVM can be recorded several times, one recording after the other. If the agent is loaded at the start of the VM, the
//! VM's phases begin and end the first one (`phases`); all others begin and end by request (`attach`).

mod abilities;
mod attach;
mod command_line;
mod control;
mod copies;
mod ending;
mod native_exit;
mod native_memory;
mod out_of_memory;
mod outputs;
mod phases;
mod refusal;
mod request;
mod running;
mod status;
#[cfg(test)]
mod tests;
mod writer_thread;

pub use attach::takes_request;
pub use phases::stops_on_load;

use std::ffi::CStr;
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use agent_options::{Options, RawOptions};
use jvmti::sys::*;
use jvmti::{Collector, Jni, Vm, is_flag_on};

use super::counts::{self, Counts};
use super::cpu::Cpu;
use super::heap_dump::HeapDumps;
use super::heap_events::{self, HeapEvents};
use super::heap_histogram::HeapHistogram;
use super::locks::Locks;
use super::marked_methods::MarkedMethods;
use super::processor_time::ProcessorTimes;
use super::readiness::Readiness;
use super::requests::Requests;
use super::sampling::{Asker, Sampler, SamplingInterval};
use super::thread_dump::ThreadDumps;
use super::ttsp::Safepoints;
use super::warm_up::WarmUp;
use agent_base::agent_thread;
use agent_base::clock::Ticks;
use agent_base::events::event::Event;
use agent_base::ids::{RecordingNumber, ThreadIndex};
use agent_base::message::message;
use agent_base::mutex::Mutex;
use agent_core::core::context::{Entry, enter};
use agent_core::core::feature::{End, Feature};
use agent_core::core::source::AllocationSource;
use agent_core::core::{Core, Jvm, Plan, accounting};
use agent_core::instrument::{Instrumentation, class_file_load_hook, class_load};
use agent_core::vm::environments::NoEnvironment;
use agent_core::vm::{collections, environments, threads, virtual_threads};
use agent_trace::Section;
use ending::Ending;
use hotspot::Hotspot;
use hotspot::safe_mode::SafeMode;
use out_of_memory::OutOfMemoryExit;
use outputs::Outputs;
use refusal::Refusal;
use writer_thread::WriterThread;

/// The end of a recording waits for dead objects; if none is delivered for so long, it continues.
const MAX_WAIT_WITHOUT_DEATHS: Duration = Duration::from_secs(5);

const WRITES_ARCHIVE: &str = "it writes an archive of classes (CDS or AOT cache) or a list for one, which must hold nothing of a profiler; \
                              profile a JVM that only uses the archive";

/// The events that every recording needs; the first three come once.
const THREAD_EVENTS: [jvmtiEvent; 3] = [JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END, JVMTI_EVENT_CLASS_PREPARE];
const COLLECTION_EVENTS: [jvmtiEvent; 2] =
    [JVMTI_EVENT_GARBAGE_COLLECTION_START, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH];

/// The JVM of this process, once an agent was loaded into it.
static JVM: OnceLock<Jvm> = OnceLock::new();

/// A recording. It is never freed: hooks on other threads may still use it after its end.
pub(super) struct Recording {
    core: &'static Core,
    instrumentation: &'static Instrumentation,
    counts: Option<&'static Counts>,
    dumps: Option<&'static HeapDumps>,
    histogram: Option<&'static HeapHistogram>,
    sampler: Option<&'static Sampler>,
    /// Options that were changed since, as they were given.
    changed: Mutex<RawOptions>,
    /// Its regular files.
    files: Vec<PathBuf>,
    /// Whether the classes that rewritten code calls are defined, once that was tried.
    prepared: OnceLock<Result<(), String>>,
    writer: Mutex<Option<WriterThread>>,
    /// Flags of the VM that were set, and what they were.
    flags: Vec<(&'static CStr, bool)>,
    exit: OutOfMemoryExit,
    ending: Ending,
}

/// When a recording begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordingStart {
    /// With the VM.
    WithVm,
    /// In a VM that runs already.
    Attached,
}

fn feature<F: Feature>(feature: Option<&'static F>) -> Option<&'static dyn Feature> {
    feature.map(|feature| feature as &dyn Feature)
}

/// Makes a value that lives for ever.
fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

impl Recording {
    /// A recording with these options, whose trace has been begun. Nothing is reported yet.
    ///
    /// # Errors
    /// Why there is none. The JVM is as it was then, and so are files.
    pub(super) fn open(vm: Vm, options: Options, begins: RecordingStart) -> Result<&'static Recording, Refusal> {
        let jvm = jvm(vm).map_err(|error| error.to_string())?;
        refuse_archive(jvm, &options)?;
        // Files first: what they may refuse needs nothing of the JVM.
        let outputs = Outputs::open(&options)?;
        let files = outputs.files();
        Recording::make(jvm, options, outputs, begins).inspect(|_| native_exit::watch()).map_err(|problem| {
            // Nobody is to take them for what was recorded.
            files.iter().for_each(|file| drop(fs::remove_file(file)));
            Refusal::Circumstances(problem)
        })
    }

    fn make(
        jvm: &'static Jvm,
        mut options: Options,
        outputs: Outputs,
        begins: RecordingStart,
    ) -> Result<&'static Recording, String> {
        static RECORDINGS: AtomicU32 = AtomicU32::new(0);
        let source = AllocationSource::of(&options, jvm.java);
        if !source.tracks_objects() {
            options.lifetimes = false;
        }
        let safe_mode = SafeMode::now(options.internals, jvm.java);
        safe_mode.and_then(SafeMode::message).inspect(|text| message(text));
        let hotspot = jvm.hotspot(safe_mode);
        let is_late = begins == RecordingStart::Attached;
        let rewrites_early = !is_late && environments::rewrites_early(jvm, hotspot, source, &options);
        let interval = source.is_by_vm_event().then_some(heap_events::INTERVAL);
        let tags = environments::prepare(jvm, hotspot, &options, source, rewrites_early, interval)?;
        let sampling = SamplingInterval::new();
        sampling.ask(Asker::Callers, options.callers_bytes, |_| ());
        sampling.ask(Asker::Sampled, options.sampled_bytes, |_| ());
        if let Some(Err(why)) = sampling.finest().map(|bytes| environments::sample_allocations(&tags, bytes)) {
            let what = if options.sampled_bytes.is_some() { "allocations" } else { "callers" };
            message(&format!("cannot sample {what}: {why}"));
            (options.callers_bytes, options.sampled_bytes) = (None, None);
        }
        if !options.marks.is_empty()
            && let Err(why) = environments::take_breakpoints(jvm.env, command_line::has_debugger())
        {
            message(&format!("cannot mark methods: {why}"));
            options.marks.clear();
        }
        let flags = hotspot.map_or_else(Vec::new, |hotspot| set_flags(hotspot, source, &options, is_late));
        let plan = Plan {
            is_late,
            number: RecordingNumber(RECORDINGS.fetch_add(1, Ordering::Relaxed) + 1),
            hotspot,
            source,
            rewrites_early,
            trace_path: outputs.trace.path.clone(),
            tags,
            start: Ticks::now(),
            progress: outputs.trace.progress().clone(),
            options,
        };
        Ok(leak(Recording::with_features(leak(Core::new(jvm, plan)), sampling, outputs, flags)?))
    }

    fn with_features(
        core: &'static Core,
        sampling: SamplingInterval,
        outputs: Outputs,
        flags: Vec<(&'static CStr, bool)>,
    ) -> Result<Recording, String> {
        let options = &core.options;
        let dumps = options.dump.when.ever().then(|| leak(HeapDumps::new(core)));
        let counts = core.source.counts().then(|| leak(Counts::new(core)));
        let asked = options.callers_bytes.or(options.sampled_bytes);
        let sampler = asked.map(|_| leak(Sampler::new(core, sampling)));
        // From then on the VM's first classes call the hooks, which must work.
        if core.rewrites_early && !counts.is_some_and(|counts| counts.can_count()) {
            return Err(counts::NO_ROOM.into());
        }
        let reports = core.source.tracks_objects();
        let heap_events = reports.then(|| leak(HeapEvents::new(core)));
        let locks = options.locks.clone().map(|options| leak(Locks::new(core, options)));
        let histogram = options.live.then(|| leak(HeapHistogram::new(core)));
        let thread_dumps = options.thread_dump.map(|most| leak(ThreadDumps::new(core, most)));
        let safepoints = options.samples.ttsp.then(|| leak(Safepoints::new(core)));
        let warm_up = options.warm_up.then(|| leak(WarmUp::new(core)));
        let requests = options.requests.any().then(|| leak(Requests::new(core)));
        let readiness = options.readiness.map(|kind| leak(Readiness::new(core, kind, requests, warm_up)));
        let cpu = options.samples.threads().then(|| leak(Cpu::new(core)));
        let times = (cpu.is_some() || locks.is_some()).then(|| leak(ProcessorTimes::new(core)));
        let marks = (!options.marks.is_empty()).then(|| leak(MarkedMethods::new(core)));
        // In the order in which they are called: times of processors next to the samples that are held against them.
        let features: Vec<&'static dyn Feature> = [
            feature(dumps),
            feature(thread_dumps),
            feature(heap_events),
            feature(counts),
            feature(locks),
            feature(histogram),
            feature(sampler),
            feature(safepoints),
            feature(warm_up),
            feature(requests),
            feature(readiness),
            feature(times),
            feature(cpu),
            feature(marks),
        ]
        .into_iter()
        .flatten()
        .collect();
        features.iter().for_each(|feature| feature.install());
        // LockSupport gets the hooks for parking before those for the heap.
        let mut rewriters: Vec<_> = features.iter().filter_map(|feature| feature.rewriter()).collect();
        rewriters.sort_by_key(|rewriter| rewriter.rewrites_all());
        let instrumentation = leak(Instrumentation::new(core, rewriters.into()));
        core.install(features.into());
        instrumentation.install();
        set_callbacks(core)?;
        let files = outputs.files();
        let writer = writer_thread::start(core, outputs, move |asker, log| {
            let sections: [Option<Box<dyn Section>>; 12] = [
                locks.map(|locks| locks.section(asker, log)),
                times.map(|times| times.section()),
                marks.map(|marks| marks.section()),
                dumps.map(|dumps| dumps.section()),
                counts.map(|counts| counts.section(sampler)),
                sampler.map(|sampler| sampler.section(counts.is_some())),
                histogram.map(|histogram| histogram.section()),
                safepoints.map(|safepoints| safepoints.section()),
                warm_up.map(|warm_up| warm_up.section()),
                requests.map(|requests| requests.section()),
                thread_dumps.map(|thread_dumps| thread_dumps.section()),
                cpu.map(|cpu| cpu.section()),
            ];
            sections.into_iter().flatten().collect()
        })?;
        let writer = Mutex::new(Some(writer));
        let (changed, prepared) = (Mutex::default(), OnceLock::new());
        let (exit, ending) = Default::default();
        Ok(Recording {
            core,
            instrumentation,
            counts,
            dumps,
            histogram,
            sampler,
            changed,
            files,
            prepared,
            writer,
            flags,
            exit,
            ending,
        })
    }

    /// Defines the classes that rewritten code calls; from then on code is rewritten.
    ///
    /// # Errors
    /// What went wrong: one sentence.
    fn prepare(&self, jni: Jni) -> Result<(), String> {
        let prepare = || {
            self.core.features().try_for_each(|feature| feature.prepare(jni))?;
            self.instrumentation.set_ready(jni)
        };
        self.prepared.get_or_init(prepare).clone()
    }

    /// Begins to report, at VMInit or later.
    ///
    /// # Errors
    /// Why nothing is reported: one sentence.
    pub(super) fn begin(&'static self, jni: Jni) -> Result<(), String> {
        self.prepare(jni)?;
        let core = self.core;
        self.name_unwanted_flags(jni);
        self.keep_no_garbage(jni);
        // Before the agent's own threads are started, which are not to be announced.
        let existing = core.jvm.env.get_all_threads();
        if core.is_late {
            drop(existing);
            self.initialise(jni).map_err(|error| format!("nothing is recorded: {error}"))?;
            self.begin_among_threads(jni);
            return Ok(());
        }
        jni.expect_local_refs(existing.as_ref().map_or(0, |threads| threads.len()));
        self.initialise(jni).map_err(|error| format!("nothing is recorded: {error}"))?;
        heap_events::close_first_buffer(core, jni);
        if let Ok(existing) = &existing {
            // One of them may have started meanwhile.
            self.announce_threads(jni, existing, |_, _| (), |_, _| ());
        }
        self.announce_beginning(jni);
        if core.records_allocations() {
            accounting::begin(core, jni);
        }
        core.set_reporting(true);
        core.features().for_each(|feature| feature.resume(jni));
        Ok(())
    }

    /// Begins to report while the program's threads run. Threads that start meanwhile are found here, or announce themselves.
    fn begin_among_threads(&self, jni: Jni) {
        let core = self.core;
        if core.records_allocations() {
            accounting::prepare(core, jni);
        }
        if let Some(histogram) = self.histogram {
            histogram.count_before(jni);
        }
        self.find_threads(jni);
        core.set_reporting(true);
        self.find_threads(jni);
        self.announce_beginning(jni);
        core.features().for_each(|feature| feature.resume(jni));
    }

    /// Reports the threads that exist and were not announced yet.
    fn find_threads(&self, jni: Jni) {
        let core = self.core;
        let Ok(existing) = core.jvm.env.get_all_threads() else { return };
        jni.expect_local_refs(existing.len());
        let before = |thread, index| {
            if !core.is_reporting() {
                core.before.add_thread();
            }
            if core.records_allocations() {
                // Next to the features, which may count from then on: the thread goes on meanwhile.
                // SAFETY: a live reference to the thread.
                unsafe { accounting::begin_thread(core, jni, thread, index) };
            }
        };
        let after = |thread, index| {
            if core.records_allocations() {
                // SAFETY: a live reference to the thread.
                unsafe { accounting::correct_beginning(core, jni, thread, index) };
            }
        };
        self.announce_threads(jni, &existing, before, after);
    }

    /// Reports those of the threads, without the agent's own, that were not announced yet; `before` is called in front of the features,
    /// `after` behind them. Their references are deleted.
    fn announce_threads(
        &self,
        jni: Jni,
        existing: &[jthread],
        before: impl Fn(jthread, ThreadIndex),
        after: impl Fn(jthread, ThreadIndex),
    ) {
        let core = self.core;
        let now = Ticks::now();
        enter(
            core,
            jni,
            || now,
            |local| {
                for &thread in existing {
                    // SAFETY: live local references, each deleted when it is done with.
                    unsafe {
                        if !agent_thread::is_own(jni, thread) {
                            let index = core.jvm.threads.resolve(jni, thread, now);
                            if core.thread_found(jni, thread, index, || before(thread, index)) {
                                after(thread, index);
                                local.thread.push(Event::ThreadStart(index), now);
                            }
                        }
                        jni.delete_local_ref(thread);
                    }
                }
            },
        );
    }

    /// Reports that reporting begins.
    fn announce_beginning(&self, jni: Jni) {
        enter(self.core, jni, Ticks::now, |local| {
            let carrier = local.thread.carrier;
            local.thread.push(Event::InitDone(carrier), Ticks::now());
        });
    }

    /// In safe mode says which flags of the JIT the user has to switch off, if they are on.
    fn name_unwanted_flags(&self, jni: Jni) {
        let Core { hotspot: None, source, options, is_late, .. } = self.core else { return };
        let is_on = |flag: &&&CStr| is_flag_on(jni, flag) == Some(true);
        let flags = source.unwanted_flags(options.heap, *is_late).iter().filter(is_on);
        let flags: Vec<_> = flags.map(|flag| format!("-XX:-{}", flag.to_string_lossy())).collect();
        if !flags.is_empty() {
            message(&format!(
                "the JIT may remove objects, and safe mode does not change its flags: add {} yourself",
                flags.join(" ")
            ));
        }
    }

    /// In safe mode only JNI looks at weak references, and with `-Xcheck:jni` and ZGC, which marks meanwhile, that counts as a
    /// use: no object would ever die.
    fn keep_no_garbage(&self, jni: Jni) {
        let core = self.core;
        let is_on = |flag| is_flag_on(jni, flag) == Some(true);
        let looks = core.keeps_weak_refs() || core.options.sampled_bytes.is_some();
        if core.hotspot.is_none() && looks && is_on(c"CheckJNICalls") && is_on(c"UseZGC") {
            core.leave_deaths_unseen();
            message(
                "object deaths are not recorded: in safe mode, with ZGC and -Xcheck:jni, checking objects would keep \
                 them alive",
            );
        }
    }

    fn initialise(&'static self, jni: Jni) -> Result<(), String> {
        let core = self.core;
        let env = core.jvm.env;
        core.jvm.classes.find_permanent_loaders(jni)?;
        core.jvm.threads.find_fields(jni)?;
        core.register_threads(jni);
        core.jvm.classes.find_modules(jni);
        if core.watches_collections() {
            agent_thread::start(env, jni, c"Martini control", control::run)
                .map_err(|e| format!("cannot start the agent thread: {e}"))?;
        }
        if core.options.frames() > 0
            || core.options.locks.as_ref().is_some_and(|locks| locks.stack_depth > 0)
            || core.source.counts()
            || core.options.sampled_bytes.is_some()
        {
            core.find_stack_layout(jni);
        }
        self.exit.take_over(core)?;
        core.features().try_for_each(|feature| feature.begin(jni))?;
        env.enable_events(&THREAD_EVENTS).map_err(|e| e.to_string())?;
        if core.follows_virtual_threads() {
            virtual_threads::enable(env);
        }
        if core.watches_collections() {
            core.tags.envs()[0].enable_events(&COLLECTION_EVENTS).map_err(|e| e.to_string())?;
        }
        if self.instrumentation.rewrites_all() {
            env.enable_event(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK).map_err(|e| e.to_string())?;
        }
        self.instrumentation.begin(jni)
    }

    /// Ends the recording: reports what is left, and has the end of the trace written.
    pub(super) fn end(&self, jni: Jni, end: End) {
        let core = self.core;
        self.exit.give_back(core);
        Entry::go_on(core);
        if core.is_reporting() {
            while let Some(feature) = core.features().nth(self.ending.next_feature()) {
                feature.stop(jni, end);
            }
            if core.records_allocations() && self.ending.begins_accounts() {
                accounting::end(core, jni);
            }
        }
        if self.ending.begins_rest() {
            self.finish(jni, end);
        }
    }

    /// Whether a request waits for a collection that does not come, since the VM has stopped its collector.
    pub(super) fn waits_in_vain(&self, jni: Jni) -> bool {
        self.core.is_collecting() && self.core.jvm.collector(jni) == Collector::Concurrent
    }

    fn finish(&self, jni: Jni, end: End) {
        let core = self.core;
        core.set_reporting(false);
        core.features().for_each(|feature| feature.stopped(jni, end));
        core.living.close();
        core.collections.wait_until_processed(MAX_WAIT_WITHOUT_DEATHS);
        core.collections.close();
        core.stop_reporting();
        if end.is_survived() {
            self.instrumentation.stop();
            if core.follows_virtual_threads() {
                virtual_threads::disable(core.jvm.env);
            }
            core.jvm.env.disable_events(&THREAD_EVENTS);
            core.jvm.env.disable_events(&[JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, JVMTI_EVENT_RESOURCE_EXHAUSTED]);
            core.tags.envs()[0].disable_events(&COLLECTION_EVENTS);
            core.weak_refs.end(jni);
        }
        let writer = self.writer.lock().take();
        let has_written = writer.is_none_or(|writer| writer.finish(core, jni));
        if end.is_survived() {
            // The trace is whole by now, whatever happens to the VM.
            self.restore(jni);
            // A writer that was left behind may go on at any time.
            if has_written {
                core.features().for_each(|feature| feature.release(jni));
                core.release(jni);
                native_memory::give_back();
            }
        }
    }

    /// The VM goes on as it was before the recording.
    fn restore(&self, jni: Jni) {
        let core = self.core;
        self.instrumentation.restore(jni);
        if let Some(hotspot) = core.hotspot {
            for &(flag, before) in &self.flags {
                // SAFETY: as in `set_flags`.
                unsafe { hotspot.set_bool_flag(flag, before) };
            }
        }
        environments::give_back(core.jvm.env, &core.tags);
    }
}

/// Refuses a JVM that writes an archive: it is to be the one that is written without agent, and HotSpot crashes over classes that were
/// rewritten meanwhile.
///
/// # Errors
/// It is one: a sentence.
fn refuse_archive(jvm: &Jvm, options: &Options) -> Result<(), String> {
    let hotspot = jvm.hotspot(SafeMode::now(options.internals, jvm.java));
    match hotspot.map_or_else(command_line::writes_archive, Hotspot::writes_archive) {
        true => Err(WRITES_ARCHIVE.into()),
        false => Ok(()),
    }
}

/// Sets the flags of the VM on which the recording depends, and returns those that it has changed, with what they were.
fn set_flags(
    hotspot: &Hotspot,
    source: AllocationSource,
    options: &Options,
    is_late: bool,
) -> Vec<(&'static CStr, bool)> {
    let mut changed = Vec::new();
    for &flag in source.unwanted_flags(options.heap, is_late) {
        if is_late && flag == c"EliminateAutoBox" && hotspot.needs_auto_box() {
            message("boxes that the JIT removes are missing: start the JVM with -XX:-EliminateAutoBox");
            continue;
        }
        // SAFETY: C2 looks at these flags when it begins to compile, and late the VM makes what was removed in spite of them.
        match unsafe { hotspot.set_bool_flag(flag, false) } {
            Some(before) => changed.push((flag, before)),
            None => {
                let flag = flag.to_string_lossy();
                message(&format!(
                    "cannot change this JVM's flag {flag}, so the JIT may remove objects: add -XX:-{flag} yourself"
                ));
            }
        }
    }
    if options.samples.any() {
        // SAFETY: the compilers look at this flag at each compilation. Whether it took is looked at later.
        let before = unsafe { hotspot.set_bool_flag(c"DebugNonSafepoints", true) };
        changed.extend(before.map(|before| (c"DebugNonSafepoints", before)));
    }
    changed
}

/// The JVM's part of the agent, which is made once.
fn jvm(vm: Vm) -> Result<&'static Jvm, NoEnvironment> {
    if let Some(jvm) = JVM.get() {
        return Ok(jvm);
    }
    let made = Jvm::new(vm, environments::make(vm)?).map_err(NoEnvironment::Unsupported)?;
    let callbacks = jvmtiEventCallbacks { VMDeath: Some(phases::vm_death), ..jvmtiEventCallbacks::default() };
    // SAFETY: as in `set_callbacks`, which adds to it.
    unsafe { made.env.set_event_callbacks(&callbacks) }
        .map_err(|error| NoEnvironment::Unsupported(error.to_string()))?;
    Ok(JVM.get_or_init(|| made))
}

fn set_callbacks(core: &'static Core) -> Result<(), String> {
    let mut main = jvmtiEventCallbacks {
        VMStart: Some(phases::vm_start),
        VMInit: Some(phases::vm_init),
        VMDeath: Some(phases::vm_death),
        ResourceExhausted: Some(out_of_memory::resource_exhausted),
        ClassFileLoadHook: Some(class_file_load_hook),
        ClassLoad: Some(class_load),
        ClassPrepare: Some(threads::class_prepare),
        ThreadStart: Some(threads::thread_start),
        ThreadEnd: Some(threads::thread_end),
        VirtualThreadEnd: Some(virtual_threads::end),
        ..jvmtiEventCallbacks::default()
    };
    let mut objects = jvmtiEventCallbacks {
        GarbageCollectionStart: Some(collections::gc_start),
        GarbageCollectionFinish: Some(collections::gc_finish),
        ..jvmtiEventCallbacks::default()
    };
    core.features().for_each(|feature| feature.callbacks(&mut main, &mut objects));
    // SAFETY: the callbacks fit their events, do not unwind, and look at nothing but what lives for ever.
    unsafe {
        core.jvm.env.set_event_callbacks(&main).map_err(|e| e.to_string())?;
        core.tags.envs().iter().try_for_each(|env| env.set_event_callbacks(&objects)).map_err(|e| e.to_string())
    }
}
