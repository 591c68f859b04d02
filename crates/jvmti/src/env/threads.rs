//! Threads, their groups, stacks and local storage.

use std::ffi::c_void;

use jvmti_sys::jni_sys::{jint, jlong, jobject};
use jvmti_sys::{jthread, jthreadGroup, jvmtiFrameInfo, jvmtiStartFunction, jvmtiThreadGroupInfo, jvmtiThreadInfo};

use super::{Env, call, get, get_all};
use crate::{Allocated, Error, Result};

/// What a thread says of itself.
#[derive(Debug)]
pub struct ThreadInfo {
    /// The name in modified UTF-8; the VM gives none for some threads that are just starting.
    pub name: Option<Allocated<u8>>,
    /// 1 to 10.
    pub priority: jint,
    /// Whether the VM exits without waiting for it.
    pub is_daemon: bool,
    /// Its group as a new local reference, null if the thread has ended.
    pub thread_group: jthreadGroup,
    /// Its context class loader as a new local reference, or null.
    pub context_class_loader: jobject,
}

/// What a thread group says of itself.
#[derive(Debug)]
pub struct ThreadGroupInfo {
    /// The enclosing group as a new local reference, null for the top one.
    pub parent: jthreadGroup,
    /// The name in modified UTF-8.
    pub name: Option<Allocated<u8>>,
    /// The highest priority that its threads may have.
    pub max_priority: jint,
    /// Whether it is a daemon group.
    pub is_daemon: bool,
}

impl Env {
    /// Every live platform thread that is attached to the VM, as new local references.
    ///
    /// # Errors
    ///
    /// `WRONG_PHASE` before VMInit; `OUT_OF_MEMORY`.
    pub fn get_all_threads(self) -> Result<Allocated<jthread>> {
        // SAFETY: the VM writes count and array, which is then ours.
        unsafe { get_all!(self, GetAllThreads) }
    }

    /// The calling thread as a new local reference; null while the VM has no thread object for it yet.
    ///
    /// # Errors
    ///
    /// `WRONG_PHASE` before VMStart; `UNATTACHED_THREAD`.
    pub fn get_current_thread(self) -> Result<jthread> {
        // SAFETY: the VM writes the reference.
        unsafe { get!(self, GetCurrentThread) }
    }

    /// Name, priority and group of the thread, or of the calling one for null.
    ///
    /// # Errors
    ///
    /// `INVALID_THREAD`; `WRONG_PHASE` before VMInit.
    ///
    /// # Safety
    ///
    /// `thread` is a live reference to a thread, or null for the calling one.
    pub unsafe fn get_thread_info(self, thread: jthread) -> Result<ThreadInfo> {
        // SAFETY: the caller vouches for the thread; the VM fills the structure, whose name is then ours.
        let (info, name) = unsafe {
            let info: jvmtiThreadInfo = get!(self, GetThreadInfo, thread)?;
            (info, Allocated::from_c_string(self, info.name))
        };
        Ok(ThreadInfo {
            name,
            priority: info.priority,
            is_daemon: info.is_daemon != 0,
            thread_group: info.thread_group,
            context_class_loader: info.context_class_loader,
        })
    }

    /// Name and parent of the group.
    ///
    /// # Errors
    ///
    /// `INVALID_THREAD_GROUP`; `WRONG_PHASE` before VMInit.
    ///
    /// # Safety
    ///
    /// `group` is a live reference to a thread group.
    pub unsafe fn get_thread_group_info(self, group: jthreadGroup) -> Result<ThreadGroupInfo> {
        // SAFETY: the caller vouches for the group; the VM fills the structure, whose name is then ours.
        let (info, name) = unsafe {
            let info: jvmtiThreadGroupInfo = get!(self, GetThreadGroupInfo, group)?;
            (info, Allocated::from_c_string(self, info.name))
        };
        Ok(ThreadGroupInfo {
            parent: info.parent,
            name,
            max_priority: info.max_priority,
            is_daemon: info.is_daemon != 0,
        })
    }

    /// The state of the thread, or of the calling one for null, as `JVMTI_THREAD_STATE_*` bits.
    ///
    /// # Errors
    ///
    /// `INVALID_THREAD`; `WRONG_PHASE` before VMInit.
    ///
    /// # Safety
    ///
    /// `thread` is a live reference to a thread, or null for the calling one.
    pub unsafe fn get_thread_state(self, thread: jthread) -> Result<jint> {
        // SAFETY: the caller vouches for the thread; the VM writes the number.
        unsafe { get!(self, GetThreadState, thread) }
    }

    /// Nanoseconds that the thread has run on a processor. Needs `CAN_GET_THREAD_CPU_TIME`; a virtual thread has none.
    ///
    /// # Errors
    ///
    /// `MUST_POSSESS_CAPABILITY`, `THREAD_NOT_ALIVE`; `UNSUPPORTED_OPERATION` for a virtual thread.
    ///
    /// # Safety
    ///
    /// `thread` is a live reference to a thread, or null for the calling one.
    pub unsafe fn get_thread_cpu_time(self, thread: jthread) -> Result<jlong> {
        // SAFETY: the caller vouches for the thread; the VM writes the number.
        unsafe { get!(self, GetThreadCpuTime, thread) }
    }

    /// Number of frames of the thread, or of the calling one for null.
    ///
    /// # Errors
    ///
    /// `INVALID_THREAD`; `THREAD_NOT_ALIVE` for a thread that has not started or has ended.
    ///
    /// # Safety
    ///
    /// `thread` is a live reference to a thread, or null for the calling one.
    pub unsafe fn get_frame_count(self, thread: jthread) -> Result<jint> {
        // SAFETY: the caller vouches for the thread; the VM writes the number.
        unsafe { get!(self, GetFrameCount, thread) }
    }

    /// Fills the buffer with the frames of the thread (of the calling one for null), innermost first, leaving out the
    /// first `start_depth` frames, and returns the filled part.
    ///
    /// # Errors
    ///
    /// `INVALID_THREAD`, `THREAD_NOT_ALIVE`; `ILLEGAL_ARGUMENT` if the stack has less than `start_depth` frames.
    ///
    /// # Safety
    ///
    /// `thread` is a live reference to a thread, or null for the calling one.
    #[inline]
    pub unsafe fn get_stack_trace(
        self,
        thread: jthread,
        start_depth: jint,
        frames: &mut [jvmtiFrameInfo],
    ) -> Result<&mut [jvmtiFrameInfo]> {
        let room = jint::try_from(frames.len()).map_err(|_| Error::ILLEGAL_ARGUMENT)?;
        let mut count = 0;
        let _turn = self.turn_for_method_ids();
        // SAFETY: the caller vouches for the thread; the VM writes at most `room` frames.
        unsafe { call!(self, GetStackTrace, thread, start_depth, room, frames.as_mut_ptr(), &mut count) }?;
        Ok(&mut frames[..count as usize])
    }

    /// Starts the function on an agent thread. `thread` is a new `java.lang.Thread` that is not started; the new thread
    /// is a daemon, belongs to no one's thread group listing, and gets no events of thread start and end.
    ///
    /// # Errors
    ///
    /// `INVALID_THREAD`, `INVALID_PRIORITY`; `WRONG_PHASE` before VMInit.
    ///
    /// # Safety
    ///
    /// `thread` is a live reference to a thread that is not started; the function fits `argument`, which stays valid on that thread, and
    /// does not unwind.
    pub unsafe fn run_agent_thread(
        self,
        thread: jthread,
        function: jvmtiStartFunction,
        argument: *const c_void,
        priority: jint,
    ) -> Result<()> {
        // SAFETY: the caller vouches for thread, function and argument.
        unsafe { call!(self, RunAgentThread, thread, function, argument, priority) }
    }

    /// Stores a pointer with the thread, or with the calling one for null, in this environment.
    ///
    /// # Errors
    ///
    /// `THREAD_NOT_ALIVE` for a thread that has not started or has ended.
    ///
    /// # Safety
    ///
    /// `thread` is null or a live reference to a thread. The pointer itself is only stored.
    #[inline]
    pub unsafe fn set_thread_local_storage(self, thread: jthread, data: *const c_void) -> Result<()> {
        // SAFETY: the caller vouches for the thread.
        unsafe { call!(self, SetThreadLocalStorage, thread, data) }
    }

    /// The pointer stored with the thread, null at first.
    ///
    /// # Errors
    ///
    /// `THREAD_NOT_ALIVE` for a thread that has not started or has ended.
    ///
    /// # Safety
    ///
    /// `thread` is a live reference to a thread, or null for the calling one.
    #[inline]
    pub unsafe fn get_thread_local_storage(self, thread: jthread) -> Result<*mut c_void> {
        // SAFETY: the caller vouches for the thread; the VM writes the pointer.
        unsafe { get!(self, GetThreadLocalStorage, thread) }
    }
}
