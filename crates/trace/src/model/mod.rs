//! The event model: every element of a trace as a struct.
//!
//! The table below is the one place that says which attributes an element has, in which order they
//! are written and which must be there. `docs/reference/trace-format.md` explains them;
//! structs, writers and readers are made from it by the macro in `table`.

mod additions;
mod event_time;
mod table;
mod values;

use std::borrow::Cow;

use crate::attribute::Attribute;
use crate::ids::{ClassId, FunctionId, HeapDumpId, Id, MethodId, ObjectId, StackId, ThreadId};
use crate::time::{Nanos, Time};

pub use table::{AttributeSpec, ElementSpec, Irregularities, Presence, Record};
pub use values::{
    ArchiveRefusal, ArrayCode, CodeTier, CountSource, FilterMode, Flag, Frame, FrameType, FrameTypes, Frames, RootType,
    ThreadIds, ThreadKind, ThreadState, Tier, WaitEnd, Wildcard,
};

pub(crate) use table::{Attributes, RecordError};
use table::{ReadRecord, behind_the_end, elements, for_each_attribute, is_common};

/// Text of an attribute: borrowed where it needs no unescaping.
pub type Text<'a> = Cow<'a, str>;

/// An element without a struct of its own: only its name is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other<'a> {
    /// The element's name, which must be a valid XML name.
    pub name: Text<'a>,
}

impl Record for Other<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(b'<');
        out.extend_from_slice(self.name.as_bytes());
        out.extend_from_slice(b"/>\n");
    }
}

elements! {
    /// One element of a trace.
    enum Element<'a>;

    /// The machine; the first element of a trace.
    Node<'a> = "node" {
        /// Unique id of the machine.
        Expected node_id: Text<'a> = "nodeId",
        /// Host name.
        Expected hostname: Text<'a> = "hostname",
        /// One address, or several separated by commas.
        Expected ip_address: Text<'a> = "ipaddress",
        /// Offset from UTC in minutes, positive west.
        Expected timezone: i64 = "timezone",
        /// When the agent was created.
        Expected time: Time = "time",
    }

    /// The JVM process.
    ProcessCreate<'a> = "processCreate" {
        /// Unique id of the process.
        Expected process_id: Text<'a> = "processId",
        /// Process id of the operating system.
        Expected pid: u64 = "pid",
        /// Id of the machine.
        Expected node_id: Text<'a> = "nodeIdRef",
        /// As for [`Node`].
        Expected time: Time = "time",
        /// The command line, quoted for a shell.
        Optional name: Text<'a> = "name",
        /// The version of the JVM; an extension of Martini's.
        Optional java_version: Text<'a> = "javaVersion",
    }

    /// The profiler's agent inside the process.
    AgentCreate<'a> = "agentCreate" {
        /// Unique id of the agent.
        Expected agent_id: Text<'a> = "agentId",
        /// Version with three decimals.
        Expected version: Text<'a> = "version",
        /// Id of the process.
        Expected process_id: Text<'a> = "processIdRef",
        /// Name of the agent.
        Expected agent_name: Text<'a> = "agentName",
        /// `Profiler`.
        Expected agent_type: Text<'a> = "agentType",
        /// The option string that the agent was started with.
        Expected agent_parameters: Text<'a> = "agentParameters",
        /// When the agent was created.
        Expected time: Time = "time",
        /// The format of the file that the trace was made of, if Martini did not record it; an extension of Martini's.
        Optional imported_from: Text<'a> = "importedFrom",
    }

    /// The agent leaves: the last element of a trace.
    AgentDestroy<'a> = "agentDestroy" {
        /// Id of the agent.
        Expected agent_id: Text<'a> = "agentIdRef",
        /// When it left.
        Expected time: Time = "time",
    }

    /// Collection begins.
    TraceStart<'a> = "traceStart" {
        /// Unique id of the trace.
        Expected trace_id: Text<'a> = "traceId",
        /// Id of the agent.
        Expected agent_id: Text<'a> = "agentIdRef",
        /// When it began.
        Expected time: Time = "time",
    }

    /// Collection ends.
    TraceEnd = "traceEnd" {
        /// When it ended.
        Expected time: Time = "time",
    }

    /// One entry of the filter list.
    ///
    /// See [`filter`](crate::filter).
    Filter<'a> = "filter" {
        /// Class pattern without its `*`.
        Required pattern: Text<'a> = "pattern",
        /// What to do with classes that match.
        Required mode: FilterMode = "mode",
        /// Where the `*` of the class pattern stood.
        Expected generic_pattern: Wildcard = "genericPattern",
        /// Method pattern without its `*`.
        Expected method_pattern: Text<'a> = "methodPattern",
        /// What to do with methods that match.
        Expected method_mode: FilterMode = "methodMode",
        /// Where the `*` of the method pattern stood.
        Expected method_generic_pattern: Wildcard = "methodGenericPattern",
    }

    /// One setting of the profiler.
    TraceOption<'a> = "option" {
        /// Name of the setting.
        Required key: Text<'a> = "key",
        /// Its value.
        Expected value: Text<'a> = "value",
    }

    /// A thread started, or was there already and is about to be referred to.
    ThreadStart<'a> = "threadStart" {
        /// Id of the thread.
        Required thread_id: ThreadId = "threadId",
        /// When it started, or was first seen.
        Expected time: Time = "time",
        /// Its name; not unique.
        Expected thread_name: Text<'a> = "threadName",
        /// Name of its thread group.
        Expected group_name: Text<'a> = "groupName",
        /// Name of the group's parent group; empty if it has none.
        Expected parent_name: Text<'a> = "parentName",
        /// Id of the thread object; 0 if objects are not tracked.
        Optional object: ObjectId = "objIdRef",
        /// What it is, if it does not run Java; an extension of Martini's.
        Optional kind: ThreadKind = "kind",
    }

    /// A thread ended; its id may be reused.
    ThreadEnd = "threadEnd" {
        /// Id of the thread.
        Required thread: ThreadId = "threadIdRef",
        /// When it ended.
        Expected time: Time = "time",
    }

    /// A class was loaded. Written before the first reference to it, so later than its time says.
    ClassDef<'a> = "classDef" {
        /// The loading thread; only JVMPI's traces have it.
        Optional thread: ThreadId = "threadIdRef",
        /// Dotted name; arrays in source form (`int[][]`).
        Required name: Text<'a> = "name",
        /// Name of the source file, possibly empty.
        Optional source_name: Text<'a> = "sourceName",
        /// Id of the class.
        Required class_id: ClassId = "classId",
        /// Id of the `java.lang.Class` object.
        Optional object: ObjectId = "objIdRef",
        /// When the class was loaded.
        Expected time: Time = "time",
        /// Name of the module that the class is in; absent for unnamed modules. An addition of Martini's.
        Optional module: Text<'a> = "moduleName",
    }

    /// A class was unloaded; its id and those of its methods may be reused.
    ClassUnload = "classUnload" {
        /// Id of the class.
        Required class: ClassId = "classIdRef",
        /// The thread on which it happened.
        Optional thread: ThreadId = "threadIdRef",
        /// When it was unloaded.
        Expected time: Time = "time",
    }

    /// A method, defined before the first reference to it.
    MethodDef<'a> = "methodDef" {
        /// Source name, constructors as `-init-` and `-clinit-` (see [`names`](crate::names)).
        Required name: Text<'a> = "name",
        /// JVM descriptor.
        Required signature: Text<'a> = "signature",
        /// First source line.
        Optional start_line: i64 = "startLineNumber",
        /// Last source line.
        Optional end_line: i64 = "endLineNumber",
        /// Id of the method.
        Required method_id: MethodId = "methodId",
        /// Id of the declaring class.
        Required class: ClassId = "classIdRef",
    }

    /// A method was entered.
    MethodEntry = "methodEntry" {
        /// The thread.
        Required thread: ThreadId = "threadIdRef",
        /// When it was entered.
        Expected time: Time = "time",
        /// The method.
        Required method: MethodId = "methodIdRef",
        /// The receiver.
        Optional object: ObjectId = "objIdRef",
        /// The class.
        Expected class: ClassId = "classIdRef",
        /// Number of the call in its thread, the same on entry and exit.
        Optional ticket: u64 = "ticket",
        /// Depth of the stack, filtered frames included.
        Optional stack_depth: u64 = "stackDepth",
    }

    /// A method was left.
    MethodExit = "methodExit" {
        /// The thread.
        Required thread: ThreadId = "threadIdRef",
        /// The method; some JVMPI traces name the wrong one, so match by ticket.
        Required method: MethodId = "methodIdRef",
        /// The receiver.
        Optional object: ObjectId = "objIdRef",
        /// The class.
        Expected class: ClassId = "classIdRef",
        /// Number of the call in its thread.
        Optional ticket: u64 = "ticket",
        /// When it was left.
        Expected time: Time = "time",
        /// The profiler's own time in the call.
        Optional overhead: Nanos = "overhead",
    }

    /// Calls of a method from one caller on one thread, added up: what TPTP's profilers write instead of each call if no
    /// details are asked for. What stands up to the next `agMethodExit` was called from it. No real one was found: the names
    /// of its numbers are from memory.
    AgMethodEntry = "agMethodEntry" {
        /// The thread.
        Required thread: ThreadId = "threadIdRef",
        /// The method.
        Required method: MethodId = "methodIdRef",
        /// The class.
        Optional class: ClassId = "classIdRef",
        /// How many calls.
        Optional calls: u64 = "numCalls",
        /// The time in the method itself, without what it called.
        Optional base: Nanos = "baseTime",
    }

    /// The end of what an `agMethodEntry` called.
    AgMethodExit = "agMethodExit" {
        /// The thread.
        Required thread: ThreadId = "threadIdRef",
        /// The method.
        Required method: MethodId = "methodIdRef",
        /// The class.
        Optional class: ClassId = "classIdRef",
    }

    /// A call stack; an extension of Martini's.
    StackDef<'a> = "stackDef" {
        /// Id of the stack.
        Required stack_id: StackId = "stackId",
        /// Its frames, innermost first.
        Required frames: Frames<'a> = "frames",
        /// How each frame ran; absent where that is not known.
        Optional types: FrameTypes<'a> = "types",
    }

    /// A function of native code; an extension of Martini's.
    FunctionDef<'a> = "functionDef" {
        /// Id of the function.
        Required function_id: FunctionId = "functionId",
        /// Its name, demangled; that of the library, if it has no symbols.
        Required name: Text<'a> = "name",
        /// Name of the file that it is in.
        Optional library: Text<'a> = "library",
    }

    /// An object or array was allocated.
    ObjAlloc = "objAlloc" {
        /// The allocating thread; absent for objects that were there before.
        Optional thread: ThreadId = "threadIdRef",
        /// What kind of array the object is.
        Optional is_array: ArrayCode = "isArray",
        /// Shallow size in bytes.
        Required size: u64 = "size",
        /// Id of the object.
        Required obj_id: ObjectId = "objId",
        /// Class of the object; for arrays the array class.
        Required class: ClassId = "classIdRef",
        /// Allocation site: the method.
        Optional method: MethodId = "methodIdRef",
        /// Allocation site: the source line.
        Optional line: i64 = "lineNumber",
        /// Allocation site: the call stack; an extension of Martini's.
        Optional stack: StackId = "stackIdRef",
        /// When it was allocated.
        Expected time: Time = "time",
    }

    /// An object died; its id may be reused.
    ObjFree = "objFree" {
        /// The object.
        Required object: ObjectId = "objIdRef",
        /// A moment inside the collection that freed it.
        Expected time: Time = "time",
        /// The thread on which it happened.
        Optional thread: ThreadId = "threadIdRef",
    }

    /// What was allocated at one site from the beginning of reporting until `time`; an extension of Martini's.
    ///
    /// Cumulative: the last one for the same class, method, line and source counts.
    AllocCount = "allocCount" {
        /// What kind of array the objects are.
        Expected is_array: ArrayCode = "isArray",
        /// Class of the objects; for arrays the array class.
        Required class: ClassId = "classIdRef",
        /// The site: the method.
        Optional method: MethodId = "methodIdRef",
        /// The site: the source line.
        Optional line: i64 = "lineNumber",
        /// How many objects.
        Required instances: u64 = "instances",
        /// Their shallow sizes together.
        Required bytes: u64 = "bytes",
        /// How they were counted; absent for bytecode that counts.
        Optional source: CountSource = "source",
        /// How many of the bytes the JIT let be allocated, as a sampler estimates; earlier versions of Martini wrote it in place of
        /// `allocSample`.
        Optional allocated_bytes: u64 = "allocatedBytes",
        /// Until when.
        Expected time: Time = "time",
    }

    /// What a sampler says of one site's objects, on one stack and one thread, from the beginning of reporting until `time`; an
    /// extension of Martini's.
    ///
    /// Cumulative: the last one for the same class, method, line, stack and thread counts.
    AllocSample = "allocSample" {
        /// What kind of array the objects are.
        Expected is_array: ArrayCode = "isArray",
        /// Class of the objects; for arrays the array class.
        Required class: ClassId = "classIdRef",
        /// The site: the method, as in `allocCount`.
        Optional method: MethodId = "methodIdRef",
        /// The site: the source line.
        Optional line: i64 = "lineNumber",
        /// Where it was called from, from the site on.
        Optional stack: StackId = "stackIdRef",
        /// The platform thread that allocated, or carried who did.
        Optional thread: ThreadId = "threadIdRef",
        /// How many objects were sampled.
        Required samples: u64 = "samples",
        /// How many objects they stand for.
        Required instances: u64 = "instances",
        /// How many bytes they stand for.
        Required bytes: u64 = "bytes",
        /// The standard error of `bytes`.
        Required error: u64 = "error",
        /// Until when.
        Expected time: Time = "time",
    }

    /// What one thread allocated, as reported and as the JVM itself accounts; an extension of Martini's.
    ///
    /// From the beginning of reporting or of the thread until `time`. Cumulative: the last one counts.
    ThreadCount = "threadCount" {
        /// The platform thread; what virtual threads allocated while it carried them is its own.
        Required thread: ThreadId = "threadIdRef",
        /// How many objects were reported.
        Required instances: u64 = "instances",
        /// Their shallow sizes together.
        Required bytes: u64 = "bytes",
        /// What the JVM accounted to the thread in the same span; absent if it did not say.
        Optional vm_bytes: u64 = "vmBytes",
        /// Until when.
        Expected time: Time = "time",
    }

    /// The living instances of one class; an extension of Martini's.
    ///
    /// All that one walk of the heap found has the same time; a class without one has no living instances.
    LiveCount = "liveCount" {
        /// What kind of array the objects are.
        Expected is_array: ArrayCode = "isArray",
        /// Class of the objects; for arrays the array class.
        Required class: ClassId = "classIdRef",
        /// How many objects.
        Required instances: u64 = "instances",
        /// Their shallow sizes together.
        Required bytes: u64 = "bytes",
        /// When the heap was walked.
        Expected time: Time = "time",
    }

    /// What the sampled objects stand for that lived at a time, of one site, stack, thread and age; an extension of Martini's.
    ///
    /// All that one look found has the same time; what is not among it had none.
    LiveSample = "liveSample" {
        /// What kind of array the objects are.
        Expected is_array: ArrayCode = "isArray",
        /// Class of the objects; for arrays the array class.
        Required class: ClassId = "classIdRef",
        /// The site: the method.
        Optional method: MethodId = "methodIdRef",
        /// The site: the source line.
        Optional line: i64 = "lineNumber",
        /// Where it was called from, from the site on.
        Optional stack: StackId = "stackIdRef",
        /// The platform thread that allocated, or carried who did.
        Optional thread: ThreadId = "threadIdRef",
        /// How many collections the objects have survived.
        Required age: u64 = "age",
        /// How many sampled objects live.
        Required samples: u64 = "samples",
        /// How many objects they stand for.
        Required instances: u64 = "instances",
        /// How many bytes they stand for.
        Required bytes: u64 = "bytes",
        /// The standard error of `bytes`.
        Required error: u64 = "error",
        /// When it was looked.
        Expected time: Time = "time",
    }

    /// A stop-the-world collection began.
    GcStart = "gcStart" {
        /// When it began.
        Expected time: Time = "time",
        /// The thread on which it happened.
        Optional thread: ThreadId = "threadIdRef",
    }

    /// A stop-the-world collection ended.
    GcFinish = "gcFinish" {
        /// When it ended.
        Expected time: Time = "time",
        /// Number of objects in use after it.
        Optional used_objects: u64 = "usedObjects",
        /// Bytes in use after it.
        Optional used_space: u64 = "usedObjSpace",
        /// Bytes of object space in all.
        Optional total_space: u64 = "totalObjSpace",
    }

    /// A thread blocks on a monitor that another thread owns.
    MonContendedEnter = "monContendedEnter" {
        /// The blocked thread.
        Required thread: ThreadId = "threadIdRef",
        /// When it blocked.
        Expected time: Time = "time",
        /// The monitor.
        Required object: ObjectId = "objIdRef",
        /// The thread that owns the monitor.
        Optional owner: ThreadId = "threadOwner",
        /// The object on which the owner runs.
        Optional owner_object: ObjectId = "thisOwner",
        /// Where the thread blocks; an extension of Martini's.
        Optional stack: StackId = "stackIdRef",
        /// Where the owner was at that moment; an extension of Martini's.
        Optional owner_stack: StackId = "ownerStackIdRef",
        /// It is a park of `java.util.concurrent`, not a monitor; an extension of Martini's.
        Optional parked: Flag = "parked",
        /// The wait was seen by looks so far apart: it began and ended between two of them; an extension of Martini's.
        Optional look_interval: Nanos = "lookInterval",
    }

    /// The blocked thread got the monitor.
    MonContendedEntered = "monContendedEntered" {
        /// The thread.
        Required thread: ThreadId = "threadIdRef",
        /// When it got the monitor.
        Expected time: Time = "time",
        /// The monitor.
        Required object: ObjectId = "objIdRef",
        /// It is a park of `java.util.concurrent`, not a monitor; an extension of Martini's.
        Optional parked: Flag = "parked",
    }

    /// A thread calls `Object.wait`.
    MonWait = "monWait" {
        /// The thread.
        Required thread: ThreadId = "threadIdRef",
        /// When it began to wait.
        Expected time: Time = "time",
        /// The monitor.
        Required object: ObjectId = "objIdRef",
        /// The limit in milliseconds; 0 is none.
        Expected timeout_millis: u64 = "timeout",
        /// Where the thread waits; an extension of Martini's.
        Optional stack: StackId = "stackIdRef",
        /// It is a park of `java.util.concurrent`, not a monitor; an extension of Martini's.
        Optional parked: Flag = "parked",
    }

    /// A thread's `Object.wait` ended.
    MonWaited = "monWaited" {
        /// The thread.
        Required thread: ThreadId = "threadIdRef",
        /// When the wait ended.
        Expected time: Time = "time",
        /// The monitor.
        Required object: ObjectId = "objIdRef",
        /// How long it waited, in whole milliseconds.
        Expected timeout_millis: u64 = "timeout",
        /// What ended the wait; an extension of Martini's.
        Optional reason: WaitEnd = "reason",
        /// It is a park of `java.util.concurrent`, not a monitor; an extension of Martini's.
        Optional parked: Flag = "parked",
    }

    /// A thread calls `Thread.sleep`; an extension of Martini's.
    ThreadSleep = "threadSleep" {
        /// The thread.
        Required thread: ThreadId = "threadIdRef",
        /// When it began to sleep.
        Expected time: Time = "time",
        /// Where the thread sleeps.
        Optional stack: StackId = "stackIdRef",
    }

    /// A thread's `Thread.sleep` ended; an extension of Martini's.
    ThreadSlept = "threadSlept" {
        /// The thread.
        Required thread: ThreadId = "threadIdRef",
        /// When it woke.
        Expected time: Time = "time",
    }

    /// What a platform thread had of the processors, from the beginning of reporting or of the thread until `time`; an extension
    /// of Martini's.
    ///
    /// Cumulative: the last one counts.
    ThreadCpu = "threadCpu" {
        /// The platform thread; what virtual threads did while it carried them is its own.
        Required thread: ThreadId = "threadIdRef",
        /// How long it ran on a processor.
        Required cpu: Nanos = "cpuTime",
        /// How long it could have run and no processor was free; absent if the system did not say.
        Optional queued: Nanos = "queuedTime",
        /// Until when.
        Expected time: Time = "time",
    }

    /// A thread was seen on a processor; an extension of Martini's.
    CpuSample<'a> = "cpuSample" {
        /// The platform thread.
        Required thread: ThreadId = "threadIdRef",
        /// The virtual thread that it carried.
        Optional virtual_thread: ThreadId = "virtualThreadIdRef",
        /// When it was seen; up to a second before what is written in front of it.
        Expected time: Time = "time",
        /// For how much of the thread's time on processors the sample stands.
        Required cpu: Nanos = "cpuTime",
        /// Its Java frames; absent if it has none, or if they were not found.
        Optional stack: StackId = "stackIdRef",
        /// The native function that ran on top of them.
        Optional function: FunctionId = "functionIdRef",
        /// It was in the kernel.
        Optional kernel: Flag = "kernel",
        /// Why its Java frames were not found.
        Optional lost: Text<'a> = "lost",
    }

    /// A thread was looked at, whether it ran or not; an extension of Martini's.
    WallSample<'a> = "wallSample" {
        /// The platform thread.
        Required thread: ThreadId = "threadIdRef",
        /// The virtual thread that it carried.
        Optional virtual_thread: ThreadId = "virtualThreadIdRef",
        /// When it was seen; up to a second before what is written in front of it.
        Expected time: Time = "time",
        /// For how much of the thread's life the sample stands.
        Required wall: Nanos = "wallTime",
        /// What it did.
        Required state: ThreadState = "state",
        /// Its Java frames; absent if it has none, or if they were not found.
        Optional stack: StackId = "stackIdRef",
        /// The native function that was on top of them.
        Optional function: FunctionId = "functionIdRef",
        /// Why its Java frames were not found.
        Optional lost: Text<'a> = "lost",
    }

    /// How often the VM stopped all threads for one of its operations, until `time`; an extension of Martini's.
    ///
    /// Cumulative: the last one for the same operation counts.
    SafepointCount<'a> = "safepointCount" {
        /// The operation; absent if it is not known.
        Optional operation: Text<'a> = "operation",
        /// How often.
        Required count: u64 = "count",
        /// How long it took in all until all threads had stopped.
        Required sync: Nanos = "syncTime",
        /// How long it took in all from the order to stop until threads were let go.
        Required total: Nanos = "totalTime",
        /// Until when.
        Expected time: Time = "time",
    }

    /// All threads were stopped, and it took long until they had; an extension of Martini's.
    Safepoint<'a> = "safepoint" {
        /// The operation; absent if it is not known.
        Optional operation: Text<'a> = "operation",
        /// When threads were to stop; up to a second before what is written in front of it.
        Expected time: Time = "time",
        /// How long it took until all had stopped.
        Required sync: Nanos = "syncTime",
        /// How long until they were let go; absent if that is not known.
        Optional total: Nanos = "totalTime",
    }

    /// A thread that had not stopped for a safepoint; an extension of Martini's.
    LateThread<'a> = "lateThread" {
        /// The platform thread.
        Required thread: ThreadId = "threadIdRef",
        /// When it was seen; up to a second before what is written in front of it.
        Expected time: Time = "time",
        /// How long after it was to stop.
        Required late: Nanos = "late",
        /// Its Java frames; absent if they were not found.
        Optional stack: StackId = "stackIdRef",
        /// The native function that ran on top of them.
        Optional function: FunctionId = "functionIdRef",
        /// Why its Java frames were not found.
        Optional lost: Text<'a> = "lost",
    }

    /// A static initialiser that ran for a millisecond or more; an extension of Martini's.
    ClassInit<'a> = "classInit" {
        /// Its class, as the JVM has it: `com/acme/Rules`.
        Required class: Text<'a> = "className",
        /// The thread that ran it; absent if that is not known.
        Optional thread: ThreadId = "threadIdRef",
        /// When it began; up to some seconds before what is written in front of it.
        Expected time: Time = "time",
        /// How long it ran, to the millisecond, with all that it made run itself.
        Required took: Nanos = "totalTime",
        /// It had not ended when the recording did.
        Optional running: Flag = "running",
        /// Its frame and those further out, which show what made it run; absent if they were not found.
        Optional stack: StackId = "stackIdRef",
        /// Why its stack was not found.
        Optional lost: Text<'a> = "lost",
    }

    /// The JVM compiled a method; an extension of Martini's.
    Compilation<'a> = "compilation" {
        /// The JVM's number of the compilation.
        Required id: u64 = "compileId",
        /// As the JVM prints it: `com.acme.Rules::match`.
        Required method: Text<'a> = "method",
        /// What compiled it.
        Required tier: CodeTier = "tier",
        /// The code is entered in the middle of a loop.
        Optional osr: Flag = "osr",
        /// Bytes of its bytecode.
        Optional bytes: u64 = "bytecodeSize",
        /// When the compiler began; up to some seconds before what is written in front of it.
        Expected time: Time = "time",
        /// How long it took, to the millisecond.
        Required took: Nanos = "totalTime",
    }

    /// Compiled code is entered no more; an extension of Martini's.
    CodeDiscarded<'a> = "codeDiscarded" {
        /// The JVM's number of the compilation.
        Required id: u64 = "compileId",
        /// As the JVM prints it.
        Required method: Text<'a> = "method",
        /// What had compiled it.
        Required tier: CodeTier = "tier",
        /// The code was entered in the middle of a loop.
        Optional osr: Flag = "osr",
        /// Why; absent if the JVM does not say (before JDK 25).
        Optional reason: Text<'a> = "reason",
        /// When; up to some seconds before what is written in front of it.
        Expected time: Time = "time",
    }

    /// Look-ups of classes that failed at one place until `time` (`ClassNotFoundException`); an extension of Martini's.
    ///
    /// Cumulative: the last one for the same stack counts.
    FailedLookup = "failedLookup" {
        /// How many.
        Required count: u64 = "count",
        /// Where the exception was made; absent if that is not known.
        Optional stack: StackId = "stackIdRef",
        /// Until when.
        Expected time: Time = "time",
    }

    /// An archive of classes (CDS archive, AOT cache) that the JVM uses or was to use; an extension of Martini's.
    ClassArchive<'a> = "classArchive" {
        /// The file, as the JVM was told.
        Required file: Text<'a> = "file",
        /// When that was looked up.
        Expected time: Time = "time",
        /// The JVM uses it.
        Optional used: Flag = "used",
        /// Why the JVM does not use it.
        Optional refusal: ArchiveRefusal = "refusal",
        /// The flag, option, agent, jar or build that `refusal` is about.
        Optional detail: Text<'a> = "detail",
    }

    /// A class was loaded that came out of no archive; an extension of Martini's.
    ClassLoad<'a> = "classLoad" {
        /// Its name, as the JVM logs it: `com.acme.Rules`.
        Required class: Text<'a> = "className",
        /// Where it came from, as the JVM logs it: `jrt:/java.base`, `file:/app.jar`, or the class that generated it.
        Required source: Text<'a> = "source",
        /// When; up to some seconds before what is written in front of it.
        Expected time: Time = "time",
    }

    /// A counter of the JVM's own (`jcmd PID PerfCounter.print`) had this value; an extension of Martini's.
    ///
    /// Since the JVM's start. Written when it has changed; times are nanoseconds.
    JvmCounter<'a> = "jvmCounter" {
        /// Its name: `sun.cls.classInitTime`.
        Required name: Text<'a> = "name",
        /// When it was read; up to some seconds before what is written in front of it.
        Expected time: Time = "time",
        /// What it was.
        Required value: u64 = "value",
    }

    /// A method each call of which is a request, if no other request is under way on its thread; an extension of Martini's.
    RequestEntry<'a> = "requestEntry" {
        /// Its number in the trace.
        Required entry: u64 = "entryId",
        /// Its class and name: `com.acme.Orders.handle`.
        Required method: Text<'a> = "method",
        /// Of what it is the entry point, where the user did not name it: `servlet`.
        Optional kind: Text<'a> = "kind",
        /// When it was first called.
        Expected time: Time = "time",
    }

    /// A request that has ended; an extension of Martini's.
    ///
    /// The first thousand of an entry point, and each that took longer than those before it in its second.
    Request = "request" {
        /// Its entry point.
        Required entry: u64 = "entryIdRef",
        /// Its number among the requests of the entry point, in the order in which they began, from 1 on.
        Required number: u64 = "number",
        /// The thread, platform or virtual.
        Required thread: ThreadId = "threadIdRef",
        /// When it began.
        Expected time: Time = "time",
        /// How long it took.
        Required took: Nanos = "totalTime",
        /// For how long its thread was on a processor; absent if that is not known.
        Optional cpu: Nanos = "cpuTime",
        /// For how long its thread was ready to run, but had no processor; absent if that was not read.
        Optional ready: Nanos = "readyTime",
        /// Bytes of the objects that its thread allocated, exact; absent if that is not known.
        Optional bytes: u64 = "bytes",
        /// An exception left the method.
        Optional failed: Flag = "failed",
        /// It was handed over (`startAsync`): what goes on on other threads or after the method was left is not in it.
        Optional handed_over: Flag = "handedOver",
    }

    /// The requests of an entry point that ended since the last such element; an extension of Martini's.
    RequestCount<'a> = "requestCount" {
        /// The entry point.
        Required entry: u64 = "entryIdRef",
        /// Until when.
        Expected time: Time = "time",
        /// How many.
        Required requests: u64 = "requests",
        /// Those that an exception ended.
        Optional failures: u64 = "failures",
        /// Those that were handed over (`startAsync`), and may have gone on on other threads.
        Optional handovers: u64 = "handovers",
        /// How long they took together.
        Required took: Nanos = "totalTime",
        /// How many of them `cpuTime` and `bytes` are of.
        Optional measured: u64 = "measured",
        /// For how long their threads were on processors.
        Optional cpu: Nanos = "cpuTime",
        /// Bytes of the objects that they allocated.
        Optional bytes: u64 = "bytes",
        /// How long they took: slots of durations, and how many requests are in each (`412:3 415:1`).
        Required durations: Text<'a> = "durations",
    }

    /// A method that the user named was entered for the first time; an extension of Martini's.
    Mark<'a> = "mark" {
        /// Its class and name: `com.acme.Server.ready`.
        Required method: Text<'a> = "method",
        /// The thread that entered it.
        Required thread: ThreadId = "threadIdRef",
        /// When.
        Expected time: Time = "time",
    }

    /// Who owns a monitor, where that does not follow from earlier events.
    MonStillOwned = "monStillOwned" {
        /// A thread that waits for it.
        Optional thread: ThreadId = "threadIdRef",
        /// When it was found owned.
        Expected time: Time = "time",
        /// The monitor.
        Required object: ObjectId = "objIdRef",
        /// The owner.
        Optional owner: ThreadId = "threadOwner",
        /// Where the waiting thread is; an extension of Martini's.
        Optional stack: StackId = "stackIdRef",
        /// Where the owner is; an extension of Martini's.
        Optional owner_stack: StackId = "ownerStackIdRef",
        /// It is a park of `java.util.concurrent`, not a monitor; an extension of Martini's.
        Optional parked: Flag = "parked",
    }

    /// Where the program keeps a lock for which threads waited long; an extension of Martini's.
    LockName<'a> = "lockName" {
        /// The lock.
        Required object: ObjectId = "objIdRef",
        /// The class that declares the field; the class that is the lock, if there is no field.
        Required class: ClassId = "classIdRef",
        /// The field in which the lock lies, and what is between: `queue.notEmpty`; `locks[]`, if it is in an array or collection.
        Optional field: Cow<'a, str> = "field",
        /// When that was looked at.
        Expected time: Time = "time",
    }

    /// Who owns a monitor and who waits for it, as requested by a user; an extension of Martini's.
    MonitorUsage<'a> = "monitorUsage" {
        /// The monitor.
        Required object: ObjectId = "objIdRef",
        /// When it was requested.
        Expected time: Time = "time",
        /// The thread that owns it; absent if none does.
        Optional owner: ThreadId = "threadOwner",
        /// How many times the owner has entered it; absent if the JVM cannot be asked.
        Optional entry_count: u64 = "entryCount",
        /// The threads that wait to enter it.
        Required waiters: ThreadIds<'a> = "waiterIdRefs",
        /// The threads that wait to be notified.
        Required notify_waiters: ThreadIds<'a> = "notifyWaiterIdRefs",
    }

    /// What a thread does, as requested by a user; an extension of Martini's.
    ThreadInfo<'a> = "threadInfo" {
        /// The thread.
        Required thread: ThreadId = "threadIdRef",
        /// When it was requested.
        Expected time: Time = "time",
        /// Its name at that time.
        Expected name: Text<'a> = "threadName",
        /// What it does.
        Required state: ThreadState = "state",
        /// Its priority, 1 to 10.
        Expected priority: u64 = "priority",
        /// Whether the JVM ends without waiting for it.
        Expected daemon: Flag = "daemon",
        /// The monitor that it is blocked on or waits for.
        Optional object: ObjectId = "objIdRef",
        /// Where it is.
        Optional stack: StackId = "stackIdRef",
    }

    /// A dump of all threads by the JVM itself, or a part of one: all parts have the same time; an extension of Martini's.
    ThreadDump<'a> = "threadDump" {
        /// When it was taken.
        Expected time: Time = "time",
        /// Who owns what threads are parked for: Java's numbers of the parked thread and of the owner, as in `20:21 22:21`.
        Optional owners: Text<'a> = "owners",
        /// Lines that `jcmd PID Thread.print` prints.
        Required text: Text<'a> = "text",
    }

    /// A heap dump begins; its roots and references follow.
    HeapDumpDef<'a> = "heapDumpDef" {
        /// Id of the dump.
        Required dump_id: HeapDumpId = "heapDumpId",
        /// A label.
        Optional name: Text<'a> = "name",
        /// When the dump was taken.
        Expected time: Time = "time",
        /// Which objects have no id of the trace in the dump although the trace has them, and why; absent if there are none. An
        /// extension of Martini's.
        Optional without_ids: Text<'a> = "withoutIds",
    }

    /// A root: an object that the collector keeps although no object refers to it.
    GcRoot = "gcRoot" {
        /// The dump.
        Required dump: HeapDumpId = "heapDumpIdRef",
        /// The object.
        Required object: ObjectId = "objIdRef",
        /// Why it is kept.
        Required root_type: RootType = "type",
        /// The thread, for roots that belong to one.
        Optional thread: ThreadId = "threadIdRef",
    }

    /// One object refers to another.
    ObjectReference = "objectReference" {
        /// The dump.
        Required dump: HeapDumpId = "heapDumpIdRef",
        /// The object that refers.
        Required owner: ObjectId = "ownerIdRef",
        /// The object referred to.
        Required object: ObjectId = "objIdRef",
        /// Index of the field or array element.
        Optional field_index: i64 = "fieldIdx",
    }

    /// The VM is initialised; allocations are reported from here on.
    RuntimeInitDone = "runtimeInitDone" {
        /// The main thread.
        Expected thread: ThreadId = "threadIdRef",
        /// When it was done.
        Expected time: Time = "time",
    }

    /// The VM is going down.
    RuntimeShutdown = "runtimeShutdown" {
        /// When it began to.
        Expected time: Time = "time",
        /// The thread on which it happened.
        Optional thread: ThreadId = "threadIdRef",
    }

    /// A number that says how complete the trace is; an extension of Martini's.
    MartiniCount<'a> = "martiniCount" {
        /// What is counted, such as `events.lost`; the reader replaces keys of earlier versions (see [`counters`](crate::counters)).
        Required key: Text<'a> = "key",
        /// Which of several, such as the reason of a refusal.
        Optional detail: Text<'a> = "detail",
        /// How many.
        Required value: u64 = "value",
    }
}
