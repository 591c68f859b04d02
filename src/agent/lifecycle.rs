//! From `Agent_OnLoad` to VMDeath: what is switched on when (design page, section 4).

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_void};
use std::path::Path;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, Once, OnceLock};
use std::time::Duration;

use jvmti::jni_sys::{JNIEnv, JavaVM, jclass, jvalue};
use jvmti::sys::*;
use jvmti::{Allocated, Env, Jni, JniError, Vm as JavaVirtualMachine, guard};

use super::accounting::{self, Accounting};
use super::arrays::{measure_arrays, number_primitive_arrays};
use super::buffer::{Pool, RECORD_BYTES};
use super::classes::Classes;
use super::clock::{Clock, Ticks};
use super::counts::{self, Counts, Look, Watch};
use super::dump::{self, Dumps, Reason};
use super::engine::Engine;
use super::environments::{self, Environments};
use super::event::Event;
use super::gc::{GcNumber, GcQueue};
use super::java_thread::JavaThread;
use super::lives::Lives;
use super::methods::Methods;
use super::output::Output;
use super::proxy::Proxy;
use super::stacks::Stacks;
use super::start::{Stage, StartUp};
use super::threads::{self, Threads};
use super::transform::Portion;
use super::waits::{Scope, Waits, take_snapshot};
use super::writer::Writer;
use super::{
    AGENT, Agent, GlobalRef, Vm, head, heap, live, message, return_addresses, sampler, transform, virtual_threads,
};
use agent_options::{Format, Options};

/// If nothing at all is found dead for so long, nothing more is waited for.
const LONGEST_SILENCE: Duration = Duration::from_secs(5);

/// The JVM starts with the agent. False, after a message, if it must not start.
///
/// # Safety
/// Called by the JVM with its VM and a NUL-terminated or null option string.
pub(crate) unsafe fn on_load(vm: *mut JavaVM, given: *const c_char) -> bool {
    // SAFETY: by the caller's promise.
    let (vm, given) = unsafe { (JavaVirtualMachine::from_raw(vm), head::option_string(given)) };
    match load(vm, &given) {
        Ok(()) => true,
        Err(problem) => {
            message(&problem);
            false
        }
    }
}

fn load(vm: JavaVirtualMachine, given: &str) -> Result<(), String> {
    let mut options = agent_options::parse(given).map_err(|e| e.to_string())?;
    if AGENT.get().is_some() {
        return Err("the agent is loaded twice; leave one -agentpath out".into());
    }
    let env = environments::make(vm)?;
    let java = java_version(env).ok_or("this JVM does not tell its version; JDK 11 to 25 are supported")?;
    let engine = Engine::of(&options, java);
    if !engine.follows() {
        options.lifetimes = false;
    }
    for flag in engine.unwanted_flags(options.heap) {
        // SAFETY: C2 looks at these flags at each compilation, and there is none yet.
        if unsafe { jvmti::set_bool_flag(flag, false) }.is_none() {
            let flag = flag.to_string_lossy();
            message(&format!(
                "this JVM hides its flag {flag}, so the JIT may remove objects: add -XX:-{flag} yourself"
            ));
        }
    }
    let interval = if engine.samples() { Some(sampler::INTERVAL) } else { options.estimate_bytes };
    let early = environments::rewrites_early(env, java, engine, options.locks.as_ref());
    let environments = Environments::make(vm, env, engine, early, interval, options.locks.as_ref(), options.dump.when)?;
    let output = Output::open(&options.file, options.format)?;
    let log = options.locks.as_ref().and_then(|locks| locks.log.as_deref()).map(open_log).transpose()?;
    let start = Ticks::now();
    let waits = options.locks.clone().map(|locks| Waits::new(locks, vm, start));
    install(environments, (engine, early), java, options, (output, log), start, waits)
}

fn install(
    Environments { env, tags }: Environments,
    (engine, early): (Engine, bool),
    java: u32,
    options: Options,
    outputs: (Output, Option<Output>),
    start: Ticks,
    waits: Option<Waits>,
) -> Result<(), String> {
    let pool = Pool::new(options.buffer_bytes / RECORD_BYTES);
    let counts = (engine == Engine::Counts).then(|| Counts::new(options.buffer_bytes, options.estimate_bytes));
    // Once the first classes have hooks the VM cannot do without what they call.
    if early && !counts.as_ref().is_some_and(Counts::can_count) {
        return Err(counts::NO_ROOM.into());
    }
    let agent = AGENT.get_or_init(|| Agent {
        counts,
        live: OnceLock::new(),
        gc: GcQueue::new(options.dump.when.ever()),
        lives: Lives::default(),
        tags,
        env,
        dumps: Dumps::new(options.dump.when.ever()),
        options,
        trace_path: outputs.0.path.clone(),
        java,
        engine,
        early,
        clock: Clock::start(),
        start,
        waits,
        ids: AtomicU64::new(1),
        classes: Classes::new(),
        methods: Methods::new(),
        stacks: Stacks::new(),
        return_addresses: OnceLock::new(),
        threads: Threads::new(),
        accounting: Accounting::default(),
        control: StartUp::default(),
        pool,
        prepared: Once::new(),
        vm: OnceLock::new(),
        reporting: AtomicBool::new(false),
        failures: Mutex::new(BTreeMap::new()),
        transform: transform::Counters::new(early),
        writer: Mutex::new(None),
        writer_thread: OnceLock::new(),
    });
    let mut callbacks = jvmtiEventCallbacks {
        VMStart: Some(vm_start),
        VMInit: Some(vm_init),
        VMDeath: Some(vm_death),
        ClassFileLoadHook: Some(transform::class_file_load_hook),
        ClassPrepare: Some(class_prepare),
        ClassLoad: Some(class_load),
        ThreadStart: Some(thread_start),
        ThreadEnd: Some(thread_end),
        VirtualThreadEnd: Some(virtual_threads::end),
        ResourceExhausted: Some(dump::resource_exhausted),
        ..jvmtiEventCallbacks::default()
    };
    let heap_callbacks = jvmtiEventCallbacks {
        VMObjectAlloc: Some(if engine == Engine::Counts { counts::vm_object_alloc } else { heap::vm_object_alloc }),
        SampledObjectAlloc: Some(if engine == Engine::Counts {
            counts::sampled
        } else {
            sampler::sampled_object_alloc
        }),
        GarbageCollectionStart: Some(heap::gc_start),
        GarbageCollectionFinish: Some(heap::gc_finish),
        ..jvmtiEventCallbacks::default()
    };
    if agent.waits.is_some() {
        Waits::add_callbacks(&mut callbacks);
    }
    // SAFETY: the callbacks fit their events, do not unwind, and look at nothing but the agent, which lives for ever.
    unsafe {
        env.set_event_callbacks(&callbacks).map_err(|e| e.to_string())?;
        for shard in agent.tags.envs() {
            shard.set_event_callbacks(&heap_callbacks).map_err(|e| e.to_string())?;
        }
    }
    // The hook cannot be switched on at VMStart, only here or from VMInit on; unless classes are rewritten early it does nothing until
    // what they call is defined.
    let mut events = vec![JVMTI_EVENT_VM_START, JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH];
    if engine.rewrites() {
        events.push(JVMTI_EVENT_CLASS_FILE_LOAD_HOOK);
    }
    for event in events {
        env.enable_event(event).map_err(|e| e.to_string())?;
    }
    start_writer(agent, outputs)
}

/// The lock log: text, in a file of its own.
fn open_log(path: &Path) -> Result<Output, String> {
    Output::open(path, Format::Xml).map_err(|problem| format!("locklog: {problem}"))
}

/// Ends reporting however the writer ends, lest the program wait for it.
struct Closes(&'static Agent);

impl Drop for Closes {
    fn drop(&mut self) {
        self.0.stop_reporting();
    }
}

/// Starts the writer with all signals blocked: those are the JVM's business.
fn start_writer(agent: &'static Agent, (output, log): (Output, Option<Output>)) -> Result<(), String> {
    let writer = Writer::begin(agent, output, log);
    // SAFETY: all-zero is a valid signal set, and the calls fill and read only the two given.
    let handle = unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let handle = std::thread::Builder::new().name("martini-writer".into()).spawn(move || {
            let _closes = Closes(agent);
            writer.run();
        });
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, null_mut());
        handle
    };
    let handle = handle.map_err(|e| format!("cannot start the thread that writes the trace: {e}"))?;
    let _ = agent.writer_thread.set(handle.thread().clone());
    *agent.writer.lock().map_err(|e| e.to_string())? = Some(handle);
    Ok(())
}

/// The feature version, such as 17.
fn java_version(env: Env) -> Option<u32> {
    let version = env.get_system_property(c"java.vm.specification.version").ok()?;
    std::str::from_utf8(&version).ok()?.parse().ok()
}

/// # Safety
/// Called by the VM.
unsafe extern "system" fn vm_start(_: *mut jvmtiEnv, jni: *mut JNIEnv) {
    guard(|| {
        let Some(agent) = Agent::get() else { return };
        // SAFETY: the VM passes this thread's environment.
        let jni = unsafe { Jni::from_raw(jni) };
        match agent.counts.as_ref().filter(|_| agent.early) {
            // Measuring initialises `Object`, whose initialiser has no site; no other class may be initialised before its turn.
            Some(counts) => {
                if let Err(error) = counts.define(jni, agent.java, &measure_arrays(agent, jni)) {
                    message(&format!("MartiniCounts cannot be defined, which all classes need by now: {error}"));
                }
            }
            None => agent.prepared.call_once(|| prepare(agent, jni)),
        }
    });
}

/// Defines the classes that rewritten code calls; from then on code is rewritten.
fn prepare(agent: &'static Agent, jni: Jni) {
    let mut vm = Vm::default();
    if agent.engine.rewrites() {
        match Proxy::define(jni) {
            Ok(proxy) => vm.proxy = Some(proxy),
            Err(error) => return message(&format!("HeapProxy cannot be defined, so nothing is reported: {error}")),
        }
    }
    if agent.engine.has_hooks() || agent.counts.is_some() || agent.options.dump.when.ever() {
        vm.layouts = measure_arrays(agent, jni);
    }
    let mut rewrites = vm.proxy.is_some();
    if let Some(waits) = agent.waits.as_ref().filter(|waits| waits.options.juc) {
        match waits.define_parking(jni) {
            Ok(()) => rewrites = true,
            Err(error) => {
                return message(&format!("MartiniParking cannot be defined, so nothing is reported: {error}"));
            }
        }
    }
    if let Some(counts) = &agent.counts {
        let defined = if agent.early { Ok(()) } else { counts.define(jni, agent.java, &vm.layouts) };
        if let Err(error) = defined.and_then(|()| counts.bind(jni)) {
            return message(&format!("MartiniCounts cannot be defined, so nothing is counted: {error}"));
        }
    }
    let _ = agent.vm.set(vm);
    agent.transform.ready.store(rewrites, Ordering::Release);
}

/// # Safety
/// Called by the VM.
unsafe extern "system" fn vm_init(_: *mut jvmtiEnv, jni: *mut JNIEnv, _: jthread) {
    guard(|| {
        let Some(agent) = Agent::get() else { return };
        // SAFETY: the VM passes this thread's environment.
        let jni = unsafe { Jni::from_raw(jni) };
        agent.prepared.call_once(|| prepare(agent, jni));
        let Some(vm) = agent.vm.get() else { return };
        // Before the agent's own thread is one of them.
        let there = agent.env.get_all_threads();
        if let Err(error) = initialise(agent, vm, jni) {
            message(&format!("nothing is reported: {error}"));
            return;
        }
        if agent.engine.samples() && !sampler::close_buffer(jni) {
            agent.count_lost("the first thread's allocation buffer stays open", 1);
        }
        announce_threads(agent, jni, &there);
        if agent.engine != Engine::Off {
            accounting::begin(agent, jni);
        }
        agent.reporting.store(true, Ordering::SeqCst);
        if let Some(proxy) = &vm.proxy {
            proxy.set_jvm_init(jni, true);
        }
        if let Some(counts) = &agent.counts {
            counts.begin_counting(jni);
        }
        if let Some(waits) = &agent.waits {
            waits.set_parking(jni, true);
        }
    });
}

fn initialise(agent: &'static Agent, vm: &Vm, jni: Jni) -> Result<(), String> {
    let jvmti = |e: jvmti::Error| e.to_string();
    let _ = vm.permanent_loaders.set(permanent_loaders(jni).map_err(|e| cleared(jni, e))?);
    if let Some(proxy) = vm.proxy.as_ref().filter(|_| agent.engine.has_hooks()) {
        number_primitive_arrays(agent, proxy, jni)?;
    }
    // Before thread events are switched on: the agent's own thread is no thread of the program.
    if agent.engine != Engine::Off || agent.options.dump.when.ever() {
        start_thread(agent, jni, c"Martini control", control)
            .map_err(|e| format!("the agent thread cannot be started: {e}"))?;
        agent.control.wait_for(Stage::Up);
    }
    let dumps = agent.options.dump.when;
    if dumps.ever() {
        start_thread(agent, jni, c"Martini dump", dump::run)
            .map_err(|e| format!("the thread that dumps the heap cannot be started: {e}"))?;
    }
    if dumps.out_of_memory {
        agent.env.enable_event(JVMTI_EVENT_RESOURCE_EXHAUSTED).map_err(jvmti)?;
    }
    for event in [JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END, JVMTI_EVENT_CLASS_PREPARE] {
        agent.env.enable_event(event).map_err(jvmti)?;
    }
    if let Some(counts) = &agent.counts {
        counts.watch_classes(agent, jni)?;
        counts.watch_constants(agent, jni)?;
    }
    let waits = agent.waits.as_ref();
    let walks = agent.options.frames() > 0
        || waits.is_some_and(|waits| waits.options.stack_depth > 0)
        || agent.counts.is_some();
    if agent.counts.is_some() {
        agent.env.enable_event(JVMTI_EVENT_CLASS_LOAD).map_err(jvmti)?;
    }
    if walks {
        let current = JavaThread::current(agent.env, jni);
        let _ = agent.return_addresses.set(current.and_then(|current| return_addresses::Layout::find(jni, current)));
    }
    if agent.engine.follows() || waits.is_some() {
        virtual_threads::enable(agent.env);
    }
    let allocations = [
        (JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, agent.engine.samples() || agent.options.estimate_bytes.is_some()),
        (JVMTI_EVENT_VM_OBJECT_ALLOC, agent.engine.has_hooks() || agent.counts.is_some()),
    ];
    let allocations = allocations.into_iter().filter(|(_, wanted)| *wanted).map(|(event, _)| event);
    let collections = [JVMTI_EVENT_GARBAGE_COLLECTION_START, JVMTI_EVENT_GARBAGE_COLLECTION_FINISH];
    let collections = collections.into_iter().filter(|_| agent.engine != Engine::Off || agent.options.dump.when.ever());
    for event in allocations.chain(collections) {
        agent.tags.envs()[0].enable_event(event).map_err(jvmti)?;
    }
    if let Some(waits) = waits {
        waits.begin(agent, jni)?;
    }
    agent.transform.direct.store(true, Ordering::Release);
    if !agent.engine.rewrites() {
        agent.control.reach(Stage::Shared);
        if waits.is_some_and(|waits| waits.options.juc) {
            transform::retransform_lock_support(agent, jni)
                .map_err(|e| format!("LockSupport cannot be rewritten: {e}"))?;
        }
        return Ok(());
    }
    // Most of the start-up cost: two threads share it where the VM locks the classes it redefines. The program waits: a class
    // that is loaded while others are redefined can crash the VM (`transform::meet_before_the_end`).
    if agent.early {
        agent.control.reach(Stage::Shared);
    } else if agent.engine == Engine::VmAndEscape {
        agent.control.reach(Stage::Shared);
        transform::retransform_loaded(agent, jni, Portion::Fewest);
    } else if agent.java >= 17 {
        agent.control.reach(Stage::Share);
        transform::retransform_loaded(agent, jni, Portion::Even);
        if agent.control.wait_for(Stage::Shared) != Stage::Shared {
            agent.transform.refuse("half of the classes loaded before VMInit: no answer".into());
        }
    } else {
        transform::retransform_loaded(agent, jni, Portion::All);
        agent.control.reach(Stage::Shared);
    }
    Ok(())
}

/// What went wrong, and no exception is pending any more.
pub(crate) fn cleared(jni: Jni, error: JniError) -> String {
    jni.exception_clear();
    error.to_string()
}

/// The platform and the system class loader.
fn permanent_loaders(jni: Jni) -> Result<Vec<GlobalRef>, JniError> {
    let loader_class = jni.find_class(c"java/lang/ClassLoader")?;
    // SAFETY: a live class, and static methods of it that take nothing; the locals are deleted at once.
    unsafe {
        let mut found = Vec::new();
        for name in [c"getPlatformClassLoader", c"getSystemClassLoader"] {
            let method = jni.get_static_method_id(loader_class, name, c"()Ljava/lang/ClassLoader;")?;
            let loader = jni.call_static_object_method(loader_class, method, &[])?;
            found.push(GlobalRef(jni.new_global_ref(loader)));
            jni.delete_local_ref(loader);
        }
        jni.delete_local_ref(loader_class);
        Ok(found)
    }
}

/// Announces the threads that are there already, and that reporting begins.
fn announce_threads(agent: &'static Agent, jni: Jni, there: &jvmti::Result<Allocated<jthread>>) {
    let now = Ticks::now();
    threads::with_context(agent, jni, now, |context| {
        for &thread in there.iter().flat_map(|threads| threads.iter()) {
            // SAFETY: live local references, each deleted when it is done with.
            unsafe {
                let index = agent.threads.resolve(agent, jni, thread, now);
                if let Some(waits) = &agent.waits {
                    waits.enter(jni, thread, index);
                }
                if let Some(counts) = &agent.counts {
                    counts.expect(jni, index, thread);
                }
                context.push(agent, Event::ThreadStart(index), now);
                jni.delete_local_ref(thread);
            }
        }
        context.push(agent, Event::InitDone(context.carrier), now);
    });
}

/// Starts a thread of the agent inside the VM.
fn start_thread(agent: &Agent, jni: Jni, name: &CStr, body: jvmtiStartFunction) -> Result<(), String> {
    let java = |e: JniError| cleared(jni, e);
    // SAFETY: live local references, deleted at the end; `body` is `control` or `dump::run`, which take no argument.
    unsafe {
        let class = jni.find_class(c"java/lang/Thread").map_err(java)?;
        let constructor = jni.get_method_id(class, c"<init>", c"(Ljava/lang/String;)V").map_err(java)?;
        let name = jni.new_string_utf(name).map_err(java)?;
        let thread = jni.new_object(class, constructor, &[jvalue { l: name }]).map_err(java)?;
        let started = agent.env.run_agent_thread(thread, body, null_mut(), JVMTI_THREAD_NORM_PRIORITY);
        for local in [class, name, thread] {
            jni.delete_local_ref(local);
        }
        started.map_err(|e| e.to_string())?;
    }
    Ok(())
}

/// Looks which objects are dead after each collection, and at the start takes its share of the classes.
///
/// # Safety
/// Called by the VM, on the agent's thread.
unsafe extern "system" fn control(_: *mut jvmtiEnv, jni: *mut JNIEnv, _: *mut c_void) {
    guard(|| {
        let (Some(agent), Some(vm)) = (Agent::get(), Agent::get().and_then(|a| a.vm.get())) else { return };
        // SAFETY: the VM passes this thread's environment.
        let jni = unsafe { Jni::from_raw(jni) };
        threads::mute();
        agent.control.reach(Stage::Up);
        if agent.control.wait_for(Stage::Share) == Stage::Share {
            transform::retransform_loaded(agent, jni, Portion::Odd);
            agent.control.reach(Stage::Shared);
        }
        let mut seen = GcNumber(0);
        let mut watch = agent.counts.as_ref().map(|counts| (Watch::begin(agent), counts));
        while let Some(number) = agent.gc.wait_for_finish(seen, watch.as_ref().map(|_| Watch::TURN)) {
            if let Some((watch, counts)) = &mut watch {
                watch.look(agent, counts, jni);
                if Agent::reporting().is_none() {
                    counts.release_unloadable(jni);
                }
            }
            if number == seen {
                continue;
            }
            dump::collected(agent, seen, number);
            seen = number;
            if let Some(proxy) = vm.proxy.as_ref().filter(|_| agent.engine.has_hooks()) {
                proxy.purge(jni);
            }
            if let Some(counts) = &agent.counts {
                counts.settle_all(agent, jni);
                counts.resolve_meanwhile(agent, jni);
            }
            agent.lives.census().take(&agent.lives, jni, agent.options.lifetimes.then_some(&agent.gc));
            agent.gc.settle(number);
        }
    });
}

/// # Safety
/// Called by the VM.
unsafe extern "system" fn vm_death(_: *mut jvmtiEnv, jni: *mut JNIEnv) {
    guard(|| {
        let Some(agent) = Agent::get() else { return };
        // SAFETY: the VM passes this thread's environment.
        let jni = unsafe { Jni::from_raw(jni) };
        threads::unmute();
        if Agent::reporting().is_some() {
            if agent.options.dump.when.end {
                agent.dumps.ask(Reason::End, true);
            }
            agent.dumps.close();
            if agent.engine != Engine::Off {
                accounting::end(agent, jni);
            }
            if let Some(waits) = &agent.waits {
                waits.set_parking(jni, false);
                agent.count_lost("park without stack or memory", waits.lost_parks(jni));
                take_snapshot(agent, jni, Scope::Blocked);
            }
            if agent.options.live {
                match live::walk(agent, jni) {
                    Ok(found) => drop(agent.live.set((Ticks::now(), found))),
                    Err(error) => agent.count_failure("heap walk", error),
                }
            }
        }
        agent.reporting.store(false, Ordering::SeqCst);
        if let Some(proxy) = agent.vm.get().and_then(|vm| vm.proxy.as_ref()) {
            proxy.set_jvm_init(jni, false);
            agent.count_lost("hook without stack or memory", proxy.lost(jni));
        }
        if let Some(counts) = &agent.counts {
            counts.end_counting(jni);
            agent.count_lost("hook without stack or memory", counts.lost(jni));
            counts.end_all();
            if !agent.pool.is_closed() {
                counts.resolve_counted(agent, jni, None, Look::AfterTheEnd);
            }
        }
        agent.gc.wait_until_settled(LONGEST_SILENCE);
        agent.gc.close();
        agent.stop_reporting();
        let writer = agent.writer.lock().ok().and_then(|mut writer| writer.take());
        if let Some(writer) = writer {
            writer.thread().unpark();
            if writer.join().is_err() {
                message("the thread that writes the trace has failed; the trace ends early");
            }
        }
    });
}

/// # Safety
/// Called by the VM.
unsafe extern "system" fn class_load(_: *mut jvmtiEnv, jni: *mut JNIEnv, _: jthread, class: jclass) {
    guard(|| {
        if let Some(agent) = Agent::get() {
            // SAFETY: the VM passes this thread's environment and a live reference.
            unsafe { counts::class_loaded(agent, Jni::from_raw(jni), class) };
        }
    });
}

/// # Safety
/// Called by the VM.
unsafe extern "system" fn class_prepare(_: *mut jvmtiEnv, jni: *mut JNIEnv, _: jthread, class: jclass) {
    guard(|| {
        let Some(agent) = Agent::get() else { return };
        if agent.counts.is_some() {
            // SAFETY: the VM passes this thread's environment and a live reference.
            unsafe { counts::class_linked(agent, Jni::from_raw(jni), class) };
        }
        // SAFETY: the VM passes a live reference. A load time that cannot be noted is replaced by the agent's start.
        let _ = unsafe { agent.classes.note_load(agent.env, class, Ticks::now()) };
    });
}

/// # Safety
/// Called by the VM.
unsafe extern "system" fn thread_start(_: *mut jvmtiEnv, jni: *mut JNIEnv, thread: jthread) {
    guard(|| {
        // Not `reporting`: a thread may start while VMInit is still at work.
        let Some(agent) = Agent::get().filter(|a| !a.pool.is_closed()) else { return };
        // SAFETY: the VM passes this thread's environment and a reference to it.
        unsafe { threads::start(agent, Jni::from_raw(jni), thread) };
    });
}

/// # Safety
/// Called by the VM.
unsafe extern "system" fn thread_end(_: *mut jvmtiEnv, jni: *mut JNIEnv, thread: jthread) {
    guard(|| {
        let Some(agent) = Agent::get() else { return };
        // SAFETY: the VM passes this thread's environment and a reference to it.
        unsafe { threads::end(agent, Jni::from_raw(jni), thread) };
    });
}
