//! Names of the agent's counters (`martiniCount key`) that have changed.

use std::borrow::Cow;

/// Keys that earlier versions of Martini wrote, each with the key that replaced it.
pub const RENAMED: &[(&str, &str)] = &[
    ("accounting.unavailable", "coverage.unavailable"),
    ("accounts.accounted", "coverage.accounted"),
    ("accounts.excess", "coverage.excess"),
    ("accounts.filtered", "coverage.filtered"),
    ("accounts.missing", "coverage.missing"),
    ("accounts.reported", "coverage.reported"),
    ("accounts.unknown", "coverage.unknown"),
    ("accounts.unknownBytes", "coverage.unknownBytes"),
    ("accounts.worst", "coverage.worst"),
    ("estimate.elsewhere", "callers.unmatched"),
    ("estimate.interval", "callers.interval"),
    ("estimate.unmatched", "callers.unmatched"),
    ("events.waits", "buffer.waits"),
    ("gc.unsettled", "gc.unprocessed"),
    ("monitors.unbegun", "waits.withoutBegin"),
    ("monitors.unended", "waits.withoutEnd"),
    ("owners.ended", "owners.terminated"),
    ("stacks.mistaken", "stackCache.mismatches"),
];

/// The key that is used today for what `key` counts.
pub(crate) fn current(key: Cow<'_, str>) -> Cow<'_, str> {
    match RENAMED.iter().find(|(old, _)| *old == key) {
        Some((_, new)) => Cow::Borrowed(new),
        None => key,
    }
}
