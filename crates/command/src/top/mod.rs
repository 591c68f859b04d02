//! `martini top`: what a trace that grows says now, on the terminal.

pub(crate) mod figures;
pub(crate) mod follow;
pub(crate) mod keys;
pub(crate) mod rates;
pub(crate) mod screen;
pub(crate) mod terminal;
