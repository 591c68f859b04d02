//! Martini
