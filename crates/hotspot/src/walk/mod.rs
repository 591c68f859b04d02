//! Walks the Java frames of a thread's stack from its registers, in a signal handler of that thread: without JVMTI, `jmethodID`s,
//! locks or allocation.
//!
//! ```text
//! at the start      SafeLoads::install -> Hotspot::walker -> Walker::self_test    each may refuse, with a sentence
//! in the handler    Registers::of(context) -> Walker::walk(.., &mut RawStack)     frames, or the name of what failed
//! on other threads  Walker::method(frame.method)                                  names, which stay
//! now and then      SafeLoads::check                                              else walks fail by name
//! ```
//!
//! What the VM keeps of a method may go with its class once the frame has gone. So a method's names are copied in the handler when
//! it is met for the first time (`methods`), and nothing of the VM is read later.

mod code;
pub mod compare;
mod compressed;
mod error;
mod frame;
mod layout;
mod method;
mod methods;
mod registers;
mod scopes;
mod self_test;
mod top;
mod unwind;
mod x86_64;

use super::code_cache::CodeCache;
use super::memory::JavaThread;
use compressed::Encoding;
use layout::Layout;
use methods::Methods;

use agent_base::signals::SafeLoads;

pub use error::WalkError;
pub use frame::{Frame, FrameKind, MAX_FRAMES, MethodNumber, RawStack};
pub use registers::Registers;
pub use self_test::compare as compare_in_self_test;

/// What is known of a method that was on a stack: texts as class files have them (modified UTF-8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MethodNames<'m> {
    /// As the VM has it, such as `java/lang/Object`; of a hidden class with a number of the VM's behind a `+` or `/`.
    pub class: &'m [u8],
    /// The name of the method, such as `<init>`.
    pub name: &'m [u8],
    /// Its descriptor, such as `(I)V`.
    pub signature: &'m [u8],
    /// The source file of its class, such as `Object.java`; empty if the class does not say.
    pub source: &'m [u8],
}

/// Walks stacks. Made once for the JVM: its table of methods stays.
pub struct Walker {
    loads: SafeLoads,
    layout: Layout,
    cache: CodeCache,
    encoding: Encoding,
    methods: Methods,
}

impl Walker {
    /// A walker for this VM, from VMInit on; `java` is the feature release.
    ///
    /// # Errors
    /// Why there is none: one clause, such as "this JVM does not export the layout of its compiled code".
    pub fn find(loads: SafeLoads, java: u32) -> Result<Walker, String> {
        let layout = Layout::find()?;
        let cache = CodeCache::find().ok_or("this JVM does not export the layout of its code cache")?;
        Ok(Walker { loads, layout, cache, encoding: Encoding::of(java), methods: Methods::new() })
    }

    /// Fills `stack` with the Java frames of the calling thread, which a signal handler has interrupted with these registers. No
    /// frames: the thread runs no Java code. `thread` is `None` for a thread that is not attached to the VM.
    ///
    /// Of a virtual thread it gives the frames of its own, up to `VirtualThread.run`, not its carrier's.
    ///
    /// # Errors
    /// Why the stack could not be walked; `stack` is empty then.
    pub fn walk(
        &self,
        registers: &Registers,
        thread: Option<JavaThread>,
        stack: &mut RawStack,
    ) -> Result<(), WalkError> {
        stack.truncate(0);
        let Some(thread) = thread else { return Ok(()) };
        if !self.loads.is_intact() {
            return Err(WalkError::NoSafeLoads);
        }
        if registers.blocks_faults {
            return Err(WalkError::SignalsBlocked);
        }
        unwind::walk(self, thread.0, registers, stack)
    }

    /// What is known of a method that a frame names, on any thread.
    pub fn method(&self, number: MethodNumber) -> Option<MethodNames<'_>> {
        self.methods.names(number)
    }
}
