//! The Java classes that rewritten code calls: their names, and how they get into the VM.
//!
//! They are defined in `java.lang`, with the boot loader, where every class of every module may call them; from VMStart on that
//! needs no file and no module edge. The VM never unloads them, so they are defined once for all recordings.

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

use jvmti::jni_sys::{JNIEnv, jclass, jfieldID};
use jvmti::{Jni, JniError, NativeMethod};

use super::mutex::Mutex;

/// A helper class, by its names.
#[derive(Debug)]
pub struct Helper {
    /// As class files name it.
    pub internal_name: &'static str,
    /// The same for JNI.
    pub c_name: &'static CStr,
    /// As the trace names it.
    pub dotted_name: &'static str,
    /// The class file, compiled from its source in `java`.
    pub bytes: &'static [u8],
}

macro_rules! helper {
    ($name:literal) => {
        helper!("java/lang/", "java.lang.", $name)
    };
    ($package:literal, $dotted:literal, $name:literal) => {
        Helper {
            internal_name: concat!($package, $name),
            // The macro puts the NUL there.
            c_name: match CStr::from_bytes_with_nul(concat!($package, $name, "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!(),
            },
            dotted_name: concat!($dotted, $name),
            bytes: include_bytes!(concat!("../java/classes/", $package, $name, ".class")),
        }
    };
}

/// Its hooks report objects, or keep the JIT from removing them.
pub static HEAP_PROXY: Helper = helper!("MartiniHeapProxy");
/// Its hooks count objects.
pub static COUNTS: Helper = helper!("MartiniCounts");
/// Its hooks report parking threads.
pub static PARKING: Helper = helper!("MartiniParking");
/// Its hooks report threads that sleep.
pub static SLEEP: Helper = helper!("MartiniSleep");
/// Counts exceptions.
pub static EXCEPTIONS: Helper = helper!("MartiniExceptions");
/// Its hooks report when requests begin and end.
pub static REQUESTS: Helper = helper!("MartiniRequests");
/// Answers for class loaders that are asked for one of these.
pub static LOADERS: Helper = helper!("MartiniLoaders");
/// The last hook of the VM's shutdown.
pub static SHUTDOWN: Helper = helper!("MartiniShutdown");
/// Its stacks test the stack walker.
pub static WALK: Helper = helper!("MartiniWalk");
/// Shows whether the VM finds the natives of the others.
pub static REACH: Helper = helper!("MartiniReach");

/// What the MXBean `martini:type=WarmUp` says.
pub static WARM_UP_BEAN: Helper = helper!("java/lang/management/", "java.lang.management.", "MartiniWarmUpMXBean");
/// That MXBean. Both are in the package of the JDK's own: they name classes of its module.
pub static WARM_UP: Helper = helper!("java/lang/management/", "java.lang.management.", "MartiniWarmUp");

/// All of them.
pub(crate) static ALL: [&Helper; 12] = [
    &HEAP_PROXY,
    &COUNTS,
    &PARKING,
    &SLEEP,
    &EXCEPTIONS,
    &REQUESTS,
    &LOADERS,
    &SHUTDOWN,
    &WALK,
    &REACH,
    &WARM_UP_BEAN,
    &WARM_UP,
];

/// Whether a class of that internal name is one of the helpers, which are never rewritten.
pub fn is_helper(internal_name: &[u8]) -> bool {
    ALL.iter().any(|helper| helper.internal_name.as_bytes() == internal_name)
}

/// Their internal names.
pub fn internal_names() -> [&'static [u8]; ALL.len()] {
    ALL.map(|helper| helper.internal_name.as_bytes())
}

/// Whether a class of that dotted name is one of the helpers, whose frames are no part of the program's stacks.
pub fn is_helper_frame(dotted_name: &str) -> bool {
    ALL.iter().any(|helper| helper.dotted_name == dotted_name)
}

/// A helper class in the VM: a global reference that is never deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HelperClass(pub jclass);

// SAFETY: JNI lets every thread use a global reference.
unsafe impl Send for HelperClass {}
// SAFETY: as above.
unsafe impl Sync for HelperClass {}

impl HelperClass {
    /// A static field of the class. Looking it up initialises the class, if it is not initialised yet.
    fn field(self, jni: Jni, name: &CStr, descriptor: &CStr) -> Result<jfieldID, JniError> {
        // SAFETY: a global reference.
        unsafe { jni.get_static_field_id(self.0, name, descriptor) }.inspect_err(|_| jni.exception_clear())
    }

    fn lost_field(self, jni: Jni) -> Result<jfieldID, JniError> {
        self.field(jni, c"lost", c"I")
    }

    /// Sets a static boolean field of the class, which it has.
    pub fn set_boolean(self, jni: Jni, name: &CStr, on: bool) {
        if let Ok(field) = self.field(jni, name, c"Z") {
            // SAFETY: the field is one of the class.
            unsafe { jni.set_static_boolean_field(self.0, field, on) }
        }
    }

    /// Sets a static `int` field of the class.
    ///
    /// # Errors
    /// What the VM refuses; no exception is pending any more.
    pub fn set_int(self, jni: Jni, name: &CStr, value: i32) -> Result<(), JniError> {
        let field = self.field(jni, name, c"I")?;
        // SAFETY: the field is one of the class.
        unsafe { jni.set_static_int_field(self.0, field, value) };
        Ok(())
    }

    /// Events that the class could not hand over, which it counts in its field `lost`; a lower bound.
    pub fn lost(self, jni: Jni) -> u64 {
        // SAFETY: the field is one of the class.
        self.lost_field(jni).map_or(0, |field| unsafe { jni.get_static_int_field(self.0, field) }.max(0) as u64)
    }

    /// Calls a static method of the class that takes nothing and returns nothing.
    ///
    /// # Errors
    /// It throws, or is not there; no exception is pending any more.
    pub fn call(self, jni: Jni, name: &CStr) -> Result<(), JniError> {
        // SAFETY: a global reference, and a method of the class without arguments.
        let called = unsafe {
            jni.get_static_method_id(self.0, name, c"()V")
                .and_then(|method| jni.call_static_void_method(self.0, method, &[]))
        };
        called.inspect_err(|_| jni.exception_clear())
    }
}

/// The annotation with which all their methods are compiled: the VM leaves them out of stack traces.
const HIDDEN: &[u8] = b"Ljdk/internal/vm/annotation/Hidden;";
/// Its name in older JDKs.
const HIDDEN_BEFORE: &[u8] = b"Ljava/lang/invoke/LambdaForm$Hidden;";
/// The first feature release with the newer name.
const FIRST_WITH_HIDDEN: u32 = 14;

/// Replaces one text in the constant pool of a class file of ours.
pub fn rename(class: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let entry = |text: &[u8]| [&[1], &(text.len() as u16).to_be_bytes()[..], text].concat();
    let (from, to) = (entry(from), entry(to));
    match class.windows(from.len()).position(|window| window == from) {
        Some(at) => [&class[..at], &to, &class[at + from.len()..]].concat(),
        None => class.to_vec(),
    }
}

/// The helper classes that the VM has.
pub struct Helpers {
    /// The feature release.
    java: u32,
    defined: Mutex<Vec<(&'static str, HelperClass)>>,
}

impl Helpers {
    /// None yet, in a VM of that feature release.
    pub fn new(java: u32) -> Helpers {
        Helpers { java, defined: Mutex::default() }
    }

    /// The class, if it is defined.
    pub fn known(&self, helper: &'static Helper) -> Option<HelperClass> {
        self.defined.lock().iter().find(|(name, _)| *name == helper.internal_name).map(|&(_, class)| class)
    }

    /// The class, which is defined and initialised if it is not yet, from VMStart on. Most bind their natives then.
    ///
    /// # Errors
    /// What the VM refuses; no exception is pending any more.
    pub fn start(&self, jni: Jni, helper: &'static Helper) -> Result<HelperClass, JniError> {
        let class = self.define(jni, helper)?;
        class.lost_field(jni).map(|_| class)
    }

    /// The class, which is defined if the VM does not have it yet.
    ///
    /// # Errors
    /// What the VM refuses; no exception is pending any more.
    pub fn define(&self, jni: Jni, helper: &'static Helper) -> Result<HelperClass, JniError> {
        self.define_from(jni, helper, helper.bytes)
    }

    /// The same, from another class file than its own. All recordings begin on one thread at a time.
    ///
    /// # Errors
    /// What the VM refuses; no exception is pending any more.
    pub fn define_from(&self, jni: Jni, helper: &'static Helper, bytes: &[u8]) -> Result<HelperClass, JniError> {
        if let Some(known) = self.known(helper) {
            return Ok(known);
        }
        let older = (self.java < FIRST_WITH_HIDDEN).then(|| rename(bytes, HIDDEN, HIDDEN_BEFORE));
        let bytes = older.as_deref().unwrap_or(bytes);
        // SAFETY: the class has no loader but the boot loader; the local reference is deleted at once.
        let class = unsafe {
            let local = jni.define_class(helper.c_name, null_mut(), bytes).inspect_err(|_| jni.exception_clear())?;
            let class = HelperClass(jni.new_global_ref(local));
            jni.delete_local_ref(local);
            class
        };
        self.defined.lock().push((helper.internal_name, class));
        Ok(class)
    }
}

/// A native method of a helper class.
pub const fn native(name: &'static CStr, signature: &'static CStr, function: *const c_void) -> NativeMethod<'static> {
    NativeMethod { name, signature, function }
}

/// The native methods of a helper class. It binds them in its own `registerNatives`: the VM prints a warning if that is done from
/// outside.
pub struct Natives(&'static [NativeMethod<'static>]);

// SAFETY: names and addresses of functions, which nobody changes.
unsafe impl Sync for Natives {}

impl Natives {
    /// These.
    ///
    /// # Safety
    /// Each function fits its descriptor and does not unwind.
    pub const unsafe fn new(natives: &'static [NativeMethod<'static>]) -> Natives {
        Natives(natives)
    }

    /// Binds them, on a call of the class's `registerNatives`.
    ///
    /// # Safety
    /// Called by the VM, with the class whose natives they are.
    pub unsafe fn bind(&self, jni: *mut JNIEnv, class: jclass) {
        // An exception stays pending: the class fails to initialise, which is reported where it is used first.
        // SAFETY: by the promises of the caller and of `new`; the functions stay loaded as long as the VM.
        let _ = unsafe { Jni::from_raw(jni).register_natives(class, self.0) };
    }
}

/// The table of a helper class's native methods: each function, its parameters behind the thread's `Jni`, and the method's name and
/// descriptor in Java. What the VM passes is live, and no panic leaves the function.
#[macro_export]
macro_rules! natives {
    ($($function:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?, $name:literal, $descriptor:literal;)+) => {{
        $(
            unsafe extern "system" fn $function(
                jni: *mut ::jvmti::jni_sys::JNIEnv,
                _: ::jvmti::jni_sys::jclass,
                $($argument: $type),*
            ) $(-> $result)? {
                // SAFETY: the VM passes this thread's environment.
                ::jvmti::guard(|| self::$function(unsafe { ::jvmti::Jni::from_raw(jni) }, $($argument),*))
            }
        )+
        // SAFETY: the functions do not unwind, and fit their descriptors.
        unsafe {
            $crate::helpers::Natives::new(&[
                $($crate::helpers::native($name, $descriptor, $function as *const ::std::ffi::c_void)),+
            ])
        }
    }};
}
