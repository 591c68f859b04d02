//! What was compiled: sums by compiler, and by method.

use std::collections::BTreeMap;

use trace::model::{CodeDiscarded, CodeTier, Compilation, Flag};
use trace::time::{Nanos, Time};

/// More methods than this are one.
const MOST_METHODS: usize = 1 << 18;
/// More different reasons are one.
const MOST_REASONS: usize = 100;
const OTHERS: &str = "(others)";
const TIERS: usize = CodeTier::ALL.len();

/// Compilations of one compiler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TierSums {
    /// How many.
    pub count: u64,
    /// Of these, how many enter in the middle of a loop.
    pub osr: u64,
    /// How long they took.
    pub time: Nanos,
    /// How many of them were discarded since.
    pub discarded: u64,
}

/// What was compiled of a method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompiledMethod {
    /// By which compiler how often, in the order of [`CodeTier::ALL`].
    pub tiers: [u64; TIERS],
    /// How often in all.
    pub count: u64,
    /// How long that took in all.
    pub time: Nanos,
    /// How often its code was discarded although nothing better took its place.
    pub discarded: u64,
    /// Bytes of its bytecode.
    pub bytes: u64,
}

/// Gathers them.
#[derive(Clone, Debug, Default)]
pub(super) struct Compilations {
    pub(super) tiers: [TierSums; TIERS],
    pub(super) methods: BTreeMap<Box<str>, CompiledMethod>,
    pub(super) reasons: BTreeMap<Box<str>, u64>,
    /// When the last one of C2 ended.
    pub(super) last_c2: Option<Nanos>,
}

impl Compilations {
    pub(super) fn compiled(&mut self, compilation: &Compilation<'_>, origin: Time) {
        let tier = compilation.tier as usize;
        let sums = &mut self.tiers[tier];
        sums.count += 1;
        sums.osr += u64::from(compilation.osr == Some(Flag::Yes));
        sums.time.0 = sums.time.0.saturating_add(compilation.took.0);
        if compilation.tier == CodeTier::C2 {
            let end = compilation.time.since(origin).0.saturating_add(compilation.took.0);
            self.last_c2 = self.last_c2.max(Some(Nanos(end)));
        }
        let method = self.method(&compilation.method);
        method.tiers[tier] += 1;
        method.count += 1;
        method.time.0 = method.time.0.saturating_add(compilation.took.0);
        method.bytes = compilation.bytes.unwrap_or(method.bytes);
    }

    pub(super) fn discarded(&mut self, code: &CodeDiscarded<'_>) {
        self.tiers[code.tier as usize].discarded += 1;
        // Code of C1 that counts makes room for better code.
        if matches!(code.tier, CodeTier::C2 | CodeTier::C1) {
            self.method(&code.method).discarded += 1;
        }
        if let Some(reason) = &code.reason {
            let is_known = self.reasons.contains_key(&**reason) || self.reasons.len() < MOST_REASONS;
            *self.reasons.entry(if is_known { (&**reason).into() } else { OTHERS.into() }).or_default() += 1;
        }
    }

    fn method(&mut self, name: &str) -> &mut CompiledMethod {
        let is_known = self.methods.contains_key(name) || self.methods.len() < MOST_METHODS;
        self.methods.entry(if is_known { name.into() } else { OTHERS.into() }).or_default()
    }
}
