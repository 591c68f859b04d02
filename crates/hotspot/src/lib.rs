//! Everything that reads HotSpot's private memory, whose layout the VM exports for debuggers (`gHotSpotVMStructs`).
//!
//! [`Hotspot`] is the one way in, and a recording has none in safe mode (`safe_mode`). Each layout is looked up and tested once;
//! if it is not known, the part that uses it works without. `object_addresses` reads the addresses of objects through JNI
//! references; `flags` reads and sets the VM's own switches.

pub mod buffers;
pub mod class_states;
mod code_cache;
pub mod comparisons;
mod doubtful;
pub mod flags;
pub mod memory;
pub mod monitors;
pub mod object_addresses;
pub mod os_threads;
pub mod perf_counters;
pub mod return_addresses;
pub mod safe_mode;
pub mod safepoints;
pub mod walk;

use std::sync::OnceLock;

use jvmti::{Env, Jni};

use buffers::BufferLayout;
use class_states::ClassStates;
use memory::JavaThread;
use monitors::MonitorLayout;
use os_threads::OsThreads;
use perf_counters::PerfCounters;
use return_addresses::StackLayout;
use safepoints::SafepointLayout;
use walk::Walker;

use agent_base::mutex::Mutex;
use agent_base::native_symbols::NativeSymbols;
use agent_base::signals::SafeLoads;

/// The layouts that are known of this VM.
#[derive(Default)]
pub struct Hotspot {
    stacks: OnceLock<Option<StackLayout>>,
    buffers: OnceLock<Option<BufferLayout>>,
    monitors: OnceLock<Option<MonitorLayout>>,
    os_threads: OnceLock<Option<OsThreads>>,
    safepoints: OnceLock<Result<SafepointLayout, &'static str>>,
    walker: OnceLock<Walker>,
    finding_walker: Mutex<()>,
}

impl Hotspot {
    /// Looks up how frames lie on stacks, from VMInit on.
    pub fn find_stacks(&self, env: Env, jni: Jni) {
        self.stacks.get_or_init(|| StackLayout::find(env, jni, JavaThread::current(env, jni)?));
    }

    /// How frames lie on stacks, if that was looked up and is known.
    pub fn stacks(&self) -> Option<&StackLayout> {
        self.stacks.get()?.as_ref()
    }

    /// Where threads are in their allocation buffers, if that is known; from VMInit on.
    pub fn buffers(&self, env: Env, jni: Jni) -> Option<&BufferLayout> {
        self.buffers.get_or_init(|| BufferLayout::find(env, jni, JavaThread::current(env, jni)?)).as_ref()
    }

    /// Looks up where monitors have their owners, from VMInit on.
    pub fn find_monitors(&self, env: Env, jni: Jni) {
        self.monitors.get_or_init(|| MonitorLayout::find(jni, JavaThread::current(env, jni)?));
    }

    /// Where monitors have their owners, if that was looked up and is known.
    pub fn monitors(&self) -> Option<&MonitorLayout> {
        self.monitors.get()?.as_ref()
    }

    /// Which thread of the system each of the VM's is, if that is known; from VMInit on.
    pub fn os_threads(&self, env: Env, jni: Jni) -> Option<&OsThreads> {
        self.os_threads.get_or_init(|| OsThreads::find(jni, JavaThread::current(env, jni)?)).as_ref()
    }

    /// Where the state of safepoints is, from VMInit on.
    ///
    /// # Errors
    /// Why that is not known: part of a sentence.
    pub fn safepoints(&self, env: Env, jni: Jni) -> Result<&SafepointLayout, &'static str> {
        let find = || {
            let mut symbols = NativeSymbols::default();
            SafepointLayout::find(env, jni, |symbol| symbols.address_of("libjvm.so", symbol))
        };
        self.safepoints.get_or_init(find).as_ref().map_err(|&why| why)
    }

    /// The VM's own counters, from VMStart on.
    ///
    /// # Errors
    /// Why they are not known: part of a sentence.
    pub fn perf_counters(&self) -> Result<PerfCounters, &'static str> {
        let mut symbols = NativeSymbols::default();
        PerfCounters::find(|symbol| symbols.address_of("libjvm.so", symbol))
    }

    /// How far the VM is with classes.
    ///
    /// # Errors
    /// Why that is not known: part of a sentence.
    pub fn class_states(&self) -> Result<ClassStates, &'static str> {
        ClassStates::find()
    }

    /// What walks stacks in signal handlers, and the handler of faults that it needs, once its self-test has passed; from VMInit on. `java`
    /// is the feature release.
    ///
    /// # Errors
    /// Why there is none: one clause.
    pub fn trusted_walker(&self, env: Env, jni: Jni, java: u32) -> Result<(&Walker, SafeLoads), String> {
        let current = JavaThread::current(env, jni).ok_or("cannot find the JVM's thread structures")?;
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
