//! Where a thread is in its allocation buffer (TLAB), which HotSpot exports for debuggers (`gHotSpotVMStructs`).
//!
//! Only the thread itself reads it, while it allocates and no safepoint stops it.

use jvmti::jni_sys::jobject;
use jvmti::{Env, Field, Jni};

use super::doubtful;
use super::memory::{JavaThread, load, load_u32};
use super::object_addresses::of_local;

/// Lengths of the arrays that are made to test the layout.
const TESTED: [usize; 3] = [16, 1000, 100];
/// No buffer is larger.
const MOST_BYTES: usize = 1 << 40;

/// Where a thread is in its buffer. Both ends are 0 where it has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BufferPosition {
    /// Where the buffer begins.
    pub start: usize,
    /// Where the next object goes.
    pub top: usize,
    /// The buffer's end; in the VM's event of a sample not the place of the next one.
    pub end: usize,
    /// Buffers since the last collection.
    pub refills: u32,
    /// Objects since the last collection that found no room in the buffer, and that the heap has by themselves.
    pub outside: u32,
    /// Bytes that the next buffer gets.
    pub wanted: usize,
}

/// Where HotSpot keeps that: offsets in bytes.
#[derive(Debug)]
pub struct BufferLayout {
    /// From a `JavaThread` to the JNI environment inside it.
    env: usize,
    /// From a `JavaThread`.
    start: usize,
    top: usize,
    end: usize,
    refills: usize,
    outside: usize,
    wanted: usize,
}

impl BufferLayout {
    /// The layout of this VM, if it exports one that holds for arrays that the current thread makes, whose `JavaThread` is given.
    pub(super) fn find(env: Env, jni: Jni, current: JavaThread) -> Option<BufferLayout> {
        let buffer = Field::offset_of(c"Thread", c"_tlab")?;
        let field = |name| Some(buffer + Field::offset_of(c"ThreadLocalAllocBuffer", name)?);
        let layout = BufferLayout {
            env: (jni.as_raw() as usize).checked_sub(current.0)?,
            start: field(c"_start")?,
            top: field(c"_top")?,
            end: field(c"_end")?,
            refills: field(c"_number_of_refills")?,
            outside: field(c"_slow_allocations")?,
            wanted: field(c"_desired_size")?,
        };
        // So that what is read below is mapped.
        for offset in [layout.start, layout.top, layout.end, layout.refills & !7, layout.outside & !7, layout.wanted] {
            doubtful::word(current.0 + offset)?;
        }
        TESTED.iter().all(|&length| layout.holds(env, jni, length)).then_some(layout)
    }

    /// Whether an array that the current thread makes is the last object in its buffer.
    fn holds(&self, env: Env, jni: Jni, length: usize) -> bool {
        // A collection may take the buffer away at any time.
        (0..3).any(|_| {
            let Ok(array) = jni.new_byte_array(length) else {
                jni.exception_clear();
                return false;
            };
            // SAFETY: a live local reference of this thread, deleted at once.
            let (address, size) = unsafe {
                let found = (of_local(array) as usize, env.get_object_size(array));
                jni.delete_local_ref(array);
                found
            };
            let BufferPosition { start, top, end, refills, wanted, .. } = self.place(jni);
            let is_last = size.is_ok_and(|size| address.checked_add(size as usize) == Some(top));
            start <= address && is_last && top <= end && refills > 0 && end - start < MOST_BYTES && wanted < MOST_BYTES
        })
    }

    /// Where the current thread is.
    pub fn place(&self, jni: Jni) -> BufferPosition {
        let current = jni.as_raw() as usize - self.env;
        // SAFETY: the current thread lives, and these are parts of its `JavaThread`.
        unsafe {
            BufferPosition {
                start: load(current + self.start),
                top: load(current + self.top),
                end: load(current + self.end),
                refills: load_u32(current + self.refills),
                outside: load_u32(current + self.outside),
                wanted: load(current + self.wanted).saturating_mul(size_of::<usize>()),
            }
        }
    }
}

impl BufferPosition {
    /// The bytes of the buffer that are not used.
    pub fn rest(&self) -> usize {
        self.end.saturating_sub(self.top)
    }

    /// Where in the buffer an object is; `None` if it is not in there.
    ///
    /// # Safety
    /// A local reference of the current thread.
    pub unsafe fn offset_of(&self, object: jobject) -> Option<usize> {
        // SAFETY: by the caller's promise.
        let address = unsafe { of_local(object) } as usize;
        (self.start..self.top).contains(&address).then(|| address - self.start)
    }
}
