//! What the tests share.

// Each test file uses its own part of this.
#![allow(dead_code)]

pub(crate) mod assembler;
pub(crate) mod interpreter;
pub(crate) mod random_class;
pub(crate) mod sites;
