//! Requests in a JVM that runs: `Agent_OnAttach` takes one, and a thread of the agent serves it and answers.

use std::ffi::{CStr, c_char, c_void};
use std::io;
use std::time::{Duration, Instant};

use jvmti::jni_sys::{JNIEnv, JavaVM};
use jvmti::sys::{JVMTI_EVENT_VM_DEATH, jvmtiEnv};
use jvmti::{Jni, Vm, guard};

use super::request::{Answer, Given, Lines, Reply, Request, Untaken};
use super::running::Turn;
use super::{Recording, RecordingStart, abilities, copies, jvm, refuse_archive, status};
use agent_base::agent_thread;
use agent_base::helpers::REACH;
use agent_base::message::{kept, message};
use agent_base::mutex::Mutex;
use agent_core::core::Jvm;
use agent_core::core::context::Entry;
use agent_core::core::feature::End;
use agent_core::vm::environments::NoEnvironment;

/// So long the VM may take to enter the agent into its list, which it does when `Agent_OnAttach` has returned.
const LONGEST_ENTRY: Duration = Duration::from_secs(10);

/// So long an answer may be left in its file by who asked for it.
const LONGEST_LEFT: Duration = Duration::from_secs(10);

/// A request that was taken, on its way to the thread that serves it.
struct Job {
    vm: Vm,
    jvm: &'static Jvm,
    turn: Turn,
    request: Request,
    reply: Option<Reply>,
}

// SAFETY: the VM is used on every thread.
unsafe impl Send for Job {}

static JOB: Mutex<Option<Job>> = Mutex::new(None);

/// The agent is loaded into a running JVM. False, after a message or in the reply, if it does not take the request.
///
/// # Safety
/// Called by the JVM with its VM and a NUL-terminated or null option string.
pub unsafe fn takes_request(vm: *mut JavaVM, given: *const c_char) -> bool {
    // SAFETY: by the caller's promise.
    let (vm, given) = unsafe {
        let given = if given.is_null() { String::new() } else { CStr::from_ptr(given).to_string_lossy().into_owned() };
        (Vm::from_raw(vm), given)
    };
    let Given { request, reply } = Given::parse(&given);
    let mut reply = match reply.map(|path| Reply::open(&path)).transpose() {
        Ok(reply) => reply,
        Err(sentence) => {
            sentence.iter().for_each(|sentence| message(sentence));
            return false;
        }
    };
    match take(vm, request, &mut reply) {
        Ok(()) => true,
        Err(untaken) => {
            match (untaken, reply) {
                (Untaken::Later(sentence), Some(reply)) => written(reply.send_busy(&sentence)),
                (untaken, reply) => answer(reply.as_ref(), &Err(untaken.to_string())),
            }
            false
        }
    }
}

/// Takes a request. The reply stays if it cannot be taken.
///
/// # Errors
/// Why.
fn take(vm: Vm, request: Request, reply: &mut Option<Reply>) -> Result<(), Untaken> {
    if agent_options::is_switched_off() {
        return Err(format!("this JVM was started with {}=1, so it is not profiled", agent_options::OFF).into());
    }
    if copies::is_another_loaded() {
        return Err("this JVM has another copy of the agent; use the martini that belongs to it".to_owned().into());
    }
    let turn = Turn::take()?;
    let jvm = jvm(vm).map_err(|error| match error {
        NoEnvironment::NotNow => Untaken::Later(error.to_string()),
        NoEnvironment::Unsupported(sentence) => Untaken::For(sentence),
    })?;
    // However a recording ends, the end of the VM ends its trace; and it waits for what is under way.
    jvm.env.enable_event(JVMTI_EVENT_VM_DEATH).map_err(|_| "the JVM is about to exit".to_owned())?;
    let jni = vm.get_jni().map_err(|_| "the thread that loads the agent is not attached to the JVM".to_owned())?;
    *JOB.lock() = Some(Job { vm, jvm, turn, request, reply: reply.take() });
    agent_thread::start(jvm.env, jni, c"Martini attach", serve).map_err(|error| {
        let job = JOB.lock().take();
        *reply = job.and_then(|job| job.reply);
        Untaken::For(format!("cannot start the request thread: {error}"))
    })
}

fn written(answer: io::Result<()>) {
    if let Err(error) = answer {
        message(&format!("cannot write the answer to a request: {error}"));
    }
}

fn answer(reply: Option<&Reply>, answer: &Answer) {
    match (reply, answer) {
        (Some(reply), _) => written(reply.send(answer)),
        (None, Err(sentence)) => message(sentence),
        (None, Ok(_)) => {}
    }
}

/// Serves the request that was taken.
///
/// # Safety
/// Called by the VM, on a thread of the agent's.
unsafe extern "system" fn serve(_: *mut jvmtiEnv, jni: *mut JNIEnv, _: *mut c_void) {
    guard(|| {
        let Some(job) = JOB.lock().take() else { return };
        let Job { vm, jvm, turn, request, reply } = job;
        // SAFETY: the VM passes this thread's environment.
        let jni = unsafe { Jni::from_raw(jni) };
        let is_start = matches!(request, Request::Start(_));
        let serve = || guard(|| Some(perform(vm, jvm, jni, &turn, request)));
        let (served, notes) = if reply.is_some() { kept(serve) } else { (serve(), Vec::new()) };
        if is_start && matches!(served, Some(Ok(_))) && reply.as_ref().is_some_and(Reply::is_unwanted) {
            abandon(jni, &turn);
        }
        // It has reported what it had to, and the rest of its life is the agent's own.
        Entry::end(jni);
        let served = served.unwrap_or_else(|| Err("the agent failed; see the JVM's standard error".into()));
        // Who gets the answer may ask again at once.
        drop(turn);
        let noted = |lines: Lines| notes.into_iter().fold(lines, |lines, note| lines.with("note", note));
        answer(reply.as_ref(), &served.map(noted));
        reply.iter().for_each(|reply| reply.remove_if_left(LONGEST_LEFT));
    });
}

/// Ends a recording of which nobody would know: whoever asked for it has waited as long as it would.
fn abandon(jni: Jni, turn: &Turn) {
    if let Some(recording) = turn.running() {
        recording.give_up(jni);
        turn.set_running(None);
        message("nothing is recorded: the command that asked for it is gone");
    }
}

fn perform(vm: Vm, jvm: &'static Jvm, jni: Jni, turn: &Turn, request: Request) -> Answer {
    let running = turn.running();
    let recording = || running.ok_or("this JVM is not being recorded");
    match request {
        Request::Start(options) => start(vm, jvm, jni, turn, &options),
        Request::Stop => {
            let recording = recording()?;
            recording.end(jni, End::Recording);
            turn.set_running(None);
            Ok(Lines::default().with("trace", recording.trace().display()))
        }
        Request::Status => Ok(status::lines(running)),
        Request::Check => wait_until_found(jvm, jni).map(|()| abilities::lines(jvm, jni)),
        Request::Snapshot => recording()?.snapshot(),
        Request::Dump(path) => recording()?.dump(&path),
        Request::Set(options) => recording()?.set(&options),
    }
}

fn start(vm: Vm, jvm: &Jvm, jni: Jni, turn: &Turn, given: &str) -> Answer {
    if let Some(running) = turn.running() {
        return Err(format!(
            "this JVM is already being recorded, into {}; stop that recording first",
            running.trace().display()
        ));
    }
    let options = agent_options::parse(given).map_err(|error| error.to_string())?;
    // Before a class is defined, which would be in the archive.
    refuse_archive(jvm, &options)?;
    wait_until_found(jvm, jni)?;
    let recording =
        Recording::open(vm, options, RecordingStart::Attached).map_err(|refusal| refusal.sentence().to_owned())?;
    turn.set_running(Some(recording));
    Entry::begin_again();
    if let Err(problem) = recording.begin(jni) {
        recording.give_up(jni);
        turn.set_running(None);
        return Err(problem);
    }
    Ok(Lines::default().with("trace", recording.trace().display()))
}

/// Waits until the VM finds the functions of the agent: in those libraries that are in its list of agents.
fn wait_until_found(jvm: &Jvm, jni: Jni) -> Result<(), String> {
    let defined = jvm.helpers.define(jni, &REACH);
    let class = defined.map_err(|error| format!("cannot define MartiniReach, so nothing is recorded: {error}"))?;
    let begun = Instant::now();
    while class.call(jni, c"reach").is_err() {
        if begun.elapsed() > LONGEST_ENTRY {
            return Err("the JVM cannot find the agent's native functions, so nothing is recorded".into());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}
