//! Everything that reads HotSpot's private memory, whose layout the VM exports for debuggers (`gHotSpotVMStructs`).
//!
//! [`Hotspot`] is the one way in, and a recording has none in safe mode (`safe_mode`). Each layout is looked up and tested once;
//! if it is not known, the part that uses it works without. `object_addresses` reads the addresses of objects through JNI
//! references; `flags` reads and sets the VM's own switches.

pub(crate) mod buffers;
mod code_cache;
pub(crate) mod comparisons;
mod doubtful;
pub(crate) mod flags;
pub(crate) mod memory;
pub(crate) mod monitors;
pub(crate) mod object_addresses;
pub(crate) mod os_threads;
pub(crate) mod return_addresses;
pub(crate) mod safe_mode;
pub(crate) mod safepoints;
pub(crate) mod walk;

use std::sync::OnceLock;

use jvmti::{Env, Jni};

use buffers::BufferLayout;
use memory::JavaThread;
use monitors::MonitorLayout;
use return_addresses::StackLayout;
use safepoints::SafepointLayout;
use walk::Walker;

use super::mutex::Mutex;
use super::native_symbols::NativeSymbols;
use super::signals::SafeLoads;

/// The layouts that are known of this VM.
#[derive(Default)]
pub(crate) struct Hotspot {
    stacks: OnceLock<Option<StackLayout>>,
    buffers: OnceLock<Option<BufferLayout>>,
    monitors: OnceLock<Option<MonitorLayout>>,
    safepoints: OnceLock<Result<SafepointLayout, &'static str>>,
    walker: OnceLock<Walker>,
    finding_walker: Mutex<()>,
}

impl Hotspot {
    /// Looks up how frames lie on stacks, from VMInit on.
    pub(crate) fn find_stacks(&self, env: Env, jni: Jni) {
        self.stacks.get_or_init(|| StackLayout::find(env, jni, JavaThread::current(env, jni)?));
    }

    /// How frames lie on stacks, if that was looked up and is known.
    pub(crate) fn stacks(&self) -> Option<&StackLayout> {
        self.stacks.get()?.as_ref()
    }

    /// Where threads are in their allocation buffers, if that is known; from VMInit on.
    pub(crate) fn buffers(&self, env: Env, jni: Jni) -> Option<&BufferLayout> {
        self.buffers.get_or_init(|| BufferLayout::find(env, jni, JavaThread::current(env, jni)?)).as_ref()
    }

    /// Looks up where monitors have their owners, from VMInit on.
    pub(crate) fn find_monitors(&self, env: Env, jni: Jni) {
        self.monitors.get_or_init(|| MonitorLayout::find(jni, JavaThread::current(env, jni)?));
    }

    /// Where monitors have their owners, if that was looked up and is known.
    pub(crate) fn monitors(&self) -> Option<&MonitorLayout> {
        self.monitors.get()?.as_ref()
    }

    /// Where the state of safepoints is, from VMInit on.
    ///
    /// # Errors
    /// Why that is not known: part of a sentence.
    pub(crate) fn safepoints(&self, env: Env, jni: Jni) -> Result<&SafepointLayout, &'static str> {
        let find = || {
            let mut symbols = NativeSymbols::new();
            SafepointLayout::find(env, jni, |symbol| symbols.address_of("libjvm.so", symbol))
        };
        self.safepoints.get_or_init(find).as_ref().map_err(|&why| why)
    }

    /// What walks stacks in signal handlers, and the handler of faults that it needs, once its self-test has passed; from VMInit on. `java`
    /// is the feature release.
    ///
    /// # Errors
    /// Why there is none: one clause.
    pub(crate) fn trusted_walker(&self, env: Env, jni: Jni, java: u32) -> Result<(&Walker, SafeLoads), String> {
        let current = JavaThread::current(env, jni).ok_or("the JVM hides where it keeps its threads")?;
        let loads = SafeLoads::install(self.checks_jni())?;
        let walker = self.walker(loads, java)?;
        walker.self_test(env, jni, current)?;
        Ok((walker, loads))
    }

    fn walker(&self, loads: SafeLoads, java: u32) -> Result<&Walker, String> {
        let _turn = self.finding_walker.lock();
        match self.walker.get() {
            Some(walker) => Ok(walker),
            None => Walker::find(loads, java).map(|walker| self.walker.get_or_init(|| walker)),
        }
    }
}
