//! How many objects, and how many bytes they have.

/// A number of objects, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Objects.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// So many times as much.
pub(super) fn scaled(number: u64, scale: f64) -> u64 {
    (number as f64 * scale).round() as u64
}

impl Amount {
    /// So many times as much.
    pub(super) fn scaled(self, scale: f64) -> Amount {
        Amount { objects: scaled(self.objects, scale), bytes: scaled(self.bytes, scale) }
    }

    /// Adds another amount; stays at the largest numbers there are if a hostile trace exceeds them.
    pub(super) fn add(&mut self, other: Amount) {
        self.objects = self.objects.saturating_add(other.objects);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }

    /// Takes back what was added before.
    pub(super) fn remove(&mut self, other: Amount) {
        self.objects = self.objects.saturating_sub(other.objects);
        self.bytes = self.bytes.saturating_sub(other.bytes);
    }
}
