//! Threads of the agent's own inside the VM. The VM hides them from the program and from debuggers, which cannot suspend them.

use std::cell::Cell;
use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};

use jvmti::jni_sys::{JNIEnv, jobject, jvalue};
use jvmti::sys::{JVMTI_THREAD_NORM_PRIORITY, JVMTI_THREAD_STATE_TERMINATED, jvmtiEnv, jvmtiStartFunction};
use jvmti::{Env, Jni, SharedRef, Vm};

use super::mutex::Mutex;
use super::native_thread::OwnTask;

/// Global references to all of them; there are few.
static OWN: Mutex<Vec<SharedRef>> = Mutex::new(Vec::new());

/// Threads that look whether a thread is among them.
static LOOKING: AtomicUsize = AtomicUsize::new(0);

/// Those that have ended, whose references somebody may have taken out of the list before.
static REMOVED: Mutex<Vec<SharedRef>> = Mutex::new(Vec::new());

thread_local! {
    /// The current thread is a native one of the agent's that attaches to the VM, or has.
    static ATTACHED: Cell<bool> = const { Cell::new(false) };
}

/// Attaches the current thread to the VM as one of the agent's own: a native thread that the agent has started, and that stays
/// attached until the process ends.
///
/// # Errors
/// The VM attaches no thread any more.
pub fn attach(vm: Vm, env: Env, name: &CStr) -> Result<Jni, String> {
    // The VM reports its start before anybody can have a reference to it.
    ATTACHED.set(true);
    let jni = vm.attach_current_thread_as_daemon(name).map_err(|error| error.to_string())?;
    let thread = env.get_current_thread().map_err(|error| error.to_string())?;
    // SAFETY: a live reference to the thread.
    OWN.lock().push(SharedRef(unsafe { jni.new_global_ref(thread) }));
    Ok(jni)
}

/// Whether the current thread is one that was attached so.
pub fn is_attached() -> bool {
    ATTACHED.get()
}

/// Whether a thread is one of the agent's own.
///
/// # Safety
/// `thread` is a live reference to a thread.
pub unsafe fn is_own(jni: Jni, thread: jobject) -> bool {
    LOOKING.fetch_add(1, Ordering::SeqCst);
    // The VM is not called while they are locked.
    let all = OWN.lock().clone();
    // SAFETY: by the caller's promise, and global references, which are not deleted while somebody looks.
    let is_own = all.iter().any(|own| unsafe { jni.is_same_object(own.0, thread) });
    LOOKING.fetch_sub(1, Ordering::SeqCst);
    is_own
}

/// Threads that have ended are the agent's no more.
fn forget_ended(env: Env, jni: Jni) {
    let all = OWN.lock().clone();
    let has_ended = |own: &&SharedRef| {
        // SAFETY: global references, which are deleted here alone, by one thread at a time: whoever may begin or end a recording.
        let state = unsafe { env.get_thread_state(own.0) };
        state.is_ok_and(|state| state & JVMTI_THREAD_STATE_TERMINATED != 0)
    };
    let ended: Vec<SharedRef> = all.iter().filter(has_ended).copied().collect();
    OWN.lock().retain(|own| !ended.contains(own));
    let mut removed = REMOVED.lock();
    removed.extend(ended);
    // Whoever looks from now on does not find them.
    if LOOKING.load(Ordering::SeqCst) == 0 {
        for SharedRef(reference) in removed.drain(..) {
            // SAFETY: a global reference that nobody has any more.
            unsafe { jni.delete_global_ref(reference) };
        }
    }
}

/// Runs the body of a thread inside the VM.
///
/// # Safety
/// Called by the VM; the argument is such a body.
unsafe extern "system" fn run(env: *mut jvmtiEnv, jni: *mut JNIEnv, body: *mut c_void) {
    let _own = OwnTask::enter();
    // SAFETY: by the caller's promise.
    unsafe { std::mem::transmute::<*mut c_void, jvmtiStartFunction>(body)(env, jni, null_mut()) };
}

/// Starts a thread inside the VM that runs `body`, which takes no argument.
///
/// # Errors
/// What the VM refuses; no exception is pending any more.
pub fn start(env: Env, jni: Jni, name: &CStr, body: jvmtiStartFunction) -> Result<(), String> {
    // SAFETY: live local references, deleted at the end; `body` takes no argument.
    unsafe {
        let class = jni.find_class(c"java/lang/Thread").map_err(|error| jni.cleared(error))?;
        let constructor = jni.get_method_id(class, c"<init>", c"(Ljava/lang/String;)V");
        let constructor = constructor.map_err(|error| jni.cleared(error))?;
        let name = jni.new_string_utf(name).map_err(|error| jni.cleared(error))?;
        let thread = jni.new_object(class, constructor, &[jvalue { l: name }]).map_err(|error| jni.cleared(error))?;
        forget_ended(env, jni);
        let known = SharedRef(jni.new_global_ref(thread));
        OWN.lock().push(known);
        let started = env.run_agent_thread(thread, run, body as *mut c_void, JVMTI_THREAD_NORM_PRIORITY);
        for local in [class, name, thread] {
            jni.delete_local_ref(local);
        }
        started.map_err(|error| error.to_string())
    }
}
