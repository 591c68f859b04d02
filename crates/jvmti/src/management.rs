//! What the VM itself accounts to each thread: the source of `com.sun.management.ThreadMXBean.getThreadAllocatedBytes`,
//! without its classes.
//!
//! HotSpot hands the JDK's management library a table of functions, `JVM_GetManagement(version)`. The table is private to
//! the JDK, but its version changes whenever a function moves, and a VM gives no table for a version that is not its own.
//! So the places below are right wherever they are used (tried on 11.0.13, 17.0.9, 17.0.15, 21.0.8, 25.0.2 and 25.0.3):
//!
//! | version | JDK | `GetVersion` | `GetOneThreadAllocatedMemory` |
//! |---|---|---|---|
//! | 0x20020000 | 11 to 13 | 2 | 1, null in early updates of 11 |
//! | 0x20030000 | 14 to 20 | 2 | 9 |
//! | 0x20040000 | 21 and later | 2 | 10 |

use std::ffi::c_void;
use std::mem::transmute;

use jvmti_sys::jni_sys::{JNIEnv, jint, jlong};

use crate::Jni;

type GetManagement = unsafe extern "system" fn(jint) -> *const *const c_void;
type GetVersion = unsafe extern "system" fn(*mut JNIEnv) -> jint;
type GetOneThreadAllocatedMemory = unsafe extern "system" fn(*mut JNIEnv, jlong) -> jlong;

/// Version of the table, and the place of `GetOneThreadAllocatedMemory` in it.
const LAYOUTS: [(jint, usize); 3] = [(0x2004_0000, 10), (0x2003_0000, 9), (0x2002_0000, 1)];
const GET_VERSION: usize = 2;

/// The VM's accounting of allocated bytes. A copy names the same function.
#[derive(Clone, Copy, Debug)]
pub struct Management {
    get_one: GetOneThreadAllocatedMemory,
}

impl Management {
    /// Finds the accounting; `None` if this VM has none, or one whose layout is not known.
    pub fn find(jni: Jni) -> Option<Self> {
        // SAFETY: the name ends with NUL.
        let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"JVM_GetManagement".as_ptr()) };
        if symbol.is_null() {
            return None;
        }
        // SAFETY: so the function is declared in every JDK's jvm.h.
        let get_management = unsafe { transmute::<*mut c_void, GetManagement>(symbol) };
        // SAFETY: a version is all it takes. A table of this version has these functions, or null, in these places.
        LAYOUTS.into_iter().find_map(|(version, place)| unsafe {
            let table = get_management(version);
            if table.is_null() {
                return None;
            }
            let get_version = transmute::<*const c_void, Option<GetVersion>>(*table.add(GET_VERSION))?;
            let get_one = transmute::<*const c_void, Option<GetOneThreadAllocatedMemory>>(*table.add(place))?;
            (get_version(jni.as_raw()) == version).then_some(Self { get_one })
        })
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
