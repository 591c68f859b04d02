//! Raw JVM TI: what Martini uses of the function table, structures, event callbacks and constants of JDK 25's `jvmti.h`,
//! which contain those of every older version, and all its capabilities and errors. No function of this crate calls the VM.
//!
//! Names, members and their meaning are those of the
//! [JVM TI specification](https://docs.oracle.com/en/java/javase/25/docs/specs/jvmti.html), so members carry no further
//! comment here. `tests/header.rs` proves offsets, sizes, bits and values against the C compiler and each `jvmti.h` found.
//!
//! The types of JNI come from [`jni_sys`], which is exported again.

#![allow(non_camel_case_types, non_snake_case)]
#![allow(missing_docs, reason = "a raw binding: the specification documents the names")]

mod capabilities;
mod constants;
mod errors;
mod events;
mod structs;
mod table;

pub use jni_sys;

pub use capabilities::*;
pub use constants::*;
pub use errors::*;
pub use events::*;
pub use structs::*;
pub use table::*;

/// An environment as C sees it: the pointer to its function table. The VM hands out a `*mut jvmtiEnv`.
pub type jvmtiEnv = *const jvmtiInterface_1_;

/// Truth as the VM passes it. An integer, where `jni_sys` has `bool`: another byte than 0 or 1 is no undefined behaviour.
pub type jboolean = u8;

/// A reference to a `java.lang.Thread`.
pub type jthread = jni_sys::jobject;

/// A reference to a `java.lang.ThreadGroup`.
pub type jthreadGroup = jni_sys::jobject;

/// A place in a method: the index of a bytecode, or -1 in a native method.
pub type jlocation = jni_sys::jlong;
