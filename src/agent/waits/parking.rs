//! Waiting in `java.util.concurrent` (`juc=on`): all of it comes down to `LockSupport.park*`, whose methods are rewritten to tell
//! MartiniParking, a Java class like HeapProxy, when they begin and end.

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

use classfile::{
    ClassFile, Insert, Instruction, Instrument, MethodView, Op, OpcodeSet, Rewritten, StaticMethod, opcode,
};
use jvmti::jni_sys::{JNIEnv, jboolean, jclass, jfieldID, jlong, jmethodID, jobject};
use jvmti::{Jni, JniError, NativeMethod, guard};
use trace::ids::ObjectId;

use super::super::Agent;
use super::super::classes::{ClassIndex, Parker};
use super::super::clock::Ticks;
use super::super::event::{Event, Way};
use super::super::stacks::Top;
use super::super::threads::{ThreadContext, in_context};
use super::monitors::{begin_wait, stack};
use super::recent::MonitorAddress;
use super::{Waits, id_of};

/// Compiled from `java/MartiniParking.java`.
const BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/MartiniParking.class"));

/// The class, as class files name it.
pub(crate) const INTERNAL_NAME: &str = "java/lang/MartiniParking";
/// The class, as a trace would name it.
pub(crate) const DOTTED_NAME: &str = "java.lang.MartiniParking";
const NAME: &CStr = c"java/lang/MartiniParking";

/// The class that is rewritten.
pub(crate) const LOCK_SUPPORT: &[u8] = b"java/util/concurrent/locks/LockSupport";

const fn method(name: &'static str, descriptor: &'static str) -> StaticMethod {
    StaticMethod { class: INTERNAL_NAME, name, descriptor }
}

/// The methods of LockSupport that park, which have the hooks' names and descriptors, and what hands their arguments on.
static HOOKS: [(StaticMethod, &[Op<'static>]); 6] = [
    (method("park", "(Ljava/lang/Object;)V"), &[Op::Aload0]),
    (method("parkNanos", "(Ljava/lang/Object;J)V"), &[Op::Aload0, Op::Lload(1)]),
    (method("parkUntil", "(Ljava/lang/Object;J)V"), &[Op::Aload0, Op::Lload(1)]),
    (method("park", "()V"), &[]),
    (method("parkNanos", "(J)V"), &[Op::Lload(0)]),
    (method("parkUntil", "(J)V"), &[Op::Lload(0)]),
];
static PARKED: StaticMethod = method("parked", "()V");

/// Puts the hooks into LockSupport.
#[derive(Default)]
struct ParkHooks {
    /// Of the method at hand.
    hook: Option<&'static (StaticMethod, &'static [Op<'static>])>,
}

impl Instrument for ParkHooks {
    fn method(&mut self, method: &MethodView<'_>) -> bool {
        let is_it = |(hook, _): &&(StaticMethod, _)| {
            hook.name.as_bytes() == method.name() && hook.descriptor.as_bytes() == method.descriptor()
        };
        self.hook = HOOKS.iter().find(is_it);
        self.hook.is_some()
    }

    fn opcodes(&self) -> OpcodeSet {
        OpcodeSet::ALL
    }

    fn instruction(&mut self, _: &MethodView<'_>, instruction: &Instruction<'_>, insert: &mut Insert<'_>) {
        let Some((hook, arguments)) = self.hook else { return };
        if instruction.pc() == 0 {
            insert.before(&[arguments, &[Op::InvokeStatic(hook)][..]].concat());
        }
        if matches!(instruction.opcode(), opcode::RETURN | opcode::ATHROW) {
            insert.before(&[Op::InvokeStatic(&PARKED)]);
        }
    }
}

/// LockSupport with its hooks.
pub(crate) fn rewrite<'a>(class: &ClassFile<'a>) -> Rewritten<'a> {
    classfile::rewrite_class(class, &mut ParkHooks::default())
}

/// MartiniParking's `registerNatives`, which its static initialiser calls.
///
/// # Safety
/// Called by the VM, with MartiniParking as `class`.
pub(crate) unsafe fn register_natives(jni: Jni, class: jclass) {
    let natives = [
        NativeMethod {
            name: c"begin",
            signature: c"(Ljava/lang/Thread;Ljava/lang/Object;J)V",
            function: begin as *const c_void,
        },
        NativeMethod { name: c"end", signature: c"(Z)V", function: end as *const c_void },
    ];
    // An exception stays pending: the class fails to initialise and `Proxy::define` tells.
    // SAFETY: the functions fit their descriptors, do not unwind, and stay loaded as long as the VM.
    let _ = unsafe { jni.register_natives(class, &natives) };
}

/// MartiniParking inside the VM.
pub(crate) struct Proxy {
    class: jclass,
    on: jfieldID,
    lost: jfieldID,
}

// SAFETY: a global reference and ids, which JNI lets every thread use.
unsafe impl Send for Proxy {}
// SAFETY: as above.
unsafe impl Sync for Proxy {}

impl Proxy {
    /// Defines and initialises the class. Works from VMStart on (design page, section 4).
    ///
    /// # Errors
    /// What the VM refuses; the pending exception is cleared.
    pub(super) fn define(jni: Jni) -> Result<Proxy, JniError> {
        let result = (|| {
            // SAFETY: the class has no loader but the boot loader, and its references live as long as they are used.
            unsafe {
                let local = jni.define_class(NAME, null_mut(), BYTES)?;
                let class = jni.new_global_ref(local);
                jni.delete_local_ref(local);
                // The first look-up initialises the class, which binds its natives.
                let on = jni.get_static_field_id(class, c"on", c"Z")?;
                Ok(Proxy { class, on, lost: jni.get_static_field_id(class, c"lost", c"I")? })
            }
        })();
        if result.is_err() {
            jni.exception_clear();
        }
        result
    }

    /// Lets the hooks through, or stops them.
    pub(super) fn set_on(&self, jni: Jni, on: bool) {
        // SAFETY: the class is a global reference and the field one of its own.
        unsafe { jni.set_static_boolean_field(self.class, self.on, on) }
    }

    /// Parks that could not be handed over; a lower bound.
    pub(super) fn lost(&self, jni: Jni) -> u64 {
        // SAFETY: the class is a global reference and the field one of its own.
        unsafe { jni.get_static_int_field(self.class, self.lost) }.max(0) as u64
    }
}

/// What tells a lock and its owner.
pub(crate) struct Fields {
    /// `AbstractOwnableSynchronizer`, a global reference.
    ownable: jclass,
    /// Its field `exclusiveOwnerThread`.
    owner: jfieldID,
    stamped: jclass,
    /// `isHeldExclusively` of the classes that only say that they do not know.
    undecided: [jmethodID; 2],
    /// `Thread.parkBlocker`.
    pub(super) blocker: jfieldID,
}

impl Fields {
    /// # Safety
    /// `thread` is a live reference to the class `java.lang.Thread`.
    pub(super) unsafe fn find(jni: Jni, thread: jclass) -> Result<Fields, JniError> {
        let class = |name| {
            let local = jni.find_class(name)?;
            // SAFETY: a live local reference, deleted at once.
            unsafe {
                let global = jni.new_global_ref(local);
                jni.delete_local_ref(local);
                Ok::<jclass, JniError>(global)
            }
        };
        let ownable = class(c"java/util/concurrent/locks/AbstractOwnableSynchronizer")?;
        let queued = class(c"java/util/concurrent/locks/AbstractQueuedSynchronizer")?;
        let queued_long = class(c"java/util/concurrent/locks/AbstractQueuedLongSynchronizer")?;
        let held = |class| {
            // SAFETY: a global reference.
            unsafe { jni.get_method_id(class, c"isHeldExclusively", c"()Z") }
        };
        // SAFETY: global references, and the caller's promise.
        unsafe {
            Ok(Fields {
                ownable,
                owner: jni.get_field_id(ownable, c"exclusiveOwnerThread", c"Ljava/lang/Thread;")?,
                stamped: class(c"java/util/concurrent/locks/StampedLock")?,
                undecided: [held(queued)?, held(queued_long)?],
                blocker: jni.get_field_id(thread, c"parkBlocker", c"Ljava/lang/Object;")?,
            })
        }
    }

    /// What parks on that object.
    ///
    /// # Safety
    /// `blocker` is a live reference to an object.
    unsafe fn parker(&self, agent: &Agent, jni: Jni, blocker: jobject) -> Parker {
        // SAFETY: by the caller's promise; the class is a local reference, deleted at once.
        unsafe {
            let class = jni.get_object_class(blocker);
            let parker = match agent.classes.resolve(agent.env, jni, class, agent) {
                Ok(index) => self.parker_of(agent, jni, index, class, blocker),
                Err(_) => Parker::Other,
            };
            jni.delete_local_ref(class);
            parker
        }
    }

    /// What parks on objects of that class.
    ///
    /// # Safety
    /// `blocker` is a live reference to an object of that class.
    unsafe fn parker_of(&self, agent: &Agent, jni: Jni, index: ClassIndex, class: jclass, blocker: jobject) -> Parker {
        let Some(record) = agent.classes.get(index) else { return Parker::Other };
        if let Some(known) = record.parker() {
            return known;
        }
        // SAFETY: by the caller's promise.
        let parker = unsafe {
            if jni.is_instance_of(blocker, self.stamped) {
                Parker::Lock
            } else if jni.is_instance_of(blocker, self.ownable) {
                // A synchronizer that one thread can own overrides this; semaphores and latches do not.
                match jni.get_method_id(class, c"isHeldExclusively", c"()Z") {
                    Ok(method) if !self.undecided.contains(&method) => Parker::OwnableLock,
                    Ok(_) => Parker::Other,
                    Err(_) => {
                        jni.exception_clear();
                        Parker::OwnableLock
                    }
                }
            } else {
                Parker::Other
            }
        };
        record.set_parker(parker);
        parker
    }

    /// The thread that owns a lock, as a new local reference, or null.
    ///
    /// # Safety
    /// `lock` is a live reference to an `AbstractOwnableSynchronizer`.
    unsafe fn owner(&self, jni: Jni, lock: jobject) -> jobject {
        // SAFETY: by the caller's promise.
        unsafe { jni.get_object_field(lock, self.owner) }
    }
}

impl Waits {
    /// The parking of `java.util.concurrent`'s lock that a thread is in, and who owns it: new local references, or null.
    ///
    /// # Safety
    /// `thread` is a live reference to a thread.
    pub(super) unsafe fn parked_on(&self, jni: Jni, thread: jobject) -> Option<(jobject, jobject)> {
        let fields = &self.fields.get()?.juc;
        // SAFETY: by the caller's promise.
        unsafe {
            let blocker = jni.get_object_field(thread, fields.blocker);
            if blocker.is_null() {
                return None;
            }
            let is_ownable = jni.is_instance_of(blocker, fields.ownable);
            let owner = if is_ownable { fields.owner(jni, blocker) } else { null_mut() };
            Some((blocker, owner))
        }
    }

    /// Parks that the hook could not hand over.
    pub(crate) fn lost_parks(&self, jni: Jni) -> u64 {
        self.parking.get().map_or(0, |proxy| proxy.lost(jni))
    }
}

/// `MartiniParking.begin`: the current thread is about to park.
///
/// # Safety
/// Called by the VM.
unsafe extern "system" fn begin(jni: *mut JNIEnv, _: jclass, thread: jobject, blocker: jobject, nanos: jlong) {
    guard(|| {
        let Some(agent) = Agent::reporting() else { return };
        let Some((waits, fields)) = agent.waits.as_ref().and_then(|w| Some((w, &w.fields.get()?.juc))) else { return };
        // SAFETY: the VM passes this thread's environment.
        let jni = unsafe { Jni::from_raw(jni) };
        // SAFETY: MartiniParking passes the current thread, and a live object or null.
        in_context(agent, jni, Ticks::now, |context| unsafe {
            let noted = if blocker.is_null() { jni.get_object_field(thread, fields.blocker) } else { null_mut() };
            let blocker = [blocker, noted, thread].into_iter().find(|object| !object.is_null()).unwrap_or(thread);
            let Some(object) = id_of(agent, waits, jni, context, MonitorAddress::default(), blocker) else { return };
            let parker = match context.recent.parked {
                Some((last, parker)) if last == object => parker,
                _ => fields.parker(agent, jni, blocker),
            };
            context.recent.parked = Some((object, parker));
            let now = Ticks::now();
            match parker {
                Parker::Other => {
                    let stack = stack(agent, jni, context, Top::Park);
                    let nanos = nanos.max(0) as u64;
                    let thread = context.current;
                    begin_wait(agent, context, now, object, thread, stack, nanos.div_ceil(1_000_000), Some(nanos));
                }
                _ => block(agent, waits, fields, jni, context, now, object, blocker, parker),
            }
        });
    });
}

/// Reports that a thread waits for a lock.
///
/// # Safety
/// `lock` is a live reference to what `parker` says.
#[allow(clippy::too_many_arguments, reason = "what the event has")]
unsafe fn block(
    agent: &'static Agent,
    waits: &Waits,
    fields: &Fields,
    jni: Jni,
    context: &mut ThreadContext,
    now: Ticks,
    object: ObjectId,
    lock: jobject,
    parker: Parker,
) {
    let thread = context.current;
    // SAFETY: by the caller's promise; local references, deleted when they are done with.
    unsafe {
        let owner = if parker == Parker::OwnableLock { fields.owner(jni, lock) } else { null_mut() };
        if !owner.is_null() {
            let index = waits.other_thread(agent, jni, owner, now);
            let stack = waits.owner_stack(
                agent,
                jni,
                context,
                now,
                || jni.new_local_ref(owner),
                || {
                    let then = fields.owner(jni, lock);
                    let same = jni.is_same_object(owner, then);
                    jni.delete_local_ref(then);
                    same
                },
            );
            context.push(agent, Event::Owner { thread: index, stack }, now);
            jni.delete_local_ref(owner);
        } else if parker == Parker::OwnableLock {
            // Readers hold it, or it has just been let go.
            waits.unknown_owners.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        let stack = stack(agent, jni, context, Top::Park);
        context.push(agent, Event::Enter { object, thread, stack, way: Way::Park }, now);
    }
}

/// `MartiniParking.end`: the current thread has parked.
///
/// # Safety
/// Called by the VM.
unsafe extern "system" fn end(jni: *mut JNIEnv, _: jclass, interrupted: jboolean) {
    guard(|| {
        let Some(agent) = Agent::reporting() else { return };
        // SAFETY: the VM passes this thread's environment.
        in_context(agent, unsafe { Jni::from_raw(jni) }, Ticks::now, |context| {
            let now = Ticks::now();
            context.push(agent, Event::Unparked { thread: context.current, interrupted }, now);
        });
    });
}
