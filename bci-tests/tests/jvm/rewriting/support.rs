//! What the tests of the crate `classfile` make classes with.

// They use the other part of it.
#![allow(dead_code)]

#[path = "../../../../crates/classfile/tests/support/assembler.rs"]
pub(crate) mod assembler;
#[path = "../../../../crates/classfile/tests/support/pack.rs"]
pub(crate) mod pack;
#[path = "../../../../crates/classfile/tests/support/random_class.rs"]
pub(crate) mod random_class;
#[path = "../../../../crates/classfile/tests/support/sites.rs"]
pub(crate) mod sites;
