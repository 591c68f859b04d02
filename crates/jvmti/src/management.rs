//! What the VM offers to its management library, without that library's classes: the bytes that it accounts to each thread
//! (`com.sun.management.ThreadMXBean.getThreadAllocatedBytes`), its own heap dump (`HotSpotDiagnosticMXBean.dumpHeap`), and
//! its diagnostic commands (`DiagnosticCommandMBean`, `jcmd`).
//!
//! HotSpot hands the JDK's management library a table of functions, `JVM_GetManagement(version)`. The table is private to
//! the JDK, but its version changes whenever a function moves, and a VM gives no table for a version that is not its own.
//! So the places below are right wherever they are used (tried on 11.0.13, 17.0.9, 17.0.15, 21.0.8, 25.0.2 and 25.0.3):
//!
//! | version | JDK | `GetVersion` | `GetOneThreadAllocatedMemory` | `DumpHeap0` |
//! |---|---|---|---|---|
//! | 0x20020000 | 11 to 13 | 2 | 1, null in early updates of 11 | 28 |
//! | 0x20030000 | 14 to 20 | 2 | 9 | 29 |
//! | 0x20040000 | 21 and later | 2 | 10 | 30 |

use std::ffi::{CStr, c_void};
use std::mem::transmute;
use std::ptr::{NonNull, null, null_mut};

use jvmti_sys::jni_sys::{JNI_FALSE, JNI_TRUE, JNIEnv, jboolean, jint, jlong, jobject, jobjectArray, jstring, jvalue};

use crate::{Jni, JniError, exported};

type GetManagement = unsafe extern "system" fn(jint) -> *const *const c_void;
type GetVersion = unsafe extern "system" fn(*mut JNIEnv) -> jint;
type GetOneThreadAllocatedMemory = unsafe extern "system" fn(*mut JNIEnv, jlong) -> jlong;
type GetVmGlobals = unsafe extern "system" fn(*mut JNIEnv, jobjectArray, *mut VmGlobal, jint) -> jint;
type DumpHeap = unsafe extern "system" fn(*mut JNIEnv, jstring, jboolean) -> jint;
type ExecuteDiagnosticCommand = unsafe extern "system" fn(*mut JNIEnv, jstring) -> jstring;

/// Version of the table, and the places of `GetOneThreadAllocatedMemory` and `DumpHeap0` in it.
const LAYOUTS: [(jint, usize, usize); 3] = [(0x2004_0000, 10, 30), (0x2003_0000, 9, 29), (0x2002_0000, 1, 28)];
const GET_VERSION: usize = 2;

/// A table of a version that is known, and the entry of its layout.
fn table(jni: Jni) -> Option<(*const *const c_void, (jint, usize, usize))> {
    let symbol = exported(c"JVM_GetManagement")?;
    // SAFETY: so the function is declared in every JDK's jvm.h.
    let get_management = unsafe { transmute::<NonNull<c_void>, GetManagement>(symbol) };
    // SAFETY: a version is all it takes. A table of this version has these functions, or null, in these places.
    LAYOUTS.into_iter().find_map(|layout| unsafe {
        let table = get_management(layout.0);
        if table.is_null() {
            return None;
        }
        let get_version = transmute::<*const c_void, Option<GetVersion>>(*table.add(GET_VERSION))?;
        (get_version(jni.as_raw()) == layout.0).then_some((table, layout))
    })
}

/// The VM's own heap dumper. A copy names the same function.
#[derive(Clone, Copy, Debug)]
pub struct HeapDumper {
    dump: DumpHeap,
}

impl HeapDumper {
    /// Finds the dumper; `None` if this VM has none, or one whose place is not known.
    pub fn find(jni: Jni) -> Option<Self> {
        let (table, (_, _, place)) = table(jni)?;
        // SAFETY: so the function is declared in this version's jmm.h.
        let dump = unsafe { transmute::<*const c_void, Option<DumpHeap>>(*table.add(place)) }?;
        Some(Self { dump })
    }

    /// Writes a dump in the HPROF format to a file that must not exist yet; readable by nobody but its owner. With `live` the VM
    /// collects garbage before, and all of it in one pause.
    ///
    /// # Errors
    /// What the VM refuses, as a pending exception that the caller clears.
    ///
    /// # Safety
    /// `path` is a live reference to a string.
    pub unsafe fn dump(self, jni: Jni, path: jstring, live: bool) -> Result<(), JniError> {
        // The VM leaves a reference to the bytes of the path behind, for the frame of a Java caller to drop.
        jni.push_local_frame(4)?;
        // SAFETY: by the caller's promise; nothing in the frame is used after it.
        let result = unsafe {
            let result = (self.dump)(jni.as_raw(), path, if live { JNI_TRUE } else { JNI_FALSE });
            jni.pop_local_frame();
            result
        };
        if result != 0 || jni.exception_check() { Err(JniError::Exception) } else { Ok(()) }
    }
}

/// The VM's accounting of allocated bytes. A copy names the same function.
#[derive(Clone, Copy, Debug)]
pub struct Management {
    get_one: GetOneThreadAllocatedMemory,
}

impl Management {
    /// Finds the accounting; `None` if this VM has none, or one whose layout is not known.
    pub fn find(jni: Jni) -> Option<Self> {
        let (table, (_, place, _)) = table(jni)?;
        // SAFETY: so the function is declared in this version's jmm.h.
        let get_one = unsafe { transmute::<*const c_void, Option<GetOneThreadAllocatedMemory>>(*table.add(place)) }?;
        Some(Self { get_one })
    }

    /// Bytes allocated on the current platform thread since it started, by virtual threads that it carried too.
    #[inline]
    pub fn current_thread_allocated_bytes(self, jni: Jni) -> Option<u64> {
        self.allocated_bytes(jni, 0)
    }

    /// Bytes allocated on the living platform thread with this `java.lang.Thread.tid`; `None` if there is none.
    ///
    /// While that thread runs the number may be a little behind.
    pub fn thread_allocated_bytes(self, jni: Jni, tid: jlong) -> Option<u64> {
        // 0 would be the current thread, and what is less makes the VM throw.
        if tid > 0 { self.allocated_bytes(jni, tid) } else { None }
    }

    #[inline]
    fn allocated_bytes(self, jni: Jni, tid: jlong) -> Option<u64> {
        // SAFETY: the environment is this thread's, and the id is 0 or above.
        let bytes = unsafe { (self.get_one)(jni.as_raw(), tid) };
        u64::try_from(bytes).ok()
    }
}

/// `jmmVMGlobal` of jmm.h: the value of one flag.
#[repr(C)]
struct VmGlobal {
    name: jstring,
    value: jvalue,
    kind: jint,
    origin: jint,
    bits: u32,
    reserved: [*const c_void; 2],
}

/// Whether a boolean flag of the VM (`-XX:+NAME`) is on; `None` if the VM has no such flag or does not show it.
pub fn is_flag_on(jni: Jni, name: &CStr) -> Option<bool> {
    let (table, (_, _, dump_heap)) = table(jni)?;
    // SAFETY: so the function is declared in this version's jmm.h, ten places before `DumpHeap0`.
    let get = unsafe { transmute::<*const c_void, Option<GetVmGlobals>>(*table.add(dump_heap - 10)) }?;
    let made = |made: Result<jobject, JniError>| made.inspect_err(|_| jni.exception_clear()).ok();
    // SAFETY: live local references, deleted at the end; the VM fills in one struct, and a name only for a flag it knows.
    unsafe {
        let class = made(jni.find_class(c"java/lang/String"))?;
        let name = made(jni.new_string_utf(name))?;
        let names = made(jni.new_object_array(1, class, name))?;
        let mut global =
            VmGlobal { name: null_mut(), value: jvalue { j: 0 }, kind: 0, origin: 0, bits: 0, reserved: [null(); 2] };
        let filled = get(jni.as_raw(), names, &raw mut global, 1);
        jni.exception_clear();
        let known = filled == 1 && !global.name.is_null();
        for local in [class, name, names, global.name] {
            jni.delete_local_ref(local);
        }
        known.then_some(global.value.z == JNI_TRUE)
    }
}

/// Runs a diagnostic command of the VM as `jcmd` does, and returns what it prints, in modified UTF-8; `None` if this VM runs none.
///
/// # Errors
/// What the VM refuses; no exception is pending any more.
pub fn run_diagnostic_command(jni: Jni, command: &CStr) -> Option<Result<Vec<u8>, String>> {
    let (table, (_, _, dump_heap)) = table(jni)?;
    // SAFETY: so the function is declared in each version's jmm.h, nine places behind `DumpHeap0`.
    let run = unsafe { transmute::<*const c_void, Option<ExecuteDiagnosticCommand>>(*table.add(dump_heap + 9)) }?;
    let printed = || {
        let command = jni.new_string_utf(command)?;
        // SAFETY: a live local reference; the VM returns a new one, or null with a pending exception. Both are deleted.
        unsafe {
            let printed = run(jni.as_raw(), command);
            let failed = printed.is_null() || jni.exception_check();
            let text = if failed { Err(JniError::Exception) } else { Ok(jni.get_string_utf(printed)) };
            jni.delete_local_ref(command);
            if !failed {
                jni.delete_local_ref(printed);
            }
            text
        }
    };
    Some(printed().map_err(|error| jni.cleared(error)))
}
